"""Several processes in one scope: everything that was promised is there, once, and nothing else."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.indexing import scope_key
from langmem_credit.kept_index import KeptIndex
from langmem_credit.notebook import fold
from langmem_credit.shared_ledger import CACHE

from . import store_support
from .index_support import BagOfWords
from .notebook_support import texts
from .sharing_process import LABELS, opened, stored

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "sqlite_wal", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    CACHE.clear()
    if request.param == "postgres":
        with store_support.new_database() as uri, opened({"kind": "postgres", "at": uri}):
            yield {"kind": "postgres", "at": uri}
        return
    path = tmp_path / "store.sqlite"
    if request.param == "sqlite_wal":
        store_support.write_ahead(path)
    with opened({"kind": "sqlite", "at": str(path)}):
        yield {"kind": "sqlite", "at": str(path)}


class Process:
    """A process that writes, and what it said was saved."""

    def __init__(self, folder: Path, **order: Any) -> None:
        self._said = folder / f"{order['name']}.jsonl"
        self._failed = folder / f"{order['name']}.txt"
        with self._said.open("wb") as said, self._failed.open("wb") as failed:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.sharing_process", json.dumps(order)],
                stdout=said,
                stderr=failed,
                cwd=Path(__file__).parent.parent,
            )

    def kill_after_its_first_words(self, seconds: float) -> None:
        while not self._said.read_bytes():
            assert self._process.poll() is None, self._failed.read_text()
            time.sleep(0.01)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def told(self, *, killed: bool = False) -> list[dict[str, Any]]:
        """What it printed; the last line may be cut where it was killed."""
        assert self._process.wait(600) == 0 or killed, self._failed.read_text()
        lines = self._said.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]


def words(told: list[dict[str, Any]], what: str) -> list[str]:
    return [one["word"] for one in told if one.get(what)]


def test_eight_processes_keep_two_thousand_notes(where: dict[str, str], tmp_path: Path) -> None:
    order = {"store": where, "kind": "ledger", "start": 0, "count": 250}
    processes = [Process(tmp_path, name=f"p{number}", **order) for number in range(8)]
    told = [line for process in processes for line in process.told()]
    with opened(where) as store:
        events = stored(store)
    assert len(words(told, "saved")) == 2_000
    assert max(Counter(event["id"] for event in events).values()) == 1
    assert {event["id"] for event in events} == {one["event"] for one in told}
    assert len(fold(events).active) == 2_000


def test_forgotten_notes_stay_forgotten_among_eight_writers(
    where: dict[str, str], tmp_path: Path
) -> None:
    order = {"store": where, "kind": "ledger", "start": 0, "count": 250, "forget": 3}
    processes = [Process(tmp_path, name=f"p{number}", **order) for number in range(8)]
    told = [line for process in processes for line in process.told()]
    with opened(where) as store:
        active = {text.split()[-1] for text in texts(fold(stored(store)).active)}
    kept, gone = set(words(told, "saved")), set(words(told, "forgotten"))
    assert (len(kept), len(gone)) == (2_000, 8 * 84)
    assert active == kept - gone


def test_agents_in_four_processes_are_told_the_truth(where: dict[str, str], tmp_path: Path) -> None:
    order = {"store": where, "kind": "agent", "count": 25, "forget": 5}
    processes = [Process(tmp_path, name=f"q{number}", **order) for number in range(4)]
    told = [line for process in processes for line in process.told()]
    with opened(where) as store:
        active = {text.rsplit(" ", 1)[1] for text in texts(fold(stored(store)).active)}
    kept, gone = set(words(told, "saved")), set(words(told, "forgotten"))
    assert len(kept) == 100
    assert active == kept - gone
    assert len(gone) == 20


def test_thirty_agents_killed_with_an_index_leave_every_note_to_be_found(tmp_path: Path) -> None:
    CACHE.clear()
    luck = random.Random(11)
    told: list[dict[str, Any]] = []
    path = tmp_path / "store.sqlite"
    store_support.write_ahead(path)
    where = {"kind": "sqlite", "at": str(path)}
    order = {"store": where, "kind": "agent", "count": 10_000, "index": str(tmp_path / "index")}
    with opened(where):
        for turn in range(15):
            pair = [Process(tmp_path, name=f"k{turn}x{number}", **order) for number in range(2)]
            for process in pair:
                process.kill_after_its_first_words(luck.uniform(0.0, 1.0))
            told += [line for process in pair for line in process.told(killed=True)]
    with opened(where) as store:
        notebook = fold(stored(store))
    saved = set(words(told, "saved"))
    assert len(saved) >= 30
    assert saved <= {note.text.rsplit(" ", 1)[1] for note in notebook.active}
    assert notebook.unknown == notebook.conflicts == ()
    index = KeptIndex(ChromaIndex(tmp_path / "index", BagOfWords()), patience_s=30)
    index.keep(scope_key(LABELS), notebook.recallable, "all")
    assert index.wait(seconds=120)
    assert index.status().indexed == len(notebook.active)
    for note in notebook.active:
        (hit,) = index.search(scope_key(LABELS), note.text, 1)
        assert hit.note_id == note.id
    index.close()


def test_thirty_processes_killed_at_random_moments_lose_nothing_saved(
    where: dict[str, str], tmp_path: Path
) -> None:
    luck = random.Random(7)
    told: list[dict[str, Any]] = []
    order = {"store": where, "kind": "ledger", "start": 0, "count": 100_000, "forget": 4}
    for turn in range(15):
        pair = [Process(tmp_path, name=f"k{turn}x{number}", **order) for number in range(2)]
        for process in pair:
            process.kill_after_its_first_words(luck.uniform(0.0, 0.4))
        told += [line for process in pair for line in process.told(killed=True)]
    with opened(where) as store:
        events = stored(store)
    notebook = fold(events)
    active = {text.split()[-1] for text in texts(notebook.active)}
    saved, gone = set(words(told, "saved")), set(words(told, "forgotten"))
    assert len(saved) >= 30
    assert saved <= {note.text.split()[-1] for note in notebook.notes.values()}
    assert not gone & active
    # Each may have been killed after it forgot a note and before it was told so.
    assert len(saved - gone - active) <= 30
    assert notebook.unknown == ()
    assert notebook.conflicts == ()
    assert all(event.keys() >= {"v", "id", "type", "at", "note"} for event in events)
