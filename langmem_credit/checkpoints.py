"""Threads as their checkpointer holds them, read through a twin that leaves messages asleep.

`Peek.messages` wakes them with the checkpointer's own serializer and its rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from .register import marks_in
from .sleeping import Asleep, AsleepList, asleep_twin
from .state import LEDGER, RUN

MESSAGES = "messages"
_FIRST_PAGE = 20
_LARGEST_PAGE = 320
_MOST_COMPACTIONS = 50
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
class LookThrough:
    """Asks for what compactions took out of a conversation: its messages before each of them.

    The answer is a list of lists, the newest compaction first, or the error that was raised.

    Attributes:
        thread: its id.
        id: of the checkpoint from which on it is looked back, along its own branch.
        is_compaction: says of the messages before a step and after it whether that was one.
    """

    thread: str
    id: str
    is_compaction: Callable[[Sequence[BaseMessage], Sequence[BaseMessage]], bool]


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
        since: when the last run began, ISO 8601; "" where that is not told.
        marks: that the person set, where no store keeps a register.
    """

    thread: str
    id: str
    at: str
    has_memory: bool
    whose: str
    since: str = ""
    marks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


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
        self._asleep, self._serde = asleep_twin(saver)

    def look(self, threads: Iterable[str]) -> list[Peek | Exception | None]:
        """The newest checkpoint of each thread, in their order."""
        found: list[Peek | Exception | None] = []
        for thread in threads:
            try:
                found.append(self._peek(self._asleep.get_tuple(_config(thread))))
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
                found.append(self._peek(await self._asleep.aget_tuple(_config(thread))))
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

    def look_through(self, asked: LookThrough) -> list[list[BaseMessage]] | Exception:
        """What `LookThrough` asks for."""
        branch = _Branch(asked)
        try:
            while branch.size:
                page = self._asleep.list(_config(asked.thread), **branch.page)
                branch.take(list(page), self._peek)
        except _UNUSABLE:
            raise
        except Exception as error:  # noqa: BLE001 - one broken thread must not hide the others
            return error
        return branch.found

    async def alook_through(self, asked: LookThrough) -> list[list[BaseMessage]] | Exception:
        """As `look_through`."""
        branch = _Branch(asked)
        try:
            while branch.size:
                page = self._asleep.alist(_config(asked.thread), **branch.page)
                branch.take([one async for one in page], self._peek)
        except _UNUSABLE:
            raise
        except Exception as error:  # noqa: BLE001 - one broken thread must not hide the others
            return error
        return branch.found

    @property
    def comes_newest_first(self) -> bool:
        """True where listing is known to give the newest checkpoints of all threads first.

        And where that spares something: a single look at PostgreSQL is a way there and back.
        """
        names = {(one.__module__, one.__name__) for one in type(self.saver).__mro__}
        return not names.isdisjoint(_NEWEST_FIRST)

    def _peek(self, one: CheckpointTuple | None) -> Peek | None:
        if one is None:
            return None
        checkpoint = one.checkpoint
        values: Any = checkpoint.get("channel_values") or {}
        messages = values.get(MESSAGES, [])
        if isinstance(checkpoint, Asleep):
            # Kept in one piece with everything else.
            whole = checkpoint
            return Peek(_facts(one), messages, lambda _: _messages_in(self._woken(whole)))
        return Peek(_facts(one), messages, self._woken)

    def _woken(self, value: Any) -> Any:
        if isinstance(value, Asleep | AsleepList):
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


class _Branch:
    """A thread's checkpoints page by page, from one on back to its beginning."""

    def __init__(self, asked: LookThrough) -> None:
        self.found: list[list[BaseMessage]] = []
        self.size = _FIRST_PAGE
        self._wanted = asked.id
        self._before: Any = None
        self._is_compaction = asked.is_compaction
        self._after: Peek | None = None
        self._removed: set[str | None] = set()

    @property
    def page(self) -> dict[str, Any]:
        """Which page is asked for next."""
        return {"before": self._before, "limit": self.size}

    def take(self, page: list[CheckpointTuple], peek: Callable[[Any], Peek | None]) -> None:
        """Takes a page in; the size of the next one is 0 where none is needed."""
        for one in page:
            if one.checkpoint.get("id") != self._wanted:
                # Of a branch that was left, or made since.
                continue
            look = peek(one)
            if look is not None and self._after is not None and look.count > self._after.count:
                self._became_fewer(look.messages(), self._after.messages())
            self._after = look
            parent = ((one.parent_config or {}).get("configurable") or {}).get("checkpoint_id")
            if not parent or len(self.found) >= _MOST_COMPACTIONS:
                self.size = 0
                return
            self._wanted = parent
        if len(page) < self.size:
            self.size = 0
        else:
            self._before = page[-1].config
            self.size = min(4 * self.size, _LARGEST_PAGE)

    def _became_fewer(self, before: list[BaseMessage], after: list[BaseMessage]) -> None:
        if self._is_compaction(before, after):
            self.found.append([one for one in before if one.id not in self._removed])
        else:
            # By somebody who wanted them gone.
            self._removed |= {one.id for one in before} - {one.id for one in after}


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
    run = run if isinstance(run, Mapping) else {}
    whose, since = run.get("whose", ""), run.get("since") or run.get("as_of", "")
    return Facts(
        thread=str(one.config["configurable"]["thread_id"]),
        id=str(checkpoint.get("id", "")),
        at=str(checkpoint.get("ts", "")),
        has_memory=LEDGER in values or RUN in values,
        whose=whose if isinstance(whose, str) else "",
        since=since if isinstance(since, str) else "",
        marks=marks_in(values.get(LEDGER)),
    )


def _messages_in(checkpoint: Any) -> Any:
    values = checkpoint.get("channel_values") if isinstance(checkpoint, Mapping) else None
    return (values or {}).get(MESSAGES, [])


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


def threads_of(facts: Iterable[Facts]) -> Iterator[Facts]:
    """The newest checkpoint of each thread with memory."""
    newest: dict[str, Facts] = {}
    for one in facts:
        known = newest.get(one.thread)
        if known is None or one.id > known.id:
            newest[one.thread] = one
    return (one for one in newest.values() if one.has_memory)
