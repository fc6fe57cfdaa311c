"""Notes ranked by their words: BM25 over SQLite's full-text index in memory.

The tokens are made here and handed over in hexadecimal, so that nothing in a query or a note is
ever read as query syntax, and languages without spaces are found by pairs of characters.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from itertools import pairwise

from . import languages
from .notes import Note

_log = logging.getLogger("langmem_credit")

# Scripts written without spaces between words: Thai, Lao, Burmese, Khmer, kana, Han, Yi. For the
# inside of a character class.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Vowel signs of Indic scripts and of Tibetan are no word characters to `re`.
_SIGNS = "\u0900-\u0963\u0966-\u0dff\u0f35-\u0fbc"
_PICTURES = "\u2600-\u27bf\U0001f300-\U0001faff"
_RUN = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)|(?P<word>(?:[^\W_{UNSPACED}]|[{_SIGNS}])+)"
    rf"|(?P<picture>[{_PICTURES}])"
)
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u200c\u200d]")
# Letters that hold their stroke or dot in one piece.
_STROKES = str.maketrans("\u0131\u00f8\u0142\u0111\u0127\u00f0", "ioldhd", "'\u2019\u02bc\u0640")
_WORD_CHARS = 64
_MOST_TOKENS = 400
# From four letters on a query word also finds longer words: "deploy" finds "deployment".
_PREFIX_CHARS = 4


def search_words(text: str) -> list[str]:
    """Lower-case words without accents; of scripts without spaces each character and each pair.

    >>> search_words("Café, 成都!")
    ['cafe', '成', '都', '成都']
    """
    words: list[str] = []
    for match in _RUN.finditer(folded(text)):
        run = match.group()
        if match.lastgroup != "unspaced":
            words.append(run[:_WORD_CHARS])
        else:
            words.extend(run)
            words.extend(first + second for first, second in pairwise(run))
    return words


def rank_by_words(query: str, notes: Sequence[Note]) -> list[str]:
    """Ids of the notes that share a word with the query, best first, ties newest first.

    Function words of the known languages find nothing, unless the query has no others. Words of
    the note itself count twice those of the quote it rests on.
    """
    wanted = expressions(query)
    if not wanted or not notes:
        return []
    newest = sorted(notes, key=lambda note: (note.at, note.id), reverse=True)
    try:
        return [newest[row].id for row in _rows_by_bm25(wanted, newest)]
    except sqlite3.OperationalError:
        # Mostly because this Python's SQLite was built without it.
        _log.warning("recall: no full-text index (FTS5); notes are ranked by shared words alone")
        return [note.id for note in _by_shared_words(query, newest)]


def _rows_by_bm25(wanted: Sequence[str], notes: Sequence[Note]) -> list[int]:
    rows = [
        (
            row,
            encoded(note.text),
            encoded(note.said if note.said != note.text else ""),
            encoded(note.about),
        )
        for row, note in enumerate(notes)
    ]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(
            "CREATE VIRTUAL TABLE words USING fts5(text, said, about, tokenize='ascii')"
        )
        database.executemany(
            "INSERT INTO words(rowid, text, said, about) VALUES (?, ?, ?, ?)", rows
        )
        # Rounded, so that the last bits of a sum do not order what is equally good.
        found = database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? "
            "ORDER BY round(bm25(words, 2.0, 1.0, 1.0), 9), rowid",
            (" OR ".join(wanted),),
        ).fetchall()
    return [row for (row,) in found]


def _by_shared_words(query: str, notes: Sequence[Note]) -> list[Note]:
    words = set(search_words(query))
    asked = words - function_words() or words
    shared = {
        note.id: len(asked.intersection(search_words(f"{note.text} {note.said} {note.about}")))
        for note in notes
    }
    found = [note for note in notes if shared[note.id]]
    return sorted(found, key=lambda note: -shared[note.id])


def expressions(query: str) -> list[str]:
    """Full-text expressions, one for each word of the query that tells something.

    Of a query of function words alone, each counts.
    """
    told: dict[str, None] = {}
    silent: dict[str, None] = {}
    for match in _RUN.finditer(folded(query)):
        run = match.group()
        if match.lastgroup == "unspaced":
            pairs = [first + second for first, second in pairwise(run)] or [run]
            told.update(dict.fromkeys(f'"{_hex(pair)}"' for pair in pairs))
        elif run in function_words():
            silent[f'"{_hex(run)}"'] = None
        else:
            told[_expression(run[:_WORD_CHARS])] = None
    return list(told or silent)[:_MOST_TOKENS]


def _expression(word: str) -> str:
    if len(word) < _PREFIX_CHARS:
        return f'"{_hex(word)}"'
    # "tests" finds "test" too.
    stem = word[:-1] if word.endswith("s") and len(word) > _PREFIX_CHARS else word
    return f'"{_hex(stem)}"*'


@cache
def function_words() -> frozenset[str]:
    """Words of the known languages that tell nothing, as search words."""
    return frozenset(
        part
        for code in languages.CODES
        for word in languages.load(code).words("function_words")
        for part in search_words(word)
    )


def encoded(text: str) -> str:
    """The text's search words as the full-text index holds them."""
    return " ".join(map(_hex, search_words(text)))


def _hex(word: str) -> str:
    return "x" + word.encode("utf-8", "surrogatepass").hex()


def folded(text: str) -> str:
    """The text without regard to case, accents and width, so that two of them can be compared.

    >>> folded("Ｃafé"), folded("STRAẞE")
    ('cafe', 'strasse')
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold()).translate(_STROKES)
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", decomposed))
