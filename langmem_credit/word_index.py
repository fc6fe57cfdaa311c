"""BM25 over notes that is kept between questions: only what changed is indexed again.

The ranking is that of `rank_by_words`, on SQLite's full-text index in memory. Each list of notes
that is asked about has a database of its own, so that how rare a word is counts among those notes
alone; the few lists that were asked about last are kept.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import is_

from .forks import Locked
from .notes import Note
from .ranking import encoded, expressions, rank_by_words

# Lists of notes that are kept, and notes in them together.
_KEPT = 64
_MOST_NOTES = 50_000
# Fewer in common than this, and a new database is cheaper than changing an old one.
_ALIKE = 0.5


@dataclass(slots=True)
class _Table:
    """One list of notes in a database of its own."""

    database: sqlite3.Connection
    notes: dict[str, Note] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    listed: Sequence[Note] = ()
    next_row: int = 1
    _words: dict[str, frozenset[str]] = field(default_factory=dict)

    def words(self, note_id: str) -> frozenset[str]:
        """The note's words, as the database holds them."""
        if note_id not in self._words:
            parts = _words_of(self.notes[note_id])
            self._words[note_id] = frozenset(encoded(" ".join(parts)).split())
        return self._words[note_id]

    def forget(self, note_id: str) -> None:
        """Takes the note out."""
        row = self.rows.pop(note_id)
        del self.ids[row], self.notes[note_id]
        self._words.pop(note_id, None)
        self.database.execute("DELETE FROM words WHERE rowid = ?", (row,))


class WordIndex(Locked):
    """Ranks notes by words, as `rank_by_words` does; may be shared by threads.

    >>> note = Note("k3m9xz", "Use pnpm", "preference", "active", "")
    >>> WordIndex().rank("pnpm", [note])
    ['k3m9xz']
    """

    def __init__(self) -> None:
        self._tables: list[_Table] = []
        super().__init__()

    def renew(self) -> None:
        """Begins anew; the old tables are kept aside, since another thread was in one perhaps."""
        super().renew()
        self._left, self._tables = self._tables, []

    def rank(self, query: str, notes: Sequence[Note]) -> list[str]:
        """Ids of the notes that share a telling word with the query, best first, ties newest."""
        return [note_id for note_id, _ in self._ranked(query, notes, weighed=0)]

    def weigh(self, query: str, notes: Sequence[Note], most: int) -> list[tuple[str, float]]:
        """As `rank`, each with the share of the query that it covers, (0, 1].

        A word counts by how rare it is among the notes; one that no note holds counts most, so
        a note that shares only a common word with a question covers little of it. Beyond the
        first `most` notes the share is 0.
        """
        return self._ranked(query, notes, weighed=most)

    def _ranked(
        self, query: str, notes: Sequence[Note], *, weighed: int
    ) -> list[tuple[str, float]]:
        wanted = expressions(query)
        if not wanted or not notes:
            return []
        try:
            with self._lock:
                table = self._table(notes)
                found = _found(table, wanted)
                if not weighed:
                    return [(note_id, 0.0) for note_id in found]
                weights = _weights(table, wanted)
                # While nobody else brings this table up to another list.
                shares = [_share(table.words(note_id), weights) for note_id in found[:weighed]]
        except sqlite3.OperationalError:
            # No full-text index here: it says so itself.
            return [(note_id, 1.0) for note_id in rank_by_words(query, notes)]
        return list(zip(found, [*shares, *[0.0] * (len(found) - len(shares))], strict=True))

    def _table(self, notes: Sequence[Note]) -> _Table:
        for table in self._tables:
            # Mostly the very notes that were asked about before, in the same order.
            if table.listed is notes or (
                len(table.listed) == len(notes) and all(map(is_, table.listed, notes))
            ):
                return table
        wanted = {note.id: note for note in notes}
        best = max(self._tables, key=lambda one: _common(one, wanted), default=None)
        if best is None or _common(best, wanted) < _ALIKE * max(len(wanted), len(best.notes)):
            best = _new_table()
        else:
            self._tables.remove(best)
        self._tables.append(best)
        _bring_up(best, wanted)
        # As it is, where nobody can change it.
        best.listed = notes if isinstance(notes, tuple) else list(notes)
        while len(self._tables) > 1 and (
            len(self._tables) > _KEPT
            or sum(len(table.notes) for table in self._tables) > _MOST_NOTES
        ):
            self._tables.pop(0).database.close()
        return best


# Of this process; what it keeps is made again where it is gone.
WORDS = WordIndex()


def _common(table: _Table, wanted: dict[str, Note]) -> int:
    return len(table.notes.keys() & wanted.keys())


def _new_table() -> _Table:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("CREATE VIRTUAL TABLE words USING fts5(text, said, about, tokenize='ascii')")
    return _Table(database)


def _bring_up(table: _Table, wanted: dict[str, Note]) -> None:
    gone = [
        note_id
        for note_id, note in table.notes.items()
        if (new := wanted.get(note_id)) is not note
        and (new is None or _words_of(new) != _words_of(note))
    ]
    for note_id in gone:
        table.forget(note_id)
    added = [note for note_id, note in wanted.items() if note_id not in table.notes]
    for note in added:
        table.rows[note.id] = table.next_row
        table.ids[table.next_row] = note.id
        table.next_row += 1
    table.database.executemany(
        "INSERT INTO words(rowid, text, said, about) VALUES (?, ?, ?, ?)",
        ((table.rows[note.id], *map(encoded, _words_of(note))) for note in added),
    )
    table.notes = wanted


def _words_of(note: Note) -> tuple[str, str, str]:
    return note.text, note.said if note.said != note.text else "", note.about


def _found(table: _Table, wanted: Sequence[str]) -> list[str]:
    scored = table.database.execute(
        # Rounded, so that the last bits of a sum do not order what is equally good.
        "SELECT round(bm25(words, 2.0, 1.0, 1.0), 9), rowid FROM words WHERE words MATCH ?",
        (" OR ".join(wanted),),
    ).fetchall()
    newest = [(score, table.notes[table.ids[row]]) for score, row in scored]
    newest.sort(key=lambda pair: (pair[1].at, pair[1].id), reverse=True)
    newest.sort(key=lambda pair: pair[0])
    return [note.id for _, note in newest]


def _weights(table: _Table, wanted: Sequence[str]) -> dict[str, float]:
    count = len(table.notes)
    weights: dict[str, float] = {}
    for one in wanted:
        [held] = table.database.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (one,)
        ).fetchone()
        # The inverse document frequency of BM25, kept above nought.
        weights[one] = math.log(1 + (count - held + 0.5) / (held + 0.5))
    return weights


def _share(words: frozenset[str], weights: dict[str, float]) -> float:
    covered = sum(weight for one, weight in weights.items() if _holds(words, one))
    return covered / sum(weights.values())


def _holds(words: frozenset[str], expression: str) -> bool:
    word = expression.strip('"*')
    if not expression.endswith("*"):
        return word in words
    return any(one.startswith(word) for one in words)
