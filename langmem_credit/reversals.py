"""Does a choice that the person states anew reverse the one that a note holds; closed.

"Always use yarn, never pnpm" reverses "always use pnpm, never npm": both choose by the same words,
and what the note chose is what is denied now. Each holds the two things, signs of lasting and of
change, and no other word that could limit it. Where the note denies another thing than what is
chosen now, the new one must say that it lasts: then it rules that thing out as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .languages import Language
from .words import Token, strip_final_stop

_MOST_TOKENS = 3  # "node.js" has three


@dataclass(frozen=True, slots=True)
class _Choice:
    opening: tuple[str, ...]
    chosen: tuple[str, ...]
    denied: tuple[str, ...]
    named: tuple[Token, ...]


def reversed_choice(
    new: Sequence[Token], old: Sequence[Token], language: Language
) -> Sequence[Token]:
    """The note's words for what it chose, where the new sentence denies it; else nothing.

    Args:
        new: the sentence, without the words that open a correction.
        old: the note.
        language: of the sentence.
    """
    now, before = _read(new, language), _read(old, language)
    if now is None or before is None or now.opening != before.opening:
        return ()
    if not now.denied or now.denied != before.chosen or now.chosen == before.chosen:
        return ()
    if before.denied not in ((), now.chosen):
        signs = (language.phrases("correction_lasting"), language.phrases("correction_signs"))
        if not any(one.found_in(new) for one in signs):
            return ()
    return before.named


def _read(tokens: Sequence[Token], language: Language) -> _Choice | None:
    """The choice that the sentence is, whole."""
    rest = _bare(strip_final_stop(tokens), language)
    length = language.phrases("correction_choosing").match_at(rest, 0)
    if not length:
        return None
    opening, things = _lows(rest[:length]), rest[length:]
    index, size = next(language.phrases("correction_denials").find(things), (len(things), 0))
    chosen, denied = things[:index], things[index + size :]
    # "…, never use pnpm"
    denied = denied[language.phrases("correction_choosing").match_at(denied, 0) :]
    if not _is_thing(chosen, language) or (size and not _is_thing(denied, language)):
        return None
    return _Choice(opening, _lows(chosen), _lows(denied), tuple(chosen))


def _bare(tokens: Sequence[Token], language: Language) -> list[Token]:
    """Without signs of lasting and of change, at the start, behind the subject and at the end."""
    rest = list(tokens)
    for field in ("correction_openers", "correction_signs", "correction_lasting"):
        rest = rest[language.phrases(field).match_at(rest, 0) :]
    for field in ("correction_signs", "correction_lasting"):
        length = language.phrases(field).match_end(rest)
        rest = rest[: len(rest) - length]
        for index in (1, 2):
            length = language.phrases(field).match_at(rest, index)
            rest = rest[:index] + rest[index + length :]
    return rest


def _is_thing(tokens: Sequence[Token], language: Language) -> bool:
    """True for one name: a single word, or words and marks without a space between them."""
    if not tokens or len(tokens) > _MOST_TOKENS or not tokens[0].word or not tokens[-1].word:
        return False
    other = language.words("function_words") | language.words("correction_limits")
    if any(token.gap for token in tokens[1:]):
        return False
    return not any(token.low in other for token in tokens)


def _lows(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.low for token in tokens)
