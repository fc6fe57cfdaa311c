"""The memory in `create_agent`: the digest, its stability, its neighbours, the stream."""

from __future__ import annotations

import logging
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    ToolRetryMiddleware,
    dynamic_prompt,
)
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, Send

from langmem_credit import middleware as middleware_module
from langmem_credit.errors import ConfigurationError
from langmem_credit.memory import CreditedMemory
from langmem_credit.middleware import CreditedMemoryMiddleware
from langmem_credit.notes import Limits
from langmem_credit.testing import ScriptedChatModel, tool_calls

from .graph_support import forgetting, remembering, talk, thread

ZSH = "I always use zsh"
TABS = "I prefer tabs over spaces"


def remembered(**more: Any) -> Any:
    """An agent that holds one note; its model has had two calls."""
    it = talk(remembering((ZSH, ZSH)), "ok", **more)
    it.person.says(ZSH)
    return it


# --- the digest ---


def test_no_notes_leave_the_system_message_as_it_was() -> None:
    it = talk("ok", system_prompt="Be kind.")
    it.person.says("Hello")
    assert it.model.received[0][0] == SystemMessage("Be kind.")


def test_without_a_persona_and_notes_there_is_no_system_message() -> None:
    it = talk("ok")
    it.person.says("Hello")
    assert it.model.system_texts == [""]


def test_note_shows_from_the_next_run_on() -> None:
    it = remembered()
    it.person.says("Hello")
    assert [ZSH in text for text in it.model.system_texts] == [False, False, True]


def test_digest_is_a_content_block_behind_the_persona() -> None:
    it = remembered(system_prompt="Be kind.")
    it.person.says("Hello")
    persona, digest = it.model.received[-1][0].content
    assert persona == {"type": "text", "text": "Be kind."}
    assert digest["text"].startswith("\n\n<kept_notes>")


def test_cache_control_stands_on_the_digest() -> None:
    memory = CreditedMemory(cache_control={"type": "ephemeral"})
    it = remembered(system_prompt="Be kind.", memory=memory)
    it.person.says("Hello")
    assert it.model.received[-1][0].content[-1]["cache_control"] == {"type": "ephemeral"}


def test_cache_control_of_the_persona_stays() -> None:
    block = {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}
    it = remembered(system_prompt=SystemMessage(content=[block]))
    it.person.says("Hello")
    assert it.model.received[-1][0].content[0] == block


def test_waiting_note_does_not_reach_the_model() -> None:
    it = talk(remembering(("Deploy on Fridays", "x y")), "ok")
    it.person.says("Hello")
    it.person.says("Hello")
    assert "Deploy on Fridays" not in it.model.system_texts[-1]
    assert "1 note waits for the person's review." in it.model.system_texts[-1]


def test_forgotten_note_is_gone_from_the_next_run_on() -> None:
    asked = "Please forget that I use zsh"
    it = remembered()
    it.model.then(forgetting("zsh", asked), "ok")
    it.person.says(asked)
    it.person.says("Hello")
    assert [ZSH in text for text in it.model.system_texts[2:]] == [True, True, False]


def test_system_message_is_the_same_bytes_over_twenty_turns() -> None:
    it = remembered(system_prompt="Be kind.")
    for number in range(20):
        it.person.says(f"Turn {number}")
    assert len(set(it.model.system_texts[2:])) == 1


def test_system_message_is_the_same_bytes_after_a_restart(tmp_path: Any) -> None:
    path = str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(path) as saver:
        it = remembered(checkpointer=saver)
        it.person.says("Hello")
    with SqliteSaver.from_conn_string(path) as saver:
        again = talk("ok", checkpointer=saver)
        again.person.says("Hello")
    assert again.model.system_texts == [it.model.system_texts[-1]]


def test_new_note_changes_no_byte_before_its_line() -> None:
    it = remembered()
    it.model.then("ok", remembering((TABS, TABS)), "ok", "ok")
    it.person.says("Hello")
    before = it.model.system_texts[-1]
    it.person.says(TABS)
    it.person.says("Hello")
    after = it.model.system_texts[-1]
    end = before.index("\n</kept_notes>")
    assert after.startswith(before[:end])
    assert TABS in after[end:]


def test_write_during_a_run_does_not_change_its_system_message() -> None:
    it = remembered()
    it.model.then(remembering((TABS, TABS)), tool_calls(("recall", {"query": "tabs"})), "ok")
    it.person.says(TABS)
    assert len(set(it.model.system_texts[2:])) == 1


def test_resumed_run_keeps_its_system_message() -> None:
    it = remembered()
    it.model.then(remembering((TABS, TABS)), tool_calls(("ask_user", {"question": "Sure?"})), "ok")
    it.person.says(TABS)
    it.person.answers("yes")
    assert len(set(it.model.system_texts[2:])) == 1


def test_compaction_renders_the_digest_again() -> None:
    summary = SummarizationMiddleware(
        ScriptedChatModel(["summary"] * 9), trigger=("messages", 8), keep=("messages", 3)
    )
    it = remembered(before=[summary])
    it.model.then("ok", remembering((TABS, TABS)), tool_calls(("recall", {"query": "x"})), "ok")
    it.person.says("Hello")
    it.person.says(TABS)
    shown = [TABS in text for text in it.model.system_texts[3:]]
    assert (shown[0], shown[-1]) == (False, True)


def test_digest_survives_a_summary() -> None:
    summary = SummarizationMiddleware(
        ScriptedChatModel(["summary"] * 9), trigger=("messages", 4), keep=("messages", 1)
    )
    it = remembered(before=[summary], system_prompt="Be kind.")
    for _ in range(5):
        it.person.says("Hello")
    assert all(ZSH in text and "Be kind." in text for text in it.model.system_texts[2:])


def test_braces_in_a_note_are_only_braces() -> None:
    said = "I always use {name} and {{x}} in my prompts"
    it = talk(remembering((said, said)), "ok")
    it.person.says(said)
    it.person.says("Hello")
    assert "{name} and {{x}}" in it.model.system_texts[-1]


def test_turned_off_memory_still_shows_its_notes() -> None:
    it = remembered()
    off = talk("ok", memory=CreditedMemory(enabled=False), checkpointer=it.agent.checkpointer)
    off.person.says("Hello")
    assert ZSH in off.model.system_texts[-1]
    assert "remember" not in off.model.offered


def test_thread_that_began_without_memory_takes_notes_from_now_on() -> None:
    saver = InMemorySaver()
    create_agent(ScriptedChatModel(["hi"]), [], checkpointer=saver).invoke(
        {"messages": ["Hello"]}, thread()
    )
    it = remembered(checkpointer=saver)
    assert it.active == [ZSH]


def test_threads_of_one_agent_do_not_share_notes() -> None:
    it = remembered()
    it.agent.invoke({"messages": ["Hello"]}, thread("other"))
    assert it.model.system_texts[-1] == ""


def test_two_agents_of_one_memory_do_not_share_notes() -> None:
    memory = CreditedMemory()
    remembered(memory=memory)
    other = talk("ok", memory=memory)
    other.person.says("Hello")
    assert other.model.system_texts == [""]


def test_fork_follows_its_branch() -> None:
    asked = "Please forget that I use zsh"
    it = remembered()
    before = it.agent.get_state(it.config).config
    it.model.then(forgetting("zsh", asked), "ok")
    it.person.says(asked)
    it.agent.invoke({"messages": ["Hello"]}, before)
    assert ZSH in it.model.system_texts[-1]


# --- how little is written ---


def test_run_without_a_write_records_itself_once_and_adds_no_node() -> None:
    it = remembered()
    before = len(list(it.agent.get_state_history(it.config)))
    it.person.says("Hello")
    after = len(list(it.agent.get_state_history(it.config)))
    assert (after - before, sorted(it.agent.nodes)) == (3, ["__start__", "model", "tools"])


def test_output_of_the_agent_does_not_carry_the_channels() -> None:
    it = talk(remembering((ZSH, ZSH)))
    assert sorted(it.agent.invoke({"messages": [ZSH]}, it.config)) == ["messages"]


def test_short_note_takes_little_room_in_a_checkpoint() -> None:
    it = remembered()
    _, stored = JsonPlusSerializer().dumps_typed(it.person.state["memory_ledger"])
    assert len(stored) < 400


# --- after the tools ---


def test_stream_tells_what_was_remembered_and_forgotten() -> None:
    asked = "Please forget that I use zsh"
    it = talk(
        remembering((ZSH, ZSH), ("Deploy on Fridays", "x y")), "ok", forgetting("zsh", asked), "ok"
    )
    news = []
    for text in (ZSH, asked):
        news += list(it.agent.stream({"messages": [text]}, it.config, stream_mode="custom"))
    zsh, deploy = it.memory.notebook(it.agent, it.config).notes.values()
    assert news == [
        {"type": "remembered", "id": zsh.id, "text": ZSH, "status": "active"},
        {"type": "remembered", "id": deploy.id, "text": deploy.text, "status": "unconfirmed"},
        {"type": "forgot", "id": zsh.id, "text": ZSH},
    ]


async def test_async_stream_tells_what_was_remembered() -> None:
    it = talk(remembering((ZSH, ZSH)))
    stream = it.agent.astream({"messages": [ZSH]}, it.config, stream_mode="custom")
    assert [item["type"] async for item in stream] == ["remembered"]


def test_stream_does_not_tell_of_a_write_that_was_refused() -> None:
    it = talk(remembering((ZSH, ZSH)), memory=CreditedMemory(limits=Limits(writes_per_run=0)))
    assert list(it.agent.stream({"messages": [ZSH]}, it.config, stream_mode="custom")) == []


def test_model_call_that_is_tried_again_tells_its_news_once() -> None:
    failures = iter([True, False])

    def flaky(messages: Any) -> str:
        if next(failures, False):
            raise ValueError("overloaded")
        return "ok"

    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0)
    it = talk(remembering((ZSH, ZSH)), flaky, flaky, before=[retry])
    news = list(it.agent.stream({"messages": [ZSH]}, it.config, stream_mode="custom"))
    assert [item["type"] for item in news] == ["remembered"]


def test_parallel_remember_and_forget_of_one_note_are_answered_truly() -> None:
    asked = "Please forget that I use zsh"
    both = tool_calls(
        ("forget", {"query": "zsh", "said": asked}), ("remember", {"note": ZSH, "said": ZSH})
    )
    it = talk(remembering((ZSH, ZSH)), "ok", both)
    it.person.says(ZSH)
    it.person.says(ZSH, asked)
    assert it.active == []
    assert not it.tool_answers[2].startswith("Remembered")


def test_every_tool_call_has_one_answer_and_no_message_is_orphaned() -> None:
    both = tool_calls(
        ("remember", {"note": ZSH, "said": ZSH}),
        ("remember", {"note": ZSH, "said": ZSH}),
        ("recall", {"query": "zsh"}),
    )
    it = talk(both)
    it.person.says(ZSH)
    messages = it.person.state["messages"]
    answered = [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
    assert answered == [call["id"] for call in both.tool_calls]


# --- with other middleware ---


@dynamic_prompt
def replaced_prompt(request: Any) -> str:
    return "Another persona."


def test_prompt_that_another_middleware_makes_before_ours_keeps_the_digest() -> None:
    it = remembered(before=[replaced_prompt])
    it.person.says("Hello")
    assert "Another persona." in it.model.system_texts[-1]
    assert ZSH in it.model.system_texts[-1]


def test_middleware_after_ours_that_takes_the_digest_away_is_warned_about_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware_module._the_watch, "warned", False)
    it = remembered(after=[replaced_prompt])
    with caplog.at_level(logging.WARNING, "langmem_credit"):
        it.person.says("Hello")
        it.person.says("Hello")
    assert caplog.messages == [
        (
            "another middleware took the kept notes out of the system message: list the memory's "
            "middleware last"
        )
    ]


@pytest.mark.parametrize("first", [True, False], ids=["listed first", "listed last"])
@pytest.mark.parametrize(
    "other",
    [
        lambda: SummarizationMiddleware(ScriptedChatModel(["s"] * 9), trigger=("messages", 50)),
        lambda: PIIMiddleware("email", apply_to_input=True),
        lambda: HumanInTheLoopMiddleware({"send": True}),
        ModelRetryMiddleware,
        ToolRetryMiddleware,
    ],
    ids=["summarization", "pii", "review", "model retry", "tool retry"],
)
def test_memory_works_beside_other_middleware(first: bool, other: Any) -> None:
    it = remembered(**({"before": [other()]} if first else {"after": [other()]}))
    it.person.says("Hello")
    assert (it.active, ZSH in it.model.system_texts[-1]) == ([ZSH], True)


def test_reviewer_may_change_a_remember_call_and_the_answer_fits_what_was_called() -> None:
    review = HumanInTheLoopMiddleware({"remember": True})
    it = talk(remembering(("Push it", "x y")), after=[review])
    it.person.says(ZSH)
    action = {"name": "remember", "args": {"note": ZSH, "said": ZSH}}
    it.person.answers({"decisions": [{"type": "edit", "edited_action": action}]})
    assert it.active == [ZSH]


def test_reviewer_may_reject_a_remember_call() -> None:
    review = HumanInTheLoopMiddleware({"remember": True})
    it = talk(remembering((ZSH, ZSH)), after=[review])
    it.person.says(ZSH)
    it.person.answers({"decisions": [{"type": "reject", "message": "no"}]})
    assert it.memory.history(it.agent, it.config) == []


def test_two_memories_in_one_agent_are_refused() -> None:
    with pytest.raises(AssertionError, match="duplicate middleware"):
        talk("ok", after=[CreditedMemory().middleware()])


def test_model_that_a_tool_sent_a_state_of_its_own_goes_on_without_notes() -> None:
    @tool
    def send(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Sends the model a state of its own."""
        said = ToolMessage("sent", tool_call_id=tool_call_id)
        return Command(
            update={"messages": [said]}, goto=[Send("model", {"messages": [HumanMessage(ZSH)]})]
        )

    it = talk(tool_calls(("send", {})), remembering((ZSH, ZSH)), "ok", "ok", tools=[send])
    it.person.says("Hello")
    assert it.active == []


def test_agent_whose_own_state_declares_a_channel_otherwise_is_refused() -> None:
    class State(AgentState[Any]):
        memory_ledger: list[Any]

    it = talk("ok", state_schema=State)
    with pytest.raises(ConfigurationError, match="must not declare memory_ledger"):
        it.person.says("Hello")


class Short(AgentMiddleware[Any, Any, Any]):
    """Answers for the model."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return AIMessage("Closed today")


def test_run_in_which_the_model_is_not_called_leaves_nothing_behind() -> None:
    it = remembered(before=[Short()])
    assert it.person.says("Hello") == "Closed today"


def test_middleware_brings_its_tools_and_name() -> None:
    middleware = CreditedMemory().middleware()
    assert isinstance(middleware, CreditedMemoryMiddleware)
    assert [one.name for one in middleware.tools] == ["remember", "recall", "forget", "ask_user"]


@tool
def look() -> str:
    """Looks."""
    return "nothing"


def test_runs_without_a_checkpointer_work() -> None:
    it = talk(remembering((ZSH, ZSH)), tool_calls(("look", {})), tools=[look], checkpointer=None)
    output = it.agent.invoke({"messages": [HumanMessage(ZSH)]})
    assert output["messages"][-1].text == "Done"


def test_resuming_a_finished_thread_changes_nothing() -> None:
    it = remembered()
    it.agent.invoke(Command(resume="yes"), it.config)
    assert it.active == [ZSH]
