"""Scripts that tell a language, and messages that mix languages so that no file can read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .words import Token, quoted_mask

# What each language with a script of its own is written in; Chinese characters come on top.
SCRIPTS: dict[str, re.Pattern[str]] = {
    "ja": re.compile("[\u3041-\u309f\u30a0-\u30fa\u30fc-\u30ff\uff66-\uff9d]"),
    "ko": re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"),
    "ar": re.compile("[\u0620-\u064a\u066e-\u06d3]"),
    "hi": re.compile("[\u0904-\u0939\u0958-\u0961]"),
}
# Persian and Urdu are full of letters that Arabic has not; a dialect of Arabic may borrow one.
_NOT_ARABIC = re.compile("[\u0679\u0688\u0691\u06a9\u06af\u06ba\u06be\u06c0-\u06d3]")
_HAN = re.compile("[\u3400-\u9fff]")
# A name in another script: words, or characters where words are not told apart.
_NAME = {"ja": 8, "ko": 4, "ar": 1, "hi": 1}
_NAME_HAN = 4
_ENGLISH = 2  # words of English that make a sentence


def is_persian(letters: str) -> bool:
    """True for letters that Arabic does not have."""
    return len(_NOT_ARABIC.findall(letters)) > 1


def find_script(tokens: Sequence[Token], english: frozenset[str]) -> str | None:
    """The code of the language whose script the text is written in; None for another.

    A name alone makes none: "My wife is called 미나" is English.

    >>> from langmem_credit.words import tokenize
    >>> [find_script(tokenize(text), frozenset()) for text in ("僕は左利き", "我是左撇子")]
    ['ja', None]
    """
    counts = {code: _count(script, tokens) for code, script in SCRIPTS.items()}
    code = max(counts, key=lambda one: counts[one])
    if not counts[code]:
        return None
    if 0 < counts[code] <= _NAME[code] and _is_english(tokens, english):
        return None
    return code


def found_scripts(tokens: Sequence[Token]) -> list[str]:
    """The codes of the languages with a script of their own that stand in the text."""
    return [code for code, script in SCRIPTS.items() if _count(script, tokens)]


def mixes_languages(tokens: Sequence[Token], code: str, english: frozenset[str]) -> bool:
    """True when words of another script than the language's stand there, names aside.

    What they say of the rest, no file can tell: "always use tabs 라고 팀장님이 했어요".
    """
    mask = quoted_mask(tokens, '"`')
    plain = [token for token, quoted in zip(tokens, mask, strict=True) if token.word and not quoted]
    for other, script in SCRIPTS.items():
        if other != code and _count(script, plain) > _NAME[other]:
            return True
    if code == "ja" and not _is_japanese("".join(_HAN.findall("".join(t.low for t in plain)))):
        return True
    if code in SCRIPTS and code != "ja":
        if _count(_HAN, plain) > _NAME_HAN:
            return True
    return code in SCRIPTS and _is_english(plain, english)


def _is_japanese(characters: str) -> bool:
    """False for a Chinese character that Japan's standard character set has not, such as 说."""
    return len(characters.encode("cp932", "ignore")) == 2 * len(characters)


def _count(script: re.Pattern[str], tokens: Iterable[Token]) -> int:
    """How many words hold a letter of the script."""
    return sum(token.word and script.search(token.low) is not None for token in tokens)


def _is_english(tokens: Sequence[Token], english: frozenset[str]) -> bool:
    return sum(token.low in english for token in tokens if token.word) >= _ENGLISH
