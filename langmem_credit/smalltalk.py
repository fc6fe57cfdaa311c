"""Messages of nothing but greetings, thanks and answers: there is nothing in them to keep."""

from __future__ import annotations

from collections.abc import Sequence

from . import languages
from .languages import Language
from .words import Token

_FIELDS = (
    *("chatter", "greetings", "closers", "closers_after_separator"),
    *("openers", "openers_before_separator", "openers_before_stop"),
)


def is_small_talk(tokens: Sequence[Token], language: Language) -> bool:
    """True when nothing but greetings, thanks, answers, digits and marks is there.

    >>> from langmem_credit.words import tokenize
    >>> [is_small_talk(tokenize(t), languages.load("en")) for t in ("ok, thanks!", "I use tabs")]
    [True, False]
    """
    english = languages.load("en")
    spoken = (language,) if language is english else (language, english)
    index = 0
    while index < len(tokens):
        length = max(
            each.phrases(field).match_at(tokens, index) for each in spoken for field in _FIELDS
        )
        if not length and (not tokens[index].word or tokens[index].low.isdigit()):
            length = 1
        if not length:
            return False
        index += length
    return True
