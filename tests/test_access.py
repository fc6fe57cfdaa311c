"""What a host may pass wrongly to the memory's methods: each error names the remedy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from langmem_credit.errors import ConfigurationError, UnknownNoteError, named
from langmem_credit.memory import CreditedMemory
from langmem_credit.state import MemoryInput, MemoryState
from langmem_credit.testing import ScriptedChatModel, ScriptedPerson

from .graph_support import Talk, node_graph, remembering, talk, thread

ZSH = "I always use zsh"
MEMORY = CreditedMemory()
LOOKING = ("notebook", "notes", "unconfirmed", "history")
DECIDING = ("confirm", "dispute", "forget", "restore")
METHODS = [*LOOKING, *DECIDING]
BOTH = [*METHODS, *(f"a{method}" for method in METHODS)]
FORM = '{"configurable": {"thread_id": "…"}}'


def call(method: str, graph: Any, config: Any, note_id: Any = "k3m9xz") -> Any:
    """Calls a method of the memory, or its twin, as a host would."""
    plain = method.removeprefix("a")
    more = [note_id] if plain in DECIDING else []
    options = {"shown": ZSH} if plain == "confirm" else {}
    answer = getattr(MEMORY, method)(graph, config, *more, **options)
    return asyncio.run(answer) if method.startswith("a") else answer


def refused(method: str, graph: Any, config: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        call(method, graph, config)
    return str(caught.value)


@pytest.fixture(scope="module")
def it() -> Talk:
    """A thread with one note, that the tests leave as it is."""
    it = talk(remembering((ZSH, ZSH)))
    it.person.says(ZSH)
    return it


# --- the config ---


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize(
    "config",
    [{}, {"configurable": {}}, {"configurable": None}, {"thread_id": "1"}, {"configurable": "1"}],
    ids=str,
)
def test_config_without_a_thread_is_refused(it: Talk, method: str, config: Any) -> None:
    assert refused(method, it.agent, config) == (
        f"memory.{method}() finds no thread in this config. Pass the one that the graph runs with: "
        f"{FORM}."
    )


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize(
    ("config", "shown"),
    [(None, "None"), ("1", "'1'"), (1, "1"), ([], "a list"), (MEMORY, "a CreditedMemory")],
    ids=str,
)
def test_config_that_is_none_is_refused(it: Talk, method: str, config: Any, shown: str) -> None:
    assert refused(method, it.agent, config) == (
        f"memory.{method}() needs the config of a thread, not {shown}. Pass the one that the graph "
        f"runs with: {FORM}."
    )


@pytest.mark.parametrize(
    ("thread_id", "shown"),
    [(None, "None"), ("", "''"), (True, "True"), ({}, "a dict"), (["1"], "a list")],
    ids=str,
)
def test_thread_that_has_no_name_is_refused(it: Talk, thread_id: Any, shown: str) -> None:
    assert refused("notes", it.agent, {"configurable": {"thread_id": thread_id}}) == (
        f"memory.notes() finds no thread in this config: thread_id is {shown}. Name the "
        f"conversation by a text of its own: {FORM}."
    )


@pytest.mark.parametrize("thread_id", ["1", 1], ids=repr)
def test_number_names_the_thread_that_langgraph_makes_of_it(it: Talk, thread_id: Any) -> None:
    config = {"configurable": {"thread_id": thread_id}}
    assert [note.text for note in MEMORY.notes(it.agent, config)] == [ZSH]


def test_unique_id_names_a_thread(it: Talk) -> None:
    assert MEMORY.notes(it.agent, {"configurable": {"thread_id": UUID(int=7)}}) == ()


def test_thread_may_stand_in_the_graphs_own_config(it: Talk) -> None:
    graph = it.agent.with_config(thread())
    assert [note.text for note in MEMORY.notes(graph, {})] == [ZSH]


def test_thread_of_the_call_outranks_the_graphs_own(it: Talk) -> None:
    graph = it.agent.with_config(thread())
    assert MEMORY.notes(graph, thread("other")) == ()


# --- the graph ---


@pytest.mark.parametrize("method", BOTH)
def test_graph_and_config_swapped_are_refused(it: Talk, method: str) -> None:
    assert refused(method, it.config, it.agent) == (
        f"memory.{method}() takes the graph first and the config second, not the other way round. "
        f"Call memory.{method}(graph, config, …)."
    )


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize(
    ("graph", "shown"),
    [
        (None, "None"),
        ("agent", "'agent'"),
        ({}, "a dict"),
        (MEMORY, "a CreditedMemory"),
        (Talk, "the class Talk"),
    ],
    ids=["none", "text", "dict", "memory", "class"],
)
def test_what_is_no_graph_is_refused(method: str, graph: Any, shown: str) -> None:
    assert refused(method, graph, thread()) == (
        f"memory.{method}() needs the graph first, not {shown}. Pass what create_agent(…) or "
        "memory.bind(builder.compile(…)) gave."
    )


@pytest.mark.parametrize("method", BOTH)
def test_graph_that_is_not_compiled_is_refused(method: str) -> None:
    assert refused(method, StateGraph(MemoryState), thread()) == (
        f"memory.{method}() needs a compiled graph, and this one is still being built. Compile it "
        "first: graph = memory.bind(builder.compile(checkpointer=…))."
    )


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("checkpointer", [None, False, True])
def test_graph_without_a_checkpointer_is_refused(method: str, checkpointer: Any) -> None:
    graph = talk("ok", checkpointer=checkpointer).agent
    assert refused(method, graph, thread()) == (
        f"memory.{method}() needs a graph with a checkpointer: without one nothing is kept after a "
        "run. Give compile() or create_agent() a checkpointer=…, such as InMemorySaver()."
    )


@pytest.mark.parametrize("method", BOTH)
def test_graph_without_memory_is_refused_before_its_first_run(method: str) -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("node", lambda state: {})
    builder.add_edge(START, "node")
    graph = builder.compile(checkpointer=InMemorySaver())
    assert refused(method, graph, thread()) == (
        "This graph's state has no memory channel. Pass the graph that the memory was built into: "
        "create_agent(…, middleware=[memory.middleware()]), or one on StateGraph(MemoryState, …)."
    )


def test_graph_inside_another_one_reads_its_thread_while_it_runs() -> None:
    """It has no checkpointer of its own: LangGraph hands it the outer one's."""
    found: list[Any] = []

    def look(state: Any, config: RunnableConfig) -> dict[str, Any]:
        found.append(MEMORY.notes(inner, config))
        return {}

    inner = StateGraph(MemoryState, input_schema=MemoryInput)
    inner.add_node("look", look)
    inner.add_edge(START, "look")
    inner = inner.compile()
    outer = StateGraph(MemoryState, input_schema=MemoryInput)
    outer.add_node("inner", inner)
    outer.add_edge(START, "inner")
    outer.compile(checkpointer=InMemorySaver()).invoke({"messages": ["Hello"]}, thread())
    assert found == [()]


class Broken(InMemorySaver):
    """A checkpointer that cannot read."""

    def get_tuple(self, config: Any) -> Any:
        raise self.error

    async def aget_tuple(self, config: Any) -> Any:
        raise self.error


@pytest.mark.parametrize("method", ["notes", "anotes"])
@pytest.mark.parametrize("error", [ValueError("boom"), RuntimeError("boom")], ids=repr)
def test_other_error_of_a_checkpointer_is_left_as_it_is(method: str, error: Exception) -> None:
    saver = Broken()
    saver.error = error
    with pytest.raises(type(error), match="boom"):
        call(method, talk("ok", checkpointer=saver).agent, thread())


def test_config_of_the_host_is_left_as_it_was(it: Talk) -> None:
    config = {"configurable": {"thread_id": 1}}
    MEMORY.notes(it.agent, config)
    assert config == {"configurable": {"thread_id": 1}}


# --- sync and async ---


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "threads.sqlite")


@pytest.mark.parametrize("method", METHODS)
async def test_async_checkpointer_on_its_own_loop_names_the_twin(path: str, method: str) -> None:
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        graph = talk("ok", checkpointer=saver).agent
        assert refused(method, graph, thread()) == (
            f"AsyncSqliteSaver works on its own event loop, which memory.{method}() cannot wait "
            f"for here. Call its twin: await memory.a{method}(…)."
        )


async def test_async_checkpointer_can_be_asked_from_another_thread(path: str) -> None:
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        it = talk(remembering((ZSH, ZSH)), checkpointer=saver)
        await it.person.asays(ZSH)
        notes = await asyncio.to_thread(MEMORY.notes, it.agent, it.config)
    assert [note.text for note in notes] == [ZSH]


@pytest.fixture
def resting_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that is open and that nobody runs."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.mark.parametrize("closed", [False, True], ids=["stopped", "closed"])
def test_async_checkpointer_whose_loop_does_not_run_names_the_twin_instead_of_waiting(
    path: str, resting_loop: asyncio.AbstractEventLoop, closed: bool
) -> None:
    async def build() -> Any:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            return talk("ok", checkpointer=saver).agent

    graph = resting_loop.run_until_complete(build())
    if closed:
        resting_loop.close()
    assert refused("notes", graph, thread()).endswith("Call its twin: await memory.anotes(…).")


@pytest.mark.parametrize("method", METHODS)
def test_checkpointer_without_async_methods_names_the_twin(path: str, method: str) -> None:
    with SqliteSaver.from_conn_string(path) as saver:
        graph = talk("ok", checkpointer=saver).agent
        assert refused(f"a{method}", graph, thread()) == (
            f"SqliteSaver has no async methods, which memory.a{method}() needs. Call its twin "
            f"memory.{method}(…), or use an async checkpointer."
        )


async def test_error_keeps_what_the_checkpointer_said(path: str) -> None:
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        graph = talk("ok", checkpointer=saver).agent
        with pytest.raises(ConfigurationError) as caught:
            MEMORY.notes(graph, thread())
    assert isinstance(caught.value.__cause__, asyncio.InvalidStateError)


# --- the note ---


UNKNOWN = [
    ("zzzzzz", "No note has the id 'zzzzzz'. List the notes to see their ids."),
    ("", "The note id is empty. List the notes to see their ids."),
    (" \n", "The note id is empty. List the notes to see their ids."),
    (7, "A note's id is a short text, not 7. List the notes to see their ids."),
    ([ZSH], "A note's id is a short text, not a list. List the notes to see their ids."),
    (10**6000, "A note's id is a short text, not a huge number. List the notes to see their ids."),
]


@pytest.mark.parametrize("method", [*DECIDING, "history"])
@pytest.mark.parametrize(("note_id", "problem"), UNKNOWN, ids=lambda value: type(value).__name__)
def test_unknown_note_is_named_and_the_remedy_with_it(
    it: Talk, method: str, note_id: Any, problem: str
) -> None:
    more = {"shown": ZSH} if method == "confirm" else {}
    with pytest.raises(UnknownNoteError) as caught:
        getattr(MEMORY, method)(it.agent, it.config, note_id, **more)
    assert (str(caught.value), caught.value.note_id) == (problem, note_id)


def test_nothing_is_no_note_where_one_is_decided_on(it: Talk) -> None:
    with pytest.raises(UnknownNoteError, match="is a short text, not None"):
        MEMORY.forget(it.agent, it.config, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [*DECIDING, "history"])
def test_note_instead_of_its_id_is_answered_with_its_id(it: Talk, method: str) -> None:
    (note,) = MEMORY.notes(it.agent, it.config)
    more = {"shown": ZSH} if method == "confirm" else {}
    with pytest.raises(UnknownNoteError) as caught:
        getattr(MEMORY, method)(it.agent, it.config, note, **more)
    assert str(caught.value) == (f"The note's id is needed, not a Note. Pass its id: '{note.id}'.")


def test_very_long_id_is_not_shown_whole(it: Talk) -> None:
    with pytest.raises(UnknownNoteError) as caught:
        MEMORY.forget(it.agent, it.config, "x" * 1_000_000)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(
    ("shown", "problem"),
    [
        (None, "shown must be the text that the person read, not None."),
        (7, "shown must be the text that the person read, not 7."),
        ([ZSH], "shown must be the text that the person read, not a list."),
    ],
    ids=str,
)
def test_confirming_what_was_not_shown_as_text_is_refused(
    it: Talk, shown: Any, problem: str
) -> None:
    (note,) = MEMORY.notes(it.agent, it.config)
    with pytest.raises(ConfigurationError) as caught:
        MEMORY.confirm(it.agent, it.config, note.id, shown=shown)
    assert str(caught.value) == f"{problem} Pass the note's text as it was shown."


@pytest.mark.parametrize("method", DECIDING)
def test_who_decided_must_be_text(it: Talk, method: str) -> None:
    (note,) = MEMORY.notes(it.agent, it.config)
    more = {"shown": ZSH} if method == "confirm" else {}
    with pytest.raises(ConfigurationError) as caught:
        getattr(MEMORY, method)(it.agent, it.config, note.id, by=None, **more)
    assert str(caught.value) == "by must be text, who decided, not None. Pass a name."


# --- what an error shows of a value ---


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("\ud83d\x00", r"'\ud83d\x00'"),
        ("x" * 61, f"'{'x' * 60}'…"),
        (1.5, "1.5"),
        (-(10**5000), "a huge number"),
        (b"x", "a bytes"),
        (object(), "an object"),
        (ScriptedPerson, "the class ScriptedPerson"),
        (node_graph, "a function"),
        (ScriptedChatModel(), "a ScriptedChatModel"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_value_is_named_in_few_words(value: Any, shown: str) -> None:
    assert named(value) == shown
