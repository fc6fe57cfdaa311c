"""What this process looked at last, so that the steps of one run need not do it all again."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from .digest import PLAIN, Extras, render
from .forks import Locked
from .ledger import Event
from .notebook import Notebook, fold
from .notes import Limits, utc_now

T = TypeVar("T")


class RecentFolds(Locked):
    """The notebooks of the ledgers seen last: most steps of a run look at the same one.

    Ledgers are compared whole, never by a hash: a wrong hit would show somebody else's notes.
    """

    def __init__(self, capacity: int = 8) -> None:
        self._capacity = capacity
        super().__init__()
        self._seen: OrderedDict[tuple[int, str], tuple[list[Event], Notebook]] = OrderedDict()

    def of(self, events: list[Event]) -> Notebook:
        """The fold of the events."""
        if not events:
            return fold(events)
        key = (len(events), str(events[-1].get("id")))
        with self._lock:
            found = self._seen.get(key)
        if found is not None and found[0] == events:
            return found[1]
        notebook = fold(events)
        with self._lock:
            # A copy, so that an event which is changed in place is seen to differ.
            self._seen[key] = (copy.deepcopy(events), notebook)
            self._seen.move_to_end(key)
            while len(self._seen) > self._capacity:
                self._seen.popitem(last=False)
        return notebook


class RecentDigests(Locked):
    """The digests rendered last: a run that begins on the same day with the same notes repeats one.

    Notebooks are told apart by identity; the entry keeps its notebook alive, so that no other one
    can take its place.
    """

    def __init__(self, capacity: int = 32) -> None:
        self._capacity = capacity
        super().__init__()
        self._seen: OrderedDict[Hashable, tuple[Notebook, str]] = OrderedDict()

    def of(
        self,
        notebook: Notebook,
        as_of: str,
        speaker: str | None,
        limits: Limits,
        extras: Extras = PLAIN,
    ) -> str:
        """The digest; of `as_of` only the day counts."""
        key = (id(notebook), as_of[:10], speaker, limits, extras)
        with self._lock:
            found = self._seen.get(key)
        if found is not None and found[0] is notebook:
            return found[1]
        text = render(notebook, as_of, speaker=speaker, limits=limits, extras=extras)
        with self._lock:
            self._seen[key] = (notebook, text)
            while len(self._seen) > self._capacity:
                self._seen.popitem(last=False)
        return text


class Named(Locked, Generic[T]):
    """What was made last where a name says what it is made of, beside the session's notes.

    An entry keeps its session's notebook alive, so that no other one can take its place; those of
    the other scopes, which may be large, it only names.
    """

    def __init__(self, capacity: int = 32) -> None:
        self._capacity = capacity
        super().__init__()
        self._seen: OrderedDict[tuple[int, Hashable], tuple[Notebook, T]] = OrderedDict()

    def of(self, notebook: Notebook, name: Hashable, make: Callable[[], T]) -> T:
        """What this name stands for, made where it is not known."""
        # One empty notebook is as good as another.
        key = (id(notebook) if notebook.notes else 0, name)
        with self._lock:
            found = self._seen.get(key)
        if found is not None:
            return found[1]
        made = make()
        with self._lock:
            self._seen[key] = (notebook, made)
            while len(self._seen) > self._capacity:
                self._seen.popitem(last=False)
        return made

    def clear(self) -> None:
        """Forgets everything, as a new process would know it."""
        with self._lock:
            self._seen.clear()


class FirstSeen(Locked):
    """When each of the last things was first looked at."""

    def __init__(self, capacity: int = 1_000) -> None:
        self._capacity = capacity
        super().__init__()
        self._moments: OrderedDict[str, str] = OrderedDict()

    def of(self, name: str, now: str = "") -> str:
        """The moment, ISO 8601 in UTC; for a new name the one given, or that of the clock."""
        with self._lock:
            moment = self._moments.setdefault(name, now or utc_now())
            while len(self._moments) > self._capacity:
                self._moments.popitem(last=False)
            return moment


FOLDS = RecentFolds()
DIGESTS = RecentDigests()
SHARED_DIGESTS: Named[str] = Named()
CLOCK = FirstSeen()
