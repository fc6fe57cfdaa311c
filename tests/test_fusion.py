"""Two rankings made one, and rows that are no notes kept out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.fusion import create_fused_rank, fuse, near
from langmem_credit.index import Hit, IndexStatus, ScopeKey, SyncReport, WordsOnly
from langmem_credit.notebook import fold
from langmem_credit.notes import Note
from langmem_credit.ranking import rank_by_words
from langmem_credit.recall import recall, render_recall
from tests.index_support import BagOfWords, in_scope, note, numbered
from tests.notebook_support import forgot, said, unsaid

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=4)


class Scripted:
    """An index that answers what it was told, whatever it is asked."""

    def __init__(self, *hits: tuple[str, float], scope: ScopeKey = "ann") -> None:
        self.hits = [Hit(*hit) for hit in hits]
        self.scope = scope
        self.asked: list[tuple[ScopeKey, str, int, Collection[str] | None]] = []

    def search(
        self, scope_key: ScopeKey, query: str, k: int, *, live: Collection[str] | None = None
    ) -> list[Hit]:
        self.asked.append((scope_key, query, k, live))
        return self.hits if scope_key == self.scope else []

    def sync(
        self,
        scope_key: ScopeKey,
        notes: Iterable[Note],
        *,
        token: str = "",
        budget_s: float | None = None,
    ) -> SyncReport:
        return SyncReport()

    def drop(self, scope_key: ScopeKey) -> SyncReport:
        return SyncReport()

    def status(self) -> IndexStatus:
        return IndexStatus("ready")

    def close(self) -> None: ...


ann = in_scope("ann")


def no_words(query: str, notes: Sequence[Note]) -> Sequence[str]:
    return []


# Fusing.


def test_what_both_find_comes_first() -> None:
    assert fuse([["a", "b", "c"], ["d", "c"]])[0] == "c"


def test_nothing_is_nothing() -> None:
    assert fuse([]) == fuse([[], []]) == []


def test_one_ranking_stays_as_it_is() -> None:
    assert fuse([["b", "a", "c"], []]) == ["b", "a", "c"]


def test_ties_go_to_the_earlier_ranking() -> None:
    assert fuse([["a"], ["b"]]) == ["a", "b"]


@given(RANKINGS)
def test_every_id_comes_out_once(rankings: list[list[str]]) -> None:
    fused = fuse(rankings)
    assert sorted(fused) == sorted({one for ranking in rankings for one in ranking})


@given(st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_two_that_agree_are_followed(ranking: list[str]) -> None:
    assert fuse([ranking, ranking]) == ranking


@given(RANKINGS)
def test_an_id_that_is_said_twice_counts_once(rankings: list[list[str]]) -> None:
    assert fuse([[*ranking, *ranking] for ranking in rankings]) == fuse(rankings)


# Asking the index.


def test_only_notes_at_hand_are_hits() -> None:
    index = Scripted(("ghost", 0.9), ("n00001", 0.8))
    assert near(index, "x", ann(numbered(3))) == ["n00001"]


def test_the_index_is_told_which_notes_may_be_found() -> None:
    index = Scripted()
    near(index, "x", ann(numbered(2)), depth=7)
    assert index.asked == [("ann", "x", 7, {"n00000", "n00001"})]


def test_each_scope_is_asked_for_its_own_notes() -> None:
    index = Scripted()
    near(index, "x", {"a": {"n00000": "n00000", "n00002": "n00002"}, "b": {"n00001": "n00001"}})
    assert [(scope, live) for scope, _, _, live in index.asked] == [
        ("a", {"n00000", "n00002"}),
        ("b", {"n00001"}),
    ]


def test_a_scope_without_notes_is_not_asked() -> None:
    index = Scripted()
    assert near(index, "x", ann([])) == []
    assert index.asked == []


def test_hits_of_several_scopes_come_by_score() -> None:
    class Two(Scripted):
        def search(
            self, scope_key: ScopeKey, query: str, k: int, *, live: Collection[str] | None = None
        ) -> list[Hit]:
            return [Hit("n00000", 0.3)] if scope_key == "a" else [Hit("n00001", 0.9)]

    found = near(Two(), "x", {"a": {"n00000": "n00000"}, "b": {"n00001": "n00001"}})
    assert found == ["n00001", "n00000"]


def test_what_is_too_far_is_not_found() -> None:
    index = Scripted(("n00000", 0.5), ("n00001", 0.1))
    assert near(index, "x", ann(numbered(3)), floor=0.3) == ["n00000"]


def test_another_scopes_hit_under_a_known_id_does_not_count() -> None:
    index = Scripted(("n00001", 0.9), scope="b")
    found = near(index, "x", {"a": {"n00001": "n00001"}, "b": {"n00000": "n00000"}})
    assert found == []


# The ranking.


def test_meaning_adds_what_no_word_finds() -> None:
    rank = create_fused_rank(Scripted(("n00002", 0.9)), ann)
    assert list(rank("word1", numbered(3))) == ["n00001", "n00002"]


def test_an_index_that_is_down_leaves_words() -> None:
    rank = create_fused_rank(WordsOnly(), ann)
    assert list(rank("word1", numbered(30))) == list(rank_by_words("word1", numbered(30)))


def test_words_may_be_ranked_by_the_hosts_own() -> None:
    rank = create_fused_rank(Scripted(("n00002", 0.9)), ann, words=no_words)
    assert list(rank("word1", numbered(3))) == ["n00002"]


# Through recall.


def test_rows_of_gone_notes_never_push_a_living_one_out(tmp_path: Path) -> None:
    index = ChromaIndex(tmp_path / "index", BagOfWords())
    gone = [note(f"g{number:05d}", f"dark mode {number}") for number in range(200)]
    index.sync("ann", [*gone, *numbered(10)])
    rank = create_fused_rank(index, ann, words=no_words, floor=-1.0)
    assert sorted(rank("dark mode", numbered(10))) == [one.id for one in numbered(10)]
    index.close()


def test_recall_shows_only_what_the_notebook_holds(tmp_path: Path) -> None:
    kept, dropped = said("I like dark mode", 1), said("I like light mode", 2)
    before = fold([kept, dropped])
    index = ChromaIndex(tmp_path / "index", BagOfWords())
    index.sync("ann", before.active)
    after = fold([kept, dropped, forgot(dropped, 3)])
    found = recall(after, query="light mode", rank=create_fused_rank(index, ann))
    assert [one.text for one in found.items] == ["I like dark mode"]
    index.close()


def test_notes_that_wait_are_counted_by_words_and_never_shown(tmp_path: Path) -> None:
    book = fold([said("I like dark mode", 1), unsaid("They like light mode", 2)])
    index = ChromaIndex(tmp_path / "index", BagOfWords())
    index.sync("ann", book.active)
    found = recall(book, query="light mode", rank=create_fused_rank(index, ann))
    assert (found.unconfirmed_matches, [one.text for one in found.items]) == (
        1,
        ["I like dark mode"],
    )
    assert "They like" not in render_recall(found)
    index.close()


def test_pages_of_a_fused_answer_hold_every_note_once(tmp_path: Path) -> None:
    book = fold([said(f"Rule {number} is about colours", number) for number in range(30)])
    index = ChromaIndex(tmp_path / "index", BagOfWords())
    index.sync("ann", book.active)
    rank = create_fused_rank(index, ann)
    seen: list[str] = []
    cursor = ""
    while True:
        page = recall(book, query="colours", limit=7, cursor=cursor, rank=rank)
        seen += [one.id for one in page.items]
        if not page.has_more:
            break
        cursor = page.cursor
    assert sorted(seen) == sorted(one.id for one in book.active)
    index.close()
