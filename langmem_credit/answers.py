"""What the memory's tools say to the model: plain sentences it can act on, free of secrets."""

from __future__ import annotations

from collections.abc import Sequence

from .characters import clean
from .notes import Note, Verdict
from .scopes import SESSION
from .scrubbing import scrub

REMEMBERED = "Remembered as"
KEPT = "Kept as"
FORGOTTEN = "Forgotten:"
# A tool message that begins so says that something was written.
CLAIMS = (REMEMBERED, KEPT, FORGOTTEN)

_MOST = 4_000
_OPENING = 50
_LONGEST_ID = 40

RUN_ONLY = "It is kept for this run only: this agent has no checkpointer."
NO_MEMORY = "Nothing was changed: this graph has no memory. Its state needs the memory's channels."
WORDS_ALONE = (
    "The index is not ready or does not answer, so notes were looked for by their words alone: try "
    "other words, or ask again in a moment."
)
FAILED = "Nothing was changed: the memory failed. Go on without it and tell the person."
NO_OTHER_WORDS = (
    "Nothing that the person typed in this run can be credited for it: do not try other words."
)


def remembered(
    note: Note,
    verdict: Verdict,
    *,
    saved: bool,
    found: tuple[str, ...] = (),
    place: str = "",
    remarks: Sequence[str] = (),
) -> str:
    """The note is memory."""
    where = _in(place)
    parts = [f"{REMEMBERED} {note.id}{where}, in the person's own words: {_quoted(note.text)}."]
    if saved:
        parts.append("It stands among the kept notes from the next run on.")
    else:
        parts.append(RUN_ONLY)
    if note.replaces:
        parts.append(f"It takes the place of note {note.replaces}.")
    if verdict.ignored:
        parts.append(
            f"Left out, since the person's words do not say it: {', '.join(verdict.ignored)}."
        )
    return plain(" ".join([*parts, *_removed(found), *filter(None, remarks)]))


def kept(
    note: Note,
    verdict: Verdict,
    *,
    saved: bool,
    found: tuple[str, ...] = (),
    place: str = "",
    remarks: Sequence[str] = (),
) -> str:
    """The note waits for a person."""
    parts = [
        f"{KEPT} {note.id}{_in(place)} for the person's review, not as memory. {verdict.reason}",
        *([] if saved else [RUN_ONLY]),
        *_removed(found),
        *filter(None, remarks),
        _way_out(verdict),
    ]
    return plain(" ".join(parts))


def found(
    note: Note, *, saved: bool, removed: tuple[str, ...] = (), remarks: Sequence[str] = ()
) -> str:
    """The agent's own working note is kept."""
    what = "a working note of this session: unverified and no memory"
    parts = [
        f"{KEPT} {note.id}, {what}. Recall finds it here, and no other session sees it.",
        *([] if saved else [RUN_ONLY]),
        *([f"It takes the place of note {note.replaces}."] if note.replaces else []),
        *_removed(removed),
        *filter(None, remarks),
    ]
    return plain(" ".join(parts))


def already_found(note: Note) -> str:
    """The same working note is kept already."""
    return plain(f"Already kept as {note.id}, a working note of this session. Nothing was changed.")


def not_active(note: Note) -> str:
    """The person's own words, but something that came later stands against them."""
    why = f": {note.why}" if note.why else "."
    return plain(
        f"{KEPT} {note.id}, but it is {note.status} and no memory{why} It becomes memory when the "
        "person says it again."
    )


def already_active(note: Note, place: str = "", remark: str = "") -> str:
    """The same note is memory already."""
    known = f"Already remembered as {note.id}{_in(place)}: {_quoted(note.text)}."
    return plain(" ".join(filter(None, [known, "Nothing was changed.", remark])))


def corrects(note: Note, replaced: str) -> str:
    """The same note is memory already; now it also takes the place of another one."""
    return plain(
        f"{REMEMBERED} {note.id} already: {_quoted(note.text)}. It now takes the place of note "
        f"{replaced}."
    )


def already_waiting(note: Note, verdict: Verdict, place: str = "", remark: str = "") -> str:
    """The same note waits already."""
    known = f"Already kept as {note.id}{_in(place)} for the person's review; nothing was changed."
    return plain(" ".join(filter(None, [known, verdict.reason, remark, _way_out(verdict)])))


def not_replaced(wanted: object, why: str) -> str:
    """The note with this id, as the model passed it, keeps its place."""
    named = wanted.strip() if isinstance(wanted, str) else ""
    shown = named if named.isalnum() and len(named) <= _LONGEST_ID else f"{wanted!r:.{_LONGEST_ID}}"
    return f"It does not take the place of note {shown}, because {why}."


def rejected(reason: str) -> str:
    """Nothing was kept."""
    return plain(f"Not saved: {reason}")


def not_written(tool: str, scope: str, problem: str) -> str:
    """The store of another scope did not take the write."""
    if tool == "forget":
        return plain(f"Nothing was forgotten: scope {scope} could not be written, {problem}.")
    return rejected(
        f"scope {scope} could not be written, {problem}. To keep it for this session only, call "
        "again with scope session."
    )


def similar(notes: Sequence[Note], *, named: bool = False) -> str:
    """Notes that may say nearly the same; "" for none.

    Args:
        notes: that are alike.
        named: the call named one note by its id already.
    """
    if not notes:
        return ""
    # They stand whole in the digest; here every byte is kept with the conversation.
    told = "; ".join(f"{note.id} {_quoted(_opening(note.text))}" for note in notes)
    return f"Similar notes: {told}." + (
        ""
        if named
        else " It takes the place of none of them. If the person's words say that one no longer "
        "holds, call again with its id."
    )


def forgotten(
    note: Note, *, saved: bool, place: str = "", same: Sequence[tuple[str, str]] = ()
) -> str:
    """The note is no memory any more; `same` are ids and scopes of others with its words."""
    stored = f"the history of scope {place}" if place not in ("", SESSION) else ""
    end = (
        f"The words still stand in this session's messages and in {stored}, and the person can "
        "restore the note."
        if stored
        else "The words still stand in this session's messages and history, and the person can "
        "restore the note."
        if saved
        else "The words still stand in this run's messages."
    )
    # A note that was no memory is named, not quoted: its words may come from anywhere.
    what = f"{note.id}, {_quoted(note.text)}" if note.active else note.id
    more = "".join(f" Note {one} in scope {scope} says the same and stays." for one, scope in same)
    return plain(f"{FORGOTTEN} note {what}{_in(place)}. 1 note was withdrawn.{more} {end}")


def not_forgotten(reason: str, closest: Note | None) -> str:
    """Nothing was withdrawn."""
    near = f" The closest note is {closest.id}: {_quoted(closest.text)}." if closest else ""
    return plain(f"Nothing was forgotten: {reason}{near}")


def must_be_text(tool: str, name: str, value: object) -> str:
    """An argument has the wrong type."""
    return f"{tool} needs {name} as text, not {_kind(value)}."


def plain(text: str) -> str:
    """The text as it may be shown: no secret, no control character, not without end."""
    shown = scrub(clean(text)).text.strip()
    return shown if len(shown) <= _MOST else shown[: _MOST - 1] + "…"


def _in(place: str) -> str:
    return f" in scope {place}" if place else ""


def _way_out(verdict: Verdict) -> str:
    if verdict.suggestion:
        return (
            "To make it memory now, call remember again with note and said both exactly: "
            f"{_quoted(verdict.suggestion)}"
        )
    return NO_OTHER_WORDS


def _removed(found: tuple[str, ...]) -> list[str]:
    return [f"Taken out before storing: {', '.join(found)}."] if found else []


def _opening(text: str) -> str:
    return text if len(text) <= _OPENING else f"{text[:_OPENING]}\u2026"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _kind(value: object) -> str:
    names: dict[type, str] = {
        type(None): "nothing",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)
