"""Compaction of the messages: digest, notes, findings and what was typed survive it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import tools_condition
from langgraph.store.memory import InMemoryStore

from langmem_credit.errors import ConfigurationError, UnknownSessionError
from langmem_credit.memory import CreditedMemory
from langmem_credit.notebook import fold
from langmem_credit.notes import Limits
from langmem_credit.recall import FINDINGS_HEAD
from langmem_credit.state import LEDGER, RUN, MemoryInput, MemoryState
from langmem_credit.testing import ScriptedChatModel, ScriptedPerson, tool_calls
from tests.graph_support import Talk, remembering, talk
from tests.notebook_support import texts
from tests.sharing_support import USER

ZSH = "I always use zsh"
TABS = "I prefer tabs over spaces"
PLANTED = "I always use fish"
NINE = "The build takes 9 minutes"
CALLS = 60


@tool
def look(path: str) -> str:
    """Looks at a file."""
    return f"{path}: " + "some words " * 20


def looking(number: int) -> AIMessage:
    return tool_calls(("look", {"path": f"src/part{number}.py"}))


def summarizing(keep: int = 4, at: int = 60, summary: str = PLANTED) -> SummarizationMiddleware:
    return SummarizationMiddleware(
        ScriptedChatModel([summary] * 99), trigger=("messages", at), keep=("messages", keep)
    )


def paired(messages: Sequence[Any]) -> bool:
    """True where each tool call has one answer after it, and each answer its call before it."""
    asked: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in asked:
                return False
            asked.remove(message.tool_call_id)
        elif asked:
            return False
        if isinstance(message, AIMessage):
            asked += [call["id"] or "" for call in message.tool_calls]
    return not asked


def agent(
    memory: CreditedMemory, compactor: Any, *steps: Any, saver: Any = None, **more: Any
) -> Talk:
    model = ScriptedChatModel([remembering((ZSH, ZSH)), "Noted.", *steps])
    graph = create_agent(
        model,
        [look],
        middleware=[compactor, memory.middleware()],
        system_prompt="Be kind.",
        checkpointer=saver or InMemorySaver(),
        **more,
    )
    person = ScriptedPerson(graph)
    person.config["recursion_limit"] = 500
    return Talk(memory, model, graph, person)


def long_run(*last: Any) -> list[Any]:
    """Steps of one run of sixty model calls, the last ones given."""
    return [*map(looking, range(CALLS - len(last))), *last]


def compactions(model: ScriptedChatModel) -> list[int]:
    """Calls of the model whose messages begin anew, the first call aside."""
    first = [next(m for m in call if m.type != "system").id for call in model.received]
    return [n for n in range(1, len(first)) if first[n] != first[n - 1]]


# --- a long run ---


def test_sixty_calls_have_one_system_message_through_a_compaction() -> None:
    it = agent(CreditedMemory(), summarizing(), *long_run("Done"))
    it.person.says(ZSH)
    it.person.says("Look at everything")
    calls = it.model.system_texts[2:]
    assert len(calls) == CALLS
    assert len(compactions(it.model)) == 2
    assert set(calls) == {calls[0]}
    assert ZSH in calls[0]
    assert calls[0].startswith("Be kind.")
    assert all(paired(messages) for messages in it.model.received)


def test_sixty_calls_with_findings_change_the_system_message_at_the_compaction_alone() -> None:
    memory = CreditedMemory(show_findings=True)
    compactor = memory.compacting(summarizing(at=80), lambda gone, summary: [NINE])
    it = agent(memory, compactor, *long_run("Done"))
    it.person.says(ZSH)
    it.person.says("Look at everything")
    (at,) = compactions(it.model)
    calls = it.model.system_texts
    assert 20 < at < 55
    assert {NINE in text for text in calls[2:at]} == {False}
    assert set(calls[at:]) == {calls[at]}
    assert ZSH in calls[at]
    assert NINE in calls[at]
    assert calls[at].startswith(calls[at - 1].removesuffix("\n</kept_notes>"))


def test_words_typed_before_the_compaction_are_still_heard_after_it() -> None:
    it = agent(CreditedMemory(), summarizing(), *long_run(remembering((TABS, TABS)), "Done"))
    it.person.says(ZSH)
    it.person.says(TABS)
    assert not any(TABS in str(message.content) for message in it.model.received[-2][1:])
    assert it.active == [ZSH, TABS]


def test_summary_is_not_heard() -> None:
    planted = remembering((PLANTED, PLANTED))
    it = agent(CreditedMemory(), summarizing(), *long_run(planted, "Done"))
    it.person.says(ZSH)
    it.person.says("Look at everything")
    assert any(PLANTED in str(message.content) for message in it.model.received[-2])
    assert (it.active, it.waiting) == ([ZSH], [PLANTED])


def test_note_kept_just_before_a_compaction_holds_and_leaves_no_orphan() -> None:
    steps = [looking(0), remembering((TABS, TABS)), looking(1), "Done"]
    it = agent(CreditedMemory(), summarizing(keep=1, at=8), *steps)
    it.person.says(ZSH)
    it.person.says(TABS)
    assert compactions(it.model)
    assert all(paired(messages) for messages in it.model.received)
    assert it.active == [ZSH, TABS]


def test_findings_before_a_compaction_are_found_after_it() -> None:
    finding = remembering((NINE, ""), kind="finding")
    steps = long_run(tool_calls(("recall", {"query": "What did we conclude?"})), "Done")
    it = agent(CreditedMemory(), summarizing(), finding, *steps[1:])
    it.person.says(ZSH)
    it.person.says("Time the build")
    assert NINE in it.tool_answers[-1].split(FINDINGS_HEAD)[1]
    assert not any(NINE in str(message.content) for message in it.model.received[-2])


def test_files_touched_before_a_compaction_stand_in_the_outcome() -> None:
    memory = CreditedMemory()
    it = agent(memory, memory.compacting(summarizing(at=20)), *map(looking, range(12)), "Done")
    it.person.says(ZSH)
    it.person.says("Look at everything")
    closed = memory.close_session(it.agent, it.config)
    assert closed.files == tuple(f"src/part{n}.py" for n in range(12))
    assert sum(event["type"] == "touched" for event in it.person.state[LEDGER]) == 1


# --- findings at the compaction ---


def compacted(find: Any, memory: CreditedMemory | None = None, **more: Any) -> Talk:
    memory = memory or CreditedMemory()
    compactor = memory.compacting(summarizing(at=8), find)
    it = agent(memory, compactor, *map(looking, range(4)), "Done", **more)
    it.person.says(ZSH)
    it.person.says("Look at everything")
    assert compactions(it.model)
    return it


def findings(it: Talk) -> list[str]:
    return texts(it.memory.notebook(it.agent, it.config).findings)


def test_compactor_gets_what_goes_and_the_summary() -> None:
    got: list[Any] = []

    def find(gone: Any, summary: str) -> list[str]:
        got.append(([message.type for message in gone], summary))
        return []

    compacted(find)
    gone, summary = got[0]
    assert gone[:2] == ["human", "ai"]
    assert PLANTED in summary


def test_findings_of_the_compactor_are_the_agents_own() -> None:
    it = compacted(lambda gone, summary: [NINE, "Always push to main"])
    assert findings(it) == [NINE, "Always push to main"]
    assert (it.active, it.waiting) == ([ZSH], [])
    assert "2 working notes of the agent" in it.model.system_texts[-1]


def test_findings_of_the_compactor_are_kept_once() -> None:
    memory = CreditedMemory()
    compactor = memory.compacting(summarizing(at=8), lambda gone, summary: [NINE])
    it = agent(memory, compactor, *map(looking, range(20)), "Done")
    it.person.says(ZSH)
    it.person.says("Look at everything")
    assert len(compactions(it.model)) > 1
    assert findings(it) == [NINE]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ([], []),
        (None, []),
        (NINE, [NINE]),
        (7, []),
        ({"a": NINE}, []),
        ([NINE, 7, "", None, " \n"], [NINE]),
        (["x" * 501, NINE], [NINE]),
        ([f"Part {n} is slow" for n in range(20)], [f"Part {n} is slow" for n in range(8)]),
    ],
    ids=["none", "nothing", "one text", "number", "mapping", "mixed", "too long", "too many"],
)
def test_whatever_the_compactor_finds_is_checked(answer: Any, kept: list[str]) -> None:
    assert findings(compacted(lambda gone, summary: answer)) == kept


def test_secret_that_the_compactor_found_is_taken_out() -> None:
    key = "ghp_" + "a1B2" * 9
    it = compacted(lambda gone, summary: [f"The key is {key}"])
    assert key not in str(it.person.state[LEDGER])


def test_findings_of_the_compactor_share_the_room_of_what_waits() -> None:
    memory = CreditedMemory(limits=Limits(waiting_bytes=60))
    it = compacted(lambda gone, summary: [f"Part {n} is slow {'x' * 30}" for n in range(3)], memory)
    assert len(findings(it)) == 1


def test_compactor_that_fails_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def find(gone: Any, summary: str) -> list[str]:
        raise ValueError("secret words")

    with caplog.at_level(logging.WARNING, "langmem_credit"):
        it = compacted(find)
    assert findings(it) == []
    assert "find failed (ValueError)" in caplog.text
    assert "secret words" not in caplog.text


def test_asynchronous_find_is_refused_in_a_run_that_is_not() -> None:
    async def find(gone: Any, summary: str) -> list[str]:
        return [NINE]

    with pytest.raises(ConfigurationError, match="run the graph with ainvoke"):
        compacted(find)


def test_run_that_begins_with_a_compaction_hears_what_was_typed() -> None:
    memory = CreditedMemory()
    compactor = memory.compacting(summarizing(keep=1, at=6))
    it = agent(memory, compactor, "ok", remembering((TABS, TABS)), "Done")
    it.person.says(ZSH)
    it.person.says("Hello")
    it.person.says(TABS, "And now something else.")
    assert compactions(it.model)
    assert TABS in [one["text"] for one in it.person.state[RUN]["heard"]]


def test_wrapped_middleware_keeps_its_name_and_the_original_is_left_alone() -> None:
    memory, original = CreditedMemory(), summarizing()
    wrapped = memory.compacting(original)
    assert (wrapped.name, type(original)) == ("SummarizationMiddleware", SummarizationMiddleware)
    assert isinstance(wrapped, SummarizationMiddleware)


class Elsewhere(AgentMiddleware[Any, Any, Any]):
    """Compacts around the model call."""


@pytest.mark.parametrize(
    ("compactor", "problem"),
    [
        (7, "takes a middleware or a node"),
        (SummarizationMiddleware, "not the class SummarizationMiddleware"),
        (Elsewhere(), "Elsewhere does not compact before the model"),
    ],
)
def test_what_is_no_compactor_is_refused(compactor: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        CreditedMemory().compacting(compactor)


def test_find_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="find=7 cannot be called"):
        CreditedMemory().compacting(summarizing(), 7)  # type: ignore[arg-type]


# --- files, restarts, branches ---


def test_long_run_in_a_file_goes_on_in_another_process_state(tmp_path: Any) -> None:
    path = str(tmp_path / "sessions.sqlite")
    memory = CreditedMemory()

    def crash(_: Any) -> Any:
        raise ConnectionError("the model is gone")

    def open_agent(saver: Any, *steps: Any) -> Talk:
        compactor = memory.compacting(summarizing(at=8), lambda gone, summary: [NINE])
        return agent(memory, compactor, *steps, saver=saver)

    with SqliteSaver.from_conn_string(path) as saver:
        it = open_agent(saver, *map(looking, range(4)), crash)
        it.person.says(ZSH)
        with pytest.raises(ConnectionError):
            it.person.says(TABS)
    with SqliteSaver.from_conn_string(path) as saver:
        it = open_agent(saver)
        it.model.script[:] = ["Done", tool_calls(("recall", {"kind": "finding"})), "Done"]
        it.agent.invoke(None, it.config)
        assert ZSH in it.model.system_texts[-1]
        it.person.says("What did we find?")
        assert NINE in it.tool_answers[-1]


def test_fork_from_before_the_compaction_has_none_of_its_findings() -> None:
    memory = CreditedMemory()
    compactor = memory.compacting(summarizing(at=8), lambda gone, summary: [NINE])
    it = agent(memory, compactor, *map(looking, range(4)), "Done", "Other")
    it.person.says(ZSH)
    before = it.agent.get_state(it.config).config
    it.person.says("Look at everything")
    assert findings(it) == [NINE]
    it.agent.invoke({"messages": [("user", "Hello")]}, before)
    assert (findings(it), it.active) == ([], [ZSH])


async def test_long_run_without_blocking(tmp_path: Any) -> None:
    memory = CreditedMemory(show_findings=True)

    async def find(gone: Any, summary: str) -> list[str]:
        return [NINE]

    compactor = memory.compacting(summarizing(at=80), find)
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "sessions.sqlite")) as saver:
        steps = long_run(remembering((TABS, TABS)), "Done")
        it = agent(memory, compactor, *steps, saver=saver)
        await it.person.asays(ZSH)
        await it.person.asays(TABS)
        (at,) = compactions(it.model)
        calls = it.model.system_texts
        assert (len(set(calls[2:at])), set(calls[at:])) == (1, {calls[at]})
        assert NINE in calls[at]
        assert all(paired(messages) for messages in it.model.received)
        notes = await memory.anotes(it.agent, it.config)
        assert texts(notes) == [ZSH, TABS]


async def test_find_that_fails_without_blocking_stops_nothing() -> None:
    async def find(gone: Any, summary: str) -> list[str]:
        raise ValueError

    memory = CreditedMemory()
    compactor = memory.compacting(summarizing(at=8), find)
    it = agent(memory, compactor, *map(looking, range(4)), "Done")
    await it.person.asays(ZSH)
    await it.person.asays("Look at everything")
    assert compactions(it.model)
    assert findings(it) == []


def test_digest_of_shared_scopes_is_rendered_again_at_the_compaction() -> None:
    memory = CreditedMemory(scopes=[USER])
    compactor = memory.compacting(summarizing(at=80), lambda gone, summary: [NINE])
    it = agent(memory, compactor, *long_run("Done"), store=InMemoryStore())
    it.person.config["configurable"]["user_id"] = "ann"
    it.person.says(ZSH)
    it.person.says("Look at everything")
    (at,) = compactions(it.model)
    calls = it.model.system_texts
    assert (len(set(calls[2:at])), set(calls[at:])) == (1, {calls[at]})
    assert ZSH in calls[at]
    assert "1 working note of the agent" in calls[at]
    assert texts(fold(it.person.state[LEDGER]).findings) == [NINE]


# --- in a graph of nodes ---


def compacting_graph(
    memory: CreditedMemory,
    model: ScriptedChatModel,
    node: Any,
    state: type[Any] = MemoryState,
    shown: str = "messages",
    **more: Any,
) -> Any:
    """A graph that compacts before each call of the model."""
    bound = model.bind_tools([*memory.tools(), look])

    def call_model(values: Any) -> dict[str, Any]:
        system = memory.fold("Be kind.", values)
        return {"messages": [bound.invoke([system, *values[shown]])]}

    builder = StateGraph(state, input_schema=MemoryInput)
    builder.add_node("listen", memory.listen)
    builder.add_node("compact", node)
    builder.add_node("model", call_model)
    builder.add_node("tools", memory.tool_node([look]))
    builder.add_node("settle", memory.settle)
    builder.add_edge(START, "listen")
    builder.add_edge("listen", "compact")
    builder.add_edge("compact", "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "settle")
    builder.add_edge("settle", "compact")
    return memory.bind(builder.compile(checkpointer=InMemorySaver(), **more))


def halving(state: MemoryState) -> dict[str, Any]:
    """A host's own compactor: past eighty messages, a marked summary and the last four."""
    messages = state["messages"]
    if len(messages) < 80:
        return {}
    summary = HumanMessage(PLANTED, additional_kwargs={"lc_source": "summarization"})
    return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), summary, *messages[-4:]]}


def removing(state: MemoryState) -> dict[str, Any]:
    """Another: past eighty messages, all but the last four are removed one by one."""
    messages = state["messages"]
    if len(messages) < 80:
        return {}
    return {"messages": [RemoveMessage(message.id or "") for message in messages[:-4]]}


def rewriting(state: MemoryState) -> dict[str, Any]:
    """Another, as langmem's: once it has a summary, it is written anew at each step."""
    messages = state["messages"]
    shortened = len(messages) >= 80
    if not shortened and messages[0].type != "system":
        return {}
    left = messages[-4:] if shortened else messages[1:]
    return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), SystemMessage(PLANTED), *left]}


@pytest.mark.parametrize("wrapped", [False, True], ids=["as it is", "wrapped"])
@pytest.mark.parametrize("node", [halving, removing, rewriting])
def test_long_run_in_a_graph_of_nodes(node: Any, wrapped: bool) -> None:
    memory = CreditedMemory()
    model = ScriptedChatModel([remembering((ZSH, ZSH)), "Noted.", *long_run("Done")])
    graph = compacting_graph(memory, model, memory.compacting(node) if wrapped else node)
    person = ScriptedPerson(graph)
    person.config["recursion_limit"] = 500
    person.says(ZSH)
    person.says("Look at everything")
    calls = model.system_texts[2:]
    assert len(calls) == CALLS
    assert len(compactions(model)) == 1
    assert set(calls) == {calls[0]}
    assert ZSH in calls[0]
    assert all(paired(messages) for messages in model.received)


@pytest.mark.parametrize("wrapped", [False, True], ids=["as it is", "wrapped"])
@pytest.mark.parametrize("node", [halving, removing, rewriting])
def test_note_of_the_run_shows_from_the_compaction_on(node: Any, wrapped: bool) -> None:
    memory = CreditedMemory()
    # Kept after the compaction, so that it shows in the next run only.
    late = [remembering(("Something else", "")), looking(98), looking(99), "Done"]
    steps = [remembering((ZSH, ZSH)), "Noted.", remembering((TABS, TABS)), *long_run(*late)]
    model = ScriptedChatModel(steps)
    graph = compacting_graph(memory, model, memory.compacting(node) if wrapped else node)
    person = ScriptedPerson(graph)
    person.config["recursion_limit"] = 500
    person.says(ZSH)
    person.says(TABS)
    (at,) = compactions(model)
    calls = model.system_texts
    assert {TABS in text for text in calls[2:at]} == {False}
    assert set(calls[at:]) == {calls[at]}
    assert TABS in calls[at]


# --- langmem's node ---


def langmem_node(**more: Any) -> Any:
    with warnings.catch_warnings():
        # It imports names that this LangGraph calls deprecated.
        warnings.simplefilter("ignore")
        from langmem.short_term import SummarizationNode
    return SummarizationNode(
        model=ScriptedChatModel([PLANTED] * 99),
        max_tokens=3_000,
        max_tokens_before_summary=2_500,
        max_summary_tokens=50,
        **more,
    )


class LangmemState(MemoryState):
    """With langmem's account of what it summarised, and what the model is shown of the messages."""

    context: dict[str, Any]
    summarized_messages: list[Any]


@pytest.mark.parametrize("shown", ["messages", "summarized_messages"])
@pytest.mark.parametrize("wrapped", [False, True], ids=["as it is", "wrapped"])
def test_langmems_node_leaves_digest_notes_and_heard_words(shown: str, wrapped: bool) -> None:
    node = langmem_node(output_messages_key=shown)
    memory = CreditedMemory()
    if wrapped:
        node = memory.compacting(node, lambda gone, summary: [NINE] if gone else [])
    steps = [remembering((ZSH, ZSH)), "Noted."]
    steps += long_run(remembering((PLANTED, PLANTED)), remembering((TABS, TABS)), "Done")
    model = ScriptedChatModel(steps)
    graph = compacting_graph(memory, model, node, LangmemState, shown)
    person = ScriptedPerson(graph)
    person.config["recursion_limit"] = 500
    person.says(ZSH)
    person.says(TABS)
    calls = model.system_texts[2:]
    assert len(calls) == CALLS
    assert any(PLANTED in str(message.content) for message in model.received[-1][1:-1])
    assert all(ZSH in text for text in calls)
    assert all(paired(messages) for messages in model.received)
    assert texts(memory.notes(graph, person.config)) == [ZSH, TABS]
    assert texts(memory.unconfirmed(graph, person.config)) == [PLANTED]
    changes = [n for n in range(1, CALLS) if calls[n] != calls[n - 1]]
    assert len(changes) == wrapped
    assert texts(memory.notebook(graph, person.config).findings) == [NINE] * wrapped
    assert all("1 working note" in calls[n] for n in changes)


async def test_langmems_node_without_blocking() -> None:
    node = langmem_node(output_messages_key="messages")
    memory = CreditedMemory()

    async def find(gone: Any, summary: str) -> list[str]:
        return [NINE]

    model = ScriptedChatModel([remembering((ZSH, ZSH)), "Noted.", *long_run("Done")])
    graph = compacting_graph(memory, model, memory.compacting(node, find), LangmemState)
    person = ScriptedPerson(graph)
    person.config["recursion_limit"] = 500
    await person.asays(ZSH)
    await person.asays("Look at everything")
    notebook = await memory.anotebook(graph, person.config)
    assert texts(notebook.findings) == [NINE]
    assert all(ZSH in text for text in model.system_texts[2:])


def test_run_without_a_compaction_costs_no_checkpoint_more() -> None:
    counts = []
    for compactor in (summarizing(), CreditedMemory().compacting(summarizing())):
        it = talk(before=[compactor])
        it.person.says("Hello")
        counts.append(len(list(it.agent.get_state_history(it.config))))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("shared", [True, False], ids=["store", "no store"])
@pytest.mark.parametrize("wrapped", [True, False])
def test_session_stays_its_persons_through_a_compaction(shared: bool, wrapped: bool) -> None:
    memory = CreditedMemory(scopes=[USER] if shared else [])
    shorten: Any = summarizing(keep=2, at=4, summary="They talked.")
    shorten = memory.compacting(shorten, lambda _, __: []) if wrapped else shorten
    graph = create_agent(
        ScriptedChatModel(["Yes."] * 9),
        middleware=[shorten, memory.middleware()],
        checkpointer=InMemorySaver(),
        store=InMemoryStore() if shared else None,
    )
    ann: Any = {"configurable": {"user_id": "ann"}}
    for words in ("Plan my divorce", "and the move", "thanks", "bye"):
        ScriptedPerson(graph, "t", user_id="ann").says(words)
        assert [one.id for one in memory.sessions(graph, ann)] == ["t"]
    *_, last = memory.search_sessions(graph, ann, "divorce")
    assert last.found == 1
    for other in ({"user_id": "bob"}, {} if not shared else {"user_id": "anna"}):
        other_config: Any = {"configurable": other}
        assert memory.sessions(graph, other_config) == ()
        with pytest.raises(UnknownSessionError):
            memory.read_session(graph, other_config, "t")
    memory.delete_session(graph, ann, "t")
    assert graph.checkpointer.get_tuple({"configurable": {"thread_id": "t"}}) is None
