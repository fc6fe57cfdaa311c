"""Calls that may hang, made on threads of their own and waited for no longer than said.

A thread cannot be ended from outside. One that hangs is left behind and counted; when too many
hang, further calls fail at once instead of adding to them, but for one now and then that looks
whether the others are well again. The threads are daemons, so a call that
hangs keeps no process from ending.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

_MOST_STUCK = 4
# Of those that were given up for good as well.
_MOST_LEFT = 64
# Until one call is tried again; twice as long after each that hangs too.
_LOOK_SECONDS = 60.0


class OverdueError(Exception):
    """The call did not come back in time; it may still be at work."""


class BrokenCallError(Exception):
    """The call ended by something that is no ordinary error, such as a panic in native code."""


class _Task:
    __slots__ = ("begun", "done", "error", "left", "result", "started", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.begun = time.monotonic()
        self.done = threading.Event()
        self.started = False
        self.left = False
        self.result: Any = None
        self.error: BaseException | None = None


class Deadlines:
    """Runs calls with a limit on the time that the caller waits.

    Args:
        name: of the threads, for a debugger.
        threads: how many calls may run at once; further ones wait, and their time counts.
    """

    _look_at: float
    _pause: float

    def __init__(self, name: str, threads: int = 1) -> None:
        self._name = name
        self._threads = threads
        self._reset()

    def run(self, work: Callable[[], _T], seconds: float) -> _T:
        """What the call gives; its errors are raised here.

        Raises:
            OverdueError: it did not come back in time, or too many others hang.
            BrokenCallError: it ended by what is no ordinary error.
        """
        return self.begin(work, seconds)()

    def begin(self, work: Callable[[], _T], seconds: float) -> Callable[[], _T]:
        """Begins the call; what is given back waits for it, and gives and raises what `run` does.

        The time counts from here.

        Raises:
            OverdueError: too many others hang.
        """
        if os.getpid() != self._process:
            # Threads do not live on in a forked process.
            self._reset()
        task = _Task(work)
        with self._condition:
            if self._stuck - self._given_up >= _MOST_STUCK:
                if time.monotonic() < self._look_at or self._stuck >= _MOST_LEFT:
                    raise OverdueError(f"{self._stuck} earlier calls hang")
                self._look_at = time.monotonic() + self._pause
                self._pause *= 2
            self._tasks.append(task)
            if len(self._tasks) > self._idle and self._alive - self._stuck < self._threads:
                self._alive += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
            self._condition.notify()
        return lambda: self._end(task, seconds)

    def _end(self, task: _Task, seconds: float) -> Any:
        if not task.done.wait(max(0.0, task.begun + seconds - time.monotonic())):
            self._leave(task, seconds)
        if task.error is None:
            return task.result
        if isinstance(task.error, Exception):
            raise task.error
        raise BrokenCallError(repr(task.error)) from task.error

    def close(self) -> None:
        """Ends the threads that wait for work. A later call starts new ones."""
        with self._condition:
            self._generation += 1
            self._condition.notify_all()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._condition = threading.Condition()
        self._tasks: deque[_Task] = deque()
        self._alive = 0
        self._idle = 0
        self._stuck = 0
        self._given_up = 0
        self._look_at = 0.0
        self._pause = _LOOK_SECONDS
        self._generation = 0

    def _leave(self, task: _Task, seconds: float) -> None:
        with self._condition:
            if task.done.is_set():
                return
            task.left = True
            if task.started:
                self._stuck += 1
                if self._stuck - self._given_up == _MOST_STUCK:
                    self._look_at = time.monotonic() + self._pause
            else:
                self._tasks.remove(task)
        raise OverdueError(f"no answer within {seconds:g} seconds")

    def _work(self) -> None:
        condition = self._condition
        with condition:
            generation = self._generation
            while True:
                while not self._tasks:
                    if generation != self._generation:
                        self._alive -= 1
                        return
                    self._idle += 1
                    condition.wait()
                    self._idle -= 1
                task = self._tasks.popleft()
                task.started = True
                condition.release()
                try:
                    task.result = task.work()
                except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                    task.error = error
                finally:
                    condition.acquire()
                task.done.set()
                if not task.left:
                    if self._stuck - self._given_up >= _MOST_STUCK:
                        # Calls come back, so those that hang count no longer.
                        self._given_up = self._stuck
                        self._pause = _LOOK_SECONDS
                else:
                    self._stuck -= 1
                    self._given_up = min(self._given_up, self._stuck)
                    if self._alive - self._stuck > self._threads:
                        # Another thread took this one's place meanwhile.
                        self._alive -= 1
                        return
                del task
