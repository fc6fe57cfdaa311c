"""A person's register of sessions: what each entry says, and when it has to be written again.

What a run sees of its thread stands under one key, and each mark that a person sets (a title of
their own, archived, in the trash) under one of its own, so that a run and a person who write at the
same time never undo each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from .characters import one_line
from .errors import ConfigurationError, named
from .events import VERSION
from .identity import instant, new_event_id
from .ledger import Event, held
from .scrubbing import scrub

# Shown in one line of a list.
TITLE_CHARS = 80
PREVIEW_CHARS = 160
# Only the beginning of a text is looked at, and a bit more than is kept: no half of a secret stays.
_LOOKED_AT = 4_000
_SAME_MINUTE = 60.0

SEEN = "seen"
TITLE = "title"
ARCHIVED = "archived"
TRASHED = "trashed"
MARKS = (TITLE, ARCHIVED, TRASHED)


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One session of a person's register.

    Attributes:
        id: of the thread.
        title: the person's own, else the first words they typed, at most 80 characters; "" where
            they typed none.
        preview: what they typed last, at most 160 characters.
        created_at: when it was entered, ISO 8601 in UTC; "" where that is not known.
        updated_at: when its last run began.
        messages: in the conversation; as of the last run's beginning where nobody has looked since.
        archived: put aside, and still searched.
        trashed: in the trash: not searched, not opened.
        last: id of the newest message of a person that its last run knew.
    """

    id: str
    title: str = ""
    preview: str = ""
    created_at: str = ""
    updated_at: str = ""
    messages: int = 0
    archived: bool = False
    trashed: bool = False
    last: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a run sees of its thread at its beginning.

    Attributes:
        thread: its id.
        at: when the run began, ISO 8601 in UTC.
        first: the first words that the person typed in the thread, as far as the run knows.
        words: what they typed in this run, "" for nothing.
        messages: in the state.
        last: id of the newest message of a person.
    """

    thread: str
    at: str
    first: str = ""
    words: str = ""
    messages: int = 0
    last: str = ""


def short(text: str, most: int) -> str:
    r"""The text on one line, without secrets, in at most so many characters.

    >>> short("Plan the trip to Porto and back again", 24), short(" ok\n", 24)
    ('Plan the trip to Porto…', 'ok')
    """
    line = one_line(scrub(text[:_LOOKED_AT]).text)
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    at_word, _, _ = cut.rpartition(" ")
    # Languages without spaces, and words without end.
    return f"{at_word if len(at_word) > most // 2 else cut}…"


def entered(known: Mapping[str, Any] | None, sighting: Sighting) -> dict[str, Any] | None:
    """What is to be kept of the thread now; None where what stands there will do.

    Within a minute nothing is written for the sake of the time alone.
    """
    before = entry_of(known) if known is not None else None
    if before is None:
        before = SessionEntry(sighting.thread, created_at=sighting.at)
    # What a thread that was entered before held then was not typed.
    first = sighting.words if known is not None else sighting.first or sighting.words
    entry = replace(
        before,
        title=before.title or short(first, TITLE_CHARS),
        preview=short(sighting.words, PREVIEW_CHARS) or before.preview,
        updated_at=max(before.updated_at, sighting.at),
        messages=sighting.messages,
        last=sighting.last,
    )
    same = replace(entry, updated_at=before.updated_at) == before
    if same and known is not None and _seconds(before.updated_at, entry.updated_at) < _SAME_MINUTE:
        return None
    return {
        "v": 1,
        "id": entry.id,
        "title": entry.title,
        "preview": entry.preview,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
        "messages": entry.messages,
        "last": entry.last,
    }


def entry_of(
    seen: Mapping[str, Any] | None, marks: Mapping[str, Mapping[str, Any]] | None = None
) -> SessionEntry | None:
    """The entry that what runs saw and the person's marks make; None where it names no thread."""
    if not isinstance(seen, Mapping) or not _text(seen.get("id")):
        return None
    marks = marks or {}
    count = seen.get("messages")
    return SessionEntry(
        id=_text(seen.get("id")),
        title=_text(marks.get(TITLE, {}).get("title")) or _text(seen.get("title")),
        preview=_text(seen.get("preview")),
        created_at=_text(seen.get("created_at")),
        updated_at=_text(seen.get("updated_at")),
        messages=count if isinstance(count, int) else 0,
        archived=ARCHIVED in marks,
        trashed=TRASHED in marks,
        last=_text(seen.get("last")),
    )


def marked(mark: str, value: Mapping[str, Any] | None, *, at: str) -> Event:
    """The mark, or that it was taken away, as an event of the session's own ledger.

    There it stands where nobody keeps a register. Of each mark the newest such event stays.
    """
    said = {"mark": mark, "at": instant(at), "on": value is not None, **(value or {})}
    return {"v": VERSION, "id": new_event_id("marked", said), "type": "marked", **said}


def marks_in(events: object) -> dict[str, Mapping[str, Any]]:
    """The marks that a session's own ledger holds; events of unknown origin set none."""
    marks: dict[str, Mapping[str, Any]] = {}
    for event in events if isinstance(events, list) else ():
        if isinstance(event, Mapping) and event.get("type") == "marked" and not held(dict(event)):
            mark = _text(event.get("mark"))
            marks.pop(mark, None)
            if mark in MARKS and event.get("on") is True:
                marks[mark] = event
    return marks


def checked_title(title: object) -> str:
    """A person's own title, as it is kept.

    Raises:
        ConfigurationError: it is no text, says nothing, or is too long.
    """
    if not isinstance(title, str) or not one_line(title):
        raise ConfigurationError(
            f"A session cannot be called {named(title)}. Pass a text of at most {TITLE_CHARS} "
            "characters."
        )
    line = one_line(title)
    if len(line) > TITLE_CHARS:
        raise ConfigurationError(
            f"The title has {len(line)} characters. Use at most {TITLE_CHARS}."
        )
    return one_line(scrub(line).text)[:TITLE_CHARS]


def newest_first(entry: SessionEntry) -> tuple[str, str]:
    """The key that sorts entries, reversed: the newest first, ties by id."""
    return entry.updated_at, entry.id


def _seconds(earlier: str, later: str) -> float:
    try:
        return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    except (ValueError, TypeError):
        return _SAME_MINUTE


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
