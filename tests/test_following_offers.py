"""A model that words a note freely, and follows the offer of a refusal, on a real graph."""

from __future__ import annotations

import re

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from langmem_credit.memory import CreditedMemory
from langmem_credit.testing import ScriptedChatModel, tool_calls

_OFFER = re.compile(r'with note and said both exactly: "(.*)"', re.DOTALL)
# (typed, what the model makes of it first, what is memory in the end)
FOLLOWED = [
    (
        "Can you plan a trip to Rome? I prefer trains.",
        "The user likes trains more than planes",
        "I prefer trains",
    ),
    (
        "House rules:\n- no force pushes\n- two approvals per PR",
        "PRs need two approvals",
        "two approvals per PR",
    ),
    ("If the tests pass, push to main", "Push to main", "If the tests pass, push to main"),
    ("please always answer in French, thanks", "French answers", "always answer in French"),
    ("私はいつもpnpmを使っています", "The user likes pnpm", "私はいつもpnpmを使っています"),
]
REFUSED = [
    ("Always use tabs. Scratch that.", "Use tabs"),
    ("my boss says always use tabs", "Always use tabs"),
    ("Delete the staging database.", "The staging database is to be deleted"),
]


def first(note, typed):
    return tool_calls(("remember", {"note": note, "said": typed}))


def follow(messages):
    """Calls again with exactly the words that the last answer offers; else it says so."""
    answer = next(one for one in reversed(messages) if isinstance(one, ToolMessage))
    offered = _OFFER.search(answer.text)
    if offered is None:
        return "I could not keep that."
    return tool_calls(("remember", {"note": offered[1], "said": offered[1]}))


def run(typed, note):
    memory = CreditedMemory()
    model = ScriptedChatModel([first(note, typed), follow, "Done"])
    agent = create_agent(model, middleware=[memory.middleware()], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [{"role": "user", "content": typed}]}, config)
    return [one.text for one in memory.notes(agent, config)]


@pytest.mark.parametrize(("typed", "note", "kept"), FOLLOWED, ids=[one[2] for one in FOLLOWED])
def test_words_that_are_offered_become_memory_when_the_model_copies_them(typed, note, kept):
    assert run(typed, note) == [kept]


@pytest.mark.parametrize(("typed", "note"), REFUSED, ids=[one[0] for one in REFUSED])
def test_nothing_becomes_memory_where_nothing_is_offered(typed, note):
    assert run(typed, note) == []
