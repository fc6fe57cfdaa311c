"""Identities that are hard to tell apart: none ever reads, forgets or lists another's notes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.kept_index import KeptIndex
from langmem_credit.shared_ledger import CACHE

from . import store_support
from .index_support import BagOfWords
from .sharing_support import PROJECT, USER, Office, remember

IDENTITIES = [
    "ann",
    "anna",
    "an",
    "Ann",
    "ANN",
    " ann",
    "ann ",
    "ann.user",
    "ann:user",
    "ann/user",
    "a",
    "a:b",
    "a.b",
    "a_b",
    "axb",
    "a%b",
    "a*b",
    "a~2eb",
    "s-ann",
    "ann@example.org",
    "ann@example.org.evil",
    "1",
    "01",
    "１",
    "ä",
    "a\u0308",
    "\u0430nn",
    "ann\u200b",
    "a\0nn",
    "' OR 1=1 --",
    "{user_id}",
    "events",
    "tokens",
    "x" * 300,
    "x" * 301,
    "\ud83d",
    "None",
]
SECRETS = {name: f"My lucky word is qx{number:03d}z" for number, name in enumerate(IDENTITIES)}


def marker(name: str) -> str:
    return SECRETS[name].rsplit(" ", 1)[1]


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgres", "index"])
def office(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Office]:
    """An agent that has heard one word from each of the identities."""
    CACHE.clear()
    folder = tmp_path_factory.mktemp("matrix")
    with _store(request.param, folder) as store:
        index = ChromaIndex(folder / "index", BagOfWords()) if request.param == "index" else None
        office = Office(USER, store=store, index=index)
        for number, name in enumerate(IDENTITIES):
            answer = office.keep(office.person(f"t{number}", user_id=name), SECRETS[name])
            assert "in scope user" in answer
        yield office
        office.memory.close_index()


def _store(kind: str, folder: Path) -> Any:
    if kind in ("memory", "index"):
        return _only_store(store_support.in_memory())
    if kind == "sqlite":
        return _only_store(store_support.sqlite_file(folder / "store.sqlite"))
    return _postgres()


@store_support.contextmanager
def _only_store(backend: Any) -> Iterator[Any]:
    with backend as one:
        yield one.store


@store_support.contextmanager
def _postgres() -> Iterator[Any]:
    with store_support.new_database() as uri, store_support.postgres(uri) as one:
        yield one.store


@pytest.mark.parametrize("name", IDENTITIES, ids=ascii)
def test_digest_recall_and_list_have_ones_own_and_nothing_else(office: Office, name: str) -> None:
    person = office.person(f"read {IDENTITIES.index(name)}", user_id=name)
    own, others = marker(name), [marker(other) for other in IDENTITIES if other != name]
    shown = [
        office.digest(person),
        office.recall(person, query="lucky word", limit=20),
        " ".join(office.notes(person)),
        str(office.memory.history(office.agent, person.config)),
    ]
    for text in shown:
        assert own in text
        assert not [other for other in others if other in text]


@pytest.mark.parametrize("office", ["index"], indirect=True)
@pytest.mark.parametrize("name", IDENTITIES, ids=ascii)
def test_the_index_finds_ones_own_and_nothing_else(office: Office, name: str) -> None:
    assert isinstance(office.memory.index, KeptIndex)
    assert office.memory.index.wait()
    person = office.person(f"near {IDENTITIES.index(name)}", user_id=name)
    (found,) = office.memory.retriever(office.agent, person.config, k=20).invoke("word my is lucky")
    assert found.page_content == SECRETS[name]
    status = office.memory.index_status()
    assert (status.state, status.indexed) == ("ready", len(IDENTITIES))


def test_nobody_forgets_another_ones_note(office: Office) -> None:
    for name, other in itertools.pairwise(IDENTITIES):
        person = office.person(f"forget {IDENTITIES.index(name)}", user_id=name)
        word = marker(other)
        answer = office.forget(person, f"Forget the word {word}", word)
        assert answer.startswith("Nothing was forgotten")
        assert word not in answer.replace(f"Forget the word {word}", "")
    for name in IDENTITIES:
        assert office.notes(office.person("list", user_id=name)) == [SECRETS[name]]


def test_nobody_reads_or_corrects_another_ones_note_by_its_id(office: Office) -> None:
    (theirs,) = office.memory.notes(office.agent, office.person("x", user_id="anna").config)
    ann = office.person("by id", user_id="ann")
    assert marker("anna") not in office.recall(ann, id=theirs.id)
    office.run(ann, "Again", remember("My lucky word is mine", id=theirs.id))
    assert office.notes(office.person("y", user_id="anna")) == [SECRETS["anna"]]


@pytest.mark.parametrize("value", [1, 0, True, None, "", b"ann", ("ann",)])
def test_what_is_no_text_reads_nothing(office: Office, value: Any) -> None:
    person = office.person(f"no text {value!r}", user_id=value)
    assert office.notes(person) == []
    assert "lucky" not in office.digest(person)


def test_scope_argument_of_a_model_opens_nothing_new(office: Office) -> None:
    ann = office.person("argument", user_id="ann")
    for scope in ("anna", "s-anna", "memories.s-anna", "../anna", "user/anna", "project"):
        answer = office.recall(ann, query="lucky word", scope=scope, limit=20)
        assert marker("anna") not in answer


def test_projects_with_the_names_of_users_stay_apart() -> None:
    office = Office(USER, PROJECT)
    same = {"user_id": "ann", "project_id": "ann"}
    office.keep(office.person("1", **same), "My lucky word is private")
    other = office.person("2", user_id="bob", project_id="ann")
    assert "private" not in office.digest(other)
