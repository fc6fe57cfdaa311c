"""The credit rule on its cases, and what holds for every text."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit import Utterance, judge
from langmem_credit.credit import RULES, VERSION
from langmem_credit.notes import LIMITS, TYPED_VIAS, VIAS
from langmem_credit.suggesting import suggest
from tests.cases_support import as_params, heard_of, is_credited_on_retry, judge_case, load_cases

CASES = load_cases("credit")
PARAMS = as_params(CASES, "label")
ODD_TEXTS = {
    "empty": "",
    "space": " \t\n\u3000",
    "nul": "\0",
    "nul inside": "use \0 as separator",
    "lone surrogate": "ok \ud83d",
    "only surrogates": "\udc00\udc01",
    "only marks": "!?.,;:",
    "only emoji": "👍🏽👨‍👩‍👧",
    "only combining": "\u0301" * 50,
    "zero width": "\u200b\u200d\ufeff",
    "bidi": "\u202eniam ot hsup\u202c",
    "braces": "{name} {{x}} %s {0}",
    "a megabyte": "always use tabs " * 65_536,
    "a megabyte of one word": "a" * 1_048_576,
    "a megabyte of marks": "'\"" * 524_288,
    "long note": "Always use tabs " * 40,
}
TEXTS = st.text(
    alphabet=st.characters(codec="utf-8") | st.sampled_from(list(" .,:;!?'\"`-\n/Im")), max_size=80
)
WORDS = (
    *("I", "my", "me", "we", "us", "US", "the user", "use", "tabs", "RUN", "README.md", "rm -rf"),
    *("never", "always", "not", "no", "don't", "don’t", "only", "if", "when", "it's", "3", "1,000"),
    *("please", "remember that", "from now on", "in this repo", "ok", "/", "./tmp"),
    *(",", ".", "!", "?", ":", '"', "\n"),
)
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=2, max_size=12).map(" ".join)
INNER = st.sampled_from(
    ["never", "not", "no", "only", "if", "unless", "don't", "US", "3", "-", "and", "the", ","]
)
PLAIN = st.sampled_from(["use", "tabs", "Go", "files", "for", "tests", "run", "Bob", "`ls`", "x=1"])


@pytest.mark.parametrize("case", PARAMS)
def test_the_case_is_decided_as_expected(case):
    assert judge_case(case).credited == (case["expect"] == "active")


@pytest.mark.parametrize("case", as_params([c for c in CASES if "rule" in c], "label"))
def test_the_part_that_broke_is_named(case):
    assert judge_case(case).rule == case["rule"]


@pytest.mark.parametrize("case", as_params([c for c in CASES if c.get("retry")], "label"))
def test_the_suggestion_is_credited(case):
    assert is_credited_on_retry(judge_case(case), heard_of(case))


@pytest.mark.parametrize("case", as_params([c for c in CASES if "ignored" in c], "label"))
def test_metadata_without_the_words_is_ignored(case):
    assert list(judge_case(case).ignored) == case["ignored"]


def test_labels_are_unique():
    labels = [case["label"] for case in CASES]

    assert sorted(set(labels)) == sorted(labels)


def test_a_verdict_explains_itself():
    verdicts = [judge_case(case) for case in CASES]

    assert [one for one in verdicts if one.credited != (one.rule == "")] == []
    assert [one for one in verdicts if one.credited != (one.reason == "")] == []
    assert {one.rule for one in verdicts} <= {"", *RULES}
    assert {one.version for one in verdicts} == {VERSION}


def test_every_suggestion_would_be_credited():
    offered = [(case["label"], judge_case(case), heard_of(case)) for case in CASES]

    assert [
        label
        for label, verdict, heard in offered
        if verdict.suggestion is not None and not is_credited_on_retry(verdict, heard)
    ] == []


@pytest.mark.parametrize("text", ["Hi! I prefer tabs. Thanks!", "Zu\u0308rich is where I live"])
def test_the_span_is_what_must_be_in_the_note(text):
    verdict = judge("nothing alike", text, [Utterance("m", text)])

    assert verdict.span is not None
    composed = unicodedata.normalize("NFC", text)
    assert composed[slice(*verdict.span)] == verdict.suggestion + "." * ("." in text)


@pytest.mark.parametrize("note", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_an_odd_note_is_refused(note):
    assert not judge(note, "I prefer tabs", [Utterance("m", "I prefer tabs")]).credited


@pytest.mark.parametrize("said", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_an_odd_quote_is_refused(said):
    assert not judge("I prefer tabs", said, [Utterance("m", "I prefer tabs")]).credited


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_an_odd_message_supports_no_other_note(text):
    assert not judge("I prefer tabs", text, [Utterance("m", text)]).credited


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_an_odd_message_does_not_stop_another(text):
    heard = [Utterance("m", text), Utterance("n", "I prefer tabs")]

    assert judge("I prefer tabs", "I prefer tabs", heard).rule in {"", "own_voice"}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_metadata_is_ignored(text):
    heard = [Utterance("m", "I prefer tabs")]

    assert judge("I prefer tabs", "I prefer tabs", heard, about=text, core=True).credited


def test_nothing_heard_supports_nothing():
    assert judge("I prefer tabs", "I prefer tabs", []).rule == "typed"


def test_a_suggestion_is_never_longer_than_a_note():
    text = "Always " + "very " * 150 + "carefully use tabs"

    assert suggest(text, [Utterance("m", text)]) is None


def test_the_suggestion_is_the_message_nearest_to_the_note():
    heard = [Utterance("a", "I prefer tabs"), Utterance("b", "My timezone is CET")]

    assert suggest("The user likes tabs", heard) == "I prefer tabs"


def test_the_suggestion_is_the_newest_of_equals():
    heard = [Utterance("a", "I prefer tabs in Go"), Utterance("b", "I prefer tabs in C")]

    assert suggest("tabs", heard) == "I prefer tabs in C"


def test_the_newest_utterance_that_credits_is_named():
    heard = [Utterance("a", "I prefer tabs"), Utterance("b", "I prefer tabs")]

    assert judge("I prefer tabs", "I prefer tabs", heard).utterance_id == "b"


def test_many_utterances_are_judged_in_time():
    heard = [Utterance(f"m{number}", f"I prefer tabs in file {number}") for number in range(300)]

    assert judge("I prefer tabs in file 7", "I prefer tabs in file 7", heard).credited


def test_a_run_of_many_messages_is_read_once_for_all_of_them():
    heard = [Utterance(f"m{number}", f"We saw house {number} of it") for number in range(290)]
    began = time.process_time()

    verdict = judge("House of it", "We saw", heard)

    # Each beside each other would take a minute.
    assert (verdict.rule, time.process_time() - began < 5) == ("own_voice", True)


def test_a_run_of_too_much_text_credits_nothing_and_says_so():
    heard = [Utterance(f"m{number}", "I like tea. " * 160) for number in range(100)]
    heard.append(Utterance("m", "I use zsh"))
    began = time.process_time()

    verdict = judge("I use zsh", "I use zsh", heard)

    assert (verdict.credited, "more text" in verdict.reason) == (False, True)
    assert suggest("I use zsh", heard) is None
    assert time.process_time() - began < 1


def test_a_run_of_too_many_messages_credits_nothing():
    heard = [Utterance(f"m{number}", "thanks") for number in range(300)]

    assert judge("I use zsh", "I use zsh", [*heard[1:], Utterance("m", "I use zsh")]).credited
    assert not judge("I use zsh", "I use zsh", [*heard, Utterance("m", "I use zsh")]).credited


@given(TEXTS, TEXTS, TEXTS)
def test_no_text_raises(note, said, heard):
    judge(note, said, [Utterance("m", heard)], about=said, core=True)


@given(SENTENCES)
def test_a_credited_message_is_credited_again_word_for_word(text):
    verdict = judge(text, text, [Utterance("m", text)])

    assert judge(text, text, [Utterance("m", text)]) == verdict


@given(SENTENCES, SENTENCES)
def test_a_suggestion_is_always_credited(note, text):
    heard = [Utterance("m", text)]
    verdict = judge(note, text, heard)

    assert verdict.suggestion is None or is_credited_on_retry(verdict, heard)


@given(INNER, st.lists(PLAIN, min_size=1, max_size=4), st.lists(PLAIN, min_size=1, max_size=4))
def test_a_word_dropped_inside_is_never_credited(word, before, behind):
    text = " ".join(["Always", *before, word, *behind])
    note = " ".join(["Always", *before, *behind])

    assert not judge(note, text, [Utterance("m", text)]).credited


@given(INNER, st.lists(PLAIN, min_size=1, max_size=4), st.lists(PLAIN, min_size=1, max_size=4))
def test_a_word_added_inside_is_never_credited(word, before, behind):
    text = " ".join(["Always", *before, *behind])
    note = " ".join(["Always", *before, word, *behind])

    assert not judge(note, text, [Utterance("m", text)]).credited


@given(SENTENCES)
def test_a_note_beyond_the_bound_on_messages_is_refused(text):
    padded = text + " x" * (LIMITS.said // 2)

    assert not judge(padded, padded, [Utterance("m", padded)]).credited


@given(SENTENCES, st.sampled_from(sorted(set(VIAS) - TYPED_VIAS)))
def test_what_was_not_typed_credits_nothing(text, via):
    assert not judge(text, text, [replace(Utterance("m", text), via=via)]).credited
