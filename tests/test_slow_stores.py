"""Stores that hang, are locked, or want a thread of their own: a conversation goes on."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from langmem_credit import books, store_calls
from langmem_credit.shared_ledger import CACHE

from .sharing_support import PROJECT, USER, ZSH, Office

ANN = {"user_id": "ann", "project_id": "apollo"}


class Hanging(InMemoryStore):
    """A store whose calls, or only its writes of some kind, never come back while it hangs."""

    def __init__(self) -> None:
        super().__init__()
        self.hangs = self.note_writes_hang = self.register_writes_hang = False
        self.freed = threading.Event()
        self.calls = 0

    def _stopped(self, ops: list[Any]) -> bool:
        self.calls += 1
        puts = [op.namespace for op in ops if isinstance(op, PutOp)]
        of_register = ["sessions" in namespace for namespace in puts]
        return (
            self.hangs
            or (self.register_writes_hang and any(of_register))
            or (self.note_writes_hang and not all(of_register))
        )

    def batch(self, ops: Any) -> Any:
        ops = list(ops)
        if self._stopped(ops):
            self.freed.wait(20)
        return super().batch(ops)

    async def abatch(self, ops: Any) -> Any:
        ops = list(ops)
        if self._stopped(ops):
            await asyncio.sleep(20)
        return super().batch(ops)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    CACHE.clear()
    monkeypatch.setattr(books, "OPENING_SECONDS", 0.5)
    monkeypatch.setattr(books, "WRITING_SECONDS", 0.5)


@pytest.fixture
def hanging() -> Iterator[Office]:
    office = Office(PROJECT, USER, store=Hanging())
    yield office
    office.store.freed.set()


def test_store_that_hangs_leaves_the_last_digest(hanging: Office) -> None:
    ann = hanging.person("1", **ANN)
    hanging.keep(ann, ZSH)
    before = hanging.digest(ann)
    hanging.store.hangs = True
    begun = time.monotonic()
    assert hanging.digest(ann) == before
    assert ZSH[2:] in before
    assert time.monotonic() - begun < 2


def test_run_waits_for_a_store_once(hanging: Office) -> None:
    ann = hanging.person("1", **ANN)
    hanging.keep(ann, ZSH)
    hanging.store.hangs, hanging.store.calls = True, 0
    answer = hanging.keep(ann, "I always drink tea")
    assert "its store cannot be reached now" in answer
    assert hanging.store.calls == 1


async def test_async_run_waits_for_a_store_once(hanging: Office) -> None:
    ann = hanging.person("1", **ANN)
    await hanging.arun(ann, "Hello")
    hanging.store.hangs, hanging.store.calls = True, 0
    begun = time.monotonic()
    await hanging.arun(ann, "Hello again")
    assert time.monotonic() - begun < 2
    assert hanging.store.calls == 1


def test_write_that_was_not_answered_is_not_said_to_be_saved(hanging: Office) -> None:
    hanging.store.note_writes_hang = True
    answer = hanging.keep(hanging.person("1", **ANN), ZSH)
    assert answer.startswith("Not saved: scope user")
    assert "did not answer in time" in answer


def test_register_that_hangs_holds_a_run_once_and_the_run_goes_on(hanging: Office) -> None:
    hanging.store.register_writes_hang = True
    begun = time.monotonic()
    ann = hanging.person("1", **ANN)
    assert hanging.keep(ann, ZSH).startswith("Not saved: scope user")
    assert time.monotonic() - begun < 2
    assert ann.state["messages"][-1].type == "ai"


def test_store_is_asked_again_after_its_rest(
    hanging: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_calls, "_REST_SECONDS", 0.0)
    ann = hanging.person("1", **ANN)
    hanging.store.hangs = True
    hanging.digest(ann)
    hanging.store.hangs = False
    hanging.store.freed.set()
    assert hanging.keep(ann, ZSH).startswith("Remembered")


def test_locked_file_holds_a_run_for_no_longer_than_one_scope(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    connection = sqlite3.connect(path, timeout=0.5, isolation_level=None, check_same_thread=False)
    store = SqliteStore(connection)
    store.setup()
    office = Office(PROJECT, USER, store=store)
    ann = office.person("1", **ANN)
    office.keep(ann, ZSH)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    begun = time.monotonic()
    answer = office.keep(ann, "I always drink tea")
    assert time.monotonic() - begun < 2
    assert "its store cannot be reached now" in answer
    other.execute("ROLLBACK")
    other.close()
    connection.close()


class OfOneThread(InMemoryStore):
    """A store that may be used on the thread alone that made it, as a connection may be."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()

    def batch(self, ops: Any) -> Any:
        if threading.get_ident() != self.thread:
            raise sqlite3.ProgrammingError("SQLite objects created in a thread can only be used …")
        return super().batch(ops)


def test_store_that_wants_its_own_thread_is_asked_there() -> None:
    office = Office(store=OfOneThread())
    ann = office.person("1", **ANN)
    office.digest(ann)
    assert office.store in store_calls.STORES.bound
    assert office.memory.notes(office.agent, ann.config) == ()
    assert office.model.system_texts[-1] is not None
