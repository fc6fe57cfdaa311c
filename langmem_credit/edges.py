"""The edges of what a note says: a place added around it, a mark or a capital that is a name's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .languages import Language
from .words import Token, strip_final_stop


def renames(
    tokens: Sequence[Token],
    stretch: tuple[int, int],
    told: Sequence[Token],
    language: Language | None,
) -> bool:
    """True where a note that says the stretch [start, end) may name another thing with it.

    "Always use save!" names another function than "save", and a capital behind "remember that" is
    a name's.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> said = tokenize("Always use save!")
    >>> [renames(said, (0, 3), tokenize(note), load("en")) for note in ("Use save!", "Use save")]
    [False, True]
    """
    start, end = stretch
    first = tokens[start]
    if start and tokens[start - 1].word and first.text.istitle() and len(first.text) > 1:
        if told and told[0].text == first.low:
            return True
    mark = _mark_at(tokens, end)
    # "Never write to C:" ends in a name, whatever the verb.
    counts = mark == ":" or _is_used(tokens, end, language)
    return counts and mark != _mark_at(told, len(strip_final_stop(told)))


def with_own_mark(
    tokens: Sequence[Token], shortest: Sequence[Token], language: Language | None
) -> Sequence[Token]:
    """The shortest stretch of the tokens, with the mark close behind it that may be a name's."""
    if not shortest:
        return shortest
    end = next(index for index, token in enumerate(tokens, 1) if token.end == shortest[-1].end)
    mark = _mark_at(tokens, end)
    if mark == ":" or (mark and _is_used(tokens, end, language)):
        return [*shortest, tokens[end]]
    return shortest


def _is_used(tokens: Sequence[Token], end: int, language: Language | None) -> bool:
    """True when the last word before the index is what is to be used: "never use sort!"."""
    return (
        language is not None
        and end > 1
        and tokens[end - 2].low in language.words("place_behind_verbs")
    )


def _mark_at(tokens: Sequence[Token], index: int) -> str:
    """The mark close behind a name that may belong to it."""
    if index < len(tokens) and not tokens[index].gap and tokens[index].text in "!;:":
        return tokens[index].text
    return ""


def note_ranges(
    unit: Sequence[Token], note: Sequence[Token], language: Language | None
) -> Iterable[tuple[int, int]]:
    """The note, and the note without what may be added around the person's words."""
    yield 0, len(note)
    if language is None:
        return
    places = language.phrases("place_front")
    front = places.match_at(note, 0)
    behind = places.match_end(note)
    quoted = language.phrases("attribution").match_at(note, 0)
    if quoted and not language.phrases("attribution").match_at(unit, 0):
        rest = _skip_mark(note, quoted)
        if rest > quoted and note[rest - 1].text in ":\uff1a":
            yield rest, len(note)
    # The person's own place stands alone.
    if not (front or behind) or places.found_in(unit):
        return
    # "Use tabs in all other repos".
    if language.phrases("place_others").found_in(unit):
        return
    if front:
        yield _skip_mark(note, front), len(note)
    if behind and _takes_place(unit, language):
        yield 0, len(note) - behind


def _takes_place(unit: Sequence[Token], language: Language) -> bool:
    """True when a place behind the words would say of the whole order where it holds.

    Behind a preposition, a restricting word or another clause it would belong to that ("any mention
    of my illness in this repo", "the docs we wrote in this repo", "the keys stored in this repo"),
    and behind "upload …" it would say where to.
    """
    fields = ("restricting", "subordinators", "invariant", "place_not_behind")
    endings = tuple(language.items("place_not_behind_endings")) or ("\0",)
    # "Use ruff instead of flake8" names two things, none of which has a place.
    pairs = language.phrases("place_pairs").covered(unit)
    return unit[0].low in language.words("place_behind_verbs") and not any(
        index not in pairs
        and (
            token.low.endswith(endings)
            or any(token.low in language.words(field) for field in fields)
        )
        for index, token in enumerate(unit[1:], 1)
    )


def _skip_mark(note: Sequence[Token], index: int) -> int:
    return index + (index < len(note) and note[index].text in ",:\uff0c\uff1a")
