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
