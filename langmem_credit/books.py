"""The scopes of one run: which are open, what they hold, and why another one is not.

A scope that cannot be opened never stops a run. It is closed for this run, with a reason that the
tools tell the model, and one log line for the operator.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore

from . import wiring
from .asking import Steps, arun, run
from .deadlines import OverdueError
from .errors import IdentityError, StoreError
from .events import is_name
from .growing import GrowingLedger
from .ledger import Event
from .notebook import Notebook
from .scopes import USER_ID, RunValues, Scope
from .shared_ledger import SharedLedger, Snapshot

T = TypeVar("T")

NO_STORE = "this agent has no store"
DOWN = "its store cannot be reached now"
LATE = "its store did not answer in time, and may still take it"
# A person waits for the first before a model is asked anything.
OPENING_SECONDS = 5.0
WRITING_SECONDS = 10.0

_log = logging.getLogger("langmem_credit")


@dataclass(frozen=True, slots=True)
class Where:
    """Where a run keeps what it shares, and whom it is for.

    Attributes:
        store: of the graph, or None.
        values: that the host handed to the run.
    """

    store: BaseStore | None = None
    values: RunValues = field(default_factory=RunValues)

    @classmethod
    def of(cls, runtime: Any, config: Mapping[str, Any] | None) -> Where:
        """Of a tool's, a node's or a middleware's runtime; a node finds its own."""
        if runtime is None:
            try:
                runtime = get_runtime()
            except (RuntimeError, KeyError):
                runtime = None
        configurable = (config or {}).get("configurable")
        user = getattr(getattr(runtime, "server_info", None), "user", None)
        identity = getattr(user, "identity", None)
        values = RunValues(
            context=getattr(runtime, "context", None),
            configurable=configurable if isinstance(configurable, Mapping) else {},
            identity=identity if isinstance(identity, str) else None,
        )
        return cls(getattr(runtime, "store", None), values)


@dataclass(frozen=True, slots=True)
class Book:
    """What one scope holds for one run.

    Attributes:
        scope: that the host declared.
        kept: the events of its ledger, and their fold.
        labels: in the store, of this run; () where nobody knows them.
        ledger: to write to; None where the scope is closed.
        token: of the ledger when it was read.
        me: who is speaking, as notes of a scope of several people name them; "" elsewhere.
        named: the host or a server names `me`, and not only a message.
        certain: a server signed `me` in, so that no message can say otherwise.
        closed: why it cannot be used, as half a sentence; "" when it is open.
        known: what this process saw of it last, where its store is down. Nothing is shown of it,
            but what had ended by then stays ended.
    """

    scope: Scope
    kept: GrowingLedger = field(default_factory=GrowingLedger)
    labels: tuple[str, ...] = ()
    ledger: SharedLedger | None = None
    token: str = ""
    me: str = ""
    named: bool = False
    certain: bool = False
    closed: str = ""
    known: GrowingLedger | None = None

    @property
    def down(self) -> bool:
        """True when only the store's failure keeps it closed."""
        return self.closed == DOWN

    @property
    def events(self) -> list[Event]:
        """The events of its ledger, in order. Not to be changed."""
        return self.kept.events

    @property
    def notebook(self) -> Notebook:
        """What they say."""
        return self.kept.notebook


@dataclass(frozen=True, slots=True)
class Opening:
    """Asks for a book of each scope, in their order, open or closed.

    Attributes:
        scopes: that the host declared.
        where: of the run.
        speaker: as the run's messages name them, or None.
        for_host: the host's own code looks, for whom it does not count who is speaking.
    """

    scopes: Sequence[Scope]
    where: Where
    speaker: str | None = None
    for_host: bool = False


@dataclass(frozen=True, slots=True)
class Writing:
    """Asks to write events to an open book; the answer says why they are not kept, or ""."""

    book: Book
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class StoreWork:
    """Asks for something else of a store, waited for as for an opening.

    The answer is what it came to, or its StoreError.

    Attributes:
        scope: name of the scope that it belongs to.
        store: of the graph.
        steps: what is asked of the store.
    """

    scope: str
    store: BaseStore
    steps: Steps[Any]


Asked = Opening | Writing | StoreWork

# What does something with books: it yields what it needs done and is sent what came of it, so that
# one body serves `do` and `ado`.
Work = Generator[Asked, Any, T]


def host_books(scopes: Sequence[Scope], where: Where) -> Work[tuple[Book, ...]]:
    """The books of the scopes, as the host sees them; none is looked for where none is declared."""
    if not scopes:
        return ()
    books: tuple[Book, ...] = yield Opening(scopes, where, for_host=True)
    return books


def do(work: Work[T]) -> T:
    """What the work comes to."""
    asked, result = _next(work, None)
    while asked is not None:
        errands, until = _errands(asked), _until(asked)
        for errand in errands:
            if errand.store is not None and errand.steps is not None:
                left = until - time.monotonic()
                try:
                    errand.result = run(errand.scope, errand.store, errand.steps, left)
                except StoreError as error:
                    errand.result = error
        asked, result = _next(work, _came_to(asked, errands))
    return cast("T", result)


async def ado(work: Work[T]) -> T:
    """As `do`; what is done between two things asked for goes on in a thread.

    A large notebook takes a while to look through, and recall by words uses SQLite, which a server
    does not let an event loop wait for.
    """
    asked, result = await asyncio.to_thread(_next, work, None)
    while asked is not None:
        errands, until = _errands(asked), _until(asked)
        for errand in errands:
            if errand.store is not None and errand.steps is not None:
                left = until - time.monotonic()
                try:
                    errand.result = await arun(errand.scope, errand.store, errand.steps, left)
                except StoreError as error:
                    errand.result = error
        asked, result = await asyncio.to_thread(_next, work, _came_to(asked, errands))
    return cast("T", result)


def _until(asked: Asked) -> float:
    """When all that is asked for must have been answered, all scopes together."""
    seconds = WRITING_SECONDS if isinstance(asked, Writing) else OPENING_SECONDS
    return time.monotonic() + seconds


def _next(work: Work[T], answer: Any) -> tuple[Asked | None, T | None]:
    """What is asked for next, or None and what the work came to."""
    try:
        return work.send(answer), None
    except StopIteration as end:
        # Which no coroutine may raise.
        return None, end.value


@dataclass(slots=True)
class _Errand:
    """One thing to be asked of a store, and what came of it."""

    scope: str
    store: BaseStore | None
    steps: Steps[Any] | None = None
    result: Any = None
    book: Book | None = None

    @classmethod
    def on(cls, book: Book, steps: Steps[Any] | None) -> _Errand:
        store = None if book.ledger is None else book.ledger.store
        return cls(book.scope.name, store, steps, book=book)


def _errands(asked: Asked) -> list[_Errand]:
    if isinstance(asked, StoreWork):
        return [_Errand(asked.scope, asked.store, asked.steps)]
    if isinstance(asked, Opening):
        books = [_found(scope, asked) for scope in asked.scopes]
        return [_Errand.on(book, book.ledger.read() if book.ledger else None) for book in books]
    # What a call wrote before it was run again stands there already.
    events = [event for event in asked.events if event["id"] not in asked.book.kept.by_id]
    ledger = asked.book.ledger
    return [_Errand.on(asked.book, ledger.append(events) if ledger and events else None)]


def _came_to(asked: Asked, errands: Sequence[_Errand]) -> Any:
    if isinstance(asked, Opening):
        return tuple(_read(errand, errand.book) for errand in errands if errand.book)
    (errand,) = errands
    if isinstance(asked, StoreWork):
        return errand.result
    if errand.store is None:
        return asked.book.closed or DOWN
    if isinstance(errand.result, StoreError):
        cause = errand.result.cause
        if cause == OverdueError.__name__:
            _log.warning("scope %s: a write was not answered in time", errand.scope)
            return LATE
        _log.warning("scope %s: nothing was written (%s)", errand.scope, cause)
        return DOWN
    if errand.result:
        _log.error("scope %s: the store does not hold what was written", errand.scope)
        return "its store did not keep what was written"
    return ""


def _read(errand: _Errand, book: Book) -> Book:
    if isinstance(errand.result, Snapshot):
        kept, token = errand.result.ledger, errand.result.token
        return replace(book, kept=kept, token=token)
    if isinstance(errand.result, StoreError) and book.ledger is not None:
        _log.warning(
            "scope %s: the store failed (%s); going on without it",
            errand.scope,
            errand.result.cause,
        )
        last = book.ledger.cache.get(book.ledger.store, book.ledger.labels)
        known = last.ledger if last else None
        return replace(book, ledger=None, closed=DOWN, known=known)
    return book


def _found(scope: Scope, asked: Opening) -> Book:
    """The scope's book of this run, not yet read."""
    where = asked.where
    if where.store is None:
        wiring.warn_once(wiring.NO_STORE)
        return Book(scope, closed=NO_STORE)
    try:
        labels = scope.fill(where.values)
        me = _me(scope, where.values, asked.speaker) if scope.people and not asked.for_host else ""
    except IdentityError as error:
        # Not the value: it may be somebody's address.
        _log.warning(
            "scope %s is closed for this run: %s is missing or cannot be used; pass a text with "
            "each run, in context or in config's configurable",
            scope.name,
            error.name,
        )
        return Book(scope, closed=f"this run does not say for certain whose it is ({error.name})")
    unclear = _unclear(me, asked.speaker) if me else ""
    if unclear:
        _log.warning("scope %s is closed for this run: %s", scope.name, unclear)
        return Book(scope, closed=unclear)
    named, certain = bool(me) and where.values.has(USER_ID), bool(me and where.values.identity)
    ledger = SharedLedger(where.store, labels)
    return Book(scope, labels=labels, ledger=ledger, me=me, named=named, certain=certain)


def _me(scope: Scope, values: RunValues, speaker: str | None) -> str:
    """Who is speaking: whom the host or a server names, else whom the message does.

    Raises:
        IdentityError: nobody says so for certain.
    """
    if speaker and not values.has(USER_ID):
        return speaker
    return values.text(USER_ID, scope.name)


def _unclear(me: str, speaker: str | None) -> str:
    """Why this name cannot tell whose notes are whose, as half a sentence; "" where it can.

    A client may have written the message with its mark.
    """
    if not is_name(me):
        return (
            "the name of whoever is speaking cannot be kept as it is (more than 120 characters, "
            "invisible ones, spaces at an end, or like a secret)"
        )
    if speaker and speaker != me:
        return "the message's speaker is not the one that user_id names"
    return ""
