"""An index kept in step in the background, and waited for no longer than said."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import pytest

from langmem_credit.index import Hit, Index, IndexStatus, SyncReport
from langmem_credit.kept_index import STARTING, KeptIndex
from langmem_credit.notes import Note
from tests.index_support import note, numbered


class Recorded:
    """An index that writes down what it is asked, and does as the test says."""

    def __init__(self) -> None:
        self.synced: list[tuple[Any, str, int]] = []
        self.reports: list[SyncReport] = []
        self.gate = threading.Event()
        self.gate.set()
        self.search_gate = threading.Event()
        self.search_gate.set()
        self.error: Exception | None = None
        self.closed = 0

    def sync(
        self,
        scope_key: Any,
        notes: Iterable[Note],
        *,
        token: str = "",
        budget_s: float | None = None,
    ) -> SyncReport:
        self.gate.wait(30)
        self.synced.append((scope_key, token, len(list(notes))))
        if self.error:
            raise self.error
        return self.reports.pop(0) if self.reports else SyncReport()

    def search(
        self, scope_key: Any, query: str, k: int, *, live: Collection[str] | None = None
    ) -> list[Hit]:
        self.search_gate.wait(30)
        if self.error:
            raise self.error
        return [Hit("n00001", 0.9)]

    def drop(self, scope_key: Any) -> SyncReport:
        return SyncReport(removed=1)

    def status(self) -> IndexStatus:
        return IndexStatus("ready")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def inner() -> Iterator[Recorded]:
    made = Recorded()
    yield made
    made.gate.set()
    made.search_gate.set()


@pytest.fixture
def index(inner: Recorded) -> Iterator[KeptIndex]:
    made = KeptIndex(inner, patience_s=0.2)
    yield made
    inner.gate.set()
    made.stop()


def test_it_is_an_index(index: KeptIndex) -> None:
    assert isinstance(index, Index)


def test_what_is_to_be_kept_is_kept_soon(index: KeptIndex, inner: Recorded) -> None:
    index.keep("ann", numbered(3), "t1")
    assert index.wait("ann")
    assert inner.synced == [("ann", "t1", 3)]


def test_nobody_waits_for_it(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    start = time.monotonic()
    index.keep("ann", numbered(3), "t1")
    assert time.monotonic() - start < 0.1
    assert not index.wait("ann", 0.05)


def test_the_same_token_is_not_kept_twice(index: KeptIndex, inner: Recorded) -> None:
    for _ in range(3):
        index.keep("ann", numbered(3), "t1")
        assert index.wait("ann")
    assert len(inner.synced) == 1


def test_after_a_minute_it_is_looked_at_again(
    index: KeptIndex, inner: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("langmem_credit.kept_index._KEPT_SECONDS", 0.0)
    for _ in range(2):
        index.keep("ann", numbered(3), "t1")
        assert index.wait("ann")
    assert len(inner.synced) == 2


def test_without_a_token_it_is_always_looked_at(index: KeptIndex, inner: Recorded) -> None:
    for _ in range(2):
        index.keep("ann", numbered(3))
        assert index.wait("ann")
    assert len(inner.synced) == 2


def test_of_one_scope_only_the_newest_notes_wait(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    index.keep("first", numbered(1), "t0")
    time.sleep(0.05)
    for number in range(1, 6):
        index.keep("ann", numbered(number), f"t{number}")
    inner.gate.set()
    assert index.wait()
    assert inner.synced == [("first", "t0", 1), ("ann", "t5", 5)]


def test_what_is_pending_is_gone_on_with(index: KeptIndex, inner: Recorded) -> None:
    inner.reports = [SyncReport(pending=5), SyncReport(pending=2)]
    index.keep("ann", numbered(9), "t1")
    assert index.wait("ann")
    assert len(inner.synced) == 3


def test_one_large_scope_lets_the_others_through(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    inner.reports = [SyncReport(pending=5), SyncReport(pending=2)]
    index.keep("large", numbered(9), "t1")
    time.sleep(0.05)
    index.keep("small", numbered(1), "t2")
    inner.gate.set()
    assert index.wait()
    assert [key for key, _, _ in inner.synced] == ["large", "small", "large", "small"]


def test_what_goes_back_to_an_earlier_state_is_kept_again(
    index: KeptIndex, inner: Recorded
) -> None:
    index.keep("ann", numbered(3), "t1")
    assert index.wait("ann")
    inner.gate.clear()
    index.keep("ann", numbered(2), "t2")
    index.keep("ann", numbered(3), "t1")
    time.sleep(0.05)
    index.keep("ann", numbered(2), "t2")
    index.keep("ann", numbered(3), "t1")
    inner.gate.set()
    assert index.wait("ann")
    assert inner.synced[-1] == ("ann", "t1", 3)


def test_what_is_being_kept_is_not_asked_for_twice(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    for _ in range(3):
        index.keep("ann", numbered(3), "t1")
        time.sleep(0.02)
    inner.gate.set()
    assert index.wait("ann")
    assert len(inner.synced) == 1


def test_newer_notes_take_the_place_of_pending_ones(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    inner.reports = [SyncReport(pending=5)]
    index.keep("ann", numbered(9), "t1")
    time.sleep(0.05)
    index.keep("ann", numbered(4), "t2")
    inner.gate.set()
    assert index.wait()
    assert inner.synced == [("ann", "t1", 9), ("ann", "t2", 4)]


def test_what_failed_is_tried_again_when_it_is_asked_for(index: KeptIndex, inner: Recorded) -> None:
    inner.reports = [SyncReport(reason="The disk is full.")]
    for _ in range(2):
        index.keep("ann", numbered(3), "t1")
        assert index.wait("ann")
    assert len(inner.synced) == 2


def test_an_error_is_told_and_ends_nothing(
    index: KeptIndex, inner: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    inner.error = RuntimeError("secret words")
    index.keep("ann", numbered(3), "t1")
    assert index.wait("ann")
    assert (index.status().state, "RuntimeError" in index.status().reason) == ("words only", True)
    assert "secret words" not in caplog.text
    inner.error = None
    index.keep("ann", numbered(3), "t1")
    assert index.wait("ann")
    assert index.status().state == "ready"


def test_a_search_gives_what_the_index_gives(index: KeptIndex) -> None:
    assert index.search("ann", "words", 5) == [Hit("n00001", 0.9)]


def test_a_search_that_hangs_is_given_up(
    index: KeptIndex, inner: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    inner.search_gate.clear()
    with caplog.at_level(logging.WARNING, "langmem_credit"):
        start = time.monotonic()
        assert index.search("ann", "words", 5) == []
        assert index.search("ann", "words", 5) == []
    assert time.monotonic() - start < 2
    assert index.status().state == "words only"
    assert caplog.text.count("recall is by words alone") == 1
    inner.search_gate.set()
    assert index.search("ann", "words", 5) == [Hit("n00001", 0.9)]
    assert index.status().state == "ready"


def test_a_search_that_was_begun_is_waited_for_later(index: KeptIndex, inner: Recorded) -> None:
    inner.search_gate.clear()
    start = time.monotonic()
    end = index.ask("ann", "words", 5)
    assert time.monotonic() - start < 0.1
    inner.search_gate.set()
    assert end() == [Hit("n00001", 0.9)]


def test_a_search_that_fails_finds_nothing(index: KeptIndex, inner: Recorded) -> None:
    inner.error = ValueError("no")
    assert index.search("ann", "words", 5) == []
    assert "ValueError" in index.status().reason


def test_while_it_starts_a_search_does_not_hang(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    index.keep("ann", numbered(3), "t1")
    start = time.monotonic()
    assert index.search("ann", "words", 5) == []
    assert time.monotonic() - start < 2
    assert index.status().reason == STARTING
    inner.gate.set()
    assert index.wait("ann")
    assert index.status().state == "ready"


def test_a_search_waits_a_moment_for_what_was_just_written(
    index: KeptIndex, inner: Recorded
) -> None:
    index.keep("ann", numbered(1), "t1")
    assert index.wait("ann")
    inner.gate.clear()
    index.keep("ann", numbered(2), "t2")
    threading.Timer(0.1, inner.gate.set).start()
    index.search("ann", "words", 5)
    assert inner.synced[-1] == ("ann", "t2", 2)


def test_what_is_dropped_is_not_kept(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    index.keep("first", numbered(1), "t0")
    time.sleep(0.05)
    index.keep("ann", numbered(1), "t1")
    threading.Timer(0.1, inner.gate.set).start()
    assert index.drop("ann").removed == 1
    assert index.wait()
    assert [key for key, _, _ in inner.synced] == ["first"]


def test_after_a_close_it_may_be_used_again(index: KeptIndex, inner: Recorded) -> None:
    index.keep("ann", numbered(1), "t1")
    assert index.wait()
    index.close()
    assert inner.closed == 1
    index.keep("ann", numbered(1), "t1")
    assert index.wait()
    assert len(inner.synced) == 2


def test_an_index_that_nobody_uses_goes(inner: Recorded) -> None:
    index = KeptIndex(inner)
    index.keep("ann", numbered(1), "t1")
    assert index.wait()
    reference = weakref.ref(index)
    del index
    for _ in range(50):
        gc.collect()
        if reference() is None:
            break
        time.sleep(0.1)
    assert reference() is None


def test_a_process_with_work_left_ends() -> None:
    script = """
import time
from langmem_credit.index import SyncReport, WordsOnly
from langmem_credit.kept_index import KeptIndex
class Slow(WordsOnly):
    def sync(self, scope_key, notes, *, token="", budget_s=None):
        time.sleep(0.3)
        return SyncReport(pending=1)
index = KeptIndex(Slow())
index.keep("ann", [], "t1")
time.sleep(0.1)
print("done")
"""
    start = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")
    assert time.monotonic() - start < 20


@pytest.mark.slow
def test_a_process_ends_after_what_is_being_loaded() -> None:
    script = """
import atexit, time
# Registered first, so it runs last.
atexit.register(lambda: print("loaded" if loaded else "still loading", flush=True))
from langmem_credit.index import SyncReport, WordsOnly
from langmem_credit.kept_index import KeptIndex
loaded = []
class Loading(WordsOnly):
    def sync(self, scope_key, notes, *, token="", budget_s=None):
        time.sleep(8)
        loaded.append(True)
        return SyncReport()
index = KeptIndex(Loading())
index.keep("ann", [], "t1")
time.sleep(0.1)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "loaded\n", "")


def test_notes_are_copied_when_they_are_asked_for(index: KeptIndex, inner: Recorded) -> None:
    inner.gate.clear()
    notes = [note("aaaaaa", "dark mode")]
    index.keep("ann", notes, "t1")
    notes.clear()
    inner.gate.set()
    assert index.wait()
    assert inner.synced == [("ann", "t1", 1)]
