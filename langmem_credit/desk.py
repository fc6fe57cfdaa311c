"""Where a person's sessions are asked for: their register, and the checkpointer behind it.

What is done here is a generator that yields what it needs looked up and is sent the answers, so
that one body serves `do_at` and `ado_at`. Without a store that keeps a register it is derived from
the checkpointer: of all threads with memory, those whose last run was for the same person.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from .asking import arun, run
from .books import StoreWork
from .checkpoints import (
    Facts,
    Look,
    LookAround,
    LookBack,
    LookThrough,
    Peek,
    ThreadReader,
    threads_of,
)
from .enrolling import read_entries, read_entry
from .errors import UnknownSessionError, UnreadableSessionError
from .owners import owner_of, register_scope
from .register import PREVIEW_CHARS, SessionEntry, entry_of, newest_first, short
from .scopes import RunValues
from .settings import Settings
from .transcripts import (
    CACHE,
    PERSON,
    Transcript,
    TranscriptCache,
    is_compacted,
    is_compaction,
    transcript_of,
    with_earlier,
)

T = TypeVar("T")
Asked = StoreWork | Look | LookAround | LookBack | LookThrough
Doing = Generator[Asked, Any, T]

# Conversations that are read in one step.
STEP = 50

_log = logging.getLogger("langmem_credit")


@dataclass(frozen=True)
class Desk:
    """One person's sessions of one graph.

    Attributes:
        settings: of the memory.
        reader: of the graph's checkpointer.
        owner: names the person; "" where the host names nobody.
        store: that holds the register; None where it is derived.
        scope: name of the scope whose register it is.
        labels: of that scope, for this person.
        cache: of transcripts.
    """

    settings: Settings
    reader: ThreadReader
    owner: str
    store: BaseStore | None = None
    scope: str = ""
    labels: tuple[str, ...] = ()
    cache: TranscriptCache = CACHE

    @classmethod
    def of(
        cls,
        settings: Settings,
        saver: BaseCheckpointSaver[Any],
        store: BaseStore | None,
        values: RunValues,
    ) -> Desk:
        """The desk of whomever the values name.

        Raises:
            IdentityError: a scope is declared whose register it would be, and they name nobody.
        """
        reader, owner = ThreadReader(saver), owner_of(settings, values)
        scope = register_scope(settings)
        if scope is None or store is None:
            return cls(settings, reader, owner)
        return cls(settings, reader, owner, store, scope.name, scope.fill(values))

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """The graph's checkpointer."""
        return self.reader.saver

    def ask(self, steps: Any) -> StoreWork:
        """Asks for these steps on the register's store."""
        assert self.store is not None
        return StoreWork(self.scope, self.store, steps)


def do_at(desk: Desk, doing: Doing[T]) -> T:
    """What is done comes to.

    Raises:
        StoreError: the register cannot be reached.
    """
    answer = None
    while True:
        try:
            asked = doing.send(answer)
        except StopIteration as end:
            return cast("T", end.value)
        answer = answer_to(desk, asked)


async def ado_at(desk: Desk, doing: Doing[T]) -> T:
    """As `do_at`; what is done between two questions goes on in a thread."""
    answer = None
    while True:
        asked, result = await asyncio.to_thread(_next, doing, answer)
        if asked is None:
            return cast("T", result)
        answer = await aanswer_to(desk, asked)


def answer_to(desk: Desk, asked: Asked) -> Any:
    """The answer to one question."""
    if isinstance(asked, StoreWork):
        return run(asked.scope, asked.store, asked.steps)
    if isinstance(asked, Look):
        return desk.reader.look(asked.threads)
    if isinstance(asked, LookAround):
        return desk.reader.look_around()
    if isinstance(asked, LookThrough):
        return desk.reader.look_through(asked)
    return desk.reader.look_back(asked)


async def aanswer_to(desk: Desk, asked: Asked) -> Any:
    """As `answer_to`."""
    if isinstance(asked, StoreWork):
        return await arun(asked.scope, asked.store, asked.steps)
    if isinstance(asked, Look):
        return await desk.reader.alook(asked.threads)
    if isinstance(asked, LookAround):
        return await desk.reader.alook_around()
    if isinstance(asked, LookThrough):
        return await desk.reader.alook_through(asked)
    return await desk.reader.alook_back(asked)


def entries_at(desk: Desk) -> Doing[list[SessionEntry]]:
    """All entries, the newest first, whether their threads are still there or not.

    A register that is derived knows only the person's own titles before conversations are read.
    """
    if desk.store is not None:
        entries = yield desk.ask(read_entries(desk.labels))
    else:
        facts = yield LookAround()
        entries = [_entry_of(one) for one in threads_of(facts) if one.whose == desk.owner]
    return sorted(entries, key=newest_first, reverse=True)


def sessions_at(
    desk: Desk, *, archived: bool | None = None, trashed: bool = False
) -> Doing[tuple[SessionEntry, ...]]:
    """The sessions that are there, the newest first."""
    entries = yield from entries_at(desk)
    wanted = [
        entry
        for entry in entries
        if entry.trashed == trashed and archived in (None, entry.archived)
    ]
    found: list[SessionEntry] = []
    for part in parts_of(wanted):
        looks = yield Look([entry.id for entry in part])
        for entry, look in zip(part, looks, strict=True):
            shown = yield from _there(desk, entry, look)
            if shown is not None:
                found.append(shown)
    return tuple(found)


def session_at(
    desk: Desk, session_id: object
) -> Doing[tuple[SessionEntry, Peek | UnreadableSessionError | None]]:
    """The person's session of this id, and its thread: gone, not to be read, or there.

    Raises:
        UnknownSessionError: the person has none of this id.
        UnreadableSessionError: it cannot be told whether it is the person's.
    """
    if not isinstance(session_id, str) or not session_id:
        raise UnknownSessionError(session_id)
    entry: SessionEntry | None = None
    if desk.store is not None:
        entry = yield desk.ask(read_entry(desk.labels, session_id))
        if entry is None:
            raise UnknownSessionError(session_id)
    (look,) = yield Look([session_id])
    if isinstance(look, Exception):
        failed = UnreadableSessionError(session_id, type(look).__name__)
        if entry is None:
            raise failed from look
        return entry, failed
    if entry is None:
        entry = yield from _derived(desk, session_id, look)
    try:
        if look is None or not belongs(desk, entry, look):
            return entry, None
        return replace(entry, messages=look.count), look
    except Exception as error:
        raise UnreadableSessionError(session_id, type(error).__name__) from error


def belongs(desk: Desk, entry: SessionEntry, look: Peek) -> bool:
    """True where the thread is still the one that was entered, and not somebody else's by now."""
    whose = look.facts.whose
    if desk.store is None or whose == desk.owner:
        return whose == desk.owner
    if not whose and not look.count:
        # Its first run has only begun, and nothing of anybody's is to be seen yet.
        return True
    # Somebody else or nobody knows who ran it last: a thread of several people, or an id that is
    # used anew.
    return any(message.id == entry.last for message in look.messages()) if entry.last else False


def read_at(desk: Desk, look: Peek, *, everything: bool) -> Doing[Transcript]:
    """What was said in the conversation, from the cache where it is the same version.

    What a compaction replaced by a summary is part of it: it stands in earlier checkpoints.
    """
    facts = look.facts
    known = desk.cache.get(desk.saver, facts.thread, facts.id, everything)
    if known is not None:
        return known
    messages = look.messages()
    if is_compacted(messages):
        earlier = yield LookThrough(facts.thread, facts.id, is_compaction)
        if isinstance(earlier, Exception):
            raise earlier
        messages = with_earlier(messages, earlier)
    transcript = transcript_of(messages, everything=everything)
    desk.cache.put(desk.saver, facts.thread, facts.id, everything, transcript)
    return transcript


def described(entry: SessionEntry, transcript: Transcript) -> SessionEntry:
    """The entry with the title and the preview that a conversation gives it."""
    last = next((one for one in reversed(transcript.said) if one.role == PERSON), None)
    return replace(
        entry,
        title=entry.title or transcript.title,
        preview=entry.preview or short(last.text if last else "", PREVIEW_CHARS),
    )


def unreadable(entry: SessionEntry, error: Exception | None) -> None:
    """Tells the operator of a conversation that cannot be read."""
    _log.warning("session %s cannot be read (%s)", entry.id, type(error).__name__)


def _there(desk: Desk, entry: SessionEntry, look: Any) -> Doing[SessionEntry | None]:
    """The entry as it is now; None where its thread is gone."""
    if isinstance(look, Exception):
        unreadable(entry, look)
        return entry
    if look is None:
        return None
    try:
        if not belongs(desk, entry, look):
            return None
        if desk.store is None:
            entry = described(entry, (yield from read_at(desk, look, everything=False)))
        return replace(entry, messages=look.count)
    except Exception as error:  # noqa: BLE001 - one broken thread must not hide the others
        unreadable(entry, error)
        return entry


def _derived(desk: Desk, session_id: str, look: Peek | None) -> Doing[SessionEntry]:
    if look is None or not look.facts.has_memory or look.facts.whose != desk.owner:
        raise UnknownSessionError(session_id)
    entry = _entry_of(look.facts)
    try:
        return described(entry, (yield from read_at(desk, look, everything=False)))
    except Exception as error:  # noqa: BLE001 - it can be deleted all the same
        unreadable(entry, error)
        return entry


def _entry_of(facts: Facts) -> SessionEntry:
    """The entry of a thread, as far as it can be told without its messages."""
    seen = {"id": facts.thread, "updated_at": _in_utc(facts.since or facts.at)}
    return entry_of(seen, facts.marks) or SessionEntry(facts.thread)


def _in_utc(at: str) -> str:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _next(doing: Generator[Any, Any, T], answer: Any) -> tuple[Any, Any]:
    """What is asked for next, or None and what was done came to."""
    try:
        return doing.send(answer), None
    except StopIteration as end:
        # Which no coroutine may raise.
        return None, end.value


def parts_of(entries: Sequence[SessionEntry]) -> list[Sequence[SessionEntry]]:
    """The entries in steps."""
    return [entries[start : start + STEP] for start in range(0, len(entries), STEP)]
