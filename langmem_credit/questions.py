"""Which of the agent's questions ask plainly of the person.

The model words the question, so it could ask for a slogan, a lie or the words of another, or
whether to drop what the person said. What an answer may count for is read off closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from . import languages
from .languages import Language
from .notes import Utterance
from .words import (
    QUESTION_MARKS,
    Token,
    count_words,
    ends_in_question,
    strip_final_stop,
    tokenize,
)

_READ = 400  # characters of a question
_FEW = 5  # words of a question beside its core
_SHORT = 80  # characters of a question and its answer
_MOST_CHOICES = 6  # words of "tabs or spaces?"


def bare_question(asked: Sequence[Token]) -> Sequence[Token]:
    """The question without its marks; empty when it is none."""
    if not ends_in_question(asked):
        return ()
    tokens = list(asked)
    while tokens and (tokens[-1].text in QUESTION_MARKS or tokens[-1].text in ".!"):
        tokens.pop()
    while tokens and tokens[0].text in QUESTION_MARKS:
        tokens.pop(0)
    return tokens if all(token.word for token in tokens) else ()


def is_whole(tokens: Sequence[Token], field: str) -> bool:
    """True for one of the field's phrases and nothing else, in one of the known languages."""
    return bool(tokens) and any(
        language.phrases(field).match_at(tokens, 0) == len(tokens) for language in _known()
    )


def asks_of_person(question: str, answer: Sequence[Token]) -> bool:
    """True when the question asks plainly of the person, and the answer takes it up.

    >>> asks_of_person("Which shell do you use?", tokenize("I use zsh"))
    True
    >>> asks_of_person("What should the greeting be?", tokenize("I use zsh"))
    False
    """
    asked = bare_question(tokenize(question[:_READ]))
    if is_whole(asked, "asks_for_more") or is_whole(asked, "asked_whole"):
        return True
    said = {token.low for token in answer}
    for language in _known():
        core = _find_core(asked, language)
        if _is_bare(asked, language):
            return True
        if core:
            place, length, verb = core
            takes_up = verb in said or "\0".join(_lows(tokenize(verb))) in "\0".join(_lows(answer))
            if takes_up and not _turns(asked[:place], asked[place + length :], language):
                return True
        if _may_offer(asked, language) and said & _named(asked, language):
            return True
    return False


def asks_aside(question: Sequence[Token]) -> bool:
    """True when the question asks of something that no message of the run speaks of by itself."""
    asked = bare_question(question)
    if is_whole(asked, "asks_for_more") or is_whole(asked, "asked_whole"):
        return True
    for language in _known():
        core = _find_core(asked, language)
        # "Do you like that?" is answered by "yes".
        if core and core[0] and not _turns(asked[: core[0]], asked[core[0] + core[1] :], language):
            return True
        if _offers(asked, language) or _is_bare(asked, language):
            return True
        length = language.phrases("beside_asked").match_at(asked, 0)
        if length and count_words(asked[length:]) < _FEW and is_known(asked[length:], language):
            return True
    return False


def is_known(
    tokens: Sequence[Token], language: Language, fields: Sequence[str] = ("beside_objects",)
) -> bool:
    """True when the words are all on the lists of things that speak of no message."""
    english = languages.load("en")
    known = language.merged(("beside_small", *fields)).covered(tokens)
    known |= english.phrases("beside_tools").covered(tokens)
    return all(
        index in known
        or token.low.isdigit()
        or (not token.word and token.text in ",.-/+#\uff0c\u3001")
        for index, token in enumerate(tokens)
    )


def _known() -> list[Language]:
    return [languages.load(code) for code in languages.CODES]


def _lows(tokens: Sequence[Token]) -> list[str]:
    return [token.low for token in tokens]


def _find_core(asked: Sequence[Token], language: Language) -> tuple[int, int, str] | None:
    """(index, length, what an answer says) of "do you use"."""
    for phrase, verb in language.table("asked_of").items():
        lows = _lows(tokenize(phrase))
        for index in range(len(asked) - len(lows) + 1):
            if _lows(asked[index : index + len(lows)]) == lows:
                return index, len(lows), verb
    return None


def _turns(front: Sequence[Token], rest: Sequence[Token], language: Language) -> bool:
    """True when the words around "do you use" could ask for something else than that."""
    if front and front[0].low in language.words("asked_words"):
        front = front[1:]
    elif front:
        return True
    unsafe = language.words("beside_not") | language.words("negations")
    return len(front) > _FEW or len(rest) > _FEW or any(t.low in unsafe for t in (*front, *rest))


def _is_bare(asked: Sequence[Token], language: Language) -> bool:
    """True at "which shell?" and "tabs?", which name nothing else."""
    led = bool(asked) and asked[0].low in language.words("asked_words")
    things = asked[led:]
    return 0 < len(things) < _FEW and is_known(things, language, ("beside_things",))


def _offers(asked: Sequence[Token], language: Language) -> bool:
    """True at "tabs or spaces?"."""
    return _is_short(asked, language) and any(
        token.low in language.words("asked_or") for token in asked[1:-1]
    )


def _may_offer(asked: Sequence[Token], language: Language) -> bool:
    """True at that, at "should I copy Bob?" and at "is the API written by you?"."""
    shall = language.phrases("asked_shall").match_at(asked, 0)
    by_you = language.phrases("asked_end").match_end(asked)
    if shall or by_you:
        return _is_short(asked[shall : len(asked) - by_you], language)
    return _offers(asked, language)


def _is_short(asked: Sequence[Token], language: Language) -> bool:
    unsafe = language.words("beside_not") | language.words("negations")
    return 0 < count_words(asked) <= _MOST_CHOICES and not any(
        token.low in unsafe or token.low in language.words("weak_first_person") for token in asked
    )


def _named(asked: Sequence[Token], language: Language) -> set[str]:
    return {token.low for token in asked} - language.words("function_words")


def ends_round(answer: Utterance) -> bool:
    """True for "no, thanks" to "anything else?"."""
    return answer.via == "answer" and _is_no_more(answer.text, answer.asked)


@lru_cache(maxsize=1024)
def _is_no_more(text: str, question: str) -> bool:
    if len(text) + len(question) > _SHORT:
        return False
    asked, told = bare_question(tokenize(question)), strip_final_stop(tokenize(text))
    return is_whole(asked, "asks_for_more") and is_whole(told, "no_more")
