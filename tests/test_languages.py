"""The language files: told apart, complete, sound; the rules in every language but English."""

import json
import re
from pathlib import Path

import pytest

import langmem_credit
from langmem_credit import judge
from langmem_credit.detection import detect
from langmem_credit.forgetting import judge_forget
from langmem_credit.languages import CODES, FIELDS, load, read_data
from langmem_credit.notes import Utterance
from langmem_credit.words import Phrases, tokenize
from tests.cases_support import (
    as_params,
    heard_of,
    is_credited_on_retry,
    judge_case,
    load_cases,
)
from tests.test_forgetting import notebook_of

_ADDED = ("nunca", "nicht", "kein", "不", "别", "pas", "non", "não", "не")
_PACKAGE = Path(langmem_credit.__file__).parent
_OTHERS = ("es", "de", "zh", "fr", "it", "pt", "ru", "ja", "ko", "ar", "hi")
CASES = {code: load_cases(f"credit_{code}") for code in _OTHERS}
ALL = [
    pytest.param(code, case, id=f"{code}-{case['label']}")
    for code in _OTHERS
    for case in CASES[code]
]
HONEST = [each for each in ALL if each.values[1]["expect"] == "active"]
RETRIED = [each for each in ALL if each.values[1].get("retry")]
TEXTS = load_cases("languages")
FORGETTING = load_cases("forgetting_languages")


@pytest.mark.parametrize(("code", "case"), ALL)
def test_the_rule_credits_what_the_case_says(code, case):
    verdict = judge_case(case)

    assert verdict.credited == (case["expect"] == "active")


@pytest.mark.parametrize(("code", "case"), RETRIED)
def test_the_suggestion_of_a_refused_note_is_credited(code, case):
    assert is_credited_on_retry(judge_case(case), heard_of(case))


@pytest.mark.parametrize(("code", "case"), ALL)
def test_a_suggestion_is_always_the_persons_own_words(code, case):
    suggestion = judge_case(case).suggestion or ""

    assert any(suggestion in utterance.text for utterance in heard_of(case))


@pytest.mark.parametrize(("code", "case"), HONEST)
def test_no_denial_can_be_dropped_or_added(code, case):
    heard = heard_of(case)
    typed = heard[-1].text
    tokens = tokenize(typed)
    denials = load(code).words("negations")

    changed = [typed[: t.start] + typed[t.end :] for t in tokens if t.low in denials and t.start]
    changed += [f"{typed[: t.start]}{word} {typed[t.start :]}" for t in tokens for word in _ADDED]

    assert [note for note in changed if judge(note, typed, heard).credited] == []


@pytest.mark.parametrize("code", _OTHERS)
def test_labels_are_unique(code):
    labels = [case["label"] for case in CASES[code]]

    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("case", TEXTS, ids=[case["text"] for case in TEXTS])
def test_a_short_text_is_told_as_its_language(case):
    language = detect(tokenize(case["text"]))

    assert (language.code if language else None) == case["language"]


@pytest.mark.parametrize("case", as_params(FORGETTING, "label"))
def test_the_forget_rule_removes_what_the_case_says(case):
    notes = notebook_of(*case["existing"])

    verdict = judge_forget(case["query"], case["said"], heard_of(case), notes)

    removed = [notes.notes[verdict.note_id].text] if verdict.granted else []
    assert removed == case["expect"]


@pytest.mark.parametrize("text", ["nunca envíes correos", "schon schön", "删除 x", ""])
def test_a_language_is_told_the_same_for_the_same_text(text):
    assert detect(tokenize(text)) is detect(tokenize(text))


@pytest.mark.parametrize("code", CODES)
def test_every_field_of_a_file_is_described(code):
    assert set(read_data(code)) - set(FIELDS) == set()


def test_every_described_field_stands_in_a_file():
    used = set().union(*(read_data(code) for code in CODES))

    assert set(FIELDS) - used == set()


def test_every_described_field_is_read_by_the_code():
    described = _PACKAGE / "languages" / "fields.py"
    sources = [path for path in _PACKAGE.rglob("*.py") if path != described]
    code = "".join(path.read_text(encoding="utf-8") for path in sources)

    assert {field for field in FIELDS if f'"{field}"' not in code} == set()


@pytest.mark.parametrize("code", CODES)
def test_a_file_has_one_field_a_line(code):
    text = (_PACKAGE / "languages" / f"{code}.json").read_text(encoding="utf-8")

    assert len(text.splitlines()) == len(json.loads(text)) + 2


@pytest.mark.parametrize("code", CODES)
def test_no_entry_has_a_capital_or_stray_white_space(code):
    entries = [entry for field in read_data(code) for entry in load(code).items(field)]

    assert [entry for entry in entries if entry != " ".join(entry.lower().split())] == []


@pytest.mark.parametrize("code", _OTHERS)
def test_no_list_has_an_entry_twice(code):
    lists = {field: load(code).items(field) for field in read_data(code)}

    twice = {field for field, items in lists.items() if len(items) != len(set(items))}
    assert twice == set()


@pytest.mark.parametrize("code", _OTHERS)
def test_no_word_is_both_a_way_of_working_and_an_errand(code):
    language = load(code)

    assert language.words("working") & language.words("one_off_verbs") == set()


@pytest.mark.parametrize("code", _OTHERS)
def test_no_pair_holds_a_word_of_the_person_in_its_third_form(code):
    language = load(code)
    first = language.words("subject") | language.words("reflexive")
    told = {word for other in language.table("pairs").values() for word in re.split(r"[ |]", other)}

    assert told & first == set()


def test_phrases_of_english_stay_out_of_other_languages_retractions():
    english = [tokenize(text) for text in ("Use tabs", "no problem", "the end", "die hard", "etc")]
    others = [Phrases(load(code).items("retractions")) for code in _OTHERS]

    assert [one.found_in(text) for one in others for text in english] == [False] * 5 * len(_OTHERS)


@pytest.mark.parametrize("text", [*" \0\ud83d¿¡。，？我请", "", "ich", "no", "不，", "¿?", "¿¡"])
@pytest.mark.parametrize("note", ["", "x", "我", "El usuario", "¡", "Der Nutzer"])
def test_broken_text_is_refused_without_an_error(text, note):
    case = {"heard": [text, f"siempre {text}", f"immer {text}", f"一直{text}"], "note": note}

    assert not judge_case({**case, "said": text or "x"}).credited


@pytest.mark.parametrize("piece", ["¿", "no, ", "bitte ", "请", "recuerda que ", "merk dir, dass "])
def test_a_long_run_of_openers_is_no_licence_to_drop_the_rest(piece):
    text = (piece * 2000)[:1900]

    assert not judge_case({"heard": [f"{text} x y"], "note": "x y", "said": "x y"}).credited


def test_white_space_between_chinese_characters_still_counts():
    case = {"heard": ["我喜欢北京 大学"], "note": "我喜欢北京大学", "said": "我喜欢北京"}

    assert not judge_case(case).credited


def test_the_opener_of_a_german_clause_stays_in_the_suggestion():
    case = {"heard": ["Bitte merk dir, dass ich Tee mag"], "note": "Mag Tee", "said": "ich Tee mag"}

    assert judge_case(case).suggestion == "merk dir, dass ich Tee mag"


@pytest.mark.parametrize(
    ("text", "code"),
    [("记住我的邮箱", "zh"), ("recuerda mi correo siempre", "es"), ("ich mag Tee", "de")],
)
def test_the_verdict_names_the_language(text, code):
    assert judge_case({"heard": [text], "note": text, "said": text}).language == code


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("Muy importante: nunca subas a main", ()),
        ("Nunca subas a main", ("core",)),
        ("Ganz wichtig: nie auf main pushen", ()),
        ("Nie auf main pushen", ("core",)),
        ("非常重要：永远不要推送到 main", ()),
        ("永远不要推送到 main", ("core",)),
    ],
)
def test_core_needs_the_persons_words(text, core):
    verdict = judge_case({"heard": [text], "note": text, "said": text, "core": True})

    assert (verdict.credited, verdict.ignored) == (True, core)


def test_an_unknown_code_is_refused_with_those_there_are():
    with pytest.raises(KeyError, match="en, es, de, zh, fr"):
        load("nl")


def test_a_fact_in_a_language_without_a_file_is_credited_verbatim():
    heard = [Utterance("u1", "ik hou niet van Docker")]

    verdict = judge("ik hou niet van Docker", "ik hou niet van Docker", heard)

    assert (verdict.credited, verdict.language) == (True, "")
