"""One ranking from two: by words and by meaning, checked against the notes themselves.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): a note's weight is the sum of
1 / (60 + rank) over the rankings that hold it, so that scores of different kinds need no common
scale. In the ranking by words that is multiplied by the share of the question which the note
covers: a question in other words than the note's still meets some note in a common word, and
counted in full such chance finds pushed the right note down.

What an index finds counts only where it is one of the notes at hand, and it is asked for such
notes alone, so that rows which outlived their notes take no place from living ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from .index import Hit, Index, ScopeKey
from .kept_index import KeptIndex
from .notes import Note
from .word_index import WordIndex

# The constant of the paper.
_RANK_OFFSET = 60
# Four full pages of twenty; beyond them only words find.
DEPTH = 80
# Of the right notes among the nearest twenty, 1 in 100 scored less on the tuning questions of
# tests/cases/recall_quality.jsonl with the local model.
FLOOR = 0.15
# A note that covers less of the question comes behind all that meaning finds. Of 0, 0.3, 0.4, 0.5
# and 0.6 this was best on the tuning questions of the same file.
LEAST_SHARE = 0.4

Rank = Callable[[str, Sequence[Note]], Sequence[str]]
# The notes of each scope: id there to id here.
Scopes = Mapping[ScopeKey, Mapping[str, str]]


def fuse(
    rankings: Sequence[Sequence[str]], shares: Sequence[Mapping[str, float]] = ()
) -> list[str]:
    """Ids of all rankings, best first; ties as in the earlier ranking.

    Args:
        rankings: ids, best first.
        shares: for each ranking, id to what its weight is multiplied by, [0, 1]; 1 where none is
            given.

    >>> fuse([["a", "b", "c"], ["c", "a"]])
    ['a', 'c', 'b']
    """
    weights: dict[str, float] = {}
    for number, ranking in enumerate(rankings):
        share = shares[number] if number < len(shares) else {}
        for rank, one in enumerate(dict.fromkeys(ranking), start=1):
            weights[one] = weights.get(one, 0.0) + share.get(one, 1.0) / (_RANK_OFFSET + rank)
    return sorted(weights, key=lambda one: -weights[one])


def near(
    index: Index,
    query: str,
    scopes: Scopes,
    *,
    depth: int = DEPTH,
    floor: float = 0.0,
) -> list[str]:
    """Ids of the notes nearest to the query, nearest first, from the scopes they stand in.

    Args:
        index: the hint.
        query: words.
        scopes: all notes that may be found.
        depth: how many at the most.
        floor: the least score that counts as found.
    """
    return ask_near(index, query, scopes, depth=depth, floor=floor)()


def ask_near(
    index: Index,
    query: str,
    scopes: Scopes,
    *,
    depth: int = DEPTH,
    floor: float = 0.0,
) -> Callable[[], list[str]]:
    """As `near`, but begun: what is given back waits for the answer."""
    asked = [
        (live, _ask(index, scope, query, depth, live.keys()))
        for scope, live in scopes.items()
        if live
    ]

    def answer() -> list[str]:
        hits: list[tuple[float, str]] = []
        for live, end in asked:
            hits += ((hit.score, live[hit.note_id]) for hit in end() if hit.note_id in live)
        hits.sort(key=lambda hit: -hit[0])
        return [note_id for score, note_id in hits[:depth] if score >= floor]

    return answer


def _ask(
    index: Index, scope: ScopeKey, query: str, k: int, live: Collection[str]
) -> Callable[[], list[Hit]]:
    if isinstance(index, KeptIndex):
        return index.ask(scope, query, k, live=live)
    return lambda: index.search(scope, query, k, live=live)


def create_fused_rank(
    index: Index,
    scopes_of: Callable[[Sequence[Note]], Scopes],
    *,
    words: WordIndex | Rank | None = None,
    depth: int = DEPTH,
    floor: float = FLOOR,
) -> Rank:
    """A ranking for `recall` by words and by meaning; by words alone while the index is down.

    Args:
        index: kept in step by `Index.sync`; this only searches.
        scopes_of: the scopes of the notes at hand; one that is in no index is left out.
        words: the ranking by words; a function's finds all count in full.
        depth: how many notes the index may add.
        floor: the least score that counts as found by meaning.
    """
    by_words = words if words is not None else WordIndex()

    def rank(query: str, notes: Sequence[Note]) -> Sequence[str]:
        # The words are looked at while the index makes a vector of the question.
        asked = ask_near(index, query, scopes_of(notes), depth=depth, floor=floor)
        if not isinstance(by_words, WordIndex):
            found = by_words(query, notes)
            return fuse([found, asked()])
        weighed = by_words.weigh(query, notes, depth)
        meant = asked()
        if not meant:
            return [one for one, _ in weighed]
        shares = {one: share if share >= LEAST_SHARE else 0.0 for one, share in weighed[:depth]}
        first = fuse([list(shares), meant], [shares])
        # What words find beyond the depth comes after all else, in its order.
        seen = set(first)
        return [*first, *(one for one, _ in weighed[depth:] if one not in seen)]

    return rank
