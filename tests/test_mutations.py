"""A test goes red for each single defect put into the core.

All of them take half an hour, so that here a fourth is tried, another one after each change of the
package; `python -m tests.mutations` tries all.
"""

from __future__ import annotations

import hashlib

import pytest

from tests.mutations import MUTATIONS, ROOT, run

_SHARES = 4


def share():
    """The mutations that this state of the package is tried with."""
    files = sorted((ROOT / "langmem_credit").rglob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()
    return MUTATIONS[digest[0] % _SHARES :: _SHARES]


def test_there_are_enough_mutations():
    assert len(set(MUTATIONS)) >= 40


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[one.name for one in MUTATIONS])
def test_a_mutation_fits_the_code(mutation):
    path = ROOT / "langmem_credit" / f"{mutation.module}.py"

    assert path.read_text(encoding="utf-8").count(mutation.old) == 1


@pytest.mark.slow
def test_no_mutation_survives():
    survivors = [one.name for one, killed in run(share()).items() if not killed]

    assert survivors == []
