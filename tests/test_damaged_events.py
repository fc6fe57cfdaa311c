"""Events in a store that no release of ours wrote: none of them stops a run."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore

from langmem_credit.shared_ledger import CACHE, _bucket_of

from .sharing_support import Office

LABELS = ("memories", "s-ann", "user")
LATER = "2099-01-01T00:00:00.000000Z"
NOTE = {
    "v": 1,
    "id": "e1",
    "type": "remembered",
    "at": LATER,
    "note": "k3m9xz",
    "text": "The sky is blue",
    "credited": True,
    "call": "c",
    "message": "m",
    "kind": "fact",
}
TRIM = {"v": 1, "id": "t1", "type": "trimmed", "at": LATER, "until": LATER, "kept": ""}


@pytest.fixture(autouse=True)
def _fresh() -> None:
    CACHE.clear()


def put(store: BaseStore, event: dict[str, Any]) -> None:
    bucket = _bucket_of(event["id"])
    store.put((*LABELS, "events", bucket), f"{event['id']}-x", event, index=False)
    for name in (bucket, "scope"):
        store.put((*LABELS, "tokens"), name, {"token": "damaged"}, index=False)


@pytest.mark.parametrize("value", [5, None, ["x"], {"a": 1}, "soon"])
@pytest.mark.parametrize("field", ["at", "message", "call", "type", "note", "heard", "text", "v"])
def test_damaged_event_stops_no_run(field: str, value: Any) -> None:
    office = Office()
    ann = office.person(user_id="ann")
    put(office.store, NOTE | {field: value})
    assert office.keep(ann, "I always drink tea").startswith("Remembered")
    assert office.forget(ann, "forget that I drink tea", "tea").startswith("Forgotten")
    assert office.memory.history(office.agent, ann.config)


def test_damaged_event_that_arrives_during_a_run_stops_nothing() -> None:
    office = Office()
    ann = office.person(user_id="ann")
    office.keep(ann, "I always drink tea")
    put(office.store, NOTE | {"message": ["x"], "v": 2, "type": "tagged"})
    assert office.keep(ann, "I always use zsh").startswith("Remembered")


def test_note_with_a_damaged_field_waits_for_review() -> None:
    office = Office()
    ann = office.person(user_id="ann")
    put(office.store, NOTE | {"message": ["x"]})
    assert office.memory.notes(office.agent, ann.config) == ()
    assert [one.id for one in office.memory.unconfirmed(office.agent, ann.config)] == ["k3m9xz"]


def test_trim_counts_for_nothing_in_a_shared_ledger() -> None:
    office = Office()
    ann = office.person(user_id="ann")
    office.keep(ann, "I always drink tea")
    put(office.store, TRIM)
    assert office.notes(ann) == ["I always drink tea"]
    assert office.keep(ann, "I always use zsh").startswith("Remembered")
