"""The panel's pages as HTML. Every text is escaped; there is no script and no inline style."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from langmem_credit.errors import UnknownNoteError
from langmem_credit.notes import Note
from langmem_credit.review.rows import (
    SECTIONS,
    Evidence,
    actions_of,
    counts_of,
    evidence_of,
    page_of,
    section_of,
    shown_hash,
    statuses_of,
    steps_of,
    was_credited,
)

from .desk import MOST_SESSIONS
from .visits import NOTE, Listing, Visit
from .wording import LANGUAGES, Wording

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Done:
    """What was decided right before a page.

    Attributes:
        action: the decision.
        note_id: about which note.
        seal: with which it can be taken back; "" where it was a taking back.
    """

    action: str
    note_id: str
    seal: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One note on a page."""

    note: Note
    shown: str
    own: bool
    evidence: Evidence
    actions: tuple[str, ...]
    reason: str
    limit: int


class Pages:
    """Makes the answers."""

    @cached_property
    def _templates(self) -> Environment:
        environment = Environment(
            autoescape=True,
            loader=FileSystemLoader(_TEMPLATES),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters["moment"] = _moment
        return environment

    def notes(self, visit: Visit, listing: Listing, done: Done | None) -> HTMLResponse:
        """A list of notes."""
        view, section = visit.view, listing.section
        page = page_of(
            view.notebook, section, me=view.me, query=listing.query, number=listing.number
        )
        return self._answer(
            visit,
            "notes.html",
            section=section,
            page=page,
            query=listing.query,
            cards=[_card(note, visit) for note in page.notes],
            done=self._told(done, visit),
            back={"back": section, "q": listing.query, "page": page.number},
        )

    def note(self, visit: Visit, note_id: str, done: Done | None, **more: Any) -> HTMLResponse:
        """One note with its evidence and its history."""
        try:
            note = visit.view.note(note_id)
        except UnknownNoteError:
            return self.error(visit, 404, visit.words("no_such_note"))
        view = visit.view
        status = more.pop("status", 200)
        told: dict[str, Any] = {"problem": "", "draft": None, **more}
        return self._answer(
            visit,
            "note.html",
            status,
            section=section_of(note, view.me),
            card=_card(note, visit),
            steps=steps_of(view.notebook, view.events, note.id),
            done=self._told(done, visit),
            back={"back": NOTE, "q": "", "page": ""},
            **told,
        )

    def conflict(self, visit: Visit, note_id: str, *, changed: bool) -> HTMLResponse:
        """The note as it is now: a decision about what it was had no effect."""
        problem = visit.words("changed" if changed else "moved")
        return self.note(visit, note_id, None, status=409, problem=problem)

    def unclear(self, visit: Visit, note_id: str, draft: str) -> HTMLResponse:
        """The note, and what was typed: the text was edited, and the other one confirmed."""
        problem = visit.words("unclear")
        return self.note(visit, note_id, None, status=409, problem=problem, draft=draft)

    def refused(self, visit: Visit, note_id: str, why: str, draft: str | None) -> HTMLResponse:
        """The note, and why the memory refused; what was typed is kept."""
        problem = visit.words("refused", why=why)
        return self.note(visit, note_id, None, status=409, problem=problem, draft=draft)

    def status(self, visit: Visit) -> HTMLResponse:
        """Whether everything can be reached, and how much there is."""
        desk = visit.desk
        assert desk is not None
        # The newest stands for all: it tells whether the checkpointer can be reached.
        session = visit.place.session or next(iter(desk.session_names), "")
        views = [desk.look(name, session) for name in desk.scope_names]
        return self._answer(
            visit,
            "status.html",
            section="status",
            session=session,
            scopes=[(view, statuses_of(view.notebook, view.me)) for view in views],
            index=desk.memory.index_status(),
            operator=desk.operator,
            back={"back": "status", "q": "", "page": ""},
            done=None,
        )

    def entered(self, visit: Visit) -> HTMLResponse:
        """The browser was let in."""
        return self._answer(visit, "door.html", entered=True, message=visit.words("entered"))

    def closed(self, visit: Visit, *, used: bool) -> HTMLResponse:
        """The browser was not let in."""
        message = visit.words("used" if used else "closed")
        return self._answer(visit, "door.html", 403, entered=False, message=message)

    def error(self, visit: Visit, status: int, message: str = "") -> HTMLResponse:
        """Something is not there, or failed."""
        text = message or visit.words.texts.get(f"error_{status}") or visit.words("error")
        return self._answer(visit, "door.html", status, entered=False, message=text)

    def _answer(
        self, visit: Visit, template: str, status: int = 200, **context: Any
    ) -> HTMLResponse:
        shell = self._shell(visit) if template != "door.html" else {}
        text = self._templates.get_template(template).render(
            t=visit.words, place=visit.place, token=visit.token, **shell, **context
        )
        return HTMLResponse(text, status)

    @staticmethod
    def _shell(visit: Visit) -> dict[str, Any]:
        """What stands around every page of notes."""
        desk, view = visit.desk, visit.view
        assert desk is not None
        counts = counts_of(view.notebook, view.me)
        sessions = desk.session_names
        shown = sessions[:MOST_SESSIONS]
        if visit.place.session and visit.place.session not in shown:
            shown = [visit.place.session, *shown]
        return {
            "view": view,
            "scopes_offered": desk.scope_names,
            "sessions": shown,
            "sessions_offered": MOST_SESSIONS,
            "sessions_total": len(sessions),
            "sections": [(name, counts[name]) for name in SECTIONS if name != "others" or view.me],
            "languages": LANGUAGES,
        }

    @staticmethod
    def _told(done: Done | None, visit: Visit) -> dict[str, Any] | None:
        """What was done, as long as the note can be seen."""
        if done is None:
            return None
        try:
            note = visit.view.note(done.note_id)
        except UnknownNoteError:
            return None
        return {
            "action": done.action,
            "note": note,
            "seal": done.seal,
            "shown": shown_hash(note.text),
        }


def _card(note: Note, visit: Visit) -> Card:
    evidence = evidence_of(note)
    return Card(
        note=note,
        shown=shown_hash(note.text),
        own=was_credited(note),
        evidence=evidence,
        actions=actions_of(note, visit.view.me),
        reason=_reason(evidence, visit.words),
        limit=visit.view.memory.limits.note,
    )


def _reason(evidence: Evidence, words: Wording) -> str:
    """Why the note was not credited: the rule's own sentence in English, else its translation."""
    return words.texts.get(f"rule_{evidence.rule}", evidence.reason) if evidence.reason else ""


def _moment(at: str) -> str:
    """A moment as people read it, in UTC: "2026-03-04 12:30 UTC"."""
    return f"{at[:10]} {at[11:16]} UTC" if len(at) >= 16 else at
