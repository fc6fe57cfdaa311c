"""The session's notes and those of the open scopes as one notebook, as the speaker may see them.

Of a scope that several people share, everybody's active notes are seen, and what waits for review
only of the speaker's own. A note of the speaker's carries no name here, so that it reads as "you".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from .books import Book
from .events import PERSON
from .identity import new_note_id
from .notebook import Notebook
from .notes import Note
from .orders import is_order
from .scopes import SESSION

# No name that events keep, so that nobody can be called so.
NOBODY = " somebody"


@dataclass(frozen=True, slots=True)
class Owned:
    """Where a note of the shelf lies: the name of its scope, and its id there."""

    scope: str
    id: str


@dataclass(frozen=True)
class Shelf:
    """Several notebooks as one.

    Attributes:
        notebook: with the notes of all, by an id that is unique here.
        owners: of each note of the other scopes, by its id here; the rest are the session's.
        muted: ids of other people's orders, which the digest leaves out.
        heeded: ids of other people's notes whose orders count, as the host said.
    """

    notebook: Notebook
    owners: Mapping[str, Owned] = field(default_factory=lambda: MappingProxyType({}))
    muted: frozenset[str] = frozenset()
    heeded: frozenset[str] = frozenset()

    def owner(self, note_id: str) -> Owned:
        """Where the note lies."""
        return self.owners.get(note_id) or Owned(SESSION, note_id)

    @cached_property
    def places(self) -> Mapping[str, str]:
        """Id of each note here to the name of its scope."""
        return {note_id: self.owner(note_id).scope for note_id in self.notebook.notes}

    @cached_property
    def lying(self) -> Mapping[str, Mapping[str, str]]:
        """Of each scope's notes that recall may show: id there to id here."""
        return self.lying_of(self.notebook.recallable)

    def lying_of(self, notes: Iterable[Note]) -> Mapping[str, Mapping[str, str]]:
        """Of these notes, by scope: id there to id here."""
        found: dict[str, dict[str, str]] = {}
        for note in notes:
            owner = self.owner(note.id)
            found.setdefault(owner.scope, {})[owner.id] = note.id
        return found

    def only(self, scope: str) -> Shelf:
        """The notes of one scope."""
        kept = {
            note_id: note
            for note_id, note in self.notebook.notes.items()
            if self.places[note_id] == scope
        }
        return replace(self, notebook=replace(self.notebook, notes=MappingProxyType(kept)))


def shelve(session: Notebook, books: Sequence[Book], speaker: str | None) -> Shelf:
    """The session's notebook and the open books as one."""
    if not any(book.events for book in books):
        return Shelf(session)
    notes: dict[str, Note] = dict(session.notes)
    owners: dict[str, Owned] = {}
    muted: set[str] = set()
    heeded: set[str] = set()
    for book in books:
        for note in _seen(book, speaker):
            if not note.active and (note.kind == "finding" or _is_known(note, session)):
                continue
            # Six characters may meet another notebook's; then it gets a longer id here.
            shown = note.id if note.id not in notes else new_note_id(note.id, notes)
            owners[shown] = Owned(book.scope.name, note.id)
            notes[shown] = note if shown == note.id else replace(note, id=shown)
            if book.me and note.speaker and note.speaker != (speaker or ""):
                if book.scope.orders:
                    heeded.add(shown)
                elif is_order(note.text):
                    muted.add(shown)
    notebook = replace(session, notes=MappingProxyType(notes))
    return Shelf(notebook, MappingProxyType(owners), frozenset(muted), frozenset(heeded))


def _is_known(note: Note, session: Notebook) -> bool:
    """True for the outcome of a session that the session has itself."""
    return note.outcome and any(one.text == note.text for one in session.outcomes)


def _seen(book: Book, speaker: str | None) -> Iterable[Note]:
    """The notes of the book that the speaker may see, theirs without a name; all for the host."""
    if not book.me:
        yield from book.notebook.notes.values()
        return
    for note in book.notebook.notes.values():
        if note.speaker == book.me:
            mine = replace(note, speaker=speaker or "")
            yield replace(mine, confirmed_by=PERSON) if note.confirmed_by == book.me else mine
        elif note.active:
            # A note without a name would read as whoever's turn it is.
            yield note if note.speaker else replace(note, speaker=NOBODY)
