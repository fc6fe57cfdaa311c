"""The credit rule: the note says what the person said, no more, no less, in their order.

Pure and deterministic: no model, no state, no clock. Dropping words is what lets a false note
through ("If the tests pass, push to main" becomes "Push to main"), so nothing may be dropped but
what `units.py` and `shift.py` list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .claims import unsupported
from .clauses import holds_errand
from .contractions import open_each
from .detection import detect, detect_tied
from .edges import note_ranges, renames, with_own_mark
from .languages import Language
from .neighbours import TOO_MUCH, find_touching, is_too_much
from .notes import LIMITS, Limits, Utterance, Verdict, check_words
from .pasting import find_pasted
from .questions import asks_of_person
from .retractions import answers_about_text
from .sentences import stretches
from .shift import same_opened
from .smalltalk import is_small_talk
from .standing import has_own_sign, lasts
from .typography import keeps_marks, may_be_kept
from .units import Unit, find_unit
from .voice import asks, find_foreign_voice
from .words import (
    Token,
    count_words,
    find_tokens,
    fold,
    split_sentences,
    strip_final_stop,
    text_of,
    tokenize,
)

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
    for index in reversed(_typed_by_asker(heard)):
        tokens = quote if heard[index].text == said else _read(heard[index], limits)
        if not _stands_in(said, quote, heard[index], tokens):
            continue
        verdict = _judge_utterance(note, told, heard, index, tokens, limits)
        if not verdict.credited:
            verdict = _judge_sentences(note, told, quote, heard, index, tokens, limits) or verdict
        if verdict.credited:
            if not about and not core:
                return verdict
            language = detect(tokens)
            ignored = unsupported(heard[index], tokens, language, about, core=core)
            return replace(verdict, ignored=ignored)
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


def suggest(note: str, heard: Sequence[Utterance], *, limits: Limits = LIMITS) -> str | None:
    """The person's own words that would be credited and are nearest to the note, or None.

    That is the message that shares most words with it; the newest of equals.
    """
    if is_too_much(heard):
        return None
    wanted = {token.low for token in tokenize(note[: limits.said]) if token.word}
    best: tuple[int, str] | None = None
    for index in reversed(_typed_by_asker(heard)):
        utterance = heard[index]
        if len(utterance.text) > limits.said:
            continue
        tokens = tokenize(utterance.text)
        language = detect(tokens)
        common = language.words("function_words") if language else frozenset()
        shared = len(wanted & {token.low for token in tokens if token.word} - common)
        if not shared or (best is not None and shared <= best[0]):
            continue
        unit = find_unit(tokens, language)
        text = _suggestion(utterance, unit, limits) if unit.tokens else None
        if text is not None and not _find_obstacle(heard, index, unit, language)[0]:
            best = (shared, text)
    return best[1] if best else None


def _typed_by_asker(heard: Sequence[Utterance]) -> list[int]:
    """Where the typed utterances of the speaker of the last input stand, oldest first."""
    inputs = [one for one in heard if one.via == "input"]
    asker = inputs[-1].speaker if inputs else None
    return [
        index
        for index, one in enumerate(heard)
        if one.typed and (not inputs or one.speaker == asker)
    ]


def _refusal(
    rule: str,
    detail: str = "",
    *,
    utterance: Utterance | None = None,
    span: tuple[int, int] | None = None,
    suggestion: str | None = None,
    language: Language | None = None,
) -> Verdict:
    return Verdict(
        credited=False,
        rule=rule,
        reason=RULES[rule].format(detail=detail),
        utterance_id=utterance.id if utterance else None,
        span=span,
        suggestion=suggestion,
        language=language.code if language else "",
        version=VERSION,
    )


def _judge_utterance(
    note: str,
    told: Sequence[Token],
    heard: Sequence[Utterance],
    index: int,
    tokens: Sequence[Token],
    limits: Limits,
) -> Verdict:
    utterance = heard[index]
    if len(utterance.text) > limits.said:
        return _refusal("too_long", utterance=utterance)
    language = detect(tokens)
    unit = find_unit(tokens, language)
    if not unit.tokens:
        return _refusal("one_word", utterance=utterance)
    span = (unit.tokens[0].start, unit.tokens[-1].end)
    rule, detail = _find_obstacle(heard, index, unit, language)
    if rule in ("own_voice", "question", "taken_back"):
        return _refusal(rule, detail, utterance=utterance, span=span, language=language)
    if not _says_in_any(unit, told, tokens, language) or not _keeps_marks(
        unit, utterance.text, told, note
    ):
        return _refusal(
            "same_words",
            _difference(unit, told, language),
            utterance=utterance,
            span=span,
            suggestion=None if rule else _suggestion(utterance, unit, limits),
            language=language,
        )
    if rule:
        return _refusal(rule, detail, utterance=utterance, span=span, language=language)
    return Verdict(
        credited=True,
        utterance_id=utterance.id,
        span=span,
        language=language.code if language else "",
        version=VERSION,
    )


def _judge_sentences(
    note: str,
    told: Sequence[Token],
    quote: Sequence[Token],
    heard: Sequence[Utterance],
    index: int,
    tokens: Sequence[Token],
    limits: Limits,
) -> Verdict | None:
    """The verdict that credits a part of the message, one or more whole sentences; else None."""
    for run, place, offset in stretches(heard, index, tokens):
        words = tokenize(run[place].text)
        language = detect(words)
        unit = find_unit(words, language)
        if not unit.tokens or not _says_in_any(unit, told, words, language):
            continue
        verdict = _judge_utterance(note, told, run, place, words, limits)
        if verdict.credited and verdict.span:
            start, end = verdict.span
            return replace(verdict, span=(start + offset, end + offset))
    return None


def _find_obstacle(
    heard: Sequence[Utterance], index: int, unit: Unit, language: Language | None
) -> tuple[str, str]:
    """(rule, detail) of what keeps the unit from being credited in any wording, or ("", "")."""
    utterance = heard[index]
    pasted = find_pasted(utterance.text)
    if pasted:
        return "own_voice", pasted
    sentences = split_sentences(unit.tokens, strict=False)
    rule, detail = find_foreign_voice(unit.tokens, sentences, language)
    if rule:
        return rule, detail
    # Thanks behind it hide a final "…, right".
    if language and asks(strip_final_stop(unit.shortest), language):
        return "question", "it is a question"
    if answers_about_text(utterance, unit.shortest):
        return "own_voice", "it answers a question about somebody else's words"
    if utterance.via == "answer" and utterance.asked:
        if not asks_of_person(utterance.asked, unit.tokens):
            return "own_voice", "it answers a question that does not plainly ask of the person"
    touched = find_touching(heard, index, unit.tokens)
    if touched:
        return touched
    if language is None:
        return "", ""
    if is_small_talk(unit.tokens, language):
        return "small_talk", ""
    if utterance.asked and not has_own_sign(unit.tokens, language):
        return "own_voice", "it answers the agent's question and does not speak of the person"
    if not lasts(sentences, language):
        return "one_off", ""
    return _read_otherwise(unit)


def _read_otherwise(unit: Unit) -> tuple[str, str]:
    """The obstacle in another language that the words may as well be of: "Usa essa foto"."""
    for other in detect_tied(unit.tokens)[1:]:
        if holds_errand(unit.tokens, other):
            return "one_off", ""
        if asks(strip_final_stop(unit.shortest), other):
            return "question", "it is a question"
    return "", ""


def _says_in_any(
    unit: Unit, note: Sequence[Token], tokens: Sequence[Token], language: Language | None
) -> bool:
    """True when the note says the unit in one of the languages that its words may be of."""
    return _says(unit, note, language) or any(
        _says(unit, note, other) for other in detect_tied(tokens)[1:]
    )


def _says(unit: Unit, note: Sequence[Token], language: Language | None) -> bool:
    """True when the note says one of the unit's stretches, whole, edits aside."""
    told, note = note, strip_final_stop(note)
    if any(
        _is_verbatim(strip_final_stop(whole), note)
        and not renames(whole, (0, len(strip_final_stop(whole))), told, language)
        for whole in unit.wholes
    ):
        return True
    # No edit makes one word of more than two.
    if not len(unit.shortest) <= 2 * len(note) + 8 <= 4 * len(unit.tokens) + 40:
        return False
    ranges = [one for one in unit.ranges() if not renames(unit.tokens, one, told, language)]
    if any(_is_verbatim(unit.tokens[start:end], note) for start, end in ranges):
        return True
    said = open_each(unit.tokens, language)
    opened = open_each(note, language)
    return any(
        same_opened(said[start:end], opened[begin:close], language)
        for start, end in ranges
        for begin, close in note_ranges(unit.tokens[start:end], note, language)
    )


def _keeps_marks(unit: Unit, message: str, told: Sequence[Token], note: str) -> bool:
    """True when the note has the person's very marks where they count, and can be stored so."""
    if not may_be_kept(told, note):
        return False
    stretches = (*unit.wholes, *(unit.tokens[start:end] for start, end in unit.ranges()))
    return keeps_marks(stretches, message, told, note)


def _is_verbatim(unit: Sequence[Token], note: Sequence[Token]) -> bool:
    return len(unit) == len(note) and all(
        said.text == told.text and (not index or said.gap == told.gap)
        for index, (said, told) in enumerate(zip(unit, note, strict=True))
    )


def _suggestion(utterance: Utterance, unit: Unit, limits: Limits) -> str | None:
    words = with_own_mark(unit.tokens, unit.shortest, detect(unit.tokens))
    text = text_of(words, utterance.text)
    if count_words(unit.shortest) < 2 or len(text) > limits.note:
        return None
    if not _keeps_marks(unit, utterance.text, tokenize(text), text):
        return None
    return text


def _difference(unit: Unit, note: Sequence[Token], language: Language | None) -> str:
    """What the note leaves out or adds, in a few words."""
    said, told = _count(unit.shortest, language), _count(note, language)
    missing, added = said - told, told - said
    parts = []
    if missing:
        parts.append(f"it leaves out {_few(missing)}")
    if added:
        parts.append(f"it adds {_few(added)}")
    return " and ".join(parts) or "the words, their order or the marks between them differ"


def _count(tokens: Sequence[Token], language: Language | None) -> Counter[str]:
    """The words with contractions opened, so that "don't" and "do not" show no difference."""
    counts = Counter(token.low for token in tokens if token.word)
    table = language.table("contractions") if language else {}
    for low in [low for low in counts if low in table]:
        number = counts.pop(low)
        counts.update(dict.fromkeys(table[low].split(), number))
    return counts


def _few(words: Counter[str], most: int = 5) -> str:
    shown = [f'"{word[:40]}"' for word in list(words)[:most]]
    return ", ".join(shown) + (" …" if len(words) > most else "")
