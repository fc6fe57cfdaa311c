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
from .asides import find_aside
from .detection import detect
from .forget_edges import lets_go
from .forget_requests import is_request
from .languages import Language
from .notes import Utterance
from .questions import asks_aside, ends_round, is_known
from .retractions import content_of, leads_on, taken_back
from .standing import is_order
from .units import find_unit, is_greeting
from .voice import asks, is_imagined_or_reported
from .words import (
    Token,
    count_words,
    ends_in_question,
    is_unspaced,
    separates,
    split_sentences,
    strip_final_stop,
    tokenize,
)

_FEWEST_WORDS = 3
_READ = 4_000  # characters
# A message is read in about 5 ms for each 1,000 characters.
_MOST_CHARACTERS = 20_000
_MOST_MESSAGES = 300
# A longer pasted text is material, which speaks of no message.
_SHORT_PASTE = 200
_LONGEST_REQUEST = 40  # tokens
_BRIEF_ANSWER = 4  # tokens
_OPEN_MARKS = frozenset('"`:;()[]{}<>?\u2026\uff1a\uff1b\uff08\uff09\u3001')
# Last words behind which a sentence goes on.
_OPEN_ENDS = (
    *("auxiliaries", "finite", "leading_prepositions", "articles", "determiners", "negations"),
    *("list_words", "subordinators", "adverbs", "subjects", "particles"),
)
TOO_MUCH = "the run holds more text than is read beside a message"
_LED = "the message before it says what it is"
_TOUCHED = "another message of this run may change what it means"


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
        if _says_nothing(whole, language) or is_request(whole):
            continue
        # "ok now run the tests"
        sentence = whole[1:] if is_greeting(whole[:1], language) else whole
        if _is_gone(sentence, language):
            continue
        if ends_in_question(sentence) or asks(sentence, language):
            alone = _asks_alone(sentence, language, known=False)
            content |= content_of(sentence)
        else:
            # "Check my English" would take the request for its object.
            alone = _is_reason(sentence, language) or _is_unspaced_statement(sentence, language)
            alone = alone or (
                _stands_alone(sentence, language, known=False)
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
        and not _is_open(rest, language)
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
    if any(token.text in _OPEN_MARKS or token.low in inner for token in rest):
        return False
    return not (
        language.phrases("pointing_words").found_in(rest) or is_imagined_or_reported(bare, language)
    )


def _is_gone(sentence: Sequence[Token], language: Language) -> bool:
    """True at "I switched from zsh to fish" and "I no longer use zsh"."""
    bare = strip_final_stop(sentence)
    length = language.phrases("correction_leaving").match_at(bare, 0)
    if length:
        return length < len(bare) and not _is_open(bare[length:], language)
    ended = next(iter(language.phrases("correction_ended").find(bare)), None)
    if ended is None:
        return False
    rest = [*bare[: ended[0]], *bare[sum(ended) :]]
    return language.phrases("beside_statements").match_at(rest, 0) > 0 and _stands_alone(
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
        if _says_nothing(sentence, language):
            continue
        aside = find_aside(sentence, language)
        if aside:
            # A statement of the speaker can be neither asked for nor handed over.
            speaks = speaks or aside != "statement"
            asked = asked or aside == "open question"
            content |= content_of(sentence)
        elif _stands_alone(sentence, language):
            speaks = True
        elif ends_in_question(sentence) or asks(sentence, language):
            if not _asks_alone(sentence, language):
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
    if not asks_aside(asked) or _is_open(tokens, language):
        return _Reading(alone=False)
    selves = language.words("weak_first_person")
    brief = len(tokens) <= _BRIEF_ANSWER and not any(token.low in selves for token in tokens)
    if not brief and not all(
        _stands_alone(sentence, language) for sentence in split_sentences(tokens, strict=False)
    ):
        return _Reading(alone=False)
    return _Reading(content=content_of(asked) | content_of(tokens))


def _says_nothing(sentence: Sequence[Token], language: Language) -> bool:
    moving_on = language.phrases("moving_on").match_at(sentence, 0)
    return is_greeting(sentence, language) or 0 < count_words(sentence) <= moving_on


def _asks_alone(sentence: Sequence[Token], language: Language, *, known: bool = True) -> bool:
    bare = list(strip_final_stop(sentence))
    while bare and not bare[-1].word:
        bare.pop()
    start = find_unit(bare, language).starts[-1] if bare else 0
    length = language.phrases("beside_questions").match_at(bare, start)
    tail = bare[start + length :]
    plain = length > 0 and not _is_open(tail, language)
    return plain and (not known or is_known(tail, language))


def _stands_alone(sentence: Sequence[Token], language: Language, *, known: bool = True) -> bool:
    """True for a whole plain statement of the speaker, or a whole plain order.

    Where `known`, of things that are sure to speak of no message.
    """
    if not sentence[0].word or is_imagined_or_reported(sentence, language):
        return False
    bare = strip_final_stop(sentence)
    start = find_unit(bare, language).starts[-1] if bare else 0
    while start < len(bare) and (
        bare[start].low in language.words("beside_leads") or separates(bare, start)
    ):
        start += 1
    rest = bare[start:]
    if count_words(rest) < _FEWEST_WORDS or not rest[-1].word:
        return False
    if any(rest[-1].low in language.words(field) for field in _OPEN_ENDS):
        return False
    length = language.phrases("beside_statements").match_at(rest, 0)
    if length and known:
        return length < len(rest) and _is_plain_tail(rest, length, language)
    if length:
        return length < len(rest) and not _is_open(rest[length:], language)
    length, signed = _order_length(rest, language)
    tail = rest[length:]
    fields = ("beside_objects", "beside_things") if signed else ("beside_objects",)
    plain = length > 0 and not _is_open(tail, language)
    return plain and (not known or is_known(tail, language, fields))


def _is_plain_tail(rest: Sequence[Token], start: int, language: Language) -> bool:
    """True when a statement goes on with things that speak of no message, or with a name.

    What else could follow "I like" is without number: parody, fooling bots, the contrary.
    """
    tail = rest[start:]
    # "I speak for Bob"
    if tail[0].low in language.words("leading_prepositions") or _is_open(tail, language):
        return False
    named: set[int] = set()
    for index, token in enumerate(tail):
        before = rest[start + index - 1]
        led = before.low in language.words("beside_named") or index - 1 in named
        if led and token.word and token.text[0].isupper() and "'" not in token.text:
            named.add(index)
    plain = [token for index, token in enumerate(tail) if index not in named]
    return is_known(plain, language, ("beside_objects", "beside_things"))


def _order_length(rest: Sequence[Token], language: Language) -> tuple[int, bool]:
    """(length up to the verb, whether a sign stands in front): "never | push | to main".

    A thing must follow: "push to" and "fix with the words" would take the next message for it.
    """
    signs = ("strong", "prohibitions")
    index, verb = 0, language.phrases("beside_orders").match_at(rest, 0)
    while not verb:
        length = max(language.phrases(field).match_at(rest, index) for field in signs)
        if not length:
            return 0, False
        index += length
        verb = language.phrases("beside_orders").match_at(rest, index)
    if index + verb >= len(rest) or not is_order(rest, language):
        return 0, False
    prepositions = language.words("leading_prepositions")
    if not index and rest[verb].low in prepositions:
        return 0, False
    return index + verb, index > 0


def _is_open(tokens: Sequence[Token], language: Language) -> bool:
    """True when words point elsewhere, speak of texts, or leave the sentence open."""
    words = language.words("beside_not")
    inner = language.words("subordinators") - language.words("list_words")
    return any(
        token.low.partition("'")[0] in words
        or token.low in inner
        or (not token.word and token.text in _OPEN_MARKS)
        for token in tokens
    ) or language.phrases("pointing_words").found_in(tokens)
