"""Sentences that leave every other one alone: greetings, requests, questions and plain facts.

What a sentence does to another needs a word for it: a pronoun, a link, a word of speech, truth,
limits or rules. So such a sentence opens in one of a few ways, is whole, holds none of these words,
and shares none with the sentence beside it (which `neighbours.py` looks after). A language without
these lists has no such sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .languages import Language
from .questions import is_known
from .standing import is_order
from .units import find_unit, is_greeting
from .voice import is_imagined_or_reported
from .words import Token, count_words, ends_in_question, separates, strip_final_stop

_FEWEST_WORDS = 3
_MOST_WORDS = 24
OPEN_MARKS = frozenset('"`:;()[]{}<>?\u2026\uff1a\uff1b\uff08\uff09\u3001')
_JOINTS = frozenset("-_./")
_MARKS = frozenset(",+#%'")
# Last words behind which a sentence goes on.
_GOING_ON = (
    *("auxiliaries", "finite", "leading_prepositions", "articles", "determiners", "negations"),
    *("list_words", "subordinators", "adverbs", "subjects", "particles"),
)
_LOOSE_ENDS = (
    *("leading_prepositions", "articles", "determiners", "negations"),
    *("list_words", "subordinators", "aside_ends"),
)
_OPEN_ENDS = (*_LOOSE_ENDS, "auxiliaries", "finite", "subjects", "particles")


class Aside(NamedTuple):
    """What such a sentence does to the next one, if anything.

    Attributes:
        opens: the next sentence could be its answer, or a text that it asks for.
        names: an order behind it could be its own: "I have a mug. Never look back."
    """

    opens: bool = False
    names: bool = False


def find_aside(sentence: Sequence[Token], language: Language) -> Aside | None:
    """The sentence as one of these; None for any other.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> texts = ("Can you fix the build?", "I'm a nurse.", "Can you fix that?", "Fix the joke.")
    >>> [find_aside(tokenize(text), load("en")) is not None for text in texts]
    [True, True, False, False]
    """
    asked = ends_in_question(sentence)
    words = _without_closer(sentence, language)
    rest = words[_skip_leads(words, language) :]
    if is_courtesy(rest, language):
        return Aside()
    if not _FEWEST_WORDS <= count_words(rest) <= _MOST_WORDS or not rest[-1].word:
        return None
    length, aside = _open(rest, asked, language)
    # "Can you help us?" is whole, "I work for us" may not be.
    ends = _LOOSE_ENDS if aside.names else _OPEN_ENDS
    if any(rest[-1].low in language.words(field) for field in ends):
        return None
    return aside if 0 < length < len(rest) and _is_plain(rest, length, language) else None


def _open(rest: Sequence[Token], asked: bool, language: Language) -> tuple[int, Aside]:
    """(words of the opening, what the sentence is); 0 where it opens in no known way."""
    verbs, making = language.words("aside_verbs"), language.words("aside_making")
    length = language.phrases("aside_asking").match_at(rest, 0)
    if 0 < length < len(rest) and rest[length].low in verbs:
        return length + 1, Aside(rest[length].low in making, names=True)
    if asked:
        length = language.phrases("aside_questions").match_at(rest, 0)
        if length:
            return length, Aside(names=True)
        return language.phrases("aside_open").match_at(rest, 0), Aside(opens=True, names=True)
    length = language.phrases("aside_requests").match_at(rest, 0)
    # "Book three" and "profile number two" name a thing.
    leads = language.words("articles") | language.words("determiners")
    if length or (rest[0].low in verbs and rest[1].low in leads):
        return length or 1, Aside(rest[0].low in making, names=True)
    length = language.phrases("aside_statements").match_at(rest, 0)
    if language.phrases("aside_roles").match_at(rest, 0) == length > 0:
        # "I'm a cat" plays.
        people = language.words("aside_people")
        length = length if any(token.low in people for token in rest) else 0
    return length, Aside(names=language.phrases("aside_things").match_at(rest, 0) > 0)


def is_courtesy(words: Sequence[Token], language: Language) -> bool:
    """True at "no hurry" and "thanks for the plan", which say nothing of anything else."""
    if language.phrases("aside_courtesies").match_at(words, 0) == len(words) > 0:
        return True
    length = language.phrases("aside_thanks").match_at(words, 0)
    return 0 < length < len(words) and _is_plain(words, length, language)


def _without_closer(sentence: Sequence[Token], language: Language) -> Sequence[Token]:
    """The words without the marks and the "please" at their end."""
    words = list(sentence)
    while True:
        while words and not words[-1].word:
            words.pop()
        length = language.phrases("closers_after_separator").match_end(words)
        if not 0 < length < len(words) or words[-length - 1].text != ",":
            return words
        del words[-length:]


def _skip_leads(words: Sequence[Token], language: Language) -> int:
    """How many words in front only lead in: "ok, now please"."""
    start = 0
    leads = language.words("beside_leads") | language.words("openers")
    while start < len(words) and (words[start].low in leads or words[start].text == ","):
        start += 1
    return start


def _is_plain(rest: Sequence[Token], begin: int, language: Language) -> bool:
    """True when nothing behind the opening speaks of what else is said."""
    denied = language.words("aside_not") | language.words("negations")
    shown = language.words("aside_shown")
    for index in range(begin, len(rest)):
        token = rest[index]
        following = rest[index + 1] if index + 1 < len(rest) else None
        if not token.word:
            joint = token.text in _JOINTS and not token.gap and following and not following.gap
            if not (joint or token.text in _MARKS):
                return False
        elif token.low in language.words("aside_pointers"):
            if following is None or following.low not in shown:
                return False
        elif token.low.partition("'")[0] in denied or _is_anothers(rest, index, language):
            return False
    return True


def _is_anothers(words: Sequence[Token], index: int, language: Language) -> bool:
    """True at "Bob's" and "for Bob": what is done for others may be in their words."""
    name = words[index].text[0].isupper()
    owned = name and "'" in words[index].text
    return owned or (name and words[index - 1].low in language.words("aside_for"))


def says_nothing(sentence: Sequence[Token], language: Language) -> bool:
    """True for a greeting, thanks, and "go on"."""
    moving_on = language.phrases("moving_on").match_at(sentence, 0)
    return is_greeting(sentence, language) or 0 < count_words(sentence) <= moving_on


def asks_alone(sentence: Sequence[Token], language: Language, *, known: bool = True) -> bool:
    """True for a whole plain question; where `known`, of things that speak of no message."""
    bare = list(strip_final_stop(sentence))
    while bare and not bare[-1].word:
        bare.pop()
    start = find_unit(bare, language).starts[-1] if bare else 0
    length = language.phrases("beside_questions").match_at(bare, start)
    tail = bare[start + length :]
    plain = length > 0 and not is_open(tail, language)
    return plain and (not known or is_known(tail, language))


def stands_alone(sentence: Sequence[Token], language: Language, *, known: bool = True) -> bool:
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
    if any(rest[-1].low in language.words(field) for field in _GOING_ON):
        return False
    length = language.phrases("beside_statements").match_at(rest, 0)
    if length and known:
        return length < len(rest) and _is_plain_tail(rest, length, language)
    if length:
        return length < len(rest) and not is_open(rest[length:], language)
    length, signed = _order_length(rest, language)
    tail = rest[length:]
    fields = ("beside_objects", "beside_things") if signed else ("beside_objects",)
    plain = length > 0 and not is_open(tail, language)
    return plain and (not known or is_known(tail, language, fields))


def _is_plain_tail(rest: Sequence[Token], start: int, language: Language) -> bool:
    """True when a statement goes on with things that speak of no message, or with a name.

    What else could follow "I like" is without number: parody, fooling bots, the contrary.
    """
    tail = rest[start:]
    # "I speak for Bob"
    if tail[0].low in language.words("leading_prepositions") or is_open(tail, language):
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


def is_open(tokens: Sequence[Token], language: Language) -> bool:
    """True when words point elsewhere, speak of texts, or leave the sentence open."""
    words = language.words("beside_not")
    inner = language.words("subordinators") - language.words("list_words")
    return any(
        token.low.partition("'")[0] in words
        or token.low in inner
        or (not token.word and token.text in OPEN_MARKS)
        for token in tokens
    ) or language.phrases("pointing_words").found_in(tokens)
