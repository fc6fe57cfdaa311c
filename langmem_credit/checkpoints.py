"""Threads as their checkpointer holds them, read without waking every message.

A checkpointer hands a checkpoint out whole, and most of the time goes into making objects of its
messages. Whether a conversation changed can be told without them. So reading is done by a copy of
the checkpointer (LangGraph copies its own in the same way) whose serializer leaves them asleep;
`Peek.messages` wakes them with the checkpointer's own serializer and its rules. Where a
checkpointer cannot be copied so, it is asked as it is.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from .state import LEDGER, RUN

_log = logging.getLogger("langmem_credit")

MESSAGES = "messages"
_FIRST_PAGE = 20
# Not this thread's fault: the checkpointer has no such method, or waits for its own loop.
_UNUSABLE = (NotImplementedError, asyncio.InvalidStateError)


@dataclass(frozen=True, slots=True)
class Look:
    """Asks for the newest checkpoint of each thread: a `Peek`, None, or the error it raised."""

    threads: Sequence[str]


@dataclass(frozen=True, slots=True)
class LookAround:
    """Asks for the facts of all checkpoints of outermost graphs."""


@dataclass(frozen=True, slots=True)
class LookBack:
    """Asks for the facts of the newest checkpoints; for checkpointers that give those first.

    The answer is a pair: the facts, and whether all that was asked for was told.

    Attributes:
        until: the first checkpoint that was made before is the last one told, ISO 8601; "" for
            the newest one alone.
        most: checkpoints that are told.
    """

    until: str
    most: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What a checkpoint says without its messages.

    Attributes:
        thread: its thread.
        id: of the checkpoint; names this state of the conversation.
        at: when it was made, ISO 8601.
        has_memory: its graph has this package's memory.
        whose: names whom the last run was for; see `owners.py`.
    """

    thread: str
    id: str
    at: str
    has_memory: bool
    whose: str


@dataclass(frozen=True, slots=True)
class Peek:
    """A thread's newest checkpoint, its messages asleep."""

    facts: Facts
    _messages: Any = field(repr=False)
    _wake: Callable[[Any], Any] = field(repr=False)

    @property
    def count(self) -> int:
        """How many messages the conversation has."""
        return len(self._messages) if isinstance(self._messages, list) else len(self.messages())

    def messages(self) -> list[BaseMessage]:
        """The conversation, oldest first. Whatever the serializer raises is raised here."""
        woken = self._wake(self._messages)
        messages = woken if isinstance(woken, list) else []
        return [message for message in messages if isinstance(message, BaseMessage)]


class ThreadReader:
    """Reads one checkpointer's threads."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self.saver = saver
        self._asleep, self._serde = _asleep(saver)

    def look(self, threads: Iterable[str]) -> list[Peek | Exception | None]:
        """The newest checkpoint of each thread, in their order."""
        found: list[Peek | Exception | None] = []
        for thread in threads:
            try:
                found.append(self._peek(thread, self._asleep.get_tuple(_config(thread))))
            except _UNUSABLE:
                raise
            except Exception as error:  # noqa: BLE001 - one broken thread must not hide the others
                found.append(error)
        return found

    async def alook(self, threads: Iterable[str]) -> list[Peek | Exception | None]:
        """As `look`."""
        found: list[Peek | Exception | None] = []
        for thread in threads:
            try:
                found.append(self._peek(thread, await self._asleep.aget_tuple(_config(thread))))
            except _UNUSABLE:
                raise
            except Exception as error:  # noqa: BLE001 - one broken thread must not hide the others
                found.append(error)
        return found

    def look_around(self) -> list[Facts]:
        """The facts of all checkpoints of outermost graphs, in the checkpointer's order."""
        return [_facts(one) for one in self._asleep.list(None) if _is_outermost(one)]

    async def alook_around(self) -> list[Facts]:
        """As `look_around`."""
        return [_facts(one) async for one in self._asleep.alist(None) if _is_outermost(one)]

    def look_back(self, asked: LookBack) -> tuple[list[Facts], bool]:
        """What `LookBack` asks for."""
        pages = _Pages(asked)
        while pages.size:
            pages.take(list(self._asleep.list(None, before=pages.before, limit=pages.size)))
        return pages.found, pages.complete

    async def alook_back(self, asked: LookBack) -> tuple[list[Facts], bool]:
        """As `look_back`."""
        pages = _Pages(asked)
        while pages.size:
            page = self._asleep.alist(None, before=pages.before, limit=pages.size)
            pages.take([one async for one in page])
        return pages.found, pages.complete

    @property
    def comes_newest_first(self) -> bool:
        """True where listing is known to give the newest checkpoints of all threads first.

        And where that spares something: a single look at PostgreSQL is a way there and back.
        """
        names = {(one.__module__, one.__name__) for one in type(self.saver).__mro__}
        return not names.isdisjoint(_NEWEST_FIRST)

    def _peek(self, thread: str, one: CheckpointTuple | None) -> Peek | None:
        if one is None:
            return None
        checkpoint = one.checkpoint
        values: Any = checkpoint.get("channel_values") or {}
        messages = values.get(MESSAGES, [])
        if isinstance(checkpoint, _Asleep):
            # Kept in one piece with everything else.
            whole = checkpoint
            return Peek(_facts(one), messages, lambda _: _messages_in(self._woken(whole)))
        return Peek(_facts(one), messages, self._woken)

    def _woken(self, value: Any) -> Any:
        if isinstance(value, _Asleep | _AsleepList):
            return self._serde.loads_typed(value.stored)
        return value


_NEWEST_FIRST = frozenset(
    {
        ("langgraph.checkpoint.postgres", "PostgresSaver"),
        ("langgraph.checkpoint.postgres.aio", "AsyncPostgresSaver"),
    }
)


class _Pages:
    """The newest checkpoints page by page; a checkpointer fetches a page as a whole."""

    def __init__(self, asked: LookBack) -> None:
        self._asked = asked
        self.found: list[Facts] = []
        self.complete = False
        self.before: Any = None
        self.size = _FIRST_PAGE if asked.until else 1

    def take(self, page: list[CheckpointTuple]) -> None:
        """Takes a page in; the size of the next one is 0 where none is needed."""
        for one in page:
            facts = _facts(one)
            self.found.append(facts)
            if self._asked.until and _moment(facts.at) < _moment(self._asked.until):
                self.complete, self.size = True, 0
                return
        if len(page) < self.size or not self._asked.until:
            self.complete, self.size = True, 0
        elif len(self.found) >= self._asked.most:
            self.size = 0
        else:
            self.before = page[-1].config
            self.size = min(4 * self.size, self._asked.most)


def _is_outermost(one: CheckpointTuple) -> bool:
    return not one.config.get("configurable", {}).get("checkpoint_ns")


def _moment(at: str) -> datetime:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _facts(one: CheckpointTuple) -> Facts:
    checkpoint = one.checkpoint
    values: Mapping[str, Any] = checkpoint.get("channel_values") or {}
    run = values.get(RUN)
    whose = run.get("whose", "") if isinstance(run, Mapping) else ""
    return Facts(
        thread=str(one.config["configurable"]["thread_id"]),
        id=str(checkpoint.get("id", "")),
        at=str(checkpoint.get("ts", "")),
        has_memory=LEDGER in values or RUN in values,
        whose=whose if isinstance(whose, str) else "",
    )


def _messages_in(checkpoint: Any) -> Any:
    values = checkpoint.get("channel_values") if isinstance(checkpoint, Mapping) else None
    return (values or {}).get(MESSAGES, [])


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


class _Asleep(dict[str, Any]):
    """A mapping without its objects, and what it was stored as."""

    stored: tuple[str, bytes]


class _AsleepList(list[Any]):
    """As `_Asleep`, for a list."""

    stored: tuple[str, bytes]


class _SleepingSerde:
    """Reads MessagePack without making objects; everything else as the other serializer does."""

    def __init__(self, serde: Any, unpack: Callable[[bytes], Any]) -> None:
        self._serde = serde
        self._unpack = unpack

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """As the other serializer, though nothing is ever written here."""
        stored: tuple[str, bytes] = self._serde.dumps_typed(obj)
        return stored

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value, whose objects are None."""
        if data[0] != "msgpack":
            return self._serde.loads_typed(data)
        value = self._unpack(data[1])
        asleep: _Asleep | _AsleepList
        if isinstance(value, dict):
            asleep = _Asleep(value)
        elif isinstance(value, list):
            asleep = _AsleepList(value)
        else:
            return value
        asleep.stored = data
        return asleep


def _asleep(saver: BaseCheckpointSaver[Any]) -> tuple[BaseCheckpointSaver[Any], Any]:
    """A copy of the checkpointer that wakes nothing, and its own serializer."""
    serde = getattr(saver, "serde", None)
    try:
        import ormsgpack

        option = ormsgpack.OPT_NON_STR_KEYS

        def unpack(data: bytes) -> Any:
            return ormsgpack.unpackb(data, ext_hook=_nothing, option=option)

        twin = copy.copy(saver)
        twin.serde = _SleepingSerde(serde, unpack)
    except Exception as error:  # noqa: BLE001 - a checkpointer of somebody's own
        _log.info("%s is read as it is (%s)", type(saver).__name__, type(error).__name__)
        return saver, serde
    return twin, serde


def _nothing(code: int, data: bytes) -> None:
    """What stands for an object that is not made."""


def threads_of(facts: Iterable[Facts]) -> Iterator[Facts]:
    """The newest checkpoint of each thread with memory."""
    newest: dict[str, Facts] = {}
    for one in facts:
        known = newest.get(one.thread)
        if known is None or one.id > known.id:
            newest[one.thread] = one
    return (one for one in newest.values() if one.has_memory)
