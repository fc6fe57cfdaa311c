"""Sentences that leave every other one alone: requests, questions and facts about plain things.

What a sentence does to another needs a word for it: a pronoun, a link, a word of speech, truth,
limits or rules. So such a sentence opens in one of a few ways, is whole, holds none of these words,
and shares none with the sentence beside it (which `neighbours.py` looks after). A language without
these lists has no such sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .languages import Language
from .words import Token, count_words, ends_in_question

Kind = Literal["", "question", "open question", "request", "statement"]
_FEWEST_WORDS = 3
_MOST_WORDS = 24
_JOINTS = frozenset("-_./")
_MARKS = frozenset(",+#%'")
_LOOSE_ENDS = (
    *("leading_prepositions", "articles", "determiners", "negations"),
    *("list_words", "subordinators"),
)
_OPEN_ENDS = (*_LOOSE_ENDS, "auxiliaries", "finite", "subjects", "particles")


def find_aside(sentence: Sequence[Token], language: Language) -> Kind:
    """What kind of such a sentence it is; "" for any other.

    An open question ("What is on the wall?") could be answered by the next sentence.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> texts = ("Can you fix the build?", "I'm a nurse.", "Can you fix that?", "Fix the joke.")
    >>> [find_aside(tokenize(text), load("en")) for text in texts]
    ['request', 'statement', '', '']
    """
    asked = ends_in_question(sentence)
    words = _without_closer(sentence, language)
    rest = words[_skip_leads(words, language) :]
    if is_courtesy(rest, language):
        return "statement"
    if not _FEWEST_WORDS <= count_words(rest) <= _MOST_WORDS or not rest[-1].word:
        return ""
    kind, length = _open(rest, asked, language)
    # "Can you help us?" is whole, "I work for us" may not be.
    ends = _OPEN_ENDS if kind == "statement" else _LOOSE_ENDS
    if any(rest[-1].low in language.words(field) for field in ends):
        return ""
    return kind if 0 < length < len(rest) and _is_plain(rest, length, language) else ""


def _open(rest: Sequence[Token], asked: bool, language: Language) -> tuple[Kind, int]:
    """(kind, words of the opening); 0 where it opens in no known way."""
    verbs = language.words("aside_verbs")
    length = language.phrases("aside_asking").match_at(rest, 0)
    if 0 < length < len(rest) and rest[length].low in verbs:
        return "request", length + 1
    if asked:
        length = language.phrases("aside_questions").match_at(rest, 0)
        if length:
            return "question", length
        return "open question", language.phrases("aside_open").match_at(rest, 0)
    length = language.phrases("aside_requests").match_at(rest, 0)
    if length or rest[0].low in verbs:
        return "request", length or 1
    return "statement", language.phrases("aside_statements").match_at(rest, 0)


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
    content = 0
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
        content += token.word and token.low not in language.words("function_words")
    return content > 0


def _is_anothers(words: Sequence[Token], index: int, language: Language) -> bool:
    """True at "Bob's" and "for Bob": what is done for others may be in their words."""
    name = words[index].text[0].isupper()
    owned = name and "'" in words[index].text
    return owned or (name and words[index - 1].low in language.words("aside_for"))
