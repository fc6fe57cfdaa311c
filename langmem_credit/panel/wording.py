"""The panel's texts, one file a language: every word that a person reads and no note's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
DEFAULT = "en"


class Wording:
    """The texts of one language: `wording("page_of", number=2, count=3)`."""

    def __init__(self, language: str, texts: Mapping[str, str]) -> None:
        self.language = language
        self.texts = texts

    def __call__(self, key: str, **values: object) -> str:
        """The text under the key, with the values in it. Values are never read as a format."""
        text = self.texts[key]
        return text.format(**values) if values else text

    def of(self, kind: str, name: str) -> str:
        """The text of a status, a kind or another closed word; the word itself where none is."""
        return self.texts.get(f"{kind}_{name}", name)


@cache
def wording(language: str) -> Wording:
    """The texts of a language; English for one that has no file."""
    known = language if language in LANGUAGES else DEFAULT
    path = files(__package__).joinpath("texts", f"{known}.json")
    return Wording(known, json.loads(path.read_text(encoding="utf-8")))


def preferred(accepted: str) -> str:
    """The first of a browser's `Accept-Language` that has a file; English for none.

    >>> preferred("fr, zh-CN;q=0.8, en;q=0.5"), preferred("fr")
    ('zh', 'en')
    """
    weighted: list[tuple[float, str]] = []
    for part in accepted[:200].split(","):
        name, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        weighted.append((-weight, name.strip().partition("-")[0].lower()))
    for _, name in sorted(weighted, key=lambda one: one[0]):
        if name in LANGUAGES:
            return name
    return DEFAULT
