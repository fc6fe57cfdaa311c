"""What counts as typed in this run, seen on real agents."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import tool
from langgraph.types import Command, interrupt
from langsmith import Client
from langsmith.run_helpers import tracing_context
from langsmith.run_trees import RunTree

from langmem_credit.heard import NOT_TYPED, answer_of, question_in
from langmem_credit.testing import tool_calls

from .graph_support import heard_texts, listening_agent, thread


@tool
def ask(question: str) -> str:
    """Asks."""
    return str(interrupt(question))


@tool
def fail() -> str:
    """Fails."""
    raise RuntimeError("boom")


@tool
def look() -> str:
    """Looks."""
    return "nothing"


def typed(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


@pytest.mark.parametrize(
    "messages",
    [
        [HumanMessage("I use zsh")],
        "I use zsh",
        ["I use zsh"],
        [("user", "I use zsh")],
        ("user", "I use zsh"),
        [{"role": "user", "content": "I use zsh"}],
        {"role": "user", "content": "I use zsh"},
        [{"type": "human", "content": [{"type": "text", "text": "I use zsh"}]}],
        HumanMessage("I use zsh"),
    ],
    ids=str,
)
def test_hears_input_in_every_form_langgraph_takes(messages: Any) -> None:
    agent = listening_agent()
    agent.invoke({"messages": messages}, thread())
    assert heard_texts(agent) == ["I use zsh"]


def test_hears_input_that_is_streamed() -> None:
    agent = listening_agent()
    for _ in agent.stream(typed("I use zsh"), thread()):
        pass
    assert heard_texts(agent) == ["I use zsh"]


async def test_hears_input_of_an_async_run() -> None:
    agent = listening_agent()
    await agent.ainvoke(typed("I use zsh"), thread())
    assert heard_texts(agent) == ["I use zsh"]


async def test_hears_input_of_an_async_event_stream() -> None:
    agent = listening_agent()
    async for _ in agent.astream_events(typed("I use zsh"), thread(), version="v2"):
        pass
    assert heard_texts(agent) == ["I use zsh"]


def test_hears_each_input_of_a_batch_apart() -> None:
    agent = listening_agent()
    agent.batch([typed("I use zsh"), typed("I use fish")], [thread("a"), thread("b")])
    assert [heard_texts(agent, thread("a")), heard_texts(agent, thread("b"))] == [
        ["I use zsh"],
        ["I use fish"],
    ]


def test_hears_all_messages_of_one_input_in_their_order() -> None:
    agent = listening_agent()
    agent.invoke({"messages": [HumanMessage("I use zsh"), HumanMessage("And tmux")]}, thread())
    assert heard_texts(agent) == ["I use zsh", "And tmux"]


def test_hears_only_the_end_of_a_history_that_a_caller_sends_again() -> None:
    agent = listening_agent()
    history = [HumanMessage("I use zsh"), AIMessage("Noted"), HumanMessage("What time is it?")]
    agent.invoke({"messages": history}, thread())
    assert heard_texts(agent) == ["What time is it?"]


def test_next_run_does_not_hear_the_last_ones_words() -> None:
    agent = listening_agent()
    agent.invoke(typed("I use zsh"), thread())
    agent.invoke(typed("What time is it?"), thread())
    assert heard_texts(agent) == ["What time is it?"]


def test_input_without_messages_hears_nothing() -> None:
    agent = listening_agent()
    agent.invoke(typed("I use zsh"), thread())
    agent.invoke({"messages": []}, thread())
    assert heard_texts(agent) == []


def test_words_stay_heard_through_the_steps_of_a_run() -> None:
    agent = listening_agent(tool_calls(("look", {})), tools=[look])
    agent.invoke(typed("I use zsh"), thread())
    assert heard_texts(agent) == ["I use zsh"]


def test_system_messages_beside_the_input_are_not_heard() -> None:
    agent = listening_agent()
    agent.invoke(
        {"messages": [HumanMessage("I use zsh"), SystemMessage("The user uses bash")]}, thread()
    )
    assert heard_texts(agent) == ["I use zsh"]


def test_resuming_keeps_the_words_of_the_run() -> None:
    agent = listening_agent(tool_calls(("ask", {"question": "Sure?"})), tools=[ask])
    agent.invoke(typed("I use zsh"), thread())
    agent.invoke(Command(resume="yes"), thread())
    assert heard_texts(agent) == ["I use zsh"]


def test_new_input_after_an_abandoned_interrupt_hears_only_itself() -> None:
    agent = listening_agent(tool_calls(("ask", {"question": "Sure?"})), tools=[ask])
    agent.invoke(typed("I use zsh"), thread())
    agent.invoke(typed("Never mind"), thread())
    assert heard_texts(agent) == ["Never mind"]


class Pausing(AgentMiddleware[Any, Any, Any]):
    """Interrupts each run before the model is called."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        interrupt("Go on?")


def test_resuming_a_run_that_was_not_recorded_yet_does_not_hear_the_run_before() -> None:
    agent = listening_agent(before=[Pausing()])
    agent.invoke(typed("I use zsh"), thread())
    agent.invoke(Command(resume="yes"), thread())
    agent.invoke(typed("Hello"), thread())
    agent.invoke(Command(resume="yes"), thread())
    assert heard_texts(agent) == []


def test_resuming_such_a_run_whose_input_code_made_does_not_hear_the_run_before() -> None:
    agent = listening_agent(before=[Pausing()])
    agent.invoke(typed("I use zsh"), thread())
    agent.invoke(Command(resume="yes"), thread())
    agent.invoke(
        {"messages": [HumanMessage("done", additional_kwargs={"lc_source": "task"})]}, thread()
    )
    agent.invoke(Command(resume="yes"), thread())
    assert heard_texts(agent) == []


def test_invoke_none_after_a_crash_hears_nothing() -> None:
    agent = listening_agent(tool_calls(("fail", {})), tools=[fail])
    with pytest.raises(RuntimeError, match="boom"):
        agent.invoke(typed("I use zsh"), thread())
    fail.func = lambda: "fine"
    try:
        agent.invoke(None, thread())
    finally:
        fail.func = _fails
    assert heard_texts(agent) == []


def _fails() -> str:
    raise RuntimeError("boom")


def test_new_input_after_a_crash_hears_only_itself() -> None:
    agent = listening_agent(tool_calls(("fail", {})), tools=[fail])
    with pytest.raises(RuntimeError, match="boom"):
        agent.invoke(typed("I use zsh"), thread())
    agent.invoke(typed("Again, please"), thread())
    assert heard_texts(agent) == ["Again, please"]


def test_replaying_an_old_checkpoint_hears_nothing() -> None:
    agent = listening_agent(tool_calls(("look", {})), tools=[look])
    agent.invoke(typed("I use zsh"), thread())
    before_model = [s for s in agent.get_state_history(thread()) if s.next == ("model",)][-1]
    agent.invoke(None, before_model.config)
    assert heard_texts(agent) == []


def test_new_input_from_an_old_checkpoint_hears_only_itself() -> None:
    agent = listening_agent()
    agent.invoke(typed("I use zsh"), thread())
    first_end = agent.get_state(thread()).config
    agent.invoke(typed("I use fish"), thread())
    agent.invoke(typed("I use bash"), first_end)
    assert heard_texts(agent) == ["I use bash"]


def test_command_that_updates_hears_nothing() -> None:
    agent = listening_agent()
    agent.invoke(typed("Hello"), thread())
    agent.invoke(Command(update={"messages": [HumanMessage("I use zsh")]}, goto="model"), thread())
    assert heard_texts(agent) == []


def test_resume_that_also_updates_hears_nothing() -> None:
    agent = listening_agent(tool_calls(("ask", {"question": "Sure?"})), tools=[ask])
    agent.invoke(typed("I use zsh"), thread())
    update = {"messages": [HumanMessage("Always deploy on Fridays")]}
    agent.invoke(Command(resume="yes", update=update), thread())
    assert heard_texts(agent) == []


def test_chain_around_an_agent_hears_the_chains_input() -> None:
    agent = listening_agent()
    chain = RunnableLambda(lambda text: {"messages": [("user", text)]}) | agent
    chain.invoke("I use zsh", thread())
    assert heard_texts(agent) == ["I use zsh"]


def test_text_that_a_prompt_template_made_is_not_heard() -> None:
    agent = listening_agent()
    prompt = ChatPromptTemplate([("user", "Remember that {topic} is best")])
    chain = prompt | (lambda value: {"messages": value.to_messages()}) | agent
    chain.invoke({"topic": "zsh"}, thread())
    assert heard_texts(agent) == []


def test_context_beside_the_question_of_a_chain_is_not_heard() -> None:
    agent = listening_agent()
    chain = RunnableLambda(lambda d: {"messages": [("user", d["page"])]}) | agent
    chain.invoke({"question": "What is this?", "page": "The user loves spam"}, thread())
    assert heard_texts(agent) == []


def test_two_runs_of_one_chain_do_not_share_their_words() -> None:
    agent = listening_agent()

    def twice(text: str) -> None:
        agent.invoke(typed(text), thread())
        agent.invoke(typed("Made up on the way"), thread())

    RunnableLambda(twice).invoke("I use zsh")
    assert heard_texts(agent) == []


def test_many_runs_at_once_hear_their_own_words() -> None:
    agent = listening_agent(*[tool_calls(("look", {})), "Done"] * 200, tools=[look])
    names = [str(number) for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: agent.invoke(typed(f"I am {name}"), thread(name)), names))
    assert [heard_texts(agent, thread(name)) for name in names] == [[f"I am {n}"] for n in names]


async def test_many_async_runs_at_once_hear_their_own_words() -> None:
    agent = listening_agent(*[tool_calls(("look", {})), "Done"] * 200, tools=[look])
    names = [str(number) for number in range(40)]
    await asyncio.gather(*[agent.ainvoke(typed(f"I am {n}"), thread(n)) for n in names])
    assert [heard_texts(agent, thread(name)) for name in names] == [[f"I am {n}"] for n in names]


def test_run_under_an_outside_tracer_hears_its_input() -> None:
    agent = listening_agent()
    silent = Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)
    with tracing_context(parent=RunTree(name="request", client=silent), enabled=False):
        agent.invoke(typed("I use zsh"), thread())
    assert heard_texts(agent) == ["I use zsh"]


class Other(BaseCallbackHandler):
    """A host's own handler."""


@pytest.mark.parametrize(
    "callbacks",
    [
        lambda: [Other()],
        lambda: CallbackManager([Other()]),
        lambda: CallbackManager([Other()], inheritable_handlers=[Other()]),
        lambda: None,
    ],
    ids=["list", "manager", "inheritable", "none"],
)
def test_hosts_own_callbacks_change_nothing(callbacks: Any) -> None:
    agent = listening_agent(tool_calls(("look", {})), tools=[look])
    agent.invoke(typed("I use zsh"), {**thread(), "callbacks": callbacks()})
    assert heard_texts(agent) == ["I use zsh"]


def test_two_runs_to_which_the_host_gave_one_id_do_not_share_their_words() -> None:
    agent = listening_agent()
    config = {**thread(), "run_id": uuid4()}
    agent.invoke(typed("I use zsh"), config)
    agent.invoke(typed("I use fish"), config)
    assert heard_texts(agent) == ["I use fish"]


def test_agents_side_by_side_in_a_chain_both_hear_its_input() -> None:
    one, two = listening_agent(), listening_agent()
    RunnableParallel(one=one, two=two).invoke(typed("I use zsh"), thread())
    assert [heard_texts(one), heard_texts(two)] == [["I use zsh"], ["I use zsh"]]


def test_answers_of_several_interrupts_add_up() -> None:
    asks = [tool_calls(("ask_user", {"question": f"Question {n}?"})) for n in range(3)]
    agent = listening_agent(*asks)
    agent.invoke(typed("Hello"), thread())
    for text in ("first", "second", "third"):
        agent.invoke(Command(resume=text), thread())
    assert heard_texts(agent) == ["Hello", "first", "second", "third"]


def test_answers_to_calls_with_one_id_are_all_heard() -> None:
    one, two = (tool_calls(("ask_user", {"question": q})) for q in ("First?", "Second?"))
    two.tool_calls[0]["id"] = one.tool_calls[0]["id"]
    agent = listening_agent(one, two)
    agent.invoke(typed("Hello"), thread())
    for text in ("first", "second"):
        agent.invoke(Command(resume=text), thread())
    assert heard_texts(agent) == ["Hello", "first", "second"]


def test_host_may_say_in_the_config_that_a_run_is_not_typed() -> None:
    agent = listening_agent()
    agent.invoke(typed("I use zsh"), {**thread(), "metadata": NOT_TYPED})
    assert heard_texts(agent) == []


def test_the_question_before_the_input_stands_beside_it() -> None:
    agent = listening_agent("I read the page. Should I always deploy on Fridays?")
    agent.invoke(typed("Read the page"), thread())
    agent.invoke(typed("yes, always"), thread())
    values = agent.get_state(thread()).values
    assert values["memory_run"]["heard"][0]["asked"] == (
        "I read the page. Should I always deploy on Fridays?"
    )


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Which one?", True),
        ("Which one? 🙂", True),
        ('He asked "which one?"', True),
        ("**Which one?**", True),
        ("你用什么？", True),
        ("ما هو؟", True),
        ("Which one? I can wait.", False),
        ("Fine.", False),
        ("", False),
    ],
)
def test_question_is_what_ends_in_a_question_mark(text: str, asked: bool) -> None:
    assert bool(question_in(text)) is asked


def test_question_at_the_end_of_a_megabyte_is_found_at_once() -> None:
    assert question_in("*" * 1_000_000) == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Use pnpm", ("Use pnpm", "answer")),
        ({"answer": "Use pnpm"}, ("Use pnpm", "answer")),
        ({"choice": "Use npm"}, ("Use npm", "click")),
        ({"option": "Use npm"}, ("Use npm", "click")),
        ({"choice": "Use npm", "answer": "Use pnpm"}, ("Use npm", "click")),
        ({"answer": "a", "more": "b"}, ("", "click")),
        ({"choice": 1}, ("", "click")),
        ([], ("", "click")),
        (None, ("", "click")),
        (True, ("", "click")),
    ],
)
def test_answer_is_typed_unless_it_was_picked(value: object, expected: tuple[str, str]) -> None:
    assert answer_of(value) == expected
