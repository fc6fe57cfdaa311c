"""What other languages need to show that words should last: verbs in the last place, topics first.

All of it is driven by fields that a language's file may leave out; English leaves all of them out.
"""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .words import Token, quoted_mask, strip_final_stop


def has_lasting_phrase(tokens: Sequence[Token], language: Language) -> bool:
    """True when an unquoted phrase such as "always" stands there, or opens a clause.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> has_lasting_phrase(tokenize("Borra la base de datos para siempre"), load("es"))
    False
    """
    mask = quoted_mask(tokens)
    # "para siempre" (for good) is not "siempre" (always).
    other = {
        index + k
        for index, length in language.phrases("strong_not").find(tokens)
        for k in range(length)
    }
    if any(
        not mask[index] and index not in other
        for index, _ in language.phrases("strong").find(tokens)
    ):
        return True
    # "以后" opens a rule; behind a number it is a time ("三天以后").
    return any(
        (index == 0 or not tokens[index - 1].word) and not mask[index] and index not in other
        for index, _ in language.phrases("strong_first").find(tokens)
    )


def holds_errand(tokens: Sequence[Token], language: Language) -> bool:
    """True when the verb of an errand stands anywhere ("Den Branch bitte löschen")."""
    return language.phrases("errands").found_in(tokens)


def is_prohibition(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "no subas …", and at "lösche keine …" where the denial follows the verb.

    An order may hide behind a turn: "No borres el repo, sino la base".
    """
    length = language.phrases("prohibitions").match_at(tokens, start)
    if length:
        following = start + length
        turned = language.phrases("turns").found_in(tokens[start:])
        return not turned or (
            following < len(tokens) and tokens[following].low in language.words("working")
        )
    behind = start + 1
    while behind < len(tokens) and tokens[behind].low in language.words("between_verb_and_denial"):
        behind += 1
    return (
        behind < len(tokens)
        and tokens[behind].low in language.words("denials_behind_verb")
        and not language.phrases("turns").found_in(tokens[start:])
    )


def last_verb_lasts(tokens: Sequence[Token], start: int, language: Language) -> bool | None:
    """Whether an order with its verb in the last place is a way of working; None for no such order.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> last_verb_lasts(tokenize("Commits auf Englisch schreiben"), 0, load("de"))
    True
    >>> last_verb_lasts(tokenize("Die Datenbank klonen"), 0, load("de"))
    False
    """
    endings = tuple(language.items("final_endings"))
    bare = strip_final_stop(tokens)
    if not endings or len(bare) - start < 2:
        return None
    last = bare[-1]
    if not last.word or last.text != last.low or not last.low.endswith(endings):
        return None
    if any(token.low in language.words("finite") for token in bare[start:-1]):
        return None
    return last.low in language.words("final_working")
