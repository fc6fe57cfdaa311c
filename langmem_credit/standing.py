"""Should these words last: a statement or a way of working, not an errand for today.

Each clause must show a sign of lasting. An order with a verb that no list knows shows none, so it
stays unconfirmed: "Delete the staging database." is a task. What each word list holds is told in
`languages/fields.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .clauses import has_lasting_phrase, is_errand_with_sign, is_prohibition, judge_clause
from .errands import (
    find_own_end,
    is_dated,
    is_for_now,
    is_limited,
    is_permission,
    is_remembered,
    is_sign_alone,
    only_points,
    passes,
    recurs,
    speaks_of_time,
)
from .languages import Language
from .objects import has_marker, is_generic, names_one_thing
from .openers import opener_length
from .smalltalk import is_small_talk
from .statements import has_finite_verb, is_no_verb, is_predicate, is_statement
from .words import Token

# "a: a: a: …" would otherwise be followed to Python's own limit.
_MOST_NESTED = 4


def lasts(sentences: Sequence[Sequence[Token]], language: Language) -> bool:
    """True when every one of the sentences shows a sign that it should last.

    Greetings between them need none, and "use that one" needs another that tells what is meant.
    """
    parts = [
        part
        for part in sentences
        if any(token.word for token in part) and not is_small_talk(part, language)
    ]
    if all(only_points(part, language) for part in parts):
        return False
    return all(_sentence_lasts(part, language) for part in parts)


def has_strong_sign(tokens: Sequence[Token], language: Language) -> bool:
    """True when a word such as "always" says that it should last.

    Words between quotation marks do not count.
    """
    if has_lasting_phrase(tokens, language):
        return True
    start = _skip(tokens, 0, language)
    return _is_stopping(tokens, start, language)


def has_own_sign(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words speak of the speaker or say that they should last."""
    first_person = language.words("weak_first_person")
    return any(token.low in first_person for token in tokens) or has_strong_sign(tokens, language)


def is_order(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words open with a prohibition or a verb that some list knows."""
    start = _skip_signs(tokens, language)
    if start >= len(tokens):
        return False
    return (
        language.phrases("prohibitions").match_at(tokens, start) > 0
        or language.phrases("ways").match_at(tokens, start) > 0
        or _is_stopping(tokens, start, language)
        or _is_known_verb(tokens[start].low, language)
    )


def opens_errand(tokens: Sequence[Token], language: Language) -> bool:
    """True when the first verb is that of an errand: "always cancel …"."""
    start = _skip_signs(tokens, language)
    return (
        start < len(tokens)
        and tokens[start].low in language.words("one_off_verbs")
        and not _is_stopping(tokens, start, language)
    )


def asks_about_ability(tokens: Sequence[Token], language: Language) -> bool:
    """True when "can you always …" may ask what one can: "store passwords", "use my card".

    Only ways to word or write something are surely no question.
    """
    ways = language.phrases("polite_ways")
    start = _skip_signs(tokens, language)
    if start >= len(tokens) or _is_stopping(tokens, start, language):
        return False
    abilities = language.phrases("polite_abilities")
    if abilities.found_in(tokens):
        # "Can you always answer without internet?"
        return True
    if not language.items("agreement"):
        return not ways.found_in(tokens)
    if tokens[start].low in language.words("polite_ways_bare"):
        # "Can you never use the web?"
        return any(token.low in language.words("articles") for token in tokens[start + 1 :])
    return not ways.match_at(tokens, start)


def asks_about_state(tokens: Sequence[Token], language: Language) -> bool:
    """True when "can you …" goes on with something one is, knows or can, not with an order."""
    start = _skip_signs(tokens, language)
    return start < len(tokens) and tokens[start].low in language.words("states")


def _skip_signs(tokens: Sequence[Token], language: Language) -> int:
    """The index of the first word behind openers, adverbs and signs such as "always"."""
    index = _skip(tokens, 0, language)
    while index < len(tokens):
        length = language.phrases("strong").match_at(tokens, index)
        if not length or tokens[index].low in language.words("states"):
            break
        index = _skip(tokens, index + length, language)
    return index


def _sentence_lasts(tokens: Sequence[Token], language: Language) -> bool:
    """True when the sentence shows such a sign, and no limit that takes it away."""
    timed = speaks_of_time(tokens, language)
    if (timed and is_limited(tokens, language)) or passes(tokens, language):
        return False
    if is_remembered(tokens, language):
        return True
    start = _skip(tokens, 0, language)
    if start >= len(tokens) or (timed and is_dated(tokens[start:], language)):
        return False
    if timed and is_for_now(tokens, language) and is_prohibition(tokens, start, language):
        return False
    if has_strong_sign(tokens, language) or (timed and recurs(tokens, language)):
        order = _find_order(tokens, start, language)
        border = len(tokens) if order is None else find_own_end(tokens, order, language)
        own = tokens[:border]
        if (
            border < len(tokens)
            and not has_strong_sign(own, language)
            and not recurs(own, language)
        ):
            # "Fix the bug and always run the tests": the sign is not the first order's own.
            return _clause_lasts(own, start, language) or (
                is_sign_alone(tokens[border:], language)
                and language.phrases("conditionals").found_in(own)
            )
        if not is_errand_with_sign(tokens, start, language):
            return True
    if language.phrases("one_off").found_in(tokens[start:]):
        return False
    if any(token.low in language.words("restrictors") for token in tokens[: start + 1]):
        return True
    return _clause_lasts(tokens, start, language)


def _clause_lasts(tokens: Sequence[Token], start: int, language: Language, nested: int = 0) -> bool:
    """The clause from tokens[start], once adverbs and openers are behind us.

    The exits stand in the order of what they know. First the forms that decide whatever verb
    follows (a condition, a request). Then what the language's own phrases say, since they name
    errands and ways of working that no later rule could tell. Then the first word: a subject makes
    a statement, a preposition a lead-in, a known verb an order. Only a first word that nothing
    knows is left to the shape of the clause, and there a doubt means an order, which fails.
    """
    if start >= len(tokens) or nested > _MOST_NESTED:
        return False
    low = tokens[start].low
    if language.phrases("conditionals").match_at(tokens, start):
        return True
    requested = _request_lasts(tokens, start, language, nested)
    if requested is not None:
        return requested
    known = judge_clause(tokens, start, language)
    if known is not None:
        return known
    if low in language.words("contracted_subjects"):
        return is_predicate(tokens, start + 1, language)
    if low.isdigit() or low.partition("'")[0] in language.words("subjects"):
        return True
    if low in language.words("leading_prepositions"):
        if _is_keyword(tokens, start):
            return is_no_verb(tokens[start], language)
        return _after_comma_lasts(tokens, start, language, nested)
    if _is_known_verb(low, language) and not _names_a_subject(tokens, start, language):
        return _order_lasts(tokens, start, language)
    return _lead_in_lasts(tokens, start, language, nested) or is_statement(tokens, start, language)


def _request_lasts(
    tokens: Sequence[Token], start: int, language: Language, nested: int
) -> bool | None:
    """Whether "you must …", "I want you to …" or "you may …" lasts; None for no such request."""
    if is_permission(tokens, start, language):
        return True
    length = language.phrases("obligations").match_at(tokens, start)
    verb = _skip(tokens, start + length, language)
    if length and nested and verb < len(tokens):
        # "After installing it, you need to configure it": the lead makes a step of the duty.
        if tokens[verb].low in language.words("generic_working"):
            return True
    length = length or language.phrases("requests").match_at(tokens, start)
    if not length:
        return None
    return _order_lasts(tokens, _skip(tokens, start + length, language), language)


def _find_order(tokens: Sequence[Token], start: int, language: Language) -> int | None:
    """The index of the verb with which the sentence orders something, or None."""
    length = 0
    for field in ("obligations", "requests"):
        length = length or language.phrases(field).match_at(tokens, start)
    verb = _skip(tokens, start + length, language)
    if verb >= len(tokens) or _names_a_subject(tokens, verb, language):
        return None
    return verb if length or _is_known_verb(tokens[verb].low, language) else None


def _skip(tokens: Sequence[Token], start: int, language: Language) -> int:
    """The index of the first word that is no adverb, opener or mark."""
    index = start
    while index < len(tokens):
        length = opener_length(tokens, index, language)[0]
        if not length and not tokens[index].word:
            length = 1
        if not length and _is_adverb(tokens[index].low, language):
            length = 1
        if not length:
            break
        index += length
    return index


def _is_adverb(low: str, language: Language) -> bool:
    if low in language.words("adverbs"):
        return True
    endings = tuple(language.items("adverb_endings"))
    return bool(endings) and low.endswith(endings) and low not in language.words("not_adverbs")


def _is_known_verb(low: str, language: Language) -> bool:
    fields = ("working", "generic_working", "one_off_verbs", "other_verbs")
    return any(low in language.words(field) for field in fields)


def _names_a_subject(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "Search params are …", where the verb's word belongs to a noun."""
    return (
        start + 2 < len(tokens)
        and tokens[start + 1].word
        and tokens[start + 1].low not in language.words("articles")
        and tokens[start + 2].low in language.words("auxiliaries")
    )


def _names_one(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when the object is one named thing, behind a preposition too: "work on ticket 45"."""
    if start < len(tokens) and tokens[start].low in language.words("leading_prepositions"):
        start += 1
    return start < len(tokens) and names_one_thing(tokens, start, language)


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
    known = judge_clause(tokens, start, language)
    if known is not None:
        return known
    if low in language.words("one_off_verbs"):
        # "Deploy with fly.io" tells how, not what to do now.
        return start + 1 < len(tokens) and tokens[start + 1].low in language.words("manners")
    if low in language.words("ways_with_names"):
        return True
    if low in language.words("generic_working") and low not in language.words("working"):
        return is_generic(low, tokens, start + 1, language)
    if _names_one(tokens, start + 1, language):
        return has_marker(tokens, start, language, "lasting_markers")
    if low in language.words("working"):
        return True
    return has_marker(tokens, start, language)


def _is_keyword(tokens: Sequence[Token], start: int) -> bool:
    """True at capitals before small letters and no comma: "FROM events GROUP BY day" is code."""
    word = tokens[start].text
    return (
        any(char.isupper() for char in word[1:])
        and any(token.text.islower() for token in tokens[start + 1 :])
        and not any(token.text in ",，" for token in tokens[start + 1 :])
    )


def _after_comma_lasts(
    tokens: Sequence[Token], start: int, language: Language, nested: int
) -> bool:
    """The main clause behind "For X, …" or "Before doing Y, …".

    A gerund makes the lead a recurring step, so that any order but an errand lasts behind it.
    """
    recurs = start + 1 < len(tokens) and tokens[start + 1].low.endswith(
        tuple(language.items("gerund_endings")) or ("\0",)
    )
    for index in range(start, len(tokens) - 1):
        if tokens[index].text in ",，、:":
            main = _skip(tokens, index + 1, language)
            if recurs and main < len(tokens):
                low = tokens[main].low
                if low in language.words("generic_working"):
                    return True
            return _clause_lasts(tokens, main, language, nested + 1)
    if any(token.low in language.words("subject_pronouns") for token in tokens[start + 1 :]):
        # "On Mondays I work from home" and "In this repo we use tabs" order nothing.
        return True
    return not recurs and has_finite_verb(tokens, start + 1, language)


def _lead_in_lasts(tokens: Sequence[Token], start: int, language: Language, nested: int) -> bool:
    """The rest behind a short lead-in such as "Naming: …"."""
    for index in range(start + 1, min(start + 8, len(tokens) - 1)):
        if tokens[index].text in ":：-" and tokens[index + 1].gap:
            rest = _skip(tokens, index + 1, language)
            return _clause_lasts(tokens, rest, language, nested + 1)
    return False
