"""Which state values this process itself made, so that nobody else's pass for them.

A state channel takes what a node, a tool, a subgraph or a caller's input hands it. Whether a value
comes from the memory's own code cannot be read off the value, so the code that makes one notes its
fingerprint here first, and the channel looks it up.

A fingerprint is good while the run that made the value goes on. Once that is over the value stands
in a checkpoint, and whoever hands it in again, to another thread perhaps, is somebody else.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable

from .forks import Locked

# An entry is needed only from the moment a value is made until its step ends, or until an
# interrupted run goes on; a forgotten one is verified again from the words, never trusted.
CAPACITY = 50_000


class IssuedValues(Locked):
    """A bounded, thread-safe set of fingerprints of JSON values.

    Attributes:
        made_by: names the run that is making a value, "" outside of any.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        super().__init__()
        self._seen: OrderedDict[bytes, str] = OrderedDict()
        self._of_run: dict[str, set[bytes]] = {}
        self.made_by: Callable[[], str] = str

    def add(self, value: object) -> None:
        """Notes that this process made the value.

        Raises:
            TypeError: the value is not JSON-shaped.
        """
        key = fingerprint(value)
        if key is None:
            raise TypeError(f"Only JSON-shaped values can be issued, not {type(value).__name__}.")
        run = self.made_by()
        with self._lock:
            self._forget(key)
            self._seen[key] = run
            self._of_run.setdefault(run, set()).add(key)
            while len(self._seen) > self._capacity:
                self._forget(next(iter(self._seen)))

    def over(self, run: str) -> None:
        """The run is over: what it made is no longer good."""
        with self._lock:
            for key in list(self._of_run.get(run, ())):
                self._forget(key)

    def __contains__(self, value: object) -> bool:
        key = fingerprint(value)
        with self._lock:
            return key in self._seen

    def __len__(self) -> int:
        return len(self._seen)

    def _forget(self, key: bytes) -> None:
        run = self._seen.pop(key, None)
        if run is None:
            return
        keys = self._of_run[run]
        keys.discard(key)
        if not keys:
            del self._of_run[run]


def fingerprint(value: object) -> bytes | None:
    """Sixteen bytes that name a JSON value, whatever the order of its keys; None for others.

    >>> fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": (2,), "a": 1})
    True
    >>> fingerprint({1, 2}) is None
    True
    """
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return None
    return hashlib.sha256(text.encode()).digest()[:16]


ISSUED = IssuedValues()
