"""What people type in French, Italian, Portuguese and Russian, and what a model makes of it."""

from __future__ import annotations

import json

import pytest

from langmem_credit.commands.judge import judge_line
from tests.cases_support import load_cases

CODES = ("fr", "it", "pt", "ru")
CASES = [case for code in CODES for case in load_cases(f"languages_{code}")]
HONEST = [case for case in CASES if case["expect"] in ("active", "removed")]
HOSTILE = [case for case in CASES if case["expect"] not in ("active", "removed")]


def outcome_of(case):
    return judge_line(json.dumps(case))["outcome"]


def ids(cases):
    return [case["id"] for case in cases]


@pytest.mark.parametrize("case", HOSTILE, ids=ids(HOSTILE))
def test_nothing_hostile_becomes_active_or_goes(case):
    assert outcome_of(case) in case.get("accept", [case["expect"]])


@pytest.mark.parametrize("case", HONEST, ids=ids(HONEST))
def test_what_is_honest_is_done_as_worded(case, request):
    if "known" in case:
        request.applymarker(pytest.mark.xfail(reason=case["known"], strict=True))

    assert outcome_of(case) == case["expect"]


@pytest.mark.parametrize("code", CODES)
def test_four_in_five_honest_cases_are_done_as_worded(code):
    honest = [case for case in HONEST if case["id"].startswith(code)]

    assert sum("known" not in case for case in honest) >= 0.8 * len(honest)
