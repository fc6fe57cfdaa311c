"""The sentences of one message, each as if it had been typed as a message of its own.

A sentence may stand alone only where every other one is shown not to touch it, which is asked as
for the messages of a run (`neighbours.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .detection import detect
from .forget_requests import is_request
from .languages import Language
from .notes import Utterance
from .pasting import find_pasted
from .words import Token, split_sentences

_MOST = 12  # sentences of a message that is cut
_STOPS = frozenset(".!?")
_OPENING, _CLOSING = frozenset("([{<\u201c\u300c\uff08"), frozenset(")]}>\u201d\u300d\uff09")


def stretches(
    heard: Sequence[Utterance], index: int, tokens: Sequence[Token]
) -> Iterator[tuple[list[Utterance], int, int]]:
    """(utterances of the run with the message cut, index of a stretch of sentences, its offset).

    The stretches are those of one sentence, then of two, and so on; none is the whole message. An
    answer is never cut, since the question belongs to all of it.
    """
    utterance = heard[index]
    if utterance.via != "input" or utterance.asked or find_pasted(utterance.text):
        return
    language = detect(tokens)
    if language is None or not language.words("anaphors"):
        return
    sentences = _split(tokens)
    if not 1 < len(sentences) <= _MOST or not all(map(_is_closed, sentences)):
        return
    if any(map(is_request, sentences)):
        # "What I wrote was wrong. I run Debian."
        return
    for size in range(1, len(sentences)):
        for first in range(len(sentences) - size + 1):
            last = first + size
            if any(_points(one, language) for one in sentences[first:last]):
                continue
            cuts = [*range(first + 1), *range(last, len(sentences))]
            ends = [*cuts[1:], len(sentences)]
            parts = [
                _part(utterance, sentences[begin][0].start, sentences[end - 1][-1].end)
                for begin, end in zip(cuts, ends, strict=True)
            ]
            run = [*heard[:index], *parts, *heard[index + 1 :]]
            yield run, index + first, sentences[first][0].start


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


def _part(utterance: Utterance, start: int, end: int) -> Utterance:
    return replace(utterance, text=utterance.text[start:end])


def _is_closed(sentence: Sequence[Token]) -> bool:
    """False where a bracket or a quotation goes on into the next sentence."""
    texts = [token.text for token in sentence]
    opened = sum(text in _OPENING for text in texts)
    closed = sum(text in _CLOSING for text in texts)
    return opened == closed and not sum(text == '"' for text in texts) % 2
