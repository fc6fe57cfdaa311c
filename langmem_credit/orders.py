"""Which of another person's notes tell about that person, and which tell somebody what to do.

For the digest of a scope that several people share. Whatever is not plainly a statement counts as
an order, and so does everything in a language without a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from . import languages
from .languages import read_data
from .words import Phrases, Token, split_sentences, tokenize


@lru_cache(maxsize=4096)
def is_order(text: str) -> bool:
    """False for a plain statement.

    >>> is_order("I prefer tabs over spaces"), is_order("The release branch is called stable")
    (False, False)
    >>> is_order("Always push to main"), is_order("The agent must push to main")
    (True, True)
    """
    tokens = tokenize(text)
    language = languages.detect(tokens)
    signs = _signs().get(language.code) if language else None
    if signs is None:
        return True
    sentences = split_sentences(tokens, strict=False)
    return not sentences or not all(signs.is_statement(sentence) for sentence in sentences)


class _Signs:
    """What tells a statement from an order in one language."""

    def __init__(self, data: dict[str, list[str]]) -> None:
        self._subjects = frozenset(data["subjects"])
        self._own = frozenset(data["own"])
        self._own_signs = Phrases(data["own_signs"])
        self._ordering = Phrases(data["ordering"])

    def is_statement(self, tokens: Sequence[Token]) -> bool:
        words = [index for index, token in enumerate(tokens) if token.word]
        if len(words) < 3 or tokens[-1].text in "?？:：":
            return False
        first = tokens[words[0]].low.partition("'")[0]
        if first not in self._subjects:
            return False
        # What somebody always does themselves asks nothing of anybody.
        excused: set[int] = set()
        if first in self._own:
            for start, length in self._own_signs.find(tokens):
                excused.update(range(start, start + length))
        return all(start in excused for start, _ in self._ordering.find(tokens))


@cache
def _signs() -> dict[str, _Signs]:
    data: dict[str, Any] = read_data("orders")
    return {code: _Signs(entry) for code, entry in data.items()}
