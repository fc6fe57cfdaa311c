"""What stands in front of a statement and says nothing of its own: "ok, ", "please", "remember"."""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .letters import parts_words
from .words import Token, separates

_FIELDS = (
    *("openers", "openers_before_self", "openers_before_separator", "openers_before_stop"),
    *("corrections", "openers_sharing"),
)
_PARTING = frozenset(",;:\u2013\u2014-\uff0c\uff1b\uff1a")


def opener_length(tokens: Sequence[Token], index: int, language: Language) -> tuple[int, bool]:
    """(how many tokens the longest opener here has, whether it goes only before its mark).

    (0, True) when none stands there.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> opener_length(tokenize("Remember this: I use tabs"), 0, load("en"))
    (2, True)
    """
    # Most words open nothing; this is asked of every sentence many times.
    if not language.merged(_FIELDS).match_at(tokens, index):
        return 0, True
    free = language.phrases("openers").match_at(tokens, index)
    before_self = language.phrases("openers_before_self").match_at(tokens, index)
    if before_self > free and _speaks_of_self(tokens, index + before_self, language):
        free = before_self
    sharing = language.phrases("openers_sharing").match_at(tokens, index)
    # "Remember for the team that wins" speaks of a team.
    if sharing > free and _opens_clause(tokens, index + sharing, language):
        free = sharing
    if free and not parts_words(tokens, index + free):
        # "꼭" is no opener of "꼭지".
        free = 0
    marked = _before_mark(tokens, index, language)
    return (marked, True) if marked > free or not free else (free, False)


def find_openers(tokens: Sequence[Token], language: Language) -> set[int]:
    """The indexes of all words in openers: "don't forget that" takes nothing back."""
    found = language.phrases("openers").covered(tokens)
    index = 0
    while index < len(tokens):
        length = opener_length(tokens, index, language)[0] or not tokens[index].word
        if not length:
            break
        found.update(range(index, index + length))
        index += length
    return found


def _speaks_of_self(tokens: Sequence[Token], index: int, language: Language) -> bool:
    return index < len(tokens) and tokens[index].low.partition("'")[0] in language.words(
        "weak_first_person"
    )


def _opens_clause(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """False at "… the team that I manage, prefer tabs", where "that I manage" says which team."""
    if any(token.text in _PARTING for token in tokens[index:]):
        return False
    return _speaks_of_self(tokens, index, language) or (
        index < len(tokens) and tokens[index].low in language.words("determiners")
    )


def _before_mark(tokens: Sequence[Token], index: int, language: Language) -> int:
    """Length of "ok" before a mark, or of an adjective such as "great" before all but a comma.

    "That's wrong, I live in Rome" takes back what was said before; "That's wrong: …" what follows.
    "Right: I use tabs; left: never" speaks of the right.
    """
    topics = language.phrases("openers_not_before_colon")
    for field, without in (("openers_before_separator", ""), ("openers_before_stop", ",-")):
        length = language.phrases(field).match_at(tokens, index)
        if length and separates(tokens, index + length):
            mark = tokens[index + length].text
            if mark in ":\uff1a" and topics.match_at(tokens, index) == length:
                return 0
            if mark not in without:
                return length
    length = language.phrases("corrections").match_at(tokens, index)
    if length and separates(tokens, index + length) and tokens[index + length].text not in ":-":
        return length
    return 0
