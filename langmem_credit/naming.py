"""What a request names: every word of it must stand in the note, and one of them in few others.

Pure. One shared word is no name: "forget the nuts on the shelf" is not about an allergy to nuts.
So a note is named only by words that are all its own, but for a closed list of words that name
nothing (`forget_fillers`); an exception or a denial ("except", "keep", "not") counts only where the
note says the very same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from .languages import Language
from .notes import Note
from .pieces import Piece, alike, is_combining, naming_words, note_words, split_pieces
from .words import Phrases, Token, is_unspaced, tokenize

# Of the scope's notes, a word may stand in this share and still name one.
_COMMON_SHARE = 0.1
_QUOTES = frozenset("\"'`")


_NONE = Phrases(())


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one language around what a request names.

    Attributes:
        fillers: words that name nothing.
        exceptions: words that keep, deny or except something.
        joiners: words between two objects.
        owners: words that open another object: "my birthday and my address".
        clauses: words that open a clause as an object: "that I …".
        verbs: words that make an order or a statement of what follows "and".
    """

    fillers: Phrases
    exceptions: Phrases
    joiners: frozenset[str] = frozenset()
    owners: Phrases = _NONE
    clauses: Phrases = _NONE
    verbs: frozenset[str] = frozenset()


def merge(vocabularies: Sequence[Vocabulary]) -> Vocabulary:
    """One vocabulary for words that may be of several languages."""
    if len(vocabularies) == 1:
        return vocabularies[0]
    return Vocabulary(
        Phrases([text for one in vocabularies for text in one.fillers.texts]),
        Phrases([text for one in vocabularies for text in one.exceptions.texts]),
    )


@cache
def vocabulary_of(language: Language) -> Vocabulary:
    """The vocabulary of a language that has a file."""
    negations = (*language.items("negations"), *language.items("forget_denials"))
    verbs = (
        *("finite", "auxiliaries", "working", "generic_working"),
        *("one_off_verbs", "other_verbs", "final_working"),
    )
    return Vocabulary(
        Phrases([*language.items("forget_fillers"), *language.items("forget_memory_words")]),
        Phrases([*language.items("forget_exceptions"), *negations]),
        language.words("forget_joiners"),
        language.phrases("forget_owners"),
        language.phrases("forget_clauses"),
        frozenset[str]().union(*map(language.words, verbs)),
    )


def names(
    said: Sequence[Token], note: Note, others: Sequence[Note], vocabulary: Vocabulary
) -> bool:
    """True when the words say this note and none of the others as well.

    Args:
        said: what is to be forgotten, without the verb.
        note: the one that may be meant.
        others: the scope's notes; the note itself may be among them.
        vocabulary: of the language of `said`.
    """
    rivals = [one for one in others if not same_source(one, note)]
    return any(
        is_rare(part, note, rivals) and not _better(part, note, rivals, vocabulary)
        for part in _parts_for(said, note, others, vocabulary)
    )


def says_exactly(said: Sequence[Token], note: Note, vocabulary: Vocabulary) -> bool:
    """True when the words are the note's own, in order, but for those that name nothing."""
    words = _content(said, vocabulary)
    return bool(words) and any(
        len(words) == len(told := _content(tokens, vocabulary)) and all(map(alike, words, told))
        for tokens in _texts(note)
    )


def is_rare(tokens: Iterable[Token], note: Note, rivals: Sequence[Note]) -> bool:
    """True when one of the words stands in the note and in few of its rivals."""
    common = max(1, int((len(rivals) + 1) * _COMMON_SHARE))
    return any(
        1 + sum(word in note_words(other) for other in rivals) <= common
        for word in naming_words(tokens) & note_words(note)
    )


def same_source(one: Note, other: Note) -> bool:
    """True for a note and itself, and for wordings of the same stretch of one utterance."""
    if one.id == other.id:
        return True
    source = one.verdict.get("utterance")
    if not source or source != other.verdict.get("utterance"):
        return False
    if one.span is None or other.span is None:
        return False
    return one.span[0] < other.span[1] and other.span[0] < one.span[1]


def _parts_for(
    said: Sequence[Token], note: Note, others: Sequence[Note], vocabulary: Vocabulary
) -> Iterator[Sequence[Token]]:
    """The stretches of what is said that are this note's alone: all of it, or one of a list."""
    if says_exactly(said, note, vocabulary):
        yield said
        return
    if _makes_exception(said, vocabulary):
        return
    if _covers(said, note, vocabulary):
        yield said
        return
    parts = _split(said, vocabulary)
    if len(parts) < 2 or not all(_opens_object(part, vocabulary) for part in parts[1:]):
        return
    mine = [part for part in parts if _covers(part, note, vocabulary)]
    for part in parts:
        if part in mine or vocabulary.owners.match_at(part, 0):
            continue
        if not any(_covers(part, other, vocabulary) for other in others):
            return
    yield from mine


def _split(said: Sequence[Token], vocabulary: Vocabulary) -> list[Sequence[Token]]:
    """The objects of a list; a comma alone makes none."""
    if not any(token.low in vocabulary.joiners for token in said):
        return [said]
    parts: list[Sequence[Token]] = []
    begin = 0
    for index, token in enumerate(said):
        if token.low in vocabulary.joiners or token.text in ",\u3001":
            parts.append(said[begin:index])
            begin = index + 1
    parts.append(said[begin:])
    return [part for part in parts if part]


def _opens_object(part: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """True at "my dog" and "Oslo" behind "and", not at "use zsh" and "my dog is called Rex"."""
    if vocabulary.clauses.match_at(part, 0):
        return True
    if any(token.low in vocabulary.verbs for token in part):
        return False
    return vocabulary.owners.match_at(part, 0) > 0 or len(part) == 1


def _better(
    part: Sequence[Token], note: Note, rivals: Sequence[Note], vocabulary: Vocabulary
) -> bool:
    """True when another note holds all the words that this one does, and more of them."""
    mine = _found(part, note)
    return any(mine < _found(part, rival) for rival in rivals)


def _found(part: Sequence[Token], note: Note) -> frozenset[str]:
    words = note_words(note)
    return frozenset(word for word in naming_words(part, keep_all=True) if word in words)


def _covers(said: Sequence[Token], note: Note, vocabulary: Vocabulary) -> bool:
    """True when every word stands in the note or names nothing."""
    fillers = _filler_mask(said, vocabulary)
    lexicon = _lexicon_of(note.text, note.said if note.credited else "")
    return all(
        all(fillers[piece.begin : piece.end]) or _is_in(piece, said, fillers, lexicon)
        for piece in split_pieces(said)
    )


class _Lexicon(NamedTuple):
    """The words of a note, those joined by marks, and its pairs of unspaced characters."""

    words: frozenset[str]
    joined: frozenset[str]
    pairs: frozenset[str]


@lru_cache(maxsize=4096)
def _lexicon_of(*texts: str) -> _Lexicon:
    words: set[str] = set()
    joined: set[str] = set()
    pairs: set[str] = set()
    for tokens in map(tokenize, texts):
        for piece in split_pieces(tokens):
            (joined if piece.kind == "joined" else words).add(piece.low)
            words.update(token.low for token in tokens[piece.begin : piece.end] if token.word)
        for one, two in pairwise(tokens):
            if not two.gap and is_unspaced(one.low) and is_unspaced(two.low):
                pairs.add(one.low + two.low)
    return _Lexicon(frozenset(words), frozenset(joined), frozenset(pairs))


def _is_in(piece: Piece, said: Sequence[Token], fillers: Sequence[bool], lexicon: _Lexicon) -> bool:
    if piece.kind == "mark":
        return piece.low in _QUOTES
    if piece.kind == "char":
        near = [
            (place, place + 1)
            for place in (piece.begin - 1, piece.begin)
            if 0 <= place < len(said) - 1 and not said[place + 1].gap
        ]
        if any(said[one].low + said[two].low in lexicon.pairs for one, two in near):
            return True
        # "我的狗": a character alone between words that name nothing.
        alone = all(
            fillers[other] or not is_unspaced(said[other].low)
            for pair in near
            for other in pair
            if other != piece.begin
        )
        return alone and piece.low in lexicon.words
    if piece.kind == "joined":
        if piece.low in lexicon.joined:
            return True
        inner = [token for token in said[piece.begin : piece.end] if token.word]
        marks = {token.text for token in said[piece.begin : piece.end] if not token.word}
        return marks <= {"-"} and all(_is_known(token.low, lexicon) for token in inner)
    return _is_known(piece.low, lexicon)


def _is_known(low: str, lexicon: _Lexicon) -> bool:
    return low in lexicon.words or any(alike(low, word) for word in lexicon.words)


def _filler_mask(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[bool]:
    mask = [False] * len(tokens)
    for begin, end in _find_whole(vocabulary.fillers, tokens):
        mask[begin:end] = [True] * (end - begin)
    return mask


def _makes_exception(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """True at a word that excepts, denies or keeps, but not at "what you remember"."""
    fillers = _filler_mask(tokens, vocabulary)
    return any(
        not all(fillers[begin:end]) for begin, end in _find_whole(vocabulary.exceptions, tokens)
    )


def _find_whole(phrases: Phrases, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """[begin, end) of every phrase that no combining mark goes on, none within another."""
    done = 0
    for index, length in phrases.find(tokens):
        end = index + length
        if index < done or is_combining(tokens[index].text):
            continue
        if index and not tokens[index].gap and is_combining(tokens[index - 1].text):
            continue
        if end < len(tokens) and not tokens[end].gap and is_combining(tokens[end].text):
            continue
        done = end
        yield index, end


def _content(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[str]:
    """The words in order, without those that name nothing and without marks."""
    mask = _filler_mask(tokens, vocabulary)
    return [
        piece.low
        for piece in split_pieces(tokens)
        if piece.kind != "mark" and not all(mask[piece.begin : piece.end])
    ]


def _texts(note: Note) -> list[list[Token]]:
    texts = {note.text: None, (note.said if note.credited else note.text): None}
    return [tokenize(text) for text in texts if text]
