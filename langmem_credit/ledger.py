"""The ledger: a list of events in order, merged so that nothing is lost or counts twice."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from .events import (
    Event,
    confirmed,
    disputed,
    remembered,
    restored,
    tombstone,
    trimmed,
    withdrawn,
    word_bytes,
)
from .identity import instant, new_event_id, new_note_id, sameness, text_of_moment
from .notes import utc_now

__all__ = [
    "Event",
    "confirmed",
    "disputed",
    "held",
    "instant",
    "is_trim",
    "merge_events",
    "new_event_id",
    "new_note_id",
    "next_at",
    "order",
    "received",
    "remembered",
    "restored",
    "sameness",
    "tombstone",
    "trimmed",
    "withdrawn",
    "word_bytes",
]

_log = logging.getLogger("langmem_credit")
_MAX_ID_CHARS = 128
_OF_NOTES = frozenset(
    {"remembered", "confirmed", "withdrawn", "restored", "disputed", "erased", "expired"}
)
# What every reader of an event may take for text.
_TEXTS = frozenset(
    [
        "type",
        "at",
        "note",
        "by",
        "speaker",
        "message",
        "call",
        "text",
        "said",
        "why",
        "ref",
        "about",
        "kind",
        "replaces",
        "hash",
        "then",
        "key",
        "origin",
        "rule",
        "until",
        "lang",
        "rv",
    ]
)
_PLAIN_ID = re.compile(r"[\w.:|-]{1,64}")


def merge_events(left: object, right: object) -> list[Event]:
    """Both ledgers as one, in order of time and then id.

    Pure; any batching and any order of arrival gives the same list, and a repeated event changes
    nothing. Of two versions of one event the one whose origin was verified wins, then the one
    whose words were dropped, then the smaller canonical JSON. Verification comes first, so that
    a forged tombstone cannot take the words out of a true event. What is no event is ignored, and
    what a verified `trimmed` event names has left for good, whenever it arrives again; of verified
    `touched` events only the newest stays, and so of `marked` ones for each mark.

    >>> event = {"v": 1, "id": "e1", "type": "restored", "at": "2026-01-01T00:00:00.000000Z"}
    >>> merge_events([event], [event, "garbage", None]) == [event]
    True
    """
    kept: dict[str, Event] = {}
    for event in (*_events(left), *_events(right)):
        event_id = event["id"]
        other = kept.get(event_id)
        if other is None or (_differ(event, other) and _rank(event) < _rank(other)):
            kept[event_id] = event
    trims = [event for event in kept.values() if is_trim(event)]
    left = _without_trimmed(kept.values(), trims) if trims else kept.values()
    return _with_newest_only(sorted(left, key=order))


def order(event: Event) -> tuple[str, str]:
    """What events are sorted by: when, then id."""
    return instant(event.get("at")), event["id"]


def next_at(now: str, events: Iterable[Event]) -> str:
    """A moment after every verified event, and not before `now`.

    A clock set back, or another machine's that runs ahead, must not put a withdrawal before the
    note it withdraws.

    >>> next_at("2026-01-01T00:00:00.000000Z",
    ...         [{"id": "a", "at": "2026-01-02T00:00:00.000000Z"}])
    '2026-01-02T00:00:00.000001Z'
    """
    newest = max(
        (instant(event.get("at")) for event in _events(events) if not held(event)), default=""
    )
    present = instant(now) or utc_now()
    if present > newest:
        return present
    try:
        later = datetime.fromisoformat(newest) + timedelta(microseconds=1)
    except (OverflowError, ValueError):
        # The last moment there is: the ids decide the order.
        return newest
    return text_of_moment(later)


def held(event: Event) -> bool:
    """True when nobody could verify where the event comes from."""
    return bool(event.get("held"))


def received(value: Mapping[str, Any]) -> Event:
    """An event as a store handed it out, with nothing in it that another reader could stumble on.

    What should be text and is none leaves it, and such an event counts as one of unknown origin.
    So does a trim, which no shared ledger has: notes leave it by no other event.

    >>> received({"id": "e1", "type": "tagged", "at": 5, "call": "c"})
    {'id': 'e1', 'type': 'tagged', 'call': 'c', 'held': True}
    """
    event = {key: one for key, one in value.items() if key not in _TEXTS or isinstance(one, str)}
    if event.get("type") != "trimmed" and len(event) == len(value) and instant(event.get("at")):
        return event
    return event | {"held": True}


def is_trim(event: Event) -> bool:
    """True for a verified event that tells which notes left the ledger."""
    return (
        event.get("type") == "trimmed"
        and not held(event)
        and isinstance(event.get("kept"), str)
        and bool(instant(event.get("until")))
    )


def _without_trimmed(events: Iterable[Event], trims: list[Event]) -> list[Event]:
    """The events that the newest trim leaves; each was made with all earlier ones in view."""
    newest = max(trims, key=lambda event: (instant(event["until"]), event["id"]))
    until, names = instant(newest["until"]), frozenset(newest["kept"].split())
    left = []
    for event in events:
        if event is not newest and is_trim(event):
            continue
        note, at = event.get("note"), instant(event.get("at"))
        if event.get("type") in _OF_NOTES and isinstance(note, str) and note and at:
            if at <= until and note not in names:
                continue
        left.append(event)
    return left


def _with_newest_only(ordered: list[Event]) -> list[Event]:
    """The events without what a newer one says anew: lists of touched files, marks of the session.

    Each was made with all earlier ones in view.
    """
    newest: dict[tuple[str, str], str] = {}
    older: set[str] = set()
    for event in ordered:
        if event.get("type") in ("touched", "marked") and not held(event):
            name = (event["type"], str(event.get("mark", "")))
            if name in newest:
                older.add(newest[name])
            newest[name] = event["id"]
    return [event for event in ordered if event["id"] not in older] if older else ordered


def _events(ledger: object) -> list[Event]:
    if not isinstance(ledger, Iterable) or isinstance(ledger, (str, bytes, Mapping)):
        if ledger is not None:
            _log.warning("ledger: ignored a value that is no list (%s)", type(ledger).__name__)
        return []
    events: list[Event] = []
    ignored: list[str] = []
    for item in ledger:
        if not isinstance(item, dict):
            ignored.append(type(item).__name__)
        elif _is_event_id(item.get("id")):
            events.append(item)
        else:
            ignored.append(_loggable(item.get("id")))
    if ignored:
        _log.warning(
            "ledger: ignored %d entries that are no events: %s",
            len(ignored),
            ", ".join(sorted(set(ignored))[:10]),
        )
    return events


def _is_event_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID_CHARS


def _loggable(value: object) -> str:
    if isinstance(value, str) and _PLAIN_ID.fullmatch(value):
        return value
    return "without an id"


def _differ(event: Event, other: Event) -> bool:
    if event is other:
        return False
    try:
        return event != other
    except RecursionError:
        # Both hold themselves; the rank decides.
        return True


def _rank(event: Event) -> tuple[bool, bool, str]:
    return held(event), not event.get("shrunk"), _canonical(event)


def _canonical(event: Event) -> str:
    try:
        return json.dumps(event, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        # A cycle, or keys of several types: last, and alike for both orders of arrival.
        return f"\U0010ffff{sorted(map(repr, event))}"
