"""Sessions in a scope's register: entered by their runs, marked and taken out by their person.

Under a scope's labels stands `sessions/seen`, with what runs saw, and `sessions/<mark>` for each
mark that a person can set. A run asks for its entry and writes it at most once; whatever the store
does, the run goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.store.base import GetOp, Item, Op, PutOp

from .asking import Steps
from .books import StoreWork, Where, Work
from .errors import StoreError
from .owners import owner_in_run, register_scope
from .register import MARKS, SEEN, SessionEntry, Sighting, entered, entry_of
from .runs import HeardRun
from .scopes import encoded
from .session import Session
from .shared_ledger import listed
from .transcripts import first_typed

Labels = tuple[str, ...]

_SESSIONS = "sessions"

_log = logging.getLogger("langmem_credit")


def enrol(session: Session, where: Where, last: object) -> Work[HeardRun]:
    """Enters the thread of a run that begins; the run with the name of whom it is for.

    Args:
        session: with the books of its scopes.
        where: of the run.
        last: the record of the run before, or of this one.
    """
    run = session.run
    if isinstance(last, Mapping) and last.get("run") == run.id:
        return run
    if not _is_session(session, where):
        return run
    scope = register_scope(session.settings)
    book = None if scope is None else session.book(scope.name)
    if book is not None and book.ledger is not None and not book.closed:
        steps = see(book.labels, _sighting(session))
        result = yield StoreWork(book.scope.name, book.ledger.store, steps)
        if isinstance(result, StoreError):
            _log.warning("scope %s: a session was not entered (%s)", book.scope.name, result.cause)
    whose = owner_in_run(session.settings, where.values)
    return run if whose == run.whose else replace(run, whose=whose, recorded=False)


def see(labels: Labels, sighting: Sighting) -> Steps[None]:
    """Writes what a run saw, where it says more than what stands there."""
    place, key = _place(labels, SEEN), encoded(sighting.thread)
    (item,) = yield [_get(place, key)]
    value = entered(_value_of(item), sighting)
    if value is not None:
        yield [_put(place, key, value)]


def read_entries(labels: Labels) -> Steps[tuple[SessionEntry, ...]]:
    """All entries of the register, in no order."""
    seen: dict[str, Mapping[str, Any]] = {}
    marks: dict[str, dict[str, Mapping[str, Any]]] = {}
    for item in (yield from listed((*labels, _SESSIONS))):
        place = tuple(item.namespace)
        value = _value_of(item)
        # Whatever a store takes for the beginning of a label.
        if place[:-1] != (*labels, _SESSIONS) or value is None:
            continue
        if place[-1] == SEEN:
            seen[item.key] = value
        elif place[-1] in MARKS:
            marks.setdefault(item.key, {})[place[-1]] = value
    found = (entry_of(value, marks.get(key)) for key, value in seen.items())
    return tuple(entry for entry in found if entry is not None)


def read_entry(labels: Labels, thread: str) -> Steps[SessionEntry | None]:
    """The entry of this thread; None where the register has none."""
    key = encoded(thread)
    items = yield [_get(_place(labels, name), key) for name in (SEEN, *MARKS)]
    seen, *marked = map(_value_of, items)
    marks = {name: value for name, value in zip(MARKS, marked, strict=True) if value is not None}
    return entry_of(seen, marks)


def set_marks(
    labels: Labels, thread: str, marks: Mapping[str, Mapping[str, Any] | None]
) -> Steps[SessionEntry | None]:
    """Sets each mark, or takes it away; the entry as it is read back."""
    key = encoded(thread)
    yield [
        _put(_place(labels, name), key, None if value is None else {"id": thread, **value})
        for name, value in marks.items()
    ]
    return (yield from read_entry(labels, thread))


def take_out(labels: Labels, thread: str) -> Steps[SessionEntry | None]:
    """Takes the thread out of the register; the entry that is left, which should be None."""
    key = encoded(thread)
    yield [_put(_place(labels, name), key, None) for name in (SEEN, *MARKS)]
    return (yield from read_entry(labels, thread))


def _is_session(session: Session, where: Where) -> bool:
    """True for a thread that can be gone back to, in its outermost graph."""
    # LangGraph parts the names of graphs within graphs so.
    place = where.values.configurable.get("checkpoint_ns") or ""
    return bool(session.thread) and session.saved and "|" not in place


def _sighting(session: Session) -> Sighting:
    run, messages = session.run, session.messages
    heard = () if run.carried else run.heard
    typed = [one.text for one in heard if one.via in ("input", "answer")]
    return Sighting(
        thread=session.thread,
        at=run.since,
        first=first_typed(_before(messages)),
        words=typed[-1] if typed else "",
        messages=len(messages),
        last=run.last,
    )


def _before(messages: Any) -> list[BaseMessage]:
    """The messages up to the last one of the agent."""
    for number in range(len(messages) - 1, -1, -1):
        if isinstance(messages[number], AIMessage):
            return list(messages[:number])
    return []


def _place(labels: Labels, name: str) -> Labels:
    return (*labels, _SESSIONS, name)


def _value_of(item: Item | None) -> Mapping[str, Any] | None:
    return item.value if item is not None and isinstance(item.value, Mapping) else None


def _get(labels: Labels, key: str) -> GetOp:
    return GetOp(labels, key, refresh_ttl=False)


def _put(labels: Labels, key: str, value: dict[str, Any] | None) -> Op:
    return PutOp(labels, key, value, index=False, ttl=None)
