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

from langmem_credit.secret_cues import find_cued
from langmem_credit.secret_shapes import find_shapes
from langmem_credit.secret_texts import Span, fold, folded_length
from langmem_credit.secret_words import load_cues

REMOVED = "[secret removed]"

# Letters that look alike, for cue words with one foreign letter in them ("раssword").
_ALIKE = str.maketrans("аеорсухіѕјԁһкмтνοραυι", "aeopcyxisjdhkmtvopaui")
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
        spans = _around_marks(text, _merged(_found(text)))
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
    spans = [*find_shapes(folded, low), *find_cued(folded, low)]
    alike = low if low.isascii() else low.translate(_ALIKE)
    if alike != low:
        spans += find_cued(folded, alike)
    if not spans or folded == text:
        return spans
    # ends[i]: length of the folded text after the i-th character of the text.
    lengths = {char: folded_length(char) for char in set(text)}
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


def _around_marks(text: str, spans: list[Span]) -> list[Span]:
    """The spans with each mark they touch whole inside them, without those that are a mark."""
    if REMOVED not in text:
        return spans
    marks = [Span(*match.span(), "") for match in re.finditer(re.escape(REMOVED), text)]
    named = iter(spans)
    span = next(named, None)
    touched: list[Span] = []
    for mark in marks:
        while span and span.end <= mark.start:
            span = next(named, None)
        if span and span.start < mark.end:
            touched.append(Span(*mark[:2], span.name))
    joined = _merged([*spans, *touched])
    whole = {mark[:2] for mark in marks}
    return [span for span in joined if (span.start, span.end) not in whole]


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
