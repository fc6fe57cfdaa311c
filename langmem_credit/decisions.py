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
from .bounds import refusal, shrink
from .characters import clean
from .corrections import corrects
from .drafts import STOOD_FOR, text_in
from .errors import RefusedWriteError
from .events import about_of
from .forgetting import judge_forget
from .ledger import Event, merge_events, remembered, withdrawn
from .notebook import Notebook
from .notes import Limits, Note, Verdict
from .runs import HeardRun
from .scrubbing import scrub
from .session import Call, Session


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
    """

    outcome: str
    answer: str
    events: tuple[Event, ...] = ()
    note_id: str = ""
    rule: str = ""
    suggestion: str | None = None


def decide(session: Session, call: Call) -> Decision:
    """The decision on one call, as if it came alone."""
    session = session.in_run(_without_secrets(session.run, session.settings.limits))
    if call.name == "remember":
        return _decide_remember(session, call)
    return _decide_forget(session, call)


def _decide_remember(session: Session, call: Call) -> Decision:
    settings, run = session.settings, session.run
    note, said = call.args.get("note"), call.args.get("said")
    for name, value in (("note", note), ("said", said)):
        if value is not None and not isinstance(value, str):
            return _rejected(answers.must_be_text("remember", name, value))
    note, said = note or "", said or ""
    if not clean(note).strip():
        return _rejected("the note is empty. Pass the person's sentence as note.", "empty")
    if len(note) > settings.limits.note:
        return _rejected(
            f"the note has {len(note)} characters; at most {settings.limits.note} fit. "
            "Pass a shorter one.",
            "too_long",
        )
    scrubbed = scrub(clean(note))
    if scrubbed.only_secret:
        return _rejected(
            f"the note is only a secret ({', '.join(scrubbed.found)}), and secrets are never kept.",
            "secret",
        )
    about, core = call.args.get("about"), _is_true(call.args.get("core"))
    named = about_of(about)
    told, quote = (_without_secret(text, settings.limits) for text in (note, said))
    verdict = settings.credit_rule(
        told, quote, run.heard, about=named or None, core=core, limits=settings.limits
    )
    same = session.notebook.same_text(scrubbed.text, speaker=run.speaker or "")
    replaced = _replaced(session, call, verdict)
    if same is not None and (replaced is None or replaced.id == same.id):
        if same.active:
            return Decision("already_known", answers.already_active(same), note_id=same.id)
        if not verdict.credited:
            answer = answers.already_waiting(same, verdict)
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
            kind=call.args.get("kind") or "",
            about=about,
            core=core,
            by=settings.agent_name,
            speaker=run.speaker or "",
            replaces=replaced.id if replaced else "",
            thread=session.thread,
            message=call.message,
            call=call.id,
            taken=session.notebook.notes.keys(),
            limits=settings.limits,
        )
    except RefusedWriteError as error:
        return _rejected(str(error))
    refused = refusal(session.notebook, event, settings.limits, writes=session.writes)
    if refused:
        return _rejected(refused)
    verdict = replace(verdict, ignored=tuple(event.get("ignored", ())))
    return _remembered(session, event, verdict, scrubbed.found)


def _remembered(
    session: Session, event: Event, verdict: Verdict, found: tuple[str, ...]
) -> Decision:
    after = session.with_events([event])
    kept = after.notebook.of_event(event)
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
    if kept.active:
        answer = answers.remembered(kept, verdict, saved=session.saved, found=found)
        return Decision("active", answer, events, kept.id)
    if verdict.credited or kept.status != "unconfirmed":
        return Decision("unconfirmed", answers.not_active(kept), events, kept.id, verdict.rule)
    answer = answers.kept(kept, verdict, saved=session.saved, found=found)
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
    settings, run, notebook = session.settings, session.run, session.notebook
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
    wanted, quote = (_without_secret(text, settings.limits) for text in (query, said))
    verdict = judge_forget(wanted, quote, run.heard, notebook, limits=settings.limits)
    closest = notebook.notes.get(verdict.closest or "")
    target = notebook.notes.get(verdict.note_id or "")
    if not verdict.granted or target is None:
        near = closest if closest and closest.active else None
        return replace(_kept(verdict.reason, near), rule=verdict.rule)
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
    refused = refusal(notebook, event, settings.limits, writes=session.writes)
    if refused:
        return _kept(refused)
    events = (event, *_smaller(session, event))
    answer = answers.forgotten(target, saved=session.saved)
    return Decision("removed", answer, events, target.id)


def _smaller(session: Session, event: Event) -> list[Event]:
    """Events of ended notes without their words, when the ledger would pass its bound."""
    ledger = merge_events(session.events, [event])
    return shrink(ledger, session.settings.limits, until=session.run.as_of)


def _replaced(session: Session, call: Call, verdict: Verdict) -> Note | None:
    """The active note that the call corrects, if the person's words say that it holds no more."""
    old = session.notebook.get(call.args.get("id"))
    if old is None or not old.active or not verdict.credited:
        return None
    spoken = next((one for one in session.run.heard if one.id == verdict.utterance_id), None)
    if spoken is None or (old.speaker or "") != (session.run.speaker or ""):
        return None
    return old if corrects(spoken.text, old, session.notebook.active) else None


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
