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
from .pieces import Piece, alike, is_among, is_combining, naming_words, note_words, split_pieces
from .words import Phrases, Token, is_unspaced, tokenize

_MOST_PARTS = 40
# Of the scope's notes, a word may stand in this share and still name one.
_COMMON_SHARE = 0.1
_QUOTES = frozenset("\"'`")


_NONE = Phrases(())


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The words of one language around what a request names.

    Attributes:
        fillers: words that name nothing.
        exceptions: words that keep, deny or except something.
        memory: words of memory.
        joiners: words between two objects.
        owners: words that open another object: "my birthday and my address".
        clauses: words that open a clause as an object: "that I …".
        verbs: words that make an order or a statement of what follows "and".
    """

    fillers: Phrases
    exceptions: Phrases
    memory: Phrases = _NONE
    joiners: frozenset[str] = frozenset()
    owners: Phrases = _NONE
    clauses: Phrases = _NONE
    verbs: frozenset[str] = frozenset()


@cache
def merge(vocabularies: tuple[Vocabulary, ...]) -> Vocabulary:
    """One vocabulary for words that may be of several languages."""
    if len(vocabularies) == 1:
        return vocabularies[0]
    return Vocabulary(
        Phrases([text for one in vocabularies for text in one.fillers.texts]),
        Phrases([text for one in vocabularies for text in one.exceptions.texts]),
        clauses=Phrases([text for one in vocabularies for text in one.clauses.texts]),
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
        language.phrases("forget_memory_words"),
        language.words("forget_joiners"),
        language.phrases("forget_owners"),
        language.phrases("forget_clauses"),
        frozenset[str]().union(*map(language.words, verbs)),
    )


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
    """

    tokens: Sequence[Token]
    vocabulary: Vocabulary
    pieces: tuple[Piece, ...]
    fillers: tuple[bool, ...]
    words: frozenset[str]
    known: frozenset[str]
    content: tuple[str, ...]
    excepts: bool


def read_spoken(tokens: Sequence[Token], vocabulary: Vocabulary) -> Spoken:
    """The words, ready to be held against notes."""
    pieces = tuple(split_pieces(tokens))
    fillers = _filler_mask(tokens, vocabulary)
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
    )


def names(spoken: Spoken, note: Note, others: Sequence[Note]) -> bool:
    """True when the words say this note and none of the others as well.

    Args:
        spoken: what is to be forgotten.
        note: the one that may be meant.
        others: the scope's notes; the note itself may be among them.
    """
    rivals = [one for one in others if not same_source(one, note)]
    return any(
        is_rare(part.words, note, rivals, forms=_is_clear(part, note))
        and not _better(part, note, rivals)
        for part in _parts_for(spoken, note, others)
    )


def says_exactly(spoken: Spoken, note: Note) -> bool:
    """True when the words are the note's own, in order, but for those that name nothing."""
    words = spoken.content
    return bool(words) and any(
        len(words) == len(told) and all(map(alike, words, told))
        for text in dict.fromkeys((note.text, note.said if note.credited else note.text))
        for told in (_content_of(text, spoken.vocabulary),)
    )


def _is_clear(part: Spoken, note: Note) -> bool:
    """True where another form of a word names as well: beside a word of memory, or a second one.

    "Forget Friday" could mean anything.
    """
    return part.vocabulary.memory.found_in(part.tokens) or len(_found(part, note)) > 1


def is_rare(
    words: Iterable[str], note: Note, rivals: Sequence[Note], *, forms: bool = True
) -> bool:
    """True when one of the words stands in the note and in few of its rivals.

    With `forms`, in another form of it too: "Friday" and "Fridays".
    """
    common = max(1, int((len(rivals) + 1) * _COMMON_SHARE))
    own = note_words(note)
    return any(
        1 + sum(is_among(word, note_words(other)) for other in rivals) <= common
        for word in words
        if (is_among(word, own) if forms else word in own)
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


def _parts_for(spoken: Spoken, note: Note, others: Sequence[Note]) -> Iterator[Spoken]:
    """The stretches of what is said that are this note's alone: all of it, or one of a list."""
    if says_exactly(spoken, note):
        yield spoken
        return
    if spoken.excepts:
        return
    if _is_clause(spoken) and spoken.vocabulary.exceptions.found_in(tokenize(note.text)):
        # "Forget that I eat nuts" is not about "I never eat nuts".
        return
    if _covers(spoken, note):
        yield spoken
        return
    if not any(token.low in spoken.vocabulary.joiners for token in spoken.tokens):
        return
    parts = _split(spoken)
    if len(parts) < 2 or not all(map(_opens_object, parts[1:])):
        return
    mine = [part for part in parts if _covers(part, note)]
    for part in parts if mine else ():
        if part in mine or part.vocabulary.owners.match_at(part.tokens, 0):
            continue
        if not any(_covers(part, other) for other in others):
            return
    yield from mine


def _is_clause(spoken: Spoken) -> bool:
    """True at "that I …", and not at "我的狗"."""
    length = spoken.vocabulary.clauses.match_at(spoken.tokens, 0)
    return 0 < length >= spoken.vocabulary.owners.match_at(spoken.tokens, 0)


def _split(spoken: Spoken) -> list[Spoken]:
    """The objects of a list, the first few of a long one."""
    parts: list[Sequence[Token]] = []
    begin = 0
    for index, token in enumerate(spoken.tokens):
        if token.low in spoken.vocabulary.joiners or token.text in ",\u3001":
            parts.append(spoken.tokens[begin:index])
            begin = index + 1
    parts.append(spoken.tokens[begin:])
    if len(parts) > _MOST_PARTS:
        return []
    return [read_spoken(part, spoken.vocabulary) for part in parts if part]


def _opens_object(part: Spoken) -> bool:
    """True at "my dog" and "Oslo" behind "and", not at "use zsh" and "my dog is called Rex"."""
    if part.vocabulary.clauses.match_at(part.tokens, 0):
        return True
    if any(token.low in part.vocabulary.verbs for token in part.tokens):
        return False
    return part.vocabulary.owners.match_at(part.tokens, 0) > 0 or len(part.tokens) == 1


def _better(part: Spoken, note: Note, rivals: Sequence[Note]) -> bool:
    """True when another note holds all the words that this one does, and more of them."""
    mine = _found(part, note)
    return any(mine < _found(part, rival) for rival in rivals)


def _found(part: Spoken, note: Note) -> frozenset[str]:
    words = note_words(note)
    return frozenset(word for word in part.known if is_among(word, words))


def _covers(spoken: Spoken, note: Note) -> bool:
    """True when every word stands in the note or names nothing."""
    lexicon = _lexicon_of(note.text, note.said if note.credited else "")
    return all(
        all(spoken.fillers[piece.begin : piece.end])
        or _is_in(piece, spoken.tokens, spoken.fillers, lexicon)
        for piece in spoken.pieces
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
        return marks <= {"-"} and all(is_among(token.low, lexicon.words) for token in inner)
    return is_among(piece.low, lexicon.words)


def _filler_mask(tokens: Sequence[Token], vocabulary: Vocabulary) -> list[bool]:
    mask = [False] * len(tokens)
    for begin, end in _find_whole(vocabulary.fillers, tokens):
        mask[begin:end] = [True] * (end - begin)
    return mask


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


@lru_cache(maxsize=4096)
def _content_of(text: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    return read_spoken(tokenize(text), vocabulary).content
