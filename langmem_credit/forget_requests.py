"""Does the person ask for something to be forgotten, and what: in words of any language we know.

Pure, and closed: a sentence counts only when it is shown to be a plain request about something that
the memory holds. Not "don't forget", a past tense, somebody else's wish, a condition, a title or an
idiom; "delete" and "outdated" only beside a word of memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import languages
from .languages import Language, read_data
from .naming import Vocabulary, merge, vocabulary_of
from .notes import Utterance
from .pasting import find_pasted
from .voice import is_imagined_or_reported
from .words import (
    QUESTION_MARKS,
    Phrases,
    Token,
    ends_in_question,
    find_quote,
    quoted_mask,
    split_sentences,
    strip_final_stop,
    tokenize,
)

_MOST_REASON = 12  # words
_MARKS = frozenset(",;:-\uff0c\uff1b\u3001\u2026")
_QUOTES = frozenset("\"'`")


@dataclass(frozen=True, slots=True)
class Request:
    """A sentence with which the person asks for something to be forgotten.

    Attributes:
        utterance: that holds it.
        tokens: the sentence.
        said: what is to be forgotten: the sentence without its verb and courtesies.
        vocabulary: of its language.
        exact: only the exact words of a note name it, as in "that I prefer tabs is outdated".
        everything: it speaks of everything.
        around: the other sentences of the message, before and behind it.
    """

    utterance: Utterance
    tokens: Sequence[Token]
    said: Sequence[Token]
    vocabulary: Vocabulary
    exact: bool = False
    everything: bool = False
    around: tuple[tuple[Sequence[Token], ...], tuple[Sequence[Token], ...]] = ((), ())


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a sentence asks for: the words that say what, and whether they must be exact."""

    said: Sequence[Token]
    exact: bool = False


def find_request(utterance: Utterance, said: str) -> Request | None:
    """The sentence that holds the quote, when it asks for something to be forgotten."""
    if find_pasted(utterance.text):
        return None
    tokens = tokenize(utterance.text)
    language = languages.detect(tokens)
    if language and _blocked(tokens, language.phrases("forget_retractions"), language):
        return None
    quote = find_quote(said, utterance.text)
    sentences = split_sentences(tokens, strict=True)
    for index, sentence in enumerate(sentences):
        if quote is None or sentence[-1].end <= quote[0] or quote[1] <= sentence[0].start:
            continue
        around = (tuple(sentences[:index]), tuple(sentences[index + 1 :]))
        request = _read(utterance, sentence, language, around)
        if request is not None:
            return request
    return None


def is_request(sentence: Sequence[Token]) -> bool:
    """True when the sentence asks for something to be forgotten and says what."""
    request = _read(Utterance("", ""), sentence, languages.detect(sentence), ((), ()))
    return request is not None and len(request.said) > 0


def asks_to_forget(text: str) -> bool:
    """True when a sentence of the text asks for something to be forgotten, in any known language.

    >>> asks_to_forget("olvida mi antigua dirección"), asks_to_forget("don't forget the milk")
    (True, False)
    """
    return find_request(Utterance("", text), text) is not None


def _read(
    utterance: Utterance,
    sentence: Sequence[Token],
    detected: Language | None,
    around: tuple[tuple[Sequence[Token], ...], tuple[Sequence[Token], ...]],
) -> Request | None:
    """The request in any language: a short sentence may be taken for English, or for none."""
    others = [languages.load(code) for code in languages.CODES]
    for language in ([detected] if detected else []) + [one for one in others if one != detected]:
        asked = _find_asked(sentence, language)
        if asked is not None:
            everything = language.phrases("forget_everything").found_in(asked.said)
            vocabulary = vocabulary_of(language)
            return Request(
                utterance, sentence, asked.said, vocabulary, asked.exact, everything, around
            )
    # Several languages may share the verb.
    found = [(said, one) for one in _elsewhere() if (said := one.find_said(sentence)) is not None]
    if not found:
        return None
    vocabulary = merge([tongue.vocabulary for _, tongue in found])
    return Request(utterance, sentence, found[0][0], vocabulary, around=around)


def _blocked(tokens: Sequence[Token], phrases: Phrases, language: Language) -> bool:
    """True when a phrase stands there that does not belong to the request itself."""
    keepers = language.phrases("forget_keepers")
    return any(not keepers.match_at(tokens, index) for index, _ in phrases.find(tokens))


def _find_asked(sentence: Sequence[Token], language: Language) -> _Asked | None:
    if any(
        is_imagined_or_reported(sentence, one) for one in {language, languages.load("en")}
    ) or language.phrases("forget_blockers").found_in(sentence):
        return None
    start, polite = _order_start(sentence, language)
    if ends_in_question(sentence) and not polite:
        return None
    if start >= len(sentence) or quoted_mask(sentence)[start]:
        return None
    body = _without_reason(sentence[start:], language)
    if any(token.text in QUESTION_MARKS for token in body[:-2]):
        return None
    body, in_memory = _without_closers(body, language)
    if not body:
        return None
    return (
        _asked_at_start(body, in_memory, language)
        or _asked_at_end(body, in_memory, polite, language)
        or (None if polite else _find_outdated(body, language))
    )


def _asked_at_start(body: Sequence[Token], in_memory: bool, language: Language) -> _Asked | None:
    length = language.phrases("forget_keepers").match_at(body, 0)
    if length:
        said = body[length:]
        storing = language.phrases("forget_storers").match_at(body, 0) == length
        own = language.phrases("forget_own").match_at(said, 0) > 0
        # "Don't keep the dog waiting" and "do not store nuts near the bed" speak of things.
        plain = not storing or own or in_memory or _holds_memory(said, language)
        return _Asked(said) if plain else None
    length = language.phrases("forget_verbs").match_at(body, 0)
    if length:
        said = body[length:]
        return None if _is_title_or_idiom(said, language) else _Asked(_without_mark(said))
    length = language.phrases("forget_removers").match_at(body, 0)
    if length and (in_memory or _holds_memory(body[length:], language)):
        return _Asked(body[length:])
    return None


def _asked_at_end(
    body: Sequence[Token], in_memory: bool, polite: bool, language: Language
) -> _Asked | None:
    """An order with its verb in the last place: "die Notiz zu Berlin löschen"."""
    length = language.phrases("forget_removers_at_end").match_end(body)
    if length and (in_memory or _holds_memory(body, language)):
        return _Asked(body[:-length])
    length = language.phrases("forget_verbs_at_end").match_end(body)
    if length and polite:
        # "Kannst du meinen Geburtstag vergessen?"
        return _Asked(body[:-length])
    return None


def _find_outdated(body: Sequence[Token], language: Language) -> _Asked | None:
    """What is said to hold no longer: a note, what the memory knows, or the exact words of one."""
    for index, length in language.phrases("forget_outdated").find(body):
        before, behind = _trim(body[:index]), _without_mark(body[index + length :])
        clause = language.phrases("forget_clauses").match_at(behind, 0)
        if clause:
            # "It is no longer true that I prefer tabs"
            fillers = vocabulary_of(language).fillers
            if all(fillers.match_at(before, k) for k in range(len(before))):
                return _Asked(behind, exact=True)
            return None
        if _trim(behind):
            return None
        known = language.phrases("forget_topics").found_in(before)
        return _Asked(before, exact=not known and not _holds_memory(before, language))
    return None


def _holds_memory(said: Sequence[Token], language: Language) -> bool:
    """True beside a word of memory, but not at "release notes"."""
    other = {
        index + k
        for index, length in language.phrases("forget_memory_not").find(said)
        for k in range(length)
    }
    return any(
        index not in other for index, _ in language.phrases("forget_memory_words").find(said)
    )


def _order_start(sentence: Sequence[Token], language: Language) -> tuple[int, bool]:
    """(where the order begins, whether "can you" and the like stand before it)."""
    index, polite = 0, False
    while index < len(sentence):
        length = language.phrases("forget_requests").match_at(sentence, index)
        if length:
            polite = True
        else:
            length = language.phrases("forget_openers").match_at(sentence, index)
        if not length and not sentence[index].word and sentence[index].text not in _QUOTES:
            length = 1
        if not length:
            break
        index += length
    return index, polite


def _without_reason(body: Sequence[Token], language: Language) -> Sequence[Token]:
    """Without a reason behind a comma that keeps, excepts and asks nothing: ", I moved"."""
    reasons = language.phrases("forget_reasons")
    for index in range(1, len(body) - 1):
        if body[index].text in _MARKS and (body[index].gap or body[index].text != "-"):
            begin = index + 1
        elif language.phrases("forget_because").match_at(body, index):
            begin = index
        else:
            continue
        tail = body[begin:]
        length = reasons.match_at(tail, 0) or language.phrases("forget_because").match_at(tail, 0)
        if not length:
            continue
        if len(tail) > _MOST_REASON or language.phrases("forget_exceptions").found_in(tail):
            return body
        return body[:index]
    return body


def _without_closers(body: Sequence[Token], language: Language) -> tuple[Sequence[Token], bool]:
    """(the words without courtesies and marks behind them, whether "from memory" stood there)."""
    in_memory = False
    while body:
        rest = _trim(body)
        length = language.phrases("forget_places").match_end(rest)
        in_memory = in_memory or length > 0
        length = length or language.phrases("forget_closers").match_end(rest)
        if not length:
            return rest, in_memory
        body = rest[:-length]
    return body, in_memory


def _trim(body: Sequence[Token]) -> Sequence[Token]:
    """Without marks at its end; quotation marks stay."""
    end = len(body)
    while end and not body[end - 1].word and body[end - 1].text not in _QUOTES:
        end -= 1
    return body[:end]


def _without_mark(said: Sequence[Token]) -> Sequence[Token]:
    """Without the comma or colon right behind the verb: "vergiss, dass …"."""
    return said[1:] if said and said[0].text in ",:\uff0c\uff1a" else said


def _is_title_or_idiom(said: Sequence[Token], language: Language) -> bool:
    """True at "forget-me-not", "forget it, …" and "Forget Paris is a film"."""
    if not said:
        return True
    if said[0].text == "-" and not said[0].gap:
        return True
    if said[0].low in language.words("forget_pronouns"):
        # "Forget it, …" drops a subject of talk, not a note.
        return len(said) == 1 or not said[1].word
    if said[0].low in language.words("forget_determiners") or said[0].text in ",\uff0c":
        return False
    return any(token.low in language.words("auxiliaries") for token in said)


@dataclass(frozen=True, slots=True)
class _Tongue:
    """A language that has no file of its own."""

    verbs: Phrases
    negated: Phrases
    openers: Phrases
    at_start: bool
    vocabulary: Vocabulary

    def find_said(self, sentence: Sequence[Token]) -> Sequence[Token] | None:
        """What is to be forgotten, or None when nothing is."""
        if ends_in_question(sentence) or self.negated.found_in(sentence):
            return None
        body: Sequence[Token] = strip_final_stop(sentence)
        begin = 0
        while begin < len(body):
            length = self.openers.match_at(body, begin)
            if not length and body[begin].text not in _MARKS:
                break
            begin += length or 1
        body = body[begin:]
        while length := self.openers.match_end(_trim(body)):
            body = _trim(body)[:-length]
        body = _trim(body)
        length = self.verbs.match_at(body, 0) if self.at_start else self.verbs.match_end(body)
        if not length or length >= len(body):
            return None
        return _without_mark(body[length:]) if self.at_start else body[:-length]


@cache
def _elsewhere() -> tuple[_Tongue, ...]:
    data: dict[str, Any] = read_data("forgetting")
    return tuple(
        _Tongue(
            verbs=Phrases(entry["verbs"]),
            negated=Phrases(entry["negated"]),
            openers=Phrases(entry["openers"]),
            at_start=entry["at"] == "start",
            vocabulary=Vocabulary(Phrases(entry["fillers"]), Phrases(entry["exceptions"])),
        )
        for entry in data.values()
    )
