"""An agent whose index fails: the chat goes on, words answer, the operator is told once and why."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from langmem_credit.answers import WORDS_ALONE
from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.kept_index import KeptIndex
from tests.index_support import BagOfWords, ChromaServer
from tests.sharing_support import USER, Office

KEPT = [f"My word number {number} is word{number}" for number in range(6)]
HOLD = """
import sys, time
from pathlib import Path
from langmem_credit.folder_lock import hold
with hold(Path(sys.argv[1]) / "lock", "", 5.0):
    print("held", flush=True)
    time.sleep(120)
"""


class Raising(BagOfWords):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ConnectionError("no embedder")

    def embed_query(self, text: str) -> list[float]:
        raise ConnectionError("no embedder")


@dataclass
class Site:
    """Where an agent's notes and its index lie, and what is to be taken away afterwards."""

    folder: Path
    store: InMemoryStore = field(default_factory=InMemoryStore)
    server: ChromaServer | None = None
    ends: list[Callable[[], Any]] = field(default_factory=list)

    def office(self, embedder: Any = None) -> Office:
        place = self.server.url if self.server else self.folder
        index = ChromaIndex(place, embedder or BagOfWords(), timeout_s=5)
        office = Office(USER, store=self.store, index=KeptIndex(index, patience_s=20))
        self.ends.append(office.memory.close_index)
        return office


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path / "index")
    yield site
    for end in reversed(site.ends):
        end()


def delete(site: Site) -> None:
    shutil.rmtree(site.folder)


def truncate(site: Site) -> None:
    for path in site.folder.rglob("*"):
        if path.is_file() and path.name != "lock":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def lock(site: Site) -> None:
    command = [sys.executable, "-c", HOLD, str(site.folder)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    site.ends += [holder.stdout.close, holder.wait, holder.kill]
    assert holder.stdout.readline() == b"held\n"


def stop(site: Site) -> None:
    assert site.server is not None
    site.server.stop()


def nothing(site: Site) -> None:
    pass


@dataclass(frozen=True)
class Trouble:
    """What happens to the index, to whom, and what the operator reads.

    `again`: the same process goes on; otherwise a new one finds it so. `mends`: the index is whole
    again at the end.
    """

    happens: Callable[[Site], None]
    told: str
    again: bool = False
    mends: bool = False
    embedder: Callable[[], Any] = BagOfWords
    server: bool = False


TROUBLES = {
    "deleted": Trouble(delete, "is made anew: its files are gone", again=True, mends=True),
    "truncated": Trouble(truncate, "is made anew: it has no record that fits", mends=True),
    "another embedder": Trouble(
        nothing, "vectors are made again", mends=True, embedder=lambda: BagOfWords(salt="other")
    ),
    "another dimension": Trouble(
        nothing,
        "(48 numbers), and the embedder is BagOfWords bag-of-words (12)",
        mends=True,
        embedder=lambda: BagOfWords(dimension=12),
    ),
    "locked by another process": Trouble(lock, "is in use by another process"),
    "server stopped": Trouble(stop, "cannot be reached", again=True, server=True),
    "embedder raises": Trouble(nothing, "it raised ConnectionError", embedder=Raising),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_the_chat_goes_on_words_answer_and_the_reason_is_told_once(
    trouble: Trouble, site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if trouble.server:
        site.server = ChromaServer(tmp_path / "chroma")
        site.ends.append(site.server.stop)
        site.server.start()
    office = site.office()
    ann = office.person("1", user_id="ann")
    for text in KEPT[:5]:
        office.keep(ann, text)
    index = office.memory.index
    assert isinstance(index, KeptIndex)
    assert index.wait()
    assert index.status().indexed == 5
    if not trouble.again:
        office.memory.close_index()
    with caplog.at_level(logging.WARNING, "langmem_credit"):
        trouble.happens(site)
        if not trouble.again:
            office = site.office(trouble.embedder())
        ann = office.person("2", user_id="ann")
        found = [office.recall(ann, query=f"word{number}") for number in range(5)]
        kept = office.keep(ann, KEPT[5])
        found.append(office.recall(ann, query="word5"))
        index = office.memory.index
        assert isinstance(index, KeptIndex)
        index.wait(20)
    assert [KEPT[number] in answer for number, answer in enumerate(found)] == [True] * 6
    assert kept.startswith("Remembered")
    assert office.notes(ann) == KEPT
    assert trouble.mends or WORDS_ALONE in found[-1]
    assert [trouble.told in line for line in caplog.messages if "index: " in line] == [True]
    status = office.memory.index_status()
    assert trouble.told in status.reason + status.notice
    assert (status.state, status.indexed == 6) == (
        ("ready", True) if trouble.mends else ("words only", False)
    )
