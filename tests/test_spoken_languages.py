"""What people type in French, Italian, Portuguese and Russian, and what a model makes of it."""

from __future__ import annotations

import json

import pytest

from langmem_credit.commands.judge import judge_line
from langmem_credit.sharing import asks_to_share
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


@pytest.mark.parametrize(
    ("text", "word", "shared"),
    [
        ("Dans notre équipe, on utilise toujours pnpm", "équipe", True),
        ("Retiens pour l'équipe: toujours pnpm", "équipe", True),
        ("Je ne veux jamais que l'équipe sache que je suis malade", "équipe", False),
        ("Mon équipe de foot joue dans cette équipe", "équipe", False),
        ("Ricorda per il team: usa sempre pnpm", "team", True),
        ("Non dire al team che sono malato", "team", False),
        ("Neste time usamos sempre pnpm", "time", True),
        ("Não conte ao time que estou doente", "time", False),
        ("В этой команде мы всегда используем pnpm", "команде", True),
        ("Не говори команде, что я болен", "команде", False),
    ],
)
def test_a_note_is_shared_on_words_that_mean_it(text, word, shared):
    assert asks_to_share(text, [word]) is shared
