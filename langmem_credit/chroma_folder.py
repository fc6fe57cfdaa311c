"""An index folder: Chroma embedded, one process at a time, thrown away and made anew on any doubt.

    FOLDER/lock           who is in it, how often it changed, and what a dead holder was doing
    FOLDER/record.json    the release of Chroma and the format that made it
    FOLDER/files/         size, time and checksum of each collection's index files
    FOLDER/chroma/        Chroma's own

Decision: the lock is taken for each call, and a process that sees that another one wrote opens the
folder again. Problem: Chroma embedded keeps a copy in memory that nobody renews, so that of four
processes writing to one folder each loses rows. Cost: 25 to 80 ms after another process's write,
and a process that is frozen inside a call leaves the others to words.

Decision: damage is looked for before Chroma reads a file. Problem: a cut index file may kill the
process, or give a part of the rows as if it were all. Cost: a few file times a call, and a second
in a child process after a holder died inside a call.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from . import chroma_files
from . import chroma_rows as rows
from .chroma_opening import opened
from .chroma_rows import IndexTroubleError
from .deadlines import BrokenCallError, OverdueError

_T = TypeVar("_T")
_log = logging.getLogger("langmem_credit")


# The whole database is written anew, so that no freed page keeps what was removed.
_WIPING_SECONDS = 60.0


class Folder:
    """A place in a folder of this machine. Instances for one folder share what is open.

    Args:
        path: of the folder; made when it is first used.
        timeout_s: seconds that a call may take.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout_s: float = 20.0) -> None:
        self.shown = str(path)
        self._path = Path(path)
        self._timeout_s = timeout_s

    @property
    def epoch(self) -> int:
        """Grows whenever what was known of the rows may no longer hold."""
        return opened(self._path).epoch

    @property
    def notice(self) -> str:
        """What happened last that an operator should know."""
        return opened(self._path).notice

    @property
    def versions(self) -> dict[str, str]:
        """Release of each part, as far as it is loaded."""
        return dict(opened(self._path).versions)

    def call(
        self, name: str, work: Callable[[Any], _T], *, writes: bool = False, seconds: float = 0.0
    ) -> _T:
        """What the work gives on an open client; see `Place`."""
        held = opened(self._path)
        try:
            return held.deadlines.run(
                lambda: held.run(name, work, writes=writes), seconds or self._timeout_s
            )
        except OverdueError as error:
            raise IndexTroubleError(
                f"The index folder {self.shown!r} gave {error}.", rest_s=30.0
            ) from error
        except BrokenCallError as error:
            # Native code panicked: whatever it holds open is not to be trusted.
            raise held.broken(name, error) from error

    @property
    def release(self) -> str:
        """The Chroma that writes the folder's files."""
        return opened(self._path).versions.get("chromadb", "")

    def make(self, name: str, record: rows.Record) -> None:
        """An empty collection; see `Place`."""

        def work(client: Any) -> None:
            if rows.drop(client, name):
                chroma_files.sweep(self._path, name)
            rows.make(client, name, record)

        self.call(name, work, writes=True)

    def remove(self, name: str, row_ids: Sequence[str]) -> None:
        """Takes rows out, and their vectors out of the files; see `Place`."""

        def work(client: Any) -> None:
            collection = rows.find(client, name)
            if collection is not None:
                gone = rows.remove(collection, row_ids)
                chroma_files.wipe(self._path / "chroma", name, gone)

        self.call(name, work, writes=True, seconds=_WIPING_SECONDS)

    def drop(self, name: str) -> None:
        """Takes a collection and its files away; see `Place`."""
        if not (self._path / "chroma").exists():
            return

        def work(client: Any) -> None:
            if rows.drop(client, name):
                chroma_files.sweep(self._path, name)

        self.call(name, work, writes=True)

    def tell(self, notice: str) -> None:
        """Logs and keeps what an operator should know."""
        opened(self._path).tell(notice)

    def close(self) -> None:
        """Lets go of the folder, in this process."""
        held = opened(self._path)
        try:
            held.deadlines.run(held.shut, self._timeout_s)
        except (OverdueError, BrokenCallError) as error:
            _log.warning("index: closing the folder: %s", error)
        held.deadlines.close()
