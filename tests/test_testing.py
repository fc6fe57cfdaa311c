"""The scripted model and person that users' own suites may take."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from langmem_credit.memory import CreditedMemory
from langmem_credit.testing import ScriptedChatModel, ScriptedPerson, tool_calls


def test_model_follows_its_script_and_then_says_done() -> None:
    model = ScriptedChatModel(["one", AIMessage("two"), lambda messages: messages[-1].text])
    assert [model.invoke("x").text for _ in range(4)] == ["one", "two", "x", "Done"]


def test_steps_added_later_come_next() -> None:
    model = ScriptedChatModel()
    first = model.invoke("x").text
    assert (first, model.then("one").invoke("x").text) == ("Done", "one")


def test_model_notes_what_it_received_and_was_offered() -> None:
    model = ScriptedChatModel()
    model.bind_tools([*CreditedMemory().tools(), {"name": "search"}])
    model.invoke([SystemMessage("Be kind."), HumanMessage("Hello")])
    model.invoke([HumanMessage("Hello")])
    assert model.system_texts == ["Be kind.", ""]
    assert model.offered == ["remember", "recall", "forget", "ask_user", "search"]


def test_calls_have_ids_of_their_own() -> None:
    message = tool_calls(("recall", {"query": "a"}), ("recall", {"query": "b"}))
    assert len({call["id"] for call in message.tool_calls}) == 2


def test_person_types_and_answers() -> None:
    model = ScriptedChatModel([tool_calls(("ask_user", {"question": "Which?"})), "Fine"])
    agent = create_agent(
        model, [], middleware=[CreditedMemory().middleware()], checkpointer=InMemorySaver()
    )
    person = ScriptedPerson(agent)
    person.says("Hello")
    assert person.answers("That one") == "Fine"
    assert [message.text for message in person.state["messages"]][-2:] == ["That one", "Fine"]
