"""The forget rule: its cases, and what no case can say."""

import time

import pytest

from langmem_credit.corrections import corrects
from langmem_credit.events import remembered
from langmem_credit.forget_requests import find_request
from langmem_credit.forgetting import ForgetVerdict, judge_forget
from langmem_credit.naming import names, same_source
from langmem_credit.notebook import Notebook, fold
from langmem_credit.notes import Note, Utterance, Verdict
from langmem_credit.spoken import read_spoken
from tests.cases_support import load_cases

CASES = load_cases("forgetting")
CORRECTIONS = load_cases("forgetting_corrections")


def notebook_of(*texts: str, speaker: str = "") -> Notebook:
    return fold(
        [
            remembered(
                text,
                Verdict(credited=True),
                at=f"2031-01-01T00:00:00.{number:06d}Z",
                call=f"call-{number}",
                speaker=speaker,
            )
            for number, text in enumerate(texts)
        ]
    )


def judged(query: str, *heard: str | Utterance, notes: Notebook, said: str = "") -> ForgetVerdict:
    utterances = [
        one if isinstance(one, Utterance) else Utterance(f"u{number}", one)
        for number, one in enumerate(heard)
    ]
    return judge_forget(query, said or utterances[-1].text, utterances, notes)


@pytest.mark.parametrize("case", CASES, ids=[case["label"] for case in CASES])
def test_the_rule_removes_what_the_case_says(case):
    notes = notebook_of(*case["existing"])

    verdict = judged(case["query"], *case["heard"], notes=notes, said=case["said"])

    removed = [notes.notes[verdict.note_id].text] if verdict.granted else []
    assert removed == case["expect"]


def test_a_refusal_names_the_closest_note():
    notes = notebook_of("Berlin office is on Lindenstrasse", "Prefers tabs")

    verdict = judged("Berlin", "the Berlin office is nice", notes=notes)

    assert notes.notes[verdict.closest].text == "Berlin office is on Lindenstrasse"


def test_an_id_finds_its_note_whatever_else_matches():
    notes = notebook_of("Apartment is on the left", "Apartment is on the right")
    right = notes.active[1]

    verdict = judged(f"[{right.id}]", "forget that the apartment is on the right", notes=notes)

    assert verdict.note_id == right.id


def test_an_id_alone_does_not_name_the_note():
    notes = notebook_of("Apartment is on the left", "Prefers tabs")

    verdict = judged(notes.active[0].id, "forget the tabs", notes=notes)

    assert verdict.rule == "names_nothing"


def test_a_click_is_no_request():
    notes = notebook_of("Prefers tabs")
    clicked = Utterance("u0", "forget that I prefer tabs", via="click")

    assert judged("tabs", clicked, notes=notes).rule == "typed"


def test_only_the_speaker_of_the_last_input_is_heard():
    notes = notebook_of("Prefers tabs")
    other = Utterance("u0", "forget that I prefer tabs", speaker="Ravi")
    asker = Utterance("u1", "hello there", speaker="Dana")

    assert judged("tabs", other, asker, notes=notes, said=other.text).rule == "typed"


def test_a_person_forgets_only_their_own():
    notes = notebook_of("Prefers tabs", speaker="Ravi")
    asker = Utterance("u1", "forget that I prefer tabs", speaker="Dana")

    assert judged("tabs", asker, notes=notes).rule == "not_yours"


def test_the_span_is_the_sentence_that_asks():
    notes = notebook_of("Prefers tabs")
    text = "Thanks. Forget the tabs."

    verdict = judged("tabs", text, notes=notes)

    assert text[slice(*verdict.span)] == "Forget the tabs."


def test_a_withdrawn_note_is_not_found_again():
    from langmem_credit.ledger import withdrawn

    note = notebook_of("Prefers tabs").active[0]
    events = [
        remembered("Prefers tabs", Verdict(credited=True), at="2031-01-01T00:00:00Z", call="call-0")
    ]
    notes = fold([*events, withdrawn(note.id, at="2031-01-02T00:00:00Z")])

    assert judged("tabs", "forget the tabs", notes=notes).rule in ("no_match", "names_nothing")


@pytest.mark.parametrize("query", ["", " ", "\0", "\ud83d", "👍", "%", "a" * 100_000])
@pytest.mark.parametrize("said", ["", "\0", "\ud83d", "forget", "x" * 100_000])
def test_odd_arguments_forget_nothing(query, said):
    notes = notebook_of("Prefers tabs")

    assert not judge_forget(query, said, [Utterance("u0", "hello \ud83d there")], notes).granted


def _with_waiting(active: str, *waiting: str) -> Notebook:
    events = [remembered(active, Verdict(credited=True), at="2031-01-01T00:00:00Z", call="a")]
    for number, text in enumerate(waiting):
        refused = Verdict(credited=False, rule="typed")
        moment = f"2031-01-02T00:00:00.{number:06d}Z"
        events.append(remembered(text, refused, at=moment, said=text, call=f"w{number}"))
    return fold(events)


@pytest.mark.parametrize(
    ("waiting", "request_"),
    [
        ("tea is good", "forget the note about tea"),
        ("Hi! I like tea", "forget that I like tea"),
        ("never forget tea", "please forget my tea preference"),
    ],
)
def test_held_back_text_does_not_stand_in_the_way_of_forgetting(waiting, request_):
    notes = _with_waiting("I like tea", *[f"{waiting} {n}" for n in range(30)])

    verdict = judged("tea", request_, notes=notes)

    assert verdict.note_id == notes.active[0].id


def test_a_waiting_note_can_be_forgotten_when_no_active_one_matches():
    notes = _with_waiting("I like tea", "Zed is on call")

    assert judged("Zed", "forget the note about Zed", notes=notes).granted


@pytest.mark.parametrize("query", ["everything", "all notes", "I like tea"])
def test_forgetting_everything_is_told_apart(query):
    notes = _with_waiting("I like tea")

    assert judged(query, "forget everything you know", notes=notes).rule == "everything"


@pytest.mark.parametrize("case", CORRECTIONS, ids=[case["label"] for case in CORRECTIONS])
def test_a_note_is_corrected_only_where_the_words_say_that_it_no_longer_holds(case):
    notes = notebook_of(case["old"], *case["others"])

    assert corrects(case["new"], notes.active[0], notes.active) is case["expect"]


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\ud83d", "no longer", "not", "x" * 100_000, "是不再"]
)
def test_odd_words_correct_nothing(text):
    notes = notebook_of("Prefers tabs", "\ud83d is fine")

    assert not any(corrects(text, note, notes.active) for note in notes.active)


def test_an_unnamed_person_forgets_no_named_persons_note():
    notes = notebook_of("Prefers tabs", speaker="Ann")

    assert judged("tabs", "forget that I prefer tabs", notes=notes).rule == "not_yours"


def test_another_persons_equal_note_does_not_stand_in_the_way():
    ann, bob = (
        remembered("I use zsh", Verdict(True), at="2031-01-01T00:00:00Z", speaker=name, call=name)
        for name in ("Ann", "Bob")
    )
    notes = fold([ann, bob])
    asker = Utterance("u1", "forget that I use zsh", speaker="Bob")

    assert notes.notes[judged("zsh", asker, notes=notes).note_id].speaker == "Bob"


def test_wordings_of_one_utterance_count_as_one_note():
    said = "I always use zsh"
    wordings = [said, "Always uses zsh", "The user always uses zsh"]
    heard = {"utterance": "m1"}
    notes = [
        Note(
            f"note{n}",
            text,
            "fact",
            "active",
            "",
            said=said,
            span=(0, 16),
            credited=True,
            verdict=heard,
        )
        for n, text in enumerate(wordings)
    ]
    request = find_request(Utterance("u1", "forget that I always use zsh"), said="forget")

    spoken = read_spoken(request.said, request.vocabulary)

    assert all(names(spoken, note, notes) for note in notes)


def test_a_word_of_many_notes_names_none_of_them():
    notes = list(
        notebook_of("Runs tests first", "Tests live in spec", "Tests use tabs").notes.values()
    )
    request = find_request(Utterance("u0", "forget the tests"), "forget the tests")

    spoken = read_spoken(request.said, request.vocabulary)

    assert not any(names(spoken, note, notes) for note in notes)


def test_statements_of_one_utterance_count_each():
    typed = "I like tea. I like coffee."
    heard = {"utterance": "m1"}
    tea = Note("tea", "I like tea", "fact", "active", "", span=(0, 10), verdict=heard)
    coffee = Note("coffee", "I like coffee", "fact", "active", "", span=(12, 25), verdict=heard)

    assert not same_source(tea, coffee), typed


def test_a_paste_that_announces_a_text_makes_no_request_of_it():
    notes = notebook_of("Prefers tabs")
    lead = Utterance("u0", "Translate this:", via="paste")

    verdict = judged("tabs", lead, Utterance("u1", "forget the tabs"), notes=notes)

    assert verdict.rule == "own_voice"


def test_the_time_of_a_request_grows_with_the_notes_and_not_with_their_square():
    notes = notebook_of(*(f"My dog {number} is called Rex{number}" for number in range(2_000)))
    began = time.process_time()

    verdicts = [judged("dog", said, notes=notes) for said in ("forget my dog", "forget Rex7")]

    # Each note against each other one takes a quarter of a minute.
    assert time.process_time() - began < 4
    assert [verdict.rule for verdict in verdicts] == ["shared", ""]


def test_a_refusal_says_where_other_notes_share_the_words():
    notes = notebook_of("I like tea", "I like green tea", "Reviews happen on Mondays")

    assert judged("tea", "forget the tea", notes=notes).rule == "shared"
    assert judged("tea", "forget the coffee", notes=notes).rule == "names_nothing"
    assert judged("tea", "forget the tea on Mondays", notes=notes).rule == "names_nothing"


def test_a_request_that_fits_very_many_notes_is_ambiguous():
    texts = [f"My dog {number} is brown" for number in range(30)]
    texts += [f"The shop {number} sells kites" for number in range(300)]

    verdict = judged("dog", "forget my dog", notes=notebook_of(*texts))

    assert verdict.rule == "ambiguous"
