"""Which stretches of a message may stand as a note: all of it, greetings and openers aside."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .languages import Language
from .standing import has_strong_sign
from .words import (
    Token,
    ends_in_question,
    separates,
    split_sentences,
    strip_final_stop,
)

_MOST_OPENERS = 6


@dataclass(frozen=True, slots=True)
class Unit:
    """The part of a message that must be in the note, whole.

    Attributes:
        tokens: greetings and thanks aside; what the other checks read.
        starts: indexes at which the note may begin, first to last.
        ends: indexes at which the note may end, last to first.
    """

    tokens: Sequence[Token]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def variants(self) -> Iterator[Sequence[Token]]:
        """Every stretch that a note may say, the longest first."""
        for start in self.starts:
            for end in self.ends:
                if start < end:
                    yield self.tokens[start:end]

    @property
    def shortest(self) -> Sequence[Token]:
        """The stretch without any opener or closer."""
        return self.tokens[self.starts[-1] : self.ends[-1]]


def find_unit(tokens: Sequence[Token], language: Language | None) -> Unit:
    """The unit of a whole message.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> unit = find_unit(tokenize("Hi! Please use tabs, ok thanks"), load("en"))
    >>> " ".join(token.text for token in unit.shortest)
    'use tabs , ok thanks'
    """
    if language is None:
        ends = tuple(dict.fromkeys((len(tokens), len(strip_final_stop(tokens)))))
        return Unit(tokens, (0,), ends)
    core = _without_greetings(tokens, language)
    polite = _without_polite_form(core, language)
    if polite is not None:
        return polite
    return Unit(core, _starts(core, language), _ends(core, language))


def _without_greetings(tokens: Sequence[Token], language: Language) -> Sequence[Token]:
    sentences = split_sentences(tokens, strict=True)
    first, last = 0, len(sentences)
    while first < last - 1 and _is_greeting(sentences[first], language):
        first += 1
    while last > first + 1 and _is_greeting(sentences[last - 1], language):
        last -= 1
    begin = sum(map(len, sentences[:first]))
    return tokens[begin : begin + sum(map(len, sentences[first:last]))]


def _is_greeting(sentence: Sequence[Token], language: Language) -> bool:
    """True when nothing but greetings, thanks, marks and emoji is in the sentence."""
    index, greeted = 0, False
    while index < len(sentence):
        length = language.phrases("greetings").match_at(sentence, index)
        if length:
            greeted = True
            index += length
        elif not sentence[index].word and unicodedata.category(sentence[index].text)[0] in "PSM":
            index += 1
        else:
            return False
    return greeted


def _starts(tokens: Sequence[Token], language: Language) -> tuple[int, ...]:
    starts = [0]
    index = 0
    while len(starts) <= _MOST_OPENERS:
        length = language.phrases("openers").match_at(tokens, index)
        if length:
            index += length
        else:
            length = language.phrases("openers_before_separator").match_at(tokens, index)
            if not length or not separates(tokens, index + length):
                break
            index += length
        while separates(tokens, index):
            index += 1
        if index >= len(tokens):
            break
        starts.append(index)
    return tuple(starts)


def _ends(tokens: Sequence[Token], language: Language) -> tuple[int, ...]:
    ends = [len(tokens)]
    while len(ends) <= _MOST_OPENERS:
        kept = strip_final_stop(tokens[: ends[-1]])
        if len(kept) != ends[-1]:
            ends.append(len(kept))
        closer = _closer_length(kept, language)
        if not closer or closer >= len(kept):
            break
        index = len(kept) - closer
        while index > 1 and tokens[index - 1].text in ",;-\u2026" and tokens[index].gap:
            index -= 1
        ends.append(index)
    return tuple(ends)


def _closer_length(tokens: Sequence[Token], language: Language) -> int:
    length = language.phrases("closers_after_separator").match_end(tokens)
    if length and separates(tokens, len(tokens) - length - 1):
        return length
    length = language.phrases("closers").match_end(tokens)
    if length and length < len(tokens):
        if tokens[-length - 1].low not in language.words("closers_not_behind"):
            return length
    return 0


def _without_polite_form(tokens: Sequence[Token], language: Language) -> Unit | None:
    """The order inside "can you always …?" or "…, ok?", when it says that it should last."""
    if not ends_in_question(tokens):
        return None
    bare = list(tokens)
    while bare and not bare[-1].word and bare[-1].text in "?!\uff1f\uff01.":
        bare.pop()
    if any(ends_in_question(part) for part in split_sentences(bare, strict=False)):
        return None
    starts = _starts(bare, language)
    for start in reversed(starts):
        length = language.phrases("polite_requests").match_at(bare, start)
        rest = start + length
        if length and rest < len(bare) and has_strong_sign(bare[rest:], language):
            inner = _starts(bare[rest:], language)
            order = bare[rest:]
            return Unit(order, inner, _ends(order, language))
    tag = language.phrases("polite_tags").match_end(bare)
    before = len(bare) - tag
    if tag and before > 1 and bare[before - 1].text in ",-\uff0c":
        order = bare[: before - 1]
        return Unit(order, _starts(order, language), _ends(order, language))
    # Chinese and others put the request's particle behind the order without a mark.
    tail = language.phrases("polite_endings").match_end(bare)
    if tail and tail < len(bare) and has_strong_sign(bare[:-tail], language):
        order = bare[:-tail]
        return Unit(order, _starts(order, language), _ends(order, language))
    return None
