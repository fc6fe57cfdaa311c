"""The notebook: what a ledger's events say today, whatever their order in the list.

Decided here:

- *Withdrawn wins.* A confirmation or a second save that arrives late revives nothing; only a
  `restored` event after the withdrawal does. A new note with the same text counts as late when
  its words were heard before the withdrawal, or are the very utterance that was withdrawn.
- *A correction outlives its withdrawal.* When the note that replaced another one is withdrawn,
  the other one stays superseded: the person said that it is not so, and forgetting the newer
  note does not unsay that. `restored` brings it back.
  The same goes for another wording of the same words: what was said once is forgotten once.
- *One text is one note.* Of active and waiting notes with the same text, about the same and by
  the same speaker, one stands and the others are superseded by it; what withdraws or disputes one
  of them does it to all that live, so that nothing steps forward when it goes.
- *What no person said stands apart.* Findings, what summaries state and outcomes of sessions are
  replaced by their own kind only; a finding stands beside a waiting note with the same text.
- *What was said once is one note.* While a note is active, other wordings of the same words and
  what waits from the same stretch of the same utterance are superseded by it.
- *What ends a note is heeded even from a newer version of this package*, beside being reported;
  anything else unknown is only reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType

from .drafts import (
    LIVING,
    Draft,
    absorb,
    apart,
    late_births,
    moment_of,
    note_ids,
    note_of,
    sightings,
    text_in,
    texts_in,
)
from .events import PERSON, VERSION, claims_of
from .identity import instant, sameness
from .kin import Kin
from .ledger import Event, held, merge_events, word_bytes
from .notes import Note

_ENDING = {"withdrawn": "forgotten", "erased": "forgotten", "expired": "expired"}
_WITHOUT_A_NOTE = frozenset({"trimmed", "touched", "marked"})
_FOLDED = _WITHOUT_A_NOTE | {"remembered", "confirmed", "withdrawn", "restored", "disputed"}
_LOST = "its words were dropped to keep the ledger small"
_LATE = "These words were heard before the same note was forgotten, corrected or disputed."


@dataclass(frozen=True, slots=True)
class Conflict:
    """An event that changed nothing, and why."""

    event_id: str
    note_id: str
    reason: str


@dataclass(frozen=True)
class Notebook:
    """The fold of a ledger.

    Attributes:
        notes: by id, oldest first.
        unknown: events of a type or version that this release does not fold, oldest first.
        conflicts: events that changed nothing, oldest first.
        last_at: moment of the newest verified event, or "".
        words: UTF-8 bytes that the ledger keeps for each note.
        ended_at: when a note that is no longer active and does not wait became so.
        births: id of the event that a note was remembered by, to the note's id.
    """

    notes: Mapping[str, Note] = field(default_factory=lambda: MappingProxyType({}))
    unknown: tuple[Event, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    last_at: str = ""
    words: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    ended_at: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    births: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def active(self) -> tuple[Note, ...]:
        """What the digest and recall may show, oldest first."""
        return tuple(note for note in self.notes.values() if note.status == "active")

    @cached_property
    def unconfirmed(self) -> tuple[Note, ...]:
        """What waits for a person's review, oldest first; findings and outcomes do not."""
        return tuple(n for n in self._waiting if n.kind != "finding" and not n.outcome)

    @cached_property
    def findings(self) -> tuple[Note, ...]:
        """The agent's own working notes, unverified, oldest first."""
        return tuple(n for n in self._waiting if n.kind == "finding" and not n.outcome)

    @cached_property
    def outcomes(self) -> tuple[Note, ...]:
        """How sessions ended, one for each, unverified, oldest first."""
        return tuple(n for n in self._waiting if n.outcome)

    @property
    def _waiting(self) -> Iterable[Note]:
        return (note for note in self.notes.values() if note.status == "unconfirmed")

    @cached_property
    def recallable(self) -> tuple[Note, ...]:
        """What recall may show: active notes, findings and outcomes, newest first."""
        shown = [*self.active, *self.findings, *self.outcomes]
        return tuple(sorted(shown, key=attrgetter("at", "id"), reverse=True))

    @property
    def others(self) -> tuple[Note, ...]:
        """Disputed, superseded, forgotten and expired notes, oldest first."""
        return tuple(
            note for note in self.notes.values() if note.status not in ("active", "unconfirmed")
        )

    def get(self, note_id: object) -> Note | None:
        """The note that somebody means by this id: `K3M9XZ`, `[k3m9xz]` and ` #k3m9xz ` alike."""
        if not isinstance(note_id, str) or len(note_id) > 64:
            return None
        return self.notes.get(note_id.strip().strip("[](){}<>#\"'`*.,:; ").lower())

    def of_event(self, event: Event) -> Note | None:
        """What became of the note that this event remembered."""
        return self.notes.get(self.births.get(event["id"], ""))

    def same_text(
        self, text: object, *, about: str | None = None, speaker: str | None = None
    ) -> Note | None:
        """The active note, else the waiting one, that already says this; None counts for all."""
        if not isinstance(text, str) or len(text) > 10_000:
            return None
        key = sameness(text)
        found = [
            note
            for note in self.notes.values()
            if note.status in ("active", "unconfirmed")
            and about in (None, note.about)
            and speaker in (None, note.speaker)
            and sameness(note.text) == key
        ]
        return min(found, key=lambda note: note.status != "active", default=None)


def fold(events: object) -> Notebook:
    """The notebook that the events make, whatever their order in the list.

    >>> fold([]).active, fold("garbage").active
    ((), ())
    """
    return _Fold(merge_events(events, [])).notebook()


class _Fold:
    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.drafts: dict[str, Draft] = {}
        self.kin = Kin(self.drafts)
        self.unknown: list[Event] = []
        self.conflicts: list[Conflict] = []
        self.early: dict[str, list[Event]] = {}
        self.replaced_early: dict[str, str] = {}
        self.ids = note_ids(events)
        self.born = set(self.ids.values())
        self.late = late_births(events)

    def notebook(self) -> Notebook:
        for event in self.events:
            self._take(event)
        newest = next((event for event in reversed(self.events) if not held(event)), {})
        stand_ins = self._duplicates()
        self._report_lost_words(stand_ins)
        seen = sightings(self.drafts.values())
        notes = {
            key: note_of(draft, stand_ins.get(key, ""), seen.get(draft.keys[-1], 0))
            for key, draft in self.drafts.items()
        }
        return Notebook(
            notes=MappingProxyType(notes),
            unknown=tuple(self.unknown),
            conflicts=tuple(self.conflicts),
            last_at=instant(newest.get("at")),
            words=MappingProxyType({key: draft.words for key, draft in self.drafts.items()}),
            ended_at=MappingProxyType(self._ended_at(stand_ins)),
            births=MappingProxyType({draft.event["id"]: key for key, draft in self.drafts.items()}),
        )

    def _take(self, event: Event) -> None:
        event_type = text_in(event, "type")
        known = event_type in _FOLDED and event.get("v", VERSION) == VERSION
        if not known:
            self.unknown.append(event)
            if event_type not in _ENDING and event_type != "disputed":
                return
        if event_type == "remembered":
            self._remember(event)
            return
        note_id = text_in(event, "note")
        if held(event):
            self._ignore(event, "its origin could not be verified")
        elif event_type in _WITHOUT_A_NOTE:
            return
        elif note_id in self.drafts:
            self._change(self.drafts[note_id], event)
        elif note_id in self.born:
            # Its note comes later in time: a clock ran behind.
            self.early.setdefault(note_id, []).append(event)
        else:
            self._ignore(event, "there is no such note")

    def _ignore(self, event: Event, reason: str) -> None:
        self.conflicts.append(Conflict(event["id"], text_in(event, "note"), reason))

    def _remember(self, event: Event) -> None:
        text, about = text_in(event, "text"), text_in(event, "about")
        speaker = text_in(event, "speaker")
        shrunk = bool(event.get("shrunk"))
        if not shrunk and not text.strip():
            self._ignore(event, "it holds no words")
            return
        note_id = self.ids[event["id"]]
        if shrunk:
            key, hashed = text_in(event, "key"), text_in(event, "then")
            claims = (key, *texts_in(event, "claims"))
        else:
            key, hashed = sameness(text, about, speaker), ""
            claims = claims_of(event, text, about, speaker, key)
        heard, late = event.get("heard"), text_in(event, "note") in self.late
        draft = Draft(
            event=event,
            note_id=note_id,
            at=instant(event.get("at")),
            text=text,
            hashed=hashed,
            about=about,
            speaker=speaker,
            credited=event.get("credited") is True and not held(event) and not late,
            why=_LATE if late else "",
            shrunk=shrunk,
            keys=(key,),
            claims=claims,
            utterance=text_in(heard, "u") if isinstance(heard, dict) else "",
            words=word_bytes(event),
        )
        other = self._inherit(draft)
        self.drafts[note_id] = draft
        self.kin.add(draft)
        if note_id in self.replaced_early and not draft.superseded_by:
            draft.superseded_by = self.replaced_early[note_id]
        if draft.standing == "active":
            self._supersede(draft, event, text_in(event, "replaces"))
            for one in self.kin.waiting_for(draft):
                absorb(one, draft)
        elif draft.family:
            older = self.drafts.get(text_in(event, "replaces"))
            if older is not None and older.family == draft.family:
                self._supersede(draft, event, older.note_id)
        elif other is not None and draft.credited:
            # Said again only to name what it corrects.
            self._supersede(other, event, text_in(event, "replaces"))
        for later in self.early.pop(note_id, ()):
            self._change(draft, later)

    def _inherit(self, draft: Draft) -> Draft | None:
        """Lets a note share the fate of its kin; the active one that stands for it, if any."""
        late = self.kin.late_for(draft)
        if late is not None:
            draft.ended, draft.disputed = late.ended, late.disputed
            draft.superseded_by, draft.stopped_at = late.superseded_by, late.stopped_at
            draft.why = _LATE
            return None
        other = self.kin.standing_for(draft)
        if other is not None:
            absorb(draft, other)
        return other

    def _supersede(self, newer: Draft, cause: Event, replaced: str) -> None:
        if not replaced or replaced == newer.note_id:
            return
        older = self.drafts.get(replaced)
        if older is None:
            self.replaced_early[replaced] = newer.note_id
            return
        for one in self.kin.siblings(older, own=bool(newer.family)):
            if one is not newer and not one.superseded_by and not one.ended:
                one.superseded_by = newer.note_id
                one.stopped_at = moment_of(newer, cause)
                self.kin.stopped(one)

    def _change(self, draft: Draft, event: Event) -> None:
        draft.words += word_bytes(event)
        event_type = event["type"]
        if event_type in _ENDING:
            self._end(draft, event, _ENDING[event_type])
        elif event_type == "confirmed":
            self._confirm(draft, event)
        elif event_type == "disputed":
            for one in self.kin.siblings(draft):
                one.disputed, one.why = True, text_in(event, "why")
                one.stopped_at = moment_of(draft, event)
                self.kin.stopped(one)
        else:
            self._restore(draft, event)

    def _end(self, draft: Draft, event: Event, status: str) -> None:
        own = draft.family == "finding" and "call" in event
        for one in self.kin.siblings(draft, own=own):
            if one.ended != "forgotten":
                one.ended, one.stopped_at = status, moment_of(draft, event)
                one.why = text_in(event, "why")
                self.kin.stopped(one)

    def _confirm(self, draft: Draft, event: Event) -> None:
        if draft.ended or draft.superseded_by:
            self._ignore(event, f"the note was {draft.standing} by then")
            return
        if event.get("hash") != draft.text_hash:
            self._ignore(event, "the person was shown another text")
            return
        self._edit(draft, event)
        draft.confirmed_by = text_in(event, "by") or PERSON
        draft.confirmed_at = instant(event.get("at"))
        if draft.disputed:
            draft.disputed, draft.why = False, ""
            self.kin.revived(draft)
        self._supersede(draft, event, text_in(draft.event, "replaces"))

    def _edit(self, draft: Draft, event: Event) -> None:
        text, hashed = text_in(event, "text"), text_in(event, "then")
        if text.strip():
            key = sameness(text, draft.about, draft.speaker)
            claims = claims_of({}, text, draft.about, draft.speaker, key)
            draft.hashed = ""
        elif event.get("shrunk") and hashed:
            key, draft.hashed = text_in(event, "key"), hashed
            claims = (key, *texts_in(event, "claims"))
            draft.shrunk = True
        else:
            return
        draft.text, draft.edited, draft.credited = text, True, False
        self.kin.reworded(draft, key, claims)

    def _restore(self, draft: Draft, event: Event) -> None:
        if draft.ended:
            draft.ended = ""
        elif draft.superseded_by:
            draft.superseded_by, draft.absorbed = "", False
        elif draft.disputed:
            draft.disputed = False
        else:
            self._ignore(event, "there was nothing to take back")
            return
        draft.why, draft.restored_by = "", event["id"]
        self.kin.revived(draft)
        if draft.standing == "active":
            self._supersede(draft, event, text_in(draft.event, "replaces"))

    def _duplicates(self) -> dict[str, str]:
        """Notes that another one stands for, to that one."""
        stand_ins: dict[str, str] = {}
        first_of: dict[str, Draft] = {}
        groups: dict[str, list[Draft]] = {}
        for draft in self.drafts.values():
            if draft.standing not in ("active", "unconfirmed"):
                continue
            first = first_of.setdefault(draft.keys[-1], draft)
            if first is not draft:
                groups.setdefault(draft.keys[-1], [first]).append(draft)
        for group in (part for same in groups.values() for part in apart(same)):
            first = min(
                group, key=lambda one: (one.shrunk, one.standing != "active", held(one.event))
            )
            if not first.shrunk:
                stand_ins |= {one.note_id: first.note_id for one in group if one is not first}
        return stand_ins

    def _ended_at(self, stand_ins: Mapping[str, str]) -> dict[str, str]:
        moments: dict[str, str] = {}
        for note_id, draft in self.drafts.items():
            if note_id in stand_ins:
                moments[note_id] = max(draft.since, self.drafts[stand_ins[note_id]].since)
            elif draft.status not in LIVING:
                moments[note_id] = draft.stopped_at
        return moments

    def _report_lost_words(self, stand_ins: Mapping[str, str]) -> None:
        for draft in self.drafts.values():
            if draft.shrunk and draft.standing in LIVING and draft.note_id not in stand_ins:
                self.conflicts.append(Conflict(draft.restored_by, draft.note_id, _LOST))
