"""Does the person ask for something to be forgotten, and what: in words of any language we know.

Pure, and closed: a sentence counts only when it is shown to be a plain request about something that
the memory holds. Not "don't forget", a past tense, somebody else's wish, a condition, a title or an
idiom; "delete" and "outdated" only beside a word of memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import languages
from .detection import detect
from .forget_edges import (
    MARKS,
    ended_clause,
    is_personal,
    lies_elsewhere,
    trim,
    without_mark,
    without_reason,
)
from .forget_tongues import tongues
from .languages import Language
from .notes import Utterance
from .pasting import find_pasted
from .vocabularies import Vocabulary, merge, vocabulary_of
from .voice import asks, find_foreign_voice, is_imagined_or_reported
from .words import (
    QUESTION_MARKS,
    Phrases,
    Token,
    ends_in_question,
    find_quote,
    quoted_mask,
    split_sentences,
    tokenize,
)

_OPENING = frozenset("\u00a1\u00bf,\uff0c")


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
        by_memory: only a word of memory in what it says makes a request of it.
        ended: it says itself what has ended: "I no longer use zsh, forget it".
    """

    utterance: Utterance
    tokens: Sequence[Token]
    said: Sequence[Token]
    vocabulary: Vocabulary
    exact: bool = False
    everything: bool = False
    around: tuple[tuple[Sequence[Token], ...], tuple[Sequence[Token], ...]] = ((), ())
    by_memory: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a sentence asks for: the words that say what, and how `Request` reads them."""

    said: Sequence[Token]
    exact: bool = False
    by_memory: bool = False
    ended: bool = False


def find_request(utterance: Utterance, said: str) -> Request | None:
    """The sentence that holds the quote, when it asks for something to be forgotten."""
    if find_pasted(utterance.text):
        return None
    tokens = tokenize(utterance.text)
    language = detect(tokens)
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


def is_request_in(sentence: Sequence[Token], language: Language) -> bool:
    """True when the sentence asks for something to be forgotten in this language."""
    asked = _find_asked(sentence, language)
    return asked is not None and len(asked.said) > 0


def is_request(sentence: Sequence[Token]) -> bool:
    """The same in any language."""
    request = _read(Utterance("", ""), sentence, detect(sentence), ((), ()))
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
    """The request in any language: a short sentence may be taken for English, or for none.

    Where no file fits, the languages without one come first: several share the verb.
    """
    others = [languages.load(code) for code in languages.CODES]
    if detected is None and (request := _read_tongue(utterance, sentence, around)):
        return request
    for language in ([detected] if detected else []) + [one for one in others if one != detected]:
        asked = _find_asked(sentence, language)
        if asked is not None:
            everything = language.phrases("forget_everything").found_in(asked.said)
            vocabulary = vocabulary_of(language)
            return Request(
                *(utterance, sentence, asked.said, vocabulary),
                *(asked.exact, everything, around, asked.by_memory),
                ended=asked.ended,
            )
    return _read_tongue(utterance, sentence, around) if detected else None


def _read_tongue(
    utterance: Utterance,
    sentence: Sequence[Token],
    around: tuple[tuple[Sequence[Token], ...], tuple[Sequence[Token], ...]],
) -> Request | None:
    """The request in a language that has no file of its own."""
    found = [
        (said, one)
        for one in tongues()
        if (said := one.find_said(sentence)) is not None and not _is_foreign(sentence, one.code)
    ]
    if not found:
        return None
    vocabulary = merge(tuple(tongue.vocabulary for _, tongue in found))
    return Request(utterance, sentence, found[0][0], vocabulary, around=around)


def _is_foreign(sentence: Sequence[Token], code: str) -> bool:
    """True when the file of the language shows that nobody asks for anything here."""
    if code not in languages.CODES:
        return False
    voice = find_foreign_voice(sentence, [sentence], languages.load(code))
    return voice[0] in ("own_voice", "question")


def _blocked(tokens: Sequence[Token], phrases: Phrases, language: Language) -> bool:
    """True when a phrase stands there that does not belong to the request itself."""
    keepers = language.phrases("forget_keepers")
    return any(not keepers.match_at(tokens, index) for index, _ in phrases.find(tokens))


def _find_asked(sentence: Sequence[Token], language: Language) -> _Asked | None:
    if any(is_imagined_or_reported(sentence, one) for one in {language, languages.load("en")}):
        return None
    start, polite = _order_start(sentence, language)
    if language.phrases("forget_blockers").found_in(sentence[start:]):
        return None
    if ends_in_question(sentence) and not polite:
        return None
    if _is_worried(sentence, start, language):
        return None
    if start >= len(sentence) or quoted_mask(sentence)[start]:
        return None
    ended = ended_clause(sentence[start:], language)
    if ended:
        return _Asked(ended, ended=True)
    body = without_reason(sentence[start:], language)
    if any(token.text in QUESTION_MARKS for token in body[:-2]) or _trails_off(sentence):
        return None
    body, in_memory = _without_closers(body, language)
    if not body:
        return None
    return (
        _asked_at_start(body, in_memory, language)
        or _asked_at_end(body, in_memory, polite, language)
        or (None if polite else _find_outdated(body, language))
    )


def _is_worried(sentence: Sequence[Token], start: int, language: Language) -> bool:
    """True at "will you forget my dog?", which asks for it only with "please" or "note"."""
    worried = language.phrases("forget_worries").found_in(sentence[:start])
    # "You can forget my dog?"
    told = language.phrases("forget_told").found_in(sentence[:start])
    if not worried and not (told and ends_in_question(sentence)):
        return False
    pleas, memory = language.phrases("forget_pleas"), language.phrases("forget_memory_words")
    return not (pleas.found_in(sentence) or memory.found_in(sentence[start:]))


def _asked_at_start(body: Sequence[Token], in_memory: bool, language: Language) -> _Asked | None:
    length = language.phrases("forget_keepers").match_at(body, 0)
    if length:
        said = body[length:]
        storing = language.phrases("forget_storers").match_at(body, 0) == length
        # "Don't keep the dog waiting" and "don't store my backups in Oslo" speak of things.
        plain = not storing or in_memory or is_personal(said, language)
        if plain or _holds_memory(said, language):
            return _Asked(said, by_memory=not plain)
        return None
    length = language.phrases("forget_verbs").match_at(body, 0)
    if length:
        said = without_mark(body[length:])
        if _is_title_or_idiom(body[length:], language) or _is_task(said, language):
            return None
        if lies_elsewhere(said, language):
            return None
        return _Asked(said)
    length = language.phrases("forget_removers").match_at(body, 0)
    if length and (in_memory or _holds_memory(body[length:], language)):
        return _Asked(body[length:], by_memory=not in_memory)
    # "Delete everything about my divorce", but not "everything about my app"
    all_of = language.phrases("forget_everything").match_at(body, length) if length else 0
    about = language.phrases("forget_abouts").match_at(body, length + all_of) if all_of else 0
    if about and is_personal(body[length + all_of + about :], language, clauses=False):
        return _Asked(body[length:])
    return None


def _asked_at_end(
    body: Sequence[Token], in_memory: bool, polite: bool, language: Language
) -> _Asked | None:
    """An order with its verb in the last place: "die Notiz zu Berlin löschen"."""
    length = language.phrases("forget_removers_at_end").match_end(body)
    if length:
        said = body[:-length]
        # "把 … 忘掉"
        plain = in_memory or language.phrases("forget_memory_words").match_end(body) == length
        if plain or _holds_memory(said, language):
            return _Asked(said, by_memory=not plain)
    length = language.phrases("forget_verbs_at_end").match_end(body)
    if length and polite:
        # "Kannst du meinen Geburtstag vergessen?"
        return _Asked(body[:-length])
    return None


def _find_outdated(body: Sequence[Token], language: Language) -> _Asked | None:
    """What is said to hold no longer: a note, what the memory knows, or the exact words of one."""
    topics = language.phrases("forget_topics")
    if not topics.match_at(body, 0) and asks(body, language):
        return None
    for index, length in language.phrases("forget_outdated").find(body):
        before, behind = trim(body[:index]), without_mark(body[index + length :])
        clause = language.phrases("forget_clauses").match_at(behind, 0)
        if clause:
            # "It is no longer true that I prefer tabs"
            fillers = vocabulary_of(language).fillers
            if all(fillers.match_at(before, k) for k in range(len(before))):
                return _Asked(behind, exact=True)
            return None
        if trim(behind):
            return None
        known = topics.found_in(before)
        exact = not known and not _holds_memory(before, language)
        return _Asked(before, exact, by_memory=not known)
    return None


def _holds_memory(said: Sequence[Token], language: Language) -> bool:
    """True beside a word of memory that is no thing's.

    Not at "release notes", "Ann's note", "note in …", "notes folder" and "Redis memory".
    """
    other = {
        index + k
        for index, length in language.phrases("forget_memory_not").find(said)
        for k in range(length)
    }
    stores, things = language.phrases("forget_stores"), language.words("forget_things")
    vocabulary = vocabulary_of(language)
    if lies_elsewhere(said, language):
        return False
    return any(
        index not in other
        and not (index and said[index - 1].low.endswith(("'s", "s'")))
        # Tools have rules too: "drop the iptables rule", but not "the rule about pnpm".
        and not (
            index
            and said[index + length - 1].low in things
            and not vocabulary.fillers.match_end(said[:index])
        )
        and _ends_thing(said, index + length, language)
        # "the mail rule about newsletters"
        and not (
            index
            and not vocabulary.fillers.match_end(said[:index])
            and vocabulary.abouts.match_at(said, index + length)
        )
        # "Redis memory" and "tarjeta de memoria", but not "the memory about Redis"
        and (index + length < len(said) or not stores.match_at(said, index))
        for index, length in language.phrases("forget_memory_words").find(said)
    )


def _ends_thing(said: Sequence[Token], index: int, language: Language) -> bool:
    """True where no other noun follows: not at "notes folder" and "Notizen-App"."""
    if index >= len(said):
        return True
    if not said[index].word:
        return bool(said[index].gap) or index + 1 == len(said) or bool(said[index + 1].gap)
    vocabulary = vocabulary_of(language)
    following = (vocabulary.fillers, vocabulary.exceptions)
    return said[index].low in vocabulary.joiners or any(
        phrases.match_at(said, index) for phrases in following
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
        # An opening dash or bracket makes an item or an aside of it.
        if not length and sentence[index].text in (MARKS if index else _OPENING):
            length = 1
        if not length:
            break
        index += length
    return index, polite


def _without_closers(body: Sequence[Token], language: Language) -> tuple[Sequence[Token], bool]:
    """(the words without courtesies and marks behind them, whether "from memory" stood there)."""
    in_memory = False
    while body:
        rest = trim(body)
        length = language.phrases("forget_places").match_end(rest)
        in_memory = in_memory or length > 0
        length = length or language.phrases("forget_closers").match_end(rest)
        if not length:
            return rest, in_memory
        body = rest[:-length]
    return body, in_memory


def _trails_off(sentence: Sequence[Token]) -> bool:
    """True at "Forget Rex …", of which we do not know the end."""
    last = [token.text for token in sentence[-2:]]
    return last[-1:] == ["\u2026"] or last == [".", "."]


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


def _is_task(said: Sequence[Token], language: Language) -> bool:
    """True where something to do is dropped, not a note: "forget deploying on Fridays"."""
    if not said or vocabulary_of(language).fillers.match_at(said, 0) == len(said):
        return False
    marks = language.words("forget_task_marks")
    # "vergiss, freitags zu deployen", but "die Notiz zu Berlin"
    if len(said) > 1 and said[-2].low in marks and said[-1].text.islower():
        if said[-1].low.endswith(tuple(language.items("final_endings"))):
            return True
    if vocabulary_of(language).fillers.match_at(said, 0):
        return False
    endings = tuple(language.items("forget_task_endings"))
    return said[0].low in marks or bool(endings and said[0].low.endswith(endings))
