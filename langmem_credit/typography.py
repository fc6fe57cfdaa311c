"""Where the characters themselves are what the words are about, none of them may be folded.

Comparing folds white space, quotation marks, dashes and width, since a note that writes "don't"
with another mark says the same. "Always use — instead of -" does not: so inside quotation marks
and backticks all stays as typed, and so does everywhere what a message spells in two ways.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from .characters import clean
from .letters import FOLDS
from .words import Token, fold, holds_mark, quoted_mask, text_of, tokenize

# Marks that are used together, so that a text may hold both and still have one spelling.
_FAMILIES = (
    *("\u2018\u2019\u201a\u201b", "\u201c\u201d\u201e\u201f"),
    *("\u00ab\u00bb", "\u300c\u300d", "\u300e\u300f"),
)
_FAMILY = {mark: family for family in _FAMILIES for mark in family}
# More than one space, or a space of another kind.
_ODD_SPACE = re.compile(r"\s(?:\s|(?<![ \n]))")
_QUOTES = frozenset("\"'`")
# What stands for a letter, a digit or an apostrophe once it is folded.
_FOLDED_IN_WORDS = frozenset(
    chr(code) for code, char in FOLDS.items() if char.isalnum() or char == "'"
)
_STOPS = " .!;,:\u3002\uff0c\uff01\uff1b\uff1a"


def keeps_marks(
    stretches: Iterable[Sequence[Token]], message: str, note: Sequence[Token], written: str
) -> bool:
    """True when the note, whose folded words are a stretch's, has its very marks where they count.

    Args:
        stretches: those of the message that a note may say, whole.
        message: what the person typed.
        note: the note's tokens.
        written: the note.

    >>> from langmem_credit.words import tokenize
    >>> texts = ("Write “a” there", 'Write "a" there'), ("Use – not -", "Use - not –")
    >>> [keeps_marks([tokenize(a)], a, tokenize(b), b) for a, b in texts]
    [True, False]
    """
    told = _quoted(note, written)
    if message.isascii() and not told and not _ODD_SPACE.search(message):
        return True
    twice = _spelled_twice(message)
    kept = _spellings(note, written, twice)
    return (
        (not _is_typed_twice(message) or _is_part(written, message))
        and all(_keeps_order(family, message, written) for family in _FAMILIES)
        and any(
            _quoted(stretch, message) == told and _spellings(stretch, message, twice) == kept
            for stretch in stretches
        )
    )


def may_be_kept(tokens: Sequence[Token], text: str) -> bool:
    """False when something between quotation marks, such as a tab, would be stored as another."""
    return all(clean(quoted) == quoted for quoted in _quoted(tokens, text))


def _quoted(tokens: Sequence[Token], text: str) -> list[str]:
    """The typed text of each quotation, without its outer marks."""
    if not holds_mark(tokens, _QUOTES):
        return []
    marked = zip(quoted_mask(tokens), tokens, strict=True)
    return [
        text_of([token for _, token in pairs], text)[1:-1]
        for quoted, pairs in groupby(marked, lambda pair: pair[0])
        if quoted
    ]


def _spelled_twice(text: str) -> set[str]:
    """The folded marks and words that the text spells in two ways."""
    spellings: dict[str, set[str]] = {}
    if text.isascii():
        return set()
    composed = unicodedata.normalize("NFC", text)
    for char in set(composed):
        folded = FOLDS.get(ord(char), char)
        if not folded.isalnum() and not folded.isspace():
            spellings.setdefault(folded, set()).add(_FAMILY.get(char, char))
    for token in () if _FOLDED_IN_WORDS.isdisjoint(composed) else tokenize(text):
        if token.word:
            typed = composed[token.start : token.end].lower()
            spellings.setdefault(token.low, set()).add(typed)
    return {folded for folded, typed in spellings.items() if len(typed) > 1}


def _spellings(tokens: Sequence[Token], text: str, folded: set[str]) -> list[str]:
    """How the text spells these, in order."""
    if not folded:
        return []
    composed = unicodedata.normalize("NFC", text)
    found = []
    for token in tokens:
        typed = composed[token.start : token.end]
        found += [typed.lower()] if token.word and token.low in folded else []
        found += [char for char in typed if fold(char) in folded]
    return found


def _is_typed_twice(message: str) -> bool:
    """True when an accent, or the space between the same two words, is typed in two ways."""
    composed = unicodedata.normalize("NFC", message)
    if message != composed and any(
        0 < message.count(char) < composed.count(char)
        for char in set(composed)
        if not char.isascii()
    ):
        return True
    if not _ODD_SPACE.search(message):
        return False
    spaces: dict[tuple[str, str], str] = {}
    for one, two in pairwise(tokenize(message)):
        space = composed[one.end : two.start]
        if two.gap and spaces.setdefault((one.low, two.low), space) != space:
            return True
    return False


def _is_part(written: str, message: str) -> bool:
    """True when the note stands in the message as it was typed, its first letter aside."""
    return clean(written) == written and written.strip(_STOPS)[1:] in message


def _keeps_order(family: str, message: str, written: str) -> bool:
    """False at "open with ”, close with “" for the same the other way round."""
    if not any(char in written for char in family):
        return True
    said, told = ("".join(char for char in text if char in family) for text in (message, written))
    if not said:
        return True
    return told in said if len(set(said)) > 1 else set(told) == set(said)
