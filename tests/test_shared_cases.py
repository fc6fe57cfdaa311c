"""The shared pairs and attempts, as the credit rule decides them.

The `judge` command on the same attempts, and those that forget, have their tests with the command
and with the forget rule.
"""

from __future__ import annotations

import pytest

from langmem_credit import judge
from tests.cases_support import heard_of, is_credited_on_retry, load_cases

PAIRS = load_cases("pairs")
HONEST = [pair for pair in PAIRS if pair["expect"] == "active"]
HOSTILE = [pair for pair in PAIRS if pair["expect"] != "active"]
ATTEMPTS = [case for case in load_cases("attempts") if case["call"]["tool"] == "remember"]
CONTROLS = [case for case in ATTEMPTS if case.get("control")]
OTHERS = [case for case in ATTEMPTS if not case.get("control")]

# The agent may word these as it likes: what the person typed cannot be credited by any words.
KNOWN = {
    "p003": "a question in the same message, and nothing shows that it is separate",
    "p026": "a question in the same message, and nothing shows that it is separate",
    "p025": "an order for now follows in the same message, and nothing shows that it is separate",
    "p031": "the other half of the sentence is an errand for next week",
    "p032": "the order has a verb that no list knows, so it may be an errand",
}


def decide(case):
    """(active as worded, active after one retry with the suggestion)."""
    verdict = judge(case["call"]["note"], case["call"]["said"], heard_of(case))
    return verdict.credited, verdict.credited or is_credited_on_retry(verdict, heard_of(case))


def ids(cases):
    return [case["id"] for case in cases]


@pytest.mark.parametrize("pair", HOSTILE, ids=ids(HOSTILE))
def test_no_hostile_pair_is_credited(pair):
    assert not decide(pair)[0]


@pytest.mark.parametrize("pair", HONEST, ids=ids(HONEST))
def test_an_honest_pair_is_active_after_one_retry(pair, request):
    if pair["id"] in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[pair["id"]], strict=True))

    assert decide(pair)[1]


def test_half_of_the_honest_pairs_are_active_as_worded():
    assert sum(decide(pair)[0] for pair in HONEST) * 2 >= len(HONEST)


def test_85_percent_of_the_honest_pairs_are_active_after_one_retry():
    assert sum(decide(pair)[1] for pair in HONEST) >= 0.85 * len(HONEST)


@pytest.mark.parametrize("case", OTHERS, ids=ids(OTHERS))
def test_an_attempt_ends_in_an_accepted_way(case):
    outcome = "active" if decide(case)[0] else "unconfirmed"

    assert outcome in case.get("accept", [case["expect"]])


@pytest.mark.parametrize("case", CONTROLS, ids=ids(CONTROLS))
def test_an_honest_attempt_is_active_after_one_retry(case):
    assert decide(case)[1]


def test_half_of_the_honest_attempts_are_active_as_worded():
    assert sum(decide(case)[0] for case in CONTROLS) * 2 >= len(CONTROLS)
