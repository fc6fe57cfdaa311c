"""One note while its events are read, and the note that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .events import PERSON
from .identity import instant, text_of_moment
from .ledger import Event, held
from .notes import Note, normalise_kind, text_hash

_DUPLICATE = "Another note says the same."
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
        words: UTF-8 bytes that all its events keep.
        ended: "forgotten", "expired" or "".
        restored_by: id of the last event that restored it.
        stopped_at: when it was last withdrawn, superseded or disputed.
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
    def status(self) -> str:
        """`standing`, but a note without words has nothing to show, whatever was decided."""
        standing = self.standing
        return "forgotten" if self.shrunk and standing in LIVING else standing


def note_of(draft: Draft, stand_in: str) -> Note:
    """The note; `stand_in` is the id of another one that says the same and stands for it."""
    event = draft.event
    # Every folded note passes here: one pass over the event is cheaper than a call for each key.
    texts = {key: value for key, value in event.items() if isinstance(value, str)}
    text_of = texts.get
    stranger = held(event)
    said = "" if draft.shrunk else text_of("said") or text_of("text", "")
    origin = text_of("origin") or (PERSON if event.get("credited") is True else "agent")
    return Note(
        id=draft.note_id,
        text="" if draft.shrunk else draft.text,
        kind=normalise_kind(event.get("kind") or "project"),
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
        "ignored": texts_in(event, "ignored"),
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


def text_in(event: Mapping[str, Any], key: str) -> str:
    """The text under this key; "" for what is none."""
    value = event.get(key, "")
    return value if isinstance(value, str) else ""


def texts_in(event: Mapping[str, Any], key: str) -> list[str]:
    """The texts in the list under this key."""
    values = event.get(key)
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
