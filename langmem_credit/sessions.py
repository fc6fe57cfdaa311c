"""A person's sessions for the host: listed, marked, read, deleted, searched.

Each method is scoped to the person whom the config names, as in a run; a thread need not be named.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langgraph.errors import InvalidUpdateError
from langgraph.types import StateSnapshot

from . import books
from .access import OpenedGraph, opened
from .books import Where
from .desk import (
    Desk,
    Doing,
    ado_at,
    do_at,
    read_at,
    session_at,
    sessions_at,
)
from .ending import drop_outcome
from .enrolling import set_marks, take_out
from .errors import RefusedWriteError, UnknownSessionError, UnreadableSessionError
from .host import check_settled, events_of, not_written, where_of
from .indexing import thread_key
from .kept_index import KeptIndex
from .ledger import Event, next_at
from .matching import MOST_HITS, checked_limit, query_words
from .notes import utc_now
from .register import ARCHIVED, TITLE, TRASHED, SessionEntry, checked_title, marked
from .searching import SessionSearch
from .state import LEDGER, issue_events
from .transcripts import Said

if TYPE_CHECKING:
    from .settings import Settings

T = TypeVar("T")

_log = logging.getLogger("langmem_credit")

Marks = Mapping[str, Mapping[str, Any] | None]

_ON: Mapping[str, Any] = {"on": True}


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session as it is shown.

    Attributes:
        session: its entry in the register.
        said: what was said in it, oldest first, each with its number in the conversation.
    """

    session: SessionEntry
    said: tuple[Said, ...]


class SessionMethods:
    """The methods of `CreditedMemory` about sessions.

    Each raises ConfigurationError where the graph or the config does not fit, IdentityError where
    the config does not say whose sessions are meant, and StoreError where the register cannot be
    reached.
    """

    def sessions(
        self, graph: Any, config: Any, *, archived: bool | None = None, trashed: bool = False
    ) -> tuple[SessionEntry, ...]:
        """The person's sessions whose threads are there, the newest first.

        Args:
            graph: that the memory was built into.
            config: names the person under "configurable", as in a run.
            archived: only those that are archived, or that are not; None for both.
            trashed: those in the trash, and no others.
        """
        at = _At.open(self, graph, config, "sessions")
        return at.do(sessions_at(at.desk, archived=archived, trashed=trashed))

    async def asessions(
        self, graph: Any, config: Any, *, archived: bool | None = None, trashed: bool = False
    ) -> tuple[SessionEntry, ...]:
        """As `sessions`."""
        at = _At.open(self, graph, config, "asessions")
        return await at.ado(sessions_at(at.desk, archived=archived, trashed=trashed))

    def search_sessions(
        self,
        graph: Any,
        config: Any,
        query: str,
        *,
        limit: int = MOST_HITS,
        everything: bool = False,
        client: str = "",
    ) -> SessionSearch:
        """A search of the person's sessions: `for progress in memory.search_sessions(…)`.

        All words of the query must stand in a session's title or conversation, whatever their
        case, accents and width. Archived sessions are searched, those in the trash are not.

        Args:
            graph: that the memory was built into.
            config: names the person under "configurable", as in a run.
            query: at most 400 characters.
            limit: of the hits that are shown, 1 to 40.
            everything: search what tools and code put into the conversations too.
            client: which of the person's windows asks; its search before this one is dropped.
        """
        at = _At.open(self, graph, config, "search_sessions")
        return at.search(query, limit, everything, client)

    def asearch_sessions(
        self,
        graph: Any,
        config: Any,
        query: str,
        *,
        limit: int = MOST_HITS,
        everything: bool = False,
        client: str = "",
    ) -> SessionSearch:
        """As `search_sessions`: `async for progress in memory.asearch_sessions(…)`."""
        at = _At.open(self, graph, config, "asearch_sessions")
        return at.search(query, limit, everything, client)

    def read_session(
        self, graph: Any, config: Any, session_id: str, *, everything: bool = False
    ) -> Conversation:
        """What was said in one of the person's sessions; a hit's place names a message of it.

        Raises:
            UnknownSessionError: the person has no such session, or its thread was deleted.
            UnreadableSessionError: the checkpointer does not give it.
            RefusedWriteError: it is in the trash.
        """
        at = _At.open(self, graph, config, "read_session")
        return at.do(_conversation(at.desk, session_id, everything))

    async def aread_session(
        self, graph: Any, config: Any, session_id: str, *, everything: bool = False
    ) -> Conversation:
        """As `read_session`."""
        at = _At.open(self, graph, config, "aread_session")
        return await at.ado(_conversation(at.desk, session_id, everything))

    def rename_session(self, graph: Any, config: Any, session_id: str, title: str) -> SessionEntry:
        """Gives a session a title of the person's own, at most 80 characters.

        Raises:
            UnknownSessionError: the person has no such session.
            RefusedWriteError: nobody holds what was written, or, without a store, the thread
                waits for an answer.
        """
        at = _At.open(self, graph, config, "rename_session")
        return at.mark(session_id, {TITLE: {"title": checked_title(title)}})

    async def arename_session(
        self, graph: Any, config: Any, session_id: str, title: str
    ) -> SessionEntry:
        """As `rename_session`."""
        at = _At.open(self, graph, config, "arename_session")
        return await at.amark(session_id, {TITLE: {"title": checked_title(title)}})

    def archive_session(self, graph: Any, config: Any, session_id: str) -> SessionEntry:
        """Puts a session aside; it is still searched. Raises as `rename_session`."""
        at = _At.open(self, graph, config, "archive_session")
        return at.mark(session_id, {ARCHIVED: _ON})

    async def aarchive_session(self, graph: Any, config: Any, session_id: str) -> SessionEntry:
        """As `archive_session`."""
        at = _At.open(self, graph, config, "aarchive_session")
        return await at.amark(session_id, {ARCHIVED: _ON})

    def trash_session(self, graph: Any, config: Any, session_id: str) -> SessionEntry:
        """Puts a session into the trash: neither searched nor opened. Raises as `rename_session`.

        Its thread goes on if it is run again; `delete_session` takes it out for good.
        """
        at = _At.open(self, graph, config, "trash_session")
        return at.mark(session_id, {TRASHED: _ON})

    async def atrash_session(self, graph: Any, config: Any, session_id: str) -> SessionEntry:
        """As `trash_session`."""
        at = _At.open(self, graph, config, "atrash_session")
        return await at.amark(session_id, {TRASHED: _ON})

    def restore_session(self, graph: Any, config: Any, session_id: str) -> SessionEntry:
        """Takes a session out of the trash, else out of the archive. Raises as `rename_session`."""
        at = _At.open(self, graph, config, "restore_session")
        return at.mark(session_id)

    async def arestore_session(self, graph: Any, config: Any, session_id: str) -> SessionEntry:
        """As `restore_session`."""
        at = _At.open(self, graph, config, "arestore_session")
        return await at.amark(session_id)

    def delete_session(self, graph: Any, config: Any, session_id: str) -> None:
        """Deletes a session's thread, its notes of the session scope, and its entry, for good.

        The copy of its outcome in the user scope is forgotten. Other notes stay. A run of the
        thread that is going on may bring it back: end it first.

        Raises:
            UnknownSessionError: the person has no such session.
            RefusedWriteError: the store or the checkpointer still holds it.
        """
        at = _At.open(self, graph, config, "delete_session")
        is_thread = at.do(_is_thread(at.desk, session_id))
        # First, since without its thread nobody may know the session any more.
        books.do(drop_outcome(at.desk.settings, at.where, session_id))
        if is_thread:
            with at.explained():
                at.desk.saver.delete_thread(session_id)
        at.do(_deleted(at.desk, session_id))

    async def adelete_session(self, graph: Any, config: Any, session_id: str) -> None:
        """As `delete_session`."""
        at = _At.open(self, graph, config, "adelete_session")
        is_thread = await at.ado(_is_thread(at.desk, session_id))
        await books.ado(drop_outcome(at.desk.settings, at.where, session_id))
        if is_thread:
            with at.explained():
                await at.desk.saver.adelete_thread(session_id)
        await at.ado(_deleted(at.desk, session_id))


class _At:
    """A person's desk for one call."""

    def __init__(self, desk: Desk, graph: OpenedGraph, where: Where, config: Any) -> None:
        self.desk = desk
        self.where = where
        self._graph = graph
        self._config = config

    @classmethod
    def open(cls, memory: object, graph: Any, config: Any, method: str) -> _At:
        there = opened(graph, config, method, thread=False)
        where = where_of(graph, config)
        settings = cast("Settings", memory)
        desk = Desk.of(settings, there.checkpointer(), where.store, where.values)
        return cls(desk, there, where, config)

    def explained(self) -> AbstractContextManager[None]:
        return self._graph.explained()

    def do(self, doing: Doing[T]) -> T:
        with self.explained():
            return do_at(self.desk, doing)

    async def ado(self, doing: Doing[T]) -> T:
        with self.explained():
            return await ado_at(self.desk, doing)

    def mark(self, session_id: object, marks: Marks | None = None) -> SessionEntry:
        """The session with these marks set or taken away; without any, restored.

        They are kept in the register, else in the ledger of the thread itself.
        """
        entry = self.do(_there(self.desk, session_id))
        marks = marks or _restored(entry)
        if self.desk.store is not None:
            return self.do(_marked(self.desk, entry, marks))
        config = self._thread(entry)
        events = _filed(self._graph.get_state(config), marks)
        try:
            self._graph.update_state(config, {LEDGER: events})
        except InvalidUpdateError as error:
            raise not_written(error) from error
        return _checked(self.do(_there(self.desk, entry.id)), marks)

    async def amark(self, session_id: object, marks: Marks | None = None) -> SessionEntry:
        """As `mark`."""
        entry = await self.ado(_there(self.desk, session_id))
        marks = marks or _restored(entry)
        if self.desk.store is not None:
            return await self.ado(_marked(self.desk, entry, marks))
        config = self._thread(entry)
        events = _filed(await self._graph.aget_state(config), marks)
        try:
            await self._graph.aupdate_state(config, {LEDGER: events})
        except InvalidUpdateError as error:
            raise not_written(error) from error
        return _checked(await self.ado(_there(self.desk, entry.id)), marks)

    def _thread(self, entry: SessionEntry) -> Any:
        """The config of the session's newest state."""
        values = dict(self._config.get("configurable") or {})
        values = {key: value for key, value in values.items() if not key.startswith("checkpoint_")}
        return {**self._config, "configurable": {**values, "thread_id": entry.id}}

    def search(self, query: str, limit: int, everything: bool, client: str) -> SessionSearch:
        return SessionSearch(
            self.desk,
            query_words(query),
            limit=checked_limit(limit),
            everything=everything,
            client=client,
            explained=self.explained,
        )


def _conversation(desk: Desk, session_id: object, everything: bool) -> Doing[Conversation]:
    entry, look = yield from session_at(desk, session_id)
    if entry.trashed:
        raise RefusedWriteError(
            f"Session {entry.id!r} is in the trash. Take it out with restore_session() to read it."
        )
    if look is None:
        raise UnknownSessionError(session_id)
    if isinstance(look, UnreadableSessionError):
        raise look
    try:
        transcript = yield from read_at(desk, look, everything=everything)
    except Exception as error:
        raise UnreadableSessionError(entry.id, type(error).__name__) from error
    return Conversation(entry, transcript.said)


def _there(desk: Desk, session_id: object) -> Doing[SessionEntry]:
    """The entry of a session whose thread is there."""
    entry, look = yield from session_at(desk, session_id)
    if look is None:
        raise UnknownSessionError(session_id)
    return entry


def _marked(desk: Desk, entry: SessionEntry, marks: Marks) -> Doing[SessionEntry]:
    after = yield desk.ask(set_marks(desk.labels, entry.id, marks))
    # The register counted at the beginning of the last run.
    return replace(_checked(after or SessionEntry(entry.id), marks), messages=entry.messages)


def _filed(snapshot: StateSnapshot, marks: Marks) -> list[Event]:
    """The marks as events of the thread's ledger, to be written."""
    check_settled(snapshot)
    events = events_of(snapshot)
    filed: list[Event] = []
    for mark, value in marks.items():
        filed.append(marked(mark, value, at=next_at(utc_now(), [*events, *filed])))
    return issue_events(filed)


def _checked(entry: SessionEntry, marks: Marks) -> SessionEntry:
    """The entry as it was read back.

    Raises:
        RefusedWriteError: it does not have the marks.
    """
    if any(not _holds(entry, name, value) for name, value in marks.items()):
        raise RefusedWriteError(
            f"What was written of session {entry.id!r} cannot be read back. Look at the store or "
            "the checkpointer, then try again."
        )
    return entry


def _restored(entry: SessionEntry) -> Marks:
    return {TRASHED if entry.trashed else ARCHIVED: None}


def _holds(entry: SessionEntry, mark: str, value: Mapping[str, Any] | None) -> bool:
    if mark == TITLE:
        return value is not None and entry.title == value["title"]
    return (entry.trashed if mark == TRASHED else entry.archived) == (value is not None)


def _is_thread(desk: Desk, session_id: object) -> Doing[bool]:
    """True where there is a thread of the person's to delete."""
    _, look = yield from session_at(desk, session_id)
    return look is not None


def _deleted(desk: Desk, session_id: str) -> Doing[None]:
    """Takes out what else is held of a thread that was deleted."""
    desk.cache.forget(desk.saver, session_id)
    if isinstance(desk.settings.index, KeptIndex):
        report = desk.settings.index.drop(thread_key(session_id))
        if not report.done:
            _log.warning("session %s: its vectors stay in the index for now", session_id)
    if desk.store is None:
        return
    left = yield desk.ask(take_out(desk.labels, session_id))
    if left is not None:
        raise RefusedWriteError(
            f"The thread of session {session_id!r} is deleted, but the store still holds its "
            "entry. Look at the store, then try again."
        )
