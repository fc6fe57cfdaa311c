"""What host code may do with a thread's notes, on behalf of a person: look, decide, forget.

Every decision is an event that this process makes and writes through `update_state`. A decision is
refused while the thread waits for an answer: a new checkpoint would drop the question, and what
other tools of the same step have done would be done twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from langgraph.errors import InvalidUpdateError
from langgraph.types import StateSnapshot

from .access import NO_CHANNELS
from .bounds import refusal, shrink
from .errors import (
    ChangedNoteError,
    ConfigurationError,
    RefusedWriteError,
    UnknownNoteError,
    named,
)
from .ledger import Event, confirmed, disputed, merge_events, next_at, restored, withdrawn
from .notebook import Notebook, fold
from .notes import Note, text_hash, utc_now
from .settings import Settings
from .state import LEDGER, RUN, issue_events


class StatefulGraph(Protocol):
    """A compiled graph with a checkpointer, or the part of it that is needed here."""

    def get_state(self, config: Any) -> StateSnapshot:
        """The thread's newest state."""

    def update_state(self, config: Any, values: Any) -> Any:
        """Writes to the thread."""

    async def aget_state(self, config: Any) -> StateSnapshot:
        """As `get_state`."""

    async def aupdate_state(self, config: Any, values: Any) -> Any:
        """As `update_state`."""


Change = Callable[[Notebook, str], tuple[Note, Event]]


def confirming(settings: Settings, note_id: str, shown: str, text: str | None, by: str) -> Change:
    """The note becomes memory, bound to the exact text that the person was shown.

    Raises:
        ConfigurationError: `shown` or `by` is no text.
    """
    _check_by(by)
    if not isinstance(shown, str):
        raise ConfigurationError(
            f"shown must be the text that the person read, not {named(shown)}. Pass the note's "
            "text as it was shown."
        )

    def change(notebook: Notebook, at: str) -> tuple[Note, Event]:
        note = _note(notebook, note_id)
        if note.text != shown:
            raise ChangedNoteError(note.id, note.text)
        edited = None if text == shown else text
        event = confirmed(
            note.id, text_hash(shown), at=at, by=by, text=edited, limits=settings.limits
        )
        return note, event

    return change


def disputing(settings: Settings, note_id: str, why: str, by: str) -> Change:
    """The person says that the note is not right: it is no memory any more."""
    _check_by(by)

    def change(notebook: Notebook, at: str) -> tuple[Note, Event]:
        note = _note(notebook, note_id)
        return note, disputed(note.id, at=at, by=by, why=why, limits=settings.limits)

    return change


def forgetting(settings: Settings, note_id: str, why: str, by: str) -> Change:
    """The person forgets the note."""
    _check_by(by)

    def change(notebook: Notebook, at: str) -> tuple[Note, Event]:
        note = _note(notebook, note_id)
        return note, withdrawn(note.id, at=at, by=by, why=why, limits=settings.limits)

    return change


def restoring(note_id: str, by: str) -> Change:
    """The person takes the last withdrawal, correction or dispute back."""
    _check_by(by)

    def change(notebook: Notebook, at: str) -> tuple[Note, Event]:
        note = _note(notebook, note_id)
        return note, restored(note.id, at=at, by=by)

    return change


def apply(settings: Settings, graph: StatefulGraph, config: Any, change: Change) -> Note:
    """The note after the change."""
    events, event = _prepared(settings, graph.get_state(config), change)
    try:
        graph.update_state(config, {LEDGER: events})
    except InvalidUpdateError as error:
        raise _not_written(error) from error
    return _read_back(events_of(graph.get_state(config)), event)


async def aapply(settings: Settings, graph: StatefulGraph, config: Any, change: Change) -> Note:
    """As `apply`."""
    events, event = _prepared(settings, await graph.aget_state(config), change)
    try:
        await graph.aupdate_state(config, {LEDGER: events})
    except InvalidUpdateError as error:
        raise _not_written(error) from error
    return _read_back(events_of(await graph.aget_state(config)), event)


def events_of(snapshot: StateSnapshot) -> list[Event]:
    """The thread's events, oldest first; none for a thread that never ran.

    Raises:
        ConfigurationError: the graph has no memory.
    """
    values = snapshot.values
    if not values:
        return []
    if not isinstance(values, dict) or LEDGER not in values:
        raise ConfigurationError(NO_CHANNELS)
    return list(values[LEDGER])


def history_of(events: list[Event], note_id: str | None) -> list[Event]:
    """Copies of all events, or of those about one note, oldest first.

    Raises:
        UnknownNoteError: no note has this id.
    """
    if note_id is None:
        return [dict(event) for event in events]
    notebook = fold(events)
    wanted = _note(notebook, note_id).id
    return [
        dict(event)
        for event in events
        if wanted in (event.get("note"), notebook.births.get(event["id"]))
    ]


def _prepared(
    settings: Settings, snapshot: StateSnapshot, change: Change
) -> tuple[list[Event], Event]:
    events = events_of(snapshot)
    if any(task.interrupts or task.result is not None for task in snapshot.tasks):
        raise RefusedWriteError(
            "This thread waits for an answer to a question. Answer it first; then change notes."
        )
    notebook = fold(events)
    note, event = change(notebook, _moment(snapshot, events))
    refused = refusal(notebook, event, settings.limits)
    if refused:
        raise RefusedWriteError(refused)
    del note
    smaller = shrink(merge_events(events, [event]), settings.limits)
    return issue_events([event, *smaller]), event


def _moment(snapshot: StateSnapshot, events: list[Event]) -> str:
    run = snapshot.values.get(RUN) or {}
    return next_at(utc_now(), [*events, {"id": "run", "at": run.get("as_of", "")}])


def _read_back(events: list[Event], event: Event) -> Note:
    """The note as the stored ledger has it: "done" is said only of what is there.

    Raises:
        RefusedWriteError: the event is not in the stored ledger.
    """
    if not any(one["id"] == event["id"] and not one.get("held") for one in events):
        raise RefusedWriteError(
            "The change was written but cannot be read back. Look at the checkpointer, then try "
            "again."
        )
    return _note(fold(events), event["note"])


def _note(notebook: Notebook, note_id: object) -> Note:
    note = notebook.get(note_id)
    if note is None:
        raise UnknownNoteError(note_id)
    return note


def _check_by(by: object) -> None:
    if not isinstance(by, str):
        raise ConfigurationError(f"by must be text, who decided, not {named(by)}. Pass a name.")


def _not_written(error: InvalidUpdateError) -> RefusedWriteError:
    return RefusedWriteError(
        f"Nothing was changed: LangGraph cannot tell after which node to write ({error}). Let the "
        "graph end in one node."
    )
