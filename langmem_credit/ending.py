"""What is kept of a session that ends: its outcome, facts, and the files that it touched.

The outcome is kept in the session's own ledger, and, where the user scope is open, a copy of it
there, so that a later session finds it. Facts go to the user scope, else to the session, and wait
for a person. None of this is a note of the person's.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from .books import Where, Work, Writing, host_books
from .bounds import refusal, shrink
from .characters import clean
from .decisions import taken_ids
from .drafts import texts_in
from .errors import RefusedWriteError
from .events import name_of
from .identity import sameness
from .ledger import Event, held, next_at, withdrawn
from .marks import made_by_code, text_of
from .notes import Note, utc_now
from .ranking import function_words, search_words
from .register import TITLE_CHARS, short
from .scopes import SESSION, USER
from .scrubbing import scrub
from .session import Session
from .settings import Settings
from .state import issue_events
from .summary import Fact, Summary, checked
from .touched import touched_files
from .transcripts import title_of
from .unsaid import SUMMARY, ended, stated

_log = logging.getLogger("langmem_credit")

_OLDER_FACTS = 15
# What stands against a fact with the same text, or makes it needless.
_SETTLED = frozenset({"active", "forgotten", "disputed", "expired"})


@dataclass(frozen=True, slots=True)
class Closed:
    """What closing a session came to.

    Attributes:
        outcome: one to three sentences, or without a model the session's title; "" for none.
        facts: those that were kept or stated again, as they stand now.
        files: that the session touched, the newest last; at most 40.
        problem: why nothing or not all was kept, one plain sentence; "" where all was.
    """

    outcome: str = ""
    facts: tuple[Note, ...] = ()
    files: tuple[str, ...] = ()
    problem: str = ""


def said_in(messages: Sequence[BaseMessage]) -> list[tuple[str, str]]:
    """(who, text) of what people and agents said, oldest first; no tool's answer."""
    said = []
    for message in messages:
        text = text_of(message.content)
        if isinstance(message, AIMessage):
            who = "agent"
        elif isinstance(message, HumanMessage):
            who = "summary of what came before" if made_by_code(message) else "person"
        elif isinstance(message, SystemMessage):
            who = "summary of what came before"
        else:
            continue
        if text.strip():
            said.append((who, text))
    return said


def opened_books(session: Session, where: Where) -> Work[Session]:
    """The session with what the scopes hold."""
    return session.with_books((yield from host_books(session.settings.scopes, where)))


def target_of(session: Session) -> Session:
    """The session, or the user scope where it is open: where facts go.

    Never a scope that several people share, for whom a session of one of them is not.
    """
    book = session.book(USER)
    if book is None or book.closed or book.scope.people:
        return session
    return session.within(book)


def older_facts(view: Session) -> list[Note]:
    """Facts that summaries stated and no person confirmed, the newest 15, oldest first."""
    facts = [note for note in view.notebook.unconfirmed if note.origin == SUMMARY]
    return facts[-_OLDER_FACTS:]


def ending(session: Session, reply: object) -> Work[tuple[list[Event], Closed]]:
    """The session's own events, still to be written, and what became of all."""
    summary = _summary(session, reply)
    if summary.problem:
        _log.warning("a session was not closed: %s", summary.problem)
        return [], Closed(problem=summary.problem)
    files = files_of(session, session.messages)
    try:
        own, target = _with_outcome(session, summary, files), target_of(session)
        after = _with_facts(own if target.scope == SESSION else target, summary, session)
        if target.scope != SESSION and session.thread:
            after = _with_outcome(after, summary, files)
    except RefusedWriteError as error:
        return [], Closed(problem=str(error))
    problem = ""
    if target.scope != SESSION:
        book = session.book(target.scope)
        problem = (yield Writing(book, after.new_since(target))) if book else ""
        if problem:
            problem = f"Nothing was kept in scope {target.scope}: {problem}."
    else:
        own = after
    facts = () if problem else _facts_of(after, summary)
    events = own.new_since(session)
    smaller = shrink(own.events, session.settings.limits, until=session.run.as_of)
    kept = issue_events([*events, *smaller])
    return kept, Closed(summary.outcome, facts, tuple(files), problem)


def _summary(session: Session, reply: object) -> Summary:
    if reply is None:
        # After a compaction nobody's words may be left but those that the last run heard.
        typed = next((one.text for one in session.run.heard if one.typed), "")
        title = title_of(session.messages) or short(typed, TITLE_CHARS)
        return Summary(title, problem="" if title else "Nothing was said in this session yet.")
    return checked(reply, session.settings.limits) if not isinstance(reply, Summary) else reply


def files_of(session: Session, messages: Sequence[BaseMessage]) -> list[str]:
    """The files that the ledger knows of, and those of these messages, the newest last."""
    before: dict[str, None] = {}
    for event in session.events:
        for path in [] if held(event) else _kept(event):
            before.pop(path, None)
            before[path] = None
    return touched_files(calls_in(messages), before)


def _kept(event: Event) -> list[str]:
    return texts_in(event, "files") if event.get("type") in ("remembered", "touched") else []


def calls_in(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """The arguments of all tool calls, oldest first."""
    return [
        call["args"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]


def _with_outcome(view: Session, summary: Summary, files: Sequence[str]) -> Session:
    """The session with the outcome in its ledger, in the place of its last one."""
    text = scrub(clean(summary.outcome)).text.strip()
    thread = name_of(view.thread)
    last = next((note for note in view.notebook.outcomes if note.thread == thread), None)
    if last is not None and (last.text, list(last.files)) == (text, list(files)):
        return view
    event = ended(
        text,
        at=view.next_moment(),
        thread=view.thread,
        files=files,
        replaces=last.id if last else "",
        by=view.settings.agent_name,
        taken=taken_ids(view),
        limits=view.settings.limits,
    )
    return _with(view, event)


def _with_facts(view: Session, summary: Summary, session: Session) -> Session:
    told = frozenset(
        word
        for who, text in said_in(session.messages)
        if who in ("person", "agent")
        for word in search_words(text)
    )
    for fact in summary.facts:
        event = _fact_event(view, fact, told)
        if event is not None:
            view = _with(view, event)
    return view


def _fact_event(view: Session, fact: Fact, told: frozenset[str]) -> Event | None:
    """The fact as an event; None where it says nothing new.

    What another session's summary states already counts as seen here only if this session's own
    conversation has its words: the model was shown it, and may merely repeat it.
    """
    text = scrub(clean(fact.text)).text.strip()
    key, thread = sameness(text), name_of(view.thread)
    same = [note for note in view.notebook.notes.values() if sameness(note.text) == key]
    if any(note.status in _SETTLED or note.thread == thread for note in same):
        return None
    if any(note.origin == SUMMARY for note in same):
        words = frozenset(search_words(text))
        if not (words - function_words() or words) <= told:
            return None
    older = view.notebook.get(fact.replaces)
    replaces = older.id if older in older_facts(view) and older not in same else ""
    return stated(
        text,
        at=view.next_moment(),
        thread=view.thread,
        replaces=replaces,
        by=view.settings.agent_name,
        taken=taken_ids(view),
        limits=view.settings.limits,
    )


def _with(view: Session, event: Event) -> Session:
    limits = view.settings.limits
    refused = refusal(view.notebook, event, limits if view.scope == SESSION else limits.shared())
    if refused:
        raise RefusedWriteError(refused)
    return view.with_events([event], view.scope)


def _facts_of(view: Session, summary: Summary) -> tuple[Note, ...]:
    """The facts as the ledger has them, whoever stated them first."""
    keys = {sameness(scrub(clean(fact.text)).text.strip()) for fact in summary.facts}
    return tuple(
        note
        for note in view.notebook.unconfirmed
        if note.origin == SUMMARY and sameness(note.text) in keys
    )


def drop_outcome(settings: Settings, where: Where, thread: str) -> Work[int]:
    """Takes the outcome of a thread that is deleted out of the user scope; how many there were.

    The facts that the thread stated stay: they are the user's to review.

    Raises:
        RefusedWriteError: the scope could not be written.
    """
    books = yield from host_books(settings.scopes, where)
    count = 0
    for book in books:
        if book.scope.name != USER or (book.closed and not book.down):
            continue
        if book.down:
            raise RefusedWriteError(
                f"The outcome of the session was not dropped: {book.closed}. Look at the store, "
                "then try again."
            )
        gone = [note for note in book.notebook.outcomes if note.thread == name_of(thread)]
        at = next_at(utc_now(), book.events)
        events = [withdrawn(note.id, at=at, why="the session was deleted") for note in gone]
        problem = (yield Writing(book, events)) if events else ""
        if problem:
            raise RefusedWriteError(
                f"The outcome of the session was not dropped: the user scope failed, {problem}."
            )
        count += len(events)
    return count
