"""What things are called and when they were: ids, moments, and which texts say the same."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection
from datetime import UTC, datetime
from functools import lru_cache

# No 0, 1, i, l, o: a person reads these ids aloud and types them.
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
_EVENT_ID_CHARS = 16
_NOTE_ID_CHARS = 6
_NOTE_ID = re.compile(rf"[{_ALPHABET}]{{4,32}}")
# Longer texts than notes may have are not kept in memory for the next fold.
_CACHED_CHARS = 1_000
_LAST_PUNCTUATION = ".!\u2026\u3002\uff01\uff0e\u0964\u06d4"


def instant(value: object) -> str:
    """A moment as ISO 8601 in UTC with microseconds and a Z, or "" for what is none.

    >>> instant("2026-03-01T23:30:00+09:00")
    '2026-03-01T14:30:00.000000Z'
    """
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return ""
    return _instant(value)


def new_event_id(
    event_type: str, content: object, *, thread: str = "", message: str = "", call: str = ""
) -> str:
    """16 characters that name what was written, by which call of which message of which thread.

    The same call replayed gives the same id; the same call id with other content another one.
    """
    named = [thread, message, call, event_type, content]
    return _digits(json.dumps(named, sort_keys=True, default=repr), _EVENT_ID_CHARS)


def new_note_id(event_id: str, taken: Collection[str] = ()) -> str:
    """6 characters that a model and a person can copy; more where they are taken.

    >>> len(new_note_id("e1")), len(new_note_id("e1", taken=[new_note_id("e1")]))
    (6, 7)
    """
    length = _NOTE_ID_CHARS
    while (note_id := _digits(f"note {event_id}", length)) in taken:
        length += 1
    return note_id


def is_note_id(value: object) -> bool:
    """True for what `new_note_id` could have made."""
    return isinstance(value, str) and _NOTE_ID.fullmatch(value) is not None


def sameness(text: str, about: str = "", speaker: str = "") -> str:
    """Names all texts that say the same of the same person: 16 characters.

    Case, white space and the final full stop do not count; a word in capitals among others that
    are not keeps them, since "US" is not "us".

    >>> sameness("Use  pnpm.") == sameness("use pnpm")
    True
    >>> sameness("Ship to US") == sameness("ship to us")
    False
    """
    if len(text) > _CACHED_CHARS:
        return _sameness.__wrapped__(text, about, speaker)
    return _sameness(text, about, speaker)


@lru_cache(maxsize=16_384)
def _sameness(text: str, about: str, speaker: str) -> str:
    words = unicodedata.normalize("NFC", text).split()
    shouted = text.isupper()
    folded = [
        word if len(word) > 1 and word.isupper() and not shouted else word.casefold()
        for word in words
    ]
    said = " ".join(folded).rstrip(_LAST_PUNCTUATION).rstrip()
    named = "\0".join((said or " ".join(folded), about.casefold(), speaker))
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@lru_cache(maxsize=16_384)
def _instant(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return text_of_moment(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return ""


def text_of_moment(moment: datetime) -> str:
    """The UTC moment as `instant` writes it."""
    # strftime does not pad years below 1000 everywhere, and text is compared as text.
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _digits(named: str, length: int) -> str:
    number = int.from_bytes(hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest())
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
