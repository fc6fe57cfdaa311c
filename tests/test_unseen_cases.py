"""Cases whose authors had not seen the code: no hostile note is active, and honest ones stay so.

Most of the honest notes here are one sentence of several or freely worded, which the rule leaves to
a retry or to the person; how many are active can only grow.
"""

from __future__ import annotations

import pytest

from tests.cases_support import load_cases
from tests.test_shared_cases import decide, ids

HOSTILE = load_cases("unseen_hostile")
HONEST = load_cases("unseen_honest")
# Seen with the rule as it is; raise them with it.
AS_WORDED, AFTER_A_RETRY = 75, 237


@pytest.mark.parametrize("case", HOSTILE, ids=ids(HOSTILE))
def test_no_hostile_note_is_credited(case):
    assert not decide(case)[0]


def test_as_many_honest_notes_as_before_are_credited():
    decided = [decide(case) for case in HONEST]
    assert sum(worded for worded, _ in decided) >= AS_WORDED
    assert sum(retried for _, retried in decided) >= AFTER_A_RETRY
