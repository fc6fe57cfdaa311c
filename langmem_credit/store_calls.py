"""Calls to a LangGraph store that are waited for no longer than said.

A store that hangs must not hold a conversation. Its calls are made on threads of their own, or as
tasks of the event loop, and are left behind when their time is over. A store that kept somebody
waiting is then not asked at all for a while, so that one run waits once and not in each step.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, finalize, ref

from langgraph.store.base import BaseStore, Op

from .deadlines import Deadlines, OverdueError
from .forks import Locked

# Of one store. Threads are made as they are needed.
_THREADS = 64
# How long a store that kept somebody waiting is left alone.
_REST_SECONDS = 30.0

_log = logging.getLogger("langmem_credit")


class _Stores(Locked):
    """What is known of the stores of this process."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: WeakKeyDictionary[BaseStore, Deadlines] = WeakKeyDictionary()
        self._resting: WeakKeyDictionary[BaseStore, float] = WeakKeyDictionary()
        # Whose calls must be made on the thread that asks.
        self.bound: WeakSet[BaseStore] = WeakSet()

    def line(self, store: BaseStore) -> Deadlines:
        """The threads that this store's calls are made on."""
        with self._lock:
            found = self._lines.get(store)
            if found is None:
                found = self._lines[store] = Deadlines("langmem_credit store", _THREADS)
                finalize(store, found.close).atexit = False
            return found

    def check(self, store: BaseStore) -> None:
        """Does nothing, unless the store kept somebody waiting a short while ago.

        Raises:
            OverdueError: it did.
        """
        if self._resting and time.monotonic() < self._resting.get(store, 0.0):
            raise OverdueError("the store did not answer a short while ago")

    def rest(self, store: BaseStore) -> None:
        """The store kept somebody waiting."""
        with self._lock:
            self._resting[store] = time.monotonic() + _REST_SECONDS
        _log.warning(
            "a store did not answer in time; it is not asked again for %d seconds", _REST_SECONDS
        )


STORES = _Stores()


def batch(store: BaseStore, ops: Sequence[Op], seconds: float) -> list[Any]:
    """The store's answers.

    Raises:
        OverdueError: it did not answer in time, now or a short while ago. What was to be written
            may still be.
    """
    STORES.check(store)
    if store in STORES.bound or _needs_no_thread(store) or _is_of_this_loop(store):
        return store.batch(ops)
    if seconds <= 0:
        raise OverdueError("no time is left")
    context = contextvars.copy_context()
    # A call that hangs must not keep its store, nor the threads of it, for ever.
    asked = ref(store)
    try:
        return STORES.line(store).run(lambda: _called(asked, context, ops), seconds)
    except OverdueError:
        STORES.rest(store)
        raise
    except Exception as error:
        if type(error).__name__ != "ProgrammingError" or "thread" not in str(error):
            raise
        # Its connection may be used on the thread alone that made it.
        STORES.bound.add(store)
        return store.batch(ops)


async def abatch(store: BaseStore, ops: Sequence[Op], seconds: float) -> list[Any]:
    """As `batch`.

    Raises:
        NotImplementedError: the store has no asynchronous methods.
    """
    STORES.check(store)
    if seconds <= 0:
        raise OverdueError("no time is left")
    call = asyncio.ensure_future(store.abatch(ops))
    try:
        done, _ = await asyncio.wait((call,), timeout=seconds)
    except asyncio.CancelledError:
        call.cancel()
        raise
    if done:
        return call.result()
    # Not waited for: it may take its time to be cancelled as well.
    call.cancel()
    call.add_done_callback(_read)
    STORES.rest(store)
    raise OverdueError(f"no answer within {seconds:g} seconds")


def _called(asked: ref[BaseStore], context: contextvars.Context, ops: Sequence[Op]) -> list[Any]:
    store = asked()
    return [] if store is None else context.run(store.batch, ops)


def _read(call: asyncio.Future[Any]) -> None:
    """Takes the error of a call that nobody waits for, which asyncio would report."""
    if not call.cancelled():
        call.exception()


def _needs_no_thread(store: BaseStore) -> bool:
    """True for dictionaries of this process, and for a SQLite connection.

    The latter waits for a lock no longer than it was told, and closing it while a call is left
    behind in it would end the process.
    """
    if type(store).__module__ == "langgraph.store.memory":
        return True
    return type(getattr(store, "conn", None)).__module__ == "sqlite3"


def _is_of_this_loop(store: BaseStore) -> bool:
    """True on the very loop that the store's own work needs: it says at once that this fails."""
    loop = getattr(store, "_loop", None)
    if loop is None:
        return False
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
