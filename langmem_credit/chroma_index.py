"""The index of notes by meaning on Chroma: an embedded folder, or a server by its URL.

Ids and vectors only. What stands in a collection is compared with the notes that the caller
passes, and only the difference is written. Everything that fails behind it leaves recall to words:
one log line when that begins, one when it ends, and the reason in a report and in the status.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeGuard, TypeVar

from . import chroma_rows as rows
from .chroma_folder import Folder
from .chroma_rows import IndexTroubleError, Place
from .chroma_scope import Scope
from .chroma_server import Server
from .embedding import Embedder, EmbedderDownError, Refused, Vectors
from .errors import ConfigurationError, named
from .index import NO_EMBEDDER, Hit, IndexStatus, ScopeKey, SyncReport
from .local_model import LocalModel
from .notes import Note

_T = TypeVar("_T")
_log = logging.getLogger("langmem_credit")

LOCAL = "local"
_MOST_HITS = 1_000
_MOST_SCOPES = 1_000
_SCOPE_WAIT_SECONDS = 10.0
_EMBEDDER_REST_SECONDS = 30.0
# What a search may spend on an index that it finds gone.
_MENDING_SECONDS = 2.0


class ChromaIndex:
    """Finds notes by meaning; see `Index` for what each method gives.

    Nothing is opened, imported or fetched before the first use.

    Args:
        place: a folder of this machine, which is made; or a Chroma server's `http://host:port`.
        embedder: "local" for all-MiniLM-L6-v2 as found on this machine, any LangChain
            `Embeddings`, or None for recall by words.
        deployment: tells apart memories that share a server and not their notes.
        timeout_s: seconds that one call to the place or the embedder may take.
        options: for a server: `headers`, `tenant`, `database`.

    Raises:
        ConfigurationError: an argument does not fit.
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        embedder: Embedder | str | None = LOCAL,
        *,
        deployment: str = "",
        timeout_s: float = 10.0,
        **options: Any,
    ) -> None:
        if not isinstance(deployment, str):
            raise ConfigurationError(f"deployment={named(deployment)} does not fit. Pass text.")
        self._place = _place(place, timeout_s, options)
        self._vectors = _vectors(embedder, timeout_s)
        self._deployment = deployment
        self._scopes: OrderedDict[str, Scope] = OrderedDict()
        self._lock = threading.Lock()
        self._reason = "" if self._vectors is not None else NO_EMBEDDER
        self._rests_until = 0.0
        self._used = False

    def sync(
        self,
        scope_key: ScopeKey,
        notes: Iterable[Note],
        *,
        token: str = "",
        budget_s: float | None = None,
    ) -> SyncReport:
        """Makes the scope's rows those of the notes; see `Index.sync`."""
        vectors = self._vectors
        if vectors is None:
            return SyncReport(reason=NO_EMBEDDER)
        scope = self._scope(scope_key)
        if scope.is_current(token, self._place.epoch):
            return scope.report(counted=False)
        deadline = None if budget_s is None else time.monotonic() + budget_s
        wait = _SCOPE_WAIT_SECONDS if budget_s is None else min(budget_s, _SCOPE_WAIT_SECONDS)
        if not scope.lock.acquire(timeout=max(0.0, wait)):
            return scope.report(reason="Another thread is indexing the same scope.")
        try:
            scope.want(notes)
            _, reason = self._attempt(lambda: scope.bring_up(self._place, vectors, deadline))
            if not reason and not scope.pending:
                scope.token = token
            return scope.report(reason=reason)
        finally:
            scope.lock.release()

    def search(
        self,
        scope_key: ScopeKey,
        query: str,
        k: int,
        *,
        live: Collection[str] | None = None,
    ) -> list[Hit]:
        """The k notes nearest to the query, nearest first; see `Index.search`."""
        vectors = self._vectors
        if vectors is None or not _is_question(query, k) or (live is not None and not live):
            return []
        scope = self._scope(scope_key)
        hits, _ = self._attempt(
            lambda: self._search(vectors, scope, query, min(k, _MOST_HITS), live)
        )
        return hits if hits is not None else []

    def drop(self, scope_key: ScopeKey) -> SyncReport:
        """Takes the whole scope out, also from the folder's files."""
        scope = self._scope(scope_key)
        with scope.lock:
            scope.want(())
            removed, reason = self._attempt(lambda: scope.drop(self._place))
        return SyncReport(removed=removed or 0, reason=reason)

    def status(self) -> IndexStatus:
        """How it is. Starts nothing and waits for nothing."""
        with self._lock:
            reason, scopes = self._reason, list(self._scopes.values())
        vectors = self._vectors
        model = vectors.known if vectors is not None else None
        failed: dict[str, str] = {}
        for scope in scopes:
            failed |= scope.not_indexed
        return IndexStatus(
            state="words only" if reason else "ready" if self._used else "unused",
            reason=reason,
            place=self._place.shown,
            model=model.name if model else vectors.name if vectors else "",
            dimension=model.dimension if model else 0,
            versions=MappingProxyType(dict(self._place.versions)),
            scopes=len(scopes),
            indexed=sum(len(scope.rows) for scope in scopes),
            not_indexed=MappingProxyType(failed),
            notice=self._place.notice,
        )

    def close(self) -> None:
        """Lets go of files, connections and threads; it may be used again."""
        self._place.close()
        if self._vectors is not None:
            self._vectors.close()

    def _search(
        self, vectors: Vectors, scope: Scope, query: str, k: int, live: Collection[str] | None
    ) -> list[Hit]:
        vector = vectors.of_query(query)
        if isinstance(vector, Refused):
            return []
        model = vectors.model()

        def nearest(client: Any) -> list[tuple[str, float]] | None:
            return scope.nearest(client, self._place, vector, k, live, model)

        found = self._place.call(scope.name, nearest)
        if found is None and scope.lock.acquire(blocking=False):
            # The index was lost, or another model made it, since the last sync: as much of it
            # is made again as a search may wait for, the newest notes first.
            try:
                scope.distrust()
                scope.bring_up(self._place, vectors, time.monotonic() + _MENDING_SECONDS)
            finally:
                scope.lock.release()
            found = self._place.call(scope.name, nearest)
        return [Hit(note_id, score) for note_id, score in found or ()]

    def _scope(self, scope_key: ScopeKey) -> Scope:
        name = rows.collection_name(scope_key, self._deployment)
        with self._lock:
            if name not in self._scopes:
                self._scopes[name] = Scope(name)
            self._scopes.move_to_end(name)
            while len(self._scopes) > _MOST_SCOPES:
                # What is known of it is read again when it is used again.
                self._scopes.popitem(last=False)
            return self._scopes[name]

    def _attempt(self, work: Callable[[], _T]) -> tuple[_T | None, str]:
        """What the work gives and "", or None and why it could not be done."""
        with self._lock:
            if time.monotonic() < self._rests_until:
                return None, self._reason
        try:
            try:
                result = work()
            except IndexTroubleError as trouble:
                if not trouble.retry:
                    raise
                # Once: what is wrong a second time is not set right by asking again.
                result = work()
        except IndexTroubleError as trouble:
            return None, self._fail(str(trouble), trouble.rest_s)
        except EmbedderDownError as down:
            return None, self._fail(str(down), _EMBEDDER_REST_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever it is, recall goes on by words
            _log.exception("index: an error that it does not know")
            return None, self._fail(
                f"The index failed with {type(error).__name__}.", _EMBEDDER_REST_SECONDS
            )
        self._succeed()
        return result, ""

    def _fail(self, reason: str, rest_s: float) -> str:
        with self._lock:
            new = not self._reason
            self._reason = reason
            self._rests_until = time.monotonic() + rest_s
        if new:
            _log.warning("index: recall is by words alone: %s", reason)
        return reason

    def _succeed(self) -> None:
        with self._lock:
            was, self._reason = self._reason, ""
            self._rests_until = 0.0
            self._used = True
        if was:
            _log.warning("index: recall is by meaning again")


def _is_question(query: object, k: object) -> bool:
    return isinstance(query, str) and bool(query.strip()) and isinstance(k, int) and k > 0


def _place(place: object, timeout_s: float, options: Mapping[str, Any]) -> Place:
    if isinstance(place, str) and "://" in place:
        unknown = sorted(options.keys() - {"headers", "tenant", "database"})
        if unknown:
            raise ConfigurationError(
                f"{unknown[0]}={named(options[unknown[0]])} is no option of a Chroma server. Pass "
                "headers, tenant or database."
            )
        return Server(place, timeout_s=timeout_s, **options)
    if not _is_path(place):
        raise ConfigurationError(
            f"place={named(place)} does not fit. Pass a folder, or a server's http://host:port."
        )
    if options:
        name = min(options)
        raise ConfigurationError(f"{name}={named(options[name])} is no option of an index folder.")
    return Folder(place, timeout_s=timeout_s)


def _is_path(place: object) -> TypeGuard[str | os.PathLike[str]]:
    """True for what may name a folder; a file system takes no NUL and no half a character."""
    if not isinstance(place, (str, os.PathLike)) or not str(place):
        return False
    try:
        return b"\0" not in os.fsencode(place)
    except UnicodeEncodeError:
        return False


def _vectors(embedder: object, timeout_s: float) -> Vectors | None:
    if embedder is None:
        return None
    if embedder == LOCAL:
        embedder = LocalModel()
    if not isinstance(embedder, Embedder):
        raise ConfigurationError(
            f"embedder={named(embedder)} does not fit. Pass 'local', a LangChain Embeddings, or "
            "None."
        )
    return Vectors(embedder, timeout_s=timeout_s)
