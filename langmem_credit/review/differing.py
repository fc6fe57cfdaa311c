"""Two texts word by word: which words of the one stand in the other, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

from langmem_credit.words import Token, tokenize

# Pairs of words that are compared one by one; it takes some 20 ms, and a page shows many notes.
# Beyond it a word only has to stand in the other text, wherever that is.
_MOST_PAIRS = 40_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text.

    Attributes:
        text: with its white space.
        differs: its words do not stand in the other text.
    """

    text: str
    differs: bool = False


def compare(text: str, other: str) -> tuple[Piece, ...]:
    """The composed text in pieces, in order; together they are the whole of it.

    Words and marks count, and so does their case, but for the first word's. White space does not.

    >>> [(piece.text, piece.differs) for piece in compare("Push to main", "Never push to main")]
    [('Push to main', False)]
    >>> [piece.text for piece in compare("Never push to main", "Push to main") if piece.differs]
    ['Never']
    """
    tokens = tokenize(text)
    common = _common(_keys(tokens), _keys(tokenize(other)))
    composed = normalize("NFC", text)
    pieces: list[Piece] = []
    done = 0
    for differs, start, end in _runs(tokens, common):
        if differs:
            pieces.append(Piece(composed[done:start]))
            pieces.append(Piece(composed[start:end], differs=True))
            done = end
    pieces.append(Piece(composed[done:]))
    return tuple(piece for piece in pieces if piece.text)


def _runs(tokens: Sequence[Token], common: set[int]) -> list[tuple[bool, int, int]]:
    """Neighbours of a kind together: whether they differ, and their span."""
    runs: list[tuple[bool, int, int]] = []
    for index, token in enumerate(tokens):
        differs = index not in common
        if runs and runs[-1][0] == differs:
            runs[-1] = (differs, runs[-1][1], token.end)
        else:
            runs.append((differs, token.start, token.end))
    return runs


def _keys(tokens: Sequence[Token]) -> list[str]:
    keys = [token.text for token in tokens]
    first = next((index for index, token in enumerate(tokens) if token.word), None)
    if first is not None and keys[first][1:] == tokens[first].low[1:]:
        keys[first] = tokens[first].low
    return keys


def _common(left: Sequence[str], right: Sequence[str]) -> set[int]:
    """Indexes in `left` of a longest run of words that both have in one order."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    ends = 0
    while ends < min(len(left), len(right)) - start and left[-1 - ends] == right[-1 - ends]:
        ends += 1
    found = {*range(start), *range(len(left) - ends, len(left))}
    return found | _inner(left, right, range(start, len(left) - ends), start, len(right) - ends)


def _inner(
    left: Sequence[str], right: Sequence[str], indexes: range, start: int, end: int
) -> set[int]:
    if len(indexes) * (end - start) > _MOST_PAIRS:
        known = set(right[start:end])
        return {index for index in indexes if left[index] in known}
    # lengths[i][j]: of the longest common run of what follows i and j.
    width = end - start
    lengths = [[0] * (width + 1)]
    for index in reversed(indexes):
        below = lengths[-1]
        row = [0] * (width + 1)
        for at in range(width - 1, -1, -1):
            same = left[index] == right[start + at]
            row[at] = below[at + 1] + 1 if same else max(below[at], row[at + 1])
        lengths.append(row)
    lengths.reverse()
    found: set[int] = set()
    at = 0
    for row_at, index in enumerate(indexes):
        while at < width and lengths[row_at][at] == lengths[row_at][at + 1]:
            at += 1
        if at < width and lengths[row_at][at] > lengths[row_at + 1][at]:
            found.add(index)
            at += 1
    return found
