"""Which form a verb of the first person has behind "the user"; English.

Told of others a verb changes, so only one that is surely the speaker's may: not the second one of
"I used to smoke and use drugs", nor one whose form does not tell the past ("I quit my job").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .languages import Language

if TYPE_CHECKING:
    from .contractions import Word


def third_forms(low: str, language: Language, *, before: str = "") -> frozenset[str]:
    """What the verb may be behind "the user"; nothing where its form tells no tense.

    The word before it may tell one: "always read".

    >>> from langmem_credit.languages import load
    >>> [sorted(third_forms(low, load("en"))) for low in ("carry", "moved", "quit")]
    [['carries'], ['moved'], []]
    """
    if _tells_no_tense(low, before, language):
        return frozenset()
    if _is_listed(low, "invariant", language) or is_regular_past(low, language):
        return frozenset([low])
    return frozenset([third_form(low, language)])


def left_out_forms(low: str, language: Language, *, before: str = "") -> frozenset[str]:
    """Forms that cannot be read as an order once "I" is gone: never the bare verb."""
    if _tells_no_tense(low, before, language):
        return frozenset()
    if low in language.words("left_out_invariant") or is_regular_past(low, language):
        return frozenset([low])
    if _is_listed(low, "invariant", language):
        return frozenset()
    return frozenset([third_form(low, language)])


def _tells_no_tense(low: str, before: str, language: Language) -> bool:
    if _is_listed(low, "two_verbs", language):
        # "I found companies", "I fell trees".
        return True
    return _is_listed(low, "tenseless", language) and before not in language.words("habits")


def _is_listed(low: str, field: str, language: Language) -> bool:
    """True for "wrote" and "rewrote"."""
    words = language.words(field)
    return low in words or any(
        low.startswith(prefix) and low.removeprefix(prefix) in words
        for prefix in language.items("verb_prefixes")
    )


def third_form(low: str, language: Language) -> str:
    """The present of the third person."""
    irregular = language.table("agreement").get(low)
    if irregular:
        return irregular
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return low + "es"
    if low.endswith("y") and low[-2:-1] not in set("aeiou"):
        return low[:-1] + "ies"
    return low + "s"


def is_regular_past(low: str, language: Language) -> bool:
    """True for a form in -ed that is no bare verb."""
    if low.endswith(("embed", "shed", "shred", "sled")):
        return False
    if low.endswith("eed") and low not in language.words("past_eed"):
        return False
    return low.endswith("ed") and len(low) > 4 and low not in language.words("base_ed")


def is_adverb(low: str, language: Language) -> bool:
    """True for a word that may stand between "I" and its verb."""
    if low in language.words("subject_adverbs"):
        return True
    return low.endswith("ly") and low not in language.words("not_adverbs")


def is_second_verb(said: Sequence[Word], index: int, language: Language) -> bool:
    """True at the second verb of "I live in Utrecht and need a car": surely the speaker's too.

    It stands behind "I", a plain verb and one thing or place, which can do nothing itself; longer
    words between could hold another verb or somebody else: "I hate people who smoke and do drugs",
    "I try not to drink and use drugs". What follows it shows that it is no noun ("chores and use").
    """
    follower = language.table("coordinated").get(said[index].low)
    if follower is None or index not in (4, 5, 6):
        return False
    if follower and not _is_one_of(said, index + 1, follower, language):
        return False
    *leads, thing = range(2, index - 1)
    fields = ("leading_prepositions", "determiners")[-len(leads) :] if leads else ()
    common = ("function_words", "negations", "subordinators", "leading_prepositions")
    return (
        _is_one_of(said, 0, "subject", language)
        and _is_one_of(said, 1, "coordinated_behind", language)
        and (
            all(_is_one_of(said, *lead, language) for lead in zip(leads, fields, strict=True))
            or (len(leads) == 1 and _is_one_of(said, 2, "leading_prepositions", language))
        )
        and not any(_is_one_of(said, thing, field, language) for field in common)
        and _is_one_of(said, index - 1, "coordinators", language)
        and all(word.word and not word.quoted and not word.code for word in said[:index])
    )


def _is_one_of(said: Sequence[Word], index: int, field: str, language: Language) -> bool:
    return index < len(said) and said[index].low in language.words(field)
