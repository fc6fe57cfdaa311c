"""What other languages need to show that words should last: verbs in the last place, topics first.

All of it is driven by fields that a language's file may leave out; English leaves all of them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .endings import chains, end_lasts, forbids, is_verb_final, may_last, points
from .languages import Language
from .words import Token, quoted_mask, strip_final_stop

_OPENING = (
    *("sign_openers", "ways", "statements", "prohibitions", "strong", "errands"),
    *("conditionals", "place_front", "recurrences"),
)
_SIGNS = ("strong", "recurrences")


def has_lasting_phrase(tokens: Sequence[Token], language: Language) -> bool:
    """True when an unquoted phrase such as "always" stands there, or opens a clause.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> has_lasting_phrase(tokenize("Borra la base de datos para siempre"), load("es"))
    False
    """
    signs = [index for index, _ in language.phrases("strong").find(tokens)]
    # "以后" opens a rule; behind a number it is a time ("三天以后").
    signs += [
        index
        for index, _ in language.phrases("strong_first").find(tokens)
        if index == 0 or not tokens[index - 1].word
    ]
    if not signs:
        return False
    mask = quoted_mask(tokens)
    # "para siempre" (for good) is not "siempre" (always).
    other = language.phrases("strong_not").covered(tokens)
    return any(not mask[index] and index not in other for index in signs)


def is_errand_with_sign(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when an errand's verb comes first and the sign of lasting is not its own.

    "Sag ihm, dass ich nie fehle" is said once; so is "Manda un correo a cada cliente".
    """
    if _errs_first(tokens, start, language):
        return True
    if is_verb_final(language):
        sign = next(language.merged(_SIGNS).find(tokens), (len(tokens), 0))[0]
        return chains(tokens[start : sign + 1], language) or not may_last(tokens[start:], language)
    openers = language.phrases("sign_openers").texts
    if openers and not _opens_sign(tokens, start, language):
        return True
    low = tokens[start].low if start < len(tokens) else ""
    if not any(low in language.words(field) for field in ("one_off_verbs", "other_verbs")):
        return False
    borders = language.words("object_clauses")
    if not borders:
        return False
    border = next(
        (index for index in range(start, len(tokens)) if tokens[index].low in borders), len(tokens)
    )
    own = tokens[:border]
    # "siempre que" begins before its border.
    if border and language.phrases("strong").match_at(tokens, border - 1) > 1:
        return False
    if low in language.words("one_off_verbs"):
        return not language.phrases("polite_signs").found_in(own)
    return not has_lasting_phrase(own, language)


def _opens_sign(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True where the first word is known, so that the sign is surely that of the speaker."""
    known = language.merged(_OPENING).match_at(tokens, start) > 0
    return known or tokens[start].low in language.words("subjects")


def _errs_first(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True when an errand stands before the comma, and the sign only behind: "删掉数据库,总是…"."""
    comma = next((k for k in range(start + 1, len(tokens)) if tokens[k].text in ",;\uff0c"), None)
    joiner = next(language.phrases("joiners").find(tokens[start:]), None)
    if joiner is not None:
        comma = min(comma or len(tokens), start + joiner[0])
    own = tokens[start:comma]
    if comma is None or not own or own[-1].low in language.words("lead_endings"):
        return False
    fields = ("subordinators", "leading_prepositions", "subjects", "pronouns")
    if language.phrases("conditionals").match_at(own, 0) or any(
        own[0].low in language.words(field) for field in fields
    ):
        return False
    return holds_errand(own, language) and not has_lasting_phrase(own, language)


def is_irreal(tokens: Sequence[Token], language: Language) -> bool:
    """True at "wenn ich reich wäre, würde ich …", not at the request "es wäre gut, wenn du …"."""
    words = language.words("irreal")
    irreal = sum(token.low in words for token in tokens) if words else 0
    if not irreal or language.phrases("requests").match_at(tokens, 0):
        return False
    conditionals = language.phrases("conditionals")
    return conditionals.match_at(tokens, 0) > 0 or (irreal > 1 and conditionals.found_in(tokens))


def judge_clause(tokens: Sequence[Token], start: int, language: Language) -> bool | None:
    """Whether the clause from tokens[start] lasts by its phrases alone; None when they do not say.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> [judge_clause(tokenize(text), 0, load("zh")) for text in ("别删除这个分支", "这个分支删掉")]
    [True, False]
    """
    if asks_first(tokens[start:], language) or is_prohibition(tokens, start, language):
        return True
    if is_verb_final(language):
        return not holds_errand(tokens[start:], language) and end_lasts(tokens[start:], language)
    if holds_errand(tokens[start:], language):
        return False
    if points(tokens[start:], language):
        return False
    if any(language.phrases(field).match_at(tokens, start) for field in ("ways", "statements")):
        return True
    length = language.phrases("using_ways").match_at(tokens, start)
    if length:
        rest = tokens[start + length :]
        ascii_named = bool(rest) and rest[0].word and rest[0].low.isascii()
        return ascii_named or language.phrases("way_objects").match_at(rest, 0) > 0
    if tokens[start].low in language.words("pronouns"):
        return None
    return last_verb_lasts(tokens, start, language)


def asks_first(tokens: Sequence[Token], language: Language) -> bool:
    """True at "frag mich, bevor du löschst", where the errand is what asking comes before."""
    place = next(language.phrases("asks_first").find(tokens), None)
    if place is None:
        return False
    index, length = place
    beside = (*tokens[:index], *tokens[index + length :])
    joining = language.words("list_words")
    return not any(token.low in joining or token.text in ",;:\uff0c" for token in beside)


def holds_errand(tokens: Sequence[Token], language: Language) -> bool:
    """True when the verb of an errand stands anywhere: "Den Branch bitte löschen", "bórrala"."""
    if language.phrases("errands").found_in(tokens):
        return True
    endings = tuple(language.items("errand_endings"))
    if endings and any(token.low.endswith(endings) and not token.low.isascii() for token in tokens):
        return True
    return _orders_later(tokens, language)


def is_prohibition(tokens: Sequence[Token], start: int, language: Language) -> bool:
    """True at "no subas …", and at "lösche keine …" where the denial follows the verb.

    An order may hide behind it: "No borres el repo, sino la base", "Kein Problem, lösch sie".
    """
    rest = tokens[start:]
    if is_verb_final(language):
        return forbids(rest, language) and not holds_errand(rest, language)
    length = language.phrases("prohibitions").match_at(tokens, start)
    if length:
        following = start + length
        if language.phrases("turns").found_in(rest):
            working = language.words("working")
            return following < len(tokens) and tokens[following].low in working
        return not _errs_later(rest, language)
    inside = next(language.phrases("prohibitions_inside").find(rest), None)
    if inside is not None and not language.phrases("turns").found_in(rest):
        return not holds_errand(rest[: inside[0]], language) and not _errs_later(rest, language)
    denials = language.words("denials_behind_verb")
    if not denials or language.phrases("turns").found_in(rest) or _errs_later(rest, language):
        return False
    if last_verb_lasts(tokens, start, language) is not None:
        return any(token.low in denials for token in rest)
    behind = start + 1
    while behind < len(tokens) and tokens[behind].low in language.words("between_verb_and_denial"):
        behind += 1
    return behind < len(tokens) and tokens[behind].low in denials


def _orders_later(tokens: Sequence[Token], language: Language) -> bool:
    """True when a verb that may be an errand's opens a clause behind a comma."""
    if not language.items("errands"):
        return False
    return any(
        one.text in ",;:-、"
        and (two.low in language.words("one_off_verbs") or two.low in language.words("other_verbs"))
        and two.low not in language.words("subjects")
        for one, two in pairwise(tokens)
    )


def _errs_later(tokens: Sequence[Token], language: Language) -> bool:
    """True when an errand stands behind the first comma."""
    comma = next((index for index, token in enumerate(tokens) if token.text in ",;:-、"), None)
    return comma is not None and holds_errand(tokens[comma:], language)


def last_verb_lasts(tokens: Sequence[Token], start: int, language: Language) -> bool | None:
    """Whether an order with its verb in the last place is a way of working; None for no such order.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> last_verb_lasts(tokenize("Tabs statt Leerzeichen verwenden"), 0, load("de"))
    True
    >>> last_verb_lasts(tokenize("Die Datenbank klonen"), 0, load("de"))
    False
    """
    endings = tuple(language.items("final_endings"))
    bare = strip_final_stop(tokens)
    if not endings or len(bare) - start < 2:
        return None
    last = bare[-1]
    particle = last.low in language.words("final_particles")
    if not last.word or last.text != last.low or not (particle or last.low.endswith(endings)):
        return None
    others = language.words("finite") | language.words("object_clauses")
    if any(token.low in others for token in bare[start:-1]):
        return None
    return last.low in language.words("final_working")
