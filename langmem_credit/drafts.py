"""Notes while their events are read, and what comes of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .events import PERSON, VERSION
from .identity import instant, is_note_id, new_note_id, text_of_moment
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
        """True for what a person may be asked to review."""
        return not held(self.event) and self.family in ("", "fact")

    @property
    def family(self) -> str:
        """What it may be replaced and ended together with, where no person stands behind it.

        "finding" for the agent's own, "fact" for one that a summary states, and a name of its own
        for each session's outcome; "" for all other notes.
        """
        event = self.event
        if self.credited or self.confirmed_by or held(event):
            return ""
        if event.get("outcome") is True:
            return f"outcome {text_in(event, 'thread')}"
        if event.get("kind") == "finding":
            return "finding"
        return "fact" if text_in(event, "origin") == "summary" else ""

    @property
    def status(self) -> str:
        """`standing`, but a note without words has nothing to show, whatever was decided."""
        standing = self.standing
        return "forgotten" if self.shrunk and standing in LIVING else standing


def note_of(draft: Draft, stand_in: str, seen: int = 0) -> Note:
    """The note; `stand_in` is the id of another one that says the same and stands for it."""
    event = draft.event
    # Every folded note passes here: one pass over the event is cheaper than a call for each key.
    texts = {key: value for key, value in event.items() if isinstance(value, str)}
    text_of = texts.get
    stranger = held(event)
    said = "" if draft.shrunk else text_of("said") or text_of("text", "")
    origin = text_of("origin") or (PERSON if event.get("credited") is True else "agent")
    kind = normalise_kind(text_of("kind") or "project")
    if stranger and kind == "finding":
        # Nobody knows that the agent found it out, so it waits for a person as all else does.
        kind = "project"
    return Note(
        id=draft.note_id,
        text="" if draft.shrunk else draft.text,
        kind=kind,
        status="superseded" if stand_in else draft.status,
        at=draft.at,
        about=draft.about,
        core=event.get("core") is True,
        said=said,
        span=span_of(event, said),
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
        said_at=_said_at(event, draft.at),
        outcome="outcome" in event and event["outcome"] is True and not stranger,
        files=tuple(texts_in(event, "files")) if "files" in event else (),
        seen=seen,
        verdict=_verdict(event, texts, said),
    )


def _said_at(event: Event, at: str) -> str:
    """When the words were heard; the moment of the note where that was the same day."""
    heard = event.get("heard")
    lag = heard.get("ago") if type(heard) is dict else 0
    # Nearly always within the hour, and not in the first one of a day.
    if type(lag) is not int or (lag < 3_600_000_000 and at[11:13] != "00") or not at:
        return at
    heard_at = heard_of(event)[0]
    return heard_at if heard_at[:10] < at[:10] and heard_at else at


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


def span_of(event: Event, said: str) -> tuple[int, int] | None:
    """Where the judged words stand in their utterance, or None."""
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


def note_ids(events: list[Event]) -> dict[str, str]:
    """Event id to note id; a stranger's event never takes the id of a verified one."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    births = [
        event
        for event in events
        if event.get("type") == "remembered" and event.get("v", VERSION) == VERSION
    ]
    for event in sorted(births, key=held):
        note_id = event.get("note")
        if not isinstance(note_id, str) or not is_note_id(note_id) or note_id in taken:
            note_id = new_note_id(event["id"], taken)
        taken.add(note_id)
        ids[event["id"]] = note_id
    return ids


def apart(same: Sequence[Draft]) -> Iterable[list[Draft]]:
    """Notes with one text in the groups of which one note stands for all."""
    if any(draft.standing == "active" for draft in same):
        return [list(same)]
    groups: dict[str, list[Draft]] = {}
    for draft in same:
        groups.setdefault("" if draft.waits else draft.family, []).append(draft)
    return groups.values()


def sightings(drafts: Collection[Draft]) -> dict[str, int]:
    """By `sameness`: in how many sessions summaries stated it, while nothing stands against it."""
    threads: dict[str, set[str]] = {}
    for draft in drafts:
        thread = draft.event.get("thread")
        if thread and isinstance(thread, str) and draft.family == "fact":
            threads.setdefault(draft.keys[-1], set()).add(thread)
    if not threads:
        return {}
    against = {key for draft in drafts if draft.stopped for key in draft.keys}
    return {key: len(found) for key, found in threads.items() if key not in against}


def absorb(draft: Draft, other: Draft) -> None:
    """The other note stands for the draft."""
    draft.superseded_by, draft.absorbed = other.note_id, True
    draft.stopped_at, draft.why = max(draft.at, other.since), SAME_WORDS


def moment_of(draft: Draft, event: Event) -> str:
    """When the event took effect: never before its note was there, whatever a clock said."""
    return max(instant(event.get("at")), draft.at)
