"""Secrets out of every text before it is stored: by their shape, or by a word that names them.

Never by how random something looks: commit hashes, digests, UUIDs, file names and long identifiers
stay as they are. What is matched is a folded copy of the text (width, marks, unseen characters), so
that "pass\u200bword" and "ｐａｓｓｗｏｒｄ" hide nothing; what is cut is the text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import category, decimal, normalize

from langmem_credit.characters import is_invisible
from langmem_credit.secret_cues import find_cued, load_cues
from langmem_credit.secret_shapes import Span, find_shapes

REMOVED = "[secret removed]"

_QUOTES = {**dict.fromkeys("‘’‚‛′ʼ´", "'"), **dict.fromkeys("“”„‟″«»", '"')}
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_SIGNS = {**_QUOTES, **_DASHES, "→": "->", "：": ":", "＝": "=", "\t": " "}
# Accents, Hebrew points, Arabic vowel signs: people leave them out.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
# Letters that look alike, for cue words with one foreign letter in them ("раssword").
_ALIKE = str.maketrans("аеорсухіѕјԁһкмтνοραυι", "aeopcyxisjdhkmtvopaui")
_CACHED_MOST = 20_000
# A text of so many characters says more than that there is a secret.
_ANNOUNCEMENT_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets.

    Attributes:
        text: each secret replaced by `REMOVED`; the same text when there was none.
        found: what was removed, in plain words, each kind once, in the order of the text.
        only_secret: nothing but words that announce the secret is left.
    """

    text: str
    found: tuple[str, ...] = ()
    only_secret: bool = False


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
    """The text as it is searched: accents, width and unseen characters folded; the case is kept.

    >>> fold("Contrase\\u00f1a\\uff1a p\\u200bw")
    'Contrasena: pw'
    """
    return text if text.isascii() and text.isprintable() else text.translate(_FOLDS)


def scrub(text: str) -> Scrubbed:
    """The text with every secret replaced, what was found, and whether anything else was said.

    Scrubbing twice changes nothing more.

    Raises:
        TypeError: the text is no str.

    >>> scrub("DB is postgres://app:tr0ub4dor@db.example/main").text
    'DB is postgres://app:[secret removed]@db.example/main'
    >>> scrub("my password is kept in the vault").found
    ()
    """
    if not isinstance(text, str):
        raise TypeError(f"A text must be a str, not {type(text).__name__}.")
    names: list[str] = []
    # What is cut out can bring a cue and another word together; once more settles it.
    for _ in range(4):
        spans = _merged(_found(text))
        if not spans:
            break
        names.extend(span.name for span in spans)
        text = _without(text, spans)
    found = tuple(dict.fromkeys(names))
    return Scrubbed(text, found, bool(found) and _says_nothing(text))


def _found(text: str) -> list[Span]:
    """Every secret, as spans of the text itself."""
    folded = fold(text)
    low = folded.lower()
    if len(low) != len(folded):  # one character whose lower case has two
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in folded)
    spans = [*find_shapes(folded), *find_cued(folded, low)]
    alike = low if low.isascii() else low.translate(_ALIKE)
    if alike != low:
        spans += find_cued(folded, alike)
    if not spans or folded == text:
        return spans
    # ends[i]: length of the folded text after the i-th character of the text.
    lengths = {char: len(_FOLDS[ord(char)]) for char in set(text)}
    ends = list(accumulate(map(lengths.__getitem__, text)))
    return [
        Span(bisect_right(ends, span.start), bisect_left(ends, span.end) + 1, span.name)
        for span in spans
    ]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, overlapping ones as one; the first to start gives the name."""
    merged: list[Span] = []
    for span in sorted(span for span in spans if span.end > span.start):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.name)
        else:
            merged.append(span)
    return merged


def _without(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for span in spans:
        pieces += [text[position : span.start], REMOVED]
        position = span.end
    return "".join([*pieces, text[position:]])


def _says_nothing(text: str) -> bool:
    """True when only cue words and glue ("my", "is", "for") stand beside what was removed."""
    if len(text) > _ANNOUNCEMENT_MOST:
        return False
    cues = load_cues()
    rest = cues.pattern.sub(" ", fold(text.replace(REMOVED, " ")).lower())
    return all(
        word in cues.glue or cues.glue_joined.fullmatch(word)
        for word in re.findall(r"[^\W_]+", rest)
    )
