"""The register of sessions: entered by runs, marked by their person, never anybody else's."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from langmem_credit import CreditedMemory, KeptIndex, mark, not_typed
from langmem_credit.checkpoints import Facts, Peek, ThreadReader
from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.desk import Desk, belongs
from langmem_credit.errors import (
    ConfigurationError,
    IdentityError,
    RefusedWriteError,
    StoreError,
    UnknownSessionError,
)
from langmem_credit.indexing import thread_key
from langmem_credit.register import TRASHED, SessionEntry, Sighting, entered, marked, short
from langmem_credit.scopes import Scope
from langmem_credit.state import LEDGER
from langmem_credit.testing import ScriptedChatModel, tool_calls
from langmem_credit.transcripts import CACHE

from . import store_support
from .graph_support import node_graph, talk
from .index_support import BagOfWords
from .sharing_support import PROJECT, USER, Flaky, Office

ANN = {"configurable": {"user_id": "ann"}}
BOB = {"configurable": {"user_id": "bob"}}


def listed(office: Office, config: Any = ANN, **which: Any) -> list[tuple[str, str]]:
    return [(one.id, one.title) for one in office.memory.sessions(office.agent, config, **which)]


def ids(office: Office, config: Any = ANN, **which: Any) -> list[str]:
    return [thread for thread, _ in listed(office, config, **which)]


class Counting(InMemoryStore):
    """A store that keeps what was put under `sessions`."""

    def __init__(self) -> None:
        super().__init__()
        self.puts: list[Any] = []

    def batch(self, ops: Any) -> Any:
        ops = list(ops)
        self.puts += [
            op for op in ops if type(op).__name__ == "PutOp" and "sessions" in op.namespace
        ]
        return super().batch(ops)


# Entered by runs.


@pytest.mark.parametrize("nodes", [False, True], ids=["middleware", "nodes"])
def test_a_run_enters_its_session(nodes: bool) -> None:
    office = Office(nodes=nodes)
    office.run(office.person("one", user_id="ann"), "Plan the trip to Porto")

    (entry,) = office.memory.sessions(office.agent, ANN)

    assert (entry.id, entry.title, entry.preview) == (
        "one",
        "Plan the trip to Porto",
        "Plan the trip to Porto",
    )
    assert (entry.messages, entry.archived, entry.trashed) == (2, False, False)
    assert entry.created_at == entry.updated_at != ""


@pytest.mark.parametrize("nodes", [False, True], ids=["middleware", "nodes"])
async def test_an_async_run_enters_its_session(nodes: bool) -> None:
    office = Office(nodes=nodes)
    await office.arun(office.person("one", user_id="ann"), "Plan the trip to Porto")

    (entry,) = await office.memory.asessions(office.agent, ANN)

    assert (entry.id, entry.title, entry.messages) == ("one", "Plan the trip to Porto", 2)


def test_a_later_run_changes_the_preview_and_keeps_the_title() -> None:
    office = Office()
    person = office.person("one", user_id="ann")
    office.run(person, "Plan the trip to Porto")
    office.run(person, "And a hotel")

    (entry,) = office.memory.sessions(office.agent, ANN)

    assert (entry.title, entry.preview, entry.messages) == (
        "Plan the trip to Porto",
        "And a hotel",
        4,
    )
    assert entry.created_at < entry.updated_at


def test_sessions_come_newest_first() -> None:
    office = Office()
    for thread in ("one", "two", "three"):
        office.run(office.person(thread, user_id="ann"), "Hello")
    office.run(office.person("one", user_id="ann"), "Hello again")

    assert ids(office) == ["one", "three", "two"]


@pytest.mark.parametrize("nodes", [False, True], ids=["middleware", "nodes"])
def test_a_run_writes_the_register_once(nodes: bool) -> None:
    store = Counting()
    office = Office(store=store, nodes=nodes)
    office.keep(office.person("one", user_id="ann"), "I always use zsh")

    assert len(store.puts) == 1


def test_nothing_is_written_within_a_minute_for_the_time_alone() -> None:
    seen = Sighting("one", "2026-01-01T10:00:00.000000Z", words="Hello", messages=1, last="m")
    known = entered(None, seen)
    soon = Sighting("one", "2026-01-01T10:00:59.000000Z", words="Hello", messages=1, last="m")
    later = Sighting("one", "2026-01-01T10:01:00.000000Z", words="Hello", messages=1, last="m")
    more = Sighting("one", "2026-01-01T10:00:01.000000Z", words="Hello", messages=2, last="m")

    assert entered(known, soon) is None
    assert entered(known, later) is not None
    assert entered(known, more) is not None


def test_the_title_is_scrubbed_and_bounded() -> None:
    secret = "my password is tr0ub4dor&3x, " + "please keep it safe " * 20
    office = Office()
    office.run(office.person("one", user_id="ann"), secret)

    (entry,) = office.memory.sessions(office.agent, ANN)

    assert "tr0ub4dor" not in entry.title + entry.preview
    assert "[secret removed]" in entry.title
    assert (len(entry.title) <= 80, len(entry.preview) <= 160) == (True, True)


def test_a_derived_title_is_scrubbed_too() -> None:
    it = without_store(InMemorySaver())
    it.person.says("my password is tr0ub4dor&3x and I like tea")

    (entry,) = it.memory.sessions(it.agent, {})

    assert "tr0ub4dor" not in entry.title + entry.preview
    assert "tea" in entry.title


def test_a_title_is_one_inert_line() -> None:
    assert short("a\u202e\x1b[31m\nb\tc", 80) == "a[31m b c"


@pytest.mark.parametrize("way", ["paste", "click", "prefill"])
def test_only_typed_words_give_a_title(way: str) -> None:
    office = Office()
    person = office.person("one", user_id="ann")
    office.run(person, mark(HumanMessage("Some page"), via=way))
    assert listed(office) == [("one", "")]

    office.run(person, "What is this?")
    assert listed(office) == [("one", "What is this?")]


def test_words_that_a_model_wrote_give_no_title() -> None:
    office = Office()
    person = office.person("one", user_id="ann")
    with not_typed():
        office.run(person, "Do the research")

    office.run(person, "And now?")

    assert listed(office) == [("one", "And now?")]


def test_a_run_without_identity_is_entered_nowhere() -> None:
    store = Counting()
    office = Office(store=store)
    office.run(office.person("one"), "Hello")

    assert store.puts == []


@pytest.mark.parametrize("nodes", [False, True], ids=["middleware", "nodes"])
def test_a_store_that_cannot_be_written_stops_no_run(
    nodes: bool, caplog: pytest.LogCaptureFixture
) -> None:
    store = Flaky()
    office = Office(store=store, nodes=nodes)
    store.read_only = True
    with caplog.at_level(logging.WARNING, "langmem_credit"):
        office.run(office.person("one", user_id="ann"), "Plan the trip to Porto")
    store.read_only = False

    assert office.person("one", user_id="ann").state["messages"][-1].content == "ok"
    assert "scope user: a session was not entered (ConnectionError)" in caplog.text
    assert "Porto" not in caplog.text
    assert ids(office) == []


def test_a_store_that_is_down_stops_no_run() -> None:
    store = Flaky()
    office = Office(store=store)
    store.down = True
    office.run(office.person("one", user_id="ann"), "Hello")

    assert office.person("one", user_id="ann").state["messages"][-1].content == "ok"


def test_a_register_that_cannot_be_read_is_an_error() -> None:
    store = Flaky()
    office = Office(store=store)
    store.down = True

    with pytest.raises(StoreError, match="ConnectionError"):
        office.memory.sessions(office.agent, ANN)


def test_a_graph_within_a_graph_is_no_session_of_its_own() -> None:
    from langgraph.graph import START, MessagesState, StateGraph

    office = Office()
    outer = StateGraph(MessagesState)
    outer.add_node("inner", office.agent)
    outer.add_edge(START, "inner")
    graph = outer.compile(checkpointer=InMemorySaver(), store=office.store)
    graph.invoke(
        {"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "1", "user_id": "ann"}}
    )

    assert office.store.search(("memories",)) == []


# Whose.


def test_another_persons_sessions_are_not_listed() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")
    office.run(office.person("two", user_id="bob"), "Hello")

    assert (ids(office, ANN), ids(office, BOB)) == (["one"], ["two"])


@pytest.mark.parametrize("name", ["ann", "anna", "a", "a:b", "a.b", "a%"])
def test_people_with_like_names_share_nothing(name: str) -> None:
    office = Office()
    everybody = ["ann", "anna", "a", "a:b", "a.b", "a%", "a_"]
    for person in everybody:
        office.run(office.person(f"of {person}", user_id=person), "Hello")

    assert ids(office, {"configurable": {"user_id": name}}) == [f"of {name}"]


@pytest.mark.parametrize(
    "method",
    [
        "rename_session",
        "archive_session",
        "trash_session",
        "restore_session",
        "delete_session",
        "read_session",
    ],
)
def test_another_persons_session_cannot_be_named(method: str) -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")
    more = ["Mine"] if method == "rename_session" else []

    with pytest.raises(UnknownSessionError):
        getattr(office.memory, method)(office.agent, BOB, "one", *more)
    assert listed(office) == [("one", "Hello")]


@pytest.mark.parametrize("session_id", ["", "nobody's", None, 7, "a\x00b", "\ud800"])
def test_an_unknown_id_is_an_error(session_id: Any) -> None:
    office = Office()
    with pytest.raises(UnknownSessionError, match="List the sessions"):
        office.memory.read_session(office.agent, ANN, session_id)


def test_a_caller_without_identity_is_refused() -> None:
    office = Office()
    with pytest.raises(IdentityError, match="user_id"):
        office.memory.sessions(office.agent, {"configurable": {}})


def test_a_scope_of_several_people_has_no_register() -> None:
    office = Office(PROJECT)
    office.run(office.person("one", user_id="ann", project_id="x"), "Hello")
    office.run(office.person("two", user_id="bob", project_id="x"), "Hello")

    assert ids(office, {"configurable": {"user_id": "bob", "project_id": "x"}}) == ["two"]


def test_a_narrow_scope_of_one_person_has_one() -> None:
    account = Scope("account", ("accounts", "{account}"), people=False)
    office = Office(PROJECT, account)
    office.run(office.person("one", account="a", project_id="x"), "Hello")

    assert ids(office, {"configurable": {"account": "a"}}) == ["one"]
    assert ids(office, {"configurable": {"account": "b"}}) == []


def test_an_id_that_somebody_else_uses_anew_is_theirs() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello from Ann")
    office.agent.checkpointer.delete_thread("one")
    office.run(office.person("one", user_id="bob"), "Hello from Bob")

    assert listed(office, ANN) == []
    assert listed(office, BOB) == [("one", "Hello from Bob")]
    with pytest.raises(UnknownSessionError):
        office.memory.read_session(office.agent, ANN, "one")


def test_an_id_that_a_graph_without_memory_uses_anew_is_not_shown() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")
    saver = office.agent.checkpointer
    saver.delete_thread("one")
    plain = create_agent(ScriptedChatModel(["ok"]), checkpointer=saver)
    plain.invoke({"messages": [("user", "Not hers")]}, {"configurable": {"thread_id": "one"}})

    assert ids(office) == []
    with pytest.raises(UnknownSessionError):
        office.memory.read_session(office.agent, ANN, "one")
    office.memory.delete_session(office.agent, ANN, "one")
    assert saver.get_tuple({"configurable": {"thread_id": "one"}}) is not None


def test_a_thread_that_two_people_share_is_listed_for_both() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello from Ann")
    office.run(office.person("one", user_id="bob"), "Hello from Bob")

    assert listed(office, ANN) == [("one", "Hello from Ann")]
    assert ids(office, BOB) == ["one"]


# Marks.


def test_a_session_can_be_renamed_and_keeps_its_name() -> None:
    office = Office()
    person = office.person("one", user_id="ann")
    office.run(person, "Hello")

    renamed = office.memory.rename_session(office.agent, ANN, "one", "  Trip\nto Porto ")
    office.run(person, "Hello again")

    assert renamed.title == "Trip to Porto"
    assert listed(office) == [("one", "Trip to Porto")]


@pytest.mark.parametrize("title", ["", " \n", "x" * 81, None, 7])
def test_a_title_that_does_not_fit_is_refused(title: Any) -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")

    with pytest.raises(ConfigurationError):
        office.memory.rename_session(office.agent, ANN, "one", title)


def test_archived_and_trashed_sessions_are_told_apart() -> None:
    office = Office()
    for thread in ("one", "two", "three"):
        office.run(office.person(thread, user_id="ann"), "Hello")
    memory, agent = office.memory, office.agent
    counted = {one.id: one.messages for one in memory.sessions(agent, ANN)}
    assert memory.archive_session(agent, ANN, "one").messages == counted["one"] > 1
    memory.trash_session(agent, ANN, "two")

    assert ids(office) == ["three", "one"]
    assert (ids(office, archived=True), ids(office, archived=False)) == (["one"], ["three"])
    assert ids(office, trashed=True) == ["two"]

    assert memory.restore_session(agent, ANN, "two").trashed is False
    assert memory.restore_session(agent, ANN, "one").archived is False
    assert ids(office, archived=False) == ["three", "two", "one"]


def test_a_session_restored_from_the_trash_is_still_archived() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")
    office.memory.archive_session(office.agent, ANN, "one")
    office.memory.trash_session(office.agent, ANN, "one")

    entry = office.memory.restore_session(office.agent, ANN, "one")

    assert (entry.trashed, entry.archived) == (False, True)


def test_a_run_takes_no_session_out_of_the_trash() -> None:
    office = Office()
    person = office.person("one", user_id="ann")
    office.run(person, "Hello")
    office.memory.trash_session(office.agent, ANN, "one")
    office.run(person, "Hello again")

    assert (ids(office), ids(office, trashed=True)) == ([], ["one"])


def test_a_mark_that_the_store_does_not_keep_is_no_success() -> None:
    class Forgetful(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            kept = [op for op in ops if "trashed" not in getattr(op, "namespace", ())]
            answers = iter(super().batch(kept))
            return [next(answers) if op in kept else None for op in ops]

    office = Office(store=Forgetful())
    office.run(office.person("one", user_id="ann"), "Hello")

    with pytest.raises(RefusedWriteError, match="cannot be read back"):
        office.memory.trash_session(office.agent, ANN, "one")


def test_a_deleted_session_is_gone_with_its_thread() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")
    office.memory.rename_session(office.agent, ANN, "one", "Mine")

    office.memory.delete_session(office.agent, ANN, "one")

    assert ids(office) == ids(office, trashed=True) == []
    assert office.agent.checkpointer.get_tuple({"configurable": {"thread_id": "one"}}) is None
    assert [one for one in office.store.search((), limit=99) if "sessions" in one.namespace] == []


def test_a_deleted_session_leaves_none_of_its_words_at_hand() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")
    CACHE.clear()
    office.memory.read_session(office.agent, ANN, "one")
    assert CACHE.chars > 0

    office.memory.delete_session(office.agent, ANN, "one")

    assert CACHE.chars == 0


def test_a_deleted_session_leaves_no_vector(tmp_path: Any) -> None:
    index = ChromaIndex(tmp_path / "index", BagOfWords())
    office = Office(session_only=True, index=index)
    person = office.person("one")
    office.keep(person, "I always use zsh")
    kept = office.memory.index
    assert isinstance(kept, KeptIndex)
    assert kept.wait()
    assert kept.search(thread_key("one"), "zsh", 5) != []

    office.memory.delete_session(office.agent, {}, "one")

    assert kept.search(thread_key("one"), "zsh", 5) == []
    office.memory.close_index()


def test_a_thread_deleted_behind_the_register_is_not_listed_and_can_be_taken_out() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Hello")
    office.agent.checkpointer.delete_thread("one")

    assert ids(office) == []
    with pytest.raises(UnknownSessionError):
        office.memory.rename_session(office.agent, ANN, "one", "Mine")
    office.memory.delete_session(office.agent, ANN, "one")
    assert [one for one in office.store.search((), limit=99) if "sessions" in one.namespace] == []


def test_a_deleted_thread_that_is_used_anew_starts_with_a_new_title() -> None:
    office = Office()
    office.run(office.person("one", user_id="ann"), "Plan the trip to Porto")
    office.memory.delete_session(office.agent, ANN, "one")
    office.run(office.person("one", user_id="ann"), "Hello")

    assert listed(office) == [("one", "Hello")]


async def test_every_method_has_an_async_twin_that_does_the_same() -> None:
    office = Office()
    memory, agent = office.memory, office.agent
    await office.arun(office.person("one", user_id="ann"), "Hello")

    assert (await memory.arename_session(agent, ANN, "one", "Mine")).title == "Mine"
    assert (await memory.aarchive_session(agent, ANN, "one")).archived is True
    assert (await memory.atrash_session(agent, ANN, "one")).trashed is True
    assert [one.id for one in await memory.asessions(agent, ANN, trashed=True)] == ["one"]
    assert (await memory.arestore_session(agent, ANN, "one")).trashed is False
    said = (await memory.aread_session(agent, ANN, "one")).said
    assert [(one.number, one.role, one.text) for one in said] == [
        (0, "person", "Hello"),
        (1, "agent", "ok"),
    ]
    await memory.adelete_session(agent, ANN, "one")
    assert await memory.asessions(agent, ANN) == ()


# Where it lies.


def test_the_register_is_there_in_a_new_process(tmp_path: Any) -> None:
    for words in ("Plan the trip to Porto", "And a hotel"):
        with (
            SqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as saver,
            SqliteStore.from_conn_string(str(tmp_path / "s.sqlite")) as store,
        ):
            store.setup()
            office = Office(store=store, saver=saver)
            office.run(office.person("one", user_id="ann"), words)
            (entry,) = office.memory.sessions(office.agent, ANN)

    assert (entry.title, entry.preview, entry.messages) == (
        "Plan the trip to Porto",
        "And a hotel",
        4,
    )


async def test_an_async_file_works_and_its_sync_twin_says_so(tmp_path: Any) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as saver:
        office = Office(saver=saver)
        await office.person("one", user_id="ann").asays("Hello")

        assert [one.id for one in await office.memory.asessions(office.agent, ANN)] == ["one"]
        with pytest.raises(ConfigurationError, match=r"await memory\.asessions"):
            office.memory.sessions(office.agent, ANN)


async def test_a_sync_file_says_which_twin_to_call(tmp_path: Any) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "c.sqlite")) as saver:
        office = Office(saver=saver)
        office.run(office.person("one", user_id="ann"), "Hello")

        with pytest.raises(ConfigurationError, match=r"Call its twin memory\.sessions"):
            await office.memory.asessions(office.agent, ANN)


# Without a store.


def without_store(saver: Any, nodes: bool = False, **options: Any) -> Any:
    it = talk(checkpointer=saver, **options)
    if nodes:
        it.agent = node_graph(it.model, it.memory, checkpointer=saver)
    return it


@pytest.mark.parametrize("nodes", [False, True], ids=["middleware", "nodes"])
def test_without_a_store_the_register_is_derived_from_the_checkpointer(nodes: bool) -> None:
    it = without_store(InMemorySaver(), nodes)
    for thread, user in (("one", "ann"), ("two", "bob"), ("three", "ann")):
        config = {"configurable": {"thread_id": thread, "user_id": user}}
        it.agent.invoke({"messages": [("user", f"Hello {thread}")]}, config)

    found = it.memory.sessions(it.agent, ANN)

    assert [(one.id, one.title, one.preview, one.messages) for one in found] == [
        ("three", "Hello three", "Hello three", 2),
        ("one", "Hello one", "Hello one", 2),
    ]


def test_a_derived_register_follows_an_identity_in_the_context() -> None:
    it = without_store(InMemorySaver(), context_schema=dict)
    config = {"configurable": {"thread_id": "one"}}
    it.agent.invoke({"messages": [("user", "Hello")]}, config, context={"user_id": "ann"})

    assert [one.id for one in it.memory.sessions(it.agent, ANN)] == ["one"]
    assert it.memory.sessions(it.agent, {"configurable": {}}) == ()


def test_a_derived_register_shows_no_named_person_to_nobody() -> None:
    it = without_store(InMemorySaver())
    it.agent.invoke({"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "nobody's"}})
    it.agent.invoke(
        {"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "1", "user_id": "ann"}}
    )

    assert [one.id for one in it.memory.sessions(it.agent, {})] == ["nobody's"]


def test_a_derived_register_leaves_out_threads_without_memory() -> None:
    from langchain.agents import create_agent

    from langmem_credit.testing import ScriptedChatModel

    saver = InMemorySaver()
    it = without_store(saver)
    plain = create_agent(ScriptedChatModel(), checkpointer=saver)
    plain.invoke({"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "plain"}})

    assert it.memory.sessions(it.agent, {}) == ()
    with pytest.raises(UnknownSessionError):
        it.memory.read_session(it.agent, {}, "plain")


@pytest.mark.parametrize("nodes", [False, True], ids=["middleware", "nodes"])
def test_a_session_of_a_derived_register_is_marked_in_its_thread(nodes: bool) -> None:
    it = without_store(InMemorySaver(), nodes)
    for thread in ("one", "two"):
        it.agent.invoke(
            {"messages": [("user", f"Hello {thread}")]}, {"configurable": {"thread_id": thread}}
        )
    memory, agent = it.memory, it.agent
    before = memory.sessions(agent, {})

    assert memory.rename_session(agent, {}, "one", "Mine").title == "Mine"
    assert memory.archive_session(agent, {}, "one").archived is True
    assert memory.trash_session(agent, {}, "one").trashed is True

    assert [one.id for one in memory.sessions(agent, {})] == ["two"]
    (trashed,) = memory.sessions(agent, {}, trashed=True)
    assert (trashed.title, trashed.archived) == ("Mine", True)
    assert trashed.updated_at == before[1].updated_at
    with pytest.raises(RefusedWriteError, match="in the trash"):
        memory.read_session(agent, {}, "one")
    assert [hit.session.id for hit in last_hits(memory, agent, "hello")] == ["two"]
    agent.invoke({"messages": [("user", "Go on")]}, {"configurable": {"thread_id": "one"}})
    assert [one.id for one in memory.sessions(agent, {})] == ["two"]
    assert memory.restore_session(agent, {}, "one").trashed is False
    assert memory.restore_session(agent, {}, "one").archived is False
    assert [(one.id, one.title) for one in memory.sessions(agent, {})] == [
        ("one", "Mine"),
        ("two", "Hello two"),
    ]
    memory.delete_session(agent, {}, "one")
    assert [one.id for one in memory.sessions(agent, {})] == ["two"]


def last_hits(memory: CreditedMemory, agent: Any, query: str) -> Any:
    return list(memory.search_sessions(agent, {}, query))[-1].hits


async def test_a_session_of_a_derived_register_is_marked_in_an_async_file(tmp_path: Any) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "sessions.sqlite")) as saver:
        it = without_store(saver)
        await it.person.asays("Hello")
        memory, agent = it.memory, it.agent
        assert (await memory.arename_session(agent, {}, "1", "Mine")).title == "Mine"
        assert (await memory.atrash_session(agent, {}, "1")).trashed is True
        assert await memory.asessions(agent, {}) == ()
        assert (await memory.arestore_session(agent, {}, "1")).title == "Mine"


def test_marks_in_a_thread_do_not_pile_up_and_leave_its_notes_alone() -> None:
    it = without_store(InMemorySaver())
    it.person.says("Hello")
    for number in range(9):
        it.memory.rename_session(it.agent, {}, "1", f"Title {number}")
        it.memory.archive_session(it.agent, {}, "1")
        it.memory.restore_session(it.agent, {}, "1")

    assert [one["type"] for one in it.person.state[LEDGER]] == ["marked", "marked"]
    notebook = it.memory.notebook(it.agent, it.config)
    assert (notebook.notes, notebook.unknown, notebook.conflicts) == ({}, (), ())
    assert it.memory.sessions(it.agent, {})[0].title == "Title 8"


def test_a_mark_that_somebody_else_wrote_counts_for_nothing() -> None:
    it = without_store(InMemorySaver())
    it.person.says("Hello")
    event = marked(TRASHED, {"on": True}, at="2026-01-01T10:00:00.000000Z")
    it.agent.update_state(it.config, {LEDGER: [event]})

    assert [one.trashed for one in it.memory.sessions(it.agent, {})] == [False]


def test_a_thread_that_waits_for_an_answer_is_not_marked() -> None:
    it = talk(tool_calls(("ask_user", {"question": "Which?"})))
    it.person.says("Go")

    with pytest.raises(RefusedWriteError, match="waits for an answer"):
        it.memory.trash_session(it.agent, {}, "1")
    assert [one.trashed for one in it.memory.sessions(it.agent, {})] == [False]


def test_another_persons_thread_is_not_marked_without_a_store() -> None:
    it = without_store(InMemorySaver())
    it.agent.invoke(
        {"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "1", "user_id": "ann"}}
    )

    with pytest.raises(UnknownSessionError):
        it.memory.trash_session(it.agent, BOB, "1")
    assert it.memory.trash_session(it.agent, ANN, "1").trashed is True


def test_a_declared_scope_without_a_store_still_wants_an_identity() -> None:
    office = Office(USER)
    it = without_store(InMemorySaver(), memory=office.memory)
    it.agent.invoke(
        {"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "1", "user_id": "ann"}}
    )

    with pytest.raises(IdentityError):
        it.memory.sessions(it.agent, {})
    assert [one.id for one in it.memory.sessions(it.agent, ANN)] == ["1"]
    assert it.memory.sessions(it.agent, BOB) == ()


def test_a_graph_without_a_checkpointer_has_no_sessions() -> None:
    it = without_store(None)
    with pytest.raises(ConfigurationError, match="checkpointer"):
        it.memory.sessions(it.agent, {})


def test_the_config_of_a_person_is_needed() -> None:
    office = Office()
    with pytest.raises(ConfigurationError, match="config of a person"):
        office.memory.sessions(office.agent, "ann")


def test_a_derived_register_shows_no_run_whose_person_is_uncertain() -> None:
    it = without_store(InMemorySaver(), context_schema=dict)
    config = {"configurable": {"thread_id": "one", "user_id": "ann"}}
    it.agent.invoke({"messages": [("user", "Hello")]}, config, context={"user_id": "bob"})

    for caller in ({}, ANN, BOB):
        assert it.memory.sessions(it.agent, caller) == ()


@pytest.mark.parametrize(("whose", "shown"), [("ann's", True), ("bob's", False), ("", False)])
def test_a_thread_that_changed_hands_since_it_was_listed_is_not_shown(
    whose: str, shown: bool
) -> None:
    desk = Desk(CreditedMemory(), ThreadReader(InMemorySaver()), "ann's")
    look = Peek(Facts("one", "c1", "", has_memory=True, whose=whose), [], lambda value: value)

    assert belongs(desk, SessionEntry("one"), look) is shown


@pytest.mark.parametrize(
    ("whose", "messages", "shown"),
    [
        ("ann's", [], True),
        ("", [], True),
        ("", [HumanMessage("Hello", id="m1")], True),
        ("", [HumanMessage("Hello", id="m2")], False),
        ("bob's", [], False),
        ("bob's", [HumanMessage("Hello", id="m1")], True),
        ("bob's", [HumanMessage("Hello", id="m2")], False),
    ],
)
def test_a_thread_of_the_register_is_shown_where_it_is_still_the_same(
    whose: str, messages: list[Any], shown: bool
) -> None:
    desk = Desk(CreditedMemory(), ThreadReader(InMemorySaver()), "ann's", InMemoryStore())
    facts = Facts("one", "c1", "", has_memory=True, whose=whose)
    look = Peek(facts, messages, lambda value: value)

    assert belongs(desk, SessionEntry("one", last="m1"), look) is shown


def test_a_derived_register_does_not_even_count_others_sessions() -> None:
    it = without_store(InMemorySaver())
    for thread, user in (("one", "ann"), ("two", "bob"), ("three", "bob")):
        config = {"configurable": {"thread_id": thread, "user_id": user}}
        it.agent.invoke({"messages": [("user", "Hello")]}, config)

    steps = list(it.memory.search_sessions(it.agent, ANN, "hello"))

    assert [(step.searched, step.of) for step in steps] == [(0, 1), (1, 1)]


def test_a_store_that_lists_too_much_shows_nobody_elses_sessions() -> None:
    class Leaky(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            return super().batch(
                [
                    op._replace(namespace_prefix=()) if type(op).__name__ == "SearchOp" else op
                    for op in ops
                ]
            )

    office = Office(store=Leaky())
    office.run(office.person("one", user_id="ann"), "Hello")
    office.run(office.person("two", user_id="anna"), "Hello")
    office.memory.rename_session(office.agent, {"configurable": {"user_id": "anna"}}, "two", "Hers")

    assert listed(office) == [("one", "Hello")]


@pytest.mark.parametrize("nodes", [False, True], ids=["middleware", "nodes"])
async def test_an_async_store_keeps_the_register(nodes: bool, tmp_path: Any) -> None:
    async with AsyncSqliteStore.from_conn_string(str(tmp_path / "s.sqlite")) as store:
        await store.setup()
        office = Office(store=store, nodes=nodes)
        await office.person("one", user_id="ann").asays("Hello")
        await office.memory.atrash_session(office.agent, ANN, "one")

        found = await office.memory.asessions(office.agent, ANN, trashed=True)
        assert [(one.id, one.title) for one in found] == [("one", "Hello")]
        store._task.cancel()


@pytest.mark.parametrize("people", ["a.b@c.example", "ä", "x" * 300, "'; DROP TABLE store; --"])
def test_postgres_keeps_the_register(people: str) -> None:
    with store_support.new_database() as uri, store_support.postgres(uri) as backend:
        office = Office(store=backend.store)
        config = {"configurable": {"user_id": people}}
        for thread in ("my-team-1", "a/b c%_'", "ü" * 300):
            office.run(office.person(thread, user_id=people), f"Hello {thread[:9]}")
        office.run(office.person("other", user_id="somebody"), "Hello")
        office.memory.rename_session(office.agent, config, "a/b c%_'", "Mine")

        assert listed(office, config) == [
            ("ü" * 300, "Hello üüüüüüüüü"),
            ("a/b c%_'", "Mine"),
            ("my-team-1", "Hello my-team-1"),
        ]
