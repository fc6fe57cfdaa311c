"""What was said once is one note, whatever wordings the rule takes: on real graphs, as kinds."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from langmem_credit import Utterance, judge
from langmem_credit.memory import CreditedMemory
from langmem_credit.notes import Limits, Verdict
from langmem_credit.testing import tool_calls

from .cases_support import as_params, load_cases
from .graph_support import forgetting, remembering, talk

CASES = load_cases("wordings")
ASK = ("ask_user", {"question": "Anything else?"})
each = pytest.mark.parametrize("case", as_params(CASES, "label"))


def one_by_one(case: dict[str, Any]) -> list[Any]:
    return [remembering((wording, case["typed"])) for wording in case["wordings"]]


@each
def test_each_wording_alone_is_credited(case: dict[str, Any]) -> None:
    heard = [Utterance("m", case["typed"])]
    assert all(judge(one, case["typed"], heard).credited for one in case["wordings"])


@each
def test_all_wordings_of_one_sentence_are_one_note(case: dict[str, Any]) -> None:
    it = talk(*one_by_one(case))
    it.person.says(case["typed"])
    (note,) = it.memory.notes(it.agent, it.config)
    known = f'Already remembered as {note.id}: "{note.text}". Nothing was changed.'
    assert it.tool_answers[1:] == [known] * (len(case["wordings"]) - 1)


@each
def test_all_wordings_in_one_message_are_one_note(case: dict[str, Any]) -> None:
    it = talk(remembering(*[(wording, case["typed"]) for wording in case["wordings"]]))
    it.person.says(case["typed"])
    assert (it.active, len(it.memory.history(it.agent, it.config))) == (case["wordings"][:1], 1)


@each
def test_the_same_sentence_in_a_later_run_is_the_same_note(case: dict[str, Any]) -> None:
    first, *_, last = case["wordings"]
    it = talk(remembering((first, case["typed"])), "ok", remembering((last, case["typed"])))
    it.person.says(case["typed"])
    it.person.says(case["typed"])
    assert (it.active, len(it.memory.history(it.agent, it.config))) == ([first], 1)


@each
def test_no_wording_comes_back_in_the_run_in_which_it_was_forgotten(case: dict[str, Any]) -> None:
    first, *others = one_by_one(case)
    forget = forgetting(case["query"], case["forget"])
    it = talk(first, tool_calls(ASK), forget, *others, first)
    it.person.says(case["typed"])
    it.person.answers(case["forget"])
    assert (it.active, it.waiting) == ([], [])
    assert it.tool_answers[2].startswith("Forgotten:")


@each
def test_no_loose_wording_waits_after_the_sentence_was_forgotten(case: dict[str, Any]) -> None:
    first, loose = one_by_one(case)[0], remembering((case["loose"], case["typed"]))
    it = talk(first, tool_calls(ASK), forgetting(case["query"], case["forget"]), loose)
    it.person.says(case["typed"])
    it.person.answers(case["forget"])
    assert (it.active, it.waiting) == ([], [])


@each
def test_said_again_after_it_was_forgotten_it_is_a_note_in_any_wording(
    case: dict[str, Any],
) -> None:
    first, *_, last = one_by_one(case)
    it = talk(first, "ok", forgetting(case["query"], case["forget"]), "ok", last)
    it.person.says(case["typed"])
    it.person.says(case["forget"])
    it.person.says(case["typed"])
    assert it.active == case["wordings"][-1:]


@each
def test_the_credited_wording_takes_the_place_of_one_that_waits(case: dict[str, Any]) -> None:
    it = talk(remembering((case["loose"], case["typed"])), one_by_one(case)[-1])
    it.person.says(case["typed"])
    assert (it.active, it.waiting) == (case["wordings"][-1:], [])


@each
def test_a_loose_wording_of_a_credited_sentence_does_not_wait(case: dict[str, Any]) -> None:
    it = talk(one_by_one(case)[0], remembering((case["loose"], case["typed"])))
    it.person.says(case["typed"])
    assert (it.active, it.waiting) == (case["wordings"][:1], [])
    assert it.tool_answers[1].startswith("Already remembered as ")


@each
def test_forgetting_takes_all_that_was_kept_of_one_sentence(case: dict[str, Any]) -> None:
    loose = remembering((case["loose"], case["typed"]))
    forget = forgetting(case["query"], case["forget"])
    it = talk(loose, *one_by_one(case), "ok", forget)
    it.person.says(case["typed"])
    it.person.says(case["forget"])
    assert (it.active, it.waiting) == ([], [])


# What is no other wording.


def test_two_sentences_of_two_runs_are_two_notes() -> None:
    zsh, tabs = "I always use zsh", "I prefer tabs over spaces"
    it = talk(remembering((zsh, zsh)), "ok", remembering((tabs, tabs)))
    it.person.says(zsh)
    it.person.says(tabs)
    assert it.active == [zsh, tabs]


def test_what_waits_from_another_message_is_not_taken_away() -> None:
    zsh, page = "I always use zsh", "Deploy on Fridays"
    it = talk(remembering((page, "deploy on Fridays")), "ok", remembering((zsh, zsh)))
    it.person.says("Sum this page up, please")
    it.person.says(zsh)
    assert (it.active, it.waiting) == ([zsh], [page])


def test_the_agents_finding_is_not_taken_away() -> None:
    zsh = "I always use zsh"
    finding = remembering(("The shell is at /bin/zsh", zsh), kind="finding")
    it = talk(finding, remembering((zsh, zsh)))
    it.person.says(zsh)
    notebook = it.memory.notebook(it.agent, it.config)
    assert [note.text for note in notebook.findings] == ["The shell is at /bin/zsh"]


@pytest.mark.parametrize("again", ["I always use zsh", "The user always uses zsh"])
def test_note_that_is_to_take_its_own_place_is_already_remembered(again: str) -> None:
    zsh = "I always use zsh"

    def itself(messages: Any) -> Any:
        return remembering((again, zsh), id=it.memory.notes(it.agent, it.config)[0].id)

    it = talk(remembering((zsh, zsh)), "ok", itself, itself, itself)
    it.person.says(zsh)
    it.person.says(zsh)
    assert (it.active, len(it.memory.history(it.agent, it.config))) == ([zsh], 1)
    assert all(text.startswith("Already remembered as ") for text in it.tool_answers[1:])


def test_thread_does_not_grow_while_a_note_takes_its_own_place() -> None:
    zsh = "I always use zsh"

    def itself(messages: Any) -> Any:
        note_id = it.memory.notes(it.agent, it.config)[0].id
        return remembering(*[(zsh, zsh)] * 20, id=note_id)

    it = talk(remembering((zsh, zsh)), "ok", *[itself, "ok"] * 8)
    for _ in range(9):
        it.person.says(zsh)
    assert len(it.memory.history(it.agent, it.config)) == 1


def test_note_saved_once_more_to_name_what_it_corrects_corrects_it() -> None:
    fish = "From now on I use fish, not zsh"
    # A word that names a note may stand in one of ten.
    others = [f"I prefer plan {number} for the report" for number in range(20)]
    told = ["I always use zsh", *others]

    def correct(messages: Any) -> Any:
        return remembering((fish, fish), id=it.memory.notes(it.agent, it.config)[0].id)

    steps = [step for text in told for step in (remembering((text, text)), "ok")]
    it = talk(*steps, remembering((fish, fish)), correct)
    for text in (*told, fish):
        it.person.says(text)
    newest = it.memory.notes(it.agent, it.config)[-1]
    assert it.active == [*others, fish]
    assert it.tool_answers[-1].startswith(f'Remembered as {newest.id} already: "{fish}".')


def test_message_sent_again_under_its_id_after_it_was_forgotten_is_said_again() -> None:
    zsh, asked = "I always use zsh", "Please forget that I use zsh"
    it = talk(
        remembering((zsh, zsh)), "ok", forgetting("zsh", asked), "ok", remembering((zsh, zsh))
    )
    it.person.says(HumanMessage(zsh, id="m1"))
    it.person.says(HumanMessage(asked, id="m2"))
    it.person.says(HumanMessage(zsh, id="m1"))
    assert it.active == [zsh]


def test_message_edited_under_its_id_is_another_one() -> None:
    zsh, ksh = "I always use zsh", "I always use ksh"
    it = talk(remembering((zsh, zsh)), "ok", remembering((ksh, ksh)))
    it.person.says(HumanMessage(zsh, id="m1"))
    it.person.says(HumanMessage(ksh, id="m1"))
    assert it.active == [zsh, ksh]


def test_hosts_own_rule_may_credit_two_stretches_of_one_message() -> None:
    def part(note: str, said: str, heard: Any, *, limits: Limits, **_: Any) -> Verdict:
        start = heard[0].text.find(said)
        return Verdict(True, utterance_id=heard[0].id, span=(start, start + len(said)))

    typed = "I use zsh. I like tabs."
    it = talk(
        remembering(("Uses zsh", "I use zsh"), ("Likes tabs", "I like tabs")),
        memory=CreditedMemory(credit_rule=part),
    )
    it.person.says(typed)
    assert it.active == ["Uses zsh", "Likes tabs"]
