"""What stands in a Chroma collection: names, records, rows, and nothing that anybody said.

A collection holds one scope. Its name is a digest of the scope's key, its metadata records what
made it, and a row is an id and a vector: no documents, no words. The id is the note's
with a digest of the text that was embedded, so that a row of an older wording is told apart.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .embedding import Model
from .index import ScopeKey
from .notes import text_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    from .embedding import Vector

_T = TypeVar("_T")

FORMAT = 1
PREFIX = "langmem-credit-"
_NAME_CHARS = 40
# Far under the 5,461 rows that one statement can carry.
BATCH = 500
_PAGE = 5_000
# Vectors are of unit length, so the inner product is the cosine; Chroma's own cosine would store
# them divided once more, and the bytes could not be found again to be wiped.
_SPACE = "ip"
_GOING = "going"


class IndexTroubleError(Exception):
    """The index cannot do what was asked.

    Attributes:
        retry: it was set right, and the same may be asked again at once.
        rest_s: seconds to leave it alone; 0 when the next call may try again.
    """

    def __init__(self, reason: str, *, retry: bool = False, rest_s: float = 0.0) -> None:
        self.retry = retry
        self.rest_s = rest_s
        super().__init__(reason)


class Place(Protocol):
    """Where collections are: a folder or a server.

    Every method but `close` raises IndexTroubleError where it cannot do what it should.
    """

    @property
    def shown(self) -> str:
        """Its name for people, without secrets."""
        ...

    @property
    def epoch(self) -> int:
        """Grows whenever what was known of its rows may no longer hold."""
        ...

    @property
    def notice(self) -> str:
        """What happened last that an operator should know."""
        ...

    @property
    def versions(self) -> dict[str, str]:
        """Release of each part, as far as it is known yet."""
        ...

    @property
    def release(self) -> str:
        """The Chroma that writes its files."""
        ...

    def call(
        self, name: str, work: Callable[[Any], _T], *, writes: bool = False, seconds: float = 0.0
    ) -> _T:
        """What the work gives on an open client, within bounded time.

        Args:
            name: the collection that it is about.
            work: takes the client.
            writes: it changes something.
            seconds: how long it may take; 0 for the usual time.
        """
        ...

    def make(self, name: str, record: Record) -> None:
        """An empty collection in place of any other of that name."""
        ...

    def remove(self, name: str, row_ids: Sequence[str]) -> None:
        """Takes rows out, and what they held out of the files, where those are in reach."""
        ...

    def drop(self, name: str) -> None:
        """Takes a collection away; likewise."""
        ...

    def tell(self, notice: str) -> None:
        """Logs and keeps what an operator should know."""
        ...

    def close(self) -> None:
        """Lets go of it. A later call opens it again."""
        ...


def collection_name(scope_key: ScopeKey, deployment: str = "") -> str:
    """The scope's collection, one to one: 55 characters that tell nothing of the key.

    >>> collection_name("a:b") == collection_name(("a", "b"))
    False
    """
    kind = "text" if isinstance(scope_key, str) else "parts"
    parts = [scope_key] if isinstance(scope_key, str) else list(scope_key)
    named = json.dumps([deployment, kind, parts])
    return PREFIX + hashlib.sha256(named.encode("ascii")).hexdigest()[:_NAME_CHARS]


def row_id(note_id: str, text: str) -> str:
    """The row of a note as it is worded now."""
    return f"{note_id}-{text_hash(text)}"


def note_id_of(row: str) -> str:
    """The note that a row belongs to; "" for a row that is not ours."""
    note_id, dash, digest = row.rpartition("-")
    return note_id if dash and len(digest) == 16 else ""


@dataclass(frozen=True, slots=True)
class Record:
    """What made a collection.

    Attributes:
        model: of its vectors.
        chroma: release that wrote it.
        format: of the rows.
    """

    model: Model
    chroma: str
    format: int = FORMAT

    def metadata(self) -> dict[str, Any]:
        """As Chroma keeps it."""
        return {
            "format": self.format,
            "chroma": self.chroma,
            "model": self.model.name,
            "dimension": self.model.dimension,
            "sample": json.dumps(self.model.sample),
        }


def record_of(metadata: object) -> Record | None:
    """The record in a collection's metadata; None where there is none to be read."""
    if not isinstance(metadata, dict):
        return None
    try:
        sample = tuple(float(one) for one in json.loads(metadata["sample"]))
        if not all(map(math.isfinite, sample)):
            return None
        model = Model(str(metadata["model"]), int(metadata["dimension"]), sample)
        return Record(model, str(metadata["chroma"]), int(metadata["format"]))
    except (KeyError, TypeError, ValueError):
        return None


def find(client: Any, name: str) -> Any | None:
    """The collection, or None where there is none."""
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None


def make(client: Any, name: str, record: Record) -> None:
    """An empty collection in place of any other; one that another process just made will do."""
    drop(client, name)
    try:
        client.create_collection(
            name,
            metadata=record.metadata(),
            embedding_function=None,
            configuration={"hnsw": {"space": _SPACE, "ef_search": 200}},
        )
    except Exception:
        there = find(client, name)
        if there is None or record_of(there.metadata) != record:
            raise


def drop(client: Any, name: str) -> bool:
    """Takes a collection away; False where there was none."""
    from chromadb.errors import NotFoundError

    try:
        client.delete_collection(name)
    except NotFoundError:
        return False
    return True


def half_removed(collection: Any) -> list[str]:
    """Ids of rows that were being removed when a process died, and hold noise."""
    found: list[str] = collection.get(where={_GOING: True}, include=[])["ids"]
    return found


def rows_of(collection: Any) -> list[str]:
    """Ids of all rows."""
    rows: list[str] = []
    while True:
        page = collection.get(include=[], limit=_PAGE, offset=len(rows))["ids"]
        rows += page
        if len(page) < _PAGE:
            return rows


def vectors_of(collection: Any, rows: Sequence[str]) -> tuple[list[str], list[Vector]]:
    """The rows that are there, and their vectors."""
    import numpy as np

    found: list[str] = []
    vectors: list[Vector] = []
    for batch in batches(rows):
        got = collection.get(ids=batch, include=["embeddings"])
        found += got["ids"]
        vectors += [np.asarray(one, dtype=np.float32) for one in got["embeddings"]]
    return found, vectors


def add(collection: Any, rows: Sequence[str], vectors: Sequence[Vector]) -> None:
    """Puts rows in; those with the same id are replaced."""
    for begin in range(0, len(rows), BATCH):
        end = begin + BATCH
        collection.upsert(ids=list(rows[begin:end]), embeddings=list(vectors[begin:end]))


def remove(collection: Any, row_ids: Sequence[str]) -> list[Vector]:
    """Takes rows out and gives the vectors that they had.

    What they held is replaced by noise first: Chroma marks a removed row and keeps its vector.
    """
    import numpy as np

    chance = np.random.default_rng()
    gone: list[Vector] = []
    for batch in batches(row_ids):
        there, vectors = vectors_of(collection, batch)
        if not there:
            continue
        noise = chance.standard_normal((len(there), len(vectors[0]))).astype(np.float32)
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        # Marked: whoever dies here leaves rows that have the right id and hold noise.
        marks = [{_GOING: True}] * len(there)
        collection.upsert(ids=there, embeddings=list(noise), metadatas=marks)
        collection.delete(ids=there)
        gone += vectors
    # Chroma takes its log in when it is asked something; only then are the rows gone from its
    # tables.
    collection.count()
    return gone


def nearest(collection: Any, vector: Vector, count: int) -> list[tuple[str, float]]:
    """(row id, cosine) of the nearest rows, nearest first."""
    found = collection.query(
        query_embeddings=[vector], n_results=max(1, count), include=["distances"]
    )
    rows, distances = found["ids"][0], found["distances"][0]
    return [(row, 1.0 - float(distance)) for row, distance in zip(rows, distances, strict=False)]


def compared(collection: Any, vector: Vector, row_ids: Sequence[str]) -> list[tuple[str, float]]:
    """(row id, cosine) of these rows, nearest first, each compared with the vector."""
    found, vectors = vectors_of(collection, row_ids)
    scored = [(row, float(one @ vector)) for row, one in zip(found, vectors, strict=True)]
    return sorted(scored, key=lambda pair: -pair[1])


def batches(rows: Sequence[str]) -> Iterator[list[str]]:
    """The rows in batches of at most `BATCH`."""
    for begin in range(0, len(rows), BATCH):
        yield list(rows[begin : begin + BATCH])
