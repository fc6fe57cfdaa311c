"""The credit rule: the note says what the person said, no more, no less, in their order.

Pure and deterministic: no model, no state, no clock. Dropping words is what lets a false note
through ("If the tests pass, push to main" becomes "Push to main"), so nothing may be dropped but
what `units.py` and `shift.py` list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .claims import unsupported
from .neighbours import TOO_MUCH, is_too_much
from .notes import LIMITS, Limits, Utterance, Verdict, check_words
from .obstacles import find_obstacle
from .sentences import Stretch
from .suggesting import nearest, stretches_of, suggest, typed_by_asker, words_of
from .telling import difference, keeps_marks, says_in_any
from .words import Token, count_words, find_tokens, fold, strip_final_stop, tokenize

VERSION = "1"

RULES: dict[str, str] = {
    "empty": "The note or the quote is empty.",
    "typed": "The quoted words were not typed by the person in this run.",
    "one_word": "One word or sign supports nothing.",
    "too_long": "The message is too long to be one statement, so nothing in it is credited.",
    "own_voice": "The words are not the person's own statement: {detail}.",
    "question": "The words are not a statement: {detail}.",
    "taken_back": "The person took the words back.",
    "small_talk": "The words only greet, thank or answer; there is nothing in them to keep.",
    "same_words": "The note does not say the person's whole message word for word: {detail}.",
    "one_off": "The words are a task for now; nothing says that they should last.",
}

# Words that were taken back are not offered again.
_WITHOUT_OFFER = ("taken_back",)


def judge(
    note: str,
    said: str,
    heard: Sequence[Utterance],
    *,
    about: str | None = None,
    core: bool = False,
    limits: Limits = LIMITS,
) -> Verdict:
    """Whether the note is the person's own words, and what would be.

    Args:
        note: what the model wants to keep.
        said: the words that it claims the person typed.
        heard: the utterances of this run, oldest first.
        about: whom it is about, as the model claims.
        core: the model's claim that it belongs with the most important.

    Raises:
        ConfigurationError: what is no text stands where a text must.

    >>> from langmem_credit.notes import Utterance
    >>> heard = [Utterance("m1", "please remember that I prefer dark mode")]
    >>> judge("Prefers dark mode", "I prefer dark mode", heard).credited
    True
    >>> heard = [Utterance("m1", "Never push to main")]
    >>> verdict = judge("Push to main", "push to main", heard)
    >>> verdict.rule, verdict.suggestion
    ('same_words', 'Never push to main')
    """
    check_words(note, said, heard)
    if not note.strip() or not said.strip():
        return _refusal("empty", suggestion=suggest(note, heard, limits=limits))
    quote = tokenize(said[: limits.said])
    if count_words(quote) < 2:
        return _refusal("one_word", suggestion=suggest(note, heard, limits=limits))
    if len(said) > limits.said:
        return _refusal("too_long")
    if len(note) > 2 * limits.said:
        # Not worth reading: no message that is judged has so many characters.
        return _refusal("same_words", "it is far longer")
    if is_too_much(heard):
        return _refusal("own_voice", TOO_MUCH)
    told = quote if note == said else tokenize(note)
    refusal: Verdict | None = None
    for index in reversed(typed_by_asker(heard)):
        tokens = quote if heard[index].text == said else _read(heard[index], limits)
        if not _stands_in(said, quote, heard[index], tokens):
            continue
        whole = Stretch(heard, index, 0, tokens)
        verdict, said_in = _judge_message(note, told, whole, limits)
        if verdict.credited:
            return replace(verdict, ignored=unsupported(said_in, about, core=core))
        # The newest utterance that holds the quote explains best.
        refusal = refusal or verdict
    return refusal or _refusal("typed", suggestion=suggest(note, heard, limits=limits))


def _read(utterance: Utterance, limits: Limits) -> Sequence[Token]:
    """The utterance's tokens; none when it is too long to be judged."""
    return tokenize(utterance.text) if len(utterance.text) <= limits.said else ()


def _stands_in(
    said: str, quote: Sequence[Token], utterance: Utterance, tokens: Sequence[Token]
) -> bool:
    """True when the quote was typed there; a rough look at a message too long to be judged."""
    if tokens:
        return find_tokens(strip_final_stop(quote), tokens) is not None
    return fold(said).lower() in fold(utterance.text).lower()


def _judge_message(
    note: str, told: Sequence[Token], whole: Stretch, limits: Limits
) -> tuple[Verdict, Stretch]:
    """The verdict on a message, or that on the sentences of it that the note says, and on what."""
    verdict = _judge(note, told, whole, limits)
    if verdict.credited or verdict.rule == "too_long":
        return verdict, whole
    parts = list(stretches_of(whole))[1:]
    for part in parts:
        if says_in_any(part, told):
            of_part = _judge(note, told, part, limits)
            if of_part.credited:
                return of_part, part
            # What keeps the very sentence back explains better than what another one is.
            verdict = verdict if verdict.rule == "same_words" else of_part
    if verdict.rule in _WITHOUT_OFFER or (not parts and len(whole.heard) == 1):
        return verdict, whole
    if len(whole.heard) == 1:
        offer = nearest(note, [whole, *parts], limits)
    else:
        offer = suggest(note, whole.heard, limits=limits)
    verdict = replace(verdict, suggestion=offer or verdict.suggestion)
    return verdict, whole


def _judge(note: str, told: Sequence[Token], stretch: Stretch, limits: Limits) -> Verdict:
    utterance, unit = stretch.utterance, stretch.unit
    if len(utterance.text) > limits.said:
        return _refusal("too_long", stretch=stretch)
    if not unit.tokens:
        return _refusal("one_word", stretch=stretch)
    rule, detail = find_obstacle(stretch)
    if rule in ("own_voice", "question", "taken_back"):
        return _refusal(rule, detail, stretch=stretch)
    if not says_in_any(stretch, told) or not keeps_marks(unit, utterance.text, told, note):
        offer = None if rule else words_of(stretch, limits)
        detail = difference(unit, told, stretch.language)
        return _refusal("same_words", detail, stretch=stretch, suggestion=offer)
    if rule:
        return _refusal(rule, detail, stretch=stretch)
    return Verdict(
        credited=True,
        utterance_id=utterance.id,
        span=_span(stretch),
        language=stretch.language.code if stretch.language else "",
        version=VERSION,
    )


def _span(stretch: Stretch) -> tuple[int, int] | None:
    tokens = stretch.unit.tokens
    if not tokens:
        return None
    return tokens[0].start + stretch.offset, tokens[-1].end + stretch.offset


def _refusal(
    rule: str, detail: str = "", *, stretch: Stretch | None = None, suggestion: str | None = None
) -> Verdict:
    judged = stretch is not None and rule not in ("too_long", "one_word")
    return Verdict(
        credited=False,
        rule=rule,
        reason=RULES[rule].format(detail=detail),
        utterance_id=stretch.utterance.id if stretch else None,
        span=_span(stretch) if stretch and judged else None,
        suggestion=suggestion,
        language=stretch.language.code if stretch and judged and stretch.language else "",
        version=VERSION,
    )
