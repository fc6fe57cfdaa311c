"""How much a session's ledger may hold: what is refused, what loses its words first, what leaves.

A state channel is written into every checkpoint. Words are bounded in bytes, and events in number,
since each of them weighs something without its words too. Withdrawing and disputing are never
refused for want of room, so a full memory can be emptied.
"""

from __future__ import annotations

from collections.abc import Iterable

from .drafts import LIVING, heard_of, late_births, text_in
from .identity import instant
from .ledger import Event, is_trim, merge_events, next_at, tombstone, trimmed, word_bytes
from .notebook import Notebook, fold
from .notes import LIMITS, Limits, Note, text_hash, utc_now

# Notes that are taken out together and looked at for what rests on them.
_CHUNK = 50
_TRIES = 5


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
        return all_written(writes)
    event_type = event.get("type")
    if event_type == "remembered":
        waiting = event.get("credited") is not True
        return (
            _too_long(event, limits)
            or _too_many(notebook, limits, waiting=waiting)
            or _no_room(notebook, limits, more=word_bytes(event), waiting=waiting)
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


def all_written(writes: int) -> str:
    """What a call is told once the run has made as many writes as it may."""
    return (
        f"This run has already made {writes} writes to the memory, which is its limit. "
        "Nothing was changed: finish your answer, and write again in the next run."
    )


def all_called(calls: int) -> str:
    """What a call is told once the run has made as many calls as are judged."""
    return (
        f"This run has already called remember and forget {calls} times, which is its limit. "
        "Nothing was changed: finish your answer, and call again in the next run."
    )


def shrink(events: Iterable[Event], limits: Limits = LIMITS, *, until: str = "") -> list[Event]:
    """Events to merge in so that the ledger fits; [] while it does.

    Some are events without their words. The notes forgotten first lose them first, then the
    superseded and expired ones, oldest first. Notes that have not ended keep their words, and so do
    those that ended after `until`: the digest of a run that began then still shows them. And there
    is the one that `trim` gives.
    """
    ledger = merge_events(events, [])
    notebook = fold(ledger)
    shrunk: list[Event] = []
    excess = sum(notebook.words.values()) - limits.live_bytes
    if excess > 0:
        last = instant(until)
        ended = [
            note
            for note in notebook.notes.values()
            if note.status not in LIVING
            and notebook.words[note.id]
            and not (last and notebook.ended_at[note.id] > last)
        ]
        ended.sort(
            key=lambda note: (note.status != "forgotten", notebook.ended_at[note.id], note.id)
        )
        by_note = _by_note(ledger, notebook)
        for note in ended:
            if excess <= 0:
                break
            shrunk += [
                tombstone(event, about=note.about, speaker=note.speaker)
                for event in by_note[note.id]
                if word_bytes(event)
            ]
            excess -= notebook.words[note.id]
    return [*shrunk, *trim(ledger, limits, until=until)]


def trim(events: Iterable[Event], limits: Limits = LIMITS, *, until: str = "") -> list[Event]:
    """The event to merge in so that no more than `limits.events` are left; [] while they fit.

    The notes that ended first leave, whole, and with them a quarter of the bound, so that not every
    write does it. None leaves that ended after `until`, nor any on which the standing of a note
    rests that stays.
    """
    ledger = merge_events(events, [])
    excess = len(ledger) - limits.events
    if excess <= 0:
        return []
    return _Trim(ledger, instant(until)).leave(excess + limits.events // 4)


class _Trim:
    """Which notes may leave a ledger.

    Attributes:
        going: those that leave.
    """

    def __init__(self, ledger: list[Event], until: str) -> None:
        self.ledger = ledger
        self.until = until or instant(ledger[-1].get("at"))
        self.notebook = fold(ledger)
        self.by_note = _by_note(ledger, self.notebook)
        self.going: frozenset[str] = frozenset()
        self._frozen = self._as_of_until(ledger)

    def leave(self, count: int) -> list[Event]:
        """The event that takes out at least so many events, or as many as may go."""
        ended_at = self.notebook.ended_at
        ended = sorted(filter(self._may_go, ended_at), key=lambda one: (ended_at[one], one))
        while ended and (missing := count - self._count(self.going)) > 0:
            chunk: list[str] = []
            while ended and len(chunk) < _CHUNK and self._count(chunk) < missing:
                chunk.append(ended.pop(0))
            self.going = self._with_what_rests_on(self.going.union(chunk))
        return [self._event(self.going)] if self.going else []

    def _count(self, notes: Iterable[str]) -> int:
        return sum(len(self.by_note[one]) for one in notes)

    def _may_go(self, note_id: str) -> bool:
        ended_at = self.notebook.ended_at.get(note_id)
        return (
            ended_at is not None
            and ended_at <= self.until
            and all(
                text_in(event, "note") == note_id and instant(event.get("at")) <= self.until
                for event in self.by_note[note_id]
            )
        )

    def _with_what_rests_on(self, going: frozenset[str]) -> frozenset[str]:
        """These notes and those that would come back without them; as before where those stay."""
        for _ in range(_TRIES):
            changed = self._changed(going)
            if not changed:
                return going
            if not all(map(self._may_go, changed)):
                break
            going = going | changed
        return self.going

    def _changed(self, going: frozenset[str]) -> frozenset[str]:
        """Notes that stay and would stand otherwise, now or in the digest of this run."""
        left = merge_events(self.ledger, [self._event(going)])
        pairs = ((self.notebook, fold(left)), (self._frozen, self._as_of_until(left)))
        return frozenset(
            note_id
            for before, after in pairs
            for note_id, note in before.notes.items()
            if note_id not in going
            and (note_id not in after.notes or after.notes[note_id].status != note.status)
        )

    def _as_of_until(self, events: list[Event]) -> Notebook:
        return fold([e for e in events if is_trim(e) or instant(e.get("at")) <= self.until])

    def _event(self, going: frozenset[str]) -> Event:
        last = max(instant(event.get("at")) for note_id in going for event in self.by_note[note_id])
        names = {
            text_in(one, "note")
            for one in self.ledger
            if instant(one.get("at")) <= last or "" < heard_of(one)[0] <= last
        }
        kept = names - going - {""}
        at = next_at(utc_now(), self.ledger)
        return trimmed(kept, at=at, until=last, late=late_births(self.ledger) - going)


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


def _too_many(notebook: Notebook, limits: Limits, *, waiting: bool) -> str | None:
    living = [note for note in notebook.notes.values() if note.status in LIVING]
    most = limits.events // 4
    if waiting and sum(map(_waits, living)) >= most:
        return (
            f"Nothing was kept: {most:,} notes wait for review, and no more may. "
            "Ask the person to review them."
        )
    most = limits.events // 2
    if len(living) >= most:
        return (
            f"Nothing was kept: the memory of this session holds {most:,} notes, and no more fit. "
            "Ask the person which notes to forget."
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
    return _too_many(notebook, limits, waiting=waiting) or _no_room(
        notebook, limits, more=notebook.words[note.id], waiting=waiting
    )


def _by_note(ledger: list[Event], notebook: Notebook) -> dict[str, list[Event]]:
    """Each note's events, oldest first: its birth and what changed it."""
    found: dict[str, list[Event]] = {note_id: [] for note_id in notebook.notes}
    for event in ledger:
        born = event.get("type") == "remembered"
        name = notebook.births.get(event["id"], "") if born else text_in(event, "note")
        if name in found:
            found[name].append(event)
    return found
