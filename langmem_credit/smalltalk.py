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
    own, english = language.merged(_FIELDS), languages.load("en").merged(_FIELDS)
    index = 0
    while index < len(tokens):
        length = own.match_at(tokens, index)
        if own is not english:
            length = max(length, english.match_at(tokens, index))
        if not length and (not tokens[index].word or tokens[index].low.isdigit()):
            length = 1
        if not length:
            return False
        index += length
    return True
