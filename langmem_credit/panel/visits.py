"""One visit to the panel: who, in which language, to which scope, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast
from urllib.parse import quote, urlencode

from langmem_credit.review.rows import SECTIONS, Section

from .desk import Desk, View
from .wording import Wording, wording

NOTE = "note"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page is.

    Attributes:
        root: where the panel is mounted, "" for the top.
        scope: whose notes; "" where there are none to choose.
        session: id of the thread, for the scope of sessions.
    """

    root: str = ""
    scope: str = ""
    session: str = ""

    def url(self, path: str, **more: object) -> str:
        """The address of a page of this scope, with more in its query."""
        named = {"scope": self.scope, "session": self.session, **more}
        query = urlencode({key: value for key, value in named.items() if value not in ("", None)})
        return f"{self.root}{path}{f'?{query}' if query else ''}"

    def static(self, name: str) -> str:
        """The address of a file of the panel's own."""
        return f"{self.root}/static/{name}"

    def note(self, note_id: str, **more: object) -> str:
        """The address of a note's page."""
        return self.url(f"/{NOTE}/{quote(note_id, safe='')}", **more)

    def back(self, form: Mapping[str, str], **more: str) -> str:
        """The page that a form was sent from; never an address that the form itself gives."""
        origin = form.get("back", "")
        if origin == NOTE and form.get("note"):
            return self.note(form["note"], **more)
        if origin == "status":
            return self.url("/status", **more)
        section = origin if origin in SECTIONS else "waiting"
        return self.url(f"/{section}", q=form.get("q", ""), page=form.get("page", ""), **more)


@dataclass(frozen=True)
class Visit:
    """One request of one person.

    Attributes:
        language: code of the texts.
        place: that the address names.
        desk: what they may look at; None for whoever is not let in.
        ticket: of their browser.
        token: that the forms of this visit carry.
        fresh: the ticket is new, so that the answer must bring the cookie.
    """

    language: str
    place: Place = Place()
    desk: Desk | None = None
    ticket: str = ""
    token: str = ""
    fresh: bool = False

    @cached_property
    def view(self) -> View:
        """The scope as it stands now, read once."""
        desk = self._desk
        return desk.look(self.place.scope, self.place.session)

    @property
    def words(self) -> Wording:
        """The texts."""
        return wording(self.language)

    @property
    def _desk(self) -> Desk:
        return cast("Desk", self.desk)

    def anew(self) -> Visit:
        """The same visit, which has read nothing yet."""
        return replace(self)


@dataclass(frozen=True, slots=True)
class Listing:
    """Which part of which list.

    Attributes:
        section: of the notes.
        query: words that the notes must have.
        number: of the part, from 1.
    """

    section: Section = "waiting"
    query: str = ""
    number: int = 1
