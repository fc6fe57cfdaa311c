"""In which scope a note is kept, and in which one the note lies that should go.

The host's scopes are ordered from the narrowest to the widest, the session before them all. What a
model asks for counts where it is no wider than the default; a wider scope needs the person's words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from .answers import not_replaced
from .books import Book
from .corrections import corrects
from .events import name_of
from .forgetting import RULES, ForgetVerdict, judge_forget
from .identity import sameness
from .notes import Note, Utterance, Verdict, normalise_kind
from .scopes import SESSION, USER, Scope
from .session import Call, Session
from .sharing import asks_to_share
from .shelf import NOBODY, Owned, Shelf
from .unsaid import FINDING
from .words import find_quote


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note is to be kept.

    Attributes:
        session: with that scope's ledger for its own.
        replaced: the note there that the call corrects, or None.
        remark: what of the model's wish was not heeded, a sentence; "" for nothing.
        standing: why the note that the call names keeps its place, a sentence; "" where it
            names none or takes its place.
        refusal: why nothing can be kept, half a sentence; "" where it can.
    """

    session: Session
    replaced: Note | None = None
    remark: str = ""
    refusal: str = ""
    standing: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The note that a call wants forgotten.

    Attributes:
        session: with the ledger of the note's scope for its own.
        verdict: of the forget rule.
        target: the note, as its own scope has it; None when nothing is to go.
        closest: the nearest note, as the model sees it, or None.
    """

    session: Session
    verdict: ForgetVerdict
    target: Note | None = None
    closest: Note | None = None


def place_for(session: Session, call: Call, verdict: Verdict) -> Place:
    """Where the note of this call is to be kept, and what it takes the place of."""
    place = _place_for(session, call, verdict)
    wanted = call.args.get("id")
    if place.replaced or wanted is None or (isinstance(wanted, str) and not wanted.strip()):
        return place
    return replace(place, standing=not_replaced(wanted, _why_it_stands(session, wanted, verdict)))


def _why_it_stands(session: Session, wanted: object, verdict: Verdict) -> str:
    """Why the note of this id is not corrected, half a sentence."""
    old = session.shelf().notebook.get(wanted)
    if old is None:
        return "there is no such note"
    if not old.active:
        return f"that one is {old.status}"
    if (old.speaker or "") != (session.run.speaker or ""):
        return "that one is another person's"
    if not verdict.credited:
        return "it is no memory itself"
    spoken = _judged(session, verdict)
    if spoken is not None and corrects(spoken.text, old, [old]):
        return "other notes have the words that it is named by: both stay"
    return (
        "the person's words do not say that it no longer holds: both stay. The person can say so, "
        'as in "I no longer use zsh" or "I use fish, not zsh"'
    )


def _place_for(session: Session, call: Call, verdict: Verdict) -> Place:
    if is_finding(call, verdict):
        return _place_for_finding(session, call)
    if not session.books:
        return Place(session, _replaced(session, call.args.get("id"), verdict))
    corrected = _corrected(session, call, verdict)
    if corrected is not None:
        return corrected
    asked = _asked(call)
    default, remark = _default(session)
    if not asked or asked == default:
        return _opened(session, call, default, remark)
    book = session.book(asked)
    if asked != SESSION and book is None:
        return _opened(session, call, default, f"There is no scope {asked!r:.40}. {remark}")
    if book is not None and _is_wider(session, asked, default):
        # Where the user scope is merely closed, asking for it is no wish for a wider one.
        if asked != USER and not _is_named(session, verdict, book.scope):
            said = f"Left out, since the person's words do not ask for it: scope {asked}. {remark}"
            return _opened(session, call, default, said)
    return _opened(session, call, asked, "")


def is_finding(call: Call, verdict: Verdict) -> bool:
    """True for the agent's own: what the person's words carry is theirs, whatever it is called."""
    return normalise_kind(call.args.get("kind") or "") == FINDING and not verdict.credited


def own_finding(session: Session, note_id: object) -> Note | None:
    """The finding of this session that has the id; the agent may revise and withdraw it."""
    note = session.notebook.get(note_id)
    return note if note in session.notebook.findings else None


def _place_for_finding(session: Session, call: Call) -> Place:
    """The session, whatever the call asks for."""
    asked, wanted = _asked(call), call.args.get("id")
    replaced = own_finding(session, wanted)
    remarks = []
    if asked not in ("", SESSION):
        remarks.append("A working note stays in its session, so the scope was left out.")
    if replaced is None and isinstance(wanted, str) and wanted.strip():
        remarks.append("No working note has that id, so nothing was replaced.")
    return Place(session, replaced, " ".join(remarks))


def unknown_scope(session: Session, call: Call) -> str:
    """What is wrong with the scope that the call asks for, half a sentence; "" for nothing."""
    asked = _asked(call)
    names = [SESSION, *(book.scope.name for book in session.books)]
    if not asked or not session.books or asked in names:
        return ""
    return f"there is no scope {asked!r:.40}. Pass one of {', '.join(names)}, or none for all."


def find_to_forget(session: Session, call: Call, query: str, said: str) -> Found:
    """The note that the call wants forgotten, looked for in all open scopes or in the one asked.

    A note must pass the forget rule among those of its own scope, so that a large scope beside it
    makes no common word a name. One that the call does not name by its id must also pass it among
    all that the person has, so that the best one is found.
    """
    limits, notebook = session.settings.limits, session.notebook
    if not session.books:
        verdict = judge_forget(query, said, session.run.heard, notebook, limits=limits)
        target = notebook.notes.get(verdict.note_id or "") if verdict.granted else None
        return Found(session, verdict, target, notebook.notes.get(verdict.closest or ""))
    asked = _asked(call)
    shelf = session.shelf()
    if asked:
        shelf = shelf.only(asked)
    named = shelf.notebook.get(query)
    if named is None:
        heard = _named_heard(session)
        shelf = _once(session, shelf)
        verdict = judge_forget(query, said, heard, shelf.notebook, limits=limits)
        closest = shelf.notebook.notes.get(verdict.closest or "")
        if not verdict.granted or verdict.note_id is None:
            return Found(session, verdict, None, closest)
        named = shelf.notebook.notes[verdict.note_id]
    owner = shelf.owner(named.id)
    book = session.book(owner.scope)
    view = session.within(book) if book else session
    strict = judge_forget(owner.id, said, view.run.heard, view.notebook, limits=limits)
    if strict.granted and named.speaker == NOBODY:
        # Among several people, a note without a name is for the host to take out.
        strict = replace(strict, granted=False, rule="not_yours", reason=RULES["not_yours"])
    target = view.notebook.notes.get(strict.note_id or "") if strict.granted else None
    return Found(view, strict, target, named)


def _once(session: Session, shelf: Shelf) -> Shelf:
    """The shelf with the narrowest of the speaker's notes that say the same in several scopes.

    A note beside its copy has no word of its own to be named by.
    """
    kept: dict[str, Note] = {}
    seen: dict[str, str] = {}
    for note_id, note in shelf.notebook.notes.items():
        if note.active and note.speaker in ("", session.run.speaker or ""):
            lies_in = shelf.owner(note_id).scope
            if seen.setdefault(sameness(note.text, note.about), lies_in) != lies_in:
                continue
        kept[note_id] = note
    if len(kept) == len(shelf.notebook.notes):
        return shelf
    return replace(shelf, notebook=replace(shelf.notebook, notes=MappingProxyType(kept)))


def same_note(place: Place, text: str) -> tuple[Note | None, str]:
    """The note that already says this, in the same scope or a wider one, and its scope's name."""
    session = place.session
    found = session.same_text(text)
    if found is not None or not session.books:
        return found, session.scope_name()
    names = [SESSION, *(book.scope.name for book in session.books)]
    for book in session.books[names.index(session.scope) :]:
        found = session.within(book).same_text(text)
        if found is not None and found.active:
            return found, book.scope.name
    return None, ""


def names_note(session: Session, call: Call, note: Note, scope: str) -> bool:
    """True where the call names this very note by its id."""
    shelf = session.shelf()
    named = shelf.notebook.get(call.args.get("id"))
    return named is not None and shelf.owner(named.id) == Owned(scope or SESSION, note.id)


def saying_the_same(session: Session, note: Note, scope: str) -> list[tuple[str, str]]:
    """(id, scope) of active notes of other scopes with the same text by the same person."""
    shelf = session.shelf()
    return [
        (one.id, shelf.owner(one.id).scope)
        for one in shelf.notebook.active
        if one.text == note.text
        and one.speaker in ("", session.run.speaker or "")
        and shelf.owner(one.id).scope != scope
    ]


def closed_among(session: Session, call: Call) -> list[Book]:
    """The books that were to be looked at and could not be, though they may hold something."""
    asked = _asked(call)
    return [
        book
        for book in session.books
        if book.closed and (asked == book.scope.name or (not asked and book.down))
    ]


def _corrected(session: Session, call: Call, verdict: Verdict) -> Place | None:
    """The place of the note that the call corrects, where the person's words do so."""
    wanted = call.args.get("id")
    shelf = session.shelf()
    old = shelf.notebook.get(wanted)
    if old is None or not verdict.credited:
        return None
    owner = shelf.owner(old.id)
    book = session.book(owner.scope)
    view = _before(session.within(book), call) if book else session
    replaced = _replaced(view, owner.id, verdict)
    return Place(view, replaced) if replaced else None


def _replaced(session: Session, note_id: Any, verdict: Verdict) -> Note | None:
    """The active note of this id, if it is the speaker's and their words say it holds no more."""
    old = session.notebook.get(note_id)
    if old is None or not old.active or not verdict.credited:
        return None
    spoken = _judged(session, verdict)
    if spoken is None or (old.speaker or "") != (session.run.speaker or ""):
        return None
    return old if corrects(spoken.text, old, session.notebook.active) else None


def _default(session: Session) -> tuple[str, str]:
    """The scope that a note goes to, and a remark where it cannot go there."""
    user = session.book(USER)
    if user is None:
        return SESSION, ""
    if user.closed and not user.down:
        return SESSION, f"It is kept for this session only: {user.closed}."
    return USER, ""


def _opened(session: Session, call: Call, name: str, remark: str) -> Place:
    book = session.book(name)
    if book is None:
        return Place(session, None, remark.strip())
    if book.closed:
        return Place(
            session,
            refusal=f"scope {name} cannot be used now: {book.closed}. To keep it for this session "
            "only, call again with scope session.",
        )
    return Place(_before(session.within(book), call), None, remark.strip())


def _before(session: Session, call: Call) -> Session:
    """The session without what this very call wrote, when it is run a second time."""
    names = (name_of(call.message), name_of(call.id))
    others = [
        event
        for event in session.events
        if not call.message or (event.get("message"), event.get("call")) != names
    ]
    return session if len(others) == len(session.events) else session.with_only(others)


def _asked(call: Call) -> str:
    scope = call.args.get("scope")
    return scope.strip().lower() if isinstance(scope, str) else ""


def _is_wider(session: Session, one: str, other: str) -> bool:
    order = [SESSION, *(book.scope.name for book in session.books)]
    return order.index(one) > order.index(other)


def _is_named(session: Session, verdict: Verdict, scope: Scope) -> bool:
    spoken = _judged(session, verdict) if verdict.credited else None
    if spoken is None:
        return False
    names = (scope.name, *scope.words)
    if scope.people:
        beside = [one.text for one in session.run.heard if one.typed and one.id != spoken.id]
        return asks_to_share(spoken.text, names, beside)
    text = re.sub(r"['\u2019]s\b", " ", spoken.text)
    return any(find_quote(word, text) for word in names)


def _judged(session: Session, verdict: Verdict) -> Utterance | None:
    return next((one for one in session.run.heard if one.id == verdict.utterance_id), None)


def _named_heard(session: Session) -> tuple[Utterance, ...]:
    """What was heard, with the name that the speaker has in scopes of several people."""
    named = next((book for book in session.books if book.me), None)
    return session.run.heard if named is None else session.within(named).run.heard
