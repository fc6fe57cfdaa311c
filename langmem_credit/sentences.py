"""The sentences of one message, each as if it had been typed as a message of its own.

A sentence may stand alone only where every other one is shown not to touch it, which is asked as
for the messages of a run (`neighbours.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .notes import Utterance
from .pasting import find_pasted
from .words import Token, quoted_mask, split_sentences

_MOST = 12  # sentences of a message that is cut
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
    sentences = split_sentences(tokens, strict=True)
    if not 1 < len(sentences) <= _MOST or not all(map(_is_closed, sentences)):
        return
    for size in range(1, len(sentences)):
        for first in range(len(sentences) - size + 1):
            last = first + size
            cuts = [*range(first + 1), *range(last, len(sentences))]
            ends = [*cuts[1:], len(sentences)]
            parts = [
                _part(utterance, sentences[begin][0].start, sentences[end - 1][-1].end)
                for begin, end in zip(cuts, ends, strict=True)
            ]
            run = [*heard[:index], *parts, *heard[index + 1 :]]
            yield run, index + first, sentences[first][0].start


def _part(utterance: Utterance, start: int, end: int) -> Utterance:
    return replace(utterance, text=utterance.text[start:end])


def _is_closed(sentence: Sequence[Token]) -> bool:
    """False where a bracket or a quotation goes on into the next sentence."""
    texts = [token.text for token in sentence]
    opened = sum(text in _OPENING for text in texts)
    closed = sum(text in _CLOSING for text in texts)
    return opened == closed and not sum(text == '"' for text in texts) % 2
