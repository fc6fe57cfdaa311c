"""The words of a language around what a request or a correction names, and whose a thing is.

Pure data, read once a language; `naming.py` and `corrections.py` hold texts against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from .languages import Language
from .words import Phrases, Token, tokenize

_NONE = Phrases(())


class Persons:
    """Words that speak of one person each: "my" and "I" of the same, "our" of others.

    >>> words = Persons(["i|my", "we|our"])
    >>> words.found_in(tokenize("our dog")) == words.found_in(tokenize("my dog"))
    False
    """

    __slots__ = ("_groups", "phrases")

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups: dict[tuple[str, ...], int] = {}
        for number, group in enumerate(groups):
            lows = [tuple(one.low for one in tokenize(phrase)) for phrase in group.split("|")]
            # A group in traditional characters shares some words with its own in simplified ones.
            known = next((self._groups[low] for low in lows if low in self._groups), number)
            self._groups.update(dict.fromkeys(lows, known))
        self.phrases = Phrases([phrase for group in groups for phrase in group.split("|")])

    def found_in(
        self, tokens: Sequence[Token], skipped: Sequence[bool] | None = None
    ) -> frozenset[int]:
        """The persons that the tokens speak of, those skipped aside."""
        return frozenset(
            self._groups[tuple(token.low for token in tokens[index : index + length])]
            for index, length in self.phrases.find(tokens)
            if skipped is None or not skipped[index]
        )


_NOBODY = Persons(())


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
        topics: phrases that speak of what is remembered: "what you know about".
        abouts: words between a word of memory and what the note is about.
        ordinals: words that count, order or qualify: they name no note alone.
        former: fillers that tell a thing of the past from the present one.
        subjects: words that make a clause with the verb behind them.
        clause_words: words that make one alone.
        persons: whose a thing is.
        inflected: the form of a verb alone says whose it is.
        verb_last: the verb of a clause stands last: "dass ich nie Fleisch esse".
        thirds: what such a form of the speaker's is told as: "vive" of "vivo".
        users: ways to name the speaker in a note.
    """

    fillers: Phrases
    exceptions: Phrases
    memory: Phrases = _NONE
    joiners: frozenset[str] = frozenset()
    owners: Phrases = _NONE
    clauses: Phrases = _NONE
    verbs: frozenset[str] = frozenset()
    topics: Phrases = _NONE
    abouts: Phrases = _NONE
    ordinals: Phrases = _NONE
    former: Phrases = _NONE
    subjects: frozenset[str] = frozenset()
    clause_words: frozenset[str] = frozenset()
    persons: Persons = _NOBODY
    inflected: bool = False
    verb_last: bool = False
    thirds: Mapping[str, str] = field(default_factory=dict)
    users: Phrases = _NONE


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
def persons_of(language: Language) -> Persons:
    """The words for persons of a language."""
    return Persons(language.items("persons"))


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
        topics=language.phrases("forget_topics"),
        abouts=language.phrases("forget_abouts"),
        ordinals=language.phrases("forget_ordinals"),
        former=language.phrases("forget_former"),
        subjects=language.words("forget_subjects"),
        clause_words=language.words("forget_clause_words"),
        persons=persons_of(language),
        inflected=bool(language.items("first_person_endings")),
        verb_last=bool(language.items("final_endings")),
        thirds=language.table("pairs"),
        users=language.phrases("third_person"),
    )
