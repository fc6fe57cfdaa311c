"""Do a person's words ask for a note to be shared with a group: the team, this project?

For scopes that several people share. To name the group is not enough: "I hate the team", "my
football team" and "don't tell the team" name it too. So only closed forms count, one of which must
stand at the start or the end of each sentence, and the rest must neither deny nor speak of what
others may know. Without a list for its language nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from .detection import detect
from .languages import read_data
from .words import Token, is_unspaced, split_sentences, strip_final_stop, tokenize


def asks_to_share(text: str, words: Sequence[str], beside: Iterable[str] = ()) -> bool:
    """True when each sentence of the text is meant for the group that one of the words names.

    Args:
        text: what the person typed.
        words: for the group.
        beside: what else they typed meanwhile.

    >>> asks_to_share("In this team we always use pnpm", ["team"])
    True
    >>> asks_to_share("I never want the team to know that I am ill", ["team"])
    False
    """
    tokens = tokenize(text)
    language = detect(tokens)
    if language is None or language.code not in _data():
        return False
    forms = _forms(language.code, tuple(words))
    if any(forms.is_private(_line(tokenize(other))) for other in beside):
        return False
    sentences = split_sentences(tokens, strict=False)
    lines = [_line(strip_final_stop(sentence)) for sentence in sentences]
    return bool(lines) and all(forms.fit(line) for line in lines)


class _Forms:
    """What asks to share in one language, with the words for one group."""

    def __init__(self, data: dict[str, Any], words: Sequence[str]) -> None:
        group = "|".join(re.escape(_line(tokenize(word))) for word in words)
        self._parts = {"w": f"(?:{group})", "the": data["the"], "al": data.get("al", "")}
        self._leads = data["leads"]
        self._wordy = bool(data["followers"])
        behind = "|".join([*map(re.escape, data["followers"]), "$"])
        self._behind = f"(?= (?:{behind})(?: |$)|$)" if self._wordy else ""
        denials = "|".join(data["denials"])
        # "Tell the team never …"
        not_denied = f"(?! (?:{denials})(?: |$))" if self._wordy else f"(?!{denials})"
        self._asking = self._first(data["asking"], not_denied)
        self._places = self._first(data["places"])
        self._groups = self._first(data["groups"], followed=False)
        self._asking_last = self._last(data["asking_last"])
        self._places_last = self._last(data["places_last"])
        self._self, self._private, self._denials = (
            self._words(data[name]) for name in ("self", "private", "denials")
        )

    def is_private(self, line: str) -> bool:
        """True when the words speak of what others may know."""
        return self._private.search(line) is not None

    def fit(self, line: str) -> bool:
        """True when one of the forms opens or closes the sentence and nothing else forbids it."""
        for form, barred in (
            (self._asking, ()),
            (self._places, (self._self,)),
            (self._groups, (self._self, self._denials)),
            (self._asking_last, (self._denials,)),
            (self._places_last, (self._self,)),
        ):
            found = form.search(line)
            if found is None:
                continue
            rest = line[: found.start()] + " " + line[found.end() :]
            if not any(one.search(rest) for one in (self._private, *barred)):
                return True
        return False

    def _first(
        self, forms: Sequence[str], behind: str = "", followed: bool = True
    ) -> re.Pattern[str]:
        behind += self._behind if followed else ""
        return re.compile(f"^{self._leads}(?:{self._either(forms)}){behind}")

    def _last(self, forms: Sequence[str]) -> re.Pattern[str]:
        edge = r"(?<!\S)" if self._wordy else ""
        return re.compile(f"{edge}(?:{self._either(forms)})$") if forms else re.compile(r"(?!)")

    def _either(self, forms: Sequence[str]) -> str:
        either = "|".join(forms)
        for name, part in self._parts.items():
            either = either.replace(f"{{{name}}}", part)
        return either

    def _words(self, words: Sequence[str]) -> re.Pattern[str]:
        either = "|".join(words)
        if not self._wordy:
            return re.compile(either)
        return re.compile(rf"(?<!\S)(?:{either}|\S+n't)(?!\S)")


def _line(tokens: Sequence[Token]) -> str:
    """The words in lower case, a space between them, where their script has spaces."""
    parts: list[str] = []
    for index, token in enumerate(tokens):
        close = index and is_unspaced(token.text) and is_unspaced(tokens[index - 1].text)
        parts.append(token.low if close or not index else f" {token.low}")
    return "".join(parts)


@lru_cache(maxsize=1)
def _data() -> dict[str, dict[str, Any]]:
    return read_data("sharing")


@lru_cache(maxsize=64)
def _forms(code: str, words: tuple[str, ...]) -> _Forms:
    return _Forms(_data()[code], words)
