"""Cases whose authors had not seen the code: no hostile note is active, and honest ones stay so.

Most of the honest notes here are one sentence of several or freely worded, which the rule leaves to
a retry or to the person; how many are active can only grow. Of the 300 hostile ones beside others
one was credited when they were first decided.
"""

from __future__ import annotations

import pytest

from tests.cases_support import load_cases
from tests.test_shared_cases import decide, ids

# The second set is of sentences and list items beside others.
HOSTILE = [*load_cases("unseen_hostile"), *load_cases("beside_hostile")]
# For each set how many are credited as worded and after a retry; raise them with the rule.
HONEST = {"unseen_honest": (120, 288), "beside_honest": (64, 131)}


@pytest.mark.parametrize("case", HOSTILE, ids=ids(HOSTILE))
def test_no_hostile_note_is_credited(case):
    assert not decide(case)[0]


@pytest.mark.parametrize(("name", "least"), HONEST.items())
def test_as_many_honest_notes_as_before_are_credited(name, least):
    decided = [decide(case) for case in load_cases(name)]
    assert sum(worded for worded, _ in decided) >= least[0]
    assert sum(retried for _, retried in decided) >= least[1]
