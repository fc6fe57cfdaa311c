"""Do the other messages of a run leave one alone: each must be shown not to touch it.

What is typed before or after can turn a statement into a quotation, a joke or a condition ("that
was sarcasm", "Pretend I am a clerk", "when Ann agrees"). So a message is credited only beside
greetings, questions, errands and statements that do not point to other words.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import languages
from .languages import Language
from .notes import Utterance
from .units import find_unit, is_greeting
from .voice import asks, is_imagined_or_reported, leads_on, taken_back
from .words import Token, count_words, ends_in_question, split_sentences, tokenize

_FEWEST_WORDS = 3
_READ = 4000  # characters


def find_touching(
    typed: Sequence[Utterance], index: int, tokens: Sequence[Token]
) -> tuple[str, str] | None:
    """(rule, detail) when another message of the run may touch this one, else None.

    Args:
        typed: the utterances of the run that the asker typed, oldest first.
        index: of the message that is judged.
        tokens: its words.
    """
    if index and leads_on(typed[index - 1]):
        return "own_voice", "the message before it says what it is"
    if taken_back(tokens, typed[index + 1 :]):
        return "taken_back", ""
    for position, other in enumerate(typed):
        if position != index and not _leaves_alone(other.text[:_READ]):
            return "own_voice", "another message of this run may change what it means"
    return None


def _leaves_alone(text: str) -> bool:
    tokens = tokenize(text)
    if not tokens:
        return True
    language = languages.detect(tokens) or languages.load("en")
    return all(
        _sentence_leaves_alone(sentence, language)
        for sentence in split_sentences(tokens, strict=False)
    )


def _sentence_leaves_alone(sentence: Sequence[Token], language: Language) -> bool:
    if is_imagined_or_reported(sentence, language):
        return False
    moving_on = language.phrases("moving_on").match_at(sentence, 0)
    if is_greeting(sentence, language) or moving_on >= count_words(sentence):
        return True
    if ends_in_question(sentence) or asks(sentence, language):
        return not _points(sentence, language, "pointing_back")
    if count_words(sentence) < _FEWEST_WORDS or _points(sentence, language, "pointing_words"):
        return False
    start = find_unit(sentence, language).starts[-1]
    if language.phrases("conditionals").match_at(sentence, start):
        # "When Ann agrees" could belong to the other message.
        return any(token.text in ",\uff0c" for token in sentence)
    # "Bob's motto is" goes on in the next message.
    if [token.low for token in sentence if token.word][-1] in language.words("auxiliaries"):
        return False
    return sentence[0].word or sentence[0].text in "¡"


def _points(sentence: Sequence[Token], language: Language, field: str) -> bool:
    return language.phrases(field).found_in(sentence)
