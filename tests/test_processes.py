"""A thread that goes on in another process, on one SQLite file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .process_support import DEATH, in_process

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


def test_words_with_a_secret_are_credited_alike_in_another_process(path: Path) -> None:
    said = "My wifi password is hunter2-falcon and I always use zsh"
    in_process(path, [[ASK]], ["says", said])
    second = in_process(path, [[remember(said)]], ["answers", TABS])
    kept = "My wifi password is [secret removed] and I always use zsh"
    assert (second["active"], second["heard"][0]) == ([kept], kept)


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


CRASHES = {"in the tools": [[remember(ZSH), ["die", {}]]], "after them": [[remember(ZSH)], DEATH]}


@pytest.mark.parametrize("steps", CRASHES.values(), ids=CRASHES)
def test_write_that_was_answered_before_its_process_died_holds_when_the_run_goes_on(
    path: Path, steps: list[Any]
) -> None:
    in_process(path, steps, ["says", ZSH], dies=True)
    second = in_process(path, ["ok"], ["goes_on"])
    third = in_process(path, ["ok"], ["says", "Hello"])
    assert (second["active"], second["waiting"], second["events"]) == ([ZSH], [], 1)
    assert second["answers"][0].startswith("Remembered as ")
    assert ZSH in third["systems"][0]


@pytest.mark.slow
def test_write_holds_although_the_run_breaks_off_twice(path: Path) -> None:
    in_process(path, [[remember(ZSH), ["die", {}]]], ["says", ZSH], dies=True)
    in_process(path, [DEATH], ["goes_on"], dies=True)
    third = in_process(path, ["ok"], ["goes_on"])
    assert (third["active"], third["waiting"]) == ([ZSH], [])


@pytest.mark.slow
def test_forgetting_that_was_answered_before_its_process_died_holds(path: Path) -> None:
    asked = "Please forget that I use zsh"
    in_process(path, [[remember(ZSH)], "ok"], ["says", ZSH])
    forget = ["forget", {"query": "zsh", "said": asked}]
    in_process(path, [[forget, ["die", {}]]], ["says", asked], dies=True)
    second = in_process(path, ["ok"], ["goes_on"])
    assert (second["active"], second["events"]) == ([], 2)


@pytest.mark.slow
def test_uncredited_write_stays_uncredited_when_the_run_goes_on(path: Path) -> None:
    in_process(path, [[remember("Deploy on Fridays"), ["die", {}]]], ["says", ZSH], dies=True)
    second = in_process(path, ["ok"], ["goes_on"])
    assert (second["active"], second["waiting"]) == ([], ["Deploy on Fridays"])


@pytest.mark.slow
def test_run_that_goes_on_hears_nothing_for_what_is_written_now(path: Path) -> None:
    in_process(path, [[remember(ZSH), ["die", {}]]], ["says", f"{ZSH}. {TABS}."], dies=True)
    second = in_process(path, [[remember(TABS)], "ok"], ["goes_on"])
    assert (second["heard"], TABS in second["active"]) == ([], False)


@pytest.mark.slow
def test_words_of_a_run_that_was_over_prove_nothing_for_the_next_one(path: Path) -> None:
    in_process(path, ["ok"], ["says", ZSH])
    in_process(path, [[remember(ZSH), ["die", {}]]], ["says", "Hello"], dies=True)
    second = in_process(path, ["ok"], ["goes_on"])
    assert (second["active"], second["waiting"]) == ([], [ZSH])


def test_system_message_is_the_same_bytes_in_another_process(path: Path) -> None:
    first = in_process(path, [[remember(ZSH)], "ok", "ok"], ["says", ZSH], ["says", "Hello"])
    second = in_process(path, ["ok"], ["says", "Hello"])
    assert second["systems"] == [first["systems"][-1]]
    assert ZSH in second["systems"][0]
