"""What an index on a Chroma server survives: none there, gone, frozen, other programs' data."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from langmem_credit import chroma_server
from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.chroma_server import Server
from langmem_credit.index import SyncReport
from tests.index_support import BagOfWords, ChromaServer, numbered

# Chroma leaves a connection open where it fails while it connects.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaServer]:
    server = ChromaServer(tmp_path / "chroma")
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def _no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma_server, "_REST_SECONDS", 0.0)


@pytest.fixture
def index(server: ChromaServer) -> Iterator[ChromaIndex]:
    index = ChromaIndex(server.url, BagOfWords(), timeout_s=2.0)
    yield index
    index.close()


def found_soon(index: ChromaIndex, query: str) -> list[str]:
    """What the index finds once it answers in time, as it may not at once on a busy machine."""
    end = time.monotonic() + 20
    while not (hits := index.search("ann", query, 1)) and time.monotonic() < end:
        time.sleep(0.2)
    return [hit.note_id for hit in hits]


def test_without_a_server_it_says_so_and_starts_when_one_comes(
    server: ChromaServer, index: ChromaIndex
) -> None:
    report = index.sync("ann", numbered(5))
    assert report.reason.startswith(f"The Chroma server {server.url} cannot be reached")
    assert index.search("ann", "word3", 1) == []
    server.start()
    assert index.sync("ann", numbered(5)) == SyncReport(added=5, indexed=5)


def test_a_server_that_stops_leaves_words_until_it_is_back(
    server: ChromaServer, index: ChromaIndex, caplog: pytest.LogCaptureFixture
) -> None:
    server.start()
    index.sync("ann", numbered(5))
    server.stop()
    with caplog.at_level(logging.WARNING, "langmem_credit"):
        assert [index.search("ann", "word3", 1) for _ in range(3)] == [[], [], []]
    assert len(caplog.messages) == 1
    assert index.status().state == "words only"
    server.start()
    assert index.search("ann", "word3", 1)[0].note_id == "n00003"
    assert index.status().state == "ready"


def test_what_a_killed_server_had_acknowledged_is_there_when_it_is_back(
    server: ChromaServer, index: ChromaIndex
) -> None:
    server.start()
    index.sync("ann", numbered(50))
    server.stop()
    server.start()
    assert index.sync("ann", numbered(51)) == SyncReport(added=1, indexed=51)


def test_a_server_that_lost_its_data_is_filled_again(
    tmp_path: Path, server: ChromaServer, index: ChromaIndex
) -> None:
    server.start()
    index.sync("ann", numbered(5))
    server.stop()
    server.folder = tmp_path / "empty"
    server.start()
    # The first call finds the old connection gone.
    index.search("ann", "word3", 1)
    assert index.search("ann", "word3", 1)[0].note_id == "n00003"
    assert index.sync("ann", numbered(5)).indexed == 5


def test_a_frozen_server_costs_no_more_than_its_time(
    server: ChromaServer, index: ChromaIndex
) -> None:
    server.start()
    index.sync("ann", numbered(5))
    with server.frozen():
        began = time.monotonic()
        assert index.search("ann", "word3", 1) == []
        assert time.monotonic() - began < 3.5
        assert "no answer within" in index.status().reason or "cannot be reached" in (
            index.status().reason
        )
    assert found_soon(index, "word3") == ["n00003"]


def test_a_frozen_server_takes_no_thread_for_good(server: ChromaServer) -> None:
    server.start()
    index = ChromaIndex(server.url, BagOfWords(), timeout_s=0.5)
    index.sync("ann", numbered(5))
    with server.frozen():
        for _ in range(6):
            index.search("ann", "word3", 1)
    time.sleep(1.0)
    waiting = [one for one in threading.enumerate() if "index server" in one.name]
    assert len(waiting) <= chroma_server._CALLS
    assert found_soon(index, "word3") == ["n00003"]
    index.close()


def test_a_server_that_is_no_chroma_leaves_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def answer() -> None:
            # The client gives up when it likes.
            with contextlib.suppress(OSError):
                for _ in range(2):
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(1_000)
                        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")

        threading.Thread(target=answer, daemon=True).start()
        index = ChromaIndex(f"http://127.0.0.1:{port}", BagOfWords(), timeout_s=2.0)
        assert "The Chroma server" in index.sync("ann", numbered(5)).reason
        index.close()


def test_collections_of_other_programs_are_left_alone(
    server: ChromaServer, index: ChromaIndex
) -> None:
    server.start()
    other = Server(server.url)
    other.call("", lambda client: client.create_collection("theirs", embedding_function=None))
    index.sync("ann", numbered(5))
    index.drop("ann")
    names = other.call("", lambda client: [one.name for one in client.list_collections()])
    other.close()
    assert names == ["theirs"]


def test_a_password_in_the_address_is_sent_and_never_shown() -> None:
    server = Server("https://ann:hun%20ter2@chroma.example/path/")
    assert server.shown == "https://chroma.example:443/path"
    assert server._headers == {"Authorization": "Basic YW5uOmh1biB0ZXIy"}


def test_headers_are_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        received: list[bytes] = []

        def answer() -> None:
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    received.append(connection.recv(10_000))

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        index = ChromaIndex(url, BagOfWords(), timeout_s=2.0, headers={"X-Chroma-Token": "t0ken"})
        index.sync("ann", numbered(1))
        thread.join(5)
        index.close()
    assert b"t0ken" in received[0]


def test_processes_that_share_a_server_see_each_others_rows(server: ChromaServer) -> None:
    server.start()
    one, two = (ChromaIndex(server.url, BagOfWords()) for _ in range(2))
    one.sync("ann", numbered(5))
    assert two.sync("ann", numbered(6)) == SyncReport(added=1, indexed=6)
    assert one.sync("ann", numbered(6)).indexed == 6
    assert one.search("ann", "word5", 1)[0].note_id == "n00005"
    one.close()
    two.close()


def test_many_writers_to_one_scope_lose_no_row(server: ChromaServer) -> None:
    server.start()
    indexes = [ChromaIndex(server.url, BagOfWords(8)) for _ in range(4)]
    threads = [
        threading.Thread(target=lambda index=index: index.sync("ann", numbered(300)))
        for index in indexes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    later = ChromaIndex(server.url, BagOfWords(8))
    later.sync("ann", numbered(300))
    assert len(later.search("ann", "the things", 1_000)) == 300
    for index in [*indexes, later]:
        index.close()
