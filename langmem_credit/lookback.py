"""Which questions ask how things stood, whatever words the answer has."""

from __future__ import annotations

from functools import cache

from .languages import read_data
from .words import Phrases, tokenize


def is_looking_back(query: str) -> bool:
    """True for a question about an earlier session or turn as such.

    It shares no word with what it asks for.

    >>> is_looking_back("Where were we last time?"), is_looking_back("上次我们说到哪里？")
    (True, True)
    >>> is_looking_back("which shell do I use")
    False
    """
    return any(True for _ in _phrases().find(tokenize(query)))


@cache
def _phrases() -> Phrases:
    return Phrases(phrase for phrases in read_data("looking_back").values() for phrase in phrases)
