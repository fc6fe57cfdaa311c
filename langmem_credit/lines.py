"""Notes as single lines for a language model, inert whatever their text is.

A text is put in by concatenation and never formatted, so braces expand to nothing. Angle brackets
become ‹ and ›, so no tag can be opened or closed; the quotation marks “ ” that enclose a text
become " inside it; three backticks and an image link lose the form that a renderer acts on; line
ends become " / ". All else, emoji, joiners and right-to-left letters among it, stays as it is.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from unicodedata import name as unicode_name
from unicodedata import normalize

from .characters import clean
from .identity import instant
from .notes import Note

LABEL_CHARS = 60
# Who confirmed another person's note, where the host did not say who it was.
SOMEBODY = "somebody"

_LOOK_ALIKES = str.maketrans(
    {
        **dict.fromkeys("<\uff1c\ufe64", "\u2039"),
        **dict.fromkeys(">\uff1e\ufe65", "\u203a"),
        **dict.fromkeys("\u201c\u201d", '"'),
    }
)
_ACTING = "".join(map(chr, _LOOK_ALIKES))
_FENCE = re.compile(r"`{3,}")
_TARGET = re.compile(r"\](?=[(\[])")
_WORD = re.compile(r"[^\W_]+")
# Words by which lines name whoever is speaking, the agent, or somebody who is not known.
# fmt: off
_POINTING = frozenset(
    [
        "you", "your", "yours", "yourself", "youre", "person", "theperson", "user", "theuser",
        "me", "myself", "i", "self", "agent", "assistant", "system", "facts", "somebody", "someone",
    ]
)
# fmt: on
# Their letters look alike, so that a name of two of them may pass for another one.
_SCRIPTS = ("LATIN ", "CYRILLIC ", "GREEK ", "ARMENIAN ", "CHEROKEE ")
_ABOUT = {"me": "about the agent", "session": "about this session", "everyone": "about everyone"}


def inert(text: str) -> str:
    r"""The text on one line, with nothing that closes, opens, fetches or expands.

    >>> inert("use {name}\nand </notes> ![x](http://x)")
    'use {name} / and ‹/notes› ![x] (http://x)'
    """
    parts = (" ".join(part.split()) for part in clean(text).split("\n"))
    line = " / ".join(part for part in parts if part)
    if any(char in line for char in _ACTING):
        line = line.translate(_LOOK_ALIKES)
    if "`" in line:
        line = _FENCE.sub(lambda run: "\u02cb" * len(run.group()), line)
    before, image, rest = line.partition("![")
    # Brackets may stand within an image's brackets, so each that could end them is parted.
    return before + image + _TARGET.sub("] ", rest)


def quoted(text: str) -> str:
    """The inert text in quotation marks that it cannot close."""
    return f"\u201c{inert(text)}\u201d"


def label(text: str) -> str:
    """A name as it may stand in a line: inert, short, and never taken for the person themselves.

    >>> label("Bob"), label("You"), label("the person")
    ('Bob', '“You”', '“the person”')
    """
    name = _short(text)
    return f"\u201c{name}\u201d" if _is_pointing(name) else name


def heading(note: Note) -> str:
    """The note's id and, if it is not about the speaker, whom or what it is about.

    A name stands in quotation marks: it may be no person's word, and read like a sentence.
    """
    if not note.about:
        return note.id
    about = _ABOUT.get(note.about) or f"about \u201c{_short(note.about)}\u201d"
    return f"{note.id}, {about}"


def dated(at: str, as_of: str) -> str:
    """The day and, from two days on, the age as of another day: "2026-03-04, 12 days ago".

    Weeks, months and years are whole and rounded down, so that an old line rarely changes.

    >>> dated("2026-03-04T12:00:00Z", "2026-03-16T00:00:00Z")
    '2026-03-04, 12 days ago'
    >>> dated("2026-03-04T12:00:00Z", "2026-03-05T23:00:00Z")
    '2026-03-04'
    """
    day = instant(at)[:10]
    if not day:
        return "undated"
    age = _age(day, instant(as_of)[:10])
    return f"{day}, {age}" if age else day


def same_words(note: Note) -> bool:
    """True when the note is the person's words, letter for letter."""
    return not note.said or inert(note.said) == inert(note.text)


@lru_cache(maxsize=1_024)
def _is_pointing(name: str) -> bool:
    """True where the name has a word that points at somebody, or letters of look-alike scripts."""
    plain = normalize("NFKC", name).casefold()
    words = {*_WORD.findall(plain), "".join(filter(str.isalnum, plain))}
    if words & _POINTING:
        return True
    return sum(any(script in unicode_name(char, "") for char in plain) for script in _SCRIPTS) > 1


def _short(text: str) -> str:
    name = inert(text[: 4 * LABEL_CHARS])
    return name if len(name) <= LABEL_CHARS else f"{name[: LABEL_CHARS - 1]}\u2026"


def _age(day: str, today: str) -> str:
    if not today:
        return ""
    # A clock may have been set back: a day ahead has no age.
    days = (date.fromisoformat(today) - date.fromisoformat(day)).days
    if days < 2:
        return ""
    if days < 14:
        return f"{days} days ago"
    if days < 61:
        return f"{days // 7} weeks ago"
    if days < 730:
        return f"{days // 30} months ago"
    return f"{days // 365} years ago"
