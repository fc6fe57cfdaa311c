"""What one process holds of an index folder: its lock, Chroma's client, and its doubts.

The folder is looked at before Chroma reads it, and thrown away and made anew where anything in it
is not as it was left: the notes stand in their ledgers, and vectors can be made again.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from . import chroma_files
from .chroma_rows import FORMAT, IndexTroubleError
from .deadlines import Deadlines
from .errors import MissingExtraError
from .folder_lock import Held, LockedError, hold

_T = TypeVar("_T")
_log = logging.getLogger("langmem_credit")

LOCK_SECONDS = 2.0
PROBE_SECONDS = 30.0
_OURS = frozenset({"lock", "record.json", "record.json.new", "files", "chroma"})
_DISCARDED = "discarded-"
# A folder that breaks again and again is not mended by making it anew.
_MOST_REMAKINGS = 3
_REMAKING_SECONDS = 600.0
# Chroma's and SQLite's words for a fault that is not in the files.
_BUSY = ("locked", "busy")
_UNUSABLE = ("readonly", "read-only", "permission", "disk is full", "no space", "disk i/o")

_folders: dict[str, OpenFolder] = {}
# Processes that have used Chroma's native part: this one, or one that it was forked from.
_users: set[int] = set()
_folders_lock = threading.Lock()


def opened(path: Path) -> OpenFolder:
    """What this process holds of the folder; all who ask for the same folder get the same."""
    key = os.path.realpath(path)
    with _folders_lock:
        if key not in _folders:
            _folders[key] = OpenFolder(Path(key))
        return _folders[key]


class OpenFolder:
    """What this process holds of one folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.epoch = 0
        self.notice = ""
        self.versions: dict[str, str] = {}
        self.deadlines = Deadlines("langmem_credit index folder")
        self._client: Any = None
        self._generation = -1
        self._database: os.stat_result | None = None
        self._checked: set[str] = set()
        self._remakings: list[float] = []
        self._failures = 0

    def run(self, name: str, work: Callable[[Any], _T], *, writes: bool) -> _T:
        """The work under the folder's lock, on a client that is known to be current."""
        if _users and os.getpid() not in _users:
            # Chroma's threads did not come along, and every call of it would wait for them.
            raise IndexTroubleError(
                "This process was forked from one that had the index open. Use the index only "
                "after the fork, or close it and start processes afresh.",
                rest_s=600.0,
            )
        try:
            # Before the lock is held: the first import takes seconds.
            chromadb = _chromadb()
            self._look_at_folder()
            with hold(self.path / "lock", name, LOCK_SECONDS) as held:
                first = self._make_ready(chromadb, name, held)
                try:
                    result = work(self._client)
                except IndexTroubleError:
                    raise
                except Exception as error:
                    raise self._judge(error, held) from error
                if writes:
                    held.advance()
                    self._generation = held.generation
                if writes or first:
                    chroma_files.note(self.path, name)
                return result
        except MissingExtraError as error:
            raise IndexTroubleError(str(error), rest_s=600.0) from error
        except LockedError as error:
            raise IndexTroubleError(
                f"The index folder {str(self.path)!r} is in use by another process.", rest_s=5.0
            ) from error
        except OSError as error:
            raise IndexTroubleError(
                f"The index folder {str(self.path)!r} cannot be used: "
                f"{error.strerror or type(error).__name__}.",
                rest_s=60.0,
            ) from error

    def broken(self, name: str, error: Exception) -> IndexTroubleError:
        """What to tell when native code panicked; the next call starts from a new folder."""
        self._client = None
        try:
            with hold(self.path / "lock", name, LOCK_SECONDS) as held:
                return self._judge(error, held)
        except (LockedError, OSError):
            return IndexTroubleError("The index broke.", rest_s=30.0)

    def shut(self) -> None:
        """Closes the client."""
        if self._client is not None:
            self._client.close()
        self._client = None
        self._checked.clear()

    def _look_at_folder(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        strangers = sorted(
            entry
            for entry in (path.name for path in self.path.iterdir())
            if entry not in _OURS and not entry.startswith((_DISCARDED, "."))
        )
        if strangers:
            raise IndexTroubleError(
                f"The folder {str(self.path)!r} holds what is no index of ours "
                f"({strangers[0]!r}). Name an empty folder.",
                rest_s=60.0,
            )

    def _make_ready(self, chromadb: Any, name: str, held: Held) -> bool:
        """Opens what is not open and checks what is not checked; True at a name's first use."""
        if self._client is not None and (
            held.generation != self._generation or not self._is_same_database()
        ):
            gone = not (self.path / "chroma").exists()
            self.shut()
            self.epoch += 1
            if gone:
                self.tell(f"The index folder {str(self.path)!r} is made anew: its files are gone.")
        self.versions = {"chromadb": chromadb.__version__}
        if held.left:
            self._after_a_death(held.left, held)
        self._check_record(chromadb.__version__, held)
        if self._client is None:
            self._open(chromadb, held)
        if name in self._checked:
            return False
        if not chroma_files.intact(self.path, name):
            self._discard("its files are not as they were left", held)
            self._open(chromadb, held)
        self._checked.add(name)
        return True

    def _is_same_database(self) -> bool:
        try:
            now = (self.path / "chroma" / "chroma.sqlite3").stat()
        except OSError:
            return False
        return self._database is not None and os.path.samestat(now, self._database)

    def _after_a_death(self, left: str, held: Held) -> None:
        """Another holder died inside a call: see in a child process whether the files are sound."""
        self.shut()
        self.epoch += 1
        chroma = self.path / "chroma"
        if chroma.is_dir() and not _is_sound(chroma, left):
            self._discard("it was damaged when a process died", held)
            return
        # Sound: what the dead holder did not come to do is done now.
        chroma_files.wipe(chroma, left, ())
        chroma_files.note(self.path, left)

    def _check_record(self, version: str, held: Held) -> None:
        record = self.path / "record.json"
        wanted = {"format": FORMAT, "chromadb": version}
        try:
            found = json.loads(record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = None
        if found == wanted:
            return
        if (self.path / "chroma").exists():
            was = found.get("chromadb") if isinstance(found, dict) else None
            self._discard(
                f"it was made by Chroma {was}, and this is Chroma {version}"
                if was and was != version
                else "it has no record that fits",
                held,
            )
        new = record.with_name("record.json.new")
        new.write_text(json.dumps(wanted), encoding="utf-8")
        new.replace(record)

    def _open(self, chromadb: Any, held: Held) -> None:
        chroma = self.path / "chroma"
        fresh = not chroma.exists()
        try:
            self._client = _client_of(chromadb, chroma, self._failures)
        except Exception as error:
            self._failures += 1
            raise self._judge(error, held) from error
        if fresh:
            held.advance()
        self._generation = held.generation
        self._database = (chroma / "chroma.sqlite3").stat()
        self._checked.clear()
        self.epoch += 1

    def _judge(self, error: Exception, held: Held) -> IndexTroubleError:
        """What an error of Chroma's means; the folder is made anew when its files are at fault."""
        told = str(error).lower()
        if any(word in told for word in _BUSY):
            return IndexTroubleError(
                f"The index folder {str(self.path)!r} is in use by another program.", rest_s=5.0
            )
        if isinstance(error, OSError) or any(word in told for word in _UNUSABLE):
            return IndexTroubleError(
                f"The index folder {str(self.path)!r} cannot be written: see that there is room "
                "and that this process may write there.",
                rest_s=60.0,
            )
        self._discard(f"Chroma raised {type(error).__name__}", held)
        return IndexTroubleError(self.notice, retry=True)

    def _discard(self, why: str, held: Held) -> None:
        """Throws Chroma's files away. The notes are in their ledgers; vectors are made again."""
        now = time.monotonic()
        self._remakings = [one for one in self._remakings if now - one < _REMAKING_SECONDS]
        if len(self._remakings) >= _MOST_REMAKINGS:
            raise IndexTroubleError(
                f"The index folder {str(self.path)!r} broke {_MOST_REMAKINGS} times in "
                f"{_REMAKING_SECONDS / 60:g} minutes, at last because {why}. Look at the disk.",
                rest_s=_REMAKING_SECONDS,
            )
        self._remakings.append(now)
        try:
            self.shut()
        except Exception:  # noqa: BLE001 - what cannot be closed is let go
            self._client = None
        for part in ("chroma", "files"):
            if (self.path / part).exists():
                (self.path / part).rename(self.path / f"{_DISCARDED}{time.time_ns()}")
        for old in self.path.glob(f"{_DISCARDED}*"):
            shutil.rmtree(old, ignore_errors=True)
        held.advance()
        self.epoch += 1
        self.tell(f"The index folder {str(self.path)!r} is made anew: {why}.")

    def tell(self, notice: str) -> None:
        """Logs and keeps what an operator should know."""
        self.notice = notice
        _log.warning("index: %s", notice)


def _chromadb() -> Any:
    try:
        import chromadb
    except ImportError as error:
        raise MissingExtraError("An index of notes", "index") from error
    return chromadb


def _client_of(chromadb: Any, folder: Path, failures: int) -> Any:
    from chromadb.config import Settings

    _users.add(os.getpid())
    # Chroma keeps what it failed to open under the spelling of the path, and gives it out again.
    # After each failure the path is spelled anew.
    spelled = os.path.join(folder, *["."] * failures)  # noqa: PTH118 - a Path folds the dots
    return chromadb.PersistentClient(spelled, settings=Settings(anonymized_telemetry=False))


def _is_sound(chroma: Path, name: str) -> bool:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    script = Path(__file__).with_name("chroma_probe.py")
    try:
        ended = subprocess.run(  # noqa: S603 - our own script
            [sys.executable, str(script), str(chroma), name],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=PROBE_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return ended.returncode == 0
