"""The files of an index folder: whether they are as they were left, and what must leave them.

Chroma's own files are read here and, where a vector has to go, overwritten in place, byte for
byte; nothing else in them changes. The folder's lock is held meanwhile.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .embedding import Vector

_CHUNK = 1 << 20
# Only what the tables have taken in from the log: a row that is still to come has none there yet.
_WIPE = """
    WITH taken AS (
        SELECT c.id AS collection, s.id AS segment, m.seq_id AS until
        FROM collections c
        JOIN segments s ON s.collection = c.id AND s.scope = 'METADATA'
        JOIN max_seq_id m ON m.segment_id = s.id
        WHERE c.name = :name
    )
    UPDATE embeddings_queue SET vector = zeroblob(length(vector))
    WHERE vector IS NOT NULL
      AND EXISTS (
        SELECT 1 FROM taken
        WHERE embeddings_queue.topic LIKE '%/' || taken.collection
          AND embeddings_queue.seq_id <= taken.until
          AND embeddings_queue.id NOT IN (
            SELECT embedding_id FROM embeddings WHERE segment_id = taken.segment
          )
      )
"""


def intact(folder: Path, name: str) -> bool:
    """True when a collection's index files are as they were noted, or none were."""
    noted = _noted(folder, name)
    if noted is None:
        return True
    segment = folder / "chroma" / str(noted["segment"])
    found = _facts(segment)
    if found.keys() != noted["files"].keys():
        return False
    for file, (size, when, checksum) in noted["files"].items():
        if found[file][0] != size:
            return False
        # A copied folder has other times and the same bytes.
        if found[file][1] != when and _checksum(segment / file) != checksum:
            return False
    return True


def note(folder: Path, name: str) -> None:
    """Notes a collection's index files as they are, where they changed since they were noted."""
    segment = _segment(folder / "chroma", name)
    if segment is None:
        return
    found = _facts(folder / "chroma" / segment)
    noted = _noted(folder, name)
    known: dict[str, Any] = {}
    if noted is not None and noted["segment"] == segment:
        known = noted["files"]
        if found.keys() == known.keys() and all(found[file] == known[file][:2] for file in found):
            return
    files = {
        file: known[file]
        if file in known and known[file][:2] == facts
        else [*facts, _checksum(folder / "chroma" / segment / file)]
        for file, facts in found.items()
    }
    path = folder / "files" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"segment": segment, "files": files}), encoding="utf-8")
    new.replace(path)


def wipe(chroma: Path, name: str, vectors: Sequence[Vector]) -> None:
    """Takes removed vectors out of the log and out of a collection's index file.

    Chroma marks a removed row and keeps its bytes until it rewrites the file, which in a small
    collection is never. In the log, what belongs to no row is overwritten.

    Args:
        chroma: Chroma's folder.
        name: the collection's.
        vectors: that were removed, as they stood in the index file.
    """
    with closing(sqlite3.connect(chroma / "chroma.sqlite3", timeout=2.0)) as database:
        database.execute("PRAGMA secure_delete = ON")
        with database:
            database.execute(_WIPE, {"name": name})
        # Pages that Chroma itself has split or freed hold copies.
        database.execute("VACUUM")
    segment = _segment(chroma, name)
    data = chroma / segment / "data_level0.bin" if segment else None
    if vectors and data is not None and data.exists() and data.stat().st_size:
        with data.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as content:
            for vector in vectors:
                _blank(content, vector.tobytes())


def sweep(folder: Path, name: str) -> None:
    """Takes away what a deleted collection leaves: its index files, its log, freed pages."""
    (folder / "files" / f"{name}.json").unlink(missing_ok=True)
    chroma = folder / "chroma"
    with closing(sqlite3.connect(chroma / "chroma.sqlite3", timeout=2.0)) as database:
        live = {row[0] for row in database.execute("SELECT id FROM segments")}
        database.execute("VACUUM")
    for entry in chroma.iterdir():
        if entry.is_dir() and entry.name not in live and (entry / "header.bin").exists():
            shutil.rmtree(entry, ignore_errors=True)


def _blank(content: mmap.mmap, wanted: bytes) -> None:
    place = content.find(wanted)
    while place >= 0:
        content[place : place + len(wanted)] = bytes(len(wanted))
        place = content.find(wanted, place + len(wanted))


def _segment(chroma: Path, name: str) -> str | None:
    """The folder of a collection's index files; None where Chroma keeps them otherwise."""
    database = chroma / "chroma.sqlite3"
    if not database.exists():
        return None
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=2.0)) as reader:
            row = reader.execute(
                "SELECT s.id FROM segments s JOIN collections c ON s.collection = c.id "
                "WHERE c.name = ? AND s.scope = 'VECTOR'",
                (name,),
            ).fetchone()
    except sqlite3.Error:
        return None
    return str(row[0]) if row else None


def _noted(folder: Path, name: str) -> dict[str, Any] | None:
    try:
        noted = json.loads((folder / "files" / f"{name}.json").read_text(encoding="utf-8"))
        if isinstance(noted["segment"], str) and isinstance(noted["files"], dict):
            return noted  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _facts(segment: Path) -> dict[str, list[int]]:
    """Name to size and time, of every file; nothing where there is no such folder."""
    try:
        with os.scandir(segment) as entries:
            stats = {entry.name: entry.stat() for entry in entries if entry.is_file()}
    except OSError:
        return {}
    return {name: [one.st_size, one.st_mtime_ns] for name, one in sorted(stats.items())}


def _checksum(path: Path) -> int:
    total = 0
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            total = zlib.crc32(chunk, total)
    return total
