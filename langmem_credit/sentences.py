"""The units of a message that may be credited: all of it, or whole sentences that stand alone.

A sentence stands alone only where every other one is shown not to touch it, which is asked as for
the messages of a run: the message is cut, and its parts take its place (`neighbours.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .detection import detect_tied
from .forget_requests import is_request_in
from .languages import Language
from .notes import Utterance
from .units import Unit, find_unit, gives_words, is_greeting
from .words import Token, split_sentences, tokenize

_MOST = 12  # sentences of a message that is cut
_STOPS = frozenset(".!?")


@dataclass(frozen=True)
class Stretch:
    """A message of a run, or some of its sentences as a message of their own.

    Attributes:
        heard: the run's utterances, oldest first; a cut message's parts stand in its place.
        index: of the stretch among them.
        offset: of its first character in the message.
        tokens: its words.
        lasting: a heading says that it is so for good.
    """

    heard: Sequence[Utterance]
    index: int
    offset: int
    tokens: Sequence[Token]
    lasting: bool = False

    @property
    def utterance(self) -> Utterance:
        """The stretch as an utterance."""
        return self.heard[self.index]

    @cached_property
    def languages(self) -> tuple[Language, ...]:
        """The languages it may be written in; none where it has no file of words."""
        return detect_tied(self.tokens)

    @property
    def language(self) -> Language | None:
        """The language it is read in."""
        return next(iter(self.languages), None)

    @cached_property
    def unit(self) -> Unit:
        """What of it must be in a note."""
        return find_unit(self.tokens, self.language)

    @cached_property
    def unit_languages(self) -> tuple[Language, ...]:
        """The languages that the unit may be written in."""
        whole = len(self.unit.tokens) == len(self.tokens)
        return self.languages if whole else detect_tied(self.unit.tokens)


def sentences_of(whole: Stretch) -> Iterator[Stretch]:
    """The stretches of whole sentences that could stand alone, single ones first; never all.

    None of an answer, since the question belongs to all of it, and none of a message that takes
    something back.
    """
    utterance, language = whole.utterance, whole.language
    if utterance.via != "input" or utterance.asked:
        return
    if language is None or not language.words("anaphors"):
        return
    sentences = _split(whole.tokens)
    if not 1 < len(sentences) <= _MOST:
        return
    if any(is_request_in(one, language) for one in sentences):
        # "What I wrote was wrong. I run Debian."
        return
    bound = [_points(one, language) for one in sentences]
    for size in range(1, len(sentences)):
        for first in range(len(sentences) - size + 1):
            last = first + size
            if any(bound[first:last]) or _is_gone_on(sentences, last, language):
                continue
            yield _cut(whole, sentences, first, last)


def _cut(whole: Stretch, sentences: Sequence[Sequence[Token]], first: int, last: int) -> Stretch:
    """The sentences [first, last) as one message among the others."""
    begins = [*range(first + 1), *range(last, len(sentences))]
    ends = [*begins[1:], len(sentences)]
    text = whole.utterance.text
    parts = [
        replace(whole.utterance, text=text[sentences[begin][0].start : sentences[end - 1][-1].end])
        for begin, end in zip(begins, ends, strict=True)
    ]
    heard = [*whole.heard[: whole.index], *parts, *whole.heard[whole.index + 1 :]]
    tokens = tokenize(parts[first].text)
    return Stretch(heard, whole.index + first, sentences[first][0].start, tokens)


def _split(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The sentences; of somebody who writes no capitals, cut at each single mark that ends one."""
    if any(token.text[0].isupper() for token in tokens):
        return split_sentences(tokens, strict=True)
    sentences = split_sentences(tokens, strict=False)
    if any(one[-1].text not in _STOPS or not one[-2:][0].word for one in sentences[:-1]):
        return split_sentences(tokens, strict=True)
    return sentences


def _points(sentence: Sequence[Token], language: Language) -> bool:
    """True when a word speaks of what another sentence named: "Always use that account"."""
    return any(token.low.partition("'")[0] in language.words("anaphors") for token in sentence)


def _is_gone_on(sentences: Sequence[Sequence[Token]], last: int, language: Language) -> bool:
    """True where the next sentence may be a text that is to be written: "Say: Hello. Bye."."""
    return (
        last < len(sentences)
        and gives_words(sentences[last - 1 : last], language)
        and is_greeting(sentences[last], language)
    )
