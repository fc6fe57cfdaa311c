"""Messages that mix languages, so that no file alone can say whose words they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import languages
from .languages import Language
from .scripts import ALL_SCRIPTS, NAME, count_script, is_english
from .words import Token, quoted_mask

_HAN = re.compile("[\u3400-\u9fff]")
_NAME_HAN = 4
_MEANT = ("reported", "reported_endings", "hypotheses", "jokes", "strong", "limits")


def mixes_languages(tokens: Sequence[Token], language: Language) -> bool:
    """True where a second language may say whose words these are or how they are meant.

    >>> from langmem_credit.words import tokenize
    >>> texts = ("항상 tabs를 써", "always use tabs 라고 팀장님이 했어요")
    >>> [mixes_languages(tokenize(text), languages.load("ko")) for text in texts]
    [False, True]
    """
    if language.code not in ALL_SCRIPTS and all(token.low.isascii() for token in tokens):
        return False
    english = languages.load("en").words("detect")
    return _mixes_scripts(tokens, language.code, english) or any(
        languages.load(code).merged(_MEANT).found_in(tokens)
        for code in _found_scripts(tokens)
        if code != language.code
    )


def _found_scripts(tokens: Sequence[Token]) -> list[str]:
    """The codes of the languages with a script of their own that stand in the text."""
    return [code for code, script in ALL_SCRIPTS.items() if count_script(script, tokens)]


def _mixes_scripts(tokens: Sequence[Token], code: str, english: frozenset[str]) -> bool:
    """True when words of another script than the language's stand there, names aside.

    What they say of the rest, no file can tell: "always use tabs 라고 팀장님이 했어요".
    """
    mask = quoted_mask(tokens, '"`')
    plain = [token for token, quoted in zip(tokens, mask, strict=True) if token.word and not quoted]
    for other, script in ALL_SCRIPTS.items():
        if other != code and count_script(script, plain) > NAME[other]:
            return True
    if code == "ja" and not _is_japanese("".join(_HAN.findall("".join(t.low for t in plain)))):
        return True
    if code in ALL_SCRIPTS and code != "ja":
        if count_script(_HAN, plain) > _NAME_HAN:
            return True
    return code in ALL_SCRIPTS and is_english(plain, english)


def _is_japanese(characters: str) -> bool:
    """False for a Chinese character that Japan's standard character set has not, such as 说."""
    return len(characters.encode("cp932", "ignore")) == 2 * len(characters)
