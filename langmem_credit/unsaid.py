"""Notes that no person said, as events: the agent's findings, and what the end of a session left.

None of them holds the words of a person, is ever credited, or becomes memory by being said again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from .events import VERSION, Event, name_of, remembered
from .identity import instant, new_event_id
from .notes import LIMITS, Limits, Verdict

FINDING = "finding"
SUMMARY = "summary"

_FOUND = Verdict(False, FINDING, "It is the agent's own finding, and no person said it.")
_SUMMED_UP = Verdict(False, SUMMARY, "A summary says it, and no person did.")


def found(
    text: object,
    *,
    at: str,
    about: object = "",
    by: str = "",
    replaces: str = "",
    thread: str = "",
    message: str = "",
    call: str = "",
    taken: Collection[str] = (),
    limits: Limits = LIMITS,
) -> Event:
    """The agent found something out in this session; `replaces` is the id of an older finding.

    Raises:
        RefusedWriteError: the text is empty, no text or too long.
    """
    return remembered(
        text,
        _FOUND,
        at=at,
        kind=FINDING,
        about=about,
        by=by,
        replaces=replaces,
        thread=thread,
        message=message,
        call=call,
        taken=taken,
        limits=limits,
    )


def stated(
    text: object,
    *,
    at: str,
    thread: str,
    replaces: str = "",
    by: str = "",
    taken: Collection[str] = (),
    limits: Limits = LIMITS,
) -> Event:
    """The summary of a session states a fact; `replaces` is the id of an older such fact.

    Raises:
        RefusedWriteError: the text is empty, no text or too long.
    """
    return _summed_up(
        text,
        at=at,
        kind="fact",
        by=by,
        replaces=replaces,
        thread=thread,
        taken=taken,
        limits=limits,
    )


def ended(
    text: object,
    *,
    at: str,
    thread: str,
    files: Sequence[str] = (),
    replaces: str = "",
    by: str = "",
    taken: Collection[str] = (),
    limits: Limits = LIMITS,
) -> Event:
    """A session ended with this outcome; `replaces` is the id of its outcome so far.

    Raises:
        RefusedWriteError: the text is empty, no text or too long.
    """
    event = _summed_up(
        text, at=at, by=by, replaces=replaces, thread=thread, taken=taken, limits=limits
    )
    return event | {"outcome": True} | ({"files": list(files)} if files else {})


def _summed_up(text: object, *, thread: str, **more: Any) -> Event:
    """What the summary of a session says, with the name of that session."""
    event = remembered(text, _SUMMED_UP, origin=SUMMARY, thread=thread, **more)
    return event | {"thread": name_of(thread)}


def touched(files: Sequence[str], *, at: str) -> Event:
    """The session touched these files so far, in the order in which they were last named.

    The newest such event of a ledger says it for all earlier ones, which leave.
    """
    moment = instant(at)
    event_id = new_event_id("touched", {"files": list(files), "at": moment})
    return {"v": VERSION, "id": event_id, "type": "touched", "at": moment, "files": list(files)}
