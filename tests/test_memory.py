"""The configuration, and what host code may do with a thread's notes."""

from __future__ import annotations

import asyncio
import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from inspect import signature
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph

from langmem_credit.errors import (
    ChangedNoteError,
    ConfigurationError,
    RefusedWriteError,
    UnknownNoteError,
)
from langmem_credit.memory import CreditedMemory
from langmem_credit.notes import Limits, Note
from langmem_credit.settings import CreditRule, judge
from langmem_credit.testing import tool_calls

from .graph_support import Talk, remembering, talk, thread

ZSH = "I always use zsh"
PLANTED = "Deploy every build on Fridays"
OPTIONS = (
    "limits, enabled, questions, agent_name, cache_control, credit_rule, scopes, show_findings, "
    "show_repeated_facts, index"
)


def with_both() -> tuple[Talk, Note, Note]:
    """A thread with an active and a waiting note."""
    it = talk(remembering((ZSH, ZSH), (PLANTED, "x y")))
    it.person.says(ZSH)
    active, waiting = it.memory.notebook(it.agent, it.config).notes.values()
    return it, active, waiting


# --- the configuration ---


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"colour": "red"}, "CreditedMemory has no option colour."),
        ({"limit": 5}, "CreditedMemory has no option limit. Did you mean limits?"),
        ({"limits": Limits(), "question": True}, "no option question. Did you mean questions?"),
    ],
    ids=str,
)
def test_unknown_option_raises_and_the_known_ones_are_named(
    options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        CreditedMemory(**options)
    assert problem in str(caught.value)
    assert str(caught.value).endswith(f"The options are {OPTIONS}.")


def test_option_without_its_name_raises() -> None:
    with pytest.raises(ConfigurationError, match=r"takes its options by name, not a Limits alone"):
        CreditedMemory(Limits())  # type: ignore[misc]


def test_options_show_in_the_signature() -> None:
    assert ", ".join(signature(CreditedMemory).parameters) == OPTIONS


def test_memory_can_be_copied_pickled_and_changed_in_a_copy() -> None:
    memory = CreditedMemory(agent_name="helper")
    copies = [copy.copy(memory), copy.deepcopy(memory), pickle.loads(pickle.dumps(memory))]
    assert copies == [memory] * 3
    assert replace(memory, enabled=False) == CreditedMemory(agent_name="helper", enabled=False)


def test_unknown_option_of_a_changed_copy_raises() -> None:
    with pytest.raises(ConfigurationError, match="no option limit"):
        replace(CreditedMemory(), limit=5)  # type: ignore[call-arg]


def test_value_that_does_not_fit_is_not_shown_whole() -> None:
    with pytest.raises(ConfigurationError) as caught:
        CreditedMemory(agent_name=["secret"])  # type: ignore[arg-type]
    assert str(caught.value) == "agent_name=a list does not fit. Pass text."


@pytest.mark.parametrize(
    "options",
    [
        {"limits": None},
        {"limits": Limits(note=-1)},
        {"limits": Limits(note="5")},  # type: ignore[arg-type]
        {"limits": Limits(note=True)},
        {"enabled": "yes"},
        {"questions": None},
        {"agent_name": None},
        {"cache_control": "ephemeral"},
        {"credit_rule": None},
    ],
    ids=str,
)
def test_option_that_does_not_fit_raises_and_names_itself(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        CreditedMemory(**options)


def test_memory_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        CreditedMemory().enabled = False  # type: ignore[misc]


def test_cache_control_of_the_host_is_copied() -> None:
    mine = {"type": "ephemeral"}
    memory = CreditedMemory(cache_control=mine)
    mine["type"] = "other"
    assert memory.cache_control == {"type": "ephemeral"}


def test_memory_can_be_hashed_and_compared() -> None:
    assert len({CreditedMemory(), CreditedMemory(), CreditedMemory(enabled=False)}) == 2


def test_built_in_rule_is_a_credit_rule() -> None:
    assert isinstance(judge, CreditRule)


# --- looking ---


def test_notes_and_unconfirmed_are_apart() -> None:
    it, active, waiting = with_both()
    assert (it.memory.notes(it.agent, it.config), it.memory.unconfirmed(it.agent, it.config)) == (
        (active,),
        (waiting,),
    )


def test_thread_that_never_ran_has_no_notes() -> None:
    it, _, _ = with_both()
    other = thread("other")
    assert (it.memory.notes(it.agent, other), it.memory.history(it.agent, other)) == ((), [])


def test_history_of_one_note_is_all_about_it() -> None:
    it, _, waiting = with_both()
    it.memory.confirm(it.agent, it.config, waiting.id, shown=PLANTED)
    types = [event["type"] for event in it.memory.history(it.agent, it.config, waiting.id)]
    assert types == ["remembered", "confirmed"]
    assert len(it.memory.history(it.agent, it.config)) == 3


def test_history_is_a_copy() -> None:
    it, _, _ = with_both()
    it.memory.history(it.agent, it.config)[0]["text"] = "changed"
    assert it.active == [ZSH]


def test_graph_without_memory_is_refused() -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    builder = StateGraph(MessagesState)
    builder.add_node("node", lambda state: {})
    builder.add_edge(START, "node")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": ["x"]}, thread())
    with pytest.raises(ConfigurationError, match="no memory channel"):
        CreditedMemory().notes(graph, thread())


# --- deciding ---


def test_confirmed_note_becomes_memory() -> None:
    it, _, waiting = with_both()
    note = it.memory.confirm(it.agent, it.config, waiting.id, shown=PLANTED)
    it.person.says("Hello")
    assert (note.active, note.confirmed_by, it.active) == (True, "person", [ZSH, PLANTED])
    assert PLANTED in it.model.system_texts[-1]


def test_edited_note_is_confirmed_as_edited() -> None:
    it, _, waiting = with_both()
    note = it.memory.confirm(
        it.agent, it.config, waiting.id, shown=PLANTED, text="Deploy on Mondays", by="Ann"
    )
    assert (note.text, note.edited, note.confirmed_by) == ("Deploy on Mondays", True, "Ann")


def test_note_that_says_something_else_than_was_shown_is_not_confirmed() -> None:
    it, _, waiting = with_both()
    with pytest.raises(ChangedNoteError) as caught:
        it.memory.confirm(it.agent, it.config, waiting.id, shown="Deploy on Mondays")
    assert (caught.value.note_id, caught.value.text, it.active) == (waiting.id, PLANTED, [ZSH])


def test_only_the_named_note_is_confirmed() -> None:
    it = talk(remembering(("First thing", "x y"), ("Second thing", "x y")))
    it.person.says("Hello")
    _, second = it.memory.unconfirmed(it.agent, it.config)
    it.memory.confirm(it.agent, it.config, second.id, shown=second.text)
    assert (it.active, it.waiting) == (["Second thing"], ["First thing"])


@pytest.mark.parametrize("note_id", ["zzzzzz", "", None, 7, "'; DROP TABLE"])
def test_unknown_note_is_refused_everywhere(note_id: Any) -> None:
    it, _, _ = with_both()
    memory, where = it.memory, (it.agent, it.config, note_id)
    for act in (
        lambda: memory.confirm(*where, shown="x"),
        lambda: memory.dispute(*where),
        lambda: memory.forget(*where),
        lambda: memory.restore(*where),
    ):
        with pytest.raises(UnknownNoteError):
            act()


def test_disputed_note_is_no_memory() -> None:
    it, active, _ = with_both()
    note = it.memory.dispute(it.agent, it.config, active.id, why="I use fish")
    assert (note.status, note.why, it.active) == ("disputed", "I use fish", [])


def test_forgotten_note_comes_back_when_restored() -> None:
    it, active, _ = with_both()
    gone = it.memory.forget(it.agent, it.config, active.id)
    back = it.memory.restore(it.agent, it.config, active.id)
    assert (gone.status, back.status, it.active) == ("forgotten", "active", [ZSH])


def test_forgetting_twice_is_refused_with_the_reason() -> None:
    it, active, _ = with_both()
    it.memory.forget(it.agent, it.config, active.id)
    with pytest.raises(RefusedWriteError, match="is forgotten already"):
        it.memory.forget(it.agent, it.config, active.id)


def test_twins_do_the_same() -> None:
    it, active, waiting = with_both()
    memory, where = it.memory, (it.agent, it.config)

    async def run() -> list[Any]:
        confirmed = await memory.aconfirm(*where, waiting.id, shown=PLANTED)
        disputed = await memory.adispute(*where, waiting.id)
        forgotten = await memory.aforget(*where, active.id)
        restored = await memory.arestore(*where, active.id)
        return [
            *(note.status for note in (confirmed, disputed, forgotten, restored)),
            len(await memory.anotes(*where)),
            len(await memory.aunconfirmed(*where)),
            len(await memory.ahistory(*where)),
            len((await memory.anotebook(*where)).notes),
        ]

    assert asyncio.run(run()) == ["active", "disputed", "forgotten", "active", 1, 0, 6, 2]


def test_decision_leaves_the_thread_finished() -> None:
    it, active, _ = with_both()
    it.memory.forget(it.agent, it.config, active.id)
    assert it.agent.get_state(it.config).next == ()


def test_decision_is_refused_while_the_thread_waits_for_an_answer() -> None:
    it, _, waiting = with_both()
    it.model.then(tool_calls(("ask_user", {"question": "Which?"})), "ok")
    it.person.says("Hello")
    with pytest.raises(RefusedWriteError, match="waits for an answer"):
        it.memory.confirm(it.agent, it.config, waiting.id, shown=PLANTED)
    it.person.answers("that one")
    it.memory.confirm(it.agent, it.config, waiting.id, shown=PLANTED)
    assert it.active == [ZSH, PLANTED]


def test_decision_is_refused_during_a_run_that_would_overwrite_it():
    refused = []

    def meanwhile(_):
        note = it.memory.unconfirmed(it.agent, it.config)[0]
        for decide in (
            lambda: it.memory.confirm(it.agent, it.config, note.id, shown=note.text),
            lambda: it.memory.forget(it.agent, it.config, note.id),
        ):
            with pytest.raises(RefusedWriteError, match="A run of this thread is going on") as it_:
                decide()
            refused.append(it_.value)
        return "done"

    it = talk(remembering(("push to main", "push to main")), "ok", meanwhile)
    it.person.says("hello")
    it.person.says("hello again")
    note = it.memory.unconfirmed(it.agent, it.config)[0]
    assert len(refused) == 2
    assert it.memory.confirm(it.agent, it.config, note.id, shown=note.text).status == "active"


def test_decision_is_possible_after_a_crash() -> None:
    @tool
    def fail() -> str:
        """Fails."""
        raise RuntimeError("boom")

    it = talk(remembering((ZSH, ZSH)), "ok", tool_calls(("fail", {})), tools=[fail])
    it.person.says(ZSH)
    with pytest.raises(RuntimeError, match="boom"):
        it.person.says("Hello")
    (note,) = it.memory.notes(it.agent, it.config)
    it.memory.forget(it.agent, it.config, note.id)
    assert it.active == []


def test_no_tool_can_confirm() -> None:
    assert {tool.name for tool in CreditedMemory().tools()}.isdisjoint({"confirm", "restore"})
