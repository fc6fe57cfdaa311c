"""What the documents show is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents_support import run_document
from tests.project_support import ROOT

PYTHON = "```python\nword = 'pnpm'\nprint(f'use {word}')\n```\n"


def test_the_code_in_the_readme_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    assert run_document(ROOT / "README.md", tmp_path) == []


def written(folder: Path, text: str) -> Path:
    path = folder / "document.md"
    path.write_text(text)
    return path


def test_the_right_output_passes(tmp_path: Path) -> None:
    document = written(tmp_path, f"{PYTHON}\n```text\nuse pnpm\n```\n")
    assert run_document(document, tmp_path) == []


def test_another_output_is_reported_with_its_line(tmp_path: Path) -> None:
    document = written(tmp_path, f"A line.\n\n{PYTHON}\n```text\nuse npm\n```\n")
    assert run_document(document, tmp_path) == [
        "document.md:3 printed\nuse pnpm\n\ninstead of\nuse npm\n"
    ]


def test_dots_stand_for_anything(tmp_path: Path) -> None:
    document = written(tmp_path, f"{PYTHON}\n```text\nuse ...\n```\n")
    assert run_document(document, tmp_path) == []


def test_code_that_raises_is_not_hidden(tmp_path: Path) -> None:
    document = written(tmp_path, "```python\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError):
        run_document(document, tmp_path)


def test_later_blocks_know_the_names_of_earlier_ones(tmp_path: Path) -> None:
    document = written(tmp_path, f"{PYTHON}\nThen:\n\n```python\nassert word == 'pnpm'\n```\n")
    assert run_document(document, tmp_path) == []


def test_a_block_with_a_reason_is_not_run(tmp_path: Path) -> None:
    document = written(tmp_path, "<!-- not run: needs a key -->\n```python\n1 / 0\n```\n")
    assert run_document(document, tmp_path) == []


def test_commands_run_one_by_one(tmp_path: Path) -> None:
    document = written(tmp_path, "```console\n$ echo one\none\n$ echo \\\n  two\n2\n```\n")
    assert run_document(document, tmp_path) == ["document.md:1 printed\ntwo\n\ninstead of\n2\n"]
