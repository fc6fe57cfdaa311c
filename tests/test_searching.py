"""Search over all sessions of a person."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.store.memory import InMemoryStore

from langmem_credit import checkpoints, mark, searching
from langmem_credit.checkpoints import LookBack, ThreadReader
from langmem_credit.errors import (
    ConfigurationError,
    StoreError,
    UnknownSessionError,
    UnreadableSessionError,
)
from langmem_credit.matching import Place, best_line, excerpt, query_words
from langmem_credit.memory import CreditedMemory
from langmem_credit.register import Sighting
from langmem_credit.searching import SearchProgress
from langmem_credit.state import MemoryInput, MemoryState
from langmem_credit.testing import ScriptedChatModel, tool_calls
from langmem_credit.transcripts import CACHE, LastAsked, TranscriptCache, transcript_of

from . import store_support
from .sharing_support import USER, Flaky

ANN = {"configurable": {"user_id": "ann"}}
BOB = {"configurable": {"user_id": "bob"}}


@pytest.fixture(autouse=True)
def _nothing_at_hand() -> None:
    CACHE.clear()


class Library:
    """Sessions of a graph with memory, written without running a model for each."""

    def __init__(self, saver: Any = None, store: Any = None, stored: bool = True) -> None:
        self.store = store or (InMemoryStore() if stored else None)
        self.memory = CreditedMemory(scopes=[USER] if stored else [])
        self.model = ScriptedChatModel()
        self.agent = create_agent(
            self.model,
            middleware=[self.memory.middleware()],
            checkpointer=saver or InMemorySaver(),
            store=self.store,
        )

    def config(self, thread: str, user: str = "ann") -> Any:
        return {"configurable": {"thread_id": thread, "user_id": user}}

    def run(self, thread: str, *texts: Any, user: str = "ann", answer: str = "ok") -> None:
        """A run for each text."""
        for text in texts:
            self.model.then(answer)
            self.agent.invoke({"messages": [text]}, self.config(thread, user))

    async def arun(self, thread: str, *texts: Any, user: str = "ann", answer: str = "ok") -> None:
        for text in texts:
            self.model.then(answer)
            await self.agent.ainvoke({"messages": [text]}, self.config(thread, user))

    def add(self, thread: str, *messages: Any, user: str = "ann") -> None:
        """Messages that the host writes into the thread, past the register."""
        self.agent.update_state(self.config(thread, user), {"messages": list(messages)})

    def steps(self, query: str, config: Any = ANN, **more: Any) -> list[SearchProgress]:
        return list(self.memory.search_sessions(self.agent, config, query, **more))

    def last(self, query: str, config: Any = ANN, **more: Any) -> SearchProgress:
        return self.steps(query, config, **more)[-1]

    def found(self, query: str, config: Any = ANN, **more: Any) -> list[str]:
        return [hit.session.id for hit in self.last(query, config, **more).hits]

    def lines(self, query: str, **more: Any) -> list[str]:
        return [hit.line for hit in self.last(query, **more).hits]


class Counts:
    """What a checkpointer in memory was asked, and how often messages were made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks: list[str] = []
        self.woken = 0
        self.saver = InMemorySaver(serde=_Waking(self))
        real = InMemorySaver.get_tuple

        def get_tuple(saver: InMemorySaver, config: Any) -> Any:
            self.looks.append(config["configurable"]["thread_id"])
            return real(saver, config)

        monkeypatch.setattr(InMemorySaver, "get_tuple", get_tuple)


class _Waking(JsonPlusSerializer):
    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def loads_typed(self, data: Any) -> Any:
        value = super().loads_typed(data)
        if isinstance(value, list) and value and hasattr(value[0], "content"):
            self._counts.woken += 1
        return value


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    return Counts(monkeypatch)


# What matches.


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Deploy on Fridays", "DEPLOY fridays"),
        ("Das Café in der Straße", "cafe strasse"),
        ("Zoë żółw naïve", "zoe zolw naive"),
        ("Ｐｎｐｍ １２３", "pnpm 123"),
        ("I don't know", "dont"),
        ("我住在成都，天气很好", "成都 天气"),
        ("请用 pnpm 安装", "用pnpm安装"),
        ("パスタが食べたい", "パスタ 食べ"),
        ("ﾊﾟｽﾀ", "パスタ"),
        ("ผมชอบกินข้าวผัด", "ข้าวผัด"),
        ("저는 서울에 살아요", "서울"),
        ("Я живу в Москве", "МОСКВ"),
        ("use C++ and v1.2-rc", '"C++", v1.2-rc'),
        ("undeployable", "deploy"),
        ("100% _sure_ 'quoted' {x}", "100% _sure_ {x}"),
        ("شَقَّة في القاهرة", "شقة القاهرة"),
    ],
)
def test_words_match_whatever_their_case_accents_and_width(text: str, query: str) -> None:
    library = Library()
    library.run("one", "Hello", text)
    library.run("other", "Hello", "something else")

    assert library.found(query) == ["one"]


@pytest.mark.parametrize("query", ["deploy monday", "deploy on_fridays", "fridays%", "de ploy x"])
def test_all_words_must_match(query: str) -> None:
    library = Library()
    library.run("one", "Hello", "Deploy on Fridays")

    assert library.last(query) == SearchProgress(searched=1, of=1, done=True)


def test_words_may_stand_in_the_title_and_in_the_conversation() -> None:
    library = Library()
    library.run("one", "Plan the trip to Porto", "and a cheap hotel")

    (hit,) = library.last("porto hotel").hits

    assert (hit.in_title, hit.line) == (False, "Plan the trip to Porto")


def test_words_of_different_messages_match_and_the_fullest_line_is_shown() -> None:
    library = Library()
    library.run("one", "blue", "red\nred and green\nblue", answer="green")

    (hit,) = library.last("red green blue").hits

    assert (hit.line, hit.place.message, hit.place.line) == ("red and green", 2, 1)


@pytest.mark.parametrize("query", ["", "  \n", "x" * 401, None, 7])
def test_a_query_that_does_not_fit_is_refused(query: Any) -> None:
    library = Library()
    with pytest.raises(ConfigurationError):
        library.memory.search_sessions(library.agent, ANN, query)


@pytest.mark.parametrize("limit", [0, 41, -1, True, None, 2.0])
def test_a_limit_that_does_not_fit_is_refused(limit: Any) -> None:
    library = Library()
    with pytest.raises(ConfigurationError, match="1 to 40"):
        library.memory.search_sessions(library.agent, ANN, "x", limit=limit)


@pytest.mark.parametrize("query", ["?!", "...", "(", "*", "%", "_", "\\", "'"])
def test_a_query_of_signs_alone_is_harmless(query: str) -> None:
    library = Library()
    library.run("one", "Hello there")
    if query == "'":
        with pytest.raises(ConfigurationError):
            library.found(query)
    else:
        assert library.found(query) == []


def test_query_words_are_each_asked_once() -> None:
    assert query_words("a A ａ b") == ("a", "b")


# Whose, and which sessions.


def test_another_persons_sessions_never_appear() -> None:
    library = Library()
    library.run("one", "The secret plan", user="ann")
    library.run("two", "The open plan", user="bob")

    assert library.found("plan", ANN) == ["one"]
    assert library.found("plan", BOB) == ["two"]
    assert library.found("one", BOB) == library.found("secret", BOB) == []
    with pytest.raises(UnknownSessionError):
        library.memory.read_session(library.agent, BOB, "one")


def test_what_one_person_read_is_not_found_by_another() -> None:
    library = Library()
    library.run("one", "Hello", "The secret plan", user="ann")
    assert library.found("secret", ANN) == ["one"]

    assert library.found("secret", BOB) == []


def test_archived_sessions_are_searched_and_trashed_ones_are_not() -> None:
    library = Library()
    for thread in ("one", "two", "three"):
        library.run(thread, "Hello", f"the plan of {thread}")
    library.memory.archive_session(library.agent, ANN, "one")
    library.memory.trash_session(library.agent, ANN, "two")

    assert library.found("plan") == ["three", "one"]
    assert library.found("two") == []
    library.memory.restore_session(library.agent, ANN, "two")
    assert library.found("plan") == ["three", "two", "one"]


def test_a_title_in_the_trash_is_not_found() -> None:
    library = Library()
    library.run("one", "Plan the trip to Porto")
    library.memory.trash_session(library.agent, ANN, "one")

    assert library.last("porto") == SearchProgress(searched=0, of=0, done=True)


@pytest.mark.parametrize("behind", [False, True], ids=["delete_session", "the checkpointer"])
@pytest.mark.parametrize("warm", [False, True])
def test_a_deleted_threads_text_is_not_found(behind: bool, warm: bool) -> None:
    library = Library()
    library.run("one", "Plan the trip to Porto", "a cheap hotel", "bye")
    library.run("two", "Porto wine", "an expensive hotel", "bye")
    if warm:
        assert library.found("hotel") == library.found("porto") == ["two", "one"]
    if behind:
        library.agent.checkpointer.delete_thread("one")
    else:
        library.memory.delete_session(library.agent, ANN, "one")

    for query in ("porto", "hotel", "bye"):
        steps = library.steps(query)
        assert {hit.session.id for step in steps for hit in step.hits} == {"two"}
    assert library.last("cheap").found == 0


def test_a_title_that_was_renamed_is_found_and_the_old_one_only_in_the_conversation() -> None:
    library = Library()
    library.run("one", "Plan the trip to Porto")
    library.memory.rename_session(library.agent, ANN, "one", "Holidays")

    assert [hit.in_title for hit in library.last("holidays").hits] == [True]
    assert [hit.in_title for hit in library.last("porto").hits] == [False]


# What of a conversation.


@tool
def look(place: str) -> str:
    """Looks."""
    return "the tool says marmalade"


def noisy() -> Library:
    library = Library()
    messages = [
        SystemMessage("be a walrus"),
        HumanMessage("Hello"),
        AIMessage(
            [
                {"type": "reasoning", "reasoning": "secretly thinking of bananas"},
                {"type": "thinking", "thinking": "secretly thinking of bananas"},
                {"type": "text", "text": "I look for apples"},
            ],
            tool_calls=[
                {"name": "look", "args": {"place": "cellar"}, "id": "c", "type": "tool_call"}
            ],
        ),
        ToolMessage("the tool says marmalade", tool_call_id="c"),
        HumanMessage("a summary of plums", additional_kwargs={"lc_source": "summarization"}),
    ]
    library.run("one", "Hello")
    library.add("one", *messages)
    return library


@pytest.mark.parametrize("query", ["apples", "hello"])
def test_what_people_and_agents_said_is_searched(query: str) -> None:
    assert noisy().found(query) == ["one"]


@pytest.mark.parametrize("query", ["marmalade", "cellar", "plums", "walrus"])
def test_noise_is_searched_when_asked_only(query: str) -> None:
    library = noisy()
    assert library.found(query) == []
    assert library.found(query, everything=True) == ["one"]
    assert library.found(query) == []


def test_reasoning_is_never_searched() -> None:
    assert noisy().found("bananas", everything=True) == []


def test_a_hit_names_its_line_and_its_place() -> None:
    library = Library()
    library.run("one", "Hello", "first line\nthe blue bird\nlast", answer="ok")

    (hit,) = library.last("blue").hits

    said = library.memory.read_session(library.agent, ANN, "one").said
    message = next(one for one in said if one.number == hit.place.message)
    assert (hit.line, hit.place.line, hit.place.role) == ("the blue bird", 1, "person")
    assert message.text.splitlines()[hit.place.line] == hit.line
    assert message.id == hit.place.message_id != ""


def test_a_hit_in_the_title_shows_the_title() -> None:
    library = Library()
    library.run("one", "Plan the trip to Porto", "Hello")

    (hit,) = library.last("porto").hits

    assert (hit.in_title, hit.line, hit.place) == (True, "Plan the trip to Porto", Place())


def test_a_long_line_is_cut_around_what_was_found() -> None:
    line = excerpt(("needle",), "straw " * 5_000 + "needle " + "hay " * 5_000)

    assert "needle" in line
    assert (len(line) <= 240, line[0], line[-1]) == (True, "…", "…")


def test_a_line_as_long_as_a_book_is_cut_in_no_time() -> None:
    words = tuple(f"{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(130))
    line = f"é{' x y z w' * 130_000} {' '.join(words)}"
    begun = time.process_time()

    shown = excerpt(words, line)

    assert time.process_time() - begun < 5
    assert "aa ba ca" in shown
    assert len(shown) <= 240


def test_a_shown_line_has_no_secret_and_no_control_character() -> None:
    line = excerpt(("plan",), "plan\x1b[31m \u202eb my password is tr0ub4dor&3x")

    assert line == "plan[31m b my password is [secret removed]"


def test_a_secret_across_a_cut_is_removed_whole() -> None:
    text = "plan " + "x" * 3_990 + " my password is tr0ub4dor&3x " + "y" * 9_000
    assert "tr0ub" not in excerpt(("password",), text)


def test_the_line_found_is_the_first_with_most_words() -> None:
    assert best_line(("a", "b"), ["b", "c a", "b a", "a b"]) == (2, 2)


def test_the_conversation_is_searched_in_its_present_version() -> None:
    library = Library()
    library.run("one", "Hello", "the old plan")
    assert library.found("old") == ["one"]
    library.run("one", "the new idea")
    state = library.agent.get_state(library.config("one"))
    old = next(one for one in state.values["messages"] if one.text == "the old plan")
    library.add("one", HumanMessage("the better plan", id=old.id))

    assert (library.found("old"), library.found("new"), library.found("better")) == (
        [],
        ["one"],
        ["one"],
    )


def test_a_word_past_the_cache_bound_is_found_all_the_same(monkeypatch: Any) -> None:
    monkeypatch.setattr(CACHE, "_most_chars", 1_000)
    library = Library()
    library.run("one", "Hello", "lorem " * 1_000 + "needle")

    assert library.found("needle") == library.found("needle") == ["one"]
    assert CACHE.chars <= 1_000


def test_a_phrase_past_the_first_400_000_characters_is_found() -> None:
    library = Library()
    long = "\n".join(f"line {number} of a very long text" for number in range(16_000))
    library.run("one", "Hello", long, long + "\nthe purple submarine sails")
    assert len(long) > 400_000

    (hit,) = library.last("purple submarine").hits

    assert (hit.line, hit.place.message, hit.place.line) == (
        "the purple submarine sails",
        4,
        16_000,
    )


# Compaction.


def compacting(saver: Any) -> Library:
    library = Library()
    library.agent = create_agent(
        library.model,
        middleware=[
            SummarizationMiddleware(
                ScriptedChatModel(["they spoke of plums"] * 9),
                trigger=("messages", 6),
                keep=("messages", 2),
            ),
            library.memory.middleware(),
        ],
        checkpointer=saver,
        store=library.store,
    )
    return library


@pytest.mark.parametrize("saver", ["memory", "sqlite", "postgres"])
def test_what_a_compaction_took_out_is_still_found(
    saver: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_FIRST_PAGE", 5)
    monkeypatch.setattr(checkpoints, "_LARGEST_PAGE", 7)
    opened = {"memory": memory_saver, "sqlite": sqlite_saver, "postgres": postgres_saver}[saver]
    with opened(tmp_path) as checkpointer:
        library = compacting(checkpointer)
        library.run("one", "Hello", *(f"word{number}" for number in range(30)))
        state = library.agent.get_state(library.config("one")).values["messages"]
        assert len(state) < 8

        found = {number: library.found(f"word{number}") for number in range(30)}
        said = library.memory.read_session(library.agent, ANN, "one").said

    assert found == {number: ["one"] for number in range(30)}
    people = [one.text for one in said if one.role == "person"]
    assert people == ["Hello", *(f"word{number}" for number in range(30))]


def test_what_a_node_replaced_by_a_system_message_is_still_found() -> None:
    library = Library()

    def compact(state: Any) -> Any:
        messages = state["messages"]
        if len(messages) < 6:
            return {}
        summary = SystemMessage("they spoke of plums")
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), summary, *messages[-2:]]}

    builder = StateGraph(MemoryState, input_schema=MemoryInput)
    builder.add_node("listen", library.memory.listen)
    builder.add_node("compact", compact)
    builder.add_node("think", lambda state: {"messages": [AIMessage("ok")]})
    for first, second in pairwise([START, "listen", "compact", "think", END]):
        builder.add_edge(first, second)
    library.agent = library.memory.bind(
        builder.compile(checkpointer=InMemorySaver(), store=library.store)
    )
    library.run("one", "Hello", *(f"word{number}" for number in range(9)))

    assert library.agent.get_state(library.config("one")).values["messages"][0].type == "system"
    assert [library.found(f"word{number}") for number in range(9)] == [["one"]] * 9
    assert library.found("plums") == []


def test_the_summary_itself_is_not_what_people_said() -> None:
    library = compacting(InMemorySaver())
    library.run("one", "Hello", *(f"word{number}" for number in range(9)))

    assert library.found("plums") == []
    assert library.found("plums", everything=True) == ["one"]


def test_another_branch_of_a_compacted_thread_is_not_found() -> None:
    saver = InMemorySaver()
    library = compacting(saver)
    library.run("one", "Hello", "first")
    before = saver.get_tuple({"configurable": {"thread_id": "one"}}).config
    library.run("one", "left behind", *(f"gone{number}" for number in range(9)))
    config = {"configurable": {**before["configurable"], "user_id": "ann"}}
    library.agent.invoke({"messages": ["another way"]}, config)
    library.run("one", *(f"word{number}" for number in range(9)))

    assert library.found("first") == library.found("another way") == ["one"]
    assert library.found("left behind") == []
    assert [library.found(f"gone{number}") for number in range(9)] == [[]] * 9


def test_a_message_that_the_host_removed_is_not_found() -> None:
    library = Library()
    library.run("one", "Hello", "a slip", "bye")
    messages = library.agent.get_state(library.config("one")).values["messages"]
    slip = next(one for one in messages if one.text == "a slip")
    library.add("one", RemoveMessage(slip.id))

    assert library.found("slip") == []


def test_a_message_that_the_host_removed_stays_gone_in_a_compacted_thread() -> None:
    library = compacting(InMemorySaver())
    library.run("one", "Hello", *(f"word{number}" for number in range(5)), "a slip")
    messages = library.agent.get_state(library.config("one")).values["messages"]
    slip = next(one for one in messages if one.text == "a slip")
    library.add("one", RemoveMessage(slip.id))
    library.run("one", *(f"word{number}" for number in range(5, 15)))

    assert library.found("word1 word4 word14") == ["one"]
    assert library.found("slip") == []


# Ranking, steps and progress.


def many(sessions: int, texts: Callable[[int], Sequence[str]], stored: bool = True) -> Library:
    library = Library(stored=stored)
    for number in range(sessions):
        library.run(f"s{number:04}", *texts(number))
    return library


def test_of_163_sessions_a_match_in_the_second_oldest_is_found() -> None:
    library = many(163, lambda n: ["Hello", "the purple submarine" if n == 1 else "nothing", "bye"])

    steps = library.steps("purple submarine")

    assert [step.searched for step in steps] == [0, 50, 100, 150, 163]
    assert [step.of for step in steps] == [163] * 5
    assert [step.done for step in steps] == [False, False, False, False, True]
    assert [hit.session.id for hit in steps[-1].hits] == ["s0001"]


def test_an_older_title_stands_before_40_newer_conversations() -> None:
    library = many(60, lambda n: ["The plan" if n == 3 else "Hello", "a plan of mine", "bye"])

    steps = library.steps("plan", limit=5)

    expected = ["s0003", "s0059", "s0058", "s0057", "s0056"]
    assert [hit.session.id for hit in steps[-1].hits] == expected
    assert [hit.session.id for hit in steps[0].hits] == ["s0003"]
    assert steps[-1].found == 60


def test_hits_are_cut_to_40_after_they_are_ranked() -> None:
    library = many(70, lambda n: ["The plan" if n < 10 else "Hello", "a plan of mine", "bye"])

    hits = library.last("plan").hits

    titles = [f"s{number:04}" for number in range(9, -1, -1)]
    bodies = [f"s{number:04}" for number in range(69, 39, -1)]
    assert [hit.session.id for hit in hits] == titles + bodies
    assert library.last("plan").found == 70


def test_a_session_found_by_its_preview_is_counted_once() -> None:
    library = many(20, lambda _: ["Hello", "a plan of mine"])

    steps = library.steps("plan", limit=5)

    assert [(step.found, len(step.hits)) for step in steps] == [(20, 5), (20, 5)]
    assert [hit.place.message for hit in steps[-1].hits] == [2] * 5


def test_the_steps_add_up_to_the_whole() -> None:
    library = many(120, lambda n: ["plan" if n % 10 == 0 else "Hello", f"a plan {n % 3}", "bye"])

    steps = library.steps("plan 1")

    added = [hit.session.id for step in steps for hit in step.new]
    assert sorted(added) == sorted(hit.session.id for hit in steps[-1].hits)
    assert len(added) == len(set(added)) == 40
    assert all(len(step.hits) == len(set(step.hits)) for step in steps)
    assert [step.found for step in steps][-1] == 40


def test_nothing_found_is_said_at_the_end_only() -> None:
    library = many(60, lambda n: ["Hello"])

    assert [step.done for step in library.steps("nowhere")] == [False, False, True]


def test_titles_and_previews_are_compared_before_a_conversation_is_read(counts: Counts) -> None:
    library = Library(counts.saver)
    for number in range(60):
        library.run(f"s{number:02}", "Plan the trip" if number == 1 else "Hello")
    library.run("s02", "a trip of a lifetime")
    counts.looks.clear()
    counts.woken = 0

    search = library.memory.search_sessions(library.agent, ANN, "trip")
    first = search.step()

    assert [(hit.session.id, hit.in_title) for hit in first.hits] == [("s01", True), ("s02", False)]
    assert (first.searched, counts.woken) == (0, 0)
    # To see that their threads are there.
    assert sorted(counts.looks) == ["s01", "s02"]


def test_a_conversation_is_read_once_for_each_version(counts: Counts) -> None:
    library = Library(counts.saver)
    for number in range(60):
        library.run(f"s{number:02}", "Hello")
    counts.woken = 0
    library.found("nowhere")
    assert counts.woken == 60

    library.found("elsewhere")
    assert counts.woken == 60
    library.run("s07", "Hello again")
    counts.woken = 0
    assert library.found("again") == ["s07"]
    assert counts.woken == 1


def test_a_newer_query_drops_the_older_scan() -> None:
    library = many(120, lambda n: ["Hello", "a plan", "bye"])
    older = library.memory.search_sessions(library.agent, ANN, "plan")
    assert [older.step().searched, older.step().searched] == [0, 50]

    newer = library.memory.search_sessions(library.agent, ANN, "plan")

    assert newer.step().searched == 0
    dropped = older.step()
    assert (dropped.searched, dropped.dropped, dropped.done) == (50, True, False)
    assert list(older) == []
    assert older.step() is dropped
    assert [step.searched for step in newer] == [50, 100, 120]


def test_another_person_and_another_window_drop_nothing() -> None:
    library = many(60, lambda n: ["Hello"])
    older = library.memory.search_sessions(library.agent, ANN, "hello")
    library.memory.search_sessions(library.agent, BOB, "hello")
    library.memory.search_sessions(library.agent, ANN, "hello", client="another window")

    assert list(older)[-1].done


def test_a_search_can_be_cancelled_from_another_thread() -> None:
    library = many(120, lambda n: ["Hello"])
    search = library.memory.search_sessions(library.agent, ANN, "hello")
    search.step()
    thread = threading.Thread(target=search.cancel)
    thread.start()
    thread.join()

    assert [step.dropped for step in search] == [True]


def test_a_step_that_failed_can_be_taken_again() -> None:
    store = Flaky()
    library = Library(store=store)
    library.run("one", "Hello")
    search = library.memory.search_sessions(library.agent, ANN, "hello")
    store.down = True
    with pytest.raises(StoreError):
        search.step()
    store.down = False

    assert [hit.session.id for hit in list(search)[-1].hits] == ["one"]


def test_one_broken_conversation_hides_no_other(caplog: Any) -> None:
    saver = InMemorySaver()
    library = Library(saver)
    for thread in ("one", "two", "three"):
        library.run(thread, "Hello", "a secret plan", "bye")
    for key in [key for key in saver.blobs if key[0] == "two" and key[2] == "messages"]:
        saver.blobs[key] = ("msgpack", b"\xc1broken")

    progress = library.last("plan")

    assert [hit.session.id for hit in progress.hits] == ["three", "one"]
    assert (progress.unreadable, progress.done) == (1, True)
    assert "session two cannot be read" in caplog.text
    assert "secret" not in caplog.text
    with pytest.raises(UnreadableSessionError, match="Look at the checkpointer"):
        library.memory.read_session(library.agent, ANN, "two")
    library.memory.delete_session(library.agent, ANN, "two")
    assert library.last("plan").unreadable == 0


def test_a_file_with_a_broken_thread_is_searched_and_the_thread_deleted(tmp_path: Any) -> None:
    with sqlite_saver(tmp_path) as saver:
        library = Library(saver)
        for thread in ("one", "two"):
            library.run(thread, "Hello", "a plan", "bye")
        saver.conn.execute(
            "UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, 600) WHERE thread_id = 'two'"
        )

        progress = library.last("plan")
        assert [hit.session.id for hit in progress.hits] == ["one"]
        assert progress.unreadable == 1
        library.memory.delete_session(library.agent, ANN, "two")
        assert [one.id for one in library.memory.sessions(library.agent, ANN)] == ["one"]
        assert library.last("plan").unreadable == 0


async def test_the_async_iterator_gives_the_same() -> None:
    library = many(60, lambda n: ["plan" if n == 3 else "Hello", "a plan" if n % 2 else "none"])
    expected = library.steps("plan")

    found = [one async for one in library.memory.asearch_sessions(library.agent, ANN, "plan")]

    assert found == expected


async def test_an_async_search_ends_with_its_task() -> None:
    library = many(120, lambda n: ["Hello"])
    seen: list[int] = []
    begun = asyncio.Event()

    async def search() -> None:
        async for progress in library.memory.asearch_sessions(library.agent, ANN, "hello"):
            seen.append(progress.searched)
            begun.set()
            await asyncio.sleep(0.05)

    task = asyncio.create_task(search())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert len(seen) < 3


# The cache.


def test_the_cache_stays_within_its_bound_and_drops_the_least_used() -> None:
    cache, saver = TranscriptCache(most_chars=250), InMemorySaver()
    transcript = transcript_of([HumanMessage("x" * 50)])
    assert transcript.chars == 100
    for thread in ("one", "two"):
        cache.put(saver, thread, "1", False, transcript)
    assert cache.get(saver, "one", "1", False) is transcript
    cache.put(saver, "three", "1", False, transcript)

    kept = [one for one in ("one", "two", "three") if cache.get(saver, one, "1", False)]
    assert (kept, cache.chars) == (["one", "three"], 200)


def test_a_conversation_larger_than_the_cache_is_not_kept() -> None:
    cache, saver = TranscriptCache(most_chars=99), InMemorySaver()
    cache.put(saver, "one", "1", False, transcript_of([HumanMessage("x" * 50)]))

    assert (cache.chars, cache.get(saver, "one", "1", False)) == (0, None)


def test_the_cache_counts_a_new_version_once() -> None:
    cache, saver = TranscriptCache(), InMemorySaver()
    for version in ("1", "2"):
        cache.put(saver, "one", version, False, transcript_of([HumanMessage("é" * 50)]))

    assert cache.chars == 150
    assert cache.get(saver, "one", "1", False) is None
    cache.forget(saver, "one")
    assert cache.chars == 0


def test_two_checkpointers_share_no_transcript() -> None:
    cache = TranscriptCache()
    cache.put(InMemorySaver(), "one", "1", False, transcript_of([HumanMessage("x")]))

    assert cache.get(InMemorySaver(), "one", "1", False) is None


# Checkpointers.


@contextmanager
def memory_saver(path: Any) -> Iterator[Any]:
    yield InMemorySaver()


@contextmanager
def sqlite_saver(path: Any) -> Iterator[Any]:
    with SqliteSaver.from_conn_string(str(path / "c.sqlite")) as saver:
        yield saver


@contextmanager
def encrypted_saver(path: Any) -> Iterator[Any]:
    class Backwards:
        def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
            return "backwards", plaintext[::-1]

        def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
            return ciphertext[::-1]

    connection = sqlite3.connect(path / "c.sqlite", check_same_thread=False)
    yield SqliteSaver(connection, serde=EncryptedSerializer(Backwards()))
    connection.close()


@contextmanager
def caching_saver(path: Any) -> Iterator[Any]:
    """Somebody's own: what it read it hands out again."""

    class Caching(InMemorySaver):
        def __init__(self) -> None:
            super().__init__()
            self.read: dict[Any, Any] = {}

        def get_tuple(self, config: Any) -> Any:
            one = super().get_tuple(config)
            return one and self.read.setdefault(one.checkpoint["id"], one)

    yield Caching()


@contextmanager
def postgres_saver(path: Any) -> Iterator[Any]:
    from langgraph.checkpoint.postgres import PostgresSaver

    with store_support.new_database() as uri, PostgresSaver.from_conn_string(uri) as saver:
        saver.setup()
        yield saver


SAVERS = [
    pytest.param(memory_saver, id="memory"),
    pytest.param(sqlite_saver, id="sqlite"),
    pytest.param(encrypted_saver, id="encrypted"),
    pytest.param(caching_saver, id="caching"),
    pytest.param(postgres_saver, id="postgres"),
]


@pytest.mark.parametrize("opened", SAVERS)
@pytest.mark.parametrize("stored", [True, False], ids=["register", "derived"])
def test_every_checkpointer_is_searched(opened: Any, stored: bool, tmp_path: Any) -> None:
    with opened(tmp_path) as saver:
        library = Library(saver, stored=stored)
        library.run("one", "Plan the trip to Porto", "Hello", "bye")
        library.run("two", "Hello", "a trip to Rome", "bye")
        library.run("three", "Hello", "the trip of Bob", "bye", user="bob")
        library.run("four", "Hello", "bye")

        assert library.found("trip") == library.found("trip") == ["one", "two"]
        library.run("four", "A trip after all")
        library.run("two", "Hello again")
        assert library.found("trip") == library.found("trip") == ["one", "two", "four"]
        assert library.found("trip", BOB) == ["three"]
        entries = library.memory.sessions(library.agent, ANN)
        assert [(one.id, one.title, one.messages) for one in entries] == [
            ("two", "Hello", 8),
            ("four", "Hello", 6),
            ("one", "Plan the trip to Porto", 6),
        ]
        library.memory.delete_session(library.agent, ANN, "one")
        assert library.found("porto") == []


@pytest.mark.parametrize("opened", SAVERS)
def test_a_sleeping_look_says_the_same_as_the_checkpointer(opened: Any, tmp_path: Any) -> None:
    with opened(tmp_path) as saver:
        library = Library(saver)
        library.run("one", "Hello", mark(HumanMessage("a page"), via="paste"))
        library.add("one", AIMessage("", tool_calls=[]), ToolMessage("x", tool_call_id="c"))
        config = {"configurable": {"thread_id": "one"}}
        whole = saver.get_tuple(config).checkpoint

        look, unknown = ThreadReader(saver).look(["one", "nobody's"])

        assert look.messages() == whole["channel_values"]["messages"]
        assert (look.count, look.facts.id, look.facts.at) == (6, whole["id"], whole["ts"])
        assert (look.facts.has_memory, unknown) == (True, None)
        assert saver.get_tuple(config).checkpoint["channel_values"]["messages"] == look.messages()


async def test_async_checkpointers_are_searched(tmp_path: Any) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as saver:
        library = Library(saver)
        await library.arun("one", "Hello", "a trip to Porto", "bye")

        steps = [one async for one in library.memory.asearch_sessions(library.agent, ANN, "trip")]

        assert [hit.session.id for hit in steps[-1].hits] == ["one"]
        with pytest.raises(ConfigurationError, match="await memory"):
            library.memory.search_sessions(library.agent, ANN, "hello").step()


async def test_async_postgres_is_searched() -> None:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    with store_support.new_database() as uri:
        async with AsyncPostgresSaver.from_conn_string(uri) as saver:
            await saver.setup()
            library = Library(saver)
            await library.arun("one", "Hello", "a trip to Porto", "bye")
            memory, agent = library.memory, library.agent

            for _ in range(2):
                steps = [one async for one in memory.asearch_sessions(agent, ANN, "trip")]
                assert [hit.session.id for hit in steps[-1].hits] == ["one"]
            await library.arun("one", "and to Rome")
            steps = [one async for one in memory.asearch_sessions(agent, ANN, "rome")]
            assert [hit.session.id for hit in steps[-1].hits] == ["one"]
            await memory.adelete_session(agent, ANN, "one")
            steps = [one async for one in memory.asearch_sessions(agent, ANN, "rome")]
            assert steps[-1].found == 0


# What changed since, where a checkpointer gives the newest first.


@pytest.fixture
def _clocks_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_CLOCK_SKEW", timedelta(seconds=0))


@pytest.mark.usefixtures("_clocks_agree")
def test_postgres_is_asked_once_what_changed() -> None:
    with postgres_saver(None) as saver:
        library = Library(saver)
        for number in range(60):
            library.run(f"s{number:02}", "Hello")
        library.found("nowhere")
        reads: list[str] = []
        real = type(saver).get_tuple
        type(saver).get_tuple = lambda self, config: (
            reads.append(config["configurable"]["thread_id"]) or real(self, config)
        )
        try:
            assert library.found("elsewhere") == []
            assert reads == []
            library.run("s07", "Something new")
            reads.clear()
            assert library.found("something") == ["s07"]
            assert set(reads) == {"s07"}
        finally:
            type(saver).get_tuple = real


@pytest.mark.usefixtures("_clocks_agree")
def test_another_persons_search_loses_no_change() -> None:
    with postgres_saver(None) as saver:
        library = Library(saver)
        library.run("one", "Hello")
        library.run("two", "Hello", user="bob")
        assert library.found("news", ANN) == library.found("news", BOB) == []
        library.run("one", "the news")
        assert library.found("news", BOB) == []

        assert library.found("news", ANN) == ["one"]


def test_what_changed_is_asked_from_before_the_last_time_on_as_clocks_differ() -> None:
    saver, cache = InMemorySaver(), TranscriptCache()
    last = LastAsked("2026-01-01T10:00:00.000000Z", "2026-01-01T09:00:00+00:00")
    cache.changed(saver, None, last)
    desk: Any = SimpleNamespace(
        cache=cache, saver=saver, reader=SimpleNamespace(comes_newest_first=True)
    )

    asked = next(searching._what_changed(desk, 1_000))

    assert asked == LookBack("2026-01-01T09:59:45+00:00", most=250)


@pytest.mark.usefixtures("_clocks_agree")
def test_a_change_behind_too_many_others_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_LEAST_CHANGES", 1)
    with postgres_saver(None) as saver:
        library = Library(saver)
        library.run("one", "Hello")
        library.run("two", "Hello")
        assert library.found("news") == []
        library.run("one", "the news", "bye")
        library.run("two", *["again"] * 12)

        assert library.found("news") == ["one"]


@pytest.mark.usefixtures("_clocks_agree")
def test_going_back_to_an_earlier_database_is_noticed() -> None:
    with postgres_saver(None) as saver:
        library = Library(saver)
        library.run("one", "Hello", "the old words", "the new words")
        assert library.found("new") == ["one"]
        rows = list(saver.list({"configurable": {"thread_id": "one"}}))
        old = next(one for one in rows if len(one.checkpoint["channel_values"]["messages"]) == 4)
        with saver._cursor() as cursor:
            cursor.execute(
                "DELETE FROM checkpoints WHERE checkpoint_id > %s", (old.checkpoint["id"],)
            )

        assert (library.found("new"), library.found("old")) == ([], ["one"])


def test_more_changes_than_sessions_are_not_all_told() -> None:
    with postgres_saver(None) as saver:
        library = Library(saver)
        for number in range(30):
            library.run(f"s{number:02}", "Hello")

        facts, complete = ThreadReader(saver).look_back(LookBack("2000-01-01T00:00:00Z", most=20))
        assert (len(facts), complete) == (20, False)
        facts, complete = ThreadReader(saver).look_back(LookBack("2000-01-01T00:00:00Z", most=999))
        assert (len(facts), complete) == (sum(1 for _ in saver.list(None)), True)


# Opening a hit.


def test_opening_a_hit_shows_what_was_said_at_its_place() -> None:
    library = Library()
    library.model.then(tool_calls(("recall", {"query": "x"}), text="I look"), "ok")
    library.agent.invoke({"messages": ["Hello"]}, library.config("one"))

    shown = library.memory.read_session(library.agent, ANN, "one")

    assert [(one.number, one.role, one.text) for one in shown.said] == [
        (0, "person", "Hello"),
        (1, "agent", "I look"),
        (3, "agent", "ok"),
    ]
    everything = library.memory.read_session(library.agent, ANN, "one", everything=True)
    assert [one.role for one in everything.said] == ["person", "agent", "tool", "agent"]


def test_a_session_in_the_trash_is_not_opened() -> None:
    from langmem_credit.errors import RefusedWriteError

    library = Library()
    library.run("one", "Hello")
    library.memory.trash_session(library.agent, ANN, "one")

    with pytest.raises(RefusedWriteError, match="restore_session"):
        library.memory.read_session(library.agent, ANN, "one")


def test_a_run_that_is_going_on_is_entered_and_searched() -> None:
    library = Library()
    seen: list[list[str]] = []
    library.model.then(lambda _: (seen.append(library.found("porto")), "ok")[1])

    library.agent.invoke(
        {"messages": ["Plan the trip to Porto"]}, library.config("one"), durability="sync"
    )

    assert seen == [["one"]]
    assert Sighting("one", "").words == ""
