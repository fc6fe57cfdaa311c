"""What a request names: every word of it must stand in the note, and one of them in few others.

Pure. One shared word is no name: "forget the nuts on the shelf" is not about an allergy to nuts.
So a note is named only by words that are all its own, but for a closed list of words that name
nothing (`forget_fillers`); an exception or a denial ("except", "keep", "not") counts only where the
note says the very same.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from .letters import is_syllable
from .notes import Note
from .pieces import Piece, alike, find_forms, is_among, note_words, split_pieces
from .spoken import Spoken, read_spoken, says_text
from .vocabularies import Vocabulary
from .words import Token, is_unspaced, tokenize

_MOST_PARTS = 40
# Of the scope's notes, a word may stand in this share and still name one.
_COMMON_SHARE = 0.1
_QUOTES = frozenset("\"'`")


def names(spoken: Spoken, note: Note, others: Sequence[Note]) -> bool:
    """True when the words say this note and none of the others as well.

    Args:
        spoken: what is to be forgotten.
        note: the one that may be meant.
        others: the scope's notes; the note itself may be among them.
    """
    rivals = [one for one in others if not same_source(one, note)]
    if says_whole(spoken, note):
        return not any(says_whole(spoken, one) for one in rivals)
    return any(
        is_rare(part.words, note, rivals, forms=_is_clear(part, note))
        and not _better(part, note, rivals)
        for part in _fitting(spoken, note, others)
    )


def is_shared(spoken: Spoken, note: Note, others: Sequence[Note]) -> bool:
    """True when the words fit this note, but stand in too many of the others to name it."""
    rivals = [one for one in others if not same_source(one, note)]
    return any(
        not is_rare(part.words, note, rivals, forms=_is_clear(part, note))
        for part in _fitting(spoken, note, others)
    )


def _fitting(spoken: Spoken, note: Note, others: Sequence[Note]) -> Iterator[Spoken]:
    """The stretches of what is said whose words are the note's, and not another person's."""
    own = note_words(note)
    for part in _parts_for(spoken, note, others):
        if not _is_anothers(part, note) and any(is_among(word, own) for word in part.anchors):
            yield part


def likely_named(spoken: Spoken, notes: Sequence[Note], others: Sequence[Note]) -> Sequence[Note]:
    """The notes that the words may name, found in one pass over the others."""
    rare = _find_rare(spoken, others)
    lists = any(token.low in spoken.vocabulary.joiners for token in spoken.tokens)
    return [
        note
        for note in notes
        if says_whole(spoken, note)
        or (
            rare & note_words(note)
            and (lists or says_exactly(spoken, note) or _covers(spoken, note))
        )
    ]


def find_sharing(spoken: Spoken, notes: Sequence[Note]) -> Note | None:
    """The first note that shares a word with few others."""
    rare = _find_rare(spoken, notes)
    return next((note for note in notes if rare & note_words(note)), None)


def _find_rare(spoken: Spoken, notes: Sequence[Note]) -> set[str]:
    """The notes' forms of the words that stand in few of them."""
    holders: dict[str, set[str]] = {}
    for note in notes:
        # Wordings of one utterance count once.
        source = str(note.verdict.get("utterance") or note.id)
        for word in note_words(note):
            holders.setdefault(word, set()).add(source)
    rare: set[str] = set()
    for forms in find_forms(spoken.words, holders):
        if len(set[str]().union(*(holders[form] for form in forms))) <= _common(len(notes)):
            rare |= forms
    return rare


def _common(notes: int) -> int:
    """In how many of so many notes a word may stand and still name one."""
    return max(1, int(notes * _COMMON_SHARE))


def says_exactly(spoken: Spoken, note: Note) -> bool:
    """True when the words are the note's own, in order, but for those that name nothing."""
    words = spoken.content
    same = operator.eq if _tells_person(spoken) else alike
    return bool(words) and any(
        len(words) == len(told) and all(map(same, words, told))
        for text in _texts_of(note)
        for told in (_content_of(text, spoken.vocabulary),)
    )


def says_whole(spoken: Spoken, note: Note) -> bool:
    """True when the words are the whole text of the note, as in "that I like tea".

    Such words name it also beside "I like green tea".
    """
    return any(says_text(spoken, text) for text in _texts_of(note))


def is_of_the_world(spoken: Spoken, note: Note) -> bool:
    """True where the note itself speaks of the rule or memory that the words name.

    "Delete the firewall rule" is no request about "Never delete a firewall rule by hand", but
    "delete the note about the firewall rule" is.
    """
    vocabulary, tokens = spoken.vocabulary, spoken.tokens
    lexicon = _lexicon_of(note.text, note.said if note.credited else "")
    found = list(vocabulary.memory.find(tokens))
    for index, length in found:
        if vocabulary.abouts.match_at(tokens, index + length) and all(spoken.fillers[:index]):
            return False
        if index and vocabulary.abouts.match_at(tokens, 0) and index + length == len(tokens):
            return False
    return any(
        all(is_among(token.low, lexicon.words) for token in tokens[index : index + length])
        for index, length in found
    )


def _is_anothers(spoken: Spoken, note: Note) -> bool:
    """True where the words speak of another's: "your address" of "My address is …"."""
    persons = spoken.vocabulary.persons
    told = frozenset[int]().union(*(persons.found_in(tokenize(text)) for text in _texts_of(note)))
    asked = persons.found_in(spoken.tokens, spoken.aside)
    return bool(told) and not asked <= told


def _texts_of(note: Note) -> Iterable[str]:
    return dict.fromkeys((note.text, note.said if note.credited else note.text))


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
    common = _common(len(rivals) + 1)
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
    denied = _denied_in(note, spoken.vocabulary)
    if denied is not None and _may_be_clause(spoken, denied):
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


def _tells_person(spoken: Spoken) -> bool:
    """True where a form alone says whose a thing is: "que trabajamos" is not "trabajo"."""
    return spoken.vocabulary.inflected and _is_clause(spoken)


def _denied_in(note: Note, vocabulary: Vocabulary) -> frozenset[str] | None:
    """The words right behind what denies or excepts in the note; None where nothing does."""
    found = None
    for text in _texts_of(note):
        tokens = tokenize(text)
        for index, length in vocabulary.exceptions.find(tokens):
            following = tokens[index + length : index + length + 1]
            found = (found or frozenset()) | {token.low for token in following}
    return found


def _may_be_clause(spoken: Spoken, denied: frozenset[str]) -> bool:
    """True where a statement may be meant: "I eat nuts", "how I push", "推送到主分支".

    Args:
        spoken: what is to be forgotten.
        denied: what the note denies; beside another word, "Bob eats nuts" may state it.
    """
    vocabulary, tokens = spoken.vocabulary, spoken.tokens
    if _is_clause(spoken):
        return True
    if len(spoken.content) > 1 and not vocabulary.memory.found_in(tokens):
        if any(is_among(word, denied) for word in spoken.content):
            return True
    if any(is_unspaced(token.low) for token in tokens):
        return not (vocabulary.memory.found_in(tokens) or vocabulary.abouts.found_in(tokens))
    for index, token in enumerate(tokens):
        if spoken.aside[index]:
            continue
        following = tokens[index + 1 : index + 2]
        if following and token.low in vocabulary.clause_words:
            return True
        if token.low in vocabulary.subjects and any(
            one.word and (not spoken.fillers[index + 1] or one.low in vocabulary.verbs)
            for one in following
        ):
            return True
    return False


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
    exact = _tells_person(spoken)
    opening = tokenize(note.text)
    # "Vive en Roma" names nobody else.
    told = {opening[0].low} if opening else set()
    if spoken.vocabulary.users.match_at(opening, 0):
        told = set(lexicon.words)
    return all(
        all(spoken.fillers[piece.begin : piece.end])
        or (
            piece.low in lexicon.words
            # "Olvida que vivo en Roma" is about "El usuario vive en Roma".
            or spoken.vocabulary.thirds.get(piece.low) in told
            if exact and piece.kind == "word"
            else _is_in(piece, spoken.tokens, spoken.fillers, lexicon)
        )
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
            inner = tokens[piece.begin : piece.end]
            words.update(one.low for one in inner if one.word and not is_syllable(one.low))
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
        inner = range(piece.begin, piece.end)
        marks = {said[place].text for place in inner if not said[place].word}
        # "pnpm-Regel"
        return marks <= {"-"} and all(
            fillers[place] or is_among(said[place].low, lexicon.words)
            for place in inner
            if said[place].word
        )
    return is_among(piece.low, lexicon.words)


@lru_cache(maxsize=4096)
def _content_of(text: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    return read_spoken(tokenize(text), vocabulary).content
