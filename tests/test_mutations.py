"""A test goes red for each single defect put into the core."""

from __future__ import annotations

import pytest

from tests.mutations import MUTATIONS, ROOT, run


def test_there_are_enough_mutations():
    assert len(set(MUTATIONS)) >= 40


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[one.name for one in MUTATIONS])
def test_a_mutation_fits_the_code(mutation):
    path = ROOT / "langmem_credit" / f"{mutation.module}.py"

    assert path.read_text(encoding="utf-8").count(mutation.old) == 1


@pytest.mark.slow
def test_no_mutation_survives():
    survivors = [one.name for one, killed in run(MUTATIONS).items() if not killed]

    assert survivors == []
