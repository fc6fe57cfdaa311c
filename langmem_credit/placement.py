"""The digest's place in the system message: after the persona, as a content block of its own.

Where there are other scopes than the session's, the digest is fixed as text at the start of a run
and kept with it: what others write meanwhile must not change it, and where the store fails at the
start of the next run, the last text stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import SystemMessage

from .books import Opening, Where, Work
from .digest import render, without_notes
from .recent import DIGESTS, SHARED_DIGESTS
from .runs import not_before
from .session import Session
from .settings import Settings


def fixed(session: Session, where: Where, last: object) -> Work[Session]:
    """The session in a run whose digest is fixed, where it is one that can change under it.

    Args:
        session: whose run may have been seen before.
        where: to look for the other scopes, unless the session has their books.
        last: the record of the run before, or of this one.
    """
    settings, run = session.settings, session.run
    if not settings.scopes or run.digest is not None:
        return session
    if not session.books:
        session = session.with_books((yield Opening(settings.scopes, where, run.speaker)))
    newest = max(book.notebook.last_at for book in session.books)
    run = not_before(run, newest)
    session = session.in_run(run)
    shown_for = _shown_for(session)
    digest = _standing(session, last, shown_for)
    if digest is None:
        digest = _rendered(session)
    run = replace(run, digest=digest, shown_for=shown_for, gone=(), recorded=False)
    return session.in_run(run)


def _standing(session: Session, last: object, shown_for: str) -> str | None:
    """The last run's digest where a store failed, less what was forgotten or corrected since.

    What another process did meanwhile cannot be known.
    """
    if not isinstance(last, Mapping) or last.get("for") != shown_for:
        return None
    if not any(book.down for book in session.books):
        return None
    seen = [book.known.notebook for book in session.books if book.known is not None]
    ended = [note.id for notebook in (session.notebook, *seen) for note in notebook.others]
    gone = [*last.get("gone", ()), *ended]
    return without_notes(last.get("digest", ""), gone)


def _rendered(session: Session) -> str:
    run, limits = session.run, session.settings.limits
    notebook = session.frozen_notebook()

    def make() -> str:
        shelf = session.shelf(notebook)
        return render(
            shelf.notebook,
            run.as_of,
            speaker=run.speaker,
            limits=limits,
            muted=shelf.muted,
            heeded=shelf.heeded,
            extras=session.settings.extras,
        )

    # A scope's token stands for all that it holds.
    tokens = tuple((book.labels, book.token, book.scope) for book in session.books)
    name = (run.as_of[:10], tokens, _shown_for(session), limits, session.settings.extras)
    return SHARED_DIGESTS.of(notebook, name, make)


def _shown_for(session: Session) -> str:
    """Names the scopes and the speaker that a digest is made for."""
    parts = [repr(session.run.speaker)]
    parts += [repr((book.labels, book.me)) for book in session.books]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def digest_of(session: Session) -> str:
    """The digest of this run; "" when there is nothing to show."""
    run, limits = session.run, session.settings.limits
    if run.digest is not None:
        return run.digest
    extras = session.settings.extras
    return DIGESTS.of(session.frozen_notebook(), run.as_of, run.speaker, limits, extras)


def placed(
    settings: Settings, system: SystemMessage | str | None, digest: str
) -> SystemMessage | None:
    """The system message with the digest behind what it says; the same one without a digest."""
    if isinstance(system, str):
        system = SystemMessage(system)
    if not digest:
        return system
    before = [] if system is None else _blocks(system.content)
    # Some providers glue the blocks together.
    block: dict[str, Any] = {"type": "text", "text": f"\n\n{digest}" if before else digest}
    if settings.cache_control is not None:
        block["cache_control"] = dict(settings.cache_control)
    if system is None:
        return SystemMessage(content=[block])
    return system.model_copy(update={"content": [*before, block]})


def _blocks(content: str | list[str | dict[str, Any]]) -> list[str | dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)
