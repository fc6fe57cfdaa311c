"""Words that are spoken of, not used: "never start replies with I think", "our app is called …".

An edit of such a word changes what the sentence is about. What gives it away is the word before
it, an unusual bracket, an unpaired quotation mark, or a second form of the same word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .languages import Language
from .words import Token

# Marks that quote, and are no quotation marks to the other modules.
_ODD_MARKS = frozenset("\u2039\u203a\u3008\u3009\u300a\u300b\u3010\u3011\u00b4[]{}<>\u2308\u2309")
_QUOTATION_MARKS = frozenset("\"'`")


class _Word(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def low(self) -> str: ...
    @property
    def gap(self) -> str: ...
    @property
    def word(self) -> bool: ...
    @property
    def quoted(self) -> bool: ...


def is_led(words: Sequence[_Word] | Sequence[Token], index: int, language: Language) -> bool:
    """True when the word before this one says that it is spoken of: "with I", "is Ive"."""
    return index > 0 and words[index - 1].low in language.words("mentioning")


def is_common(words: Sequence[_Word], index: int, language: Language) -> bool:
    """True at each word of "A SCREEN READER", which names no one thing."""
    opening = language.words("common_behind")
    if words[index].low in opening:
        return index + 1 < len(words) and words[index + 1].word
    phrase = words[max(0, index - 2) : index + 1]
    known = ("subjects", "adverbs", "function_words", "negations")
    return any(
        word.low in opening
        and all(
            one.word and not any(one.low in language.words(field) for field in known)
            for one in phrase[place + 1 :]
        )
        for place, word in enumerate(phrase)
    )


def odd_mark(words: Sequence[_Word]) -> int:
    """The index of the first mark behind which words may be quoted; all of them without one."""
    for index, word in enumerate(words):
        if word.word or (word.quoted and not _is_doubled(words, index)):
            continue
        if word.text in _ODD_MARKS or word.text in _QUOTATION_MARKS:
            return index
    return len(words)


def _is_doubled(words: Sequence[_Word], index: int) -> bool:
    """True at the second of two single marks, which quote as one."""
    return index > 0 and words[index].text == "'" == words[index - 1].text and not words[index].gap


def has_two_forms(tokens: Sequence[Token], table: dict[str, str]) -> bool:
    """True when a contraction stands there and what it opens to as well.

    >>> from langmem_credit.words import tokenize
    >>> has_two_forms(tokenize("use don't, never do not"), {"don't": "do not"})
    True
    """
    found = {token.low: table[token.low] for token in tokens if token.low in table}
    if not found:
        return False
    if len(set(found.values())) < len(found):
        return True
    text = "\0".join(["", *(token.low for token in tokens), ""])
    return any("\0".join(["", *opened.split(), ""]) in text for opened in found.values())


def has_two_cases(words: Sequence[_Word], low: str) -> bool:
    """True when the word is typed both with and without its capital: "V is verbose, v is not"."""
    return len({word.text for word in words if word.low == low}) > 1
