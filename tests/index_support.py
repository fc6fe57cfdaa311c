"""Embedders, notes and servers for the tests of the index."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from langmem_credit.fusion import Scopes
from langmem_credit.index import ScopeKey
from langmem_credit.notes import Note

DIMENSION = 48


class BagOfWords:
    """Texts with words in common have near vectors; the same everywhere."""

    model_name = "bag-of-words"

    def __init__(self, dimension: int = DIMENSION, salt: str = "") -> None:
        self.dimension = dimension
        self.salt = salt
        self.embedded: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        total = [0.0] * self.dimension
        for word in text.lower().split() or ["nothing"]:
            seed = hashlib.sha256((self.salt + word).encode("utf-8", "replace")).digest()
            for place in range(self.dimension):
                angle = int.from_bytes(seed[place % 28 : place % 28 + 4]) + place * 7919
                total[place] += math.sin(angle)
        return total


def note(note_id: str, text: str, *, seconds: int = 0, **more: object) -> Note:
    """An active note."""
    at = f"2026-03-01T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000000Z"
    return Note(note_id, text, "fact", "active", at, **more)  # type: ignore[arg-type]


def numbered(count: int) -> list[Note]:
    """So many notes; the one with number N is the only one with the word `wordN`."""
    return [
        note(f"n{number:05d}", f"the {number % 7} things are word{number}", seconds=number)
        for number in range(count)
    ]


def files_of(folder: Path) -> dict[str, bytes]:
    """Path to content, of every file below the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class ChromaServer:
    """`chroma run` on a port of its own, over a folder that outlives it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = Path(sys.executable).with_name("chroma")
        folder, port = str(self.folder), str(self.port)
        self._process = subprocess.Popen(
            [command, "run", "--path", folder, "--host", "127.0.0.1", "--port", port],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=2).close()
                return
            time.sleep(0.05)
        raise TimeoutError("the Chroma server did not start")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=30)
            self._process = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """The server takes connections and answers nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def in_scope(key: ScopeKey) -> Callable[[Sequence[Note]], Scopes]:
    """For notes that all lie in one scope."""
    return lambda notes: {key: {note.id: note.id for note in notes}}
