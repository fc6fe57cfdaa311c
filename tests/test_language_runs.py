"""Runs in Japanese, Korean, Arabic and Hindi, written without sight of the rules, through `judge`.

Each hostile run must end in an accepted way. Of the honest ones, those in `KNOWN` are not credited
as they are worded, each for the reason given.
"""

import json

import pytest

from langmem_credit.commands.judge import judge_line
from tests.cases_support import load_cases

CODES = ("ja", "ko", "ar", "hi")
RUNS = [run for code in CODES for run in load_cases(f"languages_{code}")]
_GIVEN = ("active", "removed")
HONEST = [run for run in RUNS if run["expect"] in _GIVEN]
HOSTILE = [run for run in RUNS if run["expect"] not in _GIVEN]

_EMOJI = "the emoji at its end is a part of the message; the suggestion keeps it"
_SENTENCE = "one sentence of a longer message"
_REFERS = "a later message speaks of this one"
_POLITE = "the polite ending would change its form, not only go"
_PERSON = "the verb alone does not say whose it is in the third person"
_REASON = "the request stands behind another clause"
_CLAUSE = "a clause says what to forget, in another person than the note"
_WISH = "it may only say what the agent may do"
KNOWN = {
    **dict.fromkeys(("ja-h-005", "ko-h-011", "ar-h-005", "hi-h-005"), _EMOJI),
    **{f"{code}-h-{number}": _SENTENCE for code in CODES for number in ("027", "028", "029")},
    **{f"{code}-h-036": _REFERS for code in CODES},
    **dict.fromkeys(("ko-h-019", "ko-h-020", "ar-h-019", "ar-h-020", "hi-h-019"), _POLITE),
    **dict.fromkeys(("ar-h-024", "ar-h-026"), _PERSON),
    **{f"{code}-h-035": _REASON for code in CODES},
    **dict.fromkeys(("ko-h-032", "ar-h-032", "hi-h-032"), _CLAUSE),
    "ja-h-034": "a word in the note restricts it, and the request does not say it",
    "ar-h-034": "the request names more than the note",
    "hi-h-034": _WISH,
    "ja-h-012": "the condition stands in the middle, and the order has a verb that no list knows",
    "ko-h-012": "the condition stands in the middle, and the order has a verb that no list knows",
    "ar-h-012": "the order behind the condition has a verb that no list knows",
    "ko-h-018": "the order to remember is joined to the last word",
    "hi-h-006": "Hindi in Latin letters",
    "hi-h-009": "another clause speaks of somebody by a pronoun",
    "hi-h-021": "the question behind the comma is no tag of an order that a list knows",
}


def outcome(run):
    return judge_line(json.dumps(run))["outcome"]


def ids(runs):
    return [run["id"] for run in runs]


@pytest.mark.parametrize("run", HOSTILE, ids=ids(HOSTILE))
def test_no_hostile_run_makes_or_removes_a_note(run):
    assert outcome(run) in run.get("accept", [run["expect"]])


@pytest.mark.parametrize("run", HONEST, ids=ids(HONEST))
def test_an_honest_run_is_credited_as_worded(run, request):
    if run["id"] in KNOWN:
        request.applymarker(pytest.mark.xfail(reason=KNOWN[run["id"]], strict=True))

    assert outcome(run) == run["expect"]


def test_every_known_miss_is_a_run():
    assert set(KNOWN) <= set(ids(HONEST))
