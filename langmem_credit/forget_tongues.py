"""Requests to forget in languages whose own file, if there is one, has no words for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .forget_edges import MARKS, trim, without_mark
from .languages import read_data
from .vocabularies import Vocabulary
from .words import Phrases, Token, ends_in_question, strip_final_stop


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language whose own file has no words of forgetting."""

    code: str
    verbs: Phrases
    negated: Phrases
    openers: Phrases
    at_start: bool
    vocabulary: Vocabulary

    def find_said(self, sentence: Sequence[Token]) -> Sequence[Token] | None:
        """What is to be forgotten, or None when nothing is."""
        if ends_in_question(sentence) or self.negated.found_in(sentence):
            return None
        body: Sequence[Token] = strip_final_stop(sentence)
        begin = 0
        while begin < len(body):
            length = self.openers.match_at(body, begin)
            if not length and body[begin].text not in MARKS:
                break
            begin += length or 1
        body = body[begin:]
        while length := self.openers.match_end(trim(body)):
            body = trim(body)[:-length]
        body = trim(body)
        length = self.verbs.match_at(body, 0) if self.at_start else self.verbs.match_end(body)
        if not length or length >= len(body):
            return None
        return without_mark(body[length:]) if self.at_start else body[:-length]


@cache
def tongues() -> tuple[Tongue, ...]:
    """The languages of `languages/forgetting.json`."""
    data: dict[str, Any] = read_data("forgetting")
    return tuple(
        Tongue(
            code=code,
            verbs=Phrases(entry["verbs"]),
            negated=Phrases(entry["negated"]),
            openers=Phrases(entry["openers"]),
            at_start=entry["at"] == "start",
            vocabulary=Vocabulary(
                Phrases(entry["fillers"]),
                Phrases(entry["exceptions"]),
                clauses=Phrases(entry["clauses"]),
            ),
        )
        for code, entry in data.items()
    )
