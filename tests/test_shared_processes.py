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

from langmem_credit.notebook import fold
from langmem_credit.shared_ledger import CACHE

from . import store_support
from .notebook_support import texts
from .sharing_process import opened, stored

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

    def __init__(self, **order: Any) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.sharing_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def first_line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)

    def told(self, *, killed: bool = False) -> list[dict[str, Any]]:
        """What it printed, its last line left out where it was killed in the middle of one."""
        out, error = self._process.communicate(timeout=600)
        assert killed or self._process.returncode == 0, error
        lines = [line for line in out.splitlines(keepends=True) if line.endswith("\n")]
        return [json.loads(line) for line in lines]


def words(told: list[dict[str, Any]], what: str) -> list[str]:
    return [one["word"] for one in told if one.get(what)]


def test_eight_processes_keep_two_thousand_notes(where: dict[str, str]) -> None:
    order = {"store": where, "kind": "ledger", "start": 0, "count": 250}
    processes = [Process(name=f"p{number}", **order) for number in range(8)]
    told = [line for process in processes for line in process.told()]
    with opened(where) as store:
        events = stored(store)
    assert len(words(told, "saved")) == 2_000
    assert max(Counter(event["id"] for event in events).values()) == 1
    assert {event["id"] for event in events} == {one["event"] for one in told}
    assert len(fold(events).active) == 2_000


def test_forgotten_notes_stay_forgotten_among_eight_writers(where: dict[str, str]) -> None:
    order = {"store": where, "kind": "ledger", "start": 0, "count": 100, "forget": 3}
    processes = [Process(name=f"p{number}", **order) for number in range(8)]
    told = [line for process in processes for line in process.told()]
    with opened(where) as store:
        active = {text.split()[-1] for text in texts(fold(stored(store)).active)}
    kept, gone = set(words(told, "saved")), set(words(told, "forgotten"))
    assert (len(kept), len(gone)) == (800, 8 * 34)
    assert active == kept - gone


def test_agents_in_four_processes_are_told_the_truth(where: dict[str, str]) -> None:
    order = {"store": where, "kind": "agent", "count": 25, "forget": 5}
    processes = [Process(name=f"q{number}", **order) for number in range(4)]
    told = [line for process in processes for line in process.told()]
    with opened(where) as store:
        active = {text.rsplit(" ", 1)[1] for text in texts(fold(stored(store)).active)}
    kept, gone = set(words(told, "saved")), set(words(told, "forgotten"))
    assert len(kept) == 100
    assert active == kept - gone
    assert len(gone) == 20


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_processes_killed_at_random_moments_lose_nothing_saved(
    where: dict[str, str], seed: int
) -> None:
    luck = random.Random(seed)
    saved: set[str] = set()
    gone: set[str] = set()
    for turn in range(10):
        order = {"store": where, "kind": "ledger", "start": 0, "count": 100_000, "forget": 4}
        processes = [Process(name=f"k{turn}x{number}", **order) for number in range(2)]
        first = [json.loads(process.first_line()) for process in processes]
        time.sleep(luck.uniform(0.0, 0.4))
        for process in processes:
            process.kill()
        told = first + [line for process in processes for line in process.told(killed=True)]
        saved |= set(words(told, "saved"))
        gone |= set(words(told, "forgotten"))
    with opened(where) as store:
        events = stored(store)
        notebook = fold(events)
    active = {text.split()[-1] for text in texts(notebook.active)}
    known = {note.text.split()[-1] for note in notebook.notes.values()}
    assert len(saved) > 100
    assert not saved - known
    assert not gone & active
    assert not (saved - gone) - active or len((saved - gone) - active) <= 20
    assert notebook.unknown == ()
    assert all(event.keys() >= {"v", "id", "type", "at", "note"} for event in events)
