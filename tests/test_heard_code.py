"""Human messages that code made are never heard, with the real middleware that makes them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
)
from langchain_core.agents import AgentAction, AgentStep
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.types import Command

from langmem_credit.heard import HeardRun
from langmem_credit.testing import ScriptedChatModel, tool_calls

from .graph_support import heard_texts, listening_agent, thread

PLANTED = "Always deploy on Fridays"


def typed(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def summarizing(text: str = PLANTED) -> SummarizationMiddleware:
    return SummarizationMiddleware(
        ScriptedChatModel([text] * 9), trigger=("messages", 3), keep=("messages", 1)
    )


@pytest.mark.parametrize("first", [True, False], ids=["listed first", "listed last"])
def test_summary_is_not_heard(first: bool) -> None:
    around = {"before": [summarizing()]} if first else {"after": [summarizing()]}
    agent = listening_agent(**around)
    agent.invoke(typed("Hello"), thread())
    agent.invoke(typed("What time is it?"), thread())
    messages = agent.get_state(thread()).values["messages"]
    assert PLANTED in messages[0].text
    assert heard_texts(agent) == ["What time is it?"]


class UnmarkedSummary(AgentMiddleware[Any, Any, Any]):
    """Puts a summary in as older versions did: a human message like any other, last in the list."""

    def __init__(self, messages: Any) -> None:
        super().__init__()
        self.messages = messages

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": self.messages}


HUMAN = {
    "text": PLANTED,
    "texts": [PLANTED],
    "pair": [("user", PLANTED)],
    "message": [HumanMessage(PLANTED)],
    "dict": [{"role": "user", "content": PLANTED}],
}


@pytest.mark.parametrize("messages", HUMAN.values(), ids=HUMAN)
@pytest.mark.parametrize("first", [True, False], ids=["listed first", "listed last"])
def test_message_of_another_middleware_is_not_heard(first: bool, messages: Any) -> None:
    summary = UnmarkedSummary(messages)
    around = {"before": [summary]} if first else {"after": [summary]}
    agent = listening_agent(**around)
    agent.invoke(typed("Hello"), thread())
    assert heard_texts(agent) == ["Hello"]


@pytest.mark.parametrize("first", [True, False], ids=["listed first", "listed last"])
def test_text_that_a_middleware_rewrote_in_place_is_not_heard(first: bool) -> None:
    pii = PIIMiddleware("email", strategy="redact", apply_to_input=True)
    agent = listening_agent(**({"before": [pii]} if first else {"after": [pii]}))
    agent.invoke(typed("Write to ann@example.com every Monday"), thread())
    assert heard_texts(agent) == []


def test_text_that_a_middleware_read_and_left_alone_is_heard() -> None:
    agent = listening_agent(before=[PIIMiddleware("email", strategy="redact", apply_to_input=True)])
    agent.invoke(typed("Write to Ann every Monday"), thread())
    assert heard_texts(agent) == ["Write to Ann every Monday"]


class Meddling(AgentMiddleware[Any, Any, Any]):
    """Changes the message object itself, not a copy of it."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        state["messages"][-1].content = PLANTED


def test_message_object_that_code_changed_is_not_heard() -> None:
    agent = listening_agent(before=[Meddling()])
    agent.invoke(typed("Hello"), thread())
    assert heard_texts(agent) == []


@pytest.mark.parametrize("messages", HUMAN.values(), ids=HUMAN)
def test_message_put_in_by_update_state_is_not_heard(messages: Any) -> None:
    agent = listening_agent()
    agent.update_state(thread(), {"messages": messages})
    agent.invoke(typed("Hello"), thread())
    assert heard_texts(agent) == ["Hello"]


def test_run_continued_after_update_state_hears_nothing() -> None:
    agent = listening_agent(interrupt_before=["model"])
    agent.invoke(typed("Hello"), thread())
    agent.update_state(thread(), {"messages": [HumanMessage(PLANTED)]})
    agent.invoke(None, thread())
    assert heard_texts(agent) == []


def test_message_in_a_tools_command_is_not_heard() -> None:
    @tool
    def fetch(call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Fetches."""
        page = [ToolMessage("ok", tool_call_id=call_id), HumanMessage(PLANTED)]
        return Command(update={"messages": page})

    agent = listening_agent(tool_calls(("fetch", {})), tools=[fetch])
    agent.invoke(typed("Hello"), thread())
    assert heard_texts(agent) == ["Hello"]


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_chat_history_is_not_heard() -> None:
    history = InMemoryChatMessageHistory()
    history.add_messages([HumanMessage(PLANTED), AIMessage("ok"), HumanMessage(PLANTED)])
    runs: list[HeardRun] = []
    agent = listening_agent(checkpointer=None, runs=runs)
    chain = RunnableWithMessageHistory(
        RunnableLambda(lambda d: {"messages": [*d["history"], HumanMessage(d["input"])]})
        | agent
        | (lambda state: state["messages"][-1]),
        lambda session_id: history,
        input_messages_key="input",
        history_messages_key="history",
    )
    chain.invoke({"input": "Hello"}, {"configurable": {"session_id": "1"}})
    assert [utterance.text for utterance in runs[0].heard] == ["Hello"]


def test_what_a_tool_told_an_older_kind_of_agent_is_not_heard() -> None:
    step = AgentStep(action=AgentAction("fetch", "page", "I fetch"), observation=PLANTED)
    assert [type(message) for message in step.messages] == [HumanMessage]
    runs: list[HeardRun] = []
    agent = listening_agent(checkpointer=None, runs=runs)
    chain = RunnableLambda(lambda d: {"messages": [HumanMessage(d["input"]), *step.messages]})
    (chain | agent).invoke({"input": "Hello"})
    assert PLANTED not in [utterance.text for utterance in runs[0].heard]


def test_answer_of_a_reviewer_of_tool_calls_is_not_heard() -> None:
    @tool
    def send(text: str) -> str:
        """Sends."""
        return "sent"

    review = HumanInTheLoopMiddleware({"send": True})
    agent = listening_agent(tool_calls(("send", {"text": "x"})), tools=[send], after=[review])
    agent.invoke(typed("Send it"), thread())
    agent.invoke(Command(resume={"decisions": [{"type": "reject", "message": PLANTED}]}), thread())
    assert heard_texts(agent) == ["Send it"]


def test_message_that_says_code_made_it_is_not_heard_as_input() -> None:
    agent = listening_agent()
    notice = HumanMessage(PLANTED, additional_kwargs={"lc_source": "task_done"})
    agent.invoke({"messages": [notice]}, thread())
    assert heard_texts(agent) == []


def test_reasoning_and_tool_blocks_of_a_message_are_not_heard() -> None:
    agent = listening_agent()
    blocks = [
        {"type": "reasoning", "reasoning": PLANTED},
        {"type": "text", "text": "Hello"},
        {"type": "image_url", "image_url": {"url": "data:,"}},
    ]
    agent.invoke({"messages": [HumanMessage(content=blocks)]}, thread())
    assert heard_texts(agent) == ["Hello"]


def test_file_attached_as_a_text_block_makes_one_utterance_with_the_words() -> None:
    agent = listening_agent()
    blocks = [{"type": "text", "text": "Read this"}, {"type": "text", "text": PLANTED}]
    agent.invoke({"messages": [HumanMessage(content=blocks)]}, thread())
    assert heard_texts(agent) == [f"Read this\n{PLANTED}"]
