"""The calls of one message, decided in the message's order although they run side by side."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from .decisions import Decision, decide
from .session import WRITING, Call, Session


def decide_in_turn(session: Session, call: Call) -> Decision:
    """The decision on one call, after those that stand before it in the model's message.

    Parallel tools do not see each other's writes; deciding the earlier ones again gives what they
    write.
    """
    session = session.answering(call.message)
    earlier = _before(session.last_calls(), call)
    return _TURNS.decide(session, [*earlier, call]) if earlier else decide(session, call)


def _before(calls: Sequence[Call], call: Call) -> list[Call]:
    writing = [one for one in calls if one.name in WRITING]
    for position, one in enumerate(writing):
        # By arguments too: a model may repeat an id within one message.
        if one.says_the_same(call):
            return writing[:position]
    return []


class _Turn:
    """The calls of one message, decided one after the other from one session."""

    def __init__(self, session: Session) -> None:
        self.start = session
        self._now = session
        self._decided: list[tuple[Call, Decision]] = []
        self._lock = threading.Lock()

    def decide(self, calls: Sequence[Call]) -> Decision | None:
        """The decision on the last of the calls; None when they are not those decided before."""
        with self._lock:
            for (before, _), call in zip(self._decided, calls, strict=False):
                if not before.says_the_same(call):
                    return None
            for call in calls[len(self._decided) :]:
                decision = decide(self._now, call)
                self._decided.append((call, decision))
                self._now = self._now.with_events(decision.events, decision.scope)
            return self._decided[len(calls) - 1][1]


class _Turns:
    """Turns that go on, so that twenty parallel calls take twenty decisions and not two hundred."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._turns: OrderedDict[tuple[str, str], _Turn] = OrderedDict()

    def decide(self, session: Session, calls: Sequence[Call]) -> Decision:
        """The decision on the last of the calls, after all others."""
        key = (session.thread, calls[-1].message)
        with self._lock:
            turn = self._turns.get(key)
            if turn is None or not turn.start.same_start(session):
                turn = self._turns[key] = _Turn(session)
            self._turns.move_to_end(key)
            while len(self._turns) > self._capacity:
                self._turns.popitem(last=False)
        # A reviewer may change a call on its way.
        return turn.decide(calls) or _one_by_one(session, calls)


_TURNS = _Turns()


def _one_by_one(session: Session, calls: Sequence[Call]) -> Decision:
    for call in calls[:-1]:
        decision = decide(session, call)
        session = session.with_events(decision.events, decision.scope)
    return decide(session, calls[-1])
