"""Notes while their events are read, what they have to do with each other, and what comes of them.

Two notes are kin when they say the same, when they rest on the same words of the same person, or
when they come from the same stretch of one utterance. Everything here takes time in proportion to
the events, whatever they are: what has ended is not looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .events import PERSON
from .identity import instant, text_of_moment
from .ledger import Event, held, is_trim
from .notes import Note, normalise_kind, text_hash

_DUPLICATE = "Another note says the same."
SAME_WORDS = "Another note rests on the same words."
# Why a note is superseded when nothing stands against what it says.
STOOD_FOR = frozenset({_DUPLICATE, SAME_WORDS})
_UNVERIFIED = "held"
LIVING = frozenset({"active", "unconfirmed", "disputed"})


@dataclass(slots=True)
class Draft:
    """A note while its events are read.

    Attributes:
        event: that it was remembered.
        at: when it was remembered.
        hashed: hash of its present text where the words were dropped, else "".
        shrunk: its words were dropped.
        keys: `sameness` of each text it had, its present one last.
        claims: what it says and rests on, whomever it is about: `sameness` of its texts, and of
            the person's words where it was credited.
        utterance: id of the one that it comes from, or "".
        words: UTF-8 bytes that all its events keep.
        ended: "forgotten", "expired" or "".
        restored_by: id of the last event that restored it.
        stopped_at: when it was last withdrawn, superseded or disputed.
        absorbed: superseded only because another note rests on the same words.
    """

    event: Event
    note_id: str
    at: str
    text: str
    hashed: str
    about: str
    speaker: str
    credited: bool
    shrunk: bool
    keys: tuple[str, ...]
    claims: tuple[str, ...]
    utterance: str
    words: int
    confirmed_by: str = ""
    confirmed_at: str = ""
    edited: bool = False
    ended: str = ""
    superseded_by: str = ""
    disputed: bool = False
    stopped_at: str = ""
    why: str = ""
    restored_by: str = ""
    absorbed: bool = False

    @property
    def since(self) -> str:
        """When it got its present text or was confirmed."""
        return max(self.at, self.confirmed_at)

    @property
    def text_hash(self) -> str:
        """Names its present text, words dropped or not."""
        return self.hashed or text_hash(self.text)

    @property
    def standing(self) -> str:
        """What its events made it, other notes with the same text and lost words aside."""
        if self.ended:
            return self.ended
        if self.superseded_by:
            return "superseded"
        if self.disputed:
            return "disputed"
        return "active" if self.credited or self.confirmed_by else "unconfirmed"

    @property
    def stopped(self) -> bool:
        """True when a withdrawal, a correction or a dispute stands against what it says."""
        return bool(self.ended or self.disputed or (self.superseded_by and not self.absorbed))

    @property
    def waits(self) -> bool:
        """True for what a person may be asked to review; the agent's findings are its own."""
        return not held(self.event) and self.event.get("kind") != "finding"

    @property
    def status(self) -> str:
        """`standing`, but a note without words has nothing to show, whatever was decided."""
        standing = self.standing
        return "forgotten" if self.shrunk and standing in LIVING else standing


class Kin:
    """Finds the notes that a note has to do with.

    Args:
        drafts: all notes by id, as they are born.
    """

    def __init__(self, drafts: Mapping[str, Draft]) -> None:
        self._drafts = drafts
        # By present text, about and speaker; what has ended leaves when it is next looked at.
        self._same: dict[str, list[Draft]] = {}
        # Of each claim the draft that was stopped last, and of each claim and utterance.
        self._stops: dict[str | tuple[str, str], Draft] = {}
        self._stale = False
        # The newest that was credited, by the person's words.
        self._resting: dict[str, Draft] = {}
        # What was credited, by utterance: the first note of it, and all as soon as it has two.
        self._first: dict[str, Draft] = {}
        self._credited = _ByUtterance()
        self._waiting = _ByUtterance()

    def add(self, draft: Draft) -> None:
        """A note was born."""
        key = draft.keys[-1]
        same = self._same.get(key)
        if same is None:
            self._same[key] = [draft]
        else:
            same.append(draft)
        if draft.ended or draft.disputed or draft.superseded_by:
            if draft.stopped:
                self.stopped(draft)
        elif draft.credited:
            self._resting[draft.claims[-1]] = draft
            if draft.utterance and self._first.setdefault(draft.utterance, draft) is not draft:
                spoken = self._credited_with(draft)
                spoken[:] = [*(one for one in spoken if not _overlap(one, draft)), draft]
        elif draft.utterance and draft.waits:
            self._waiting.of(draft).append(draft)

    def siblings(self, draft: Draft) -> list[Draft]:
        """The draft, and those that live and say the same."""
        key = draft.keys[-1]
        others = [
            one
            for one in self._same[key]
            if one is not draft and one.keys[-1] == key and one.standing in LIVING
        ]
        self._same[key] = [*others, draft] if draft.standing in LIVING else others
        return [draft, *others]

    def late_for(self, draft: Draft) -> Draft | None:
        """What ended, corrected or disputed these words after they were heard, the last of it."""
        if draft.credited:
            if self._stale:
                self._look_again()
            if not self._stops:
                return None
            found = self._stops_after(draft)
        elif draft.utterance in self._first and draft.waits:
            heard_at = heard_of(draft.event)[0]
            found = [
                one
                for one in self._credited_with(draft)
                if _overlap(one, draft)
                and one.stopped
                and (not heard_at or heard_at < one.stopped_at)
            ]
        else:
            return None
        return max(found, key=lambda one: one.stopped_at, default=None)

    def standing_for(self, draft: Draft) -> Draft | None:
        """The active note that rests on the same words under another wording."""
        if draft.credited:
            one = self._resting.get(draft.claims[-1])
            if one is None or one.keys[-1] == draft.keys[-1] or one.standing != "active":
                return None
            return one
        if draft.utterance in self._first and draft.waits:
            for one in self._credited_with(draft):
                if one.standing == "active" and _overlap(one, draft):
                    return one
        return None

    def waiting_for(self, draft: Draft) -> list[Draft]:
        """Notes that wait although they come from the stretch that this one is credited on."""
        if draft.utterance not in self._waiting:
            return []
        waiting = self._waiting.of(draft)
        found = [one for one in waiting if _overlap(one, draft)]
        waiting[:] = [one for one in waiting if not _overlap(one, draft)]
        return [one for one in found if one.standing == "unconfirmed"]

    def stopped(self, draft: Draft) -> None:
        """Something stands against what the draft says."""
        for claim in draft.claims:
            for name in (claim, (claim, draft.utterance)):
                last = self._stops.get(name)
                if last is None or last.stopped_at <= draft.stopped_at:
                    self._stops[name] = draft

    def revived(self, draft: Draft) -> None:
        """What stood against it was taken back."""
        same = self._same[draft.keys[-1]]
        if not any(one is draft for one in same):
            same.append(draft)
        self._stale = True

    def reworded(self, draft: Draft, key: str, claims: tuple[str, ...]) -> None:
        """A person gave the note another text."""
        if key not in draft.keys:
            self._same.setdefault(key, []).append(draft)
        draft.keys = (*(old for old in draft.keys if old != key), key)
        draft.claims = (*(one for one in claims if one not in draft.claims), *draft.claims)

    def _look_again(self) -> None:
        self._stale = False
        self._stops.clear()
        for draft in self._drafts.values():
            if draft.stopped:
                self.stopped(draft)

    def _stops_after(self, draft: Draft) -> list[Draft]:
        stops = [self._stops[claim] for claim in draft.claims if claim in self._stops]
        if not stops:
            return []
        heard_at = heard_of(draft.event)[0]
        if heard_at:
            return [one for one in stops if heard_at < one.stopped_at]
        if not draft.utterance:
            return []
        names = [(claim, draft.utterance) for claim in draft.claims]
        return [self._stops[name] for name in names if name in self._stops]

    def _credited_with(self, draft: Draft) -> list[Draft]:
        """What was credited on the draft's utterance."""
        if draft.utterance not in self._credited:
            first = self._first[draft.utterance]
            self._credited.of(first).append(first)
        return self._credited.of(draft)


class _ByUtterance:
    """Notes by the utterance that they come from; one that was heard later is another one.

    A caller may use a message's id again.
    """

    def __init__(self) -> None:
        self._lists: dict[str, dict[str, list[Draft]]] = {}

    def __contains__(self, utterance: str) -> bool:
        return utterance in self._lists

    def of(self, draft: Draft) -> list[Draft]:
        """The list that the draft belongs to."""
        by_moment = self._lists.setdefault(draft.utterance, {})
        return by_moment.setdefault(heard_of(draft.event)[0], [])


def _overlap(one: Draft, other: Draft) -> bool:
    """True unless the two are known to come from different stretches of an utterance."""
    span, other_span = _stretch(one.event), _stretch(other.event)
    if span is None or other_span is None:
        return True
    return span[0] < other_span[1] and other_span[0] < span[1]


def _stretch(event: Event) -> tuple[int, int] | None:
    span = event.get("span")
    return _span(event, "") if isinstance(span, (list, tuple)) else None


def note_of(draft: Draft, stand_in: str) -> Note:
    """The note; `stand_in` is the id of another one that says the same and stands for it."""
    event = draft.event
    # Every folded note passes here: one pass over the event is cheaper than a call for each key.
    texts = {key: value for key, value in event.items() if isinstance(value, str)}
    text_of = texts.get
    stranger = held(event)
    said = "" if draft.shrunk else text_of("said") or text_of("text", "")
    origin = text_of("origin") or (PERSON if event.get("credited") is True else "agent")
    kind = text_of("kind")
    return Note(
        id=draft.note_id,
        text="" if draft.shrunk else draft.text,
        kind=normalise_kind(kind) if kind else "project",
        status="superseded" if stand_in else draft.status,
        at=draft.at,
        about=draft.about,
        core=event.get("core") is True,
        said=said,
        span=_span(event, said),
        ref=text_of("ref", ""),
        origin="agent" if stranger else origin,
        credited=draft.credited,
        confirmed_by=draft.confirmed_by,
        confirmed_at=draft.confirmed_at,
        edited=draft.edited,
        by=text_of("by", ""),
        speaker=draft.speaker,
        thread=text_of("thread", ""),
        message_id=text_of("message", ""),
        why=draft.why or (_DUPLICATE if stand_in else ""),
        replaces=text_of("replaces", ""),
        replaced_by=draft.superseded_by or stand_in,
        shrunk=draft.shrunk,
        verdict=_verdict(event, texts, said),
    )


def _verdict(event: Event, texts: Mapping[str, str], said: str) -> dict[str, Any]:
    heard = event.get("heard")
    heard = heard if isinstance(heard, dict) else {}
    return {
        "rule": _UNVERIFIED if held(event) else texts.get("rule", ""),
        "utterance": text_in(heard, "u"),
        # None: the message was too long to keep.
        "heard": None if heard.get("cut") else text_in(heard, "t") or said,
        "language": texts.get("lang", ""),
        "version": texts.get("rv", ""),
        "ignored": texts_in(event, "ignored") if "ignored" in event else [],
    }


def _span(event: Event, said: str) -> tuple[int, int] | None:
    span = event.get("span")
    heard = event.get("heard")
    if isinstance(span, (list, tuple)) and len(span) == 2 and all(type(n) is int for n in span):
        return span[0], span[1]
    if isinstance(heard, dict) and said and not heard.get("t") and not heard.get("cut"):
        return 0, len(said)
    return None


def heard_of(event: Event) -> tuple[str, str]:
    """When the words were heard, or "", and in which utterance."""
    heard = event.get("heard")
    if not isinstance(heard, dict):
        return "", ""
    at, lag = instant(event.get("at")), heard.get("ago")
    heard_at = ""
    if at and type(lag) is int and 0 <= lag < 10**16:
        try:
            heard_at = text_of_moment(datetime.fromisoformat(at) - timedelta(microseconds=lag))
        except OverflowError:
            heard_at = ""
    return heard_at, text_in(heard, "u")


def late_births(events: list[Event]) -> frozenset[str]:
    """Ids of the notes whose words were heard before what left the ledger, and saved after.

    A note that left may have been the same one, forgotten since, and nothing tells it any more.
    """
    trim = next((event for event in reversed(events) if is_trim(event)), None)
    if trim is None:
        return frozenset()
    until = instant(trim["until"])
    kept, late = set(trim["kept"].split()), set(text_in(trim, "late").split())
    for event in events:
        name = text_in(event, "note")
        if event.get("type") == "remembered" and name not in kept:
            heard_at = heard_of(event)[0]
            if heard_at and heard_at <= until < instant(event.get("at")):
                late.add(name)
    return frozenset(late)


def text_in(event: Mapping[str, Any], key: str) -> str:
    """The text under this key; "" for what is none."""
    value = event.get(key, "")
    return value if isinstance(value, str) else ""


def texts_in(event: Mapping[str, Any], key: str) -> list[str]:
    """The texts in the list under this key."""
    values = event.get(key)
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
