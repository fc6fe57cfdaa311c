"""How much a session's ledger may hold: what is refused, and what loses its words first.

Only words count: a state channel is written into every checkpoint, and words are what grows.
Withdrawing and disputing are never refused for want of room, so a full memory can be emptied.
"""

from __future__ import annotations

from collections.abc import Iterable

from .drafts import LIVING, text_in
from .identity import instant
from .ledger import Event, merge_events, tombstone, word_bytes
from .notebook import Notebook, fold
from .notes import LIMITS, Limits, Note, text_hash


def live_bytes(notebook: Notebook) -> int:
    """UTF-8 bytes of the words of all notes that have not ended."""
    return sum(notebook.words[note.id] for note in notebook.notes.values() if note.status in LIVING)


def waiting_bytes(notebook: Notebook) -> int:
    """UTF-8 bytes of the words of unconfirmed and disputed notes, findings among them."""
    return sum(notebook.words[note.id] for note in notebook.notes.values() if _waits(note))


def refusal(
    notebook: Notebook, event: Event, limits: Limits = LIMITS, *, writes: int = 0
) -> str | None:
    """Why the event may not be written, as one plain sentence with the remedy; None when it may.

    Args:
        notebook: as it is.
        event: as its constructor made it.
        limits: the bounds.
        writes: how many this run has made already.
    """
    if writes >= limits.writes_per_run:
        return (
            f"This run has already made {writes} writes to the memory, which is its limit. "
            "Nothing was changed: finish your answer, and write again in the next run."
        )
    event_type = event.get("type")
    if event_type == "remembered":
        return _too_long(event, limits) or _no_room(
            notebook, limits, more=word_bytes(event), waiting=event.get("credited") is not True
        )
    if event_type not in ("confirmed", "restored", "withdrawn", "disputed"):
        return f"An event of the type {event_type!r} cannot be written here."
    note = notebook.get(text_in(event, "note"))
    if note is None:
        return "No note has this id, and nothing was changed. List the notes to see their ids."
    if event_type == "confirmed":
        return _confirm_refusal(notebook, note, event, limits)
    if event_type == "restored":
        return _restore_refusal(notebook, note, limits)
    if note.status == "forgotten":
        return f"Note {note.id} is forgotten already: nothing was changed."
    return None


def shrink(events: Iterable[Event], limits: Limits = LIMITS, *, until: str = "") -> list[Event]:
    """Events without words, to merge in so that the ledger fits; [] while it does.

    The notes forgotten first go first, then the superseded and expired ones, oldest first. Notes
    that have not ended keep their words, and so do those that ended after `until`: the digest of
    a run that began then still shows them.
    """
    ledger = merge_events(events, [])
    notebook = fold(ledger)
    excess = sum(notebook.words.values()) - limits.live_bytes
    if excess <= 0:
        return []
    last = instant(until)
    ended = [
        note
        for note in notebook.notes.values()
        if note.status not in LIVING
        and notebook.words[note.id]
        and not (last and notebook.ended_at[note.id] > last)
    ]
    ended.sort(key=lambda note: (note.status != "forgotten", notebook.ended_at[note.id], note.id))
    shrunk: list[Event] = []
    for note in ended:
        if excess <= 0:
            break
        shrunk.extend(_without_words(note, notebook, ledger))
        excess -= notebook.words[note.id]
    return shrunk


def _waits(note: Note) -> bool:
    return note.status in ("unconfirmed", "disputed")


def _too_long(event: Event, limits: Limits) -> str | None:
    for key, what, limit in (("text", "note", limits.note), ("said", "quote", limits.said)):
        if len(text_in(event, key)) > limit:
            return (
                f"The {what} has {len(text_in(event, key))} characters; at most {limit} fit. "
                "Nothing was kept: pass a shorter one."
            )
    return None


def _no_room(notebook: Notebook, limits: Limits, *, more: int, waiting: bool) -> str | None:
    used = waiting_bytes(notebook)
    if waiting and used + more > limits.waiting_bytes:
        return (
            f"Nothing was kept: the notes that wait for review fill their share of the memory "
            f"({used:,} of {limits.waiting_bytes:,} bytes). Ask the person to review them."
        )
    used = live_bytes(notebook)
    if used + more > limits.live_bytes:
        return (
            f"Nothing was kept: the memory of this session is full "
            f"({used:,} of {limits.live_bytes:,} bytes). Ask the person which notes to forget."
        )
    return None


def _confirm_refusal(notebook: Notebook, note: Note, event: Event, limits: Limits) -> str | None:
    if note.status not in ("active", "unconfirmed", "disputed"):
        return f"Note {note.id} is {note.status}: restore it first, then confirm it."
    if event.get("hash") != text_hash(note.text):
        return f"Note {note.id} changed after it was shown: read it and decide again."
    return _too_long(event, limits) or _no_room(
        notebook, limits, more=word_bytes(event), waiting=False
    )


def _restore_refusal(notebook: Notebook, note: Note, limits: Limits) -> str | None:
    if note.shrunk:
        return (
            f"Note {note.id} cannot be restored: its words were dropped to keep the memory small. "
            "Say it again to keep it as a new note."
        )
    if note.status in ("active", "unconfirmed"):
        return f"Note {note.id} is {note.status}: there is nothing to restore."
    if note.status == "disputed":
        return None
    waiting = not (note.credited or note.confirmed_by)
    return _no_room(notebook, limits, more=notebook.words[note.id], waiting=waiting)


def _without_words(note: Note, notebook: Notebook, ledger: list[Event]) -> list[Event]:
    return [
        tombstone(event, about=note.about, speaker=note.speaker)
        for event in ledger
        if word_bytes(event)
        and note.id in (notebook.births.get(event["id"]), text_in(event, "note"))
        and (event.get("type") != "remembered" or notebook.births.get(event["id"]) == note.id)
    ]
