"""Notes as a reviewer sees them: where each one stands, why, on which words, and what may be done.

Nothing here reads a store or changes anything. What a stranger wrote into a ledger is shown as
such: its claim about what was typed is no evidence.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from langmem_credit.credit import RULES, judge
from langmem_credit.drafts import STOOD_FOR, text_in
from langmem_credit.events import PERSON
from langmem_credit.ledger import Event, held, instant
from langmem_credit.notebook import Notebook
from langmem_credit.notes import Note, Status, Utterance

from .differing import Piece, compare

Section = Literal["yours", "others", "facts", "waiting", "working", "ended"]
Action = Literal["confirm", "edit", "reject", "forget", "dispute", "restore"]
Knowledge = Literal["typed", "not_typed", "too_long", "unverified"]

SECTIONS: tuple[Section, ...] = get_args(Section)
ACTIONS: tuple[Action, ...] = get_args(Action)
PAGE_NOTES = 25
QUERY_CHARS = 400

# What the fold calls an event that nobody could verify.
_UNVERIFIED = "held"
_UNVERIFIED_REASON = "Its origin could not be verified."
_NO_WORDS = "What was typed in that run does not say it."
# Where a decision leaves a note when it took effect.
_AFTER: dict[Action, tuple[str, ...]] = {
    "confirm": ("active",),
    "edit": ("active",),
    "reject": ("forgotten",),
    "forget": ("forgotten",),
    "dispute": ("disputed",),
    "restore": ("active", "unconfirmed", "disputed", "superseded"),
}


def section_of(note: Note, me: str | None = None) -> Section | None:
    """Where the note is listed; None where it is not this reviewer's to see.

    Args:
        note: any.
        me: the reviewer's name in a scope of several people; None where all notes are theirs.
    """
    mine = is_mine(note, me)
    if note.status == "active":
        if note.origin not in ("person", "agent"):
            return "facts"
        return "yours" if mine else "others"
    if not mine:
        return None
    if note.status == "unconfirmed":
        return "working" if note.kind == "finding" else "waiting"
    return "ended"


def actions_of(note: Note, me: str | None = None) -> tuple[Action, ...]:
    """What the reviewer may do with the note, the likeliest first; nothing with another's."""
    if not is_mine(note, me):
        return ()
    if note.status == "unconfirmed":
        return ("confirm", "edit", "reject")
    if note.status == "active":
        return ("forget", "edit", "dispute")
    # Where another note stands for it, nothing was decided that could be taken back.
    if note.shrunk or note.why in STOOD_FOR:
        return ()
    return ("restore",)


def took_effect(action: Action, note: Note) -> bool:
    """True when the note is, after the action, what the action makes of a note."""
    return note.status in _AFTER[action]


def undoing(action: Action, note: Note) -> Action:
    """The action that takes this one back, on the note as it was left.

    A confirmation is taken back by a dispute: the note is no memory any more, and `restore` makes
    it one again.
    """
    if action in ("confirm", "edit"):
        return "dispute"
    if action == "restore":
        return "reject" if note.status == "unconfirmed" else "forget"
    return "restore"


def shown_hash(text: str) -> str:
    """SHA-256 of the exact text that a person is shown, in hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a note rests on.

    Attributes:
        knowledge: whether the words that were typed are known.
        rule: the part of the credit rule that broke; "" for a note in the person's own words.
        reason: one plain English sentence; "" likewise.
        note: its text; what differs was not typed. One that a person edited differs in nothing.
        quoted: the words that the agent passed as the person's; what differs was not typed.
        typed: the message that was judged; what differs is not in the note, or not in the quote
            where the note was edited since. () when not known.
    """

    knowledge: Knowledge
    rule: str
    reason: str
    note: tuple[Piece, ...]
    quoted: tuple[Piece, ...]
    typed: tuple[Piece, ...] = ()


def was_credited(note: Note) -> bool:
    """True for a note that began in the person's own words, whatever they made of it since."""
    return note.credited or (note.edited and note.origin == PERSON)


def evidence_of(note: Note) -> Evidence:
    """The note beside its quote and what was typed, and why it was not credited."""
    rule, heard = str(note.verdict.get("rule", "")), note.verdict.get("heard")
    reason = "" if was_credited(note) else reason_of(note)
    if rule == _UNVERIFIED:
        knowledge: Knowledge = "unverified"
    elif not note.verdict.get("utterance"):
        knowledge = "not_typed"
    elif not isinstance(heard, str) or not heard:
        knowledge = "too_long"
    else:
        return Evidence(
            "typed",
            rule,
            reason,
            note=(Piece(note.text),) if note.edited else compare(note.text, heard),
            quoted=compare(note.said, heard),
            typed=compare(heard, note.said if note.edited else note.text),
        )
    return Evidence(knowledge, rule, reason, (Piece(note.text),), (Piece(note.said),))


def reason_of(note: Note) -> str:
    """Why the note was not credited, in one plain English sentence."""
    rule, heard = str(note.verdict.get("rule", "")), note.verdict.get("heard")
    if rule == _UNVERIFIED:
        return _UNVERIFIED_REASON
    if heard and note.verdict.get("utterance") and not note.edited:
        # The verdict's detail is not stored: it comes out the same when it is judged again.
        again = judge(note.text, note.said, [Utterance("again", heard)])
        if again.rule == rule:
            return again.reason
    # A rule of the host's own has no sentence here.
    return RULES.get(rule, _NO_WORDS).replace(": {detail}", "")


@dataclass(frozen=True, slots=True)
class NotePage:
    """A part of a list of notes.

    Attributes:
        notes: grouped by whom they are about, the person themselves first; newest first.
        total: how many the whole list has.
        number: of this part, from 1.
        count: of parts, at least 1.
    """

    notes: tuple[Note, ...]
    total: int
    number: int
    count: int


def page_of(
    notebook: Notebook,
    section: Section,
    *,
    me: str | None = None,
    query: str = "",
    number: int = 1,
    size: int = PAGE_NOTES,
) -> NotePage:
    """The notes of a section that have every word of the query, cut into parts.

    Args:
        notebook: the fold.
        section: which list.
        me: as in `section_of`.
        query: words that must stand in text, quote, subject, kind or id; case is folded.
        number: which part; one too high gives the last.
        size: notes in a part.
    """
    words = query.casefold().split()
    found = [
        note
        for note in notebook.notes.values()
        if section_of(note, me) == section and _has(note, words)
    ]
    found.sort(key=lambda note: (note.at, note.id), reverse=True)
    found.sort(key=lambda note: (note.about != "", note.about))
    count = max(1, -(-len(found) // size))
    number = min(max(1, number), count)
    start = (number - 1) * size
    return NotePage(tuple(found[start : start + size]), len(found), number, count)


def counts_of(notebook: Notebook, me: str | None = None) -> Mapping[Section, int]:
    """How many notes each section has."""
    counted = Counter(section_of(note, me) for note in notebook.notes.values())
    return {section: counted[section] for section in SECTIONS}


def statuses_of(notebook: Notebook, me: str | None = None) -> Mapping[str, int]:
    """How many notes of each status the reviewer may see; what there are none of is left out."""
    seen = (note for note in notebook.notes.values() if section_of(note, me) is not None)
    counted = Counter(note.status for note in seen)
    return {status: counted[status] for status in get_args(Status) if counted[status]}


def is_mine(note: Note, me: str | None) -> bool:
    """True where the reviewer may decide about the note: it is theirs, or there is nobody else."""
    return me is None or note.speaker == me


@dataclass(frozen=True, slots=True)
class Step:
    """One event in the history of a note.

    Attributes:
        type: of the event.
        at: ISO 8601 in UTC.
        by: who did it, as the event says.
        text: the note's words from then on, where it changed them.
        said: words that it rests on.
        why: reason given.
        verified: False where nobody knows where the event comes from, so that it has no effect.
        trimmed: its words were dropped to keep the ledger small.
    """

    type: str
    at: str
    by: str = ""
    text: str = ""
    said: str = ""
    why: str = ""
    verified: bool = True
    trimmed: bool = False


def steps_of(notebook: Notebook, events: Sequence[Event], note_id: str) -> tuple[Step, ...]:
    """The history of a note, oldest first."""
    return tuple(
        Step(
            type=text_in(event, "type"),
            at=instant(event.get("at")),
            by=text_in(event, "by"),
            text=text_in(event, "text"),
            said=text_in(event, "said"),
            why=text_in(event, "why"),
            verified=not held(event),
            trimmed=bool(event.get("shrunk")),
        )
        for event in events
        if note_id in (event.get("note"), notebook.births.get(event["id"]))
    )


def _has(note: Note, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = "\n".join((note.text, note.said, note.about, note.kind, note.id)).casefold()
    return all(word in text for word in words)
