"""Should these words last: a statement or a way of working, not an errand for today.

Each clause must show a sign of lasting. An order with a verb that no list knows shows none, so it
stays unconfirmed: "Delete the staging database." is a task.
"""

from __future__ import annotations

from collections.abc import Sequence

from langmem_credit.languages import Language
from langmem_credit.words import Token, count_words, quoted_mask, split_sentences


def lasts(tokens: Sequence[Token], language: Language) -> bool:
    """True when every sentence of the text shows a sign that it should last."""
    parts = [part for part in split_sentences(tokens, strict=False) if count_words(part)]
    return bool(parts) and all(_sentence_lasts(part, language) for part in parts)


def has_strong_sign(tokens: Sequence[Token], language: Language) -> bool:
    """True when a word such as "always" says that it should last.

    Words between quotation marks do not count.
    """
    mask = quoted_mask(tokens)
    if any(not mask[index] for index, _ in language.phrases("strong").find(tokens)):
        return True
    start = _skip(tokens, 0, language)
    return _is_stopping(tokens, start, language)


def has_own_sign(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words speak of the speaker or say that they should last."""
    first_person = language.words("weak_first_person")
    return any(token.low in first_person for token in tokens) or has_strong_sign(tokens, language)


def _sentence_lasts(tokens: Sequence[Token], language: Language) -> bool:
    if has_strong_sign(tokens, language):
        return True
    if language.phrases("one_off").found_in(tokens):
        return False
    start = _skip(tokens, 0, language)
    if start >= len(tokens):
        return False
    if language.phrases("conditionals").match_at(tokens, start):
        return True
    return _clause_lasts(tokens, start, language)


def _clause_lasts(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """The clause from tokens[start], once adverbs and openers are behind us."""
    if start >= len(tokens):
        return False
    low = tokens[start].low
    length = language.phrases("requests").match_at(tokens, start)
    if length:
        return _order_lasts(tokens, _skip(tokens, start + length, language), language)
    if language.phrases("prohibitions").match_at(tokens, start):
        return True
    if low.isdigit():
        return True
    if low in language.words("leading_prepositions"):
        return _after_comma_lasts(tokens, start, language)
    if low in language.words("subjects"):
        return True
    if _is_known_verb(low, language):
        return _order_lasts(tokens, start, language)
    if _lead_in_lasts(tokens, start, language):
        return True
    return _is_statement(tokens, start, language)


def _skip(tokens: Sequence[Token], start: int, language: Language) -> int:
    """The index of the first word that is no adverb, opener or mark."""
    index = start
    while index < len(tokens):
        length = language.phrases("openers").match_at(tokens, index)
        if not length and not tokens[index].word:
            length = 1
        if not length and tokens[index].low in language.words("adverbs"):
            length = 1
        if not length:
            length = language.phrases("openers_before_separator").match_at(tokens, index)
            after = index + length
            if length and (after >= len(tokens) or tokens[after].word):
                length = 0
        if not length:
            break
        index += length
    return index


def _is_known_verb(low: str, language: Language) -> bool:
    return any(
        low in language.words(field) for field in ("working", "generic_working", "one_off_verbs")
    )


def _is_stopping(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "stop adding …", an order that lasts by its form."""
    return (
        start + 1 < len(tokens)
        and tokens[start].low in language.words("stopping")
        and any(tokens[start + 1].low.endswith(end) for end in language.items("stopping_endings"))
    )


def _order_lasts(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the order that begins at tokens[start] is a way of working."""
    if start >= len(tokens):
        return False
    low = tokens[start].low
    if language.phrases("prohibitions").match_at(tokens, start):
        return True
    if low in language.words("one_off_verbs"):
        return False
    if low in language.words("working"):
        return True
    if low in language.words("generic_working"):
        return _is_generic(tokens, start + 1, language)
    return _has_marker(tokens, start, language)


def _is_generic(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the object is a kind of thing ("tests"), not one thing ("the test")."""
    if start >= len(tokens):
        return False
    if tokens[start].low not in language.words("articles"):
        return True
    return _has_marker(tokens, start, language)


def _has_marker(tokens: Sequence[Token], start: int, language: Language) -> bool:
    return any(token.low in language.words("generic_markers") for token in tokens[start + 1 :])


def _after_comma_lasts(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """The main clause behind "For X, …" or "Before doing Y, …"."""
    for index in range(start, len(tokens) - 1):
        if tokens[index].text in ",，、:":
            return _clause_lasts(tokens, _skip(tokens, index + 1, language), language)
    return False


def _lead_in_lasts(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """The rest behind a short lead-in such as "Naming: …"."""
    for index in range(start + 1, min(start + 8, len(tokens) - 1)):
        if tokens[index].text in ":：-" and tokens[index + 1].gap:
            rest = _skip(tokens, index + 1, language)
            return _clause_lasts(tokens, rest, language)
    return False


def _is_statement(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when a noun comes first and a finite verb follows in the same clause.

    The first word is in no list, so it might be a verb that no list knows: an article or object
    pronoun right behind it says so ("nuke the old files that are …").
    """
    if start + 1 >= len(tokens) or tokens[start + 1].low in language.words("articles"):
        return False
    finite = language.words("finite")
    subordinators = language.words("subordinators")
    for token in tokens[start + 1 :]:
        if token.low in subordinators:
            return False
        if token.low in finite:
            return True
    return False
