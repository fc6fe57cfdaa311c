"""What the panel reads and decides, for one person and in one scope at a time.

It reads a scope as a run of that person would, and decides by the memory's own methods on a memory
that knows this scope alone: a note of another scope with the same id is out of reach.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from langmem_credit.access import opened
from langmem_credit.books import Book, Opening, do
from langmem_credit.errors import ChangedNoteError, ConfigurationError, UnknownNoteError
from langmem_credit.events import PERSON
from langmem_credit.host import events_of, where_of
from langmem_credit.ledger import Event
from langmem_credit.memory import CreditedMemory
from langmem_credit.notebook import Notebook, fold
from langmem_credit.notes import Note
from langmem_credit.review.rows import Action, actions_of, section_of, shown_hash, undoing
from langmem_credit.scopes import SESSION, Scope

# More are reached by their address.
MOST_SESSIONS = 100
# A thread that nobody has: it stands where the memory asks for one.
_NO_THREAD = f"langmem-credit-panel-{secrets.token_hex(8)}"
NO_SCOPE = "there is no scope to show: the graph has no store, and no sessions were offered"
NO_SESSION = "there is no session yet"
_WHY: dict[Action, str] = {"reject": "rejected in review", "forget": "forgotten in review"}

_log = logging.getLogger("langmem_credit")


@dataclass(frozen=True)
class Desk:
    """What one person may look at.

    Attributes:
        memory: that the graph was built with.
        graph: with its checkpointer and store.
        values: of the person, as a run's config has them.
        sessions: ids of the threads that these values may see, newest first; None for none.
        operator: they run the whole thing, and may see what is of no other user's business.
    """

    memory: CreditedMemory
    graph: Any
    values: Mapping[str, str]
    sessions: Callable[[Mapping[str, str]], Iterable[str]] | None = None
    operator: bool = False

    @property
    def scope_names(self) -> tuple[str, ...]:
        """The scopes that can be chosen, the default first."""
        shared = [scope.name for scope in self.memory.scopes] if self._has_store else []
        return (*shared, *([SESSION] if self.sessions else []))

    @cached_property
    def session_names(self) -> list[str]:
        """Ids of the person's threads, newest first."""
        return [str(one) for one in self.sessions(self.values)] if self.sessions else []

    def look(self, scope: str, session: str = "") -> View:
        """What the scope holds.

        Raises:
            KeyError: the person has no such scope or session.
        """
        if scope == SESSION and self.sessions:
            if not session and not self.session_names:
                return View(self.memory, self.graph, {}, SESSION, closed=NO_SESSION)
            if session not in self.session_names:
                raise KeyError(session)
            return self._session(session)
        if not scope and not self.scope_names:
            return View(self.memory, self.graph, {}, "", closed=NO_SCOPE)
        for declared in self.memory.scopes if self._has_store else ():
            if declared.name == scope:
                return self._shared(declared)
        raise KeyError(scope)

    @property
    def _has_store(self) -> bool:
        return getattr(self.graph, "store", None) is not None

    def _session(self, session: str) -> View:
        config = {"configurable": {**self.values, "thread_id": session}}
        alone = replace(self.memory, scopes=())
        try:
            events = events_of(opened(self.graph, config, "notebook").get_state(config))
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - checkpointers raise what they like
            _log.warning("panel: a session cannot be read (%s)", type(error).__name__)
            return View(alone, self.graph, config, SESSION, closed=_failed(error))
        return View(alone, self.graph, config, SESSION, fold(events), tuple(events))

    def _shared(self, scope: Scope) -> View:
        config = {"configurable": {**self.values, "thread_id": _NO_THREAD}}
        alone = replace(self.memory, scopes=(scope,))
        (book,) = do(_opening(scope, self.graph, config))
        if book.closed:
            return View(alone, self.graph, config, scope.name, closed=book.closed)
        me = book.me or None
        return View(alone, self.graph, config, scope.name, book.notebook, book.events, me)


@dataclass(frozen=True, slots=True)
class View:
    """One scope as it was read, and the decisions in it.

    Attributes:
        memory: that knows this scope alone.
        graph: with its checkpointer and store.
        config: of the thread and the person.
        scope: its name.
        notebook: all that it holds.
        events: of its ledger, oldest first.
        me: the person's name where several share the scope, else None.
        closed: why it cannot be read now, as half a sentence; "" when it can.
    """

    memory: CreditedMemory
    graph: Any
    config: dict[str, Any]
    scope: str
    notebook: Notebook = field(default_factory=Notebook)
    events: Sequence[Event] = ()
    me: str | None = None
    closed: str = ""

    def note(self, note_id: str) -> Note:
        """The note, where this person may see it.

        Raises:
            UnknownNoteError: there is none.
        """
        note = self.notebook.notes.get(note_id)
        if note is None or section_of(note, self.me) is None:
            raise UnknownNoteError(note_id)
        return note

    def decide(self, action: Action, note_id: str, shown: str, text: str | None = None) -> Note:
        """The note after what the person decided about the exact text that they were shown.

        Args:
            action: one that the note offers.
            note_id: of the note.
            shown: `shown_hash` of the text that stood on the page.
            text: what they made of it, for `edit`.

        Raises:
            ChangedNoteError: the note no longer says what was shown.
            UnknownNoteError: there is no such note for this person.
            NotOfferedError: by now the note offers something else.
            RefusedWriteError: the memory refused.
        """
        note = self._bound(note_id, shown)
        if action not in actions_of(note, self.me):
            raise NotOfferedError(note)
        return self._done(action, note, text)

    def undo(self, action: Action, note_id: str, shown: str) -> Note:
        """The note after the person took back their last decision about it.

        Raises:
            As `decide`.
        """
        note = self._bound(note_id, shown)
        back = undoing(action, note)
        if back not in actions_of(note, self.me):
            raise NotOfferedError(note)
        undone = self._done(back, note)
        older = self.notebook.notes.get(note.replaces) if action in ("confirm", "edit") else None
        if older is not None and older.replaced_by == note.id and older.status == "superseded":
            # The confirmation had put it out of force.
            self._done("restore", older)
        return undone

    def _bound(self, note_id: str, shown: str) -> Note:
        note = self.note(note_id)
        if shown_hash(note.text) != shown:
            raise ChangedNoteError(note.id, note.text)
        return note

    def _done(self, action: Action, note: Note, text: str | None = None) -> Note:
        by = self.me or PERSON
        memory, graph, config = self.memory, self.graph, self.config
        if action == "confirm":
            return memory.confirm(graph, config, note.id, shown=note.text, by=by)
        if action == "edit":
            return memory.confirm(graph, config, note.id, shown=note.text, text=text, by=by)
        if action == "dispute":
            return memory.dispute(graph, config, note.id, by=by)
        if action == "restore":
            return memory.restore(graph, config, note.id, by=by)
        return memory.forget(graph, config, note.id, why=_WHY[action], by=by)


class NotOfferedError(Exception):
    """The note is no longer what the page showed: it offers other actions.

    Attributes:
        note: as it is now.
    """

    def __init__(self, note: Note) -> None:
        self.note = note
        super().__init__(f"Note {note.id} is {note.status} now. Look at it and decide again.")


def _opening(
    scope: Scope, graph: Any, config: dict[str, Any]
) -> Generator[Any, Any, tuple[Book, ...]]:
    books: tuple[Book, ...] = yield Opening((scope,), where_of(graph, config))
    return books


def _failed(error: Exception) -> str:
    return f"its checkpointer failed ({type(error).__name__})"
