"""What a run asks of the index: to be kept in step with its ledgers, and to rank for recall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .fusion import Rank, Scopes, create_fused_rank
from .index import NO_EMBEDDER, ScopeKey
from .kept_index import KeptIndex
from .ledger import Event
from .notebook import Notebook
from .notes import Note
from .scopes import SESSION
from .session import Session
from .settings import Settings
from .shelf import Shelf
from .word_index import WORDS

# Two ledgers never have the same key: a thread's id may be anything, as may a scope's labels.
_THREAD, _SCOPE = "thread", "scope"


def keep_up(session: Session) -> None:
    """Has the index brought up to what the session and its open scopes hold, in the background."""
    if session.settings.index is not None:
        for key, notebook, token in _ledgers(session):
            keep(session.settings, key, notebook, token)


def keep(settings: Settings, key: ScopeKey, notebook: Notebook, token: str) -> None:
    """Has the index brought up to a notebook, in the background."""
    if isinstance(settings.index, KeptIndex):
        settings.index.keep(key, notebook.recallable, token)


def rank_for(session: Session, shelf: Shelf) -> Rank:
    """The ranking for recall over the shelf's notes: by words, and by meaning with an index.

    The ranking by words is that of this process, which keeps what it made of the same notes.
    """
    index = session.settings.index
    if not isinstance(index, KeptIndex):
        return WORDS.rank
    keep_up(session)
    keys = dict(_keys(session))

    def scopes_of(notes: Sequence[Note]) -> Scopes:
        whole = notes is shelf.notebook.recallable
        lying = shelf.lying if whole else shelf.lying_of(notes)
        return {keys[scope]: ids for scope, ids in lying.items() if scope in keys}

    return create_fused_rank(index, scopes_of, words=WORDS)


def is_down(settings: Settings) -> bool:
    """True while recall is by words alone although there is an index."""
    index = settings.index
    if not isinstance(index, KeptIndex):
        return False
    status = index.status()
    return status.state == "words only" and status.reason != NO_EMBEDDER


def thread_key(thread: str) -> ScopeKey:
    """Names a thread's notes in the index."""
    return (_THREAD, thread)


def scope_key(labels: tuple[str, ...]) -> ScopeKey:
    """Names a scope's notes in the index."""
    return (_SCOPE, *labels)


def token_of(events: list[Event]) -> str:
    """Names the state of a session's ledger, as far as a hint needs it; "" for an empty one."""
    return f"{len(events)} {events[-1]['id']}" if events else ""


def _keys(session: Session) -> Iterator[tuple[str, ScopeKey]]:
    # Without a checkpointer nothing of the session is left for another run.
    if session.thread and session.saved:
        yield SESSION, thread_key(session.thread)
    for book in session.books:
        if not book.closed:
            yield book.scope.name, scope_key(book.labels)


def _ledgers(session: Session) -> Iterator[tuple[ScopeKey, Notebook, str]]:
    keys = dict(_keys(session))
    if SESSION in keys and session.events:
        yield keys[SESSION], session.notebook, token_of(session.events)
    for book in session.books:
        if book.scope.name in keys and book.events:
            yield keys[book.scope.name], book.notebook, book.token
