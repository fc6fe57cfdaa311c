"""Events and ledgers for the tests of ledger, notebook, digest and recall."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from langmem_credit.ledger import (
    Event,
    confirmed,
    disputed,
    remembered,
    restored,
    withdrawn,
)
from langmem_credit.notebook import Notebook, fold
from langmem_credit.notes import Utterance, Verdict, text_hash
from langmem_credit.unsaid import ended, stated

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
TODAY = "2026-03-16T12:00:00.000000Z"


def moment(minutes: float) -> str:
    """ISO time so many minutes after the start."""
    return (START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def said(text: str, minutes: float = 0, **more: Any) -> Event:
    """A credited note whose words are the text itself, or those given as `words`."""
    words = more.pop("words", text)
    heard_at = more.pop("heard_at", minutes)
    utterance = Utterance(
        id=more.pop("utterance", f"u-{minutes}"),
        text=words,
        at="" if heard_at is None else moment(heard_at),
        speaker=more.get("speaker"),
    )
    verdict = Verdict(True, utterance_id=utterance.id, span=(0, len(words)), language="en")
    more.setdefault("call", f"c-{minutes}-{text[:40]}")
    return remembered(text, verdict, at=moment(minutes), heard=[utterance], **more)


def unsaid(text: str, minutes: float = 0, **more: Any) -> Event:
    """A note that nobody's words carry."""
    more.setdefault("call", f"c-{minutes}-{text[:40]}")
    return remembered(text, Verdict(False, rule="typed"), at=moment(minutes), **more)


def loose(text: str, minutes: float = 0, **more: Any) -> Event:
    """A note that the words of an utterance do not carry, although they are quoted for it."""
    words = more.pop("words", "Use pnpm")
    heard_at = more.pop("heard_at", minutes)
    utterance = Utterance(
        id=more.pop("utterance", f"u-{minutes}"),
        text=words,
        at="" if heard_at is None else moment(heard_at),
    )
    verdict = Verdict(False, rule="same_words", utterance_id=utterance.id, span=(0, len(words)))
    more.setdefault("call", f"c-{minutes}-{text[:40]}")
    return remembered(text, verdict, at=moment(minutes), said=words, heard=[utterance], **more)


def forgot(event: Event, minutes: float, **more: Any) -> Event:
    """The event's note is withdrawn."""
    return withdrawn(event["note"], at=moment(minutes), **more)


def brought_back(event: Event, minutes: float) -> Event:
    """The event's note is restored."""
    return restored(event["note"], at=moment(minutes))


def agreed(event: Event, minutes: float, **more: Any) -> Event:
    """A person confirms the note as the event says it, or as `shown`."""
    shown = text_hash(more.pop("shown", event["text"]))
    return confirmed(event["note"], shown, at=moment(minutes), **more)


def edited(event: Event, minutes: float) -> Event:
    """A person confirms the note with other words, which other notes may have too."""
    return agreed(event, minutes, text="Use bun")


def agreed_to_the_edit(event: Event, minutes: float) -> Event:
    """A person confirms what `edited` made of the note."""
    return agreed(event, minutes, shown="Use bun")


def doubted(event: Event, minutes: float) -> Event:
    """A person disputes the event's note."""
    return disputed(event["note"], at=moment(minutes))


def texts(notes: Sequence[Any]) -> list[str]:
    return [note.text for note in notes]


def status(events: Sequence[Event], of: Event) -> str:
    """What became of the note that the event remembered."""
    note = fold(list(events)).of_event(of)
    assert note is not None
    return note.status


def preferences(count: int, **more: Any) -> list[Event]:
    """So many credited notes, a minute apart."""
    return [said(f"Rule number {number} holds.", number, **more) for number in range(count)]


def book(*events: Event) -> Notebook:
    return fold(list(events))


@st.composite
def ledgers(draw: st.DrawFn) -> list[Event]:
    """Ledgers in which notes are kept, corrected, confirmed, disputed, withdrawn and restored."""
    notes: list[Event] = []
    events: list[Event] = []
    more: dict[str, Any]
    for step in range(draw(st.integers(0, 12))):
        acts = ["said", "unsaid", "loose", "held", "change", "change", "unknown", "sum"]
        act = draw(st.sampled_from(acts))
        text = draw(st.sampled_from(["Use pnpm", "use pnpm.", "I live in Chengdu", "Use bun"]))
        minutes = draw(st.integers(0, 20)) + step / 100
        if act == "sum":
            more = {
                "thread": draw(st.sampled_from(["1", "2"])),
                "replaces": draw(st.sampled_from(["", *(note["note"] for note in notes)])),
            }
            summed_up = draw(st.sampled_from([stated, stated, ended]))
            note = summed_up(text, at=moment(minutes), **more)
            events.append(note if draw(st.booleans()) else {**note, "held": True})
            notes.append(note)
        elif act in ("said", "unsaid", "loose", "held") or not notes:
            more = {"call": f"call-{step}"}
            more["replaces"] = draw(st.sampled_from(["", *(note["note"] for note in notes)]))
            more["about"] = draw(st.sampled_from(["", "", "Bob"]))
            more["kind"] = draw(st.sampled_from(["project", "project", "finding"]))
            if act != "unsaid":
                more["words"] = draw(st.sampled_from([text, "Please use pnpm", "I use bun"]))
                more["utterance"] = draw(st.sampled_from(["u-1", "u-2", f"u-{minutes}"]))
                more["heard_at"] = draw(st.sampled_from([minutes, 0, None]))
            make = {"unsaid": unsaid, "loose": loose}.get(act, said)
            note = make(text, minutes, **more)
            events.append(note if act != "held" else {**note, "held": True})
            notes.append(note)
        elif act == "unknown":
            events.append({"v": 9, "id": f"x{step}", "type": "revised", "at": moment(minutes)})
        else:
            note = draw(st.sampled_from(notes))
            change = draw(
                st.sampled_from([agreed, edited, agreed_to_the_edit, doubted, forgot, brought_back])
            )
            events.append(change(note, minutes))
    return events
