"""The text as it is searched for secrets, and what a find is."""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import category, decimal, normalize

from langmem_credit.characters import is_invisible

_QUOTES = {**dict.fromkeys("‘’‚‛′ʼ´", "'"), **dict.fromkeys("“”„‟″«»", '"')}
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_SIGNS = {**_QUOTES, **_DASHES, "→": "->", "：": ":", "＝": "=", "\t": " "}
# Accents, Hebrew points, Arabic vowel signs: people leave them out.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
# A hostile text may use every character there is.
_CACHED_MOST = 20_000
# What is written where a password will stand later.
_STAND_IN = re.compile(
    r"(?:\$|%[sdv(]|%\w{1,60}%|<|\{|\[|\*+$|x{3,}$|\.{3}|…)|[^\w]*$", re.IGNORECASE
)


class Span(NamedTuple):
    """Characters [start, end) of a text and what stands there, in plain words."""

    start: int
    end: int
    name: str


def is_stand_in(value: str) -> bool:
    """True for what only marks the place of a secret: `$TOKEN`, `<password>`, `****`.

    >>> is_stand_in("${DB_PASSWORD}"), is_stand_in("hunter2")
    (True, False)
    """
    return _STAND_IN.match(value) is not None


class _Folds(dict[int, str]):
    """Character code → what it is compared as; filled at need."""

    def __missing__(self, code: int) -> str:
        if len(self) > _CACHED_MOST:
            self.clear()
        self[code] = folded = _folded(chr(code))
        return folded


def _folded(char: str) -> str:
    if char in _SIGNS:
        return _SIGNS[char]
    if is_invisible(char):
        return ""
    kind = category(char)
    if kind == "Zs":
        return " "
    if kind in ("Zl", "Zp"):
        return "\n"
    if kind == "Nd":
        return str(decimal(char))
    if "\uac00" <= char <= "\ud7a3":
        return char
    return _MARKS.sub("", normalize("NFKD", char)).replace("\u00a0", " ")


_FOLDS = _Folds()


def fold(text: str) -> str:
    r"""The text as it is searched: accents, width and unseen characters folded; the case is kept.

    >>> fold("Contrase\u00f1a\uff1a p\u200bw")
    'Contrasena: pw'
    """
    return text if text.isascii() and text.isprintable() else text.translate(_FOLDS)


def folded_length(char: str) -> int:
    """How many characters `fold` makes of this one."""
    return len(_FOLDS[ord(char)])
