"""Locks that a forked process gets anew.

Another thread may hold one at the very moment of a fork; the child has no such thread, so nobody
would ever give it back.
"""

from __future__ import annotations

import os
import threading
from weakref import WeakSet


class Locked:
    """Something of this process with a lock of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _LOCKED.add(self)

    def renew(self) -> None:
        """As a forked process begins."""
        self._lock = threading.Lock()


_LOCKED: WeakSet[Locked] = WeakSet()


def _renew_all() -> None:
    for one in list(_LOCKED):
        one.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
