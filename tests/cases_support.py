"""Cases as JSON lines, and the utterances that they tell of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from langmem_credit import judge
from langmem_credit.notes import Utterance, Verdict

_CASES = Path(__file__).parent / "cases"


def load_cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file, in its order."""
    lines = (_CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def as_params(cases: Iterable[dict[str, Any]], key: str) -> list[Any]:
    """The cases for parametrize; a case with a `known` reason must fail."""
    return [
        pytest.param(
            case,
            id=case[key],
            marks=[pytest.mark.xfail(reason=case["known"], strict=True)] if "known" in case else [],
        )
        for case in cases
    ]


def heard_of(case: dict[str, Any]) -> list[Utterance]:
    """The case's utterances; a bare text is a typed message."""
    entries = [{"text": one} if isinstance(one, str) else one for one in case["heard"]]
    return [Utterance(id=f"m{number}", **entry) for number, entry in enumerate(entries)]


def judge_case(case: dict[str, Any]) -> Verdict:
    """The verdict on a case of `credit.jsonl`."""
    return judge(
        case["note"],
        case.get("said", case["note"]),
        heard_of(case),
        about=case.get("about"),
        core=case.get("core", False),
    )


def is_credited_on_retry(verdict: Verdict, heard: Sequence[Utterance]) -> bool:
    """True when the refusal offers words, and those are credited."""
    words = verdict.suggestion
    return words is not None and judge(words, words, heard).credited
