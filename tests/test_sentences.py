"""One sentence of a message, or one item of a list, beside what touches it and what does not."""

from __future__ import annotations

import pytest

from langmem_credit import Utterance, judge
from tests import fuzzing
from tests.cases_support import is_credited_on_retry, judge_case, load_cases

CASES = load_cases("sentences")
HONEST = [case for case in CASES if case["expect"] == "active"]


def heard(text):
    return [Utterance("m", text)]


@pytest.mark.parametrize("case", CASES, ids=[case["label"] for case in CASES])
def test_a_sentence_is_credited_where_nothing_touches_it(case):
    verdict = judge_case(case)

    assert verdict.credited == (case["expect"] == "active"), verdict.reason


@pytest.mark.parametrize("case", HONEST, ids=[case["label"] for case in HONEST])
def test_the_span_is_that_of_the_sentence(case):
    verdict = judge_case(case)

    assert verdict.span is not None
    start, end = verdict.span
    words = case["heard"][0][start:end].rstrip(".")
    assert words.lower().removeprefix("i ") in case["note"].lower().replace("prefers", "prefer")


@pytest.mark.parametrize(
    ("note", "text", "offered"),
    [
        # The shortest of the person's own units that holds the note's content.
        ("The user likes trains best", "Can you plan a trip? I prefer trains.", "I prefer trains"),
        (
            "User lives and works in Oslo",
            "I live in Oslo. I work in Oslo. Can you book a table?",
            "I live in Oslo. I work in Oslo",
        ),
        (
            "The user who lives in Oslo plays a cello",
            "I live in Oslo. I play the cello. Can you book a table?",
            "I live in Oslo. I play the cello",
        ),
        ("There are approvals", "House rules:\n- no pushes\n- two approvals", "two approvals"),
        ("Uses zsh", "I use zsh. Only at home.", "I use zsh. Only at home"),
        ("Uses zsh", "I use zsh. Scratch that.", None),
        ("Deletes the cache", "Delete the cache. Can you check the logs?", None),
    ],
)
def test_a_refusal_offers_the_sentence(note, text, offered):
    verdict = judge(note, text, heard(text))

    assert not verdict.credited
    assert verdict.suggestion == offered
    assert offered is None or is_credited_on_retry(verdict, heard(text))


def test_the_quote_may_be_the_message_or_the_sentence():
    text = "Can you plan a trip? I prefer trains."

    assert judge("I prefer trains", text, heard(text)).credited
    assert judge("I prefer trains", "I prefer trains", heard(text)).credited
    assert not judge("I prefer trains", "I prefer planes", heard(text)).credited


def test_a_refusal_says_what_keeps_the_sentence_back():
    text = "I'm allergic to peanuts. Is that serious?"
    verdict = judge("I'm allergic to peanuts", text, heard(text))

    assert verdict.rule == "own_voice"
    assert "another sentence or message of this run may change what it means" in verdict.reason


def test_an_answer_is_never_cut():
    text = "I prefer trains. Can you book a table?"
    said = Utterance("m", text, asked="Which do you like?")

    assert not judge("I prefer trains", text, [said]).credited


def test_what_is_claimed_must_stand_in_the_sentence():
    text = "I come from Rome. I play the cello."
    verdict = judge("I play the cello", text, heard(text), about="Rome")

    assert verdict.credited
    assert verdict.ignored == ("about",)


def test_a_later_message_takes_a_sentence_back():
    text = "I prefer trains. Can you book a table?"
    run = [Utterance("1", text), Utterance("2", "no wait, scratch that")]

    assert not judge("I prefer trains", text, run).credited
    assert judge("I prefer trains", text, run[:1]).credited


@pytest.mark.slow
def test_a_changed_word_is_refused_and_a_listed_edit_credited():
    report = fuzzing.run(tries=40_000, seed=11)

    assert report.credited == []
    assert report.refused == []
    assert min(report.tried.values()) > 3_000
    assert set(report.tried) == {*fuzzing.CHANGES, "put in", "exchanged"}
    assert min(report.edits.values()) > 20
