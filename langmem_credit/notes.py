"""The words of this package as values: utterances, verdicts, notes and the bounds on them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from .errors import ConfigurationError, named

Kind = Literal["preference", "project", "reference", "fact", "lesson", "finding"]
Status = Literal["active", "unconfirmed", "disputed", "superseded", "forgotten", "expired"]
Origin = Literal["person", "agent", "summary", "import"]
Via = Literal["input", "answer", "prefill", "click", "paste", "voice", "other_speaker", "edited"]

KINDS: tuple[str, ...] = get_args(Kind)
VIAS: tuple[str, ...] = get_args(Via)
TYPED_VIAS = frozenset({"input", "answer"})


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on everything kept or shown. Characters, unless the name says what else.

    A session's ledger keeps `events`; beyond it, the notes that ended first leave it. Half as many
    notes may live, and a quarter as many wait. A scope that many sessions share is not written as a
    whole: `shared_bytes` and `shared_events` bound it.
    """

    note: int = 500
    said: int = 2_000
    why: int = 300
    query: int = 400
    digest: int = 8_000
    recall: int = 6_000
    line: int = 240
    writes_per_run: int = 20
    live_bytes: int = 32 * 1024
    waiting_bytes: int = 12 * 1024
    events: int = 1_000
    shared_bytes: int = 16 * 1024 * 1024
    shared_events: int = 100_000
    from_you: int = 25
    facts: int = 15
    core: int = 5
    findings: int = 10

    def shared(self) -> Limits:
        """The bounds of a scope that many sessions share."""
        return replace(self, live_bytes=self.shared_bytes, events=self.shared_events)


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Utterance:
    """One text that reached the agent as a person's message.

    Attributes:
        id: the message's id, or the tool call's for an answer.
        text: as typed, unchanged.
        via: how it came; only `input` and `answer` were typed.
        speaker: who; None where there is only one person.
        at: ISO 8601 in UTC, or "".
        asked: the agent's question that this text answers, or "".
        before: the end of what the agent said last, be it a question or not, or "".
    """

    id: str
    text: str
    via: str = "input"
    speaker: str | None = None
    at: str = ""
    asked: str = ""
    before: str = ""

    @property
    def typed(self) -> bool:
        """True when a person's own fingers made this text."""
        return self.via in TYPED_VIAS


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the credit rule decided, and why.

    Attributes:
        credited: the note is the person's own words.
        rule: the part that broke, one of `RULES` in `credit.py`; "" when credited.
        reason: one plain sentence for the model and the person; "" when credited.
        utterance_id: the utterance judged, or None.
        span: characters [start, end) of the judged words in that utterance's text, or None.
        suggestion: the person's own words that would be credited, or None.
        language: code of the language file used, "" for verbatim only.
        ignored: metadata that the person's words do not carry, such as ("core",).
        version: of the rule.
    """

    credited: bool
    rule: str = ""
    reason: str = ""
    utterance_id: str | None = None
    span: tuple[int, int] | None = None
    suggestion: str | None = None
    language: str = ""
    ignored: tuple[str, ...] = ()
    version: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """One note as the fold of its events.

    Attributes:
        id: short, lower case letters and digits.
        text: as shown; scrubbed, at most `Limits.note` characters.
        said: the person's words it rests on (scrubbed), or the model's quote when not credited.
        at: when it was recorded, ISO 8601 in UTC.
        verdict: rule, reason, suggestion … as stored with the event.
        credited: active by the rule; `confirmed_by` is set where a person confirmed it instead.
        shrunk: the words were dropped to keep the ledger small; it can no longer be restored.
        said_at: when its words were heard, ISO 8601 in UTC; `at` where nobody said them.
        outcome: it tells how a session ended, and `thread` names the session.
        files: that the session touched, the newest last.
        seen: how many sessions' summaries state it, while nobody spoke against it.
    """

    id: str
    text: str
    kind: str
    status: str
    at: str
    about: str = ""
    core: bool = False
    said: str = ""
    span: tuple[int, int] | None = None
    ref: str = ""
    origin: str = "person"
    credited: bool = False
    confirmed_by: str = ""
    confirmed_at: str = ""
    edited: bool = False
    by: str = ""
    speaker: str = ""
    thread: str = ""
    message_id: str = ""
    why: str = ""
    replaces: str = ""
    replaced_by: str = ""
    shrunk: bool = False
    said_at: str = ""
    outcome: bool = False
    files: tuple[str, ...] = ()
    seen: int = 0
    verdict: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def active(self) -> bool:
        """True when the digest and recall may show it."""
        return self.status == "active"

    @property
    def text_hash(self) -> str:
        """Names the exact text, so that a decision binds to what was shown."""
        return text_hash(self.text)


def text_hash(text: str) -> str:
    """First 16 hex digits of the SHA-256 of the text.

    >>> text_hash("Use pnpm")
    'eca65430c9c04cdb'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def normalise_kind(kind: object) -> str:
    """A known kind for whatever a model passed; a kind never refuses a save.

    >>> normalise_kind("procedure"), normalise_kind("todo"), normalise_kind(None)
    ('lesson', 'project', 'project')
    """
    if not isinstance(kind, str):
        return "project"
    folded = kind.strip().lower()
    if folded == "procedure":
        return "lesson"
    return folded if folded in KINDS else "project"


def utc_now() -> str:
    """This moment, ISO 8601 in UTC with microseconds and a Z."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def check_words(note: object, said: object, heard: object) -> None:
    """Refuses what a credit rule cannot read.

    Raises:
        ConfigurationError: what is no text stands where a text must.
    """
    for name, value in (("note", note), ("said", said)):
        if not isinstance(value, str):
            raise ConfigurationError(f"judge() needs {name} as text, not {named(value)}.")
    if isinstance(heard, str) or not isinstance(heard, Sequence):
        raise ConfigurationError(
            f"judge() needs heard as a list, not {named(heard)}. Pass [Utterance(id, text), …]."
        )
    for one in heard:
        text = getattr(one, "text", one)
        if not isinstance(one, Utterance) or not isinstance(text, str):
            raise ConfigurationError(
                f"judge() found {named(text)} in heard. Pass Utterance(id, text)."
            )
