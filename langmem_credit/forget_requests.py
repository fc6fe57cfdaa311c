"""Does the person ask for something to be forgotten: in words of any language that is known.

Pure. Not "don't forget", a past tense, somebody else's wish, a condition, a title or an idiom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import languages
from .languages import Language, read_data
from .notes import Utterance
from .pasting import find_pasted
from .voice import is_imagined_or_reported
from .words import (
    Phrases,
    Token,
    ends_in_question,
    find_quote,
    quoted_mask,
    split_sentences,
    strip_final_stop,
    tokenize,
)


@dataclass(frozen=True, slots=True)
class Request:
    """A sentence with which the person asks for something to be forgotten."""

    utterance: Utterance
    tokens: Sequence[Token]
    language: Language | None


def find_request(utterance: Utterance, said: str) -> Request | None:
    """The sentence that holds the quote, when it asks for something to be forgotten."""
    if find_pasted(utterance.text):
        return None
    tokens = tokenize(utterance.text)
    language = languages.detect(tokens)
    if language and _blocked(tokens, language.phrases("forget_retractions"), language):
        return None
    quote = find_quote(said, utterance.text)
    for sentence in split_sentences(tokens, strict=True):
        if quote is None or sentence[-1].end <= quote[0] or quote[1] <= sentence[0].start:
            continue
        if _asks_to_forget(sentence, language):
            return Request(utterance, sentence, language)
    return None


def _blocked(tokens: Sequence[Token], phrases: Phrases, language: Language) -> bool:
    """True when a phrase stands there that does not belong to the request itself."""
    keepers = language.phrases("forget_keepers")
    return any(not keepers.match_at(tokens, index) for index, _ in phrases.find(tokens))


def _asks_to_forget(sentence: Sequence[Token], language: Language | None) -> bool:
    # A short message may be taken for English; verbs of other languages are no English words.
    if language is None or _asks_elsewhere(sentence):
        return _asks_elsewhere(sentence)
    if is_imagined_or_reported(sentence, language):
        return False
    if language.phrases("forget_blockers").found_in(sentence):
        return False
    start, polite = _order_start(sentence, language)
    if ends_in_question(sentence) and not polite:
        return False
    mask = quoted_mask(sentence)
    if start >= len(sentence) or mask[start]:
        return False
    if language.phrases("forget_keepers").match_at(sentence, start):
        return True
    if _denies_request(sentence, start, language):
        return False
    length = language.phrases("forget_verbs").match_at(sentence, start)
    if length:
        return not _is_title_or_idiom(sentence, start, length, language)
    memory = language.phrases("forget_memory_words")
    if language.phrases("forget_removers").match_at(sentence, start):
        return memory.found_in(sentence)
    if _removes_at_end(sentence, language):
        return memory.found_in(sentence)
    if polite:
        # "Kannst du meinen Geburtstag vergessen?"
        words = [token for token in sentence if token.word]
        return language.phrases("forget_verbs_at_end").match_end(words) > 0
    return _is_outdated(sentence, language)


def _denies_request(sentence: Sequence[Token], start: int, language: Language) -> bool:
    """True where the denial follows its verb, as in "vergiss meinen Geburtstag nicht"."""
    denials = language.words("forget_denials")
    for token in sentence[start:]:
        if token.text in ",;:":
            return False
        if token.low in denials:
            return not _is_outdated(sentence, language)
    return False


def _order_start(sentence: Sequence[Token], language: Language) -> tuple[int, bool]:
    """(where the order begins, whether "can you" and the like stand before it)."""
    index, polite = 0, False
    while index < len(sentence):
        length = language.phrases("forget_requests").match_at(sentence, index)
        if length:
            polite = True
        else:
            length = language.phrases("forget_openers").match_at(sentence, index)
        if not length and not sentence[index].word and sentence[index].text not in "\"'`":
            length = 1
        if not length:
            break
        index += length
    return index, polite


def _is_title_or_idiom(
    sentence: Sequence[Token], start: int, length: int, language: Language
) -> bool:
    """True at "forget-me-not" and "Forget Paris is a film"."""
    after = start + length
    if after >= len(sentence):
        return True
    if sentence[after].text == "-" and not sentence[after].gap:
        return True
    if sentence[after].low in language.words("forget_pronouns"):
        # "Forget it, …" drops a subject of talk, not a note.
        return after + 1 == len(sentence) or not sentence[after + 1].word
    if sentence[after].low in language.words("forget_determiners"):
        return False
    return any(token.low in language.words("auxiliaries") for token in sentence[after:])


def _removes_at_end(sentence: Sequence[Token], language: Language) -> bool:
    """True where the verb closes the order ("die Notiz zu Berlin löschen")."""
    last = strip_final_stop(sentence)
    return language.phrases("forget_removers_at_end").match_end(last) > 0


def _is_outdated(sentence: Sequence[Token], language: Language) -> bool:
    """True at "the Berlin note is outdated", not at "it isn't outdated"."""
    if ends_in_question(sentence):
        return False
    for index, _ in language.phrases("forget_outdated").find(sentence):
        before = sentence[index - 1].low if index else ""
        if before not in language.words("negations") and not before.endswith("n't"):
            return True
    return False


@cache
def _elsewhere() -> tuple[tuple[Phrases, Phrases, str], ...]:
    """(verbs, negated forms, "start" or "end") of languages that have no file of their own."""
    data: dict[str, Any] = read_data("forgetting")
    return tuple(
        (Phrases(entry["verbs"]), Phrases(entry["negated"]), entry["at"]) for entry in data.values()
    )


def _asks_elsewhere(sentence: Sequence[Token]) -> bool:
    if ends_in_question(sentence):
        return False
    bare = strip_final_stop(sentence)
    for verbs, negated, place in _elsewhere():
        if negated.found_in(bare):
            return False
        stands = verbs.match_at(bare, 0) if place == "start" else verbs.match_end(bare)
        if stands and stands < len(bare):
            return True
    return False


def asks_to_forget(text: str) -> bool:
    """True when a sentence of the text asks for something to be forgotten, in any known language.

    >>> asks_to_forget("olvida mi antigua dirección"), asks_to_forget("don't forget the milk")
    (True, False)
    """
    return find_request(Utterance("", text), text) is not None
