"""A ledger and its fold, to which events are added at the price of what they touch.

Notes that share no words, no utterance, no correction and no event fold independently of each
other. So the fold of a large ledger is changed by folding anew only what hangs together with the
new events. What does not fit this, such as an event without its words, has the whole ledger folded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from .drafts import text_in
from .identity import instant, is_note_id, sameness
from .ledger import Event, held, merge_events, order
from .notebook import Notebook, fold
from .notes import Note


@dataclass(frozen=True, slots=True)
class GrowingLedger:
    """Events and what they say; never changed, only grown into another one.

    Attributes:
        events: in order. Not to be changed.
        notebook: their fold.
        by_id: the events by their ids.
        by_name: ids of the events that name a note or a text, in no order.
    """

    events: list[Event] = field(default_factory=list)
    notebook: Notebook = field(default_factory=Notebook)
    by_id: Mapping[str, Event] = field(default_factory=dict)
    by_name: Mapping[str, tuple[str, ...]] | None = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Event]) -> GrowingLedger:
        """The ledger of these events."""
        ordered = merge_events(list(events), [])
        by_id = {event["id"]: event for event in ordered}
        return cls(ordered, fold(ordered), by_id, _index({}, ordered))

    def grown(self, events: Iterable[Event]) -> GrowingLedger:
        """The ledger with more events."""
        new = [event for event in events if not self._holds(event)]
        if not new:
            return self
        by_name = None
        if self.by_name is not None and not any(event["id"] in self.by_id for event in new):
            by_name = _index(self.by_name, new)
        if by_name is None:
            return GrowingLedger.of([*self.events, *new])
        by_id = dict(self.by_id) | {event["id"]: event for event in new}
        touched = [by_id[one] for one in _hanging_together(new, by_id, by_name)]
        notebook = _with(self, fold(touched), touched)
        return GrowingLedger(_inserted(self.events, new), notebook, by_id, by_name)

    def _holds(self, event: Event) -> bool:
        known = self.by_id.get(event["id"])
        # Most are the very same objects, which need not be compared.
        return known is event or known == event

    def saying(self, text: str) -> list[Note]:
        """The notes that had this text at some time, whoever said it."""
        if self.by_name is None:
            return list(self.notebook.notes.values())
        found = []
        for event_id in self.by_name.get(_text_name(text), ()):
            event = self.by_id[event_id]
            note_id = self.notebook.births.get(event_id) or text_in(event, "note")
            if note_id in self.notebook.notes:
                found.append(self.notebook.notes[note_id])
        return found


def _index(
    before: Mapping[str, tuple[str, ...]], events: Sequence[Event]
) -> dict[str, tuple[str, ...]] | None:
    """Names to events, with those of more events; None where names cannot tell them apart."""
    names = dict(before)
    for event in events:
        named = _names(event)
        if named is None:
            return None
        for name in named:
            names[name] = (*names.get(name, ()), event["id"])
    return names


def _names(event: Event) -> set[str] | None:
    """What an event has to do with: notes by id, and texts whoever they are from."""
    note_id = text_in(event, "note")
    if event.get("shrunk") or not is_note_id(note_id):
        return None
    names = {f"note {note_id}"}
    replaced, heard = text_in(event, "replaces"), event.get("heard")
    # What was said may be what another note says.
    names.update(_text_name(text) for key in ("text", "said") if (text := text_in(event, key)))
    if isinstance(heard, dict):
        names.add(f"heard {heard.get('u')!r}")
    if replaced:
        names.add(f"note {replaced}")
    return names


def _text_name(text: str) -> str:
    return f"text {sameness(text)}"


def _hanging_together(
    new: Sequence[Event], by_id: Mapping[str, Event], by_name: Mapping[str, tuple[str, ...]]
) -> set[str]:
    """Ids of the new events and of all that they touch, and so on."""
    found: set[str] = set()
    seen: set[str] = set()
    left = [event["id"] for event in new]
    while left:
        event_id = left.pop()
        if event_id in found:
            continue
        found.add(event_id)
        for name in _names(by_id[event_id]) or ():
            if name not in seen:
                seen.add(name)
                left.extend(by_name[name])
    return found


def _inserted(events: Sequence[Event], new: Iterable[Event]) -> list[Event]:
    ordered = list(events)
    for event in new:
        if not ordered or order(ordered[-1]) < order(event):
            ordered.append(event)
        else:
            ordered.insert(bisect_right(ordered, order(event), key=order), event)
    return ordered


def _with(ledger: GrowingLedger, part: Notebook, touched: Sequence[Event]) -> Notebook:
    """The ledger's notebook with the part of it that was folded anew."""
    whole = ledger.notebook
    ids = {event["id"] for event in touched}
    births = dict(whole.births) | dict(part.births)
    notes = dict(whole.notes)
    arrived = [note for note_id, note in part.notes.items() if note_id not in notes]
    notes |= part.notes
    if arrived and _out_of_order(whole, arrived):
        born = {note_id: event_id for event_id, note_id in births.items()}
        notes = dict(sorted(notes.items(), key=lambda one: (one[1].at, born[one[0]])))
    ended = {key: at for key, at in whole.ended_at.items() if key not in part.notes}
    known = {event["id"] for event in whole.unknown}
    unknown = [*whole.unknown, *(event for event in part.unknown if event["id"] not in known)]
    conflicts = [one for one in whole.conflicts if one.event_id not in ids] + list(part.conflicts)
    moments = [instant(event.get("at")) for event in touched if not held(event)]
    return Notebook(
        notes=MappingProxyType(notes),
        unknown=tuple(sorted(unknown, key=order)),
        conflicts=tuple(conflicts),
        last_at=max([whole.last_at, *moments]),
        words=MappingProxyType(dict(whole.words) | dict(part.words)),
        ended_at=MappingProxyType(ended | dict(part.ended_at)),
        births=MappingProxyType(births),
    )


def _out_of_order(whole: Notebook, arrived: Sequence[Note]) -> bool:
    """True unless all new notes come after those that were there, by time alone."""
    last = max((note.at for note in whole.notes.values()), default="")
    return min(note.at for note in arrived) <= last
