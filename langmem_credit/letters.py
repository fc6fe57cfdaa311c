"""The letters of each script: what is folded, what is a token of its own, what joins a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

_QUOTES = dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02bc\uff07"), "'")
_DOUBLE_QUOTES = dict.fromkeys(
    map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02\u300c\u300d\u300e\u300f"), '"'
)
# The minus sign U+2212 is an operator and stays what it is.
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015"), "-")
# Only the full-width copies of ASCII: NFKC would also turn 10² into 102.
_WIDTHS = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
# An Arabic comma is a comma.
_COMMAS = {0x60C: ",", 0x61B: ";"}
# What each character is folded to.
FOLDS = {**_WIDTHS, **_QUOTES, **_DOUBLE_QUOTES, **_DASHES, **_COMMAS, 0x3000: " "}

# Characters of scripts written without spaces are tokens of their own; so are Korean syllables,
# since endings and particles are joined to their word.
_SYLLABLES = "\u3131-\u318e\uac00-\ud7a3"
UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f\u0e80-\u0eff" + _SYLLABLES
)
# Arabic and Hindi write vowels as marks on a letter, which belong to its word.
_POINTS = "\u0640\u064b-\u065f\u0670"
_SIGNS = "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
LETTERS = rf"[^\W_{UNSPACED}]+[{_POINTS}{_SIGNS}\u200c\u200d]*"
IS_UNSPACED = re.compile(f"(?![{_SYLLABLES}])[{UNSPACED}]")
_IS_SYLLABLE = re.compile(f"[{_SYLLABLES}]")
# Signs that are left out or confused at will, so that a word is looked up without them.
LOOKED_UP = str.maketrans("\u0901", "\u0902", "\u093c\u200c\u200d")
LOOKED_UP.update(dict.fromkeys([0x640, 0x670, *range(0x64B, 0x660)]))


class HasGap(Protocol):
    """Anything with a text and the white space before it."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def gap(self) -> str:
        """The white space before it."""


def is_syllable(text: str) -> bool:
    """True for a Korean syllable: its script has tokens like Chinese, and spaces that count."""
    return _IS_SYLLABLE.match(text) is not None


def parts_words(tokens: Sequence[HasGap], index: int) -> bool:
    """True where a word may begin at the index; False within a Korean word."""
    if not 0 < index < len(tokens) or tokens[index].gap:
        return True
    return not (is_syllable(tokens[index].text) and is_syllable(tokens[index - 1].text))
