"""A thread that goes on in another process, on one SQLite file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .process_support import in_process

ZSH = "I always use zsh"
TABS = "I prefer tabs over spaces"
ASK = ["ask_user", {"question": "Anything else?"}]


def remember(text: str) -> list[Any]:
    return ["remember", {"note": text, "said": text}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.sqlite"


def test_words_of_an_interrupted_run_are_still_heard_in_another_process(path: Path) -> None:
    in_process(path, [[ASK]], ["says", ZSH])
    second = in_process(path, [[remember(ZSH), remember(TABS)]], ["answers", TABS])
    third = in_process(path, ["ok"], ["says", "Hello"])
    assert (second["active"], second["heard"]) == ([ZSH, TABS], [ZSH, TABS])
    assert third["heard"] == ["Hello"]


def test_write_that_waited_through_an_interrupt_holds_in_another_process(path: Path) -> None:
    in_process(path, [[remember(ZSH), ASK]], ["says", ZSH])
    second = in_process(path, ["ok"], ["answers", "no"])
    third = in_process(path, ["ok"], ["says", "Hello"])
    assert (second["active"], second["events"]) == ([ZSH], 1)
    assert second["answers"][0].startswith("Remembered as ")
    assert ZSH in third["systems"][0]


@pytest.mark.slow
def test_forgetting_that_waited_through_an_interrupt_holds_in_another_process(path: Path) -> None:
    asked = "Please forget that I use zsh"
    in_process(path, [[remember(ZSH)], "ok"], ["says", ZSH])
    forget = ["forget", {"query": "zsh", "said": asked}]
    in_process(path, [[forget, ASK]], ["says", asked])
    second = in_process(path, ["ok"], ["answers", "no"])
    assert (second["active"], second["events"]) == ([], 2)


@pytest.mark.slow
def test_uncredited_write_that_waited_through_an_interrupt_stays_uncredited(path: Path) -> None:
    in_process(path, [[remember("Deploy on Fridays"), ASK]], ["says", ZSH])
    second = in_process(path, ["ok"], ["answers", "no"])
    assert (second["active"], second["waiting"]) == ([], ["Deploy on Fridays"])


@pytest.mark.slow
def test_process_that_died_in_a_run_leaves_no_half_note(path: Path) -> None:
    in_process(path, [[remember(ZSH), ["die", {}]]], ["says", ZSH], dies=True)
    second = in_process(path, ["ok", "ok"], ["says", "Hello"])
    assert (second["active"], second["heard"]) == ([], ["Hello"])


@pytest.mark.slow
def test_run_that_goes_on_after_its_process_died_hears_nothing(path: Path) -> None:
    in_process(path, [[["die", {}]]], ["says", ZSH], dies=True)
    second = in_process(path, [[remember(ZSH)]], ["goes_on"])
    assert (second["active"], second["heard"]) == ([], [])


def test_system_message_is_the_same_bytes_in_another_process(path: Path) -> None:
    first = in_process(path, [[remember(ZSH)], "ok", "ok"], ["says", ZSH], ["says", "Hello"])
    second = in_process(path, ["ok"], ["says", "Hello"])
    assert second["systems"] == [first["systems"][-1]]
    assert ZSH in second["systems"][0]
