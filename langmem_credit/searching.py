"""Search over all sessions of a person, in steps that can be shown, stopped and gone on with.

The first step compares every title and preview and reads no conversation; of the hits that it shows
it only looks whether their threads are still there. Each further step goes through fifty sessions,
the newest first, and reads those whose conversation is not at hand in its present version. What was
found is ranked before it is cut, and only the last step may say that there is nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from .checkpoints import Look, LookBack, Peek
from .desk import (
    Asked,
    Desk,
    Doing,
    aanswer_to,
    answer_to,
    belongs,
    described,
    entries_at,
    parts_of,
    read_at,
    unreadable,
)
from .errors import StoreError
from .matching import Place, SessionHit, excerpt, fold_text, missing, ranked
from .notes import utc_now
from .register import SessionEntry
from .transcripts import PERSON, LastAsked, Transcript

# Clocks of machines that share a checkpointer agree within this.
_CLOCK_SKEW = timedelta(seconds=15)
# Listing a checkpoint takes about a third of what looking at a thread takes (measured on
# PostgreSQL), so past a quarter of the sessions each is looked at instead.
_LEAST_CHANGES = 100
_MOST_SCANS = 10_000


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """How far a search has come, and what it found so far.

    Attributes:
        searched: sessions whose conversations were searched.
        of: sessions that are searched in all.
        hits: the best so far: those of the title first, then the newest; at most the limit.
        new: of these, those that this step brought.
        found: sessions that match so far, shown or not.
        unreadable: sessions whose conversation could not be read; the log names them.
        done: nothing is left to search; only now "nothing found" is true.
        dropped: a newer search took this one's place, or it was cancelled.
    """

    searched: int
    of: int
    hits: tuple[SessionHit, ...] = ()
    new: tuple[SessionHit, ...] = ()
    found: int = 0
    unreadable: int = 0
    done: bool = False
    dropped: bool = False


Searching = Generator[Asked | SearchProgress, Any, None]


class SessionSearch:
    """One search: `step()` by `step()`, or `for progress in search`, or `async for`.

    Give it up by leaving the loop, or with `cancel()` from anywhere.

    Attributes:
        progress: of the last step; None before the first.
    """

    def __init__(
        self,
        desk: Desk,
        words: Sequence[str],
        *,
        limit: int,
        everything: bool = False,
        client: str = "",
        explained: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.progress: SearchProgress | None = None
        self._desk = desk
        self._explained = explained
        self._cancelled = threading.Event()
        self._scan = _SCANS.begin((id(desk.saver), desk.owner, desk.labels, client))
        self._begin = partial(_steps, desk, words, limit, everything, self._is_dropped)
        self._steps = self._begin()
        self._asked: Asked | None = None
        self._answer: Any = None

    @property
    def done(self) -> bool:
        """True once there is no further step."""
        return self.progress is not None and (self.progress.done or self.progress.dropped)

    def cancel(self) -> None:
        """Makes the next step the last one. May be called from another thread."""
        self._cancelled.set()

    def step(self) -> SearchProgress:
        """Goes on for one step; after the last one it gives that again.

        Raises:
            StoreError: the register cannot be reached.
            ConfigurationError: the checkpointer cannot be read from here.
        """
        while self.progress is None or not self.done:
            if self._asked is None and self._goes_on(self._steps.send(self._answer)):
                break
            if self._asked is not None:
                with self._explained(), self._begun_anew():
                    self._answer = answer_to(self._desk, self._asked)
                self._asked = None
        assert self.progress is not None
        return self.progress

    async def astep(self) -> SearchProgress:
        """As `step`; what takes a while goes on in a thread."""
        while self.progress is None or not self.done:
            if self._asked is None:
                if self._goes_on(await asyncio.to_thread(self._steps.send, self._answer)):
                    break
            if self._asked is not None:
                with self._explained(), self._begun_anew():
                    self._answer = await aanswer_to(self._desk, self._asked)
                self._asked = None
        assert self.progress is not None
        return self.progress

    def __iter__(self) -> Iterator[SearchProgress]:
        """The steps that are left."""
        while not self.done:
            yield self.step()

    async def __aiter__(self) -> AsyncIterator[SearchProgress]:
        """The steps that are left."""
        while not self.done:
            yield await self.astep()

    @contextmanager
    def _begun_anew(self) -> Iterator[None]:
        """The search begins anew where the register failed, which is asked before all else."""
        try:
            yield
        except StoreError:
            self._steps, self._asked = self._begin(), None
            raise

    def _goes_on(self, came: Asked | SearchProgress) -> bool:
        """Takes what the search came to next; True at the end of a step."""
        self._answer = None
        if isinstance(came, SearchProgress):
            self.progress = came
            return True
        # Asked again by the next step, should the answer fail to come.
        self._asked = came
        return False

    def _is_dropped(self) -> bool:
        return self._cancelled.is_set() or not self._scan()


class _Scans:
    """The newest search of each person and client, which drops the one before."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._newest: OrderedDict[Any, object] = OrderedDict()

    def begin(self, key: Any) -> Callable[[], bool]:
        """Begins a search; what is given says whether it is still wanted."""
        mine = object()
        with self._lock:
            self._newest[key] = mine
            self._newest.move_to_end(key)
            while len(self._newest) > self._most:
                self._newest.popitem(last=False)
        return lambda: self._newest.get(key, mine) is mine


_SCANS = _Scans(_MOST_SCANS)


@dataclass
class _Scan:
    """What a search found so far."""

    of: int
    limit: int
    searched: int = 0
    unreadable: set[str] = field(default_factory=set)
    hits: dict[str, SessionHit] = field(default_factory=dict)
    # Matches of the title or preview whose threads nobody has looked for yet.
    waiting: dict[str, SessionHit] = field(default_factory=dict)
    # Found, and too old to be shown.
    more: int = 0
    shown: frozenset[str] = frozenset()

    def progress(self, **end: bool) -> SearchProgress:
        hits = ranked(list(self.hits.values()), self.limit)
        new = tuple(hit for hit in hits if hit.session.id not in self.shown)
        self.shown |= {hit.session.id for hit in new}
        found = len(self.hits) + len(self.waiting) + self.more
        return SearchProgress(self.searched, self.of, hits, new, found, len(self.unreadable), **end)

    def take_out(self, thread: str) -> None:
        self.hits.pop(thread, None)
        self.waiting.pop(thread, None)


def _steps(
    desk: Desk,
    words: Sequence[str],
    limit: int,
    everything: bool,
    is_dropped: Callable[[], bool],
) -> Searching:
    entries = yield from entries_at(desk)
    entries = [entry for entry in entries if not entry.trashed]
    scan = _Scan(len(entries), limit)
    if is_dropped():
        yield scan.progress(dropped=True)
        return
    yield from _titles(desk, words, entries, scan)
    yield scan.progress(done=not entries)
    if entries:
        yield from _what_changed(desk, len(entries))
    for part in parts_of(entries):
        if is_dropped():
            yield scan.progress(dropped=True)
            return
        yield from _conversations(desk, words, part, everything, scan)
        scan.searched += len(part)
        yield scan.progress(done=scan.searched == scan.of)


def _titles(
    desk: Desk, words: Sequence[str], entries: Sequence[SessionEntry], scan: _Scan
) -> Doing[None]:
    """All titles and previews; of those that are shown it is looked whether they are there."""
    for entry in entries:
        if not missing(words, fold_text(entry.title)):
            scan.waiting[entry.id] = _title_hit(words, entry)
        elif not missing(words, fold_text(f"{entry.title}\n{entry.preview}")):
            place = Place(role=PERSON, message_id=entry.last)
            line = excerpt(words, entry.preview)
            scan.waiting[entry.id] = SessionHit(entry, in_title=False, line=line, place=place)
    while scan.waiting and len(scan.hits) < scan.limit:
        best = ranked(list(scan.waiting.values()), scan.limit - len(scan.hits))
        looks = yield Look([hit.session.id for hit in best])
        for hit, look in zip(best, looks, strict=True):
            del scan.waiting[hit.session.id]
            shown = _still_there(desk, hit, look)
            if shown is not None:
                scan.hits[hit.session.id] = shown


def _still_there(desk: Desk, hit: SessionHit, look: Any) -> SessionHit | None:
    if isinstance(look, Exception):
        return hit
    if look is None:
        return None
    try:
        if not belongs(desk, hit.session, look):
            return None
        return replace(hit, session=replace(hit.session, messages=look.count))
    except Exception:  # noqa: BLE001 - told when the conversation itself is read
        return hit


def _what_changed(desk: Desk, sessions: int) -> Doing[None]:
    """Asks once what changed since the last search, where that spares a look at each session."""
    if not desk.reader.comes_newest_first:
        return
    last = desk.cache.asked(desk.saver)
    until = ""
    if last.at:
        until = (datetime.fromisoformat(last.at) - _CLOCK_SKEW).isoformat()
    now = utc_now()
    facts, complete = yield LookBack(until, most=max(_LEAST_CHANGES, sessions // 4))
    newest = max((one.at for one in facts), default="")
    asked = LastAsked(now, newest)
    # Where the newest one has gone, somebody went back to an earlier state of the database.
    if not last.at or not complete or newest < last.newest:
        desk.cache.changed(desk.saver, None, asked)
        return
    versions: dict[str, str] = {}
    for one in facts:
        versions[one.thread] = max(versions.get(one.thread, ""), one.id)
    desk.cache.changed(desk.saver, versions, asked)


def _conversations(
    desk: Desk,
    words: Sequence[str],
    entries: Sequence[SessionEntry],
    everything: bool,
    scan: _Scan,
) -> Doing[None]:
    """Searches these sessions whole."""
    found: list[tuple[SessionEntry, Transcript]] = []
    unsure: list[tuple[SessionEntry, Transcript | None]] = []
    for entry in entries:
        at_hand = desk.cache.current(desk.saver, entry.id, everything)
        if (
            at_hand is not None
            and entry.id not in scan.hits
            and not _matches(words, entry, at_hand)
        ):
            scan.take_out(entry.id)
        else:
            # A thread that was deleted is told by no checkpoint.
            unsure.append((entry, at_hand))
    looks = yield Look([entry.id for entry, _ in unsure])
    for (entry, _), look in zip(unsure, looks, strict=True):
        transcript = yield from _read(desk, entry, look, everything, scan)
        if transcript is None:
            if look is None or entry.id not in scan.unreadable:
                scan.take_out(entry.id)
            continue
        known = described(entry, transcript) if desk.store is None else entry
        if _matches(words, known, transcript):
            found.append((replace(known, messages=look.count), transcript))
        else:
            scan.take_out(entry.id)
    for entry, transcript in found:
        _take_in(words, entry, transcript, scan)


def _matches(words: Sequence[str], entry: SessionEntry, transcript: Transcript) -> bool:
    left = missing(words, fold_text(entry.title))
    return not left or not missing(left, transcript.folded)


def _read(
    desk: Desk, entry: SessionEntry, look: Peek | Exception | None, everything: bool, scan: _Scan
) -> Doing[Transcript | None]:
    if look is None:
        return None
    failed = look if isinstance(look, Exception) else None
    if isinstance(look, Peek):
        try:
            if not belongs(desk, entry, look):
                return None
            return (yield from read_at(desk, look, everything=everything))
        except Exception as error:  # noqa: BLE001 - one broken thread must not hide the others
            failed = error
    unreadable(entry, failed)
    scan.unreadable.add(entry.id)
    return None


def _take_in(
    words: Sequence[str], entry: SessionEntry, transcript: Transcript, scan: _Scan
) -> None:
    """A session that matches; its line is looked for only where it may be shown."""
    scan.waiting.pop(entry.id, None)
    if not missing(words, fold_text(entry.title)):
        scan.hits[entry.id] = _title_hit(words, entry)
        return
    if entry.id not in scan.hits and len(scan.hits) >= scan.limit:
        # All of those are newer, or stand before it by their titles.
        scan.more += 1
        return
    found = transcript.find(words)
    place, line = found or (Place(), entry.title)
    scan.hits[entry.id] = SessionHit(entry, in_title=False, line=excerpt(words, line), place=place)


def _title_hit(words: Sequence[str], entry: SessionEntry) -> SessionHit:
    return SessionHit(entry, in_title=True, line=excerpt(words, entry.title), place=Place())
