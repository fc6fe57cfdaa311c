"""Steps on a LangGraph store: what is asked of it, one thing after the other.

Steps are a generator that yields what it asks of the store and is sent the answers, so that one
body serves `run` and `arun`. What another try may settle is tried again for a while; the time for
it all is bounded.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar, cast

from langgraph.store.base import BaseStore, Op

from . import store_calls
from .deadlines import OverdueError
from .errors import StoreError

T = TypeVar("T")
Steps = Generator[list[Op], list[Any], T]

_TRIES = 8
_PATIENCE_SECONDS = 20.0


def run(scope: str, store: BaseStore, steps: Steps[T], seconds: float = _PATIENCE_SECONDS) -> T:
    """The result of the steps on this store.

    Args:
        scope: for the error.
        store: to ask.
        steps: what to ask.
        seconds: for all of them together.

    Raises:
        StoreError: the store failed, or did not answer in time.
    """
    asking = _Asking(scope, steps, seconds)
    while not asking.done:
        try:
            answers = store_calls.batch(store, asking.ops, asking.left)
        except Exception as error:  # noqa: BLE001 - each store raises errors of its own
            time.sleep(asking.failed(error, store))
        else:
            asking.answered(answers)
    return cast("T", asking.result)


async def arun(
    scope: str, store: BaseStore, steps: Steps[T], seconds: float = _PATIENCE_SECONDS
) -> T:
    """As `run`."""
    asking = _Asking(scope, steps, seconds)
    while not asking.done:
        try:
            answers = await _abatch(store, asking.ops, asking.left)
        except Exception as error:  # noqa: BLE001 - each store raises errors of its own
            await asyncio.sleep(asking.failed(error, store))
        else:
            asking.answered(answers)
    return cast("T", asking.result)


class _Asking(Generic[T]):
    """Steps on their way: what is asked of the store next, or what they came to."""

    def __init__(self, scope: str, steps: Steps[T], seconds: float) -> None:
        self.done = False
        self.result: T | None = None
        self.ops: list[Op] = []
        self._scope = scope
        self._steps = steps
        self._until = time.monotonic() + seconds
        self._tries = 0
        self._go_on(lambda: next(steps))

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._until - time.monotonic()

    def answered(self, answers: list[Any]) -> None:
        self._tries = 0
        self._go_on(lambda: self._steps.send(answers))

    def failed(self, error: Exception, store: BaseStore) -> float:
        """Seconds to wait before asking again; 0 where the steps go on without an answer."""
        self._tries += 1
        overdue = isinstance(error, OverdueError)
        if any(passes(error) for passes in _PASSING):
            pause = _pause(min(self._tries, _TRIES))
            if _grew(error) and self.left > 0:
                return min(pause, self.left)
            if pause >= self.left and not _grew(error):
                store_calls.STORES.rest(store)
                overdue = True
            elif self._tries < _TRIES:
                return pause
        if overdue:
            # Nothing that comes next would be answered.
            self._steps.close()
            raise StoreError(self._scope, type(error).__name__) from error
        self._tries = 0
        self._go_on(lambda: self._steps.throw(error))
        return 0.0

    def _go_on(self, step: Callable[[], list[Op]]) -> None:
        try:
            self.ops = step()
        except StopIteration as end:
            self.done, self.result = True, end.value
        except Exception as error:
            # Not its message, which may quote what was to be kept or say where the store is.
            raise StoreError(self._scope, type(error).__name__) from error


_without_async: set[type[BaseStore]] = set()


async def _abatch(store: BaseStore, ops: list[Op], seconds: float) -> list[Any]:
    if type(store) not in _without_async:
        try:
            return await store_calls.abatch(store, ops, seconds)
        except NotImplementedError:
            _without_async.add(type(store))
    return await asyncio.to_thread(store_calls.batch, store, ops, seconds)


def _grew(error: Exception) -> bool:
    """A dictionary in this process, which one of the next tries finds at rest."""
    return isinstance(error, RuntimeError) and "changed size" in str(error)


# What another try may settle: another process holds the file, two writers met, a dictionary grew
# while a store in memory was listed.
_PASSING: tuple[Callable[[Exception], bool], ...] = (
    lambda error: "locked" in str(error) and "database" in str(error),
    _grew,
    lambda error: getattr(error, "sqlstate", None) in ("40001", "40P01"),
)


def _pause(tries: int) -> float:
    """Seconds; the luck in it keeps writers that met once from meeting again."""
    return float(random.uniform(0.5, 1.5) * 0.01 * 2**tries)  # noqa: S311
