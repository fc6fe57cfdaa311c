"""Notes that share most of their words with another one: named to the model, never merged."""

from __future__ import annotations

from functools import lru_cache

from .notebook import Notebook
from .notes import Note
from .ranking import search_words

# At this share "The NAS is a Synology" is like "The NAS is a QNAP", and "Use tabs in Go" like
# "Use tabs in Python"; what shares less is rarely about the same thing.
_SHARE = 0.6
_LEAST = 2
_MOST = 3


def similar_notes(note: Note, notebook: Notebook) -> list[Note]:
    """At most three active notes of the same speaker, the most alike first, ties newest first."""
    wanted = _words(note.text)
    if len(wanted) < _LEAST:
        return []
    found: list[tuple[float, str, Note]] = []
    for other in notebook.active:
        if other.id == note.id or other.speaker != note.speaker:
            continue
        words = _words(other.text)
        shared = len(wanted & words)
        if shared >= _LEAST and shared >= _SHARE * len(wanted | words):
            found.append((shared / len(wanted | words), other.at, other))
    found.sort(key=lambda one: one[:2], reverse=True)
    return [other for _, _, other in found[:_MOST]]


@lru_cache(maxsize=32_768)
def _words(text: str) -> frozenset[str]:
    return frozenset(search_words(text))
