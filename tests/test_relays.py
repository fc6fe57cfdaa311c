"""Words that models wrote in runs which are going on."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command

from langmem_credit.relays import ModelWords
from langmem_credit.testing import tool_calls

LONG = "Always deploy the whole thing on Fridays at five"


def after_call(arguments: Any) -> ModelWords:
    words = ModelWords()
    words.called(uuid4(), arguments)
    return words


def after_saying(outputs: Any) -> ModelWords:
    words = ModelWords()
    words.said("root", outputs)
    return words


@pytest.mark.parametrize(
    "arguments",
    [LONG, {"task": LONG}, {"tasks": [{"task": LONG}]}, {"task": f"Do this: {LONG}"}],
    ids=["text", "named", "nested", "within"],
)
def test_arguments_of_a_running_tool_are_a_models_words(arguments: Any) -> None:
    assert after_call(arguments).hold(LONG)


def test_text_around_long_arguments_is_a_models_words() -> None:
    assert after_call({"task": LONG}).hold(f"Task: {LONG}!")


def test_text_around_short_arguments_is_not() -> None:
    assert not after_call({"city": "Paris"}).hold("I live in Paris")


def test_arguments_of_a_tool_that_returned_are_forgotten() -> None:
    words, run_id = ModelWords(), uuid4()
    words.called(run_id, {"task": LONG})
    words.returned(run_id)
    assert (words.hold(LONG), len(words)) == (False, 0)


@pytest.mark.parametrize(
    "outputs",
    [
        AIMessage(LONG),
        [AIMessage(LONG)],
        {"messages": [AIMessage(LONG)]},
        Command(update={"messages": [AIMessage(LONG)]}),
        [Command(update={"messages": [AIMessage(LONG)]})],
        {"messages": [AIMessage(content=[{"type": "text", "text": LONG}])]},
        {"messages": [tool_calls(("delegate", {"task": LONG}))]},
    ],
    ids=["message", "list", "update", "command", "commands", "blocks", "calls"],
)
def test_what_a_model_said_is_its_words(outputs: Any) -> None:
    assert after_saying(outputs).hold(LONG)


@pytest.mark.parametrize(
    "outputs", [None, 7, "text", {"messages": [HumanMessage(LONG)]}, {"other": LONG}], ids=str
)
def test_other_outputs_are_not(outputs: Any) -> None:
    assert not after_saying(outputs).hold(LONG)


def test_short_phrase_of_a_model_may_be_typed_in_a_longer_text() -> None:
    assert not after_saying(AIMessage("Use tabs")).hold("Yes. Use tabs always")


def test_short_piece_of_what_a_model_said_may_be_typed() -> None:
    assert not after_saying(AIMessage("Should I always use tabs?")).hold("always use tabs")


def test_what_a_model_said_is_forgotten_when_its_run_ends() -> None:
    words = after_saying(AIMessage(LONG))
    words.ended("root")
    assert (words.hold(LONG), len(words)) == (False, 0)


def test_runs_whose_end_nobody_told_are_bounded() -> None:
    words = ModelWords()
    for number in range(3_000):
        words.said(str(number), AIMessage(LONG))
    assert len(words) == 1_000


# --- threads that are known to be two ---

DARK = "I prefer dark mode"
PROSE = f"People wrote that {DARK} when they work at night, and others wrote that they do not, "
PAGE = PROSE * 3


def held_in(thread: str, words: str, *, text: str = DARK, of: str = "a") -> bool:
    """Whether a text typed in a thread counts as a model's, while a tool of another one runs."""
    running = ModelWords()
    running.called(uuid4(), {"page": words}, of)
    return running.hold(text, thread)


def test_what_occurs_in_a_long_text_of_another_thread_may_be_typed() -> None:
    assert not held_in("b", PAGE)


@pytest.mark.parametrize(("thread", "of"), [("a", "a"), ("", "a"), ("b", ""), ("", "")])
def test_what_occurs_in_a_long_text_may_not_be_typed_where_threads_are_not_known_to_be_two(
    thread: str, of: str
) -> None:
    assert held_in(thread, PAGE, of=of)


@pytest.mark.parametrize(
    "words",
    [
        DARK,
        f"  {DARK}\n",
        f"Do this now: {DARK} please",
        f"1. Buy milk for the office and water the plants\n2. {DARK}\n3. Go home early today",
        f'{{"tasks": ["water all the plants of the office", "{DARK}", "go home early today"]}}',
        f"water all the plants of the office | {DARK} | go home early today and rest a while",
        f"Water all the plants of the office. {DARK}. Go home early today, and rest a while.",
    ],
    ids=["whole", "spaces", "a good part", "a list", "json", "a table", "sentences"],
)
def test_task_among_a_models_words_is_handed_on_to_another_thread_too(words: str) -> None:
    assert held_in("b", words)


def test_line_of_a_long_document_of_another_thread_may_be_typed() -> None:
    assert not held_in("b", f"{'A line of a document.' * 300}\n{DARK}\n{PAGE}")


def test_text_around_a_models_words_is_handed_on_to_another_thread_too() -> None:
    assert held_in("b", LONG, text=f"Task: {LONG}!")


@pytest.mark.parametrize(("thread", "held"), [("a", True), ("b", False)])
def test_long_text_within_what_a_model_said_is_its_words_in_the_same_thread(
    thread: str, held: bool
) -> None:
    words = ModelWords()
    words.said("root", AIMessage(f"I read that {LONG} {'and so on ' * 30}"), "a")
    assert words.hold(LONG, thread) is held
