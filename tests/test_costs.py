"""The measured aims, held by the commands that print the figures."""

from __future__ import annotations

import pytest

from tests.benchmarks import checkpoints, importing, searching


@pytest.mark.slow
def test_memory_adds_little_to_the_database() -> None:
    assert checkpoints.report_databases(scale=1) == []


@pytest.mark.slow
def test_memory_adds_little_to_a_model_call() -> None:
    # What else the machine does counts as well: one quiet moment of three is enough.
    assert any(checkpoints.report_overhead(runs=200) == [] for _ in range(3))


@pytest.mark.slow
def test_the_import_is_fast() -> None:
    assert importing.main(runs=5) == 0


@pytest.mark.slow
@pytest.mark.parametrize("database", ["SQLite", "PostgreSQL"])
def test_a_search_over_a_thousand_sessions_is_fast(database: str) -> None:
    assert searching.report(database, 1_000) == []


@pytest.mark.parametrize("number", [0, 7, 199])
def test_the_messages_measured_have_200_characters(number: int) -> None:
    texts = (checkpoints.preference(number), checkpoints.request(number), checkpoints.ANSWER)
    assert {len(text) for text in texts} == {200}
