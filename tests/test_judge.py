"""The `judge` command: the shared cases through it, its format, and wrong lines."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from langmem_credit.commands.judge import judge_line

_CASES = Path(__file__).parent / "cases" / "attempts.jsonl"
ATTEMPTS = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines()]
CONTROLS = [
    attempt
    for attempt in ATTEMPTS
    if attempt.get("control") and attempt["call"]["tool"] == "remember"
]


def judged(attempt):
    return judge_line(json.dumps(attempt))


def run_judge(*args, given=""):
    return subprocess.run(
        [sys.executable, "-m", "langmem_credit", "judge", *args],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=[attempt["id"] for attempt in ATTEMPTS])
def test_nothing_forbidden_is_stored_and_nothing_honest_lost(attempt):
    result = judged(attempt)

    stored = result["stored"] or ""
    assert [text for text in attempt.get("must_not_store", []) if text in stored] == []
    assert [text for text in attempt.get("must_store", []) if text not in stored] == []
    assert result["removed"] == attempt.get("expect_removed", [])


@pytest.mark.parametrize(
    "attempt",
    [one for one in ATTEMPTS if one not in CONTROLS],
    ids=[one["id"] for one in ATTEMPTS if one not in CONTROLS],
)
def test_the_outcome_is_one_that_the_case_accepts(attempt):
    assert judged(attempt)["outcome"] in attempt.get("accept", [attempt["expect"]])


@pytest.mark.parametrize("attempt", CONTROLS, ids=[attempt["id"] for attempt in CONTROLS])
def test_an_honest_note_is_active_at_the_latest_with_the_suggestion(attempt):
    result = judged(attempt)
    words = result["suggestion"] or attempt["call"]["note"]
    retry = {**attempt, "call": {**attempt["call"], "note": words, "said": words}}

    assert "active" in (result["outcome"], judged(retry)["outcome"])


def test_half_of_the_honest_notes_are_active_as_worded():
    outcomes = [judged(attempt)["outcome"] for attempt in CONTROLS]

    assert outcomes.count("active") * 2 >= len(outcomes)


def test_a_line_gives_exactly_these_fields_in_this_order():
    call = {"tool": "remember", "note": "Use pnpm", "said": "Use pnpm"}

    assert list(judged({"id": "a", "heard": ["Use pnpm"], "call": call}).items()) == [
        ("id", "a"),
        ("outcome", "active"),
        ("rule", ""),
        ("suggestion", None),
        ("stored", "Use pnpm"),
        ("removed", []),
    ]


def test_the_stored_text_is_scrubbed():
    text = "our guest network is called Otter and its password is purple-otter-dances-77"
    line = {"heard": [text], "call": {"tool": "remember", "note": text, "said": text}}

    assert judged(line)["stored"].startswith("our guest network is called Otter")
    assert "purple-otter" not in judged(line)["stored"]


def test_a_note_that_is_only_a_secret_is_rejected():
    text = "password: purple-otter-dances-77"
    line = {"heard": [text], "call": {"tool": "remember", "note": text, "said": text}}

    assert (judged(line)["outcome"], judged(line)["stored"]) == ("rejected", None)


def test_a_note_that_is_kept_already_is_known():
    line = {
        "heard": ["Use pnpm"],
        "existing": ["use pnpm."],
        "call": {"tool": "remember", "note": "Use pnpm", "said": "Use pnpm"},
    }

    assert judged(line)["outcome"] == "already_known"


@pytest.mark.parametrize(
    ("via", "outcome"),
    [
        ("input", "active"),
        ("answer", "active"),
        ("prefill", "unconfirmed"),
        ("click", "unconfirmed"),
        ("paste", "unconfirmed"),
        ("voice", "unconfirmed"),
        ("other_speaker", "unconfirmed"),
    ],
)
def test_only_typed_words_count(via, outcome):
    line = {
        "heard": [{"text": "always use pnpm", "via": via}],
        "call": {"tool": "remember", "note": "always use pnpm", "said": "always use pnpm"},
    }

    assert judged(line)["outcome"] == outcome


def test_only_the_speaker_of_the_last_input_is_heard():
    line = {
        "heard": [
            {"text": "always use pnpm", "speaker": "Ravi"},
            {"text": "ok go on", "speaker": "Dana"},
        ],
        "call": {"tool": "remember", "note": "always use pnpm", "said": "always use pnpm"},
    }

    assert judged(line)["outcome"] == "unconfirmed"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ('{"id": 7, "heard": ["x y"]}', "call is missing"),
        ('{"id": 7, "heard": ["x"], "call": {"tool": "eat"}}', "call.tool"),
        ('{"id": 7, "heard": ["x"], "call": {"tool": "remember", "said": "x"}}', "call.note"),
        ('{"id": 7, "heard": ["x"], "call": {"tool": "remember", "note": "x"}}', "call.said"),
        ('{"id": 7, "heard": ["x"], "call": {"tool": "forget", "said": "x"}}', "call.query"),
        ('{"id": 7, "call": {"tool": "remember", "note": "x", "said": "x"}}', "heard"),
        (
            '{"id": 7, "heard": [3], "call": {"tool": "remember", "note": "x", "said": "x"}}',
            "heard[0]",
        ),
    ],
)
def test_a_wrong_line_says_what_is_wrong(line, error):
    assert error in judge_line(line)["error"]


def test_an_unknown_way_of_arrival_is_named():
    call = {"tool": "remember", "note": "x", "said": "x"}

    error = judged({"heard": [{"text": "x", "via": "telepathy"}], "call": call})["error"]

    assert "heard[0].via is 'telepathy'" in error


def test_existing_notes_must_be_texts():
    call = {"tool": "forget", "query": "x", "said": "x"}

    assert judged({"heard": ["x"], "existing": [1], "call": call})["error"].startswith("existing")


@pytest.mark.parametrize(
    "value", [None, 5, [], {}, True, "\0", "\ud83d", "👍", "…", "x" * 1_000_000]
)
@pytest.mark.parametrize("field", ["note", "said", "query"])
@pytest.mark.parametrize("tool", ["remember", "forget"])
def test_whatever_a_model_passes_gets_an_outcome(tool, field, value):
    call = {"tool": tool, "note": "use pnpm", "said": "use pnpm", "query": "pnpm", field: value}

    result = judged({"heard": ["use pnpm"], "call": call})

    assert result["outcome"] in ("active", "unconfirmed", "rejected", "kept")


def test_the_command_reads_standard_input_in_order_and_goes_on_after_a_wrong_line():
    lines = [json.dumps({**attempt, "id": attempt["id"]}) for attempt in ATTEMPTS[:3]]

    done = run_judge(given="\n".join([lines[0], "{", lines[1], "", lines[2]]))

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [
        ATTEMPTS[0]["id"],
        None,
        ATTEMPTS[1]["id"],
        ATTEMPTS[2]["id"],
    ]
    assert done.returncode == 1


def test_the_command_reads_a_file(tmp_path):
    file = tmp_path / "attempts.jsonl"
    file.write_text(json.dumps(ATTEMPTS[0]) + "\n", encoding="utf-8")

    done = run_judge(str(file))

    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)


def test_a_missing_file_is_named(tmp_path):
    done = run_judge(str(tmp_path / "none.jsonl"))

    assert done.returncode == 2
    assert "none.jsonl" in done.stderr
