"""Marks by which a host says how a text came, and several people in one thread."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

from langmem_credit.errors import ConfigurationError
from langmem_credit.heard import hear, mark, mark_code
from langmem_credit.marks import MARK, Spoken, made_by_code, spoken_in
from langmem_credit.notes import VIAS

from .graph_support import heard_texts, heard_ways, listening_agent, thread

UNTYPED = sorted(set(VIAS) - {"input", "answer"})


@pytest.mark.parametrize("via", UNTYPED)
def test_marked_text_is_heard_as_what_it_is(via: str) -> None:
    agent = listening_agent()
    agent.invoke({"messages": [mark("Always use tabs", via=via)]}, thread())
    assert heard_ways(agent) == [("Always use tabs", via)]


@pytest.mark.parametrize("via", UNTYPED)
def test_mark_survives_json_and_sending_again(via: str) -> None:
    agent = listening_agent()
    queued = json.dumps(messages_to_dict([mark("Always use tabs", via=via)]))
    for _ in range(2):
        agent.invoke({"messages": messages_from_dict(json.loads(queued))}, thread())
    assert heard_ways(agent) == [("Always use tabs", via)]


def test_mark_in_a_plain_dict_counts() -> None:
    agent = listening_agent()
    message = {
        "role": "user",
        "content": "Always use tabs",
        "additional_kwargs": {MARK: {"via": "prefill"}},
    }
    agent.invoke({"messages": [message]}, thread())
    assert heard_ways(agent) == [("Always use tabs", "prefill")]


def test_marking_leaves_the_message_that_was_given_alone() -> None:
    message = HumanMessage("Always use tabs")
    mark(message, via="paste")
    assert message.additional_kwargs == {}


def test_marking_keeps_what_else_the_message_carries() -> None:
    message = HumanMessage("x", id="m1", additional_kwargs={"mine": 1})
    marked = mark(mark(message, speaker="Ann"), via="voice")
    assert (marked.id, marked.additional_kwargs) == (
        "m1",
        {"mine": 1, MARK: {"speaker": "Ann", "via": "voice"}},
    )


def test_typed_parts_become_utterances_of_their_own() -> None:
    message = mark("Sum this up:\nTabs are best.\nThanks", typed=["Sum this up:", "Thanks"])
    assert spoken_in(message) == [
        Spoken("Sum this up:", "input", None, message.text),
        Spoken("\nTabs are best.\n", "paste", None, message.text),
        Spoken("Thanks", "input", None, message.text),
    ]


def test_parts_of_one_message_are_heard_with_ids_of_their_own() -> None:
    agent = listening_agent()
    message = mark(HumanMessage("I use zsh. Tabs are best.", id="m1"), typed=["I use zsh."])
    agent.invoke({"messages": [message]}, thread())
    heard = agent.get_state(thread()).values["memory_run"]["heard"]
    assert [(part["id"], part["text"]) for part in heard] == [
        ("m1", "I use zsh."),
        ("m1#2", " Tabs are best."),
    ]


def test_no_typed_part_means_all_of_it_was_pasted() -> None:
    assert [part.via for part in spoken_in(mark("Tabs are best", typed=[]))] == ["paste"]


@pytest.mark.parametrize(
    "said",
    [
        {"via": "telepathy"},
        {"via": None, "typed": ["not there"]},
        {"via": "answer"},
        {"typed": "Always"},
        {"typed": [7]},
        {"typed": [""]},
        "typed",
        ["typed"],
        True,
    ],
    ids=str,
)
def test_mark_that_makes_no_sense_counts_as_pasted(said: Any) -> None:
    message = HumanMessage("Always use tabs", additional_kwargs={MARK: said})
    assert spoken_in(message) == [Spoken("Always use tabs", "paste", None, "Always use tabs")]


WAYS = "input, prefill, click, paste, voice, other_speaker, edited"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"via": "telepathy"}, f"via='telepathy' is unknown. Use one of {WAYS}."),
        # Whether a text answers the agent's question is for the memory to know.
        ({"via": "answer"}, f"via='answer' is unknown. Use one of {WAYS}."),
        ({"via": ""}, f"via='' is unknown. Use one of {WAYS}."),
        ({"via": 7}, f"via=7 is unknown. Use one of {WAYS}."),
        ({"via": ["paste"]}, f"via=a list is unknown. Use one of {WAYS}."),
        (
            {"speaker": ""},
            "speaker='' is no name. Pass who sent the message, as text, or leave speaker out.",
        ),
        (
            {"speaker": " \n"},
            "speaker=' \\n' is no name. Pass who sent the message, as text, or leave speaker out.",
        ),
        (
            {"speaker": 7},
            "speaker=7 is no name. Pass who sent the message, as text, or leave speaker out.",
        ),
        (
            {"typed": "Use"},
            (
                "typed must be a list of the parts that were typed, not 'Use'. Pass "
                'typed=["…"], or typed=[] where none was.'
            ),
        ),
        (
            {"typed": 7},
            (
                'typed must be a list of the parts that were typed, not 7. Pass typed=["…"], or '
                "typed=[] where none was."
            ),
        ),
        (
            {"typed": ["tabs", "Use"]},
            (
                "typed must be parts of the message's text, in their order; part 2 is not: 'Use'. "
                "Copy the parts out of the text."
            ),
        ),
        (
            {"typed": [None]},
            (
                "typed must be parts of the message's text, in their order; part 1 is not: None. "
                "Copy the parts out of the text."
            ),
        ),
        (
            {},
            (
                f"mark() was told nothing about the message. Pass via= (one of {WAYS}), "
                "speaker= (a name), or typed= (the parts that were typed)."
            ),
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_mark_that_cannot_be_made_names_the_remedy(options: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        mark("Use tabs", **options)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (AIMessage("x"), "an AIMessage"),
        (SystemMessage("x"), "a SystemMessage"),
        (ToolMessage("x", tool_call_id="1"), "a ToolMessage"),
        ({"role": "user", "content": "x"}, "a dict"),
        (("user", "x"), "a tuple"),
        ([HumanMessage("x")], "a list"),
        (None, "None"),
        (7, "7"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_only_a_persons_message_can_be_marked(message: Any, shown: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        mark(message, via="paste")
    assert str(caught.value) == (
        f"mark() takes a HumanMessage or its text, not {shown}. Only what a person sent can be "
        "marked: mark(HumanMessage(…), …)."
    )


def test_text_that_is_marked_becomes_a_message() -> None:
    assert mark("Use tabs", via="paste") == HumanMessage(
        "Use tabs", additional_kwargs={MARK: {"via": "paste"}}
    )


def test_error_about_a_part_does_not_show_a_long_one_whole() -> None:
    with pytest.raises(ConfigurationError) as caught:
        mark("x", typed=["y" * 1_000_000])
    assert len(str(caught.value)) < 250


def test_many_typed_parts_take_time_in_proportion_to_the_text() -> None:
    parts = ["ab"] * 20_000
    assert len(spoken_in(mark(" ".join(parts), typed=parts))) == 20_000


def test_message_marked_as_code_is_not_heard() -> None:
    agent = listening_agent()
    agent.invoke({"messages": [mark_code(HumanMessage("Always use tabs"))]}, thread())
    assert heard_texts(agent) == []


def test_message_marked_as_code_says_so() -> None:
    assert made_by_code(mark_code(HumanMessage("x"))) is True


def test_each_utterance_carries_its_speaker() -> None:
    agent = listening_agent()
    messages = [mark("I use zsh", speaker="Ann"), HumanMessage("I use fish", name="Bo")]
    agent.invoke({"messages": messages}, thread())
    run = hear(agent.get_state(thread()).values)
    heard = agent.get_state(thread()).values["memory_run"]["heard"]
    assert [part["speaker"] for part in heard] == ["Ann", "Bo"]
    assert run.heard == ()


def test_asking_speaker_is_the_one_who_spoke_last() -> None:
    runs: list[Any] = []
    agent = listening_agent(runs=runs)
    messages = [mark("I use zsh", speaker="Ann"), mark("I use fish", speaker="Bo")]
    agent.invoke({"messages": messages}, thread())
    assert runs[0].speaker == "Bo"


def test_speaker_of_an_earlier_run_is_not_kept() -> None:
    runs: list[Any] = []
    agent = listening_agent(runs=runs)
    agent.invoke({"messages": [mark("I use zsh", speaker="Ann")]}, thread())
    agent.invoke({"messages": ["I use fish"]}, thread())
    assert runs[-1].speaker is None


def test_same_words_typed_twice_are_two_utterances() -> None:
    agent = listening_agent()
    agent.invoke({"messages": ["I use zsh", "I use zsh"]}, thread())
    assert heard_texts(agent) == ["I use zsh", "I use zsh"]


@pytest.mark.parametrize("text", ["", "  \n", "\u200b", "\x00", "🙂"])
def test_odd_text_breaks_nothing(text: str) -> None:
    agent = listening_agent()
    agent.invoke({"messages": [HumanMessage(text)]}, thread())
    assert heard_texts(agent) == ([text] if text.strip() else [])


def test_very_long_text_is_heard_by_its_beginning_and_end() -> None:
    agent = listening_agent()
    agent.invoke({"messages": [HumanMessage("a" * 500_000 + "b" * 500_000)]}, thread())
    assert heard_texts(agent) == ["a" * 50_000 + "\n" + "b" * 50_000]
