"""One process at a time in a folder, and what the last one left behind.

The lock is the operating system's, so it is free again when its holder dies in whatever way. Two
facts stand in the locked file itself. The *generation* counts changes, so that a process sees that
another one wrote. The *mark* names what is being done; it is wiped when that is done, so a mark
that is found there was left by a holder that died in the middle.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_NUMBER_CHARS = 20
_MARK_CHARS = 80
_SIZE = _NUMBER_CHARS + _MARK_CHARS
_PAUSE_SECONDS = 0.002


class LockedError(Exception):
    """Another process, or another thread of this one, holds the lock."""


@dataclass(slots=True)
class Held:
    """The lock, while it is held.

    Attributes:
        generation: how many changes have been counted.
        left: the mark of a holder that died, or "".
    """

    descriptor: int
    generation: int
    left: str

    def advance(self) -> None:
        """Counts a change."""
        self.generation += 1
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        os.write(self.descriptor, b"%0*d" % (_NUMBER_CHARS, self.generation))

    def mark(self, text: str) -> None:
        """Says what is being done; "" that nothing is."""
        os.lseek(self.descriptor, _NUMBER_CHARS, os.SEEK_SET)
        padded = text.encode("ascii", "replace")[:_MARK_CHARS].ljust(_MARK_CHARS)
        os.write(self.descriptor, padded)


@contextmanager
def hold(path: Path, mark: str, timeout_s: float) -> Iterator[Held]:
    """Holds the lock on a file, which is made where it is missing; the mark stands meanwhile.

    Raises:
        LockedError: it was not free in time.
        OSError: the file cannot be made or written.
    """
    descriptor = _locked(path, time.monotonic() + timeout_s)
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        found = os.read(descriptor, _SIZE).decode("ascii", "replace")
        number = found[:_NUMBER_CHARS]
        held = Held(
            descriptor,
            generation=int(number) if number.isascii() and number.isdigit() else 0,
            left=found[_NUMBER_CHARS:].strip(),
        )
        if not found:
            # A number that no earlier file in this place can have had.
            held.generation = time.time_ns() // 1_000
            held.advance()
        held.mark(mark)
        try:
            yield held
        finally:
            held.mark("")
    finally:
        _unlock(descriptor)
        os.close(descriptor)


def _locked(path: Path, deadline: float) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    while True:
        descriptor = os.open(path, flags, 0o600)
        try:
            _wait_for(descriptor, path, deadline)
            if _is_at(descriptor, path):
                return descriptor
            # The file was taken away while this process waited: lock the one that stands there.
            _unlock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _wait_for(descriptor: int, path: Path, deadline: float) -> None:
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise LockedError(str(path))
        time.sleep(_PAUSE_SECONDS)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        # A byte far behind the text, since Windows forbids others to read what is locked.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
