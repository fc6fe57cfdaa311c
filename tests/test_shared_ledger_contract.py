"""What a shared ledger promises, on every store that it is offered for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, Op, PutOp, SearchOp

from langmem_credit import asking, shared_ledger
from langmem_credit.errors import StoreError
from langmem_credit.ledger import Event
from langmem_credit.notebook import fold
from langmem_credit.shared_ledger import CACHE, SharedLedger, Snapshot, SnapshotCache

from . import store_support
from .notebook_support import forgot, said, texts
from .store_support import Backend

LABELS = ("memories", "s-ann", "user")
HARD_TEXTS = [
    "Use café, naïve and Zoë",
    "记住我住在成都",
    "👩‍👩‍👧 می‌خواهم",
    "quote \" back \\ slash {braces} %s $1 ' ; --",
    "line\nbreak\ttab",
]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    CACHE.clear()


class SharedLedgerContract:
    """Subclassed for each store."""

    backend: Backend

    def ledger(self, labels: tuple[str, ...] = LABELS, cache: Any = CACHE) -> SharedLedger:
        return SharedLedger(self.backend.store, labels, cache)

    def write(self, *events: Event, labels: tuple[str, ...] = LABELS) -> list[Event]:
        missing: list[Event] = self.backend.ask(self.ledger(labels).append(events))
        return missing

    def read(self, labels: tuple[str, ...] = LABELS) -> list[Event]:
        snapshot: Snapshot = self.backend.ask(self.ledger(labels).read())
        return snapshot.events

    def read_elsewhere(self, labels: tuple[str, ...] = LABELS) -> list[Event]:
        """As a process that knows nothing yet reads it."""
        snapshot: Snapshot = self.backend.ask(self.ledger(labels, SnapshotCache()).read())
        return snapshot.events

    def test_scope_without_events_is_empty(self) -> None:
        assert self.read() == []

    def test_what_was_written_is_read(self) -> None:
        event = said("Use pnpm", 1)
        assert self.write(event) == []
        assert self.read() == [event]

    def test_another_process_reads_it_too(self) -> None:
        event = said("Use pnpm", 1)
        self.write(event)
        assert self.read_elsewhere() == [event]

    @pytest.mark.parametrize("text", HARD_TEXTS)
    def test_text_comes_back_unchanged(self, text: str) -> None:
        event = said(text, 1)
        self.write(event)
        assert self.read_elsewhere() == [event]

    def test_order_is_the_ledgers_own(self) -> None:
        first, second, third = (said(f"Rule {n}", n) for n in (1, 2, 3))
        self.write(third)
        self.write(first, second)
        assert self.read() == [first, second, third]

    def test_write_by_another_process_is_seen(self) -> None:
        first, second = said("Use pnpm", 1), said("Use zsh", 2)
        self.write(first)
        self.read()
        self.backend.ask(self.ledger(cache=SnapshotCache()).append([second]))
        assert self.read() == [first, second]

    def test_own_write_does_not_hide_one_of_another_process(self) -> None:
        first, second, third = (said(f"Rule {n}", n) for n in (1, 2, 3))
        self.write(first)
        self.read()
        self.backend.ask(self.ledger(cache=SnapshotCache()).append([second]))
        self.write(third)
        assert self.read() == [first, second, third]

    def test_event_written_twice_counts_once(self) -> None:
        event = said("Use pnpm", 1)
        self.write(event)
        self.write(event)
        assert self.read() == [event]

    def test_two_versions_of_one_event_are_merged(self) -> None:
        event = said("Use pnpm", 1)
        later = {**event, "at": "2026-03-01T09:05:00.000000Z"}
        self.write(later)
        self.write(event)
        assert self.read() == [event]

    def test_withdrawn_note_stays_forgotten(self) -> None:
        event = said("Use pnpm", 1)
        self.write(event, forgot(event, 2))
        self.write(said("Use pnpm", 3, heard_at=1, call="late"))
        assert fold(self.read()).active == ()

    def test_unchanged_scope_costs_one_get(self) -> None:
        self.write(*(said(f"Rule {n}", n) for n in range(50)))
        self.read()
        asked = Watched(self.backend)
        self.backend.ask(asked.watch(self.ledger().read()))
        assert asked.kinds == ["get"]

    def test_one_more_note_costs_its_bucket_and_no_other(self) -> None:
        self.write(*(said(f"Rule {n}", n) for n in range(200)))
        self.read()
        self.backend.ask(self.ledger(cache=SnapshotCache()).append([said("New", 900)]))
        asked = Watched(self.backend)
        snapshot = self.backend.ask(asked.watch(self.ledger().read()))
        assert len(snapshot.events) == 201
        assert asked.rows < 60

    def test_all_pages_are_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shared_ledger, "_PAGE", 7)
        events = [said(f"Rule {n}", n) for n in range(100)]
        self.write(*events)
        assert self.read_elsewhere() == events

    def test_more_events_than_one_batch_takes(self) -> None:
        events = [said(f"Rule {n}", n) for n in range(1_200)]
        assert self.write(*events) == []
        assert self.read_elsewhere() == events

    def test_scope_whose_label_begins_alike_is_not_read(self) -> None:
        self.write(said("Use pnpm", 1), labels=("memories", "s-anna", "user"))
        self.write(said("Use npm", 1), labels=("memories", "s-ann", "users"))
        assert self.read() == []

    def test_scope_below_another_is_not_read(self) -> None:
        self.write(said("Use pnpm", 1), labels=("memories", "s-ann", "user", "events"))
        assert self.read() == []

    def test_foreign_rows_are_ignored(self) -> None:
        event = said("Use pnpm", 1)
        self.write(event)
        bucket = (*LABELS, "events", shared_ledger._bucket_of(event["id"]))
        rubbish: list[dict[str, Any]] = [
            {"id": 7},
            {"text": "no event"},
            {**said("Elsewhere", 2), "id": "in-the-wrong-bucket"},
        ]
        self.backend.ask(_once([PutOp(bucket, f"x{n}", value) for n, value in enumerate(rubbish)]))
        kept = [event["id"] for event in self.read_elsewhere()]
        assert event["id"] in kept
        assert 7 not in kept

    def test_stored_event_is_not_changed_by_whoever_holds_it(self) -> None:
        event = said("Use pnpm", 1)
        self.write(event)
        self.read()[0]["text"] = "Use npm"
        event["text"] = "Use npm"
        assert texts(fold(self.read_elsewhere()).active) == ["Use pnpm"]

    def test_store_is_asked_to_index_nothing_and_to_keep_it(self) -> None:
        asked = Watched(self.backend)
        self.backend.ask(asked.watch(self.ledger().append([said("Use pnpm", 1)])))
        puts = [op for op in asked.ops if isinstance(op, PutOp)]
        assert {(op.index, op.ttl) for op in puts} == {(False, None)}

    def test_event_that_the_store_dropped_is_reported(self) -> None:
        kept, lost = said("Use pnpm", 1), said("Use zsh", 2)
        steps = self.ledger().append([kept, lost])
        assert self.backend.ask(_without_put_of(steps, lost)) == [lost]

    def test_failure_after_the_write_counts_as_written(self) -> None:
        event = said("Use pnpm", 1)
        assert self.backend.ask(_failing_after_put(self.backend, self.ledger(), event)) == []
        assert self.read_elsewhere() == [event]

    def test_threads_lose_nothing(self) -> None:
        events = [
            [said(f"Rule {n} of {t}", n, call=f"{t}-{n}") for n in range(20)] for t in "abcdef"
        ]

        def work(mine: list[Event]) -> None:
            for event in mine:
                assert self.write(event) == []
                assert event in self.read()

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, events))
        expected = {event["id"] for mine in events for event in mine}
        assert {event["id"] for event in self.read()} == expected
        assert {event["id"] for event in self.read_elsewhere()} == expected


class TestInMemoryStore(SharedLedgerContract):
    @pytest.fixture(autouse=True)
    def _store(self) -> Iterator[None]:
        with store_support.in_memory() as self.backend:
            yield

    def test_listing_while_it_grows(self) -> None:
        stop = threading.Event()

        def grow() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                self.backend.store.put(("other", f"n{number}"), "key", {"a": 1})
                # Others write all the time, and yet not all of it.
                time.sleep(0.0005)

        thread = threading.Thread(target=grow)
        thread.start()
        try:
            for number in range(30):
                self.write(said(f"Rule {number}", number))
                assert len(self.read_elsewhere()) == number + 1
        finally:
            stop.set()
            thread.join()


class TestSqliteStore(SharedLedgerContract):
    @pytest.fixture(autouse=True)
    def _store(self, tmp_path: Path) -> Iterator[None]:
        with store_support.sqlite_file(tmp_path / "store.sqlite") as self.backend:
            yield


class TestAsyncSqliteStore(SharedLedgerContract):
    @pytest.fixture(autouse=True)
    def _store(self, tmp_path: Path) -> Iterator[None]:
        with store_support.sqlite_file_async(tmp_path / "store.sqlite") as self.backend:
            yield


class TestPostgresStore(SharedLedgerContract):
    @pytest.fixture(autouse=True)
    def _store(self) -> Iterator[None]:
        with store_support.new_database() as uri, store_support.postgres(uri) as self.backend:
            yield


class TestAsyncPostgresStore(SharedLedgerContract):
    @pytest.fixture(autouse=True)
    def _store(self) -> Iterator[None]:
        with store_support.new_database() as uri, store_support.postgres_async(uri) as self.backend:
            yield


@pytest.mark.skipif(store_support.injected is None, reason="test_server.py runs it in a server")
class TestServerStore(SharedLedgerContract):
    @pytest.fixture(autouse=True)
    def _store(self) -> None:
        assert store_support.injected is not None
        self.backend = store_support.injected
        while (found := self.backend.ask(_once([SearchOp((), limit=1_000)]))[0]) != []:
            self.backend.ask(_once([PutOp(one.namespace, one.key, None) for one in found]))


def test_store_that_fails_raises_an_error_without_its_words() -> None:
    class Down(store_support.InMemoryStore):
        def batch(self, ops: Any) -> Any:
            raise ConnectionError("host db.internal refused 'Use pnpm'")

    steps = SharedLedger(Down(), LABELS).read()
    with pytest.raises(StoreError) as raised:
        asking.run("user", Down(), steps)
    assert (raised.value.scope, raised.value.cause) == ("user", "ConnectionError")
    assert "db.internal" not in str(raised.value)


async def test_store_without_async_methods_is_asked_in_a_thread(tmp_path: Path) -> None:
    with store_support.sqlite_file(tmp_path / "store.sqlite") as backend:
        ledger = SharedLedger(backend.store, LABELS)
        event = said("Use pnpm", 1)
        assert await asking.arun("user", backend.store, ledger.append([event])) == []
        snapshot = await asking.arun("user", backend.store, ledger.read())
    assert snapshot.events == [event]


def test_rows_that_move_between_pages_are_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_ledger, "_PAGE", 100)

    class Shuffling(store_support.InMemoryStore):
        """Hands rows of one moment out in another order each time, as a database may."""

        turns = 0

        def batch(self, ops: Any) -> Any:
            ops = list(ops)
            if not isinstance(ops[0], SearchOp):
                return super().batch(ops)
            Shuffling.turns += 1
            (op,) = ops
            (rows,) = super().batch([op._replace(limit=10_000, offset=0)])
            turned = rows[Shuffling.turns * 37 % max(len(rows), 1) :]
            turned += rows[: len(rows) - len(turned)]
            return [turned[op.offset : op.offset + op.limit]]

    store = Shuffling()
    events = [said(f"Rule {n}", n) for n in range(450)]
    asking.run("user", store, SharedLedger(store, LABELS).append(events))
    snapshot = asking.run("user", store, SharedLedger(store, LABELS, SnapshotCache()).read())
    assert snapshot.events == events


@pytest.mark.parametrize("most", [100, 7, 1])
def test_store_that_hands_out_less_than_asked_is_read_to_the_end(most: int) -> None:
    class Stingy(store_support.InMemoryStore):
        def batch(self, ops: Any) -> Any:
            return super().batch(
                op._replace(limit=min(op.limit, most)) if isinstance(op, SearchOp) else op
                for op in ops
            )

    store = Stingy()
    events = [said(f"Rule {n}", n) for n in range(450)]
    asking.run("user", store, SharedLedger(store, LABELS).append(events))
    snapshot = asking.run("user", store, SharedLedger(store, LABELS, SnapshotCache()).read())
    assert snapshot.events == events


def test_store_that_gives_one_page_for_ever_ends() -> None:
    class Stuck(store_support.InMemoryStore):
        def batch(self, ops: Any) -> Any:
            return super().batch(
                op._replace(offset=0) if isinstance(op, SearchOp) else op for op in ops
            )

    store = Stuck()
    events = [said(f"Rule {n}", n) for n in range(30)]
    asking.run("user", store, SharedLedger(store, LABELS).append(events))
    snapshot = asking.run("user", store, SharedLedger(store, LABELS, SnapshotCache()).read())
    assert snapshot.events == events


def test_cache_drops_the_least_used_scopes() -> None:
    cache, store = SnapshotCache(most_events=100), store_support.InMemoryStore()
    snapshot = Snapshot("t", {"00": ("t", [said(f"Rule {n}", n) for n in range(30)])})
    for name in "abc":
        cache.put(store, (name,), snapshot)
    assert [cache.get(store, (name,)) is not None for name in "abc"] == [False, True, True]


def test_cache_does_not_keep_a_store_alive() -> None:
    cache = SnapshotCache()
    store: BaseStore = store_support.InMemoryStore()
    cache.put(store, ("a",), Snapshot())
    del store
    assert len(cache._stores) == 0


class Watched:
    """Notes what steps ask of the store, and how many rows they get."""

    def __init__(self, backend: Backend) -> None:
        self.ops: list[Op] = []
        self.rows = 0

    @property
    def kinds(self) -> list[str]:
        names: dict[type, str] = {GetOp: "get", SearchOp: "search", PutOp: "put"}
        return [names[type(op)] for op in self.ops]

    def watch(self, steps: Any) -> Any:
        try:
            ops = next(steps)
            while True:
                self.ops += ops
                answers = yield ops
                self.rows += sum(len(one) if isinstance(one, list) else 1 for one in answers)
                ops = steps.send(answers)
        except StopIteration as done:
            return done.value


def _once(ops: list[Op]) -> Any:
    answers = yield ops
    return answers


def _without_put_of(steps: Any, lost: Event) -> Any:
    try:
        ops = next(steps)
        while True:
            kept = [
                op for op in ops if not (isinstance(op, PutOp) and op.key.startswith(lost["id"]))
            ]
            answers = yield kept
            ops = steps.send(answers)
    except StopIteration as done:
        return done.value


def _failing_after_put(backend: Backend, ledger: SharedLedger, event: Event) -> Any:
    steps = ledger.append([event])
    yield next(steps)
    try:
        ops = steps.throw(ConnectionError("the answer was lost"))
        while True:
            answers = yield ops
            ops = steps.send(answers)
    except StopIteration as done:
        return done.value


class Unreliable(store_support.InMemoryStore):
    """Loses puts of tokens, fails before them, or shows late or little of what it holds."""

    loses_tokens = breaks = False
    lag = 0
    most = 10_000

    def batch(self, ops: Any) -> Any:
        ops = list(ops)
        if self.loses_tokens:
            ops = [op for op in ops if not (isinstance(op, PutOp) and op.namespace[-1] == "tokens")]
        if self.breaks and any(isinstance(op, PutOp) for op in ops):
            self.breaks = False
            super().batch([op for op in ops if op.namespace[-1] != "tokens"])
            raise ConnectionError("gone in the middle")
        return [
            self._cut(op, answer) if isinstance(op, SearchOp) else answer
            for op, answer in zip(ops, super().batch(ops) if ops else [], strict=True)
        ]

    def _cut(self, op: SearchOp, answer: Any) -> Any:
        if self.lag and "events" in op.namespace_prefix:
            self.lag -= 1
            return []
        return answer[: self.most]


def on(store: BaseStore, steps: Any) -> Any:
    return asking.run("user", store, steps)


def test_reader_sees_a_write_whose_tokens_came_too_late() -> None:
    store, reader = Unreliable(), SnapshotCache()
    ledger = SharedLedger(store, LABELS, reader)
    on(store, ledger.append([said("Use pnpm", 1)]))
    on(store, ledger.read())
    store.breaks = True
    late = said("Use zsh", 2)
    assert on(store, SharedLedger(store, LABELS, SnapshotCache()).append([late])) == []
    assert late in on(store, ledger.read()).events


def test_write_whose_tokens_are_lost_is_reported() -> None:
    store = Unreliable()
    store.loses_tokens = True
    event = said("Use pnpm", 1)
    assert on(store, SharedLedger(store, LABELS).append([event])) == [event]


def test_event_that_a_listing_lags_behind_of_is_read_later() -> None:
    store = Unreliable()
    ledger = SharedLedger(store, LABELS, SnapshotCache())
    on(store, ledger.append([said("Use pnpm", 1)]))
    on(store, ledger.read())
    late = said("Use zsh", 2)
    assert on(store, SharedLedger(store, LABELS, SnapshotCache()).append([late])) == []
    store.lag = 1
    on(store, ledger.read())
    assert late in on(store, ledger.read()).events


def test_write_that_is_listed_late_is_shown_to_whoever_read_before() -> None:
    store = Unreliable()
    store.lag = 1
    event = said("Use pnpm", 1)
    assert on(store, SharedLedger(store, LABELS, SnapshotCache()).append([event])) == []


def test_store_that_hands_out_little_at_once_is_read_to_the_end() -> None:
    store = Unreliable()
    store.most = 50
    events = [said(f"Rule {number}", number, call=f"c{number}") for number in range(120)]
    assert on(store, SharedLedger(store, LABELS).append(events)) == []
    assert len(on(store, SharedLedger(store, LABELS, SnapshotCache()).read()).events) == 120
