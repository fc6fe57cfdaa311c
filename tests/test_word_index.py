"""The kept ranking by words says what the plain one says."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit import word_index
from langmem_credit.notes import Note
from langmem_credit.ranking import rank_by_words
from langmem_credit.word_index import WordIndex
from tests.index_support import note, numbered

WORDS = st.lists(
    st.sampled_from(["tea", "dark", "mode", "pnpm", "café", "成都", "the", "42"]), max_size=5
)


@given(st.lists(st.lists(WORDS, max_size=8), max_size=5), WORDS)
def test_it_ranks_as_the_plain_ranking_whatever_came_before(
    lists: list[list[list[str]]], query: list[str]
) -> None:
    index = WordIndex()
    for texts in lists:
        notes = [
            note(f"n{number:05d}", " ".join(text) or ".", seconds=number)
            for number, text in enumerate(texts)
        ]
        assert index.rank(" ".join(query), notes) == rank_by_words(" ".join(query), notes)


def test_a_changed_text_is_found_by_its_new_words_only() -> None:
    index = WordIndex()
    index.rank("old", [note("aaaaaa", "old"), *numbered(5)])
    notes = [note("aaaaaa", "new"), *numbered(5)]
    assert (index.rank("old", notes), index.rank("new", notes)) == ([], ["aaaaaa"])


def test_a_note_that_left_is_found_no_more() -> None:
    index = WordIndex()
    index.rank("word3", numbered(9))
    assert index.rank("word3", numbered(3)) == []


def test_a_note_that_covers_the_question_has_share_one() -> None:
    notes = [note("aaaaaa", "dark mode"), note("bbbbbb", "dark tea"), *numbered(9)]
    shares = dict(WordIndex().weigh("dark mode", notes, 10))
    assert shares["aaaaaa"] == pytest.approx(1.0)
    assert 0 < shares["bbbbbb"] < 0.5


def test_words_of_scripts_without_spaces_are_covered_too() -> None:
    notes = [note("aaaaaa", "我住在成都"), *numbered(5)]
    assert dict(WordIndex().weigh("成都", notes, 10)) == {"aaaaaa": pytest.approx(1.0)}


def test_a_word_that_no_note_holds_lowers_every_share() -> None:
    notes = [note("aaaaaa", "dark tea"), *numbered(9)]
    [(_, share)] = WordIndex().weigh("dark zeppelin", notes, 10)
    assert share < 0.5


def test_beyond_the_first_ones_the_share_is_nought() -> None:
    notes = [note(f"n{n:05d}", "dark mode") for n in range(5)]
    assert [share > 0 for _, share in WordIndex().weigh("dark", notes, 2)] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_few_lists_are_kept() -> None:
    index = WordIndex()
    for number in range(70):
        index.rank("x", [note(f"l{number:02d}n{n:02d}", "x") for n in range(3)])
    assert len(index._tables) == word_index._KEPT


def test_few_notes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_index, "_MOST_NOTES", 10)
    index = WordIndex()
    for number in range(7):
        index.rank("x", [note(f"l{number:02d}n{n:02d}", "x") for n in range(3)])
    assert [len(table.notes) for table in index._tables] == [3, 3, 3]
    # One list that is larger than all that may be kept is kept all the same.
    index.rank("x", [note(f"big{n:03d}", "x") for n in range(30)])
    assert [len(table.notes) for table in index._tables] == [30]


def test_without_a_full_text_index_words_still_find(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(word_index, "_new_table", none)
    assert WordIndex().rank("word3", numbered(9)) == ["n00003"]


def test_threads_may_share_it() -> None:
    index, wrong = WordIndex(), []

    def work(count: int) -> None:
        for _ in range(20):
            if index.rank("word1", numbered(count)) != ["n00001"]:
                wrong.append(count)

    threads = [threading.Thread(target=work, args=(count,)) for count in range(2, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_empty_question_and_no_notes_find_nothing() -> None:
    none: list[Note] = []
    assert WordIndex().rank("", numbered(3)) == WordIndex().rank("x", none) == []


def test_index_is_usable_in_a_process_forked_while_it_was_at_work() -> None:
    index = WordIndex()
    note = Note("k3m9xz", "Use pnpm", "preference", "active", "")
    with index._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            os._exit(0 if index.rank("pnpm", [note]) == ["k3m9xz"] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_weighing_is_not_disturbed_by_another_threads_list() -> None:
    index = WordIndex()
    notes = [Note(f"n{n:05}", f"Use tool {n}", "preference", "active", "") for n in range(60)]
    lists = [tuple(notes), tuple(notes[15:])]

    def work(turn: int) -> None:
        for step in range(40):
            index.weigh("tool", lists[(turn + step) % 2], 40)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
