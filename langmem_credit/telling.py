"""Does a note say a unit of what was typed: its very words, the closed list of edits aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .contractions import open_each
from .edges import note_ranges, renames
from .gerunds import spelled_out
from .languages import Language
from .sentences import Stretch
from .shift import same_opened
from .typography import keeps_marks as keeps_typography
from .typography import may_be_kept
from .units import Unit
from .words import Token, strip_final_stop


def says_in_any(stretch: Stretch, note: Sequence[Token]) -> bool:
    """True when the note says the unit in one of the languages that its words may be of."""
    return _says(stretch.unit, note, stretch.language) or any(
        _says(stretch.unit, note, other) for other in stretch.languages[1:]
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
    note = spelled_out(note, unit.tokens, language)
    said = open_each(unit.tokens, language)
    opened = open_each(note, language)
    return any(
        same_opened(said[start:end], opened[begin:close], language)
        for start, end in ranges
        for begin, close in note_ranges(unit.tokens[start:end], note, language)
    )


def keeps_marks(unit: Unit, message: str, told: Sequence[Token], note: str) -> bool:
    """True when the note has the person's very marks where they count, and can be stored so."""
    if not may_be_kept(told, note):
        return False
    stretches = (*unit.wholes, *(unit.tokens[start:end] for start, end in unit.ranges()))
    return keeps_typography(stretches, message, told, note)


def _is_verbatim(unit: Sequence[Token], note: Sequence[Token]) -> bool:
    return len(unit) == len(note) and all(
        said.text == told.text and (not index or said.gap == told.gap)
        for index, (said, told) in enumerate(zip(unit, note, strict=True))
    )


def difference(unit: Unit, note: Sequence[Token], language: Language | None) -> str:
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
