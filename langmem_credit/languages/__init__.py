"""What the rules must know of each language, read from one JSON file a language.

A file gives word lists and phrases under the names in `FIELDS`; a language without a file is
credited verbatim only. Nothing here knows grammar: `shift.py` and `standing.py` do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from langmem_credit.words import Phrases, Token

CODES: tuple[str, ...] = ("en",)


class Language:
    """One language's data.

    >>> load("en").phrases("openers").match_at([], 0)
    0
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.code: str = data["code"]
        self._data = data
        self._phrases: dict[str, Phrases] = {}
        self._words: dict[str, frozenset[str]] = {}

    def phrases(self, field: str) -> Phrases:
        """The phrases of a field, ready to be found in tokens."""
        found = self._phrases.get(field)
        if found is None:
            items = self.table("pairs") if field == "pairs_first" else self.items(field)
            found = self._phrases[field] = Phrases(items)
        return found

    def words(self, field: str) -> frozenset[str]:
        """The lower-case words of a field."""
        found = self._words.get(field)
        if found is None:
            found = self._words[field] = frozenset(self.items(field))
        return found

    def items(self, field: str) -> list[str]:
        """The entries of a field in the file's order; a string is cut at white space."""
        value = self._data.get(field, [])
        return value.split() if isinstance(value, str) else list(value)

    def table(self, field: str) -> dict[str, str]:
        """A field that maps words to words."""
        value = self._data.get(field, {})
        return value if isinstance(value, dict) else {}


@cache
def load(code: str) -> Language:
    """The language with this code.

    Raises:
        KeyError: there is no file for it.
    """
    if code not in CODES:
        raise KeyError(f"There is no language file for {code!r}; there are: {', '.join(CODES)}.")
    return Language(read_data(code))


@cache
def read_data(name: str) -> dict[str, Any]:
    """The parsed JSON of a data file of this package, by its name without the ending."""
    text = resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def _foreign() -> dict[str, frozenset[str]]:
    """Common words of languages that have no file, to tell them from those that have one.

    Words that English has too are left out: taken for another language, an English order would
    escape the check that it should last.
    """
    english = load("en")
    known = english.words("detect") | english.words("nouns") | english.words("function_words")
    known |= english.words("leading_prepositions") | english.words("working")
    known |= english.words("generic_working") | english.words("one_off_verbs")
    return {
        code: frozenset(word for word in words.split() if len(word) > 1) - known
        for code, words in read_data("foreign").items()
    }


def detect(tokens: Sequence[Token]) -> Language | None:
    """The language of the text among those with a file; None for any other.

    Text with no known word at all counts as English, since a language with rules credits less
    than one without; the same holds for ties.
    """
    letters = [char for token in tokens[:400] if token.word for char in token.text]
    han = sum("\u3400" <= char <= "\u9fff" for char in letters)
    kana = sum("\u3040" <= char <= "\u30ff" for char in letters)
    if kana:
        return None
    if han and han * 4 >= len(letters):
        return load("zh")
    latin = sum(char < "\u0250" or "\u1e00" <= char <= "\u1eff" for char in letters)
    if latin * 2 < len(letters):
        return None
    words = [token.low for token in tokens[:400]]
    best, best_score = load("en"), sum(word in load("en").words("detect") for word in words)
    for code in CODES[1:]:
        score = sum(word in load(code).words("detect") for word in words)
        if score > best_score:
            best, best_score = load(code), score
    # One word may be a name; two of them are a language.
    needed = max(best_score + 1, 2)
    if any(sum(word in known for word in words) >= needed for known in _foreign().values()):
        return None
    return best
