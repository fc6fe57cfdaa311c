"""What every index keeps to, on a Chroma folder and on a Chroma server that the test starts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from langmem_credit import chroma_index, chroma_scope
from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.chroma_rows import collection_name, rows_of
from langmem_credit.chroma_server import Server
from langmem_credit.errors import ConfigurationError
from langmem_credit.index import Index, SyncReport, WordsOnly
from langmem_credit.notes import Note
from tests.index_support import DIMENSION, BagOfWords, ChromaServer, note, numbered

Open = Callable[..., ChromaIndex]
NASTY_KEYS: tuple[Any, ...] = (
    "ann",
    "anna",
    "Ann",
    "a",
    "a:b",
    ("a", "b"),
    ("a:b",),
    ("a", ""),
    ("a",),
    "a.b@c.example",
    "ä",
    "a\u0308",
    "1",
    "",
    "\ud83d",
    "x" * 2_000,
    "x" * 2_001,
    '["a", "b"]',
)


def ids(found: list[Any]) -> list[str]:
    return [hit.note_id for hit in found]


def behind_its_back(index: ChromaIndex, key: Any, work: Callable[[Any], Any]) -> Any:
    """Works on the scope's collection as another program would."""
    name = collection_name(key)
    return index._place.call(
        name, lambda client: work(client.get_collection(name, embedding_function=None))
    )


class IndexContract:
    """The behaviours; a subclass gives `place`."""

    @pytest.fixture
    def open_index(self, place: str) -> Iterator[Open]:
        opened: list[ChromaIndex] = []

        def open_one(embedder: Any = None, **options: Any) -> ChromaIndex:
            opened.append(ChromaIndex(place, embedder or BagOfWords(), **options))
            return opened[-1]

        yield open_one
        for index in opened:
            index.close()

    @pytest.fixture
    def index(self, open_index: Open) -> ChromaIndex:
        return open_index()

    # Finding.

    def test_it_is_an_index(self, index: ChromaIndex) -> None:
        assert isinstance(index, Index)

    def test_the_nearest_note_comes_first(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(50))
        assert ids(index.search("ann", "word17", 3))[0] == "n00017"

    def test_the_same_text_scores_one(self, index: ChromaIndex) -> None:
        index.sync("ann", [note("aaaaaa", "dark mode")])
        assert index.search("ann", "dark mode", 1)[0].score == pytest.approx(1.0, abs=1e-5)

    def test_scores_fall(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(50))
        scores = [hit.score for hit in index.search("ann", "the things", 20)]
        assert scores == sorted(scores, reverse=True)

    def test_k_bounds_the_answer(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(50))
        assert len(index.search("ann", "word1", 7)) == 7

    def test_a_k_past_the_notes_gives_them_all(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(5))
        assert len(index.search("ann", "word1", 1_000_000)) == 5

    def test_only_live_notes_are_found(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(60))
        assert set(ids(index.search("ann", "word1", 5, live={"n00044", "n00055"}))) == {
            "n00044",
            "n00055",
        }

    def test_live_notes_that_are_not_indexed_are_no_hits(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(5))
        assert index.search("ann", "word1", 5, live={"zzzzzz"}) == []

    @pytest.mark.parametrize("key", ["ann", ("memories", "ann")])
    def test_an_unknown_scope_is_empty(self, index: ChromaIndex, key: Any) -> None:
        assert index.search(key, "word1", 5) == []

    @pytest.mark.parametrize("query", ["", " \n", None, 7, b"x"])
    def test_a_query_without_words_finds_nothing(self, index: ChromaIndex, query: Any) -> None:
        index.sync("ann", numbered(5))
        assert index.search("ann", query, 5) == []

    @pytest.mark.parametrize(
        "query", ["\0", "\ud83d", "x" * 1_000_000, "a') OR 1=1 --", 'C:\\repo | a/b "x" (y) -z *']
    )
    def test_a_hostile_query_is_only_text(self, index: ChromaIndex, query: str) -> None:
        index.sync("ann", numbered(5))
        assert len(index.search("ann", query, 5)) == 5

    @pytest.mark.parametrize("k", [0, -1, None, "3"])
    def test_a_k_that_asks_for_nothing_gets_nothing(self, index: ChromaIndex, k: Any) -> None:
        index.sync("ann", numbered(5))
        assert index.search("ann", "word1", k) == []

    def test_scopes_never_see_each_other(self, index: ChromaIndex) -> None:
        for number, key in enumerate(NASTY_KEYS):
            index.sync(key, [note(f"n{number:05d}", "the same words")])
        found = [ids(index.search(key, "the same words", 50)) for key in NASTY_KEYS]
        assert found == [[f"n{number:05d}"] for number in range(len(NASTY_KEYS))]

    def test_deployments_never_see_each_other(self, open_index: Open) -> None:
        open_index(deployment="live").sync("ann", numbered(3))
        assert open_index(deployment="trial").search("ann", "word1", 5) == []

    # Keeping in step.

    def test_an_unchanged_scope_is_not_written_again(self, open_index: Open) -> None:
        embedder = BagOfWords()
        index = open_index(embedder)
        index.sync("ann", numbered(20))
        before = list(embedder.embedded)
        report = index.sync("ann", numbered(20))
        assert (report, embedder.embedded) == (SyncReport(indexed=20), before)

    def test_another_process_finds_what_is_indexed_already(self, open_index: Open) -> None:
        open_index().sync("ann", numbered(20))
        embedder = BagOfWords()
        later = open_index(embedder)
        assert later.sync("ann", numbered(20)) == SyncReport(indexed=20)
        assert embedder.embedded == []

    def test_order_is_the_same_after_a_restart(self, open_index: Open) -> None:
        first = open_index()
        first.sync("ann", numbered(40))
        before = first.search("ann", "the 3 things", 10)
        first.close()
        assert open_index().search("ann", "the 3 things", 10) == before

    def test_the_same_token_is_not_looked_at(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(5), token="t1")

        def never() -> Iterator[Note]:
            raise AssertionError
            yield

        assert index.sync("ann", never(), token="t1") == SyncReport(indexed=5)

    def test_another_token_is_looked_at(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(5), token="t1")
        assert index.sync("ann", numbered(6), token="t2").added == 1

    def test_a_new_note_alone_is_added(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(5))
        assert index.sync("ann", numbered(6)) == SyncReport(added=1, indexed=6)

    def test_a_forgotten_note_is_found_no_more(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(30))
        index.sync("ann", [one for one in numbered(30) if one.id != "n00017"])
        assert "n00017" not in ids(index.search("ann", "word17", 30))

    def test_a_forgotten_note_has_no_row(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(3))
        index.sync("ann", numbered(2))
        rows = behind_its_back(index, "ann", rows_of)
        assert sorted(row.partition("-")[0] for row in rows) == ["n00000", "n00001"]

    def test_a_changed_text_takes_the_old_ones_place(self, index: ChromaIndex) -> None:
        index.sync("ann", [note("aaaaaa", "old words"), *numbered(5)])
        report = index.sync("ann", [note("aaaaaa", "new text"), *numbered(5)])
        assert (report.added, report.removed) == (1, 1)
        assert index.search("ann", "new text", 1)[0].score == pytest.approx(1.0, abs=1e-5)

    def test_an_empty_scope_costs_nothing(self, open_index: Open) -> None:
        embedder = BagOfWords()
        assert open_index(embedder).sync("ann", []) == SyncReport()

    def test_everything_forgotten_leaves_no_row(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(30))
        index.sync("ann", [])
        assert behind_its_back(index, "ann", rows_of) == []

    def test_a_dropped_scope_is_gone_and_may_come_back(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(3))
        assert index.drop("ann") == SyncReport(removed=3)
        assert index.search("ann", "word1", 3) == []
        assert index.sync("ann", numbered(3)).added == 3

    def test_dropping_what_is_not_there_is_harmless(self, index: ChromaIndex) -> None:
        assert index.drop("nobody") == SyncReport()

    def test_more_rows_than_a_statement_takes_come_and_go(self, open_index: Open) -> None:
        index = open_index(BagOfWords(dimension=4))
        assert index.sync("ann", numbered(6_000)).indexed == 6_000
        assert index.sync("ann", []) == SyncReport(removed=6_000)

    def test_a_budget_leaves_the_oldest_for_later(self, index: ChromaIndex) -> None:
        class Slow(BagOfWords):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                threading.Event().wait(0.05)
                return super().embed_documents(texts)

        index._vectors._embedder = Slow()  # type: ignore[union-attr]
        first = index.sync("ann", numbered(300), budget_s=0.3)
        assert 0 < first.pending < 300
        assert "n00299" in ids(index.search("ann", "word299", 3))
        assert index.sync("ann", numbered(300)) == SyncReport(added=first.pending, indexed=300)

    def test_a_token_is_not_kept_while_something_is_left(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(100), token="t1", budget_s=0.0)
        assert index.sync("ann", numbered(100), token="t1").indexed == 100

    def test_whom_a_note_is_about_is_found(self, index: ChromaIndex) -> None:
        index.sync("ann", [note("aaaaaa", "likes mornings", about="Lin"), *numbered(5)])
        assert ids(index.search("ann", "Lin:", 1)) == ["aaaaaa"]

    # Rows that are not as they should be.

    def test_rows_of_gone_notes_take_no_place_from_living_ones(self, index: ChromaIndex) -> None:
        index.sync("ann", [note("aaaaaa", "a b c d"), *numbered(5)])
        exact = [float(one) for one in BagOfWords().embed_query("x y")]
        behind_its_back(
            index,
            "ann",
            lambda rows: rows.upsert(
                ids=[f"g{n:05d}-0123456789abcdef" for n in range(300)], embeddings=[exact] * 300
            ),
        )
        assert len(index.search("ann", "x y", 5)) == 5

    def test_rows_that_belong_to_nobody_go(self, open_index: Open) -> None:
        index = open_index()
        index.sync("ann", numbered(5))
        vector = [1.0] * DIMENSION
        behind_its_back(
            index, "ann", lambda rows: rows.upsert(ids=["ghost", "x-y"], embeddings=[vector] * 2)
        )
        report = open_index().sync("ann", numbered(5))
        assert report == SyncReport(removed=2, indexed=5)

    def test_rows_that_are_missing_come_back(self, open_index: Open) -> None:
        index = open_index()
        index.sync("ann", numbered(5))
        behind_its_back(index, "ann", lambda rows: rows.delete(ids=rows_of(rows)[:2]))
        assert open_index().sync("ann", numbered(5)) == SyncReport(added=2, indexed=5)

    def test_a_lost_row_is_noticed_in_the_same_process(
        self, index: ChromaIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index.sync("ann", numbered(5), token="t1")
        behind_its_back(index, "ann", lambda rows: rows.delete(ids=rows_of(rows)[:2]))
        monkeypatch.setattr(chroma_scope, "_CHECK_SECONDS", 0.0)
        assert index.sync("ann", numbered(5), token="t1").added == 2

    def test_a_row_of_an_older_wording_is_no_hit(self, open_index: Open) -> None:
        open_index().sync("ann", [note("aaaaaa", "old words")])
        index = open_index()
        index.sync("ann", [note("aaaaaa", "new text")])
        assert index.search("ann", "old words", 1)[0].score < 0.9

    def test_a_collection_that_was_taken_away_is_made_again(self, open_index: Open) -> None:
        index = open_index()
        index.sync("ann", numbered(5))
        name = collection_name("ann")
        index._place.call(name, lambda client: client.delete_collection(name), writes=True)
        assert ids(index.search("ann", "word1", 1)) == ["n00001"]
        assert index.sync("ann", numbered(5)) == SyncReport(indexed=5)

    # The embedder.

    def test_another_model_means_indexing_again_once(self, open_index: Open) -> None:
        open_index().sync("ann", numbered(20))
        other = BagOfWords(salt="other")
        index = open_index(other)
        index.sync("ann", numbered(21))
        assert len(other.embedded) == 21
        assert ids(index.search("ann", "word7", 1)) == ["n00007"]
        assert index.sync("ann", numbered(21)).added == 0

    def test_another_model_and_back_gives_the_same_answers(self, open_index: Open) -> None:
        first = open_index()
        first.sync("ann", numbered(20))
        before = first.search("ann", "the 3 things", 10)
        open_index(BagOfWords(salt="other")).sync("ann", numbered(21))
        again = open_index()
        again.sync("ann", numbered(21))
        again.sync("ann", numbered(20))
        found = again.search("ann", "the 3 things", 10)
        assert ids(found) == ids(before)

    def test_another_dimension_means_indexing_again(self, open_index: Open) -> None:
        open_index().sync("ann", numbered(20))
        index = open_index(BagOfWords(dimension=12))
        index.sync("ann", numbered(21))
        assert (index.status().dimension, index.status().indexed) == (12, 21)

    def test_a_model_that_changed_is_noticed_by_a_search(self, open_index: Open) -> None:
        open_index().sync("ann", numbered(20))
        index = open_index(BagOfWords(salt="other"))
        index.sync("ann", numbered(20))
        assert ids(index.search("ann", "word7", 1)) == ["n00007"]

    def test_a_model_that_changed_finds_nothing_before_the_first_sync(
        self, open_index: Open
    ) -> None:
        open_index().sync("ann", numbered(20))
        assert open_index(BagOfWords(salt="other")).search("ann", "word7", 3) == []

    def test_the_same_model_by_another_name_changes_nothing(self, open_index: Open) -> None:
        open_index().sync("ann", numbered(20))
        renamed = BagOfWords()
        renamed.model_name = "the bag"
        assert open_index(renamed).sync("ann", numbered(21)).added == 1

    def test_any_langchain_embeddings_will_do(self, open_index: Open) -> None:
        index = open_index(DeterministicFakeEmbedding(size=32))
        index.sync("ann", numbered(5))
        assert ids(index.search("ann", numbered(5)[3].text, 1)) == ["n00003"]

    def test_one_text_that_is_refused_keeps_no_other_out(self, open_index: Open) -> None:
        class Picky(BagOfWords):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                if any("word13" in text for text in texts):
                    raise ValueError("too long")
                return super().embed_documents(texts)

        index = open_index(Picky())
        report = index.sync("ann", numbered(40))
        assert (report.indexed, report.pending, report.reason) == (39, 0, "")
        assert dict(report.not_indexed) == {"n00013": "it raised ValueError"}
        assert dict(index.status().not_indexed) == dict(report.not_indexed)

    def test_a_refused_text_is_not_tried_again_until_it_changes(self, open_index: Open) -> None:
        class Picky(BagOfWords):
            tries = 0

            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                if "bad" in texts[0]:
                    Picky.tries += 1
                    raise ValueError
                return super().embed_documents(texts)

        index = open_index(Picky())
        index.sync("ann", [note("aaaaaa", "bad")])
        tries = Picky.tries
        index.sync("ann", [note("aaaaaa", "bad")])
        assert Picky.tries == tries
        assert index.sync("ann", [note("aaaaaa", "good")]).indexed == 1

    @pytest.mark.parametrize(
        "vector",
        [
            [float("nan")] * DIMENSION,
            [float("inf")] * DIMENSION,
            [0.0] * DIMENSION,
            [1.0],
            [],
            ["x"] * DIMENSION,
            None,
            [[1.0] * DIMENSION],
        ],
        ids=["nan", "infinite", "zero", "short", "empty", "letters", "none", "nested"],
    )
    def test_a_vector_that_is_none_is_not_indexed(self, open_index: Open, vector: Any) -> None:
        class Odd(BagOfWords):
            def embed_documents(self, texts: list[str]) -> list[Any]:
                return [vector if "odd" in text else self._vector(text) for text in texts]

        report = open_index(Odd()).sync("ann", [note("aaaaaa", "odd"), *numbered(3)])
        assert (report.indexed, list(report.not_indexed)) == (3, ["aaaaaa"])

    def test_an_embedder_that_fails_leaves_words(self, open_index: Open) -> None:
        class Down(BagOfWords):
            def embed_query(self, text: str) -> list[float]:
                raise ConnectionError("no route")

        index = open_index(Down())
        report = index.sync("ann", numbered(3))
        assert "it raised ConnectionError" in report.reason
        assert (report.indexed, report.pending) == (0, 3)
        assert index.search("ann", "word1", 3) == []
        assert index.status().state == "words only"

    def test_an_embedder_that_hangs_is_left_alone_in_time(self, open_index: Open) -> None:
        waiting = threading.Event()

        class Hangs(BagOfWords):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                waiting.wait(20)
                return super().embed_documents(texts)

        index = open_index(Hangs(), timeout_s=0.3)
        assert "no answer within" in index.sync("ann", numbered(3)).reason
        waiting.set()

    def test_the_operator_is_told_once_when_it_fails_and_once_when_it_works(
        self, open_index: Open, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chroma_index, "_EMBEDDER_REST_SECONDS", 0.0)

        class Wavering(BagOfWords):
            down = True

            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                if self.down:
                    raise ConnectionError
                return super().embed_documents(texts)

            def embed_query(self, text: str) -> list[float]:
                return self.embed_documents([text])[0]

        embedder = Wavering()
        index = open_index(embedder)
        with caplog.at_level(logging.WARNING, "langmem_credit"):
            for _ in range(3):
                index.sync("ann", numbered(3))
            embedder.down = False
            for _ in range(3):
                index.sync("ann", numbered(3))
        told = [message for message in caplog.messages if "recall is by" in message]
        assert [message.partition(":")[2][:32].strip() for message in told] == [
            "recall is by words alone: The e",
            "recall is by meaning again",
        ]

    def test_the_log_never_holds_words_or_keys(
        self, open_index: Open, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Picky(BagOfWords):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                raise ValueError(texts[0])

        with caplog.at_level(logging.DEBUG, "langmem_credit"):
            open_index(Picky()).sync("ann@example.org", [note("aaaaaa", "swordfish")])
        assert "swordfish" not in caplog.text
        assert "ann@example.org" not in caplog.text

    # How it is.

    def test_the_status_of_an_unused_index_says_so(self, index: ChromaIndex) -> None:
        status = index.status()
        assert (status.state, status.model, status.reason) == (
            "unused",
            "BagOfWords bag-of-words",
            "",
        )

    def test_the_status_of_a_used_index_counts(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(3))
        index.sync("bob", numbered(4))
        status = index.status()
        assert (status.state, status.scopes, status.indexed, status.dimension) == (
            "ready",
            2,
            7,
            DIMENSION,
        )

    def test_the_status_names_releases(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(1))
        assert index.status().versions["chromadb"]

    def test_chromas_telemetry_is_off_whatever_the_environment_says(
        self, open_index: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANONYMIZED_TELEMETRY", "True")
        index = open_index()
        index.sync("ann", numbered(1))
        settings = behind_its_back(index, "ann", lambda found: found._client._system.settings)
        assert settings.anonymized_telemetry is False

    def test_it_may_be_used_again_after_closing(self, index: ChromaIndex) -> None:
        index.sync("ann", numbered(3))
        index.close()
        assert ids(index.search("ann", "word1", 1)) == ["n00001"]

    def test_many_threads_keep_and_find(self, index: ChromaIndex) -> None:
        problems: list[object] = []

        def work(number: int) -> None:
            for count in range(1, 8):
                report = index.sync(f"user{number}", numbered(count))
                if not report.done or report.indexed != count:
                    problems.append(report)
                if not index.search(f"user{number}", "word0", 1):
                    problems.append((number, count))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []

    def test_many_threads_on_one_scope_agree(self, index: ChromaIndex) -> None:
        threads = [
            threading.Thread(target=index.sync, args=("ann", numbered(40))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(behind_its_back(index, "ann", rows_of)) == 40


class TestChromaFolder(IndexContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return str(tmp_path / "index")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    server = ChromaServer(tmp_path_factory.mktemp("chroma"))
    server.start()
    yield server
    server.stop()


class TestChromaServer(IndexContract):
    @pytest.fixture
    def place(self, server: ChromaServer) -> Iterator[str]:
        yield server.url
        cleaner = Server(server.url)
        for collection in cleaner.call("", lambda client: client.list_collections()):
            cleaner.drop(collection.name)
        cleaner.close()


# Without an embedder, and wrong arguments.


def test_without_an_embedder_it_finds_nothing_and_says_why(tmp_path: Path) -> None:
    index = ChromaIndex(tmp_path / "index", None)
    assert index.sync("ann", numbered(3)).reason == "No embedder is set: recall is by words."
    assert index.search("ann", "word1", 3) == []
    assert index.status().state == "words only"
    assert not (tmp_path / "index").exists()


def test_words_only_is_an_index() -> None:
    assert isinstance(WordsOnly(), Index)


def test_words_only_takes_everything() -> None:
    index = WordsOnly()
    assert index.sync("ann", numbered(3)).reason
    assert index.drop("ann") == SyncReport()
    assert index.status().state == "words only"
    index.close()


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("",), {}),
        ((None,), {}),
        ((7,), {}),
        (("folder", "remote"), {}),
        (("folder", 7), {}),
        (("folder",), {"headers": {}}),
        (("http://localhost:8000",), {"port": 1}),
        (("ftp://localhost",), {}),
        (("http://",), {}),
        (("http://localhost:port",), {}),
    ],
)
def test_an_argument_that_does_not_fit_is_refused(
    arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    with pytest.raises(ConfigurationError, match=r"Pass|option"):
        ChromaIndex(*arguments, **options)


def test_a_wrong_address_does_not_repeat_its_password() -> None:
    with pytest.raises(ConfigurationError) as refused:
        ChromaIndex("ftp://ann:hunter2@localhost")
    assert "hunter2" not in str(refused.value)
