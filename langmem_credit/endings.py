"""What a sentence ends in, where the verb stands last: Japanese, Korean, Hindi.

Their endings tell a statement from an order, a question and a report, so the rules read a sentence
from its end. A file without `statement_endings` has nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .languages import Language
from .letters import IS_UNSPACED, is_syllable, parts_words
from .words import Phrases, Token, split_sentences, strip_final_stop

_MOST_SOFTENERS = 3
_NEAR_END = 3  # words between a denial and the end: "push मत करना"
_LASTING = (
    *("way_endings", "use_endings", "calling_endings", "statement_endings"),
    *("prohibition_endings", "order_forms"),
)
_IS_NAME = re.compile(r"[\u30a1-\u30fc]|[!-~]+")
_TRAILING = frozenset("\u2026~\u301c")
_PAUSES = _TRAILING | frozenset("\u30fb/|-")
_COMMAS = frozenset(",;:\uff0c\uff1b\uff1a\u3001")


def is_verb_final(language: Language) -> bool:
    """True for a language whose sentences are read from their end."""
    return bool(language.items("statement_endings"))


def reports_at_end(tokens: Sequence[Token], language: Language) -> bool:
    """True where a sentence ends in "…って" or "…대", as somebody else's words do."""
    if not language.items("reported_endings"):
        return False
    return any(
        _is_reported(_bare(part), language) for part in split_sentences(tokens, strict=False)
    )


def _is_reported(bare: Sequence[Token], language: Language) -> bool:
    if language.phrases("reported_endings").match_end(bare):
        return True
    length = language.phrases("reported_behind_names").match_end(bare)
    # "使って" is an order, "tabsって" and "タブって" what somebody says.
    return 0 < length < len(bare) and _IS_NAME.fullmatch(bare[-length - 1].low) is not None


def end_lasts(tokens: Sequence[Token], language: Language) -> bool:
    """True for one statement or one way of working, by the last words.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> texts = ("tabsを使ってください", "DBを空にしてtabsを使って", "DBを空にして")
    >>> [end_lasts(tokenize(text), load("ja")) for text in texts]
    [True, False, False]
    """
    if points(tokens, language):
        return False
    body = _body(tokens, language.phrases("way_endings"), language)
    if body is not None:
        return _is_manner(body, language) and not chains(body, language)
    body = _body(tokens, language.phrases("use_endings"), language)
    if body is not None:
        length = object_length(body, len(body), language)
        rest = body[: len(body) - length]
        return length > 0 and _is_manner(rest, language) and not chains(rest, language)
    body = _body(tokens, language.phrases("calling_endings"), language)
    if body is not None:
        return (
            len(body) > 1
            and body[0].low in language.words("weak_first_person")
            and (_is_manner(body[1:], language) and not chains(body, language))
        )
    if body is None:
        body = _body(tokens, language.phrases("statement_endings"), language)
        duties = tuple(language.items("duty_endings")) or ("\0",)
        # "भेजनी है" is a duty, "…てほしいです" a wish.
        if body is None or language.phrases("requests").found_in(_bare(tokens)):
            return False
        if not body and language.phrases("bound_endings").match_end(_bare(tokens)):
            return False
        if body and body[-1].low.endswith(duties):
            return False
    return not chains(body, language)


def may_last(tokens: Sequence[Token], language: Language) -> bool:
    """True for an ending that a sign of lasting may go with: none of the past, none unknown."""
    words = language.words("denials_before_verb")
    return _body(tokens, language.merged(_LASTING), language) is not None or any(
        token.low in words for token in _bare(tokens)[-_NEAR_END:]
    )


def object_length(tokens: Sequence[Token], end: int, language: Language) -> int:
    """How many words before `end` name a tool or a manner that may be used for good."""
    if end and tokens[end - 1].word and tokens[end - 1].low.isascii():
        return 1
    return language.phrases("way_objects").match_end(tokens[:end])


def _is_manner(body: Sequence[Token], language: Language) -> bool:
    """False where one thing, person or place is named besides: "詩を英語で書いて"."""
    fields = ("place_front", "joining_endings", "way_objects")
    other = {k for field in fields for k in language.phrases(field).covered(body)}
    words = language.words("way_not_with")
    return not any(token.low in words and k not in other for k, token in enumerate(body))


def forbids(tokens: Sequence[Token], language: Language) -> bool:
    """True for one prohibition: "タブは使わないで", "push मत करना"; not at "忘れないで"."""
    if language.phrases("turns").found_in(tokens):
        return False
    body = _body(tokens, language.phrases("prohibition_endings"), language)
    words = language.words("denials_before_verb")
    bare = _bare(tokens)
    if body is None and any(token.low in words for token in bare[-_NEAR_END:]):
        body = bare
    return body is not None and not chains(body, language)


def chains(body: Sequence[Token], language: Language) -> bool:
    """True when another clause may stand in the words, which could hold an order of its own."""
    other = language.phrases("chaining_not").covered(body)
    for index, length in language.phrases("chaining").find(body):
        if index not in other and parts_words(body, index + length):
            return True
    joining = language.phrases("joining_endings")
    if any(
        _pauses(body, index) and not joining.match_end(body[:index])
        for index in range(1, len(body))
    ):
        return True
    endings = tuple(language.items("order_endings"))
    return bool(endings) and any(
        token.low.endswith(endings) and index not in other and _is_whole(body, index, language)
        for index, token in enumerate(body)
    )


def _pauses(tokens: Sequence[Token], index: int) -> bool:
    """True at a comma, and where Japanese has a space: "DBを空に いつもタブを使って"."""
    token, before = tokens[index], tokens[index - 1]
    if token.text in _COMMAS or (token.text in _TRAILING and is_syllable(before.low)):
        return True
    if not IS_UNSPACED.match(before.low) or _IS_NAME.fullmatch(before.low):
        return False
    return token.text in _PAUSES or bool(token.gap and IS_UNSPACED.match(token.low))


def _is_whole(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """True where a word ends and no other one makes an order with it, as in "알려 줘"."""
    behind = index + 1
    if not parts_words(tokens, behind):
        return False
    going_on = language.words("order_endings_not_before")
    return behind == len(tokens) or tokens[behind].low not in going_on


def points(tokens: Sequence[Token], language: Language) -> bool:
    """True at "この写真", one thing that only this talk knows; not at "in this project"."""
    places = language.phrases("place_front").covered(tokens)
    return any(
        index not in places and parts_words(tokens, index) and parts_words(tokens, index + length)
        for index, length in language.phrases("deictic").find(tokens)
    )


def _body(tokens: Sequence[Token], phrases: Phrases, language: Language) -> Sequence[Token] | None:
    """The words before one of the phrases at their end, softening particles aside."""
    softeners = language.phrases("softeners")
    bare = _bare(tokens)
    for _ in range(_MOST_SOFTENERS):
        length = phrases.match_end(bare)
        if length:
            return bare[:-length]
        length = softeners.match_end(bare)
        if not length:
            break
        bare = _bare(bare[:-length])
    return None


def _bare(tokens: Sequence[Token]) -> Sequence[Token]:
    """The words without the marks at their end."""
    bare = strip_final_stop(tokens)
    while bare and not bare[-1].word:
        bare = bare[:-1]
    return bare
