"""Tokens, sentences, phrases and quotes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit.words import (
    Phrases,
    count_words,
    ends_in_question,
    find_quote,
    find_tokens,
    fold,
    quoted_mask,
    separates,
    split_sentences,
    strip_final_stop,
    text_of,
    tokenize,
)

TEXTS = st.text(
    alphabet=st.characters(codec="utf-8") | st.sampled_from(list(" .,:;!?'\"`-\n/aB")), max_size=60
)


def texts(tokens):
    return [token.text for token in tokens]


def sentences(text, strict=True):
    return [text_of(part, text) for part in split_sentences(tokenize(text), strict=strict)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't stop", ["don't", "stop"]),
        ("don’t stop", ["don't", "stop"]),
        ("the users' data", ["the", "users", "'", "data"]),
        (".env", [".", "env"]),
        ("a_b", ["a", "_", "b"]),
        ("v1.2", ["v1", ".", "2"]),
        ("1,000", ["1", ",", "000"]),
        ("10²", ["10²"]),
        ("ＡＢ", ["AB"]),
        ("不要 push", ["不", "要", "push"]),
        ("a\u200bb", ["a", "\u200b", "b"]),
        ("👍🏽", ["👍", "🏽"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_a_text_becomes_these_tokens(text, expected):
    assert texts(tokenize(text)) == expected


@pytest.mark.parametrize(
    ("text", "gaps"),
    [
        ("a b", ["", " "]),
        ("a   \t b", ["", " "]),
        ("a \n b", ["", "\n"]),
        ("a.b", ["", "", ""]),
        (" a", [" "]),
        ("a\u3000b", ["", " "]),
    ],
)
def test_a_token_knows_the_white_space_before_it(text, gaps):
    assert [token.gap for token in tokenize(text)] == gaps


@given(TEXTS)
def test_no_character_but_white_space_is_lost(text):
    kept = "".join(token.text for token in tokenize(text))

    assert kept == "".join(fold(text).split())


@given(TEXTS)
def test_spans_cut_the_tokens_out_of_the_composed_text(text):
    composed = unicodedata.normalize("NFC", text)

    assert [fold(composed[t.start : t.end]) for t in tokenize(text)] == texts(tokenize(text))


@given(TEXTS, st.booleans())
def test_sentences_put_together_are_the_text(text, strict):
    tokens = tokenize(text)

    assert [token for part in split_sentences(tokens, strict=strict) for token in part] == tokens


@pytest.mark.parametrize("mark", ["“", "”", "„", "«", "»", "＂", "「", "」", "『", "』"])
def test_double_quotation_marks_are_one_kind(mark):
    assert fold(mark) == '"'


@pytest.mark.parametrize("mark", ["‘", "’", "‚", "′", "ʼ", "＇"])
def test_single_quotation_marks_are_one_kind(mark):
    assert fold(mark) == "'"


@pytest.mark.parametrize("mark", ["‐", "‑", "‒", "–", "—", "―"])
def test_dashes_are_one_kind(mark):
    assert fold(mark) == "-"


def test_the_minus_sign_is_no_dash():
    assert fold("−1") == "−1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs.", "Use tabs"),
        ("Use tabs!!", "Use tabs"),
        ("Use tabs;", "Use tabs"),
        ("Run it in .", "Run it in ."),
        ("Go to ..", "Go to .."),
        ("Use tabs...", "Use tabs..."),
        ("Use tabs…", "Use tabs…"),
        ("Use tabs?", "Use tabs?"),
        ('Say "no".', 'Say "no"'),
        ("Use C++.", "Use C++"),
        ("...", "..."),
    ],
)
def test_a_final_stop_that_says_nothing_is_taken_away(text, expected):
    assert text_of(strip_final_stop(tokenize(text)), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs. Never spaces.", ["Use tabs.", "Never spaces."]),
        ("Use tabs! Never spaces.", ["Use tabs!", "Never spaces."]),
        ("Edit .env. no one else may", ["Edit .env. no one else may"]),
        ("Use e.g. Tabs", ["Use e.g. Tabs"]),
        ("Ask Dr. Bob", ["Ask Dr. Bob"]),
        ("Use v1.2 Now", ["Use v1.2 Now"]),
        ("Use tabs\nnever spaces", ["Use tabs", "never spaces"]),
        ("Use tabs; never spaces", ["Use tabs; never spaces"]),
        ('Say "Yes. No." always', ['Say "Yes. No." always']),
        ("用制表符。不要空格。", ["用制表符。", "不要空格。"]),
    ],
)
def test_strictly_a_sentence_ends_only_where_it_surely_does(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs. never spaces", ["Use tabs.", "never spaces"]),
        ("Use tabs; never spaces", ["Use tabs;", "never spaces"]),
        ("Use tabs… never spaces", ["Use tabs…", "never spaces"]),
        ("Use e.g. tabs", ["Use e.g. tabs"]),
        ('Say "Yes. No." always', ['Say "Yes. No." always']),
    ],
)
def test_loosely_a_sentence_ends_wherever_it_may(text, expected):
    assert sentences(text, strict=False) == expected


@pytest.mark.parametrize(
    "text",
    ["so?", "so?!", 'so?"', "so？", "so؟", "so⁉", "so‽", "so❓", "so ?", "so?)", "Πάντα;", "so﹖"],
)
def test_a_question_mark_among_the_last_marks_ends_a_question(text):
    assert ends_in_question(tokenize(text))


@pytest.mark.parametrize("text", ["so.", "so? yes", "so;", "", "so!", "?x"])
def test_other_texts_end_in_no_question(text):
    assert not ends_in_question(tokenize(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ok, go", True),
        ("ok: go", True),
        ("ok - go", True),
        ("ok-go", False),
        ("no .env", False),
        ("ok go", False),
        ("ok", False),
        ("好，走", True),
    ],
)
def test_a_mark_separates_unless_a_word_touches_it(text, expected):
    assert separates(tokenize(text), 1) == expected


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('a "b c" d', '"b c"'),
        ("a `b` c", "`b`"),
        ("a 'b' c", "'b'"),
        ('a "b c', ""),
        ("don't can't", ""),
        ("a 「b」 c", '"b"'),
    ],
)
def test_the_mask_covers_what_stands_between_two_marks_of_a_kind(text, inside):
    tokens = tokenize(text)
    masked = [
        token.text for token, quoted in zip(tokens, quoted_mask(tokens), strict=True) if quoted
    ]

    assert "".join(masked) == inside.replace(" ", "")


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("cat", "I love scatter plots", False),
        ("scatter plots", "I love scatter plots", True),
        ("scatter plot", "I love scatter plots", False),
        ("SCATTER  Plots", "I love scatter\nplots", True),
        ("don’t push", "I don't push", True),
        ("push to main.", "never push to main today", True),
        ("push, to", "never push to main", False),
        ("env", "edit .env", True),
        ("", "anything", False),
        ("...", "anything", False),
        ("longer than it", "it", False),
    ],
)
def test_a_quote_stands_in_a_text_on_word_boundaries(quote, text, found):
    assert (find_quote(quote, text) is not None) == found


def test_the_place_of_a_quote_is_its_span():
    assert find_quote("PUSH to", "never push  to main") == (6, 14)


@given(TEXTS, st.integers(0, 20), st.integers(1, 20))
def test_every_stretch_of_tokens_is_found(text, start, length):
    tokens = tokenize(text)
    stretch = tokens[start : start + length]

    place = find_tokens(stretch, tokens)

    assert (place is not None) == bool(stretch)


def test_the_longest_phrase_matches():
    phrases = Phrases(["from", "from now", "from now on"])

    assert phrases.match_at(tokenize("from now on"), 0) == 3


def test_a_phrase_does_not_run_over_a_line_end():
    assert Phrases(["from now on"]).match_at(tokenize("from\nnow on"), 0) == 0


def test_a_phrase_is_found_at_the_very_end_only():
    phrases = Phrases(["please", "thank you"])

    assert [phrases.match_end(tokenize(t)) for t in ("use tabs, thank you", "please go", "")] == [
        2,
        0,
        0,
    ]


def test_phrases_are_found_in_order():
    found = Phrases(["a b", "b"]).find(tokenize("b a b c"))

    assert list(found) == [(0, 1), (1, 2), (2, 1)]


def test_words_are_counted_without_marks():
    assert count_words(tokenize("a, b - 不要!")) == 4
