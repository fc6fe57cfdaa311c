"""What a request says, read once for all the notes that it is held against.

Pure. Each word is either one that can name a note or a filler; a filler such as "old" counts where
it tells a thing of the past from the present one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .letters import parts_words
from .pieces import Piece, is_combining, naming_words, split_pieces
from .vocabularies import Vocabulary
from .words import Phrases, Token, strip_final_stop, tokenize

_MOST_ORDINAL = 2  # digits
# "Forget that tea" speaks of a thing.
_LEAST_WHOLE = 3  # words
_NEAR = 3  # words from "my" to "note" in "my old zsh note"


@dataclass(frozen=True, slots=True)
class Spoken:
    """What is to be forgotten, read once for all the notes that it is held against.

    Attributes:
        tokens: without the verb.
        vocabulary: of their language.
        pieces: the tokens as words and names.
        fillers: for each token, whether it names nothing.
        words: those that can name a note.
        known: those and the ones that cannot.
        content: what names something, in order.
        excepts: a word excepts, denies or keeps something.
        anchors: words of `words` that name something alone: not "last", not "2".
        aside: for each token, whether it only speaks of what is remembered: "what you know about".
    """

    tokens: Sequence[Token]
    vocabulary: Vocabulary
    pieces: tuple[Piece, ...]
    fillers: tuple[bool, ...]
    words: frozenset[str]
    known: frozenset[str]
    content: tuple[str, ...]
    excepts: bool
    anchors: frozenset[str]
    aside: tuple[bool, ...]


def read_spoken(tokens: Sequence[Token], vocabulary: Vocabulary) -> Spoken:
    """The words, ready to be held against notes."""
    pieces = tuple(split_pieces(tokens))
    fillers = _filler_mask(tokens, vocabulary)
    aside = _aside_mask(tokens, vocabulary)
    _count_former(fillers, aside, tokens, vocabulary)
    ordinals = _mask(vocabulary.ordinals.find(tokens), len(tokens))
    exceptions = _find_whole(vocabulary.exceptions, tokens)
    return Spoken(
        tokens=tokens,
        vocabulary=vocabulary,
        pieces=pieces,
        fillers=tuple(fillers),
        words=naming_words(tokens),
        known=naming_words(tokens, keep_all=True),
        content=tuple(
            piece.low
            for piece in pieces
            if piece.kind != "mark" and not all(fillers[piece.begin : piece.end])
        ),
        # Not at "what you remember".
        excepts=any(not all(fillers[begin:end]) for begin, end in exceptions),
        anchors=naming_words(
            token
            for token, ordinal in zip(tokens, ordinals, strict=True)
            if not ordinal and not (token.low.isdigit() and len(token.low) <= _MOST_ORDINAL)
        ),
        aside=tuple(aside),
    )


def says_text(spoken: Spoken, text: str) -> bool:
    """True when the words are the text, one for one, a final stop and an opening "that" aside."""
    vocabulary = spoken.vocabulary
    opened = vocabulary.clauses.match_at(spoken.tokens, 0)
    words = tuple(token.low for token in spoken.tokens[opened:])
    if len(words) < _LEAST_WHOLE or not spoken.anchors:
        return False
    told = _lows_of(text)
    # "Ich esse nie Fleisch" is said as "dass ich nie Fleisch esse".
    turned = vocabulary.verb_last and opened > 0 and told[:1] and told[0] in vocabulary.subjects
    return words == told or (bool(turned) and words == (told[0], *told[2:], *told[1:2]))


@lru_cache(maxsize=4096)
def _lows_of(text: str) -> tuple[str, ...]:
    return tuple(token.low for token in strip_final_stop(tokenize(text)))


def _filler_mask(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[bool]:
    found = _find_whole(vocabulary.fillers, tokens)
    return _mask(((begin, end - begin) for begin, end in found), len(tokens))


def _aside_mask(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[bool]:
    """What speaks of the memory: "what you know", "I told you", and "my" in "my zsh note"."""
    mask = _mask(vocabulary.topics.find(tokens), len(tokens))
    for begin, end in _find_whole(vocabulary.fillers, tokens):
        if end - begin > 1 and vocabulary.persons.phrases.match_at(tokens, begin) != end - begin:
            mask[begin:end] = [True] * (end - begin)
    for index, _ in vocabulary.persons.phrases.find(tokens):
        near = range(index + 1, min(index + _NEAR + 2, len(tokens)))
        if any(vocabulary.memory.match_at(tokens, place) for place in near):
            mask[index] = True
    return mask


def _count_former(
    fillers: list[bool], aside: Sequence[bool], tokens: Sequence[Token], vocabulary: Vocabulary
) -> None:
    """Makes "old" name something in "my old address" and "the old address"; not in "old note"."""
    if vocabulary.memory.found_in(tokens):
        return
    owned = vocabulary.persons.found_in(tokens, aside)
    named = sum(token.word and not fillers[index] for index, token in enumerate(tokens))
    for index, length in vocabulary.former.find(tokens) if owned or named < 2 else ():
        sides = [place for place in (index - 1, index + length) if 0 <= place < len(tokens)]
        if not all(fillers[place] for place in sides):
            fillers[index : index + length] = [False] * length


def _mask(found: Iterable[tuple[int, int]], length: int) -> list[bool]:
    mask = [False] * length
    for index, size in found:
        mask[index : index + size] = [True] * size
    return mask


def _find_whole(phrases: Phrases, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """[begin, end) of every phrase that no mark or syllable goes on, none within another."""
    done = 0
    for index, length in phrases.find(tokens):
        end = index + length
        if index < done or is_combining(tokens[index].text):
            continue
        if index and not tokens[index].gap and is_combining(tokens[index - 1].text):
            continue
        if not (parts_words(tokens, index) and parts_words(tokens, end)):
            continue
        if end < len(tokens) and not tokens[end].gap and is_combining(tokens[end].text):
            continue
        done = end
        yield index, end
