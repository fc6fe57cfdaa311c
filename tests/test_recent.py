"""What this process looked at last never stands in for something else."""

from __future__ import annotations

from typing import Any

import pytest

from langmem_credit.digest import render
from langmem_credit.ledger import remembered
from langmem_credit.notebook import fold
from langmem_credit.notes import Limits, Utterance, Verdict
from langmem_credit.recent import FirstSeen, RecentDigests, RecentFolds

DAY = "2026-03-01T10:00:00.000000Z"


def event(text: str, **more: Any) -> dict[str, Any]:
    heard = [Utterance("m1", text, at=DAY)]
    verdict = Verdict(True, utterance_id="m1", span=(0, len(text)))
    return remembered(text, verdict, at=DAY, heard=heard, call=text, message="a1", **more)


def test_same_ledger_gives_the_same_notebook() -> None:
    folds = RecentFolds()
    assert folds.of([event("I use zsh")]) is folds.of([event("I use zsh")])


def test_ledger_with_another_word_in_the_same_event_is_folded_anew() -> None:
    folds = RecentFolds()
    folds.of([event("I use zsh")])
    other = event("I use zsh") | {"text": "I use fish"}
    assert [note.text for note in folds.of([other]).active] == ["I use fish"]


@pytest.mark.parametrize("key", ["text", "credited", "speaker", "about"])
def test_event_that_was_changed_in_place_is_folded_anew(key: str) -> None:
    folds, events = RecentFolds(), [event("I use zsh", speaker="Ann", about="Bo")]
    folds.of(events)
    del events[0][key]
    assert folds.of(events) == fold(events)


def test_held_copy_of_an_event_is_not_taken_for_the_verified_one() -> None:
    folds = RecentFolds()
    folds.of([event("I use zsh")])
    assert folds.of([event("I use zsh") | {"held": True}]).active == ()


def test_folds_are_bounded() -> None:
    folds = RecentFolds(capacity=2)
    for number in range(5):
        folds.of([event(f"I use shell {number}")])
    assert len(folds._seen) == 2


@pytest.mark.parametrize(
    ("as_of", "speaker", "limits"),
    [
        (DAY, None, Limits()),
        ("2026-03-09T10:00:00.000000Z", None, Limits()),
        (DAY, "Ann", Limits()),
        (DAY, None, Limits(line=10)),
    ],
    ids=["same", "another day", "another speaker", "other limits"],
)
def test_digest_is_what_would_be_rendered(as_of: str, speaker: str | None, limits: Limits) -> None:
    digests = RecentDigests()
    notebook = fold([event("I always use zsh at work", speaker="Bo")])
    digests.of(notebook, DAY, None, Limits())
    expected = render(notebook, as_of, speaker=speaker, limits=limits)
    assert digests.of(notebook, as_of, speaker, limits) == expected


def test_digest_of_another_notebook_is_its_own() -> None:
    digests = RecentDigests()
    texts = ["I use zsh", "I use fish"]
    shown = [digests.of(fold([event(text)]), DAY, None, Limits()) for text in texts]
    assert [text in digest for text, digest in zip(texts, shown, strict=True)] == [True, True]


def test_digests_are_bounded() -> None:
    digests = RecentDigests(capacity=2)
    for number in range(5):
        digests.of(fold([event(f"I use shell {number}")]), DAY, None, Limits())
    assert len(digests._seen) == 2


def test_first_moment_of_a_name_stays() -> None:
    seen = FirstSeen()
    assert seen.of("a") == seen.of("a")


def test_first_moments_are_bounded() -> None:
    seen = FirstSeen(capacity=2)
    for name in "abcde":
        seen.of(name)
    assert len(seen._moments) == 2
