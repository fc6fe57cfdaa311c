"""What is taken out as a secret, and what only looks like one."""

from __future__ import annotations

import hashlib
import json
import logging
import random
import subprocess
import sys
import uuid
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit import secret_tokens
from langmem_credit.scrubbing import REMOVED, Scrubbed, scrub
from tests.benchmarks.scrubbing import (
    AIM_RATIO,
    PIECES,
    milliseconds,
    prose,
    steepness,
    with_secrets,
)

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "secrets.jsonl").read_text("utf-8").splitlines()
]
SECRETS = [case for case in CASES if REMOVED in case["expected"]]
LOOK_ALIKES = [case for case in CASES if REMOVED not in case["expected"]]
any_text = st.one_of(
    st.text(st.characters(), max_size=80),
    st.lists(
        st.sampled_from(
            [*PIECES, *(case["text"] for case in CASES), "hunter2", " ", "\n", ", ", "is "]
        ),
        max_size=8,
    ).map("".join),
)


@pytest.mark.parametrize("case", SECRETS, ids=lambda case: case["label"])
def test_a_secret_is_replaced_and_nothing_else(case: dict[str, str]) -> None:
    assert scrub(case["text"]).text == case["expected"]


@pytest.mark.parametrize("case", LOOK_ALIKES, ids=lambda case: case["label"])
def test_a_look_alike_stays_as_it_is(case: dict[str, str]) -> None:
    assert scrub(case["text"]) == Scrubbed(case["text"])


@pytest.mark.parametrize("case", SECRETS, ids=lambda case: case["label"])
@pytest.mark.parametrize(
    "frame",
    ["Note: {}", "{}\nUse tabs in Go files.", "Hi!\n\n{}", "> {}", "({})", "Remember this. {}"],
)
def test_a_secret_is_found_in_any_frame(frame: str, case: dict[str, str]) -> None:
    assert scrub(frame.format(case["text"])).found == scrub(case["text"]).found


@pytest.mark.parametrize("case", LOOK_ALIKES, ids=lambda case: case["label"])
@pytest.mark.parametrize(
    "frame",
    ["Note: {}", "{}\nUse tabs in Go files.", "Hi!\n\n{}", "> {}", "({})", "Remember this. {}"],
)
def test_a_look_alike_stays_in_any_frame(frame: str, case: dict[str, str]) -> None:
    assert scrub(frame.format(case["text"])).found == ()


@given(any_text)
def test_scrubbing_twice_changes_nothing_more(text: str) -> None:
    once = scrub(text).text
    assert scrub(once).text == once


@given(any_text)
def test_a_text_is_changed_exactly_when_something_was_found(text: str) -> None:
    result = scrub(text)
    assert (result.text != text) is bool(result.found)


@given(any_text)
def test_what_is_left_stood_in_the_text_in_this_order(text: str) -> None:
    position = 0
    for piece in scrub(text).text.split(REMOVED):
        position = text.find(piece, position)
        assert position >= 0
        position += len(piece)


@pytest.mark.parametrize(
    "text",
    [
        "://:0@ ISPASSORD",
        "password is [secret removed]",
        "[secret removed] is my password",
        "postgres://app:[secret removed]@db.example/main",
        "[secret removed]@hunter2",
    ],
)
def test_the_mark_of_a_removed_secret_is_never_torn(text: str) -> None:
    assert scrub(text).text.replace(REMOVED, "").count("removed") == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("aws id AKIAIOSFODNN7EXAMPLE", ("an AWS key",)),
        ("my wifi password is hunter2", ("a password",)),
        ("my PIN is 4821", ("a PIN or code",)),
        ("card 4111 1111 1111 1111, PIN: 4821", ("a card number", "a PIN or code")),
        ("password: hunter2, password: hunter3", ("a password",)),
    ],
)
def test_finds_are_named_in_plain_words_each_once(text: str, found: tuple[str, ...]) -> None:
    assert scrub(text).found == found


@pytest.mark.parametrize(
    "text",
    [
        "my wifi password is hunter2",
        "Password: swordfish",
        "AKIAIOSFODNN7EXAMPLE",
        "PIN 4821",
        "我的密码是 qh8823-lotus",
        "Пароль: Zima!2207",
        "mi contraseña es luna-verde-8831",
        "please remember my password, it's hunter2",
        "4111 1111 1111 1111",
        "비밀번호는 qh8823입니다",
    ],
)
def test_a_text_that_only_announces_its_secret_is_only_secret(text: str) -> None:
    assert scrub(text).only_secret


@pytest.mark.parametrize(
    "text",
    [
        "aws id AKIAIOSFODNN7EXAMPLE belongs to the demo account",
        "db is postgres://app:tr0ub4dor@db.example/main",
        "password: hunter2. Use tabs in Go files.",
        "my password manager is Bitwarden",
        "",
        "[secret removed]",
    ],
)
def test_a_text_that_says_more_is_not_only_secret(text: str) -> None:
    assert not scrub(text).only_secret


@pytest.mark.parametrize("wrong", [None, 1, b"password: hunter2", ["a"], {}])
def test_a_value_that_is_no_text_is_refused_with_its_type(wrong: object) -> None:
    with pytest.raises(TypeError, match=f"must be a str, not {type(wrong).__name__}"):
        scrub(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "\x00", "\ud83d", "😀", "...", "\u200b" * 50, "a\u0301" * 50])
def test_odd_texts_stay_as_they_are(text: str) -> None:
    assert scrub(text) == Scrubbed(text)


def test_every_detector_of_the_library_is_there() -> None:
    assert len(secret_tokens._detectors()) == len(secret_tokens._LIBRARY)


def test_a_missing_detector_is_logged_and_ours_still_work(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(secret_tokens, "_LIBRARY", {("gone", "Gone"): ("a key", ("k",))})
    secret_tokens._detectors.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "langmem_credit"):
            assert scrub("npm_abcdefghijklmnopqrstuvwxyz0123456789").text == REMOVED
        assert "Gone is not available" in caplog.text
    finally:
        monkeypatch.undo()
        secret_tokens._detectors.cache_clear()


def test_the_library_is_loaded_at_the_first_use_only() -> None:
    script = "import sys, langmem_credit.scrubbing; print('detect_secrets' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "False"


def _ordinary(count: int) -> list[str]:
    """Sentences, hashes and names of files as people write them, the same in every run."""
    chance = random.Random(20)
    things = ["password", "token", "secret", "key", "pin", "login", "session", "cookie", "card"]
    does = ["rotates with", "lives in", "is checked by", "belongs to", "was moved to", "is not in"]
    states = ["wrong", "missing", "too short", "required", "optional", "reset weekly", "shared"]
    words = ["the build", "our script", "a test", "every release", "this page", "vault", "staging"]
    made: list[str] = []
    for number in range(count):
        seed = f"{number}".encode()
        sha1, sha256 = hashlib.sha1(seed).hexdigest(), hashlib.sha256(seed)
        made.append(
            chance.choice(
                [
                    f"Commit {sha1} broke {chance.choice(words)}",
                    f"Reverted {sha1[:10]} and {sha1[10:20]}.",
                    f"image@sha256:{sha256.hexdigest()}",
                    f"integrity sha256-{b64encode(sha256.digest()).decode()}",
                    f"see {uuid.UUID(bytes=sha256.digest()[:16])}",
                    f"md5 {hashlib.md5(seed).hexdigest()}  data-{number}.tar.gz",
                    f"src/{chance.choice(things)}s/handler_{number}.py",
                    f"{chance.choice(things)}-{sha1[:8]}.chunk.js",
                    f"IMG_{number:08d}.jpeg and {b64encode(seed * 3).decode()}.png",
                    f"{''.join(chance.choices('abcdefgh', k=40))}_{number}_handler_v{number % 9}",
                    f"order {10**12 + number * 7919} shipped",
                    f"at {1_712_345_678_901 + number} ms",
                    f"The {chance.choice(things)} {chance.choice(does)} {chance.choice(words)}.",
                    f"The {chance.choice(things)} for {words[number % 7]} is {states[number % 6]}.",
                    f"Never log a {chance.choice(things)}; ask {chance.choice(words)} first.",
                    f"{chance.choice(things).title()}s are kept for {number % 90} days.",
                    prose(120, number),
                    f"version {number % 20}.{number % 7}.{number % 13} fixes #{number}",
                ]
            )
        )
    return made


def test_of_ten_thousand_ordinary_texts_at_most_one_in_a_thousand_changes() -> None:
    changed = [text for text in _ordinary(10_000) if scrub(text).found]
    assert len(changed) <= 10, changed


def test_two_thousand_characters_take_at_most_five_milliseconds() -> None:
    assert max(milliseconds(prose(2_000)), milliseconds(with_secrets(2_000))) <= 5


def test_two_hundred_thousand_characters_take_at_most_two_hundred_milliseconds() -> None:
    assert milliseconds(prose(200_000), 3) <= 200


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    assert steepness(piece) <= AIM_RATIO


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_random_mixture_blows_up(seed: int) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.scrubbing", "--fuzz", str(seed)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    # 20,000 characters: a quadratic pattern would need seconds.
    assert float(answer.stdout) <= 400


@pytest.mark.slow
def test_a_million_characters_are_scrubbed() -> None:
    assert REMOVED in scrub(prose(1_000_000) + " my password is hunter2").text
