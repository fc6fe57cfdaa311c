"""What a run's other messages do to one: lead on to it, have it read off, take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from . import languages
from .detection import detect
from .letters import is_syllable
from .notes import Utterance
from .words import (
    Phrases,
    Token,
    count_words,
    find_quote,
    fold,
    is_unspaced,
    strip_final_stop,
    text_of,
    tokenize,
)

_BRIEF = 6  # words
_SHORT = 4_000  # characters of another message that are read
_TAKING_BACK = ("retractions", "retractions_anywhere")
_NO_CONTENT = (
    *("function_words", "strong", "negations", "denials"),
    *("working", "generic_working", "adverbs"),
)


def leads_on(previous: Utterance) -> bool:
    """True when an earlier message says what the next one is: "Translate this:", "my boss says".

    Its own words may not be credited without it, nor with it, since they are two messages.
    """
    tokens = tokenize(previous.text[-_SHORT:])
    if not tokens:
        return False
    if tokens[-1].text in ":,-\u2026(\uff1a\uff0c\u3001" or previous.text.rstrip().endswith(".."):
        return True
    language = detect(tokens)
    if language is None:
        return False
    bare = strip_final_stop(tokens)
    return language.phrases("reported").match_end(bare) > 0 or language.phrases(
        "announcements"
    ).found_in(tokens)


def answers_about_text(utterance: Utterance, tokens: Sequence[Token]) -> bool:
    """True when the agent asked for words that the person only reads off or repeats.

    The question is the model's, so it could have asked for anything to be typed.
    """
    if not utterance.asked:
        return False
    asked = tokenize(utterance.asked[:_SHORT])
    if _all_phrases("asked_reading").found_in(asked):
        return True
    words = strip_final_stop(tokens)
    place = find_quote(text_of(words, utterance.text), utterance.asked[:_SHORT])
    if place is None:
        return False
    before = fold(utterance.asked)[: place[0]].rstrip()
    return before.endswith((":", "\uff1a", '"', "'", "`"))


@cache
def _all_phrases(field: str) -> Phrases:
    return Phrases(
        phrase for code in languages.CODES for phrase in languages.load(code).items(field)
    )


@cache
def _all_words(field: str) -> frozenset[str]:
    return frozenset(word for code in languages.CODES for word in languages.load(code).words(field))


@cache
def _no_content() -> frozenset[str]:
    return frozenset().union(*(_all_words(field) for field in _NO_CONTENT))


def content_of(tokens: Sequence[Token]) -> frozenset[str]:
    """The words that name something: no function word, common verb or sign of lasting.

    Pairs of characters stand for words in scripts without spaces.
    """
    found = {
        token.low
        for token in tokens
        if token.word and len(token.low) > 2 and token.low not in _no_content()
    }
    for one, two in pairwise(tokens):
        pair = one.low + two.low
        if len(pair) == 2 and all(is_unspaced(char) or is_syllable(char) for char in pair):
            if not {one.low, two.low} <= _no_content() and pair not in _no_content():
                found.add(pair)
    return frozenset(found)


def taken_back(tokens: Sequence[Token], later: Sequence[Utterance]) -> bool:
    """True when a later utterance of the run may take these words back.

    It does when it holds a retraction ("scratch that"), opens like one ("no, …"), restricts or
    denies something while it shares a content word with them, or names nothing of its own while
    it denies ("please don't").
    """
    content: frozenset[str] | None = None
    for utterance in later:
        # Longer messages are pasted text; their start still counts as an answer to the agent.
        reading = _read_later(utterance.text[:_SHORT])
        if reading.retracts:
            return True
        if reading.denies:
            content = content_of(tokens) if content is None else content
            if reading.content & content or reading.names_nothing:
                return True
    return False


@dataclass(frozen=True, slots=True)
class _Later:
    """What a later message may do to an earlier one."""

    retracts: bool
    denies: bool
    content: frozenset[str]
    names_nothing: bool


# A run of many messages looks at each later one from each earlier one.
@lru_cache(maxsize=1024)
def _read_later(text: str) -> _Later:
    tokens = tokenize(text)
    # "Don't forget that we use tabs" takes back nothing and denies nothing.
    said = _all_phrases("openers").covered(tokens)
    retracts = bool(tokens) and (
        any(
            index not in said
            for field in _TAKING_BACK
            for index, _ in _all_phrases(field).find(tokens)
        )
        or _all_phrases("retractions_later").match_at(tokens, _first_word(tokens)) > 0
        or _all_phrases("retractions_ending").match_end(strip_final_stop(tokens)) > 0
    )
    denying = _all_words("negations") | _all_words("denials")
    content = content_of(tokens)
    return _Later(
        retracts,
        any(token.low in denying for index, token in enumerate(tokens) if index not in said),
        content,
        not content and count_words(tokens) <= _BRIEF,
    )


def _first_word(tokens: Sequence[Token]) -> int:
    """The index behind marks and sounds such as "hmm", or 0."""
    index = 0
    while index < len(tokens) and (
        not tokens[index].word or tokens[index].low in _all_words("interjections")
    ):
        index += 1
    return index if index < len(tokens) else 0
