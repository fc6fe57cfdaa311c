"""An index that is kept in step in the background, and waited for no longer than said.

Decision: whoever writes a note does not wait for its vector. Problem: the first one may have to
load a model for seconds, and a server may not answer. Cost: for a moment after a write, and while
a large scope is indexed for the first time, recall finds the newest notes by their words alone.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from .deadlines import BrokenCallError, Deadlines, OverdueError
from .index import Hit, Index, IndexStatus, ScopeKey, SyncReport
from .notes import Note

_log = logging.getLogger("langmem_credit")

STARTING = "The index is starting, which loads the model once a process: ask again in a moment."
# What a search waits for the index, and before it for the notes that were just written.
PATIENCE_SECONDS = 3.0
_MOMENT_SECONDS = 0.5
# The longest that a scope is worked on before the next one's turn.
_ROUND_SECONDS = 1.0
# The longest that a process waits at its end. On a busy machine a model may take so long to load,
# and native code aborts a process that ends while it runs in a thread.
_LAST_SECONDS = 30.0
# So long a scope counts as kept; then the index looks whether it still holds what it should.
_KEPT_SECONDS = 60.0
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class _Wanted:
    notes: tuple[Note, ...]
    token: str


class KeptIndex:
    """An `Index` around another one. Methods block for a bounded time and never raise for a fault.

    Args:
        index: what it keeps.
        patience_s: seconds that a search waits; then recall is by words.
    """

    def __init__(self, index: Index, *, patience_s: float = PATIENCE_SECONDS) -> None:
        self.index = index
        self.patience_s = patience_s
        self._deadlines = Deadlines("langmem_credit search", threads=4)
        self._overdue = ""
        self._started = False
        self._thread: threading.Thread | None = None
        self._busy: tuple[ScopeKey, str] | None = None
        self._reset()

    def keep(self, scope_key: ScopeKey, notes: Iterable[Note], token: str = "") -> None:
        """Has the scope's rows made those of the notes, soon. Comes back at once.

        Args:
            scope_key: whose notes.
            notes: all that recall may show.
            token: names this state of the notes; nothing is done for the one that is kept already.
        """
        self._check_process()
        with self._condition:
            if token and token == self._last_token(scope_key):
                return
            self._wanted[scope_key] = _Wanted(tuple(notes), token)
            if self._thread is None:
                thread = threading.Thread(
                    target=self._work,
                    args=(weakref.ref(self),),
                    name="langmem_credit index",
                    daemon=True,
                )
                thread.start()
                self._thread = thread
                _running.add(self)
            self._condition.notify_all()

    def wait(self, scope_key: ScopeKey | None = None, seconds: float = 30.0) -> bool:
        """Waits until the scope, or all of them, is kept; False when that takes longer."""
        self._check_process()

        def done() -> bool:
            if scope_key is None:
                return not self._wanted and self._busy is None
            busy = self._busy is not None and self._busy[0] == scope_key
            return scope_key not in self._wanted and not busy

        with self._condition:
            return self._condition.wait_for(done, seconds)

    def sync(
        self,
        scope_key: ScopeKey,
        notes: Iterable[Note],
        *,
        token: str = "",
        budget_s: float | None = None,
    ) -> SyncReport:
        """As the index itself has it: waits until it is done."""
        return self.index.sync(scope_key, notes, token=token, budget_s=budget_s)

    def search(
        self,
        scope_key: ScopeKey,
        query: str,
        k: int,
        *,
        live: Collection[str] | None = None,
    ) -> list[Hit]:
        """The k notes nearest to the query, nearest first; [] when there is no answer in time."""
        return self.ask(scope_key, query, k, live=live)()

    def ask(
        self,
        scope_key: ScopeKey,
        query: str,
        k: int,
        *,
        live: Collection[str] | None = None,
    ) -> Callable[[], list[Hit]]:
        """Begins a search; what is given back waits for its end and gives what `search` does."""

        def work() -> list[Hit]:
            self.wait(scope_key, _MOMENT_SECONDS if self._started else self.patience_s)
            if self._is_starting():
                return []
            return self.index.search(scope_key, query, k, live=live)

        # A moment for what was just written, and as long as the index may take.
        seconds = self.patience_s + _MOMENT_SECONDS
        try:
            end = self._deadlines.begin(work, seconds)
        except OverdueError as error:
            self._fail(f"The index gave no answer ({error}).")
            return list
        return lambda: self._hits(end)

    def _hits(self, end: Callable[[], list[Hit]]) -> list[Hit]:
        try:
            hits = end()
        except (OverdueError, BrokenCallError) as error:
            self._fail(f"The index gave no answer ({error}).")
            return []
        except Exception as error:  # noqa: BLE001 - whatever it is, recall goes on by words
            self._fail(f"The index failed with {type(error).__name__}.")
            return []
        if not self._is_starting():
            self._succeed()
        return hits

    def drop(self, scope_key: ScopeKey) -> SyncReport:
        """Takes the whole scope out."""
        self._check_process()
        with self._condition:
            self._wanted.pop(scope_key, None)
            self._kept.pop(scope_key, None)
        self.wait(scope_key)
        return self.index.drop(scope_key)

    def status(self) -> IndexStatus:
        """How it is. Starts nothing and waits for nothing."""
        status = self.index.status()
        if self._is_starting() and status.state != "words only":
            return replace(status, state="words only", reason=STARTING)
        if self._overdue and status.state != "words only":
            return replace(status, state="words only", reason=self._overdue)
        return status

    def stop(self) -> None:
        """Ends the work in the background, between two batches; `keep` begins it again."""
        self._check_process()
        with self._condition:
            thread, self._ending = self._thread, True
            self._wanted.clear()
            self._condition.notify_all()
        if thread is not None:
            thread.join(_LAST_SECONDS)
        with self._condition:
            self._thread, self._ending = None, False
            self._kept.clear()

    def close(self) -> None:
        """Ends the work in the background and lets go of files and connections."""
        self.stop()
        self._deadlines.close()
        self.index.close()

    def _fail(self, reason: str) -> None:
        self._started = True
        new, self._overdue = not self._overdue, reason
        if new:
            _log.warning("index: recall is by words alone: %s", reason)

    def _last_token(self, scope_key: ScopeKey) -> str:
        """Of the notes that are to be kept, are being kept, or were not long ago; "" for none."""
        if scope_key in self._wanted:
            return self._wanted[scope_key].token
        if self._busy is not None and self._busy[0] == scope_key:
            return self._busy[1]
        token, at = self._kept.get(scope_key, ("", 0.0))
        return token if time.monotonic() - at < _KEPT_SECONDS else ""

    def _is_starting(self) -> bool:
        return self._thread is not None and not self._started

    def _succeed(self) -> None:
        self._started = True
        if self._overdue:
            self._overdue = ""
            _log.warning("index: recall is by meaning again")

    def _reset(self) -> None:
        self._process = os.getpid()
        self._condition = threading.Condition()
        self._wanted: OrderedDict[ScopeKey, _Wanted] = OrderedDict()
        self._kept: OrderedDict[ScopeKey, tuple[str, float]] = OrderedDict()
        self._busy = None
        self._thread = None
        self._ending = False

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            # Threads do not live on in a forked process.
            self._reset()

    @staticmethod
    def _work(reference: weakref.ref[KeptIndex]) -> None:
        # Not the index itself, so that one that nobody uses any more can go.
        while (index := reference()) is not None and index.turn():
            del index

    def turn(self) -> bool:
        """Works on one scope, or waits a while for one; False when there is nothing left to do."""
        with self._condition:
            if not self._wanted and not self._ending:
                self._condition.wait(_ROUND_SECONDS)
            if self._ending:
                return False
            if not self._wanted:
                return True
            key, wanted = self._wanted.popitem(last=False)
            self._busy = (key, wanted.token)
        done = False
        try:
            report = self.index.sync(key, wanted.notes, token=wanted.token, budget_s=_ROUND_SECONDS)
            done = not report.pending or bool(report.reason)
            failed = bool(report.reason)
            # What the index told is in its own status.
            self._started = True
        except Exception as error:  # noqa: BLE001 - an index is a hint
            done = failed = True
            self._fail(f"The index failed with {type(error).__name__}.")
        if not failed:
            self._succeed()
        with self._condition:
            self._busy = None
            if not done and not self._ending:
                # Behind the others, unless the scope's notes are newer by now.
                self._wanted.setdefault(key, wanted)
            elif not failed:
                self._kept[key] = (wanted.token, time.monotonic())
                self._kept.move_to_end(key)
                while len(self._kept) > _MOST_KNOWN:
                    self._kept.popitem(last=False)
            self._condition.notify_all()
        return True


_running: weakref.WeakSet[KeptIndex] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is stopped in the middle of a write leaves a folder to be checked.
    for index in list(_running):
        index.stop()
