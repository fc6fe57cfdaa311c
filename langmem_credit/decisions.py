"""What a call of `remember` or `forget` comes to: events, and a sentence for the model.

A decision is a function of the session, the call and the clock, so it can be made again: for the
calls that stand before another one in the same message, which do not see each other's writes, and
for a write that was lost on the way. The id of an event does not depend on the clock.

Words are judged without their secrets, the model's and the person's alike: so the verdict is the
same in a process that knows only what a checkpoint may hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from . import answers
from .bounds import all_called, all_written, refusal, shrink
from .characters import clean
from .drafts import STOOD_FOR, text_in
from .errors import RefusedWriteError
from .events import about_of
from .forgetting import ForgetVerdict
from .lateness import ended_elsewhere
from .ledger import Event, merge_events, remembered, withdrawn
from .notebook import Notebook
from .notes import Limits, Note, Verdict, normalise_kind
from .places import (
    Found,
    Place,
    closed_among,
    find_to_forget,
    is_finding,
    names_note,
    own_finding,
    place_for,
    same_note,
    saying_the_same,
    unknown_scope,
)
from .runs import HeardRun
from .scopes import SESSION
from .scrubbing import scrub
from .session import Call, Session
from .similar import similar_notes
from .unsaid import FINDING
from .unsaid import found as found_out


@dataclass(frozen=True, slots=True)
class Decision:
    """What a call comes to.

    Attributes:
        outcome: "active", "unconfirmed", "already_known", "rejected", "removed" or "kept".
        answer: for the model.
        events: to write; none when nothing changes.
        note_id: of the note that the call is about, or "".
        rule: the part that broke, "" when none did.
        suggestion: the person's own words that would be credited, or None.
        scope: whose ledger the events belong to.
    """

    outcome: str
    answer: str
    events: tuple[Event, ...] = ()
    note_id: str = ""
    rule: str = ""
    suggestion: str | None = None
    scope: str = SESSION


def decide(session: Session, call: Call) -> Decision:
    """The decision on one call, as if it came alone."""
    limit = session.settings.limits.writes_per_run
    writes = session.writes
    # Calls that came to nothing took as long to judge.
    if max(writes, session.calls_before(call)) >= limit:
        # Nothing that it asks for could be written, so it is not worth judging.
        reason = all_written(writes) if writes >= limit else all_called(limit)
        return _rejected(reason) if call.name == "remember" else _kept(reason)
    session = session.in_run(_without_secrets(session.run, session.settings.limits))
    if call.name == "remember":
        return _decide_remember(session, call)
    return _decide_forget(session, call)


def _decide_remember(session: Session, call: Call) -> Decision:
    settings, run = session.settings, session.run
    unfit = _unfit(call, settings.limits)
    if unfit is not None:
        return unfit
    note, said = call.args["note"], call.args.get("said") or ""
    scrubbed = scrub(clean(note))
    about, core = call.args.get("about"), _is_true(call.args.get("core"))
    named = about_of(about)
    told, quote = (_without_secret(text, settings.limits) for text in (note, said))
    verdict = settings.credit_rule(
        told, quote, run.heard, about=named or None, core=core, limits=settings.limits
    )
    place = place_for(session, call, verdict)
    if place.refusal:
        return _rejected(place.refusal, "scope")
    taken, whole = taken_ids(session), session
    if is_finding(call, verdict):
        return _decide_finding(place, call, about, taken)
    session, run = place.session, place.session.run
    same, known_in = same_note(place, scrubbed.text)
    if same is not None and (place.replaced is None or place.replaced.id == same.id):
        standing = "" if names_note(whole, call, same, known_in) else place.standing
        if same.active:
            answer = answers.already_active(same, known_in, standing)
            return Decision("already_known", answer, note_id=same.id)
        if not verdict.credited:
            answer = answers.already_waiting(same, verdict, known_in, standing)
            return Decision(
                "unconfirmed",
                answer,
                note_id=same.id,
                rule=verdict.rule,
                suggestion=verdict.suggestion,
            )
    try:
        event = remembered(
            note,
            verdict,
            at=session.next_moment(),
            said=said,
            heard=run.heard,
            kind=_kind(call),
            about=about,
            core=core,
            by=settings.agent_name,
            speaker=run.speaker or "",
            replaces=place.replaced.id if place.replaced else "",
            thread=session.thread,
            message=call.message,
            call=call.id,
            taken=taken,
            limits=settings.limits,
        )
    except RefusedWriteError as error:
        return _rejected(str(error))
    refused = refusal(session.notebook, event, _limits(session), writes=session.writes)
    refused = refused or came_too_late(whole, event, session.scope)
    if refused:
        return _rejected(refused)
    verdict = replace(verdict, ignored=tuple(event.get("ignored", ())))
    decision = _remembered(place, event, verdict, scrubbed.found)
    return replace(decision, scope=session.scope)


def came_too_late(session: Session, event: Event, scope: str) -> str:
    """Why the note may not be written to this scope: it ended in another one; "" when it may."""
    ended = ended_elsewhere(session, event, scope) if session.books else None
    if ended is None:
        return ""
    note, lies_in = ended
    return (
        f"the words were heard before the same note ({note.id}, scope {lies_in}) was {note.status}."
        " It becomes memory when the person says it again."
    )


def _unfit(call: Call, limits: Limits) -> Decision | None:
    """Why the call's words cannot be kept, whoever said them."""
    note, said = call.args.get("note"), call.args.get("said")
    for name, value in (("note", note), ("said", said)):
        if value is not None and not isinstance(value, str):
            return _rejected(answers.must_be_text("remember", name, value))
    note = note or ""
    if not clean(note).strip():
        return _rejected("the note is empty. Pass the person's sentence as note.", "empty")
    if len(note) > limits.note:
        return _rejected(
            f"the note has {len(note)} characters; at most {limits.note} fit. Pass a shorter one.",
            "too_long",
        )
    scrubbed = scrub(clean(note))
    if scrubbed.only_secret:
        return _rejected(
            f"the note is only a secret ({', '.join(scrubbed.found)}), and secrets are never kept.",
            "secret",
        )
    return None


def _decide_finding(place: Place, call: Call, about: object, taken: set[str]) -> Decision:
    """The agent's own working note: of this session, without the person's words."""
    session, replaced = place.session, place.replaced
    text, scrubbed = call.args["note"], scrub(clean(call.args["note"]))
    same = session.same_text(scrubbed.text, finding=True)
    if same is not None and same.active:
        return Decision("already_known", answers.already_active(same), note_id=same.id)
    if same is not None and replaced in (None, same):
        answer = answers.already_found(same)
        return Decision("unconfirmed", answer, note_id=same.id, rule=FINDING)
    try:
        event = found_out(
            text,
            at=session.next_moment(),
            about=about,
            by=session.settings.agent_name,
            replaces=replaced.id if replaced else "",
            thread=session.thread,
            message=call.message,
            call=call.id,
            taken=taken,
            limits=session.settings.limits,
        )
    except RefusedWriteError as error:
        return _rejected(str(error))
    refused = refusal(session.notebook, event, session.settings.limits, writes=session.writes)
    if refused:
        return _rejected(refused)
    kept = session.with_events([event]).notebook.of_event(event)
    if kept is None:
        return _rejected("another event has its place. Call again.")
    answer = answers.found(
        kept, saved=session.saved, removed=scrubbed.found, remarks=(place.remark,)
    )
    events = (event, *_smaller(session, event))
    return Decision("unconfirmed", answer, events, kept.id, FINDING)


def _kind(call: Call) -> Any:
    kind = call.args.get("kind") or ""
    # What is left of findings here, the person said in so many words.
    return "fact" if normalise_kind(kind) == FINDING else kind


def _remembered(place: Place, event: Event, verdict: Verdict, found: tuple[str, ...]) -> Decision:
    session = place.session
    kept = session.with_events([event], session.scope).notebook.of_event(event)
    if kept is None:
        # The same call wrote it before, and the notebook knows it under what it became.
        return _rejected("another event has its place. Call again.")
    other = _stands_for(kept, session.notebook)
    replaced = text_in(event, "replaces")
    if other is not None and replaced in ("", other.id):
        return Decision("already_known", answers.already_active(other), note_id=other.id)
    events = (event, *_smaller(session, event))
    if other is not None:
        return Decision("active", answers.corrects(other, replaced), events, other.id)
    alike = similar_notes(kept, session.notebook) if not place.replaced else []
    more: dict[str, Any] = {
        "saved": session.saved,
        "found": found,
        "place": session.scope_name(),
        "remarks": (
            place.remark,
            place.standing,
            answers.similar(alike, named=bool(place.standing)),
        ),
    }
    if kept.active:
        answer = answers.remembered(kept, verdict, **more)
        return Decision("active", answer, events, kept.id)
    if verdict.credited or kept.status != "unconfirmed":
        return Decision("unconfirmed", answers.not_active(kept), events, kept.id, verdict.rule)
    answer = answers.kept(kept, verdict, **more)
    return Decision("unconfirmed", answer, events, kept.id, verdict.rule, verdict.suggestion)


def _without_secrets(run: HeardRun, limits: Limits) -> HeardRun:
    texts = [_without_secret(one.text, limits) for one in run.heard]
    if all(text == one.text for text, one in zip(texts, run.heard, strict=True)):
        return run
    heard = (replace(one, text=text) for text, one in zip(texts, run.heard, strict=True))
    return replace(run, heard=tuple(heard))


def _without_secret(text: str, limits: Limits) -> str:
    # A longer text is not judged, and may take long to read.
    return scrub(text).text if len(text) <= limits.said else text


def _stands_for(note: Note, notebook: Notebook) -> Note | None:
    """The active note that rests on the same words, or says the same, and stands in its place."""
    other = notebook.notes.get(note.replaced_by)
    if note.why not in STOOD_FOR or other is None or not other.active:
        return None
    return other


def _decide_forget(session: Session, call: Call) -> Decision:
    settings = session.settings
    query, said = _wanted(call), call.args.get("said")
    for name, value in (("query", query), ("said", said)):
        if value is not None and not isinstance(value, str):
            return _kept(answers.must_be_text("forget", name, value))
    query, said = query or "", said or ""
    if not query.strip():
        return _kept("name the note by its id, or by its words in query.")
    for name, value, limit in (
        ("query", query, settings.limits.query),
        ("said", said, settings.limits.said),
    ):
        if len(value) > limit:
            return _kept(f"{name} has {len(value)} characters; at most {limit} fit.")
    unknown = unknown_scope(session, call)
    if unknown:
        return _kept(unknown)
    wanted, quote = (_without_secret(text, settings.limits) for text in (query, said))
    own = own_finding(session, call.args.get("id"))
    found = (
        Found(session, ForgetVerdict(granted=True), own)
        if own is not None
        else find_to_forget(session, call, wanted, quote)
    )
    target, verdict = found.target, found.verdict
    if target is None:
        near = found.closest if found.closest and found.closest.active else None
        unseen = closed_among(session, call)
        if unseen and not near:
            names = ", ".join(f"{book.scope.name} ({book.closed})" for book in unseen)
            return _kept(f"{verdict.reason} These scopes could not be looked at: {names}.")
        return replace(_kept(verdict.reason, near), rule=verdict.rule)
    same = saying_the_same(session, target, found.session.scope) if session.books else []
    session = found.session
    why = call.args.get("why")
    try:
        event = withdrawn(
            target.id,
            at=session.next_moment(),
            why=why[: settings.limits.why] if isinstance(why, str) else "",
            said=said,
            by=settings.agent_name,
            thread=session.thread,
            message=call.message,
            call=call.id,
            limits=settings.limits,
        )
    except RefusedWriteError as error:
        return _kept(str(error))
    refused = refusal(session.notebook, event, _limits(session), writes=session.writes)
    if refused:
        return _kept(refused)
    events = (event, *_smaller(session, event))
    answer = answers.forgotten(target, saved=session.saved, place=session.scope_name(), same=same)
    return Decision("removed", answer, events, target.id, scope=session.scope)


def taken_ids(session: Session) -> set[str]:
    """Ids of the notes of all scopes, so that one id names one note wherever it lies."""
    return {
        *session.notebook.notes,
        *(one for book in session.books for one in book.notebook.notes),
    }


def _limits(session: Session) -> Limits:
    limits = session.settings.limits
    return limits if session.scope == SESSION else limits.shared()


def _smaller(session: Session, event: Event) -> list[Event]:
    """Events of ended notes without their words, when the ledger would pass its bound."""
    if session.scope != SESSION:
        # It is read once for many runs, and never written as a whole.
        return []
    ledger = merge_events(session.events, [event])
    return shrink(ledger, session.settings.limits, until=session.run.as_of)


def _wanted(call: Call) -> Any:
    """The id that a call names, else its query."""
    note_id = call.args.get("id")
    return note_id if isinstance(note_id, str) and note_id.strip() else call.args.get("query")


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def _rejected(reason: str, rule: str = "refused") -> Decision:
    return Decision("rejected", answers.rejected(reason), rule=rule)


def _kept(reason: str, closest: Note | None = None) -> Decision:
    return Decision("kept", answers.not_forgotten(reason, closest), rule="refused")
