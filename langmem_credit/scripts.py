"""Scripts that tell a language, where a script belongs to one language with a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .words import Token

# What each language with a script of its own is written in; Chinese characters come on top.
SCRIPTS: dict[str, re.Pattern[str]] = {
    "ja": re.compile("[\u3041-\u309f\u30a0-\u30fa\u30fc-\u30ff\uff66-\uff9d]"),
    "ko": re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"),
    "ar": re.compile("[\u0620-\u064a\u066e-\u06d3]"),
    "hi": re.compile("[\u0904-\u0939\u0958-\u0961]"),
}
# Russian shares its script with others, and is told by its words.
ALL_SCRIPTS = {**SCRIPTS, "ru": re.compile("[\u0400-\u04ff]")}
# Persian and Urdu are full of letters that Arabic has not; a dialect of Arabic may borrow one.
_NOT_ARABIC = re.compile("[\u0679\u0688\u0691\u06a9\u06af\u06ba\u06be\u06c0-\u06d3]")
# A name in another script: words, or characters where words are not told apart.
NAME = {"ja": 8, "ko": 4, "ar": 1, "hi": 1, "ru": 2}
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
    counts = {code: count_script(script, tokens) for code, script in SCRIPTS.items()}
    code = max(counts, key=lambda one: counts[one])
    if not counts[code]:
        return None
    if 0 < counts[code] <= NAME[code] and is_english(tokens, english):
        return None
    return code


def count_script(script: re.Pattern[str], tokens: Sequence[Token]) -> int:
    """How many words hold a letter of the script."""
    # Most texts hold no letter of most scripts: one look at all of it is enough.
    if script.search("".join([token.low for token in tokens])) is None:
        return 0
    return sum(token.word and script.search(token.low) is not None for token in tokens)


def is_english(tokens: Sequence[Token], english: frozenset[str]) -> bool:
    """True for words enough of English to make a sentence."""
    return sum(token.low in english for token in tokens if token.word) >= _ENGLISH
