"""The step after the tools: their answers made true of the folded state, and told to the stream.

Two things can part a tool's answer from what the ledger holds. Parallel calls may undo each other.
And a write that waited through an interrupt or a crash may come back in another process, where its
origin is unknown: it is then decided again, from the words that this run heard.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from . import answers
from .books import Opening, Where, Work
from .decisions import Decision, came_too_late, decide
from .drafts import STOOD_FOR
from .enrolling import enrol
from .events import name_of
from .heard import HeardRun, moved_on
from .indexing import keep_up
from .ledger import Event, held
from .placement import fixed
from .scopes import SESSION
from .session import SCOPE, WRITING, Call, Session
from .state import RUN, issue_events

_log = logging.getLogger("langmem_credit")


@dataclass(frozen=True, slots=True)
class Settled:
    """What the step after the tools changes.

    Attributes:
        session: with the ledger as it will be.
        events: to write.
        messages: tool messages to put in the place of those with the same id.
        news: for the stream: what was remembered or forgotten and holds.
    """

    session: Session
    events: tuple[Event, ...] = ()
    messages: tuple[ToolMessage, ...] = ()
    news: tuple[dict[str, Any], ...] = ()

    def replaced(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The messages with the settled ones in place."""
        if not self.messages:
            return list(messages)
        by_id = {message.id: message for message in self.messages}
        return [by_id.get(message.id, message) if message.id else message for message in messages]


def settle_step(
    session: Session, state: Mapping[str, Any], where: Where
) -> Work[tuple[Settled, HeardRun]]:
    """What the last calls came to, and the run as the next model call finds it."""
    if session.settings.scopes and _wrote(session):
        books = yield Opening(session.settings.scopes, where, session.run.speaker)
        session = session.with_books(books)
    settled = settle(session)
    run = moved_on(settled.session.run, state)
    after = yield from fixed(settled.session.in_run(run), where, state.get(RUN))
    keep_up(after)
    return settled, (yield from enrol(after, where, state.get(RUN)))


def _wrote(session: Session) -> bool:
    """True right after tools of the memory."""
    if not session.messages or not isinstance(session.messages[-1], ToolMessage):
        return False
    return any(call.name in WRITING for call in session.last_calls())


def settle(session: Session) -> Settled:
    """What the model's last tool calls came to, looked at after the step."""
    if not _wrote(session):
        return Settled(session)
    calls = [call for call in session.last_calls() if call.name in WRITING]
    said = session.answers()
    lost = _lost(session, calls, said)
    events = issue_events(event for decision in lost.values() for event in decision.events)
    after = session.with_events(events)
    changed: list[ToolMessage] = []
    news: list[dict[str, Any]] = []
    for call in calls:
        message = said.get(call.id)
        view = _view(after, call)
        event = _event_of(view, call)
        if event is not None:
            news.append(_news(view, event))
        if message is None:
            continue
        answer = _answer(view, event, lost.get(call), message)
        if answer and answer != message.content:
            changed.append(message.model_copy(update={"content": answer}))
    told = tuple(item for item in news if item)
    return Settled(after, tuple(events), tuple(changed), told)


def _lost(
    session: Session, calls: Sequence[Call], said: dict[str, ToolMessage]
) -> dict[Call, Decision]:
    """Calls that claim a write which the ledger does not hold, decided anew."""
    missing = [
        call
        for call in calls
        if _event_of(_view(session, call), call) is None and _claims(said.get(call.id))
    ]
    if not missing:
        return {}
    _log.info("deciding %d writes again", len(missing))
    decided: dict[Call, Decision] = {}
    # What the step's calls wrote comes back one by one. Another scope's ledger loses nothing.
    now = _without(session, calls).answering(calls[0].message).with_books(())
    for call in calls:
        event = _event_of(session, call)
        if event is not None:
            now = now.with_events([event])
        elif call in missing:
            decided[call] = _not_late(session, decide(now, call))
            now = now.with_events(decided[call].events)
    return decided


def _not_late(session: Session, decision: Decision) -> Decision:
    """The decision, unless the same note ended meanwhile in another scope."""
    for event in decision.events:
        reason = came_too_late(session, event, SESSION)
        if reason:
            answer = answers.rejected(reason)
            return dataclasses.replace(decision, outcome="rejected", answer=answer, events=())
    return decision


def _without(session: Session, calls: Iterable[Call]) -> Session:
    """The session before the step: without what its calls wrote and what was answered in it."""
    named = {_names(call) for call in calls}
    answered = {name_of(call.id) for call in session.last_calls()}
    heard = tuple(one for one in session.run.heard if one.id.split("#")[0] not in answered)
    session = session.in_run(dataclasses.replace(session.run, heard=heard))
    events = [
        event
        for event in session.events
        if not held(event) and (event.get("message"), event.get("call")) not in named
    ]
    return session.with_only(events)


def _view(session: Session, call: Call) -> Session:
    """The session, or another scope's ledger where that holds what the call wrote."""
    for book in session.books:
        if not book.closed:
            view = session.within(book)
            if _event_of(view, call) is not None:
                return view
    return session


def _event_of(session: Session, call: Call) -> Event | None:
    """The verified event that the call wrote."""
    wanted, names = "remembered" if call.name == "remember" else "withdrawn", _names(call)
    for event in reversed(session.events):
        if (
            event.get("type") == wanted
            and (event.get("message", ""), event.get("call", "")) == names
            and not held(event)
        ):
            return event
    return None


def _names(call: Call) -> tuple[str, str]:
    """The call's message and id, as its event has them."""
    return name_of(call.message), name_of(call.id)


def _answer(
    session: Session, event: Event | None, again: Decision | None, message: ToolMessage
) -> str:
    """What the tool message should say, or "" when it may stay."""
    if again is not None:
        return again.answer
    if event is None or event["type"] != "remembered" or not event.get("credited"):
        return ""
    note = session.notebook.of_event(event)
    if note is None or note.active or not str(message.content).startswith(answers.REMEMBERED):
        return ""
    other = session.notebook.notes.get(note.replaced_by)
    if note.why in STOOD_FOR and other is not None and other.active:
        return ""
    return answers.not_active(note)


def _news(session: Session, event: Event) -> dict[str, Any]:
    if event["type"] == "withdrawn":
        note = session.notebook.notes.get(event.get("note", ""))
        if note is None or note.status != "forgotten":
            return {}
        return {"type": "forgot", "id": note.id, "text": note.text, **_scope(session)}
    note = session.notebook.of_event(event)
    if note is None or note.status not in ("active", "unconfirmed"):
        return {}
    remembered = {"type": "remembered", "id": note.id, "text": note.text, "status": note.status}
    return remembered | _scope(session)


def _scope(session: Session) -> dict[str, str]:
    return {"scope": session.scope} if session.scope != SESSION else {}


def _claims(message: ToolMessage | None) -> bool:
    """True when the message says that something was written to the session's ledger."""
    if message is None or not str(message.content).startswith(answers.CLAIMS):
        return False
    artifact = message.artifact
    # What another scope's store holds was read back before it was claimed.
    return not (isinstance(artifact, Mapping) and artifact.get(SCOPE))
