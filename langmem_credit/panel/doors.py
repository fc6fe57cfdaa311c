"""The panel's addresses: who may come in, what each one does, and which page answers."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from langmem_credit.errors import (
    ChangedNoteError,
    ConfigurationError,
    CreditError,
    UnknownNoteError,
)
from langmem_credit.memory import CreditedMemory
from langmem_credit.review.rows import (
    ACTIONS,
    QUERY_CHARS,
    SECTIONS,
    Action,
    shown_hash,
    took_effect,
)
from langmem_credit.scopes import SESSION

from .desk import Desk, NotOfferedError
from .entrance import COOKIE, Entrance, Seals, is_ticket, new_ticket
from .forms import fields_of, number_of
from .pages import Done, Pages
from .visits import Listing, Place, Visit
from .wording import LANGUAGES, preferred

Person = Mapping[str, str] | Callable[[Request], Any]
Sessions = Callable[[Mapping[str, str]], Iterable[str]]

LANGUAGE_COOKIE = "langmem_panel_language"

_STATIC = Path(__file__).parent / "static"
_MOST_ID = 200
_FORM, _DONE = "form", "done"

_log = logging.getLogger("langmem_credit")


@dataclass(frozen=True)
class Doors:
    """Every way into the panel."""

    memory: CreditedMemory
    graph: Any
    person: Person
    sessions: Sessions | None
    entrance: Entrance | None
    seals: Seals
    pages: Pages = field(default_factory=Pages)

    def app(self) -> Starlette:
        """The app, without its shield."""
        return Starlette(
            routes=[
                Route("/", self._list),
                Route("/enter", self._enter),
                Route("/status", self._status),
                Route("/note/{note_id}", self._note),
                Route("/decide", self._decide, methods=["POST"]),
                Route("/undo", self._undo, methods=["POST"]),
                Route("/language", self._language, methods=["POST"]),
                Mount("/static", StaticFiles(directory=_STATIC)),
                Route("/{section}", self._list),
            ],
            exception_handlers={HTTPException: self._refused},
        )

    # Pages.

    async def _enter(self, request: Request) -> Response:
        token = request.query_params.get("token", "")
        # Another method, such as a link checker's HEAD, must not use the link up.
        if self.entrance is None or request.method != "GET":
            raise HTTPException(404)
        ticket = self.entrance.enter(token)
        visit = _stranger(request)
        if ticket is None:
            return self.pages.closed(visit, used=True)
        return _with_cookie(request, self.pages.entered(visit), self._cookie, ticket)

    async def _list(self, request: Request) -> Response:
        visit = await self._visit(request)
        section = request.path_params.get("section", "waiting")
        query = request.query_params.get("q", "")
        if section not in SECTIONS:
            raise HTTPException(404)
        if len(query) > QUERY_CHARS:
            raise HTTPException(400)
        listing = Listing(section, query, number_of(request.query_params.get("page", "")))
        done = self._done_of(request, visit)
        return await self._shown(request, visit, self.pages.notes, listing, done)

    async def _note(self, request: Request) -> Response:
        visit = await self._visit(request)
        note_id, done = request.path_params["note_id"][:_MOST_ID], self._done_of(request, visit)
        return await self._shown(request, visit, self.pages.note, note_id, done)

    async def _status(self, request: Request) -> Response:
        return await self._shown(request, await self._visit(request), self.pages.status)

    # Decisions.

    async def _decide(self, request: Request) -> Response:
        visit, form = await self._form(request)
        action = form.get("action")
        if action not in ACTIONS or (action == "edit" and "text" not in form):
            raise HTTPException(400)
        return await self._shown(request, visit, self._carry_out, form)

    async def _undo(self, request: Request) -> Response:
        visit, form = await self._form(request)
        parts = _parts(visit, form.get("action", ""), form.get("note", ""))
        if not self.seals.holds(form.get("seal", ""), visit.ticket, _DONE, *parts):
            raise HTTPException(400)
        return await self._shown(request, visit, self._carry_out, form, back=True)

    def _carry_out(self, visit: Visit, form: Mapping[str, str], *, back: bool = False) -> Response:
        action, note_id = cast("Action", form["action"]), form.get("note", "")
        shown, text = form.get("shown", ""), form.get("text") if action == "edit" else None
        if action == "confirm" and shown_hash(form.get("text", "")) != shown and "text" in form:
            # An edit must not be lost, nor the text confirmed that the person had changed.
            return self.pages.unclear(visit, note_id, form["text"])
        try:
            if back:
                note = visit.view.undo(action, note_id, shown)
            else:
                note = visit.view.decide(action, note_id, shown, text)
        except (ChangedNoteError, NotOfferedError) as error:
            changed = isinstance(error, ChangedNoteError)
            return self.pages.conflict(visit.anew(), note_id, changed=changed)
        except UnknownNoteError:
            return self.pages.error(visit, 404, visit.words("no_such_note"))
        except ConfigurationError:
            raise
        except CreditError as error:
            return self.pages.refused(visit.anew(), note_id, str(error), text)
        if not back and not took_effect(action, note):
            return self.pages.conflict(visit.anew(), note_id, changed=False)
        _log.info("panel: note %s is %s after %s", note.id, note.status, form["action"])
        parts = _parts(visit, "undone" if back else action, note.id)
        done = {"done": parts[0], "about": note.id}
        done["seal"] = self.seals.seal(visit.ticket, _DONE, *parts)
        return RedirectResponse(visit.place.back(form, **done), 303)

    async def _language(self, request: Request) -> Response:
        visit, form = await self._form(request)
        response = RedirectResponse(visit.place.back(form), 303)
        if form.get("language") in LANGUAGES:
            _with_cookie(request, response, LANGUAGE_COOKIE, form["language"])
        return response

    # Who asks, and for what.

    @property
    def _cookie(self) -> str:
        return COOKIE if self.entrance is None else self.entrance.cookie

    async def _visit(self, request: Request) -> Visit:
        values = await self._signed_in(request)
        desk = Desk(self.memory, self.graph, values, self.sessions, self.entrance is not None)
        try:
            place = await run_in_threadpool(_place, request, desk)
        except HTTPException:
            raise
        except Exception as error:
            _log.error("panel: the list of sessions failed (%s)", type(error).__name__)
            raise HTTPException(503) from error
        ticket = request.cookies.get(self._cookie, "")
        # Where the host signs people in, the cookie only tells browsers apart.
        fresh = not is_ticket(ticket)
        ticket = new_ticket() if fresh else ticket
        token = self.seals.seal(ticket, _FORM, *_person(values))
        return Visit(_language_of(request), place, desk, ticket, token, fresh)

    async def _signed_in(self, request: Request) -> Mapping[str, str]:
        if not callable(self.person):
            ticket = request.cookies.get(self._cookie, "")
            if self.entrance is None or not self.entrance.admits(ticket):
                raise HTTPException(403)
            return self.person
        try:
            values = self.person(request)
            if inspect.isawaitable(values):
                values = await values
        except Exception as error:
            _log.warning("panel: the sign-in failed (%s)", type(error).__name__)
            raise HTTPException(403) from error
        if not is_person(values):
            raise HTTPException(403)
        return dict(values)

    async def _form(self, request: Request) -> tuple[Visit, dict[str, str]]:
        """The visit, and the fields of a form that one of our pages made for this very browser."""
        visit = await self._visit(request)
        form = await fields_of(request)
        values = _person(cast("Desk", visit.desk).values)
        ours = self.seals.holds(form.get("token", ""), visit.ticket, _FORM, *values)
        if visit.fresh or not ours:
            raise HTTPException(403)
        return visit, form

    def _done_of(self, request: Request, visit: Visit) -> Done | None:
        """What was done right before this page, as our own redirect says."""
        given = request.query_params
        action, note_id, seal = given.get("done", ""), given.get("about", ""), given.get("seal", "")
        if not self.seals.holds(seal, visit.ticket, _DONE, *_parts(visit, action, note_id)):
            return None
        return Done(action, note_id, "" if action == "undone" else seal)

    async def _shown(
        self, request: Request, visit: Visit, page: Callable[..., Response], *args: Any, **more: Any
    ) -> Response:
        """The page, made in a thread: stores and checkpointers may block."""
        try:
            response = await run_in_threadpool(page, visit, *args, **more)
        except Exception as error:  # noqa: BLE001 - stores and checkpointers raise what they like
            return self._failed(request, error)
        if visit.fresh:
            _with_cookie(request, response, self._cookie, visit.ticket)
        return response

    async def _refused(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        visit = _stranger(request)
        if status == 403:
            return self.pages.closed(visit, used=False)
        return self.pages.error(visit, status)

    def _failed(self, request: Request, error: Exception) -> Response:
        _log.error("panel: a page failed (%s)", type(error).__name__)
        why = str(error) if isinstance(error, ConfigurationError) and self.entrance else ""
        return self.pages.error(_stranger(request), 500, why)


def is_person(values: object) -> bool:
    """True for texts by name, none of them empty."""
    return (
        isinstance(values, Mapping)
        and bool(values)
        and all(isinstance(part, str) and part.strip() for pair in values.items() for part in pair)
    )


def _place(request: Request, desk: Desk) -> Place:
    """The scope that the address names; the first one where it names none.

    Raises:
        HTTPException: this person has no such scope or session.
    """
    names, given = desk.scope_names, request.query_params
    scope = given.get("scope", names[0] if names else "")
    if names and scope not in names:
        raise HTTPException(404)
    session = ""
    if SESSION in names and (given.get("session") or scope == SESSION):
        session = given.get("session") or next(iter(desk.session_names), "")
        if session and session not in desk.session_names:
            raise HTTPException(404)
    return Place(request.scope.get("root_path", ""), scope, session)


def _parts(visit: Visit, action: str, note_id: str) -> tuple[str, ...]:
    return action, note_id, visit.place.scope, visit.place.session


def _person(values: Mapping[str, str]) -> list[str]:
    """The person's values as the parts of a mark: a form is one person's."""
    return [part for name in sorted(values) for part in (name, values[name])]


def _stranger(request: Request) -> Visit:
    return Visit(_language_of(request), Place(request.scope.get("root_path", "")))


def _language_of(request: Request) -> str:
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    return chosen if chosen in LANGUAGES else preferred(request.headers.get("accept-language", ""))


def _with_cookie(request: Request, response: Response, name: str, value: str) -> Response:
    response.set_cookie(
        name,
        value,
        path=request.scope.get("root_path") or "/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response
