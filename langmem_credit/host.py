"""What host code may do with a thread's notes, on behalf of a person: look, decide, forget.

Every decision is an event that this process makes and writes through `update_state`. A decision is
refused while the thread waits for an answer: a new checkpoint would drop the question, and what
other tools of the same step have done would be done twice. It is refused during a run too: the run
would overwrite it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from langgraph.errors import InvalidUpdateError
from langgraph.types import StateSnapshot

from .access import NO_CHANNELS
from .books import LATE, Where, Work, Writing, ado, do, host_books
from .bounds import refusal, shrink
from .errors import (
    ChangedNoteError,
    ConfigurationError,
    RefusedWriteError,
    UnknownNoteError,
    named,
)
from .events import is_name
from .indexing import keep, rank_for, scope_key, thread_key, token_of
from .ledger import Event, confirmed, disputed, merge_events, next_at, restored, withdrawn
from .notebook import Notebook, fold
from .notes import Note, text_hash, utc_now
from .placement import digest_of, fixed
from .recall import Rank
from .scopes import RunValues
from .session import Session
from .settings import Settings
from .shelf import Shelf, shelve
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
    try:
        events, event = _prepared(settings, graph.get_state(config), change)
    except UnknownNoteError as error:
        return do(_elsewhere(settings, where_of(graph, config), change, error))
    try:
        graph.update_state(config, {LEDGER: events})
    except InvalidUpdateError as error:
        raise not_written(error) from error
    return _kept_up(settings, config, events_of(graph.get_state(config)), event)


async def aapply(settings: Settings, graph: StatefulGraph, config: Any, change: Change) -> Note:
    """As `apply`."""
    try:
        events, event = _prepared(settings, await graph.aget_state(config), change)
    except UnknownNoteError as error:
        return await ado(_elsewhere(settings, where_of(graph, config), change, error))
    try:
        await graph.aupdate_state(config, {LEDGER: events})
    except InvalidUpdateError as error:
        raise not_written(error) from error
    return _kept_up(settings, config, events_of(await graph.aget_state(config)), event)


def where_of(graph: object, config: Any) -> Where:
    """Where the thread's graph keeps what it shares, and whom this config is for.

    A host that hands identities over in the runtime context puts them under "configurable" here.
    """
    configurable = (config or {}).get("configurable")
    values = RunValues(configurable=configurable if isinstance(configurable, dict) else {})
    return Where(getattr(graph, "store", None), values)


def notebook_of(settings: Settings, where: Where, snapshot: StateSnapshot) -> Work[Notebook]:
    """All that is kept in the thread and in the scopes that this config opens."""
    notebook = fold(events_of(snapshot))
    return shelve(notebook, (yield from host_books(settings.scopes, where)), None).notebook


def shelf_of(
    settings: Settings, where: Where, snapshot: StateSnapshot, config: Any
) -> Work[tuple[Shelf, Rank]]:
    """All that this config opens, and the ranking of it, with the index where there is one.

    Raises:
        ConfigurationError: the graph has no memory.
    """
    state = {"messages": [], LEDGER: events_of(snapshot), RUN: {}}
    session = Session.read(settings, state, config)
    if session is None:
        raise ConfigurationError(NO_CHANNELS)
    session = session.with_books((yield from host_books(settings.scopes, where)))
    shelf = session.shelf()
    return shelf, rank_for(session, shelf)


def history_in(
    settings: Settings, where: Where, snapshot: StateSnapshot, note_id: str | None
) -> Work[list[Event]]:
    """Copies of all events, or of those about one note, each ledger's oldest first.

    Raises:
        UnknownNoteError: no note has this id.
    """
    events = events_of(snapshot)
    books = yield from host_books(settings.scopes, where)
    ledgers = [events, *(book.events for book in books)]
    found = [_about(ledger, note_id) for ledger in ledgers]
    if note_id is not None and not any(found):
        raise UnknownNoteError(note_id)
    return [dict(event) for part in found for event in part]


def digest_in(settings: Settings, where: Where, snapshot: StateSnapshot, config: Any) -> Work[str]:
    """The digest that the thread's next run would begin with; "" for none."""
    state = {"messages": [], LEDGER: events_of(snapshot), RUN: {}}
    session = Session.read(settings, state, config)
    if session is None:
        return ""
    session = yield from fixed(session, where, {})
    return digest_of(session)


def _elsewhere(
    settings: Settings, where: Where, change: Change, unknown: UnknownNoteError
) -> Work[Note]:
    """The note after the change, where it is another scope's."""
    books = yield from host_books(settings.scopes, where)
    for book in books:
        if book.closed:
            continue
        try:
            note, event = change(book.notebook, next_at(utc_now(), book.events))
        except UnknownNoteError:
            continue
        refused = refusal(book.notebook, event, settings.limits.shared())
        if refused:
            raise RefusedWriteError(refused)
        problem = yield Writing(book, [event])
        if problem == LATE:
            raise RefusedWriteError(
                f"The change cannot be said to be written: scope {book.scope.name}: {LATE}. Look "
                "at the notes, then try again."
            )
        if problem:
            raise RefusedWriteError(
                f"Nothing was changed: scope {book.scope.name} could not be written, {problem}."
            )
        (after,) = yield from host_books([book.scope], where)
        if after.closed:
            raise RefusedWriteError(
                f"The change is written, but scope {book.scope.name} cannot be read: "
                f"{after.closed}."
            )
        keep(settings, scope_key(after.labels), after.notebook, after.token)
        return _note(after.notebook, note.id)
    closed = [f"{book.scope.name} ({book.closed})" for book in books if book.down]
    if closed:
        raise RefusedWriteError(
            f"Note {unknown.note_id!r:.40} was not found; not looked at: {', '.join(closed)}."
        )
    raise unknown


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


def _about(events: list[Event], note_id: str | None) -> list[Event]:
    """The events, or those about one note."""
    if note_id is None:
        return events
    notebook = fold(events)
    note = notebook.get(note_id)
    if note is None:
        return []
    return [
        event
        for event in events
        if note.id in (event.get("note"), notebook.births.get(event["id"]))
    ]


def _prepared(
    settings: Settings, snapshot: StateSnapshot, change: Change
) -> tuple[list[Event], Event]:
    events = events_of(snapshot)
    notebook = fold(events)
    note, event = change(notebook, _moment(snapshot, events))
    check_settled(snapshot)
    refused = refusal(notebook, event, settings.limits)
    if refused:
        raise RefusedWriteError(refused)
    del note
    smaller = shrink(merge_events(events, [event]), settings.limits)
    return issue_events([event, *smaller]), event


def _moment(snapshot: StateSnapshot, events: list[Event]) -> str:
    run = snapshot.values.get(RUN) or {}
    return next_at(utc_now(), [*events, {"id": "run", "at": run.get("as_of", "")}])


def _kept_up(settings: Settings, config: Any, events: list[Event], event: Event) -> Note:
    """The note, read back, and the index brought up to it."""
    note = _read_back(events, event)
    thread = (config.get("configurable") or {}).get("thread_id")
    if thread is not None:
        keep(settings, thread_key(str(thread)), fold(events), token_of(events))
    return note


def _read_back(events: list[Event], event: Event) -> Note:
    """The note as the stored ledger has it: "done" is said only of what is there.

    Raises:
        RefusedWriteError: the event is not in the stored ledger.
    """
    check_kept(events, [event])
    return _note(fold(events), event["note"])


def check_kept(events: list[Event], written: Iterable[Event]) -> None:
    """Lets what was written pass when it stands in the stored ledger.

    Raises:
        RefusedWriteError: it does not.
    """
    kept = {one["id"] for one in events if not one.get("held")}
    if not all(event["id"] in kept for event in written):
        raise RefusedWriteError(
            "The change was written but cannot be read back. Look at the checkpointer, then try "
            "again."
        )


def check_settled(snapshot: StateSnapshot) -> None:
    """Lets a thread pass that waits for nobody and does not run.

    Raises:
        RefusedWriteError: it waits for an answer, or a run is going on.
    """
    if any(task.interrupts or task.result is not None for task in snapshot.tasks):
        raise RefusedWriteError(
            "This thread waits for an answer to a question. Answer it first; then change notes."
        )
    if snapshot.next and not any(task.error for task in snapshot.tasks):
        # The run goes on from what it knows: its next checkpoint would lack the decision.
        raise RefusedWriteError(
            "A run of this thread is going on, or broke off. Wait until it has ended, or let it go "
            "on; then change notes."
        )


def _note(notebook: Notebook, note_id: object) -> Note:
    note = notebook.get(note_id)
    if note is None:
        raise UnknownNoteError(note_id)
    return note


def _check_by(by: object) -> None:
    if not isinstance(by, str):
        raise ConfigurationError(f"by must be text, who decided, not {named(by)}. Pass a name.")
    if by and not is_name(by):
        raise ConfigurationError(
            f"by={named(by)} cannot be kept as it is, and another name may be somebody else's. "
            "Pass at most 120 visible characters without spaces at the ends, nothing that looks "
            "like a secret."
        )


def not_written(error: InvalidUpdateError) -> RefusedWriteError:
    """The error for a write that LangGraph cannot place."""
    return RefusedWriteError(
        f"Nothing was changed: LangGraph cannot tell after which node to write ({error}). Let the "
        "graph end in one node."
    )
