"""The commands that print the figures are there, and say on what they ran and against what."""

from __future__ import annotations

import gzip
import importlib
import json
import re
from pathlib import Path

import pytest

from langmem_credit import Utterance
from tests.benchmarks import soundness
from tests.benchmarks.recalling import labelled

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"python -m tests\.benchmarks\.(\w+)", README)))
PEERS = {"recalling": "langmem", "sharing": "langmem", "soundness": "plain idea"}


def source_of(name: str) -> str:
    return (ROOT / "tests" / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")


def test_every_command_stands_in_the_readme() -> None:
    folder = ROOT / "tests" / "benchmarks"
    there = [path.stem for path in folder.glob("*.py") if "__main__" in source_of(path.stem)]
    assert sorted(there) == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_can_be_loaded_and_prints_machine_versions_and_a_table(name: str) -> None:
    assert callable(importlib.import_module(f"tests.benchmarks.{name}").main)
    used = [part for part in ("machine()", "versions(", "table(") if part in source_of(name)]
    assert used == ["machine()", "versions(", "table("]


@pytest.mark.parametrize(("name", "peer"), PEERS.items())
def test_a_command_that_compares_names_its_peer(name: str, peer: str) -> None:
    assert peer in source_of(name)


# False and honest credits.

_OWN_PAIRS = soundness.own_pairs
PAIRS = [
    {"heard": "I never eat meat", "note": "I eat meat", "expect": "unconfirmed"},
    {"heard": "I never eat meat", "note": "I never eat meat.", "expect": "unconfirmed"},
    {"heard": "I prefer dark mode", "note": "Prefers dark mode", "expect": "active"},
]


def written(folder: Path, *pairs: dict[str, str]) -> list[str]:
    """The arguments for a folder in which each set holds these pairs."""
    for name in soundness.SETS:
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"said": one["heard"], **one}) + "\n" for one in pairs)
    return ["--data", str(folder)]


@pytest.fixture(autouse=True)
def _few_own_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soundness, "own_pairs", lambda: iter(OWN))


OWN = [
    soundness.Pair("unseen", "limit", "en", (Utterance("m", typed),), note, note, honest)
    for typed, note, honest in (
        ("I use tabs. Only in C.", "I use tabs", False),
        ("I use tabs. Can you fix the build?", "I use tabs", True),
        ("I use tabs", "The user likes to use tabs", True),
    )
]


def test_sound_credits_meet_the_aim_side_by_side_with_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert soundness.main([*written(tmp_path, *PAIRS), "--by", "category"]) == 0
    told = capsys.readouterr().out
    assert told.count("credit rule") == told.count("plain idea") == 4
    assert told.count("one sentence") == 4
    rows = [line.split("|")[1:-1] for line in told.splitlines() if "unseen" in line]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert [row[1:3] for row in cells] == [
        ["credit rule", "0 of 1: 0.0% (0.0%-79.3%)"],
        ["one sentence", "1 of 1: 100.0% (20.7%-100.0%)"],
        ["plain idea", "1 of 1: 100.0% (20.7%-100.0%)"],
        ["limit", "0 of 1: 0.0% (0.0%-79.3%)"],
    ]
    assert cells[0][3:] == ["1 of 2: 50.0% (9.5%-90.5%)", "2 of 2: 100.0% (34.2%-100.0%)"]
    assert told.endswith("met\n")


def test_the_aim_needs_no_public_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert soundness.main([]) == 0
    assert "hans" not in capsys.readouterr().out


@pytest.mark.parametrize("credited", [True, False])
def test_a_false_credit_or_a_lost_honest_note_misses_the_aim(
    credited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "credits_by_rule", lambda pair: credited)
    assert soundness.main(written(tmp_path, *PAIRS)) == 1


def test_missing_sets_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert soundness.main(["--data", str(tmp_path)]) == 2
    assert "hans.jsonl.gz, med.jsonl.gz, rules.jsonl.gz" in capsys.readouterr().out


def test_the_own_pairs_are_of_every_set_and_language() -> None:
    pairs = list(_OWN_PAIRS())
    sets = {"pairs", "attempts", "unseen", "beside", "edges", "languages"}
    assert {pair.set for pair in pairs} == sets
    assert {pair.language for pair in pairs} == set(soundness.LANGUAGES)


# Recall.


def test_the_labelled_set_is_large_enough_and_each_answer_is_a_note() -> None:
    notes, asked = labelled()
    ids = {note.id for note in notes}
    kinds = {question["kind"] for question in asked}
    assert len(ids) == len(notes) >= 300
    assert len({question["question"] for question in asked}) >= 150
    assert {"paraphrase", "name", "number", "code", "de", "es", "zh", "ja"} <= kinds
    assert all(question["answers"] and ids >= set(question["answers"]) for question in asked)
