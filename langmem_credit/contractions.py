"""Tokens as words with their contractions opened: "don't" is "do" and "not"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from .languages import Language, load
from .mentions import has_two_forms, is_led
from .words import Token, quoted_mask

_Forms = dict[str, str]
# Marks that make names and paths of the words beside them.
_NAME_MARKS = "/\\_.@#:=~$%&*|<>"


class Word(NamedTuple):
    """A token with its contraction opened.

    Attributes:
        quoted: between quotation or code marks, where nothing may change.
        code: joined to a mark such as `/` or `_` without white space, so its case counts.
        hyphened: joined to a hyphen without white space.
    """

    text: str
    low: str
    gap: str
    word: bool
    quoted: bool
    code: bool
    hyphened: bool = False


def open_contractions(tokens: Sequence[Token], language: Language | None) -> list[Word]:
    """The tokens as words, "don't" as "do" and "not"; nothing changes inside quotation marks.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> [w.text for w in open_contractions(tokenize("I'd rather not; don't ask"), load("en"))]
    ['I', 'would', 'rather', 'not', ';', 'do', 'not', 'ask']
    """
    return list(chain.from_iterable(open_each(tokens, language)))


def open_each(tokens: Sequence[Token], language: Language | None) -> list[tuple[Word, ...]]:
    """`open_contractions`, one group of words a token."""
    mask = quoted_mask(tokens)
    table, led, every = _short_forms(language.code) if language else ({}, (), {})
    fixed = has_two_forms(tokens, every)
    groups: list[tuple[Word, ...]] = []
    last = len(tokens) - 1
    for index, token in enumerate(tokens):
        # Most words stand between white space, which nothing touches.
        alone = token.gap != "" and (index == last or tokens[index + 1].gap != "")
        code = not alone and _touches_mark(tokens, index, _NAME_MARKS)
        opened = ""
        spoken_of = fixed or _is_spoken_of(tokens, index, language)
        if not mask[index] and not code and not spoken_of:
            opened = table.get(token.low, "")
            for forms, before in led if not opened and index < last else ():
                if tokens[index + 1].low in before:
                    opened = opened or forms.get(token.low, "")
        # "IM Bob" is a message to Bob.
        if not opened or (token.text.isupper() and len(token.text) == 2):
            hyphened = not alone and _touches_mark(tokens, index, "-")
            word = Word(token.text, token.low, token.gap, token.word, mask[index], code, hyphened)
            groups.append((word,))
        else:
            groups.append(_open(token, opened))
    return groups


@cache
def _short_forms(code: str) -> tuple[_Forms, tuple[tuple[_Forms, frozenset[str]], ...], _Forms]:
    """(those that are opened, those that are before certain words, both).

    "She's left" may be "she is left" and "she has left": what follows must tell.
    """
    language = load(code)
    always = language.table("contractions")
    led = (
        (language.table("is_contractions"), language.words("is_before")),
        (language.table("would_contractions"), language.words("would_before")),
    )
    every = dict(always)
    for forms, _ in led:
        every |= forms
    return always, led, every


def _open(token: Token, opened: str) -> tuple[Word, ...]:
    """The words of one contraction, in the case it was typed in."""
    pieces = opened.split()
    if token.text[0].isupper():
        pieces[0] = pieces[0].capitalize()
    if token.text.isupper() and len(token.text) > 3:
        pieces = [piece.upper() for piece in pieces]
    gaps = [token.gap] + [" "] * (len(pieces) - 1)
    return tuple(
        Word(piece, piece.lower(), gap, True, False, False)
        for piece, gap in zip(pieces, gaps, strict=True)
    )


def _is_spoken_of(tokens: Sequence[Token], index: int, language: Language | None) -> bool:
    """True at "never use can't" and "reply with I don't know"."""
    if language is None:
        return False
    if index and tokens[index - 1].low in language.words("subject"):
        index -= 1
    return is_led(tokens, index, language)


def _touches_mark(tokens: Sequence[Token], index: int, marks: str) -> bool:
    """True when one of the marks stands right between the token and another."""
    before = index > 0 and not tokens[index].gap and tokens[index - 1].text in marks
    after = (
        index + 2 < len(tokens)
        and not tokens[index + 1].gap
        and tokens[index + 1].text in marks
        and not tokens[index + 2].gap
    )
    return before or after
