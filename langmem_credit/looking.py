"""What recall looks through: all open scopes, or the one that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from .notebook import Notebook
from .scopes import SESSION
from .session import Session


@dataclass(frozen=True, slots=True)
class Looked:
    """The notes that recall looks through.

    Attributes:
        notebook: theirs.
        places: id of a note to the name of its scope; empty where there is only the session.
        unread: a sentence about scopes that could not be looked at, or "".
    """

    notebook: Notebook
    places: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unread: str = ""


def looked_through(session: Session, scope: object) -> Looked:
    """The session's notes and those of the open scopes, or of the one asked for."""
    if not session.books:
        return Looked(session.notebook)
    asked = scope.strip().lower() if isinstance(scope, str) else ""
    shelf = session.shelf()
    places = {note_id: shelf.owner(note_id).scope for note_id in shelf.notebook.notes}
    names = {SESSION, *(book.scope.name for book in session.books)}
    closed = [
        f"{book.scope.name} ({book.closed})"
        for book in session.books
        if book.closed and (book.scope.name == asked or (not asked and book.down))
    ]
    unread = f"Not looked at: {', '.join(closed)}." if closed else ""
    if asked and asked not in names:
        unread = f"There is no scope {asked!r:.40}; all were looked at."
    elif asked:
        kept = {
            note_id: note
            for note_id, note in shelf.notebook.notes.items()
            if places[note_id] == asked
        }
        return Looked(replace(shelf.notebook, notes=kept), places, unread)
    return Looked(shelf.notebook, places, unread)
