"""Is this the person's own voice: not pasted, quoted, reported, asked, imagined, or taken back."""

from __future__ import annotations

from collections.abc import Sequence

from . import languages
from .clauses import is_irreal
from .endings import reports_at_end
from .labels import has_foreign_label
from .languages import Language
from .mixtures import mixes_languages
from .openers import find_openers, opener_length
from .standing import has_strong_sign
from .words import (
    QUESTION_MARKS,
    Phrases,
    Token,
    beside_unspaced,
    ends_in_question,
    holds_mark,
    quoted_mask,
)

# Shorter quotations are names: `translate "Given" steps`.
_LONG_QUOTE = 5
_OVERRIDING = 4  # words from "ignore" to "all of the previous rules"
_FOREIGN = (
    *("jokes", "hypotheses", "overridden"),
    *("reported", "reported_front", "reported_endings", "reported_behind_names"),
)
_IMAGINED = "it is imagined or an example"
_JOKE_MARKS = frozenset("😂🤣🙄😉😜😏🤪🃏🙃🤡😹😆😝😛")


def find_foreign_voice(
    tokens: Sequence[Token], parts: Sequence[Sequence[Token]], language: Language | None
) -> tuple[str, str]:
    """(rule, plain reason) when the words are not the speaker's own statement, else ("", "").

    The parts are its sentences, cut wherever one may end. Without a language only the signs
    shared by all languages are checked.
    """
    mask = quoted_mask(tokens) if holds_mark(tokens, QUESTION_MARKS) else ()
    if ends_in_question(tokens) or any(
        not mask[index]
        # "signed_in?, count" names functions.
        and (
            tokens[index].text != "?"
            or index + 1 == len(tokens)
            or tokens[index + 1].gap
            or beside_unspaced(tokens, index)
        )
        for index in [i for i, _ in enumerate(mask) if tokens[i].text in QUESTION_MARKS]
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
    return _lexical_signs(tokens, parts, language)


def _has_joke_mark(tokens: Sequence[Token]) -> bool:
    return holds_mark(tokens, _JOKE_MARKS)


def _mostly_quoted(tokens: Sequence[Token]) -> bool:
    mask = quoted_mask(tokens, '"')
    if True not in mask:
        return False
    inside = sum(token.word for token, quoted in zip(tokens, mask, strict=True) if quoted)
    return inside * 3 > 2 * sum(token.word for token in tokens)


def _lexical_signs(
    tokens: Sequence[Token], parts: Sequence[Sequence[Token]], language: Language
) -> tuple[str, str]:
    mask = quoted_mask(tokens)
    # "/s" at the end is the mark of irony; "50 req/s" is a rate.
    irony = [token.low for token in tokens[-2:]] == ["/", "s"] and tokens[-2].gap != ""
    if irony:
        return "own_voice", "it reads as a joke"
    held = language.merged(_FOREIGN).found_in(tokens)
    if held and (foreign := _find_foreign(tokens, mask, language)):
        return "own_voice", foreign
    if is_irreal(tokens, language):
        return "own_voice", _IMAGINED
    # Other languages borrow from English: "mein Boss said", "lol".
    english = languages.load("en")
    if language is not english and is_imagined_or_reported(tokens, english):
        return "own_voice", "it reads as a joke, an example or a report"
    if _retracts(tokens, mask, language):
        return "taken_back", "it takes something back"
    for part in parts:
        if asks(part, language) or _asks_inside(part, language):
            return "question", "it is a question"
    if has_foreign_label(tokens, parts, language):
        return "own_voice", "the label in front of it names somebody else or a text"
    if _handed_over(tokens, mask, language):
        return "own_voice", "it hands over a text to work on"
    return "", ""


def _find_foreign(tokens: Sequence[Token], mask: Sequence[bool], language: Language) -> str:
    """The reason why phrases make the words another's than the speaker's here and now, or ""."""
    if _unquoted(language.phrases("jokes"), tokens, mask):
        return "it reads as a joke"
    if _unquoted(language.phrases("hypotheses"), tokens, mask) or is_irreal(tokens, language):
        return _IMAGINED
    if _overrides(tokens, mask, language):
        return "it sets aside what the agent was told"
    if _reported(tokens, mask, language):
        return "it reports what somebody else said"
    return ""


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
    if _has_joke_mark(tokens) or not language.merged(_FOREIGN).found_in(tokens):
        return _has_joke_mark(tokens)
    mask = quoted_mask(tokens)
    return (
        _unquoted(language.phrases("jokes"), tokens, mask)
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
    if language.phrases("question_endings_not").match_end(sentence):
        return False
    return language.phrases("question_endings").match_end(sentence) > 0


def _asks_inside(sentence: Sequence[Token], language: Language) -> bool:
    """True where a word asks from the middle, as in Chinese, but not at "whatever" and "いつも"."""
    places = [index for index, _ in language.phrases("questions_inside").find(sentence)]
    if not places:
        return False
    if language.items("questions_covering"):
        return not language.phrases("questions_covering").covered(sentence).issuperset(places)
    if all(map(quoted_mask(sentence).__getitem__, places)):
        return False
    return not language.phrases("questions_inside_not").found_in(sentence)


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
    quoted = [index for index, inside in enumerate(speech) if inside] if True in speech else []
    quote = next((index for index in quoted if all(speech[index : index + _LONG_QUOTE])), None)
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
