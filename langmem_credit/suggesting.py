"""Which of the person's own words a refusal offers: a model that copies them is credited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from .edges import with_own_mark
from .lists import items_of
from .neighbours import is_too_much
from .notes import LIMITS, Limits, Utterance
from .obstacles import find_obstacle
from .sentences import Stretch, sentences_of
from .telling import keeps_marks
from .words import count_words, text_of, tokenize

# Looking what touches a stretch costs more than anything else.
_MOST_TRIED = 8


def suggest(note: str, heard: Sequence[Utterance], *, limits: Limits = LIMITS) -> str | None:
    """The person's own words that would be credited and are nearest to the note, or None.

    That is the message, or the sentences of it, with most words of the note in it; the shortest
    of equals, and then the newest.
    """
    if is_too_much(heard):
        return None
    messages = (
        Stretch(heard, index, 0, tokenize(heard[index].text))
        for index in reversed(typed_by_asker(heard))
        if len(heard[index].text) <= limits.said
    )
    return nearest(note, [one for message in messages for one in stretches_of(message)], limits)


def stretches_of(message: Stretch) -> Iterator[Stretch]:
    """The message, and each part of it that may stand alone where nothing touches it."""
    return chain([message], sentences_of(message), items_of(message))


def nearest(note: str, stretches: Iterable[Stretch], limits: Limits) -> str | None:
    """The words of the stretch nearest to the note, of those that would be credited."""
    wanted = {token.low for token in tokenize(note[: limits.said]) if token.word}
    found = []
    for stretch in stretches:
        language = stretch.language
        common = language.words("function_words") if language else frozenset()
        words = [token.low for token in stretch.tokens if token.word]
        shared = len(wanted.intersection(words) - common)
        if shared and stretch.unit.tokens:
            found.append((-shared, len(words), stretch))
    found.sort(key=lambda one: one[:2])
    for *_, stretch in found[:_MOST_TRIED]:
        text = words_of(stretch, limits)
        if text is not None and not find_obstacle(stretch)[0]:
            return text
    return None


def words_of(stretch: Stretch, limits: Limits) -> str | None:
    """The stretch's words without openers and closers; None where a note cannot keep them."""
    unit, message = stretch.unit, stretch.utterance.text
    language = next(iter(stretch.unit_languages), None)
    text = text_of(with_own_mark(unit.tokens, unit.shortest, language), message)
    if count_words(unit.shortest) < 2 or len(text) > limits.note:
        return None
    return text if keeps_marks(unit, message, tokenize(text), text) else None


def typed_by_asker(heard: Sequence[Utterance]) -> list[int]:
    """Where the typed utterances of the speaker of the last input stand, oldest first."""
    inputs = [one for one in heard if one.via == "input"]
    asker = inputs[-1].speaker if inputs else None
    return [
        index
        for index, one in enumerate(heard)
        if one.typed and (not inputs or one.speaker == asker)
    ]
