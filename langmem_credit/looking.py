"""What recall looks through: all open scopes, or the one that was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from .scopes import SESSION
from .session import Session
from .shelf import Shelf


@dataclass(frozen=True, slots=True)
class Looked:
    """The notes that recall looks through.

    Attributes:
        shelf: theirs.
        unread: a sentence about scopes that could not be looked at, or "".
    """

    shelf: Shelf
    unread: str = ""


def looked_through(session: Session, scope: object) -> Looked:
    """The session's notes and those of the open scopes, or of the one asked for."""
    if not session.books:
        return Looked(Shelf(session.notebook))
    asked = scope.strip().lower() if isinstance(scope, str) else ""
    shelf = session.shelf()
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
        shelf = shelf.only(asked)
    return Looked(shelf, unread)
