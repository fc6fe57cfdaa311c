"""Do the other messages of a run leave one alone: each must be shown not to touch it.

What is typed before or after can turn a statement into a quotation, a joke, a condition or a part
of another sentence ("that was sarcasm", "Pretend I am a clerk", "We must under no circumstances").
Such ways are without number, so what leaves a message alone is a short list: greetings, plain
statements of the speaker, plain orders and questions, and answers to questions that do not speak
of it. Each message is read once, however many are judged beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from . import languages
from .asides import OPEN_MARKS, asks_alone, find_aside, is_open, says_nothing, stands_alone
from .detection import detect
from .forget_edges import lets_go
from .forget_requests import is_request
from .languages import Language
from .notes import Utterance
from .questions import asks_aside, ends_round
from .retractions import content_of, leads_on, taken_back
from .standing import is_order
from .units import is_greeting
from .voice import asks, is_imagined_or_reported
from .words import (
    Token,
    ends_in_question,
    is_unspaced,
    split_sentences,
    strip_final_stop,
    tokenize,
)

_READ = 4_000  # characters
# A message is read in about 5 ms for each 1,000 characters.
_MOST_CHARACTERS = 20_000
_MOST_MESSAGES = 300
# A longer pasted text is material, which speaks of no message.
_SHORT_PASTE = 200
_LONGEST_REQUEST = 40  # tokens
_BRIEF_ANSWER = 4  # tokens
TOO_MUCH = "the run holds more text than is read beside a message"
_LED = "the message before it says what it is"
_TOUCHED = "another sentence or message of this run may change what it means"


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a message may do to the others of its run.

    Attributes:
        alone: nothing in it touches another message, questions and requests aside.
        speaks: a statement or an order stands in it, which a bare order may be named by.
        asks: a question stands in it, which a later message may answer.
        forgets: a request to forget stands in it, which takes back what was said before.
        content: the words of its questions; a message that shares one may be asked about.
    """

    alone: bool = True
    speaks: bool = False
    asks: bool = False
    forgets: bool = False
    content: frozenset[str] = frozenset()


def is_too_much(heard: Sequence[Utterance]) -> bool:
    """True for a run of several messages whose text is too much to be read for each decision."""
    if len(heard) < 2:
        return False
    size = sum(min(len(one.text), _READ) for one in heard if not _is_material(one))
    return len(heard) > _MOST_MESSAGES or size > _MOST_CHARACTERS


def find_touching(
    heard: Sequence[Utterance], index: int, tokens: Sequence[Token]
) -> tuple[str, str] | None:
    """(rule, detail) when another message of the run may touch this one, else None.

    Args:
        heard: the utterances of the run, oldest first, also those that were not typed.
        index: of the message that is judged.
        tokens: its words.
    """
    if is_too_much(heard):
        return "own_voice", TOO_MUCH
    before = [_read(one) for one in heard[:index]]
    if index and heard[index - 1].via == "paste" and leads_on(heard[index - 1]):
        return "own_voice", _LED
    later = [one for one in heard[index + 1 :] if not _is_material(one) and not ends_round(one)]
    behind = [_read(one) for one in later]
    if any(reading.forgets for reading in behind) or taken_back(tokens, later):
        return "taken_back", ""
    if not all(reading.alone for reading in (*before, *behind)):
        return "own_voice", _TOUCHED
    if before and heard[index].via != "answer" and not _opens_anew(tokens):
        # "What must nobody ever do?" and its answer.
        if any(reading.asks for reading in before):
            return "own_voice", _TOUCHED
        # "Print a banner" and what it says.
        if any(reading.speaks for reading in before) and not _speaks_of_self(tokens):
            return "own_voice", _TOUCHED
    asked = frozenset[str]().union(*(reading.content for reading in (*before, *behind)))
    if asked and asked & content_of(tokens):
        return "own_voice", _TOUCHED
    return None


def find_touching_request(
    typed: Sequence[Utterance], index: int, tokens: Sequence[Token]
) -> tuple[str, str] | None:
    """The same for a request to forget, whose reasons may stand beside it: "I moved to Rome".

    Nothing that is typed elsewhere makes memory of a note that goes, so another statement may
    stand before it. What names the same thing behind it touches it, unless it says that it is gone.
    """
    if is_too_much(typed):
        return "own_voice", TOO_MUCH
    if index and leads_on(typed[index - 1]):
        return "own_voice", _LED
    if taken_back(tokens, typed[index + 1 :]):
        return "taken_back", ""
    named = content_of(tokens)
    for place, other in enumerate(typed):
        if place == index or (place > index and ends_round(other)):
            continue
        reading = _read_beside_request(other, place < index)
        if not reading.alone or named & reading.content:
            return "own_voice", _TOUCHED
    return None


def _read_beside_request(other: Utterance, before: bool) -> _Reading:
    if other.via in ("answer", "click") or len(other.text) > _READ:
        return _read(other)
    return _read_text_beside_request(other.text, before)


@lru_cache(maxsize=1024)
def _read_text_beside_request(text: str, before: bool) -> _Reading:
    tokens = tokenize(text)
    language = detect(tokens) or languages.load("en")
    content: frozenset[str] = frozenset()
    for whole in split_sentences(tokens, strict=False):
        if says_nothing(whole, language) or is_request(whole):
            continue
        # "ok now run the tests"
        sentence = whole[1:] if is_greeting(whole[:1], language) else whole
        if _is_gone(sentence, language):
            continue
        if ends_in_question(sentence) or asks(sentence, language):
            alone = asks_alone(sentence, language, known=False)
            content |= content_of(sentence)
        else:
            # "Check my English" would take the request for its object.
            alone = _is_reason(sentence, language) or _is_unspaced_statement(sentence, language)
            alone = alone or (
                stands_alone(sentence, language, known=False)
                and not (before and _is_task(sentence, language))
            )
        if not alone:
            return _Reading(alone=False)
        # "I use zsh" may be said before it is taken back.
        content |= frozenset() if before else content_of(sentence)
    return _Reading(content=content)


def _is_unspaced_statement(sentence: Sequence[Token], language: Language) -> bool:
    """True at "我住在成都", whose last character alone would leave it open."""
    bare = strip_final_stop(sentence)
    length = language.phrases("beside_statements").match_at(bare, 0)
    rest = bare[length:]
    return (
        length > 0
        and len(rest) > 1
        and all(is_unspaced(token.low) for token in bare)
        and not is_open(rest, language)
        and not is_imagined_or_reported(bare, language)
    )


def _is_task(sentence: Sequence[Token], language: Language) -> bool:
    """True at an order for now, and not at "never push to main"."""
    signs = ("strong", "prohibitions")
    lasting = any(language.phrases(field).match_at(sentence, 0) for field in signs)
    return not lasting and is_order(strip_final_stop(sentence), language)


def _is_reason(sentence: Sequence[Token], language: Language) -> bool:
    """True at "I moved to Rome" and "he died", which let a thing go."""
    bare = strip_final_stop(sentence)
    length = language.phrases("forget_reasons").match_at(bare, 0)
    if not 0 < length <= len(bare) or not lets_go(bare, language):
        return False
    rest = bare[length:]
    inner = language.words("subordinators")
    if any(token.text in OPEN_MARKS or token.low in inner for token in rest):
        return False
    return not (
        language.phrases("pointing_words").found_in(rest) or is_imagined_or_reported(bare, language)
    )


def _is_gone(sentence: Sequence[Token], language: Language) -> bool:
    """True at "I switched from zsh to fish" and "I no longer use zsh"."""
    bare = strip_final_stop(sentence)
    length = language.phrases("correction_leaving").match_at(bare, 0)
    if length:
        return length < len(bare) and not is_open(bare[length:], language)
    ended = next(iter(language.phrases("correction_ended").find(bare)), None)
    if ended is None:
        return False
    rest = [*bare[: ended[0]], *bare[sum(ended) :]]
    return language.phrases("beside_statements").match_at(rest, 0) > 0 and stands_alone(
        rest, language
    )


def _is_material(other: Utterance) -> bool:
    return other.via == "paste" and len(other.text) > _SHORT_PASTE


def _opens_anew(tokens: Sequence[Token]) -> bool:
    """True at "also, …" and "remember that …", which answer nothing."""
    language = detect(tokens)
    return language is not None and language.phrases("openers").match_at(tokens, 0) > 0


def _speaks_of_self(tokens: Sequence[Token]) -> bool:
    """True when the speaker is the subject: "I use tabs", "our API is versioned"."""
    language = detect(tokens)
    word = next((token for token in tokens if token.word), None)
    return (
        language is not None
        and word is not None
        and (word.low.partition("'")[0] in language.words("weak_first_person"))
    )


def _read(other: Utterance) -> _Reading:
    if _is_material(other):
        return _Reading()
    if len(other.text) > _READ:
        return _Reading(alone=False)
    question = other.asked if other.via in ("answer", "click") else ""
    return _read_text(other.text, question, other.via == "answer")


@lru_cache(maxsize=1024)
def _read_text(text: str, question: str, answers: bool) -> _Reading:
    tokens = tokenize(text)
    if not tokens:
        return _Reading()
    if leads_on(Utterance("", text)):
        return _Reading(alone=False)
    language = detect(tokens) or languages.load("en")
    if answers or question:
        return _read_answer(tokens, language, question)
    speaks = asked = forgets = False
    content: frozenset[str] = frozenset()
    for sentence in split_sentences(tokens, strict=False):
        if says_nothing(sentence, language):
            continue
        aside = find_aside(sentence, language)
        if aside is not None:
            speaks, asked = speaks or aside.names, asked or aside.opens
            content |= content_of(sentence)
        elif stands_alone(sentence, language):
            speaks = True
        elif ends_in_question(sentence) or asks(sentence, language):
            if not asks_alone(sentence, language):
                return _Reading(alone=False)
            asked, content = True, content | content_of(sentence)
        elif len(sentence) <= _LONGEST_REQUEST and is_request(sentence):
            forgets = True
        else:
            return _Reading(alone=False)
    return _Reading(speaks=speaks, asks=asked, forgets=forgets, content=content)


def _read_answer(tokens: Sequence[Token], language: Language, question: str) -> _Reading:
    """An answer is read with its question, whose words it takes for its own."""
    asked = tokenize(question[:_READ])
    if not asks_aside(asked) or is_open(tokens, language):
        return _Reading(alone=False)
    selves = language.words("weak_first_person")
    brief = len(tokens) <= _BRIEF_ANSWER and not any(token.low in selves for token in tokens)
    if not brief and not all(
        stands_alone(sentence, language) for sentence in split_sentences(tokens, strict=False)
    ):
        return _Reading(alone=False)
    return _Reading(content=content_of(asked) | content_of(tokens))
