"""Are two values of one subject of the same kind, so that the newer takes the older's place.

Pure, and closed. A copula may give a value or say something else of its subject: "my dog is now
asleep" leaves "my dog is allergic to nuts". So only like replaces like: a number another number
with the same words around it, a name another name where the subject has one, and one of two
opposites ("open", "shut") the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from .languages import Language
from .words import Token, strip_final_stop

# Chinese numerals too.
_DIGITS = (
    "0-9\u96f6\u4e00\u4e8c\u4e24\u5169\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d"
    "\u5341\u767e\u5343\u4e07\u842c\u4ebf\u5104"
)
_NUMBER = re.compile(f"[{_DIGITS}]+(?:[.,][0-9]{{3}})*(?:[.,][0-9]+)?")
_GROUPS = re.compile(r"[+(]*#[)]?(?:[-/ ]?[(]?#[)]?)+")
_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")


def is_another_value(
    old: Sequence[Token], new: Sequence[Token], language: Language, *, opened: bool = False
) -> bool:
    """True where both give the subject a value of the same kind.

    Args:
        old: what the note says.
        new: the sentence that gives the value again, without what opens it.
        opened: it was opened by what corrects: "no, …".
    """
    values = _value_of(old, language), _value_of(new, language)
    if any(value is None for value in values):
        return False
    one, other = (" ".join(value or ()) for value in values)
    if _are_opposites(one, other, language):
        return True
    if one.isdigit() and other.isdigit() and len(one) != len(other):
        # "My phone is now 50"
        return False
    kinds = _kind_of(old, language, opened), _kind_of(new, language, opened)
    return kinds[0] == kinds[1] and any(mark in kinds[0] for mark in "#@^%")


def _place(tokens: Sequence[Token], language: Language) -> int | None:
    copulas = language.words("correction_copulas")
    return next((k for k, token in enumerate(tokens) if token.low in copulas), None)


def _value_of(tokens: Sequence[Token], language: Language) -> list[str] | None:
    """The words behind the copula as they are written, signs of change aside."""
    place = _place(tokens, language)
    if place is None:
        return None
    signs = language.phrases("correction_signs")
    gone = {index + k for index, length in signs.find(tokens) for k in range(length)}
    words: list[str] = []
    for index, token in enumerate(strip_final_stop(tokens)):
        if index <= place or index in gone:
            continue
        if words and not token.gap and index - 1 not in gone and index - 1 > place:
            words[-1] += token.text
        else:
            words.append(token.text)
    return words


def _kind_of(tokens: Sequence[Token], language: Language, opened: bool) -> str:
    """The value with "#" for numbers, "@" for mail, "^" for names and "%1" for a kind of unit."""
    place = _place(tokens, language)
    words = _value_of(tokens, language)
    if place is None or not words:
        return ""
    # "MY DOG IS NOW ASLEEP" and "My Dog Is Now Asleep" tell no names.
    cased = tokens[place].text.islower()
    naming = language.words("correction_naming")
    named = tokens[place].low in naming or _has_slot(tokens[:place], language)
    article = opened and len(words) == 2 and words[0].lower() in language.words("articles")
    kinds: list[str] = []
    for index, word in enumerate(words):
        if _MAIL.fullmatch(word):
            kinds.append("@")
        elif _NUMBER.search(word):
            kinds.append(_NUMBER.sub("#", word))
        elif unit := _units(language).get(word.lower()):
            # "3 May", "1500 EUR"
            kinds.append(unit)
        elif cased and article and index and word[0].isupper():
            # "No, my NAS is a QNAP"
            kinds = ["^"]
        elif (
            cased and _is_name(word, language) and (named or (index and words[0].lower() in naming))
        ):
            kinds += ["^"] if kinds[-1:] != ["^"] else []
        else:
            kinds.append(word.lower())
    return _GROUPS.sub("##", " ".join(kinds))


def _has_slot(before: Sequence[Token], language: Language) -> bool:
    """True at "my name" and "mi jefe ahora"."""
    signs = language.phrases("correction_signs")
    while length := signs.match_end(before):
        before = before[:-length]
    return bool(before) and before[-1].low in language.words("correction_slots")


def _is_name(word: str, language: Language) -> bool:
    """True at "Bob"; not at "CEO" and "Indian"."""
    endings = tuple(language.items("correction_origin_endings"))
    titled = word[0].isupper() and (len(word) == 1 or any(char.islower() for char in word))
    return titled and word.isalpha() and not (endings and word.endswith(endings))


@cache
def _units(language: Language) -> dict[str, str]:
    groups = enumerate(language.items("correction_units"))
    return {word: f"%{number}" for number, group in groups for word in group.split("|")}


def _are_opposites(one: str, other: str, language: Language) -> bool:
    return (one.lower(), other.lower()) in _opposites(language)


@cache
def _opposites(language: Language) -> frozenset[tuple[str, str]]:
    pairs = [tuple(item.split("|")) for item in language.items("correction_opposites")]
    return frozenset(both for one, other in pairs for both in ((one, other), (other, one)))
