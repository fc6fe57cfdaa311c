"""Which stretches of a message may stand as a note: all of it, greetings and openers aside."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .languages import Language
from .standing import asks_about_state, has_strong_sign, is_order
from .words import (
    Token,
    count_words,
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
        plain: which of the starts reads well; behind "merk dir, dass" the verb stands last.
    """

    tokens: Sequence[Token]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    plain: int = -1

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Every stretch that a note may say as [start, end), the longest first.

        Without its final stop, which says nothing.
        """
        seen = set()
        for start in self.starts:
            for end in self.ends:
                close = start + len(strip_final_stop(self.tokens[start:end]))
                if start < end and (start, close) not in seen:
                    seen.add((start, close))
                    yield start, close

    @property
    def shortest(self) -> Sequence[Token]:
        """The stretch without any opener or closer, but for openers that shape the rest."""
        return self.tokens[self.starts[self.plain] : self.ends[-1]]


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
    return _unit(core, language)


def _unit(tokens: Sequence[Token], language: Language) -> Unit:
    starts = _starts(tokens, language)
    binding = language.words("binding_openers")
    bound = [k for k, start in enumerate(starts) if start and tokens[start - 1].low in binding]
    return Unit(tokens, starts, _ends(tokens, language), bound[0] - 1 if bound else -1)


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
        if index + 1 < len(tokens) and tokens[index].text in "\u00a1\u00bf":
            index += 1
            starts.append(index)
        length = language.phrases("openers").match_at(tokens, index)
        if length:
            index += length
        else:
            length = _opener_before_mark(tokens, index, language)
            if not length:
                break
            index += length
        while separates(tokens, index):
            index += 1
        if count_words(tokens[index:]) < 2 or _goes_on(tokens, index, language):
            break
        starts.append(index)
    return tuple(starts)


def _opener_before_mark(tokens: Sequence[Token], index: int, language: Language) -> int:
    """Length of "ok" before a mark, or of an adjective such as "great" before all but a comma."""
    length = language.phrases("openers_before_separator").match_at(tokens, index)
    if length and separates(tokens, index + length):
        return length
    length = language.phrases("openers_before_stop").match_at(tokens, index)
    if length and separates(tokens, index + length) and tokens[index + length].text not in ",-":
        return length
    return 0


def _goes_on(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """True when the words before the index are part of what follows, and no opener.

    So it is at "From now on or tomorrow …" and at lists: "Yes, no and maybe are the answers".
    """
    joining = language.words("list_words")
    if tokens[index].low in joining or tokens[index].low in language.words("copulas"):
        return True
    listed = index > 0 and tokens[index - 1].text in ",\uff0c\u3001"
    return listed and index + 1 < len(tokens) and tokens[index + 1].low in joining


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
    before = len(tokens) - length - 1
    if length and separates(tokens, before):
        return 0 if _is_wording(tokens[: before + 1], language) else length
    length = language.phrases("closers").match_end(tokens)
    if length and length < len(tokens):
        if tokens[-length - 1].low not in language.words("closers_not_behind"):
            # "Show only events from now on" says which events.
            if not any(token.low in language.words("restrictors") for token in tokens):
                return length
    return 0


def _is_wording(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words end in something to be written: "end my mails with: Best, thanks"."""
    near = {token.low for token in tokens[-4:]}
    if near & language.words("wording_near"):
        return True
    return bool(near & language.words("wording_with")) and any(
        token.low in language.words("wording_verbs") for token in tokens
    )


def _without_polite_form(tokens: Sequence[Token], language: Language) -> Unit | None:
    """The order inside "can you always …?" or "…, ok?", when it says that it should last."""
    bare = list(tokens)
    while bare and not bare[-1].word and bare[-1].text in "?!\uff1f\uff01.\u3002":
        bare.pop()
    # A particle can ask without a mark, as in Chinese.
    particle = language.phrases("polite_particles").match_end(bare)
    polite_end = language.phrases("polite_endings").match_end(bare)
    if not (ends_in_question(tokens) or particle or polite_end):
        return None
    if any(ends_in_question(part) for part in split_sentences(bare, strict=False)):
        return None
    starts = _starts(bare, language)
    for start in reversed(starts):
        length = language.phrases("polite_requests").match_at(bare, start)
        rest = start + length
        order = bare[rest : len(bare) - particle]
        if length and order and has_strong_sign(order, language):
            if asks_about_state(order, language):
                return None
            return _unit(order, language)
    tag = language.phrases("polite_tags").match_end(bare)
    before = len(bare) - tag
    if tag and before > 1 and bare[before - 1].text in ",-\uff0c":
        order = bare[: before - 1]
        # "Skipping the tests is fine, ok?" asks.
        if not is_order(order, language):
            return None
        return _unit(order, language)
    # Chinese and others put the request's particle behind the order without a mark.
    tail = language.phrases("polite_endings").match_end(bare)
    if tail and tail < len(bare) and has_strong_sign(bare[:-tail], language):
        return _unit(bare[:-tail], language)
    return None
