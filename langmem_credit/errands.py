"""What makes an order one for now: a limit in time, one named thing, an object only pointed at.

All of it is driven by fields that a language's file may leave out.
"""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .words import Token, count_words, quoted_mask, strip_final_stop

_MOST_JOINING = 8  # words such as "and then also"


def is_limited(tokens: Sequence[Token], language: Language) -> bool:
    """True at "just this once, always …": such a limit beats every sign of lasting.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> is_limited(tokenize("Just this once, always push"), load("en"))
    True
    """
    mask, lasting = quoted_mask(tokens), language.phrases("limits_not").covered(tokens)
    return any(
        not mask[index] and index not in lasting
        for index, _ in language.phrases("limits").find(tokens)
    )


def is_dated(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words begin or end with a day: "today always …", "never … until Friday".

    In the middle such words name things ("include today in the range").
    """
    lasting = language.phrases("limits_not").covered(tokens)
    words = [index for index, token in enumerate(tokens) if token.word]
    leading = language.words("adverbs") | language.words("limits_behind")
    first = next((index for index in words if tokens[index].low not in leading), 0)
    return any(
        index not in lasting and (index <= first or index + length > words[-1])
        for index, length in language.phrases("limits_at_edge").find(tokens)
    )


def is_for_now(tokens: Sequence[Token], language: Language) -> bool:
    """True at "not yet" and "now", which make a prohibition one for this moment.

    "now()" is code and says nothing of the kind.
    """
    mask = quoted_mask(tokens)
    for index, length in language.phrases("for_now").find(tokens):
        behind = tokens[index + length] if index + length < len(tokens) else None
        if not mask[index] and (behind is None or behind.gap or behind.text in ",.!;\uff0c\u3002"):
            return True
    return False


def passes(tokens: Sequence[Token], language: Language) -> bool:
    """True when the whole sentence is a state that passes: "I'm hungry", "prod is down"."""
    bare = strip_final_stop(tokens)
    return language.phrases("passing_states").match_at(bare, 0) == len(bare)


def only_points(tokens: Sequence[Token], language: Language) -> bool:
    """True when the object is only pointed at, so that nobody else could tell what is meant.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> [only_points(tokenize(text), load("en")) for text in ("use the second one", "use tabs")]
    [True, False]
    """
    pointed = language.phrases("pointing_objects")
    passed = language.phrases("pointing_beside")
    index, found = 0, False
    while index < len(tokens):
        length = pointed.match_at(tokens, index) or _choice_length(tokens, index, language)
        if length:
            found = True
        else:
            length = passed.match_at(tokens, index) or (
                not tokens[index].word or _may_stand_beside(tokens[index].low, language)
            )
        if not length:
            return False
        index += length
    return found


def _choice_length(tokens: Sequence[Token], index: int, language: Language) -> int:
    """The length of "option B" or "number 2", which name one of what was offered."""
    if tokens[index].low not in language.words("choices") or index + 1 >= len(tokens):
        return 0
    following = tokens[index + 1]
    return 2 if following.word and (len(following.low) == 1 or following.low.isdigit()) else 0


def _may_stand_beside(low: str, language: Language) -> bool:
    """True for verbs, the speaker and denials, but not for "always" and "never"."""
    if low in language.phrases("polite_signs"):
        return False
    fields = ("working", "generic_working", "one_off_verbs", "other_verbs", "adverbs")
    return low.isdigit() or any(
        low in language.words(field) for field in (*fields, "weak_first_person", "negations")
    )


def find_own_end(tokens: Sequence[Token], start: int, language: Language) -> int:
    """The index at which the clause of the order at tokens[start] ends.

    A sign of lasting behind it is not the order's: "Delete the photos | I like", "Fix the bug |
    and always run the tests".
    """
    borders, joining = language.words("clause_borders"), language.words("list_words")
    for index in range(start + 1, len(tokens)):
        token = tokens[index]
        if token.low in borders:
            return index
        joined = token.low in joining or token.text in ",;:\uff0c" or token.text + token.gap == "- "
        # "Delete the database never ask me": the sign opens an order of its own.
        alone = index > start + 1 and token.low in language.phrases("polite_signs")
        if (joined or alone) and _opens_order(tokens, index, language):
            # "Log format: always JSON" tells what is logged.
            if token.text != ":" or tokens[start + 1].low in language.words("articles"):
                return index
    return len(tokens)


def _opens_order(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """True when another order, or a sign of lasting alone, stands behind "and" or a comma."""
    signed = False
    for _ in range(_MOST_JOINING):
        if index >= len(tokens):
            return signed
        low = tokens[index].low
        length = language.phrases("lasting_openers").match_at(tokens, index) or (
            low in language.phrases("polite_signs")
        )
        signed = signed or length > 0
        passed = low in language.words("list_words") or low in language.words("adverbs")
        if not length and tokens[index].word and not passed:
            break
        index += length or 1
    verbs = ("working", "generic_working", "one_off_verbs", "other_verbs")
    return index < len(tokens) and (
        language.phrases("prohibitions").match_at(tokens, index) > 0
        or any(tokens[index].low in language.words(field) for field in verbs)
    )


def is_sign_alone(tokens: Sequence[Token], language: Language) -> bool:
    """True at the ", always" behind "Push to main if the tests pass", which makes a rule of it."""
    signs, joining = language.phrases("polite_signs"), language.words("list_words")
    return all(not token.word or token.low in signs or token.low in joining for token in tokens)


def recurs(tokens: Sequence[Token], language: Language) -> bool:
    """True at "every Monday" and "donnerstags", but not at "the sales of every Monday"."""
    mask = quoted_mask(tokens)
    behind = language.words("recurrences_not_behind")
    borders = language.words("clause_borders")
    end = next((k for k in range(1, len(tokens)) if tokens[k].low in borders), len(tokens))
    return any(
        index < end and not mask[index] and not (index and tokens[index - 1].low in behind)
        for index, _ in language.phrases("recurrences").find(tokens)
    )


def is_remembered(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words ask to remember a statement of the speaker, a dated one too.

    "Remember I have a dentist appointment tomorrow" is worth keeping, with its date.
    """
    index, asked = 0, False
    while index < len(tokens):
        length = language.phrases("remembering").match_at(tokens, index)
        asked = asked or bool(length)
        if not length and tokens[index].word:
            length = int(tokens[index].low in language.words("courtesy"))
        elif not length:
            length = 1
        if not length:
            break
        index += length
    if not asked or index >= len(tokens) or count_words(tokens[index:]) < 2:
        return False
    if language.phrases("requests").match_at(tokens, index):
        return False
    return tokens[index].low.partition("'")[0] in language.words("weak_first_person")


def is_permission(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "you may push to feature branches without asking", for a kind of thing only."""
    length = language.phrases("permissions").match_at(tokens, start)
    if not length or start + length + 1 >= len(tokens):
        return False
    definite = tokens[start + length + 1].low in language.words("articles")
    return not definite and language.phrases("permitting").found_in(tokens)
