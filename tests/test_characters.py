"""What may be stored and shown, character by character."""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit.characters import MARKS_IN_A_ROW, clean, has_hidden, is_invisible, one_line

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "characters.jsonl")
    .read_text("utf-8")
    .splitlines()
]
# Controls that draw a sign of their own: Arabic number signs and their relatives.
DRAWN_FORMATS = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]")
CLUSTERS = [
    *"aZ1#*❤👨👩🏽🏴😀☺葛می\u0644क\u094d\u0d28\u0d4dר\u05b0é한\u2200ᠮ\u20e3 \n\t\r\u2028",
    *"\u200b\u200c\u200d\ufe0e\ufe0f\ufe00\u180b\U000e0100\U000e0067\U000e007f\u202e\u0301\u0300",
    *"\ud83d\ude00\u3164\x00\x9b\ufeff",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
]
any_text = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from(CLUSTERS), max_size=30).map("".join),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["label"])
def test_a_text_is_cleaned_as_its_case_says(case: dict[str, str]) -> None:
    assert clean(case["text"]) == case["expected"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["label"])
def test_hidden_text_is_told_as_its_case_says(case: dict[str, str]) -> None:
    assert has_hidden(case["text"]) is case["hidden"]


@given(any_text)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(any_text)
def test_a_clean_text_has_nothing_hidden(text: str) -> None:
    assert not has_hidden(clean(text))


@given(any_text)
def test_a_clean_text_can_be_written_as_utf8(text: str) -> None:
    assert clean(text).encode("utf-8").decode("utf-8") == clean(text)


@given(any_text)
def test_no_control_but_the_line_end_survives(text: str) -> None:
    controls = [char for char in clean(text) if unicodedata.category(char) in ("Cc", "Cs")]
    assert set(controls) <= {"\n"}


@given(any_text)
def test_marks_never_pile_up(text: str) -> None:
    cleaned = re.sub(
        "[\u200c\u200d\ufe00-\ufe0f\u180b-\u180f\U000e0100-\U000e01ef]", "", clean(text)
    )
    kinds = "".join("m" if unicodedata.category(char) in ("Mn", "Me") else "." for char in cleaned)
    assert "m" * (MARKS_IN_A_ROW + 1) not in kinds


@given(any_text)
def test_no_two_unseen_characters_stand_together_but_in_a_flag(text: str) -> None:
    without_flags = re.sub("\U0001f3f4[\U000e0061-\U000e007a]+\U000e007f", "", clean(text))
    pairs = pairwise(without_flags)
    # A selector and then the joiner of an emoji sequence is the one honest pair.
    assert [
        a + b for a, b in pairs if is_invisible(a) and is_invisible(b) and a + b != "\ufe0f\u200d"
    ] == []


def test_every_format_character_alone_among_latin_letters_goes_or_draws_a_sign() -> None:
    kept = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Cf", "Cc", "Cs", "Zl", "Zp")
        and chr(code) in clean(f"a{chr(code)}b")
        and not DRAWN_FORMATS.match(chr(code))
        and code != 0x0A
    ]
    assert kept == []


def test_letters_digits_and_signs_stay() -> None:
    blank = {0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800, 0x1D159, 0xFFFC}
    lost = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code))[0] in "LNPSZ"
        and unicodedata.category(chr(code)) not in ("Zl", "Zp")
        and code not in blank
        and clean(f"a{chr(code)}b") != f"a{chr(code)}b"
    ]
    assert lost == []


@pytest.mark.parametrize(
    "text",
    ["a\nb\tc", "  a \r\n\r\n b ", "a\u2028b\u3000c", "\x00a\u200b b\x0bc"],
)
def test_one_line_has_single_spaces_only(text: str) -> None:
    assert re.fullmatch(r"\w+( \w+)*", one_line(text))


def test_one_line_puts_a_space_for_a_line_end() -> None:
    assert one_line("Never\r\npush on Fridays\n") == "Never push on Fridays"


def test_visible_letters_are_not_normalised() -> None:
    assert clean("ﬁle x² Å Ａ ｶ") == "ﬁle x² Å Ａ ｶ"


@pytest.mark.parametrize("wrong", [None, 1, b"bytes", ["a"], {}])
@pytest.mark.parametrize("function", [clean, has_hidden, one_line])
def test_a_value_that_is_no_text_is_refused_with_its_type(function: object, wrong: object) -> None:
    with pytest.raises(TypeError, match=f"must be a str, not {type(wrong).__name__}"):
        function(wrong)  # type: ignore[operator]


@pytest.mark.parametrize("text", ["", "\ud83d" * 1_000, "\x00" * 1_000, "\u200b" * 1_000])
def test_a_text_of_unseen_characters_becomes_empty(text: str) -> None:
    assert clean(text) == ""
