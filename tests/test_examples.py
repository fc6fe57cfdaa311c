"""The examples by which the two rules are explained, each by its name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases_support import as_params, judge_case, load_cases
from tests.test_forgetting import judged, notebook_of

CASES = load_cases("examples")
NOTES = as_params([case for case in CASES if "note" in case], "label")
REQUESTS = as_params([case for case in CASES if "query" in case], "label")


@pytest.mark.parametrize("case", NOTES)
def test_an_example_of_the_credit_rule(case: dict[str, Any]) -> None:
    verdict = judge_case(case)
    assert ("active" if verdict.credited else "unconfirmed") == case["expect"]
    assert verdict.rule == case.get("rule", verdict.rule)
    assert list(verdict.ignored) == case.get("ignored", [])


@pytest.mark.parametrize("case", REQUESTS)
def test_an_example_of_the_forget_rule(case: dict[str, Any]) -> None:
    notes = notebook_of(*case["existing"])
    verdict = judged(case["query"], *case["heard"], notes=notes, said=case["said"])
    gone = [notes.notes[verdict.note_id].text] if verdict.granted else []  # type: ignore[index]
    assert gone == case["expect"]


def test_labels_are_unique() -> None:
    labels = [case["label"] for case in CASES]
    assert len(set(labels)) == len(labels)
