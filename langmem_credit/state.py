"""The two private state channels of a graph with memory, and the schemas that carry them.

`memory_ledger` holds the events of the thread; `memory_run` holds what this run heard and when its
digest was frozen. Both hold JSON shapes only. Neither is a plain reducer: a reducer is stepped over
by `Overwrite`, and cannot tell the memory's own events from somebody else's. An event that this
process did not make is kept, marked `held`, and never makes a note active; whoever runs the graph
next may verify it from the words of the run. A run record that this process did not make is
dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Self

from langgraph.channels.base import BaseChannel
from langgraph.graph import MessagesState
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from .issued import ISSUED, fingerprint
from .ledger import merge_events

Event = dict[str, Any]
RunRecord = dict[str, Any]

LEDGER = "memory_ledger"
RUN = "memory_run"
CHANNELS = frozenset({LEDGER, RUN})

# What a stranger may leave in a ledger: one event as large as the largest honest one (a note, its
# quote and the message), and not so many that they crowd the checkpoint.
_HELD_EVENT_BYTES = 16 * 1024
_HELD_EVENTS = 50
# A stranger's date far ahead would push the ledger's clock, which never runs backwards, along.
_CLOCK_SKEW = timedelta(minutes=5)

_log = logging.getLogger("langmem_credit")


def issue_events(events: Iterable[Event]) -> list[Event]:
    """The events, known to the ledger channels of this process as the memory's own."""
    issued = list(events)
    for event in issued:
        ISSUED.add(event)
    return issued


def issue_run(record: RunRecord) -> RunRecord:
    """The run record, known to the run channels of this process as the memory's own."""
    ISSUED.add(record)
    return record


def unwrap(value: object) -> object:
    """What an `Overwrite` holds, in each of the three forms that LangGraph takes; else the value.

    A reducer never sees an `Overwrite`, so each form has to be undone by hand.
    """
    if isinstance(value, Overwrite):
        return value.value
    if isinstance(value, Mapping):
        if len(value) == 1 and "__overwrite__" in value:
            return value["__overwrite__"]
        if value.get("type") == "__overwrite__" and "value" in value:
            return value["value"]
    return value


class LedgerChannel(BaseChannel[list[Event], Any, list[Event]]):
    """Events by id: nothing is overwritten, the order of arrival does not matter."""

    __slots__ = ("value",)

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.value: list[Event] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LedgerChannel)

    __hash__ = None  # type: ignore[assignment]

    @property
    def ValueType(self) -> Any:  # noqa: N802
        """The type of the value, for schemas."""
        return list[dict[str, Any]]

    @property
    def UpdateType(self) -> Any:  # noqa: N802
        """The type of an update, for schemas."""
        return list[dict[str, Any]]

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """The channel as a checkpoint left it; empty for anything that is not a list."""
        channel = self.__class__(self.typ, self.key)
        if isinstance(checkpoint, list):
            channel.value = [event for event in checkpoint if isinstance(event, dict)]
        return channel

    def get(self) -> list[Event]:
        """The events. Never missing, so that a state without the key has no such channel."""
        return self.value

    def is_available(self) -> bool:
        """True: an empty ledger is a ledger."""
        return True

    def checkpoint(self) -> list[Event]:
        """What a checkpoint keeps."""
        return self.value

    def update(self, values: Sequence[Any]) -> bool:
        """Merges what the step wrote; True when something changed."""
        incoming: list[Event] = []
        known = {event.get("id") for event in self.value}
        strangers = sum(1 for event in self.value if event.get("held"))
        for value in values:
            for event in _events_in(unwrap(value)):
                if event in ISSUED:
                    incoming.append(event)
                    continue
                held = _held(event)
                if held is None or held["id"] in known:
                    # Written by a subgraph that was handed the ledger, or a stranger's change of
                    # one of our events; either way what stands here already is right.
                    continue
                if strangers >= _HELD_EVENTS:
                    _log.warning("dropped an event of unknown origin: too many are waiting")
                    continue
                strangers += 1
                _log.warning("event %s is of unknown origin and is held back", held["id"])
                incoming.append(held)
        if not incoming:
            return False
        merged = merge_events(self.value, incoming)
        if merged == self.value:
            return False
        self.value = merged
        return True


class RunChannel(BaseChannel[RunRecord, Any, RunRecord]):
    """The record of this run; what an earlier run heard is gone with its record."""

    __slots__ = ("value",)

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self.value: RunRecord = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunChannel)

    __hash__ = None  # type: ignore[assignment]

    @property
    def ValueType(self) -> Any:  # noqa: N802
        """The type of the value, for schemas."""
        return dict[str, Any]

    @property
    def UpdateType(self) -> Any:  # noqa: N802
        """The type of an update, for schemas."""
        return dict[str, Any]

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """The channel as a checkpoint left it; empty for anything that is not a dict."""
        channel = self.__class__(self.typ, self.key)
        if isinstance(checkpoint, dict):
            channel.value = checkpoint
        return channel

    def get(self) -> RunRecord:
        """The record; empty before the first run."""
        return self.value

    def is_available(self) -> bool:
        """True: a run that nobody has recorded yet is an empty record."""
        return True

    def checkpoint(self) -> RunRecord:
        """What a checkpoint keeps."""
        return self.value

    def update(self, values: Sequence[Any]) -> bool:
        """Takes the memory's own records; True when something changed."""
        value = self.value
        for raw in values:
            record = unwrap(raw)
            if record in (self.value, {}):
                # A subgraph hands back what it was given.
                continue
            if not isinstance(record, dict) or record not in ISSUED:
                _log.warning("dropped a run record of unknown origin")
                continue
            value = merge_runs(value, record)
        if value == self.value:
            return False
        self.value = value
        return True


def merge_runs(left: RunRecord, right: RunRecord) -> RunRecord:
    """The newer record; within one run, what both heard, once each.

    Parallel tools do not see each other's writes, so two answers that arrive in one step come as
    two records of the same run.
    """
    if left.get("run") != right.get("run"):
        return right
    merged = {**left, **right}
    heard: dict[str, dict[str, Any]] = {}
    for utterance in [*left.get("heard", []), *right.get("heard", [])]:
        heard.setdefault(utterance["id"], utterance)
    if heard:
        merged["heard"] = list(heard.values())
    gone = dict.fromkeys([*left.get("gone", []), *right.get("gone", [])])
    if gone:
        merged["gone"] = list(gone)
    merged["as_of"] = max(left.get("as_of", ""), right.get("as_of", ""))
    return merged


def _events_in(value: object) -> list[Event]:
    """The dicts in what was written, be it one event or a list of them."""
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list | tuple):
        return [event for event in value if isinstance(event, dict)]
    return []


def _held(event: Event) -> Event | None:
    """The event marked as held; None when it is no event or larger than any of ours."""
    key = fingerprint(event)
    if key is None or len(str(event)) > _HELD_EVENT_BYTES:
        return None
    if not all(isinstance(event.get(name), str) and event[name] for name in ("id", "type", "at")):
        return None
    latest = datetime.now(UTC) + _CLOCK_SKEW
    if event["at"] > latest.strftime("%Y-%m-%dT%H:%M:%S.%fZ"):
        return None
    return {**event, "held": True}


class MemoryChannels(TypedDict):
    """The two channels alone, for a state of your own: `class State(Mine, MemoryChannels)`."""

    memory_ledger: Annotated[list[dict[str, Any]], LedgerChannel]
    memory_run: Annotated[dict[str, Any], RunChannel]


class MemoryState(MessagesState, MemoryChannels):
    """State of a graph with memory. Give the builder `MemoryInput` and `MemoryOutput` beside it."""


class MemoryInput(MessagesState):
    """What callers may hand in: messages. The memory's channels are not theirs to write."""


class MemoryOutput(MessagesState):
    """What callers get back: messages."""
