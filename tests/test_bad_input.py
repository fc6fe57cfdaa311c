"""Bad input, one argument at a time: a clear answer, never a traceback, nothing half-saved."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from langmem_credit import (
    ChromaIndex,
    CreditedMemory,
    CreditError,
    Scope,
    Utterance,
    create_store_rule,
    judge,
    mark,
)
from langmem_credit.answers import FAILED
from langmem_credit.testing import tool_calls

from .graph_support import talk
from .sharing_support import USER, ZSH, Office, remember

FORGET = "Forget that I always use zsh"
BAD: dict[str, Any] = {
    "empty": "",
    "none": None,
    "white space": " \n\t",
    "a megabyte": "x" * 1_000_000,
    "a megabyte of words": "use it " * 150_000,
    "NUL": "\0",
    "NUL in words": "I always\0 use zsh",
    "half a character": "\ud83d",
    "half a character in words": "I always \udc00 use zsh",
    "only emoji": "🙂👩‍💻",
    "only punctuation": "!?., …",
}
ARGUMENTS = {
    "remember": ("note", "said", "kind", "about", "core", "id", "scope"),
    "recall": ("query", "id", "about", "kind", "limit", "cursor", "scope"),
    "forget": ("query", "id", "said", "why", "scope"),
    "ask_user": ("question",),
}
HONEST: dict[str, dict[str, Any]] = {
    "remember": {"note": ZSH, "said": ZSH},
    "recall": {"query": "zsh"},
    "forget": {"query": "zsh", "said": FORGET},
    "ask_user": {"question": "Which shell?"},
}
EACH = [(tool, name) for tool, names in ARGUMENTS.items() for name in names]
each_bad = pytest.mark.parametrize("bad", BAD.values(), ids=BAD)


def is_whole(event: dict[str, Any]) -> bool:
    """Whether it has all its parts, and each may be written to any store."""
    texts = [value for value in event.values() if isinstance(value, str)]
    return event.keys() >= {"v", "id", "type", "at", "note"} and all(
        "\0" not in text and text == text.encode("utf-8", "replace").decode() and len(text) <= 500
        for text in texts
    )


def history(office: Office, person: Any) -> list[dict[str, Any]]:
    return [dict(event) for event in office.memory.history(office.agent, person.config)]


# What a model passes to a tool.


def test_the_table_names_every_argument_of_every_tool() -> None:
    offered = CreditedMemory(scopes=[USER]).tools()
    schemas = {one.name: set(one.get_input_jsonschema()["properties"]) for one in offered}
    assert schemas == {tool: set(names) for tool, names in ARGUMENTS.items()}


@each_bad
@pytest.mark.parametrize(("tool", "name"), EACH, ids=[f"{tool} {name}" for tool, name in EACH])
def test_a_bad_argument_beside_honest_ones_gets_a_clear_answer(
    tool: str, name: str, bad: Any, caplog: pytest.LogCaptureFixture
) -> None:
    office = Office(USER)
    person = office.person(user_id="ann")
    if tool != "remember":
        office.keep(person, ZSH)
    words = {"remember": ZSH, "forget": FORGET}.get(tool, "Hello")
    before = history(office, person)
    with caplog.at_level(logging.DEBUG, "langmem_credit"):
        told = office.run(person, words, tool_calls((tool, {**HONEST[tool], name: bad})))
    if tool == "ask_user" and not told:
        (question,) = office.agent.get_state(person.config).interrupts
        assert question.value["question"].encode()
        assert "\0" not in question.value["question"]
        return
    (answer,) = told
    assert answer != FAILED
    assert 0 < len(answer) < 1_000
    assert not [line for line in caplog.messages if "failed" in line]
    written = history(office, person)[len(before) :]
    assert len(written) <= 1
    for event in written:
        assert is_whole(event)
    assert answer.startswith(("Remembered", "Kept", "Forgotten")) == bool(written)
    assert office.notes(person) in ([], [ZSH])


@pytest.mark.parametrize("name", ["kind", "about", "core", "id", "scope"])
@each_bad
def test_a_bad_detail_does_not_lose_the_persons_words(name: str, bad: Any) -> None:
    office = Office(USER)
    person = office.person(user_id="ann")
    assert office.keep(person, ZSH, **{name: bad}).startswith("Remembered")
    assert office.notes(person) == [ZSH]


@pytest.mark.parametrize("bad", [BAD[name] for name in ("NUL", "half a character", "only emoji")])
def test_a_scope_that_is_none_forgets_nothing_and_the_answer_names_those_there_are(
    bad: str,
) -> None:
    office = Office(USER)
    person = office.person(user_id="ann")
    office.keep(person, ZSH)
    answer = office.forget(person, FORGET, "zsh", scope=bad)
    assert answer.startswith("Nothing was forgotten: there is no scope ")
    assert "Pass one of session, user, or none for all." in answer
    assert office.notes(person) == [ZSH]


# What the person types.


TYPED = {name: bad for name, bad in BAD.items() if bad is not None}


@pytest.mark.parametrize("bad", TYPED.values(), ids=TYPED)
def test_whatever_is_typed_the_run_goes_on_and_supports_no_other_note(bad: str) -> None:
    it = talk(tool_calls(("remember", {"note": ZSH, "said": ZSH}), ("recall", {"query": bad})))
    it.person.says(bad)
    assert (it.active, len(it.tool_answers)) == ([], 2)


# What host code passes.


def one_waiting() -> tuple[CreditedMemory, Any, Any, str]:
    """A memory, its agent, the thread's config and the id of a note that waits."""
    office = Office(USER)
    person = office.person(user_id="ann")
    office.run(person, "Hello", remember(ZSH, said="Hello"))
    (note,) = office.memory.unconfirmed(office.agent, person.config)
    return office.memory, office.agent, person.config, note.id


DECISIONS = [
    ("confirm", "note_id"),
    ("confirm", "shown"),
    ("confirm", "text"),
    ("confirm", "by"),
    ("dispute", "note_id"),
    ("dispute", "why"),
    ("dispute", "by"),
    ("forget", "note_id"),
    ("forget", "why"),
    ("forget", "by"),
    ("restore", "note_id"),
    ("restore", "by"),
]


@each_bad
@pytest.mark.parametrize(("method", "name"), DECISIONS, ids=[" ".join(one) for one in DECISIONS])
def test_a_decision_on_bad_input_is_whole_or_refused_with_the_reason(
    method: str, name: str, bad: Any
) -> None:
    memory, agent, config, note_id = one_waiting()
    if method == "restore":
        memory.forget(agent, config, note_id)
    arguments = {"note_id": note_id, **({"shown": ZSH} if method == "confirm" else {}), name: bad}
    before = memory.history(agent, config)
    refused = ""
    try:
        getattr(memory, method)(agent, config, **arguments)
    except CreditError as error:
        refused = str(error)
    after = memory.history(agent, config)
    assert after[: len(before)] == before
    assert (len(after) == len(before)) == bool(refused)
    assert len(refused) < 400
    assert all(map(is_whole, after))


READS = ["notes", "unconfirmed", "notebook", "history", "digest"]
# Each with what is passed in the place of what it needs.
LOOKS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    **{f"{one} graph": lambda m, g, c, x, one=one: getattr(m, one)(x, c) for one in READS},
    **{f"{one} config": lambda m, g, c, x, one=one: getattr(m, one)(g, x) for one in READS},
    "history of": lambda m, g, c, x: m.history(g, c, x),
    "thread": lambda m, g, c, x: m.notes(g, {"configurable": {"thread_id": x}}),
    "user": lambda m, g, c, x: m.notes(g, {"configurable": {"thread_id": "2", "user_id": x}}),
    "retriever query": lambda m, g, c, x: m.retriever(g, c).invoke(x),
    "retriever about": lambda m, g, c, x: m.retriever(g, c, about=x).invoke("zsh"),
    "retriever k": lambda m, g, c, x: m.retriever(g, c, k=x).invoke("zsh"),
    "digest runnable": lambda m, g, c, x: m.digest_runnable(g, c).invoke(x),
    "fold": lambda m, g, c, x: m.fold(x, {}),
    "bind": lambda m, g, c, x: m.bind(x),
    "judge note": lambda m, g, c, x: judge(x, ZSH, [Utterance("m", ZSH)]),
    "judge said": lambda m, g, c, x: judge(ZSH, x, [Utterance("m", ZSH)]),
    "judge heard": lambda m, g, c, x: judge(ZSH, ZSH, x),
    "judge text": lambda m, g, c, x: judge(ZSH, ZSH, [Utterance("m", x)]),
    "mark": lambda m, g, c, x: mark(x, via="paste"),
    "mark via": lambda m, g, c, x: mark("Hello", via=x),
    "mark speaker": lambda m, g, c, x: mark("Hello", speaker=x),
    "scope name": lambda m, g, c, x: Scope(x, ("memories", "{user_id}")),
    "scope namespace": lambda m, g, c, x: Scope("user", x),
    "scope label": lambda m, g, c, x: Scope("user", (x, "{user_id}")),
    "scope words": lambda m, g, c, x: Scope("team", ("a",), words=x),
    "scope word": lambda m, g, c, x: Scope("team", ("a",), words=(x,)),
    "scopes": lambda m, g, c, x: CreditedMemory(scopes=x),
    "agent name": lambda m, g, c, x: CreditedMemory(agent_name=x),
    "index": lambda m, g, c, x: CreditedMemory(index=x).index_status(),
    "index place": lambda m, g, c, x: ChromaIndex(x, None).status(),
    "index address": lambda m, g, c, x: ChromaIndex(f"http://{x}", None),
    "index embedder": lambda m, g, c, x: ChromaIndex("index", x),
    "index deployment": lambda m, g, c, x: ChromaIndex("index", None, deployment=x),
    "store rule": lambda m, g, c, x: create_store_rule(x),
}


@each_bad
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_bad_input_of_the_host_gets_an_answer_or_a_short_error_of_its_own(
    look: Callable[..., Any], bad: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    memory, agent, config, _ = one_waiting()
    before = memory.history(agent, config)
    refused, fields = "", []
    try:
        look(memory, agent, config, bad)
    except CreditError as error:
        refused = str(error)
    except ValidationError as error:
        # Of LangChain's own kind of object, by its own means, with the name of the field.
        fields = [one["loc"] for one in error.errors()]
    assert len(refused) < 400
    assert fields in ([], [("k",)], [("about",)])
    assert memory.history(agent, config) == before


@pytest.mark.parametrize("name", ["note", "said"])
def test_a_rule_that_is_given_no_text_says_which(name: str) -> None:
    with pytest.raises(CreditError, match=f"judge\\(\\) needs {name} as text, not None"):
        judge(**{"note": ZSH, "said": ZSH, "heard": [Utterance("m", ZSH)], name: None})


@pytest.mark.parametrize("heard", [ZSH, None, [ZSH], [Utterance("m", None)]])  # type: ignore[arg-type]
def test_a_rule_that_is_given_no_utterances_says_so(heard: Any) -> None:
    with pytest.raises(CreditError, match=r"Pass \[?Utterance\(id, text\)"):
        judge(ZSH, ZSH, heard)
