"""An index on a Chroma server, by its URL; every call is bounded in time, as none of Chroma's is.

Collections of other programs on the same server are never touched. What is left of a removed
vector in the server's files is the server's to rewrite; what it held is noise by then.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from . import chroma_rows as rows
from .chroma_rows import IndexTroubleError
from .deadlines import BrokenCallError, Deadlines, OverdueError
from .errors import ConfigurationError, MissingExtraError

_T = TypeVar("_T")
_log = logging.getLogger("langmem_credit")

# Calls at once; further ones wait for their turn within their time.
_CALLS = 8
_PORTS = {"http": 8000, "https": 443}
_REST_SECONDS = 5.0


class Server:
    """A place on a Chroma server.

    Args:
        url: `http://host:port`; a user and password in it are sent as basic authorization.
        headers: sent with every call, such as a token.
        tenant: Chroma's; None is the server's default one.
        database: of the tenant; None is the server's default one.
        timeout_s: seconds that a call may take.

    Raises:
        ConfigurationError: the address is none.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        tenant: str | None = None,
        database: str | None = None,
        timeout_s: float = 5.0,
    ) -> None:
        self._address = _Address(url)
        self.shown = self._address.shown
        self.epoch = 0
        self.notice = ""
        self.versions: dict[str, str] = {}
        self._headers = {**self._address.headers, **(headers or {})}
        self._scope = {
            key: value for key, value in (("tenant", tenant), ("database", database)) if value
        }
        self._timeout_s = timeout_s
        self._deadlines = Deadlines("langmem_credit index server", _CALLS)
        self._client: Any = None
        self._connecting = threading.Lock()
        self._process = os.getpid()

    def call(
        self, name: str, work: Callable[[Any], _T], *, writes: bool = False, seconds: float = 0.0
    ) -> _T:
        """What the work gives on a connected client; see `Place`."""
        try:
            return self._deadlines.run(lambda: work(self._connected()), seconds or self._timeout_s)
        except IndexTroubleError:
            raise
        except MissingExtraError as error:
            raise IndexTroubleError(str(error), rest_s=600.0) from error
        except (OverdueError, BrokenCallError) as error:
            # The connection may hang with the call: the next one makes a new one.
            self._let_go()
            raise self._down(f"gave {error}") from error
        except Exception as error:
            raise self._judge(error) from error

    @property
    def release(self) -> str:
        """The server's own."""
        return self.versions.get("Chroma server", "")

    def make(self, name: str, record: rows.Record) -> None:
        """An empty collection; see `Place`."""
        self.call(name, lambda client: rows.make(client, name, record), writes=True)
        # Whatever was known of another collection with this name holds no longer.
        self.epoch += 1

    def remove(self, name: str, row_ids: Sequence[str]) -> None:
        """Takes rows out; see `Place`."""

        def work(client: Any) -> None:
            collection = rows.find(client, name)
            if collection is not None:
                rows.remove(collection, row_ids)

        self.call(name, work, writes=True)

    def drop(self, name: str) -> None:
        """Takes a collection away; see `Place`."""
        self.call(name, lambda client: rows.drop(client, name), writes=True)

    def tell(self, notice: str) -> None:
        """Logs and keeps what an operator should know."""
        self.notice = notice
        _log.warning("index: %s", notice)

    def close(self) -> None:
        """Lets go of the connection."""
        self._let_go()
        self._deadlines.close()

    def _let_go(self) -> None:
        client, self._client = self._client, None
        if client is None or os.getpid() != self._process:
            return
        sessions = _sessions_of(client)
        with contextlib.suppress(Exception):
            client.close()
        for session in sessions:
            # Chroma leaves its connections open.
            with contextlib.suppress(Exception):
                session.close()

    def _connected(self) -> Any:
        if os.getpid() != self._process:
            self._client, self._process = None, os.getpid()
            self._connecting = threading.Lock()
        with self._connecting:
            if self._client is None:
                self._client = self._connect()
                # Another server may stand there now, or the same with other rows.
                self.epoch += 1
            return self._client

    def _connect(self) -> Any:
        try:
            import chromadb
            from chromadb.config import Settings
        except ImportError as error:
            raise MissingExtraError("An index of notes", "index") from error
        client = chromadb.HttpClient(
            host=self._address.host,
            port=self._address.port,
            ssl=self._address.ssl,
            headers=dict(self._headers),
            settings=Settings(anonymized_telemetry=False),
            **self._scope,
        )
        for session in _sessions_of(client):
            # Chroma sets no limit, and a thread that waits for ever is a thread lost.
            session.timeout = self._timeout_s
        self.versions = {
            "chromadb": chromadb.__version__,
            "Chroma server": str(client.get_version()),
        }
        return client

    def _judge(self, error: Exception) -> IndexTroubleError:
        from chromadb.errors import ChromaError, NotFoundError

        if isinstance(error, NotFoundError):
            # Another process made the collection anew, or the server lost it.
            self.epoch += 1
            return IndexTroubleError("The collection was gone.", retry=True)
        self._let_go()
        if isinstance(error, ChromaError):
            return self._down(f"answered with {type(error).__name__}")
        return self._down(f"cannot be reached ({type(error).__name__})")

    def _down(self, what: str) -> IndexTroubleError:
        releases = ", ".join(f"{name} {release}" for name, release in self.versions.items())
        return IndexTroubleError(
            f"The Chroma server {self.shown} {what}{f' ({releases})' if releases else ''}. "
            "See that it runs and that its release fits.",
            rest_s=_REST_SECONDS,
        )


def _sessions_of(client: Any) -> list[Any]:
    """The HTTP clients within Chroma's; none where a release keeps them elsewhere."""
    owners = (client, getattr(client, "_admin_client", None))
    sessions = (getattr(getattr(owner, "_server", None), "_session", None) for owner in owners)
    return [session for session in sessions if session is not None]


class _Address:
    """A server's URL, taken apart."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ConfigurationError(_wrong(url)) from None
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ConfigurationError(_wrong(url))
        self.ssl = parts.scheme == "https"
        self.port = port or _PORTS[parts.scheme]
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        path = parts.path.rstrip("/")
        place = urlunsplit((parts.scheme, f"{name}:{self.port}", path, "", ""))
        self.shown = place
        # Chroma takes a whole URL for the host where the server stands behind a path.
        self.host = place if path or ":" in parts.hostname else parts.hostname
        self.headers: dict[str, str] = {}
        if parts.username:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            token = base64.b64encode(user.encode()).decode()
            self.headers["Authorization"] = f"Basic {token}"


def _wrong(url: str) -> str:
    # The address is not repeated: it may hold a password.
    scheme = str(url).partition(":")[0][:20]
    return (
        f"The address of the Chroma server, which begins with {scheme!r}, does not fit. "
        "Pass one such as http://localhost:8000."
    )
