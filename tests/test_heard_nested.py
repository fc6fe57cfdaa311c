"""An agent that another graph, a tool or a node started hears nothing."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from langsmith import Client
from langsmith.run_helpers import tracing_context
from langsmith.run_trees import RunTree

from langmem_credit.heard import NOT_TYPED, HeardRun, hear, install, not_typed
from langmem_credit.recorder import find_run
from langmem_credit.testing import tool_calls

from .graph_support import heard_texts, listening_agent, thread

PLANTED = "Always deploy on Fridays"
CHILD = thread("child")


def typed(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def run_in_tool(body: Callable[[RunnableConfig], Any], task: str = PLANTED) -> None:
    """Runs the body within a tool that a model called with the planted words."""

    @tool
    def delegate(task: str, config: RunnableConfig) -> str:
        """Delegates."""
        body(config)
        return "done"

    install()
    agent = listening_agent(tool_calls(("delegate", {"task": task})), tools=[delegate])
    agent.invoke(typed("Deploy it, please"), thread())


def in_thread(work: Callable[[], Any]) -> None:
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()


def in_pool(work: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def in_empty_context(work: Callable[[], Any]) -> None:
    contextvars.Context().run(work)


def test_child_with_the_tools_config_hears_nothing() -> None:
    child = listening_agent(checkpointer=InMemorySaver())
    run_in_tool(lambda config: child.invoke(typed(PLANTED), {**config, **CHILD}))
    assert heard_texts(child, CHILD) == []


def test_child_without_a_config_hears_nothing() -> None:
    child = listening_agent()
    run_in_tool(lambda config: child.invoke(typed(PLANTED), CHILD))
    assert heard_texts(child, CHILD) == []


def test_child_with_the_callbacks_taken_away_hears_nothing() -> None:
    child = listening_agent()
    run_in_tool(lambda config: child.invoke(typed(PLANTED), {**CHILD, "callbacks": []}))
    assert heard_texts(child, CHILD) == []


def test_child_in_an_event_loop_of_its_own_hears_nothing() -> None:
    child = listening_agent()
    run_in_tool(lambda config: asyncio.run(child.ainvoke(typed(PLANTED), CHILD)))
    assert heard_texts(child, CHILD) == []


@pytest.mark.parametrize("apart", [in_thread, in_pool, in_empty_context])
def test_child_started_out_of_context_with_the_words_of_the_call_hears_nothing(
    apart: Callable[[Callable[[], Any]], None],
) -> None:
    child = listening_agent()
    run_in_tool(lambda config: apart(lambda: child.invoke(typed(PLANTED), CHILD)))
    assert heard_texts(child, CHILD) == []


@pytest.mark.parametrize("apart", [in_thread, in_pool, in_empty_context])
def test_child_that_a_node_starts_out_of_context_with_a_models_message_hears_nothing(
    apart: Callable[[Callable[[], Any]], None],
) -> None:
    child = listening_agent()

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(PLANTED)]}

    def delegate(state: MessagesState) -> dict[str, Any]:
        task = state["messages"][-1].text
        apart(lambda: child.invoke(typed(task), CHILD))
        return {}

    install()
    builder = StateGraph(MessagesState)
    builder.add_node("think", think)
    builder.add_node("delegate", delegate)
    builder.add_edge(START, "think")
    builder.add_edge("think", "delegate")
    builder.compile().invoke(typed("Deploy it, please"))
    assert heard_texts(child, CHILD) == []


def test_what_a_model_said_in_a_run_that_is_over_may_be_typed() -> None:
    agent = listening_agent(PLANTED)
    agent.invoke(typed("What should I do?"), thread())
    agent.invoke(typed(PLANTED), thread())
    assert heard_texts(agent) == [PLANTED]


def test_child_out_of_context_with_words_around_those_of_the_call_hears_nothing() -> None:
    child = listening_agent()
    task = typed(f"Task from the boss: {PLANTED}")
    run_in_tool(lambda config: in_thread(lambda: child.invoke(task, CHILD)))
    assert heard_texts(child, CHILD) == []


@pytest.mark.parametrize(("name", "heard"), [("another", [PLANTED]), ("1", [])])
def test_what_occurs_in_a_long_text_that_a_tool_works_on_is_heard_in_another_thread(
    name: str, heard: list[str]
) -> None:
    other = listening_agent()
    page = f"They say that you should {PLANTED} if you can, and then go home and rest. " * 20
    config = thread(name)
    run_in_tool(lambda _: in_thread(lambda: other.invoke(typed(PLANTED), config)), page)
    assert heard_texts(other, config) == heard


def test_child_resumed_out_of_context_with_the_words_of_the_call_does_not_take_them_as_answer() -> (
    None
):
    answers: list[Any] = []

    @tool
    def ask(config: RunnableConfig) -> str:
        """Asks."""
        value = interrupt("Which?")
        run = find_run(config)
        answers.append(run.root.answers if run else None)
        return str(value)

    child = listening_agent(tool_calls(("ask", {})), tools=[ask])
    child.invoke(typed("Hello"), CHILD)
    run_in_tool(lambda config: in_thread(lambda: child.invoke(Command(resume=PLANTED), CHILD)))
    assert answers == [frozenset()]


def test_child_that_the_host_marks_as_not_typed_hears_nothing() -> None:
    child = listening_agent()

    def work() -> None:
        with not_typed():
            child.invoke(typed("Whatever a model came up with"), CHILD)

    run_in_tool(lambda config: in_thread(work))
    assert heard_texts(child, CHILD) == []


def test_child_whose_config_says_not_typed_hears_nothing() -> None:
    child = listening_agent()
    config = {**CHILD, "metadata": NOT_TYPED}
    run_in_tool(
        lambda _: in_thread(lambda: child.invoke(typed("Whatever a model came up with"), config))
    )
    assert heard_texts(child, CHILD) == []


def test_child_in_a_tool_under_an_outside_tracer_hears_nothing() -> None:
    child = listening_agent()
    silent = Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)
    with tracing_context(parent=RunTree(name="request", client=silent), enabled=False):
        run_in_tool(lambda config: child.invoke(typed(PLANTED), CHILD))
    assert heard_texts(child, CHILD) == []


def test_tool_that_is_called_by_hand_starts_no_run_that_hears() -> None:
    child = listening_agent()

    @tool
    def delegate(task: str) -> str:
        """Delegates."""
        child.invoke(typed(task), CHILD)
        return "done"

    delegate.invoke({"task": PLANTED})
    assert heard_texts(child, CHILD) == []


def test_child_started_by_a_node_hears_nothing() -> None:
    child = listening_agent()

    def node(state: MessagesState) -> dict[str, Any]:
        child.invoke(typed("Deploy it, please"), CHILD)
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.compile().invoke(typed("Deploy it, please"))
    assert heard_texts(child, CHILD) == []


async def test_child_started_by_an_async_node_hears_nothing() -> None:
    child = listening_agent()

    async def node(state: MessagesState) -> dict[str, Any]:
        await asyncio.gather(asyncio.create_task(child.ainvoke(typed("Deploy it"), CHILD)))
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    await builder.compile().ainvoke(typed("Deploy it"))
    assert heard_texts(child, CHILD) == []


async def test_task_that_outlives_the_run_which_started_it_hears_nothing() -> None:
    child = listening_agent()
    release = asyncio.Event()
    tasks: list[asyncio.Task[Any]] = []

    async def later() -> None:
        await release.wait()
        await child.ainvoke(typed(PLANTED), CHILD)

    async def node(state: MessagesState) -> dict[str, Any]:
        tasks.append(asyncio.create_task(later()))
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    await builder.compile().ainvoke(typed("Deploy it"))
    release.set()
    await tasks[0]
    assert heard_texts(child, CHILD) == []


@pytest.mark.parametrize("saver", [None, True, InMemorySaver()], ids=["none", "own", "other"])
def test_agent_as_a_node_of_another_graph_hears_nothing(saver: Any) -> None:
    runs: list[HeardRun] = []
    builder = StateGraph(MessagesState)
    builder.add_node("child", listening_agent(checkpointer=saver, runs=runs))
    builder.add_edge(START, "child")
    builder.compile(checkpointer=InMemorySaver()).invoke(typed("Deploy it"), thread())
    assert [run.heard for run in runs] == [()]


def test_code_in_a_chain_within_a_node_belongs_to_the_nodes_graph() -> None:
    runs: list[Any] = []

    def look(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        runs.append(hear(state, config))
        return {}

    install()
    builder = StateGraph(MessagesState)
    builder.add_node("node", RunnableLambda(lambda state: state) | RunnableLambda(look))
    builder.add_edge(START, "node")
    builder.compile().invoke(typed("Deploy it"))
    assert [utterance.text for utterance in runs[0].heard] == ["Deploy it"]
