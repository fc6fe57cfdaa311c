"""Which sessions a query finds, and in which line. Pure.

A word of the query matches as a part of the text, both folded for case, accents and width. So it
also finds words of languages that put no spaces between them; where a query changes between such a
script and another one, it is two words, as people write "用 pnpm" with a space and without.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .characters import one_line
from .errors import ConfigurationError, named
from .ranking import UNSPACED, folded
from .register import SessionEntry
from .scrubbing import scrub

QUERY_CHARS = 400
LINE_CHARS = 240
MOST_HITS = 40

_BY_SCRIPT = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_AROUND = "\"'.,;:!?()[]{}<>«»„“”‘’‚‹›…。、，；：！？（）「」『』《》【】"
# So much of a long line is looked through for secrets, so that no half of one is left at a cut.
_SCRUBBED_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a conversation.

    Attributes:
        message: number of the message in the conversation, from 0 on; -1 for the title.
        line: of that message, from 0 on.
        role: who said it: "person", "agent", or "tool" for everything else; "" for the title.
        message_id: of the message, or "".
    """

    message: int = -1
    line: int = 0
    role: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session that was found.

    Attributes:
        session: its entry in the register.
        in_title: all words of the query stand in its title.
        line: that shows the match, without secrets, at most 240 characters.
        place: of the line.
    """

    session: SessionEntry
    in_title: bool
    line: str
    place: Place


def query_words(query: object) -> tuple[str, ...]:
    """The words that must all be found, folded, each once.

    Raises:
        ConfigurationError: it is no text, has no word, or is too long.

    >>> query_words("  Café, 用pnpm "), query_words('"C++" v1.2')
    (('cafe', '用', 'pnpm'), ('c++', 'v1.2'))
    """
    if not isinstance(query, str):
        raise ConfigurationError(f"A search needs words, not {named(query)}. Pass a text.")
    if len(query) > QUERY_CHARS:
        raise ConfigurationError(
            f"The query has {len(query)} characters. Use at most {QUERY_CHARS}."
        )
    words: dict[str, None] = {}
    for piece in query.split():
        # What stands around a word is no part of it, unless there is no word.
        for part in _BY_SCRIPT.findall(piece.strip(_AROUND) or piece):
            words.update(dict.fromkeys(folded(part).split()))
    if not words:
        raise ConfigurationError("The query has no word to look for. Type one.")
    return tuple(words)


def fold_text(text: str) -> str:
    """As `ranking.folded`, and quickly for plain letters."""
    return text.lower().replace("'", "") if text.isascii() else folded(text)


def missing(words: Sequence[str], text: str) -> tuple[str, ...]:
    """Of the words those that do not stand in the folded text."""
    return tuple(word for word in words if word not in text)


def best_line(words: Sequence[str], lines: Sequence[str]) -> tuple[int, int]:
    """Number of the first line with most of the words, and how many it has.

    >>> best_line(("blue", "bird"), ("a bird", "A blue bird", "blue"))
    (1, 2)
    """
    best, most = 0, 0
    for number, line in enumerate(lines):
        text = fold_text(line)
        count = sum(word in text for word in words)
        if count > most:
            best, most = number, count
            if most == len(words):
                break
    return best, most


def excerpt(words: Sequence[str], line: str) -> str:
    """The line as it is shown: without secrets, and around what was found when it is long."""
    if len(line) > _SCRUBBED_CHARS:
        start = max(0, _start_of(words, line) - _SCRUBBED_CHARS // 2)
        line = line[start : start + _SCRUBBED_CHARS]
    shown = one_line(scrub(line).text)
    if len(shown) <= LINE_CHARS:
        return shown
    start = max(0, _start_of(words, shown) - LINE_CHARS // 3)
    part = shown[start : start + LINE_CHARS - 2]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(shown) else ''}"


def _start_of(words: Sequence[str], line: str) -> int:
    """Where the first of the words stands; 0 for none."""
    # Folding may make a text longer or shorter, so that places in it are none in the line. Piece by
    # piece, since a line may be a whole book, and each piece is folded again and again.
    for begin in range(0, len(line), _SCRUBBED_CHARS):
        piece = line[begin : begin + _SCRUBBED_CHARS + 2 * QUERY_CHARS]
        text = fold_text(piece)
        places = [(text.find(word), word) for word in words if word in text]
        if places:
            _, word = min(places)
            return begin + max(0, _end_of(word, piece) - len(word))
    return 0


def _end_of(word: str, line: str) -> int:
    """The shortest beginning of the line that has the word."""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high) // 2
        if word in fold_text(line[:middle]):
            high = middle
        else:
            low = middle + 1
    return low


def ranked(hits: Sequence[SessionHit], limit: int) -> tuple[SessionHit, ...]:
    """The best hits: those of the title first, then the newest; cut only when they are ranked."""
    newest = sorted(hits, key=lambda hit: (hit.session.updated_at, hit.session.id), reverse=True)
    return tuple(sorted(newest, key=lambda hit: not hit.in_title)[:limit])


def checked_limit(limit: object) -> int:
    """How many hits are shown.

    Raises:
        ConfigurationError: it is no whole number from 1 to 40.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_HITS:
        raise ConfigurationError(
            f"limit={named(limit)} does not fit. Pass a whole number from 1 to {MOST_HITS}."
        )
    return limit
