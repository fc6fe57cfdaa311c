"""Steps on a LangGraph store: what is asked of it, one thing after the other.

Steps are a generator that yields what it asks of the store and is sent the answers, so that one
body serves `run` and `arun`. What another try may settle is tried again for a while.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar, cast

from langgraph.store.base import BaseStore, Op

from .errors import StoreError

T = TypeVar("T")
Steps = Generator[list[Op], list[Any], T]

_TRIES = 8
PATIENCE_SECONDS = 20.0


def run(
    scope: str, store: BaseStore, steps: Steps[T], patience_seconds: float = PATIENCE_SECONDS
) -> T:
    """The result of the steps on this store, which are tried again for so long.

    Raises:
        StoreError: the store failed.
    """
    asking = _Asking(scope, steps, patience_seconds)
    while not asking.done:
        try:
            answers = store.batch(asking.ops)
        except Exception as error:  # noqa: BLE001 - each store raises errors of its own
            time.sleep(asking.failed(error))
        else:
            asking.answered(answers)
    return cast("T", asking.result)


async def arun(
    scope: str, store: BaseStore, steps: Steps[T], patience_seconds: float = PATIENCE_SECONDS
) -> T:
    """As `run`."""
    asking = _Asking(scope, steps, patience_seconds)
    while not asking.done:
        try:
            answers = await _abatch(store, asking.ops)
        except Exception as error:  # noqa: BLE001 - each store raises errors of its own
            await asyncio.sleep(asking.failed(error))
        else:
            asking.answered(answers)
    return cast("T", asking.result)


class _Asking(Generic[T]):
    """Steps on their way: what is asked of the store next, or what they came to."""

    def __init__(self, scope: str, steps: Steps[T], patience_seconds: float) -> None:
        self.done = False
        self.result: T | None = None
        self.ops: list[Op] = []
        self._scope = scope
        self._steps = steps
        self._until = time.monotonic() + patience_seconds
        self._tries = 0
        self._go_on(lambda: next(steps))

    def answered(self, answers: list[Any]) -> None:
        self._tries = 0
        self._go_on(lambda: self._steps.send(answers))

    def failed(self, error: Exception) -> float:
        """Seconds to wait before asking again; 0 where the steps go on without an answer."""
        self._tries += 1
        patient = time.monotonic() < self._until
        if patient and any(passes(error) for passes in _PASSING):
            if self._tries < _TRIES or _grew(error):
                return _pause(min(self._tries, _TRIES))
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


async def _abatch(store: BaseStore, ops: list[Op]) -> list[Any]:
    if type(store) not in _without_async:
        try:
            return await store.abatch(ops)
        except NotImplementedError:
            _without_async.add(type(store))
    return await asyncio.to_thread(store.batch, ops)


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
