"""One scope of an index: what should stand in its collection, what does, and the difference.

Decision: each process keeps in memory what it knows of the rows and writes only what differs.
Problem: reading or writing everything at the start of each run would cost seconds. Cost: when
several processes share a server, a row that one of them took out with older notes in mind is
missing until another one counts, which each does once a minute.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from . import chroma_rows as rows
from .chroma_rows import Place, Record
from .embedding import Model, Refused, Vector, Vectors
from .index import SyncReport
from .notes import Note

_log = logging.getLogger("langmem_credit")

# Notes embedded in one call, and written in one.
_EMBEDDED = 16
_WRITTEN = 64
_CHECK_SECONDS = 60.0
_READ_SECONDS = 30.0
# A query for everything reaches nearly every row of a sound collection; where rows were lost to
# two writers or to a file that is gone, half of them were missing.
_SOUND = 0.9
_SOUND_FROM, _SOUND_TO = 20, 20_000
# Rows of gone notes that a first query may be crowded by before a second one asks otherwise.
_SLACK = 16
_FEW_IDS = 500
_WHO = frozenset({"", "me", "session", "everyone"})


@dataclass(frozen=True, slots=True)
class _Found:
    """A collection as one client gave it."""

    client: Any
    epoch: int
    collection: Any
    record: Record | None


class Scope:
    """What a process knows of one collection.

    Attributes:
        name: the collection's.
        lock: held while it is brought up to date.
        token: of the notes that it was brought up to, or "".
        rows: note id to the row that stands in the collection for it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.token = ""
        self.rows: dict[str, str] = {}
        self._wanted: dict[str, Note] | None = None
        self._texts: dict[str, str] = {}
        self._strays: set[str] = set()
        self._refused: dict[str, tuple[str, str]] = {}
        self._epoch = -1
        self._checked_at = 0.0
        self._found: _Found | None = None
        self._record: Record | None = None
        self._counts = [0, 0]

    @property
    def not_indexed(self) -> dict[str, str]:
        """Note id to why it cannot be indexed."""
        wanted = self._wanted or {}
        return {
            note_id: reason
            for note_id, (text, reason) in list(self._refused.items())
            if note_id in wanted and text_of(wanted[note_id]) == text
        }

    @property
    def pending(self) -> int:
        """Notes that are not in the index yet and can be."""
        return len(self._to_add())

    def is_current(self, token: str, epoch: int) -> bool:
        """True when the last sync had these notes and nothing has happened since."""
        return bool(
            token
            and token == self.token
            and epoch == self._epoch
            and time.monotonic() - self._checked_at < _CHECK_SECONDS
        )

    def report(self, reason: str = "", *, counted: bool = True) -> SyncReport:
        """The last sync's figures, or, where it did nothing, what stands."""
        added, removed = self._counts if counted else (0, 0)
        return SyncReport(
            added=added,
            removed=removed,
            indexed=len(self.rows),
            pending=self.pending,
            not_indexed=MappingProxyType(self.not_indexed),
            reason=reason,
        )

    def want(self, notes: Iterable[Note]) -> None:
        """Says which notes should stand in the collection. Rows of others are strays from now."""
        wanted = {note.id: note for note in notes}
        self.token = ""
        self._counts = [0, 0]
        for note_id, row in list(self.rows.items()):
            note = wanted.get(note_id)
            if note is None or self._texts.get(note_id) != text_of(note):
                self._strays.add(row)
                del self.rows[note_id]
                self._texts.pop(note_id, None)
        self._wanted = wanted

    def bring_up(self, place: Place, vectors: Vectors, deadline: float | None) -> None:
        """Writes the difference.

        Raises:
            IndexTroubleError: the place failed; what was written until then is known.
            EmbedderDownError: the embedder failed; likewise.
        """
        self._look(place, vectors.known)
        self._take_out(place)
        if self._to_add():
            model = vectors.model()
            if self._record is None or not self._record.model.same_as(model):
                self._make(place, model)
            self._put_in(place, vectors, deadline)

    def distrust(self) -> None:
        """What is known of the rows may no longer hold."""
        self.token, self._epoch = "", -1

    def drop(self, place: Place) -> int:
        """Takes the collection away; gives how many rows were known in it."""
        count = len(self.rows) + len(self._strays)
        place.drop(self.name)
        self._forget()
        return count

    def nearest(
        self,
        client: Any,
        place: Place,
        vector: Vector,
        k: int,
        live: Collection[str] | None,
        model: Model,
    ) -> list[tuple[str, float]] | None:
        """(note id, cosine) of the nearest rows that stand for a note, nearest first.

        None where the collection is not the one that was synced, or is another model's: it has
        to be brought up first.
        """
        found = self._find(client, place)
        if found is None:
            return None if self._wanted else []
        if found.record is None or not found.record.model.same_as(model):
            return None
        count = k + _SLACK
        while True:
            near = rows.nearest(found.collection, vector, count)
            hits = self._living(near, live)
            if len(hits) >= k:
                return hits[:k]
            candidates = self._candidates(live)
            if candidates is not None and len(hits) == len(candidates):
                return hits
            if candidates is not None and len(candidates) <= _FEW_IDS:
                # Rows of gone notes crowd the graph, where even a query told the ids may not
                # reach all of them; so few are compared one by one.
                near = rows.compared(found.collection, vector, candidates)
                return self._living(near, live)[:k]
            if len(near) < count:
                return hits
            count *= 4

    def _living(
        self, near: list[tuple[str, float]], live: Collection[str] | None
    ) -> list[tuple[str, float]]:
        hits: dict[str, float] = {}
        for row, score in near:
            note_id = rows.note_id_of(row)
            if not note_id or (live is not None and note_id not in live):
                continue
            # Before the first sync of this process nothing is known of the wording.
            if self._wanted is None or self.rows.get(note_id) == row:
                hits.setdefault(note_id, score)
        return list(hits.items())

    def _candidates(self, live: Collection[str] | None) -> list[str] | None:
        if self._wanted is None:
            return None
        if live is None:
            return list(self.rows.values())
        return [self.rows[note_id] for note_id in live if note_id in self.rows]

    def _look(self, place: Place, model: Model | None) -> None:
        """Reads what stands in the collection, where that may not be known."""
        due = time.monotonic() - self._checked_at >= _CHECK_SECONDS
        if due or self._epoch != place.epoch:
            place.call(self.name, lambda client: self._read(client, place), seconds=_READ_SECONDS)
        if self._record is not None and model is not None and not self._record.model.same_as(model):
            self._make(place, model)

    def _read(self, client: Any, place: Place) -> None:
        found = self._find(client, place)
        if found is None:
            self._forget()
        elif self._epoch != place.epoch or (
            found.collection.count() != len(self.rows) + len(self._strays)
        ):
            there = rows.rows_of(found.collection)
            if self._is_sound(found, len(there), place):
                self._record = found.record
                self._sort(there, frozenset(rows.half_removed(found.collection)))
            else:
                self._forget()
        self._epoch = place.epoch
        self._checked_at = time.monotonic()

    def _is_sound(self, found: _Found, count: int, place: Place) -> bool:
        """False for a collection that is not to be trusted; it is made anew when it is needed."""
        record = found.record
        if record is None or (record.format, record.chroma) != (rows.FORMAT, place.release):
            place.tell(
                "A scope's vectors are made again: they were written by "
                + (f"Chroma {record.chroma}." if record else "something else.")
            )
            return False
        if not _SOUND_FROM <= count <= _SOUND_TO:
            return True
        import numpy as np

        any_direction: Vector = np.full(
            record.model.dimension, record.model.dimension**-0.5, np.float32
        )
        reached = len(rows.nearest(found.collection, any_direction, count))
        if reached < _SOUND * count:
            place.tell(f"A scope's vectors are made again: of {count} only {reached} were found.")
            return False
        return True

    def _sort(self, there: Iterable[str], going: Collection[str]) -> None:
        self.rows, self._texts, self._strays = {}, {}, set()
        wanted = self._wanted or {}
        for row in there:
            note_id = rows.note_id_of(row)
            note = wanted.get(note_id)
            if note is not None and row == rows.row_id(note_id, text_of(note)) and row not in going:
                self.rows[note_id] = row
                self._texts[note_id] = text_of(note)
            else:
                self._strays.add(row)

    def _find(self, client: Any, place: Place) -> _Found | None:
        known = self._found
        if known is not None and known.client is client and known.epoch == place.epoch:
            return known
        collection = rows.find(client, self.name)
        if collection is None:
            self._found = None
            return None
        self._found = _Found(client, place.epoch, collection, rows.record_of(collection.metadata))
        return self._found

    def _forget(self) -> None:
        self.rows, self._texts, self._strays = {}, {}, set()
        self._record = None
        self._found = None

    def _make(self, place: Place, model: Model) -> None:
        """An empty collection for this model, in place of any other."""
        if self._record is not None:
            was = self._record.model
            place.tell(
                f"A scope's vectors are made again: they were made by {was.name} "
                f"({was.dimension} numbers), and the embedder is {model.name} ({model.dimension})."
            )
        self._forget()
        record = Record(model, place.release)
        place.make(self.name, record)
        self._record = record
        # What stands there is known: nothing.
        self._epoch, self._checked_at = place.epoch, time.monotonic()

    def _take_out(self, place: Place) -> None:
        for batch in rows.batches(sorted(self._strays)):
            place.remove(self.name, batch)
            self._strays.difference_update(batch)
            self._counts[1] += len(batch)

    def _to_add(self) -> list[Note]:
        return [
            note
            for note_id, note in (self._wanted or {}).items()
            if note_id not in self.rows
            and (note_id not in self._refused or self._refused[note_id][0] != text_of(note))
        ]

    def _put_in(self, place: Place, vectors: Vectors, deadline: float | None) -> None:
        # The newest first: they are asked for most, and a budget may end before the oldest.
        todo = sorted(self._to_add(), key=lambda note: (note.at, note.id), reverse=True)
        for begin in range(0, len(todo), _WRITTEN):
            notes = todo[begin : begin + _WRITTEN]
            if deadline is not None and time.monotonic() >= deadline:
                return
            made: list[Vector | Refused] = []
            for first in range(0, len(notes), _EMBEDDED):
                made += vectors.of_texts([text_of(n) for n in notes[first : first + _EMBEDDED]])
            self._write(place, notes, made)

    def _write(self, place: Place, notes: list[Note], made: list[Vector | Refused]) -> None:
        put: dict[str, tuple[str, str, Vector]] = {}
        for note, vector in zip(notes, made, strict=True):
            text = text_of(note)
            if isinstance(vector, Refused):
                self._refused[note.id] = (text, vector.reason)
                _log.warning("index: note %s is not indexed: %s", note.id, vector.reason)
            else:
                put[note.id] = (rows.row_id(note.id, text), text, vector)
        if not put:
            return
        ids = [row for row, _, _ in put.values()]
        numbers = [vector for _, _, vector in put.values()]
        place.call(self.name, lambda client: self._add(client, place, ids, numbers), writes=True)
        for note_id, (row, text, _) in put.items():
            self.rows[note_id] = row
            self._texts[note_id] = text
            self._refused.pop(note_id, None)
        self._counts[0] += len(put)

    def _add(self, client: Any, place: Place, ids: list[str], vectors: list[Vector]) -> None:
        found = self._find(client, place)
        record = found.record if found is not None else None
        if (
            found is None
            or record is None
            or self._record is None
            or (not record.model.same_as(self._record.model))
        ):
            # Another process made it anew meanwhile: begin again with what stands there.
            self._epoch = -1
            raise rows.IndexTroubleError("The collection changed meanwhile.", retry=True)
        rows.add(found.collection, ids, vectors)


def text_of(note: Note) -> str:
    """What is embedded of a note: its text, and whom it is about where that is a name.

    >>> text_of(Note("k3m9xz", "Prefers mornings", "fact", "active", "", about="Lin"))
    'Lin: Prefers mornings'
    """
    return note.text if note.about in _WHO else f"{note.about}: {note.text}"
