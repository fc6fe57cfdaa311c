"""The idea as it was first described, read plainly: for comparison only.

A note is credited when its quote was typed, the note's content words stand in the quote in the
same order, and every negation of the quote is in the note and none besides. Words of the quote
may be left out, which is what lets false notes through.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_NEGATIONS = """
not no never none nobody nothing neither nor without cannot don't doesn't didn't can't won't isn't
aren't wasn't weren't couldn't shouldn't wouldn't mustn't hasn't haven't dont
"""
_FUNCTION_WORDS = """
the a an and or but so is are was were be been being am do does did has have had will would shall
should can could may might must to of in on at for with from by as it its this that these those
there here i me my mine we us our you your he him his she her they them their user user's who which
what if when then than too very just also please
"""
_NEGATING = frozenset(_NEGATIONS.split())
_LEFT_OUT = frozenset(_FUNCTION_WORDS.split()) | _NEGATING


def words_of(text: str) -> list[str]:
    """The text's words in lower case."""
    return _WORD.findall(text.lower().replace("’", "'"))


def content_of(text: str) -> list[str]:
    """The words that are neither function words nor negations, without a final s."""
    return [word.removesuffix("s") for word in words_of(text) if word not in _LEFT_OUT]


def negations_of(text: str) -> list[str]:
    """The negations, one word for all of them, so that "don't" and "does not" are alike."""
    return ["not" for word in words_of(text) if word in _NEGATING]


def is_credited(note: str, said: str, heard: str) -> bool:
    """True when the plain idea would credit the note.

    >>> typed = "If the tests pass, push to main"
    >>> is_credited("Push to main", typed, typed)
    True
    >>> is_credited("Push to main", "Never push to main", "Never push to main")
    False
    """
    if not words_of(note) or " ".join(words_of(said)) not in " ".join(words_of(heard)):
        return False
    rest = iter(content_of(said))
    if not all(word in rest for word in content_of(note)):
        return False
    return negations_of(note) == negations_of(said)
