"""Events as JSON dicts: how each kind is made, and what it becomes without its words.

Every constructor is the one place where its kind of event takes its words in: they are bounded,
cleaned and scrubbed on every path, whoever calls, and words that are no text or too long raise
RefusedWriteError. Keys with their default value are left out, because a checkpointer writes the
whole ledger again in every checkpoint.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from .characters import clean, one_line
from .errors import RefusedWriteError
from .identity import instant, new_event_id, new_note_id, sameness
from .notes import LIMITS, Limits, Utterance, Verdict, normalise_kind, text_hash, utc_now
from .scrubbing import scrub

Event = dict[str, Any]

VERSION = 1
PERSON = "person"
LABEL_CHARS = 120
ABOUT_CHARS = 60
REF_CHARS = 300
# Beside letters, their marks and digits. Joiners stand within names in Persian and Hindi.
_IN_NAMES = frozenset(" .'\u2019-\u2010&\u00b7\u30fb\u200c\u200d")
# The call stays, since it is by their call that a run's writes are counted and found again.
_NAMES = ("v", "id", "type", "at", "note", "by", "speaker", "message", "call")
_WORDLESS = frozenset(
    (*_NAMES, "held", "credited", "replaces", "hash", "kind", "span", "origin", "outcome", "thread")
)
_WORDED = ("text", "said", "why", "ref", "about")


def remembered(
    text: object,
    verdict: Verdict,
    *,
    at: str,
    said: object = "",
    heard: Sequence[Utterance] = (),
    kind: object = "project",
    about: object = "",
    core: bool = False,
    ref: object = "",
    origin: str = "",
    by: str = "",
    speaker: str = "",
    replaces: str = "",
    thread: str = "",
    message: str = "",
    call: str = "",
    taken: Collection[str] = (),
    limits: Limits = LIMITS,
) -> Event:
    """A note was kept, credited or not, as the verdict says.

    Args:
        text: the note.
        verdict: of the credit rule on the raw text. What it says to ignore is left out.
        at: from `next_at`.
        said: the model's quote; of a credited note the judged words themselves are kept instead.
        heard: the run's utterances, among them the one that was judged.
        kind: anything; an unknown one becomes `project`.
        about: a person by name, `me`, `session` or `everyone`; "" the speaker. What has not the
            shape of a name is ignored, and the event says so.
        core: asked to stay in the digest.
        ref: where it lives; shown, never trusted.
        origin: "" for the person of a credited note and the agent of another one.
        by: which agent.
        speaker: whose words, or who was speaking.
        replaces: id of the note that this one corrects.
        thread: of the session; only named in the event's id.
        message: id of the model's message.
        call: id of the tool call.
        taken: ids of the notebook.
        limits: the bounds.
    """
    note = _words("note", text, limits.note)
    if not note:
        raise RefusedWriteError("The note is empty: nothing was kept. Pass the sentence to keep.")
    judged = next((one for one in heard if one.id == verdict.utterance_id), None)
    quote = _words("quote", _judged_words(verdict, judged) or said, limits.said)
    named = "" if "about" in verdict.ignored else about_of(about)
    unnamed = isinstance(about, str) and about.strip() and not named
    ignored = sorted({*verdict.ignored, *(["about"] if unnamed else [])})
    own = {
        "text": note,
        "said": "" if quote == note else quote,
        "kind": _unless(normalise_kind(kind), "project"),
        "about": named,
        "core": core is True and "core" not in ignored,
        "replaces": name_of(replaces),
    }
    event_id = _event_id("remembered", own, at, thread, message, call)
    return _event("remembered", event_id, at) | _present(
        {
            "note": new_note_id(event_id, taken),
            **own,
            "credited": verdict.credited,
            "rule": "" if verdict.credited else verdict.rule,
            **_evidence(verdict, judged, quote or note, at, limits),
            "lang": verdict.language,
            "rv": verdict.version,
            "ref": _label(ref, REF_CHARS),
            "origin": _unless(origin, PERSON if verdict.credited else "agent"),
            "by": name_of(by),
            "speaker": name_of(speaker or (judged.speaker if judged else "")),
            "message": name_of(message),
            "call": name_of(call),
            "ignored": ignored,
        }
    )


def confirmed(
    note: str,
    shown: str,
    *,
    at: str,
    by: str = PERSON,
    text: object = None,
    thread: str = "",
    call: str = "",
    limits: Limits = LIMITS,
) -> Event:
    """A person confirmed the note whose text has the hash `shown`.

    `text` is what they made of it, None where they left it as it was.
    """
    edited = "" if text is None else _words("note", text, limits.note)
    if text is not None and not edited:
        raise RefusedWriteError("The edited note is empty: nothing was confirmed.")
    own = {
        "note": name_of(note),
        "hash": name_of(shown),
        "text": "" if text_hash(edited) == shown else edited,
        "by": name_of(by) or PERSON,
    }
    event_id = _event_id("confirmed", own, at, thread, "", call)
    return _event("confirmed", event_id, at) | _present(own)


def withdrawn(
    note: str,
    *,
    at: str,
    why: object = "",
    said: object = "",
    by: str = "",
    thread: str = "",
    message: str = "",
    call: str = "",
    limits: Limits = LIMITS,
) -> Event:
    """The note was forgotten, on whose words and why."""
    own = {
        "note": name_of(note),
        "why": _words("reason", why, limits.why),
        "said": _words("quote", said, limits.said),
    }
    event_id = _event_id("withdrawn", own, at, thread, message, call)
    more = {"by": name_of(by), "message": name_of(message), "call": name_of(call)}
    return _event("withdrawn", event_id, at) | _present(own | more)


def restored(note: str, *, at: str, by: str = PERSON, thread: str = "", call: str = "") -> Event:
    """A person took the note's last withdrawal, correction or dispute back."""
    own = {"note": name_of(note), "by": name_of(by) or PERSON}
    event_id = _event_id("restored", own, at, thread, "", call)
    return _event("restored", event_id, at) | own


def disputed(
    note: str,
    *,
    at: str,
    by: str = PERSON,
    why: object = "",
    thread: str = "",
    call: str = "",
    limits: Limits = LIMITS,
) -> Event:
    """A person said that the note is not right."""
    own = {
        "note": name_of(note),
        "by": name_of(by) or PERSON,
        "why": _words("reason", why, limits.why),
    }
    event_id = _event_id("disputed", own, at, thread, "", call)
    return _event("disputed", event_id, at) | _present(own)


def name_of(value: object) -> str:
    """An id or a name as an event has it: as it is, or short, without a secret, still its own.

    A model gives ids to its calls.
    """
    if not isinstance(value, str) or not value:
        return ""
    name = one_line(value[:1_000])
    if len(name) <= LABEL_CHARS and len(value) <= 1_000 and not scrub(name).found:
        return name
    # Two long names that begin alike must not become one.
    return f"{scrub(name).text[: LABEL_CHARS - 17]}\u2026{text_hash(value)}"


@lru_cache(maxsize=1_024)
def is_name(value: str) -> bool:
    """True for a name that events have as it is, so that it names one person wherever it stands.

    >>> is_name("Ann"), is_name(" Ann"), is_name("")
    (True, False, False)
    """
    return bool(value) and name_of(value) == value


def trimmed(kept: Collection[str], *, at: str, until: str, late: Collection[str] = ()) -> Event:
    """Notes that had ended left the ledger, with all their events.

    Args:
        kept: ids of the notes that stay, of those that had an event by then or were heard by then.
        at: from `next_at`.
        until: the moment of the last event that went.
        late: ids of those of them that were heard before an earlier trim and saved behind it.
    """
    own = {"until": instant(until), "kept": " ".join(sorted(kept))}
    if late:
        own["late"] = " ".join(sorted(late))
    return _event("trimmed", _event_id("trimmed", own, at, "", "", ""), at) | own


def about_of(value: object) -> str:
    """Whom a note is about, as it may stand beside the note; "" for what no name looks like.

    A note shows it to the model, and a model may have written it.

    >>> about_of(" Ann-Marie O'Neil "), about_of('Bob: "push to main"')
    ("Ann-Marie O'Neil", '')
    """
    if not isinstance(value, str) or len(value) > 4 * ABOUT_CHARS:
        return ""
    name = one_line(value).strip()
    shaped = all(
        char.isalnum() or char in _IN_NAMES or unicodedata.category(char)[0] == "M" for char in name
    )
    if not shaped or len(name) > ABOUT_CHARS or not any(map(str.isalnum, name)):
        return ""
    return "" if scrub(name).found else name


def word_bytes(event: Event) -> int:
    """UTF-8 bytes of all words that the event keeps."""
    heard, files = event.get("heard"), event.get("files")
    total = _bytes(heard.get("t")) if isinstance(heard, dict) else 0
    total += sum(map(_bytes, files)) if isinstance(files, list) else 0
    return total + sum(_bytes(event[key]) for key in _WORDED if key in event)


def _bytes(text: object) -> int:
    if not isinstance(text, str):
        return 0
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def claims_of(event: Event, text: str, about: str, speaker: str, key: str) -> tuple[str, ...]:
    """What a note says and rests on, whomever it is about: the key first, the words last.

    Args:
        event: that it was remembered, or edited.
        text: of the note after it.
        about: of the note.
        speaker: of the note.
        key: `sameness` of the three.
    """
    claims = [key]
    if about:
        claims.append(sameness(text, "", speaker))
    said = event.get("said") if event.get("credited") is True else ""
    if isinstance(said, str) and said:
        words = sameness(said, "", speaker)
        if words not in claims:
            claims.append(words)
    return tuple(claims)


def tombstone(event: Event, *, about: str = "", speaker: str = "") -> Event:
    """The event without its words; merged in, it takes the full one's place.

    Hashes stay where the words were, so that the ledger folds to what it folded to before.

    Args:
        event: to shrink.
        about: of the note that the event changes.
        speaker: of the note that the event changes.
    """
    left = {key: value for key, value in event.items() if key in _WORDLESS}
    heard = event.get("heard")
    if isinstance(heard, dict):
        left["heard"] = {key: heard[key] for key in ("u", "ago") if key in heard}
    text = event.get("text")
    if isinstance(text, str):
        left["then"] = text_hash(text)
        about, speaker = _text(event.get("about")) or about, _text(event.get("speaker")) or speaker
        key, *claims = claims_of(event, text, about, speaker, sameness(text, about, speaker))
        left["key"] = key
        if claims:
            left["claims"] = claims
    return left | {"shrunk": True}


def _event_id(
    event_type: str, own: dict[str, Any], at: str, thread: str, message: str, call: str
) -> str:
    # Without a call there is nothing to replay: a person who confirms, disputes and confirms
    # again did three things.
    content = own if message or call else own | {"at": instant(at)}
    return new_event_id(event_type, content, thread=thread, message=message, call=call)


def _event(event_type: str, event_id: str, at: str) -> Event:
    return {"v": VERSION, "id": event_id, "type": event_type, "at": instant(at) or utc_now()}


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in ("", None, False, [])}


def _unless(value: str, default: str) -> str:
    return "" if value == default else value


def _words(what: str, value: object, limit: int) -> str:
    """The words as they may be kept: never cut, since a cut could lose an "except"."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RefusedWriteError(f"The {what} must be text, not {type(value).__name__}.")
    if len(value) <= limit:
        kept = _storable(value)
        if len(kept) <= limit:
            return kept
    raise RefusedWriteError(
        f"The {what} has {len(value)} characters; at most {limit} fit. Nothing was kept: "
        "pass a shorter one."
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _storable(text: str) -> str:
    return scrub(clean(text)).text.strip()


def _label(value: object, limit: int = LABEL_CHARS) -> str:
    """One line that a model may have written: scrubbed, and cut with the cut shown."""
    if not isinstance(value, str):
        return ""
    # Cut before it is read, so that a megabyte costs nothing, and again with the cut shown.
    label = one_line(scrub(one_line(value[: 2 * limit])).text).strip()
    return label if len(label) <= limit else f"{label[: limit - 1]}\u2026"


def _judged_words(verdict: Verdict, judged: Utterance | None) -> str:
    if not verdict.credited or judged is None or verdict.span is None:
        return ""
    start, end = verdict.span
    return unicodedata.normalize("NFC", judged.text)[start:end]


def _evidence(
    verdict: Verdict, judged: Utterance | None, words: str, at: str, limits: Limits
) -> dict[str, Any]:
    """The utterance and the span in it, so that the verdict can be computed again."""
    if judged is None:
        return {}
    heard: dict[str, Any] = {"u": name_of(judged.id)}
    span = None
    if len(judged.text) > limits.said:
        # Too long to keep: the verdict cannot be computed again, and the event says so.
        heard["cut"] = True
    elif (text := scrub(clean(judged.text)).text).strip() != words:
        heard["t"] = text
        # In a text that cleaning or scrubbing changed, a span would point at other words.
        span = list(verdict.span) if verdict.span and text == judged.text else None
    heard_at, saved_at = instant(judged.at), instant(at)
    if heard_at and saved_at:
        lag = datetime.fromisoformat(saved_at) - datetime.fromisoformat(heard_at)
        # Microseconds: tells a late write from words heard after a withdrawal.
        heard["ago"] = max(0, lag // timedelta(microseconds=1))
    return {"heard": heard, "span": span}
