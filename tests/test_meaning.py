"""Recall by meaning through real graphs, with a real Chroma folder behind it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from langmem_credit import chroma_server, kept_index
from langmem_credit.answers import WORDS_ALONE
from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.errors import ConfigurationError
from langmem_credit.index import WordsOnly
from langmem_credit.kept_index import KeptIndex
from langmem_credit.memory import CreditedMemory
from langmem_credit.testing import tool_calls
from tests.index_support import BagOfWords, ChromaServer, files_of
from tests.sharing_support import PROJECT, USER, Office, remember

SHORT = "I prefer short answers"
ASKED = "brief replies"
# What means the same, for an embedder that knows no language.
MEANINGS = {"brief": "short", "replies": "answers", "replying": "answers"}


class Synonyms(BagOfWords):
    """A bag of words in which some words mean the same; it can be taken down."""

    down = False

    def _vector(self, text: str) -> list[float]:
        if self.down:
            raise ConnectionError("no embedder")
        return super()._vector(" ".join(MEANINGS.get(one, one) for one in text.lower().split()))


Make = Callable[..., Office]


@pytest.fixture
def embedder() -> Synonyms:
    return Synonyms()


@pytest.fixture
def index(
    tmp_path: Path, embedder: Synonyms, monkeypatch: pytest.MonkeyPatch
) -> Iterator[KeptIndex]:
    # On a busy machine a note takes longer than a moment to be indexed.
    monkeypatch.setattr(kept_index, "_MOMENT_SECONDS", 20.0)
    made = KeptIndex(ChromaIndex(tmp_path / "index", embedder), patience_s=20)
    yield made
    made.close()


@pytest.fixture(params=["middleware", "nodes"])
def office(request: pytest.FixtureRequest, index: KeptIndex) -> Office:
    return Office(USER, nodes=request.param == "nodes", index=index)


def rows(index: KeptIndex) -> int:
    """How many notes stand in the index, once it is in step."""
    assert index.wait()
    return index.status().indexed


def test_a_note_is_found_by_its_meaning_in_another_session(office: Office) -> None:
    office.keep(office.person(user_id="ann"), SHORT)
    found = office.recall(office.person("2", user_id="ann"), query=ASKED)
    assert SHORT in found
    assert WORDS_ALONE not in found


def test_without_an_index_it_is_found_by_its_words_alone() -> None:
    office = Office(USER)
    office.keep(office.person(user_id="ann"), SHORT)
    assert SHORT not in office.recall(office.person("2", user_id="ann"), query=ASKED)
    assert SHORT in office.recall(office.person("2", user_id="ann"), query="short")


@pytest.mark.parametrize("nodes", [False, True])
def test_a_session_without_shared_scopes_is_found_too(index: KeptIndex, nodes: bool) -> None:
    office = session_only(index, nodes=nodes)
    person = office.person("7")
    office.keep(person, SHORT)
    assert SHORT in office.recall(person, query=ASKED)
    assert SHORT not in office.recall(office.person("8"), query=ASKED)


def test_a_note_is_found_right_after_it_was_kept(office: Office) -> None:
    answers = office.run(
        office.person(user_id="ann"),
        SHORT,
        remember(SHORT),
        tool_calls(("recall", {"query": ASKED})),
    )
    assert SHORT in answers[-1]


def test_another_persons_notes_are_never_found(office: Office) -> None:
    office.keep(office.person("1", user_id="ann"), SHORT)
    office.keep(office.person("2", user_id="anna"), "I like brief replies with jokes")
    assert "jokes" not in office.recall(office.person("3", user_id="ann"), query=ASKED)
    assert SHORT not in office.recall(office.person("4", user_id="anna"), query=ASKED)


def test_a_forgotten_note_loses_its_vector(office: Office, index: KeptIndex) -> None:
    person = office.person(user_id="ann")
    office.keep(person, SHORT)
    assert rows(index) == 1
    office.forget(person, "Forget that I prefer short answers", "short answers")
    assert rows(index) == 0
    assert SHORT not in office.recall(person, query=ASKED)


def test_what_the_host_forgets_and_restores_is_followed(office: Office, index: KeptIndex) -> None:
    person = office.person(user_id="ann")
    office.keep(person, SHORT)
    (note,) = office.memory.notes(office.agent, person.config)
    office.memory.forget(office.agent, person.config, note.id)
    assert rows(index) == 0
    office.memory.restore(office.agent, person.config, note.id)
    assert rows(index) == 1


def test_what_waits_has_no_vector_until_it_is_confirmed(office: Office, index: KeptIndex) -> None:
    person = office.person(user_id="ann")
    office.run(person, "Hello", remember("The user prefers short answers", said="Hello"))
    assert rows(index) == 0
    assert "The user prefers" not in office.recall(person, query=ASKED)
    (note,) = office.memory.unconfirmed(office.agent, person.config)
    office.memory.confirm(office.agent, person.config, note.id, shown=note.text)
    assert rows(index) == 1
    assert "The user prefers" in office.recall(person, query=ASKED)


def test_a_session_notes_vector_goes_with_the_hosts_forget(index: KeptIndex) -> None:
    office = session_only(index)
    person = office.person("7")
    office.keep(person, SHORT)
    assert rows(index) == 1
    (note,) = office.memory.notes(office.agent, person.config)
    office.memory.forget(office.agent, person.config, note.id)
    assert rows(index) == 0


def test_a_fork_finds_what_its_own_branch_holds(index: KeptIndex) -> None:
    office = session_only(index)
    person = office.person("7")
    office.keep(person, SHORT)
    before = office.agent.get_state(person.config).config
    office.forget(person, "Forget that I prefer short answers", "short answers")
    assert SHORT not in office.recall(person, query=ASKED)
    office.model.then(tool_calls(("recall", {"query": ASKED})), "ok")
    result = office.agent.invoke({"messages": [("user", "What do you know?")]}, before)
    told = [one.content for one in result["messages"] if one.type == "tool"]
    assert SHORT in told[-1]


def test_an_embedder_that_is_down_leaves_recall_to_words(
    office: Office, embedder: Synonyms
) -> None:
    person = office.person(user_id="ann")
    office.keep(person, SHORT)
    assert SHORT in office.recall(person, query=ASKED)
    embedder.down = True
    by_meaning = office.recall(person, query="replying brief")
    assert SHORT not in by_meaning
    assert WORDS_ALONE in by_meaning
    assert SHORT in office.recall(person, query="short")
    status = office.memory.index_status()
    assert (status.state, "failed" in status.reason) == ("words only", True)


def test_an_index_folder_that_is_deleted_is_made_again(office: Office, tmp_path: Path) -> None:
    person = office.person(user_id="ann")
    office.keep(person, SHORT)
    assert SHORT in office.recall(person, query=ASKED)
    (tmp_path / "index").rename(tmp_path / "gone")
    assert SHORT in office.recall(person, query="brief replying")


def test_a_server_that_stops_leaves_recall_to_words_until_it_is_back(
    tmp_path: Path, embedder: Synonyms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_server, "_REST_SECONDS", 0.0)
    server = ChromaServer(tmp_path / "chroma")
    server.start()
    office = Office(USER, index=ChromaIndex(server.url, embedder, timeout_s=5))
    person = office.person(user_id="ann")
    try:
        office.keep(person, SHORT)
        assert isinstance(office.memory.index, KeptIndex)
        assert office.memory.index.wait()
        assert SHORT in office.recall(person, query=ASKED)
        server.stop()
        answer = office.recall(person, query="brief replying")
        assert SHORT not in answer
        assert WORDS_ALONE in answer
        assert SHORT in office.recall(person, query="short")
        assert server.url in office.memory.index_status().reason
        server.start()
        assert SHORT in office.recall(person, query="replying brief")
    finally:
        office.memory.close_index()
        server.stop()


def test_no_word_of_a_note_stands_in_the_index(
    office: Office, index: KeptIndex, tmp_path: Path
) -> None:
    person = office.person(user_id="ann")
    office.keep(person, "I always use quokkafiltering")
    office.recall(person, query="quokkafiltering")
    assert index.wait()
    files = files_of(tmp_path / "index")
    assert files
    assert not any(b"quokka" in content.lower() for content in files.values())


def test_recalled_words_do_not_become_a_second_note(office: Office) -> None:
    person = office.person(user_id="ann")
    office.keep(person, SHORT)
    answers = office.run(
        office.person("2", user_id="ann"),
        "What do you know about my replies?",
        tool_calls(("recall", {"query": ASKED})),
        remember(SHORT, said=SHORT),
        remember("You prefer short answers", said="short answers"),
    )
    assert "Already remembered" in answers[1]
    assert "not as memory" in answers[2]
    assert office.notes(person) == [SHORT]


def test_an_async_run_finds_by_meaning_and_does_not_block_the_loop(office: Office) -> None:
    async def story() -> str:
        person = office.person(user_id="ann")
        await office.arun(person, SHORT, remember(SHORT))
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        pulse = asyncio.create_task(beat())
        (answer,) = await office.arun(
            person, "What do you know?", tool_calls(("recall", {"query": ASKED}))
        )
        pulse.cancel()
        assert beats > 1
        return answer

    assert SHORT in asyncio.run(story())


def test_one_question_to_several_scopes_is_embedded_once(
    index: KeptIndex, embedder: Synonyms, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = Office(USER, PROJECT, index=index)
    person = office.person(user_id="ann", project_id="apollo")
    office.keep(person, SHORT)
    office.keep(person, "I always use zsh", scope="session")
    assert index.wait()
    asked: list[str] = []
    embed = embedder.embed_query
    monkeypatch.setattr(embedder, "embed_query", lambda text: asked.append(text) or embed(text))
    assert SHORT in office.recall(person, query=ASKED)
    assert asked == [ASKED]


def test_many_people_at_once_find_their_own(index: KeptIndex) -> None:
    office = Office(USER, index=index)
    for number in range(8):
        office.keep(office.person(f"k{number}", user_id=f"u{number}"), f"I prefer short {number}")
    found: dict[int, str] = {}

    def ask(number: int) -> None:
        mine = Office(USER, index=index, store=office.store)
        found[number] = mine.recall(mine.person("q", user_id=f"u{number}"), query="brief")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(8):
        assert f"I prefer short {number}" in found[number]
        assert found[number].count("I prefer") == 1


def test_a_note_of_a_session_is_found_after_a_restart(index: KeptIndex, tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "s.sqlite")) as saver:
        office = session_only(index, saver=saver)
        office.keep(office.person("7"), SHORT)
        assert index.wait()
    index.close()
    with SqliteSaver.from_conn_string(str(tmp_path / "s.sqlite")) as saver:
        again = KeptIndex(ChromaIndex(tmp_path / "index", Synonyms()), patience_s=20)
        office = session_only(again, saver=saver)
        assert SHORT in office.recall(office.person("7"), query=ASKED)
        again.close()


def test_a_folder_by_name_is_an_index(tmp_path: Path) -> None:
    memory = CreditedMemory(index=tmp_path / "index")
    assert isinstance(memory.index, KeptIndex)
    assert memory.index_status().place == str(tmp_path / "index")
    assert memory.index_status().state == "unused"


def test_one_index_may_serve_two_memories(index: KeptIndex) -> None:
    assert CreditedMemory(index=index).index is CreditedMemory(index=index).index


@pytest.mark.parametrize("value", [7, object, ChromaIndex, {"a": 1}])
def test_what_is_no_index_is_refused(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="Pass a folder"):
        CreditedMemory(index=value)


def test_a_memory_without_an_index_says_so() -> None:
    status = CreditedMemory().index_status()
    assert (status.state, bool(status.reason)) == ("words only", True)
    CreditedMemory().close_index()


def test_an_index_for_words_only_is_no_failure(tmp_path: Path) -> None:
    office = Office(USER, index=WordsOnly())
    office.keep(office.person(user_id="ann"), SHORT)
    found = office.recall(office.person(user_id="ann"), query="short")
    assert SHORT in found
    assert WORDS_ALONE not in found


def session_only(index: KeptIndex, *, nodes: bool = False, saver: Any = None) -> Office:
    """An agent that keeps notes in its session alone."""
    return Office(nodes=nodes, saver=saver, index=index, session_only=True)


def test_a_chain_finds_by_meaning_what_the_config_opens(office: Office) -> None:
    ann, bob = office.person("1", user_id="ann"), office.person("2", user_id="bob")
    office.keep(ann, SHORT)
    found = office.memory.retriever(office.agent, ann.config).invoke(ASKED)
    assert [document.page_content for document in found] == [SHORT]
    assert office.memory.retriever(office.agent, bob.config).invoke(ASKED) == []
    again = asyncio.run(office.memory.retriever(office.agent, ann.config).ainvoke(ASKED))
    assert again == found


def test_a_chain_gets_the_digest_of_the_next_run(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    office.keep(ann, SHORT)
    runnable = office.memory.digest_runnable(office.agent, ann.config)
    assert runnable.invoke("anything") == office.memory.digest(office.agent, ann.config)
    assert SHORT in asyncio.run(runnable.ainvoke(None))


@pytest.mark.parametrize("method", ["retriever", "digest_runnable"])
def test_a_chain_without_a_thread_is_refused(office: Office, method: str) -> None:
    with pytest.raises(ConfigurationError, match=method):
        getattr(office.memory, method)(office.agent, {})
