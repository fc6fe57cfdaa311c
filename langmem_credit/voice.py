"""Is this the person's own voice: not pasted, quoted, reported, asked, imagined, or taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from . import languages
from .endings import reports_at_end
from .labels import has_foreign_label
from .languages import Language
from .letters import is_syllable
from .mixtures import mixes_languages
from .notes import Utterance
from .openers import find_openers, opener_length
from .standing import has_strong_sign
from .words import (
    QUESTION_MARKS,
    Phrases,
    Token,
    beside_unspaced,
    count_words,
    ends_in_question,
    find_quote,
    fold,
    is_unspaced,
    quoted_mask,
    split_sentences,
    strip_final_stop,
    text_of,
    tokenize,
)

# Shorter quotations are names: `translate "Given" steps`.
_LONG_QUOTE = 5
_BRIEF = 6  # words
_OVERRIDING = 4  # words from "ignore" to "all of the previous rules"
_SHORT = 4_000  # characters of another message that are read
_TAKING_BACK = ("retractions", "retractions_anywhere")
_NO_CONTENT = (
    *("function_words", "strong", "negations", "denials"),
    *("working", "generic_working", "adverbs"),
)
_JOKE_MARKS = frozenset("😂🤣🙄😉😜😏🤪🃏🙃🤡😹😆😝😛")


def find_foreign_voice(tokens: Sequence[Token], language: Language | None) -> tuple[str, str]:
    """(rule, plain reason) when the words are not the speaker's own statement, else ("", "").

    Without a language only the signs shared by all languages are checked.
    """
    mask = quoted_mask(tokens)
    if ends_in_question(tokens) or any(
        not mask[index]
        # "signed_in?, count" names functions.
        and (
            tokens[index].text != "?"
            or index + 1 == len(tokens)
            or tokens[index + 1].gap
            or beside_unspaced(tokens, index)
        )
        for index in [i for i, token in enumerate(tokens) if token.text in QUESTION_MARKS]
    ):
        return "question", "it is a question"
    if _has_joke_mark(tokens):
        return "own_voice", "it reads as a joke"
    if _mostly_quoted(tokens) and not (language and has_strong_sign(tokens, language)):
        return "own_voice", "it is mostly a quotation"
    if language is None:
        return "", ""
    if mixes_languages(tokens, language):
        return "own_voice", "it mixes languages"
    return _lexical_signs(tokens, language)


def _has_joke_mark(tokens: Sequence[Token]) -> bool:
    return any(token.text in _JOKE_MARKS for token in tokens if not token.word)


def _mostly_quoted(tokens: Sequence[Token]) -> bool:
    mask = quoted_mask(tokens, '"')
    if True not in mask:
        return False
    inside = sum(token.word for token, quoted in zip(tokens, mask, strict=True) if quoted)
    return inside * 3 > 2 * sum(token.word for token in tokens)


def _lexical_signs(tokens: Sequence[Token], language: Language) -> tuple[str, str]:
    mask = quoted_mask(tokens)
    # "/s" at the end is the mark of irony; "50 req/s" is a rate.
    irony = [token.low for token in tokens[-2:]] == ["/", "s"] and tokens[-2].gap != ""
    if irony or _unquoted(language.phrases("jokes"), tokens, mask):
        return "own_voice", "it reads as a joke"
    if _unquoted(language.phrases("hypotheses"), tokens, mask) or _is_irreal(tokens, language):
        return "own_voice", "it is imagined or an example"
    if _overrides(tokens, mask, language):
        return "own_voice", "it sets aside what the agent was told"
    if _reported(tokens, mask, language):
        return "own_voice", "it reports what somebody else said"
    # Other languages borrow from English: "mein Boss said", "lol".
    english = languages.load("en")
    if language is not english and is_imagined_or_reported(tokens, english):
        return "own_voice", "it reads as a joke, an example or a report"
    if _retracts(tokens, mask, language):
        return "taken_back", "it takes something back"
    for part in split_sentences(tokens, strict=False):
        if asks(part, language) or _asks_inside(part, language):
            return "question", "it is a question"
    if has_foreign_label(tokens, language):
        return "own_voice", "the label in front of it names somebody else or a text"
    if _handed_over(tokens, mask, language):
        return "own_voice", "it hands over a text to work on"
    return "", ""


def _is_irreal(tokens: Sequence[Token], language: Language) -> bool:
    """True at "wenn ich reich wäre, würde ich …", not at the request "es wäre gut, wenn du …"."""
    words = language.words("irreal")
    irreal = sum(token.low in words for token in tokens) if words else 0
    if not irreal or language.phrases("requests").match_at(tokens, 0):
        return False
    conditionals = language.phrases("conditionals")
    return conditionals.match_at(tokens, 0) > 0 or (irreal > 1 and conditionals.found_in(tokens))


def _overrides(tokens: Sequence[Token], mask: Sequence[bool], language: Language) -> bool:
    """True at "ignore all previous rules", which people paste and seldom mean."""
    verbs = language.words("overriding_verbs")
    return any(
        not mask[index] and token.low in verbs
        for index, _ in language.phrases("overridden").find(tokens)
        for token in tokens[max(0, index - _OVERRIDING) : index]
    )


def _retracts(tokens: Sequence[Token], mask: Sequence[bool], language: Language) -> bool:
    """True at "forget that", but not at "don't forget that" and "that's wrong, I live in Rome"."""
    places = [index for index, _ in language.phrases("retractions").find(tokens) if not mask[index]]
    return bool(places) and not find_openers(tokens, language).issuperset(places)


def is_imagined_or_reported(tokens: Sequence[Token], language: Language) -> bool:
    """True for jokes, hypotheses and what somebody else said."""
    mask = quoted_mask(tokens)
    return (
        _has_joke_mark(tokens)
        or _unquoted(language.phrases("jokes"), tokens, mask)
        or _unquoted(language.phrases("hypotheses"), tokens, mask)
        or _reported(tokens, mask, language)
    )


def asks(sentence: Sequence[Token], language: Language) -> bool:
    """True when the sentence is a question even without its mark."""
    start = 0
    while start < len(sentence) and (
        not sentence[start].word or sentence[start].low in language.words("question_leads")
    ):
        start += 1
    for separator in [start, *_after_openers(sentence, start, language)]:
        if language.phrases("questions_not").match_at(sentence, separator):
            return False
        if language.phrases("questions").match_at(sentence, separator):
            return True
    return language.phrases("question_endings").match_end(sentence) > 0


def _asks_inside(sentence: Sequence[Token], language: Language) -> bool:
    """True where a word asks from the middle, as in Chinese, but not at "whatever" and "いつも"."""
    asking = language.phrases("questions_inside")
    if language.items("questions_covering"):
        excused = language.phrases("questions_covering").covered(sentence)
        return not excused.issuperset(index for index, _ in asking.find(sentence))
    return _unquoted(asking, sentence, quoted_mask(sentence)) and not language.phrases(
        "questions_inside_not"
    ).found_in(sentence)


def _after_openers(sentence: Sequence[Token], start: int, language: Language) -> list[int]:
    """Where the sentence may really begin, behind "ok, " and the like."""
    places = []
    index = start
    for _ in range(4):
        length = max(
            opener_length(sentence, index, language)[0],
            language.phrases("openers_before_separator").match_at(sentence, index),
        )
        if not length:
            break
        index += length
        while index < len(sentence) and not sentence[index].word:
            index += 1
        places.append(index)
    return places


def _unquoted(phrases: Phrases, tokens: Sequence[Token], mask: Sequence[bool]) -> bool:
    return any(not mask[index] for index, _ in phrases.find(tokens))


def _reported(tokens: Sequence[Token], mask: Sequence[bool], language: Language) -> bool:
    """True at "my boss says", not at "as I said"."""
    speakers = language.words("reported_self")
    # "说明" (explain) holds "说" (say).
    other = language.phrases("reported_not").covered(tokens)
    for index, _ in language.phrases("reported").find(tokens):
        if mask[index] or index in other:
            continue
        if not (index and tokens[index - 1].low in speakers):
            return True
    if reports_at_end(tokens, language):
        return True
    # "According to the page, …", but not "… according to the guide".
    for index, _ in language.phrases("reported_front").find(tokens):
        if not mask[index] and (index == 0 or tokens[index - 1].text in ",;.:("):
            return True
    return False


def _handed_over(tokens: Sequence[Token], mask: Sequence[bool], language: Language) -> bool:
    """True when words before a colon or quotation ask for work on what follows.

    So does any lead-in before a colon whose rest speaks in the first person: "example value: my
    name is Bob", "Tom: I hate the logo".
    """
    colon = next(
        (i for i, token in enumerate(tokens) if token.text == ":" and _colon_ends_lead(tokens, i)),
        None,
    )
    speech = quoted_mask(tokens, "\"'")
    quote = next(
        (i for i, quoted in enumerate(speech) if quoted and all(speech[i : i + _LONG_QUOTE])), None
    )
    if quote is not None and len(tokens) - quote < _LONG_QUOTE:
        quote = None
    for end in (colon, quote):
        if end and language.phrases("handed_over").found_in(tokens[:end]):
            return True
    if colon is None:
        return "\n" in {token.gap for token in tokens[1:]} and language.phrases(
            "handed_over"
        ).found_in(tokens)
    lead = tokens[:colon]
    if language.phrases("leads").match_at(lead, 0) == len(lead):
        return False
    if any(place > colon for place in _after_openers(tokens, 0, language)):
        return False
    if language.phrases("leads_of_text").match_end(lead):
        return True
    first_person = language.words("weak_first_person")
    return any(token.low in first_person for token in tokens[colon + 1 :]) and not any(
        token.low in first_person for token in lead
    )


def _colon_ends_lead(tokens: Sequence[Token], index: int) -> bool:
    return (
        index > 0
        and index + 1 < len(tokens)
        and (tokens[index + 1].gap != "" or beside_unspaced(tokens, index))
    )


def leads_on(previous: Utterance) -> bool:
    """True when an earlier message says what the next one is: "Translate this:", "my boss says".

    Its own words may not be credited without it, nor with it, since they are two messages.
    """
    tokens = tokenize(previous.text[-_SHORT:])
    if not tokens:
        return False
    if tokens[-1].text in ":,-\u2026(\uff1a\uff0c\u3001" or previous.text.rstrip().endswith(".."):
        return True
    language = languages.detect(tokens)
    if language is None:
        return False
    bare = strip_final_stop(tokens)
    return language.phrases("reported").match_end(bare) > 0 or language.phrases(
        "announcements"
    ).found_in(tokens)


def answers_about_text(utterance: Utterance, tokens: Sequence[Token]) -> bool:
    """True when the agent asked for words that the person only reads off or repeats.

    The question is the model's, so it could have asked for anything to be typed.
    """
    if not utterance.asked:
        return False
    asked = tokenize(utterance.asked[:_SHORT])
    if _all_phrases("asked_reading").found_in(asked):
        return True
    words = strip_final_stop(tokens)
    place = find_quote(text_of(words, utterance.text), utterance.asked[:_SHORT])
    if place is None:
        return False
    before = fold(utterance.asked)[: place[0]].rstrip()
    return before.endswith((":", "\uff1a", '"', "'", "`"))


@cache
def _all_phrases(field: str) -> Phrases:
    return Phrases(
        phrase for code in languages.CODES for phrase in languages.load(code).items(field)
    )


@cache
def _all_words(field: str) -> frozenset[str]:
    return frozenset(word for code in languages.CODES for word in languages.load(code).words(field))


@cache
def _no_content() -> frozenset[str]:
    return frozenset().union(*(_all_words(field) for field in _NO_CONTENT))


def content_of(tokens: Sequence[Token]) -> frozenset[str]:
    """The words that name something: no function word, common verb or sign of lasting.

    Pairs of characters stand for words in scripts without spaces.
    """
    found = {
        token.low
        for token in tokens
        if token.word and len(token.low) > 2 and token.low not in _no_content()
    }
    for one, two in pairwise(tokens):
        pair = one.low + two.low
        if len(pair) == 2 and all(is_unspaced(char) or is_syllable(char) for char in pair):
            if not {one.low, two.low} <= _no_content() and pair not in _no_content():
                found.add(pair)
    return frozenset(found)


def taken_back(tokens: Sequence[Token], later: Sequence[Utterance]) -> bool:
    """True when a later utterance of the run may take these words back.

    It does when it holds a retraction ("scratch that"), opens like one ("no, …"), restricts or
    denies something while it shares a content word with them, or names nothing of its own while
    it denies ("please don't").
    """
    content: frozenset[str] | None = None
    for utterance in later:
        # Longer messages are pasted text; their start still counts as an answer to the agent.
        reading = _read_later(utterance.text[:_SHORT])
        if reading.retracts:
            return True
        if reading.denies:
            content = content_of(tokens) if content is None else content
            if reading.content & content or reading.names_nothing:
                return True
    return False


@dataclass(frozen=True, slots=True)
class _Later:
    """What a later message may do to an earlier one."""

    retracts: bool
    denies: bool
    content: frozenset[str]
    names_nothing: bool


# A run of many messages looks at each later one from each earlier one.
@lru_cache(maxsize=1024)
def _read_later(text: str) -> _Later:
    tokens = tokenize(text)
    # "Don't forget that we use tabs" takes back nothing and denies nothing.
    said = _all_phrases("openers").covered(tokens)
    retracts = bool(tokens) and (
        any(
            index not in said
            for field in _TAKING_BACK
            for index, _ in _all_phrases(field).find(tokens)
        )
        or _all_phrases("retractions_later").match_at(tokens, _first_word(tokens)) > 0
        or _all_phrases("retractions_ending").match_end(strip_final_stop(tokens)) > 0
    )
    denying = _all_words("negations") | _all_words("denials")
    content = content_of(tokens)
    return _Later(
        retracts,
        any(token.low in denying for index, token in enumerate(tokens) if index not in said),
        content,
        not content and count_words(tokens) <= _BRIEF,
    )


def _first_word(tokens: Sequence[Token]) -> int:
    """The index behind marks and sounds such as "hmm", or 0."""
    index = 0
    while index < len(tokens) and (
        not tokens[index].word or tokens[index].low in _all_words("interjections")
    ):
        index += 1
    return index if index < len(tokens) else 0
