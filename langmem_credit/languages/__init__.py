"""What the rules must know of each language, read from one JSON file a language.

A file gives word lists and phrases under the names in `FIELDS`; a language without a file is
credited verbatim only. Nothing here knows grammar: `shift.py` and `standing.py` do.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from langmem_credit.words import Phrases

from .fields import FIELDS

__all__ = ["CODES", "FIELDS", "Language", "load", "read_data"]

CODES: tuple[str, ...] = (
    *("en", "es", "de", "zh", "fr", "it", "pt", "ru"),
    *("ja", "ko", "ar", "hi"),
)


class Language:
    """One language's data.

    >>> load("en").phrases("openers").match_at([], 0)
    0
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.code: str = data["code"]
        self._data = data
        self._phrases: dict[str, Phrases] = {}
        self._merged: dict[tuple[str, ...], Phrases] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._items: dict[str, tuple[str, ...]] = {}
        self._tables: dict[str, dict[str, str]] = {}
        # Chinese in simplified characters is looked up in traditional ones too.
        self._variants = str.maketrans(data.get("variants", {}))

    def phrases(self, field: str) -> Phrases:
        """The phrases of a field, ready to be found in tokens."""
        found = self._phrases.get(field)
        if found is None:
            items = self.table("pairs") if field == "pairs_first" else self.items(field)
            found = self._phrases[field] = Phrases(items)
        return found

    def merged(self, fields: tuple[str, ...]) -> Phrases:
        """The phrases of several fields as one, to look for all of them in one go."""
        found = self._merged.get(fields)
        if found is None:
            found = self._merged[fields] = Phrases(
                text for field in fields for text in self.phrases(field).texts
            )
        return found

    def words(self, field: str) -> frozenset[str]:
        """The lower-case words of a field."""
        found = self._words.get(field)
        if found is None:
            found = self._words[field] = frozenset(self.items(field))
        return found

    def items(self, field: str) -> tuple[str, ...]:
        """The entries of a field in the file's order; a string is cut at white space."""
        found = self._items.get(field)
        if found is None:
            value = self._data.get(field, [])
            items = value.split() if isinstance(value, str) else list(value)
            if self._variants:
                others = [item.translate(self._variants) for item in items]
                items += [other for item, other in zip(items, others, strict=True) if other != item]
            found = self._items[field] = tuple(items)
        return found

    def table(self, field: str) -> dict[str, str]:
        """A field that maps words to words."""
        found = self._tables.get(field)
        if found is None:
            value = self._data.get(field, {})
            found = dict(value) if isinstance(value, dict) else {}
            for key, other in list(found.items()) if self._variants else ():
                found[key.translate(self._variants)] = other.translate(self._variants)
            self._tables[field] = found
        return found


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
