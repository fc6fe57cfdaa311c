"""A ledger that grows says what one says that is folded whole."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from langmem_credit.growing import GrowingLedger
from langmem_credit.ledger import Event
from langmem_credit.notebook import Notebook, fold

from .notebook_support import agreed, book, forgot, ledgers, preferences, said, texts


def told(notebook: Notebook) -> dict[str, Any]:
    """All that a notebook says, what has no order sorted."""
    return {
        "notes": list(notebook.notes.items()),
        "unknown": sorted(event["id"] for event in notebook.unknown),
        "conflicts": sorted((one.event_id, one.note_id, one.reason) for one in notebook.conflicts),
        "last_at": notebook.last_at,
        "words": dict(notebook.words),
        "ended_at": dict(notebook.ended_at),
        "births": dict(notebook.births),
    }


@settings(max_examples=300, deadline=None)
@given(ledgers(), st.randoms(use_true_random=False), st.integers(1, 5))
def test_growing_in_any_batches_is_the_same_as_folding_all(
    events: list[Event], luck: Any, size: int
) -> None:
    luck.shuffle(events)
    ledger = GrowingLedger()
    for start in range(0, len(events), size):
        ledger = ledger.grown(events[start : start + size])
    whole = GrowingLedger.of(events)
    assert ledger.events == whole.events
    assert told(ledger.notebook) == told(fold(events))


def test_known_events_change_nothing() -> None:
    ledger = GrowingLedger.of(preferences(3))
    assert ledger.grown(preferences(3)) is ledger


def test_the_ledger_that_grew_is_as_it_was() -> None:
    ledger = GrowingLedger.of(preferences(3))
    before = told(ledger.notebook)
    ledger.grown([said("Use pnpm", 50), forgot(ledger.events[0], 60)])
    assert told(ledger.notebook) == before


def test_other_version_of_an_event_is_merged() -> None:
    event = said("Use pnpm", 1)
    other = {**event, "at": "2026-03-01T09:00:00.000000Z"}
    assert (
        GrowingLedger.of([event]).grown([other]).events == GrowingLedger.of([other, event]).events
    )


def test_event_without_words_is_folded_with_the_whole() -> None:
    event = said("Use pnpm", 1)
    shrunk = {key: event[key] for key in ("v", "id", "type", "at", "note")} | {"shrunk": True}
    grown = GrowingLedger.of(preferences(3)).grown([shrunk])
    assert told(grown.notebook) == told(book(*preferences(3), shrunk))


def test_note_that_was_edited_is_found_by_either_text() -> None:
    event = said("Use pnpm", 1)
    ledger = GrowingLedger.of([event, agreed(event, 2, text="Use npm")])
    assert texts(ledger.saying("Use npm")) == ["Use npm"]
    assert texts(ledger.saying("use pnpm.")) == ["Use npm"]
