"""Words heard before the same note ended in another scope: they make no memory again.

A ledger's fold sees only what its own scope holds. So a note that a person had forgotten in one
scope could come back in another, by a write that was under way.
"""

from __future__ import annotations

from collections.abc import Iterator

from .drafts import STOOD_FOR, heard_of, text_in
from .events import claims_of
from .identity import sameness
from .ledger import Event
from .notebook import Notebook
from .notes import Note
from .scopes import SESSION
from .session import Session

_ENDED = ("forgotten", "superseded")


def ended_elsewhere(session: Session, event: Event, scope: str) -> tuple[Note, str] | None:
    """The speaker's note of another scope that ended after these words were heard, and its scope.

    Args:
        session: of the run, with all its books, and the thread's own ledger for its own.
        event: that a note is remembered, not yet written.
        scope: that it would be written to.
    """
    if event.get("type") != "remembered" or event.get("credited") is not True:
        return None
    heard_at, speaker = heard_of(event)[0], session.run.speaker or ""
    for name, notebook, note, me in _saying(session, event, scope):
        ended_at = notebook.ended_at.get(note.id, "")
        if note.status in _ENDED and note.why not in STOOD_FOR and heard_at < ended_at:
            if note.speaker in ("", speaker, me):
                return note, name
    return None


def _saying(
    session: Session, event: Event, scope: str
) -> Iterator[tuple[str, Notebook, Note, str]]:
    """Notes of other scopes that say the same or rest on the same words, with their notebook."""
    words = {text for key in ("text", "said") if (text := text_in(event, key))}
    if scope != SESSION:
        for old in session.events:
            note = session.notebook.of_event(old)
            if note is not None and _claims(old, note) & _names(words, text_in(old, "speaker")):
                yield SESSION, session.notebook, note, ""
    for book in session.books:
        kept = book.known or book.kept
        if book.scope.name != scope:
            for text in words:
                for note in kept.saying(text):
                    if _says(note, text):
                        yield book.scope.name, kept.notebook, note, book.me


def _says(note: Note, text: str) -> bool:
    return sameness(text) in {sameness(note.text), sameness(note.said)}


def _claims(event: Event, note: Note) -> set[str]:
    """What the note says and rests on; of one whose words were dropped, what its event tells."""
    if event.get("shrunk"):
        told = event.get("claims")
        return {text_in(event, "key"), *(told if isinstance(told, list | tuple) else ())}
    about, speaker = text_in(event, "about"), text_in(event, "speaker")
    key = sameness(note.text, about, speaker)
    return set(claims_of(event, note.text, about, speaker, key))


def _names(words: set[str], speaker: str) -> set[str]:
    return {sameness(text, "", speaker) for text in words}
