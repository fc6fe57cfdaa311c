"""The gerund behind "before" and "after": "before committing" for "before you commit".

Both say the same where the order's own subject is meant, "you"; in English, and in orders alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from .languages import Language
from .standing import is_order
from .words import Token

_VOWELS = frozenset("aeiou")
_SHORT = 3  # letters of a verb whose last one is surely doubled: "run", "put"


def spelled_out(
    note: Sequence[Token], unit: Sequence[Token], language: Language | None
) -> Sequence[Token]:
    """The note with the person's "before you commit" where it has "before committing".

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> note, unit = tokenize("Run CI before committing"), tokenize("Run CI before you commit")
    >>> [token.text for token in spelled_out(note, unit, load("en"))][2:]
    ['before', 'you', 'commit']
    """
    if language is None or not language.words("gerund_behind"):
        return note
    told = list(note)
    for begin, clause in _clauses(unit, language):
        forms = gerunds(clause[2].low)
        for index in range(len(told) - 1):
            here = told[index].low == clause[0].low and told[index + 1].low in forms
            if here and told[index + 1].text.islower() and _is_yours(unit, begin, language):
                told[index + 1 : index + 2] = clause[1:]
                break
    return told


def _clauses(unit: Sequence[Token], language: Language) -> list[tuple[int, Sequence[Token]]]:
    """(place, words) of each "before you commit"."""
    behind = language.words("gerund_behind")
    return [
        (index, unit[index : index + 3])
        for index in range(len(unit) - 2)
        if unit[index].low in behind
        and unit[index + 1].low in language.words("gerund_subjects")
        and unit[index + 2].text.isalpha()
        and unit[index + 2].text.islower()
    ]


def _is_yours(unit: Sequence[Token], begin: int, language: Language) -> bool:
    """True where the order itself is what is done before: nobody else could be meant.

    "Ask Bob to wait before you push" would become his pushing.
    """
    main = unit[:begin] or unit[begin + 3 :]
    if not begin:
        # "Before you open a pull request, always run the tests"
        comma = next((k for k, token in enumerate(main) if token.text == ","), len(main))
        main = main[comma + 1 :]
    if not main or not is_order(main, language):
        return False
    denied = language.words("gerund_not_with")
    return not any(
        token.low in denied or (index and token.word and token.text.istitle())
        for index, token in enumerate(main)
    )


def gerunds(verb: str) -> frozenset[str]:
    """How the gerund may be spelled: "committing" and "commiting" are one, "hoping" is of "hope".

    >>> sorted(gerunds("commit")), sorted(gerunds("make")), sorted(gerunds("run"))
    (['commiting', 'committing'], ['making'], ['running'])
    """
    if verb.endswith("ie"):
        return frozenset({f"{verb[:-2]}ying"})
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return frozenset({f"{verb[:-1]}ing"})
    doubled = len(verb) > 2 and verb[-1] not in _VOWELS | set("wxy") and verb[-2] in _VOWELS
    if doubled and verb[-3] not in _VOWELS:
        double = f"{verb}{verb[-1]}ing"
        return frozenset({double} if len(verb) <= _SHORT else {double, f"{verb}ing"})
    return frozenset({f"{verb}ing"})
