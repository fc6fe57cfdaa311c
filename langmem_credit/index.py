"""What an index of notes by meaning offers, whatever stands behind it.

An index is a hint. It holds ids and vectors, no words; the notes that a caller passes decide what
may be found, so a row that outlived its note is never an answer. Whatever fails behind it is told
by a report or a status and never raised: recall goes on by words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol, runtime_checkable

from .notes import Note

ScopeKey = str | tuple[str, ...]
State = Literal["ready", "unused", "words only"]

NO_EMBEDDER = "No embedder is set: recall is by words."


@dataclass(frozen=True, slots=True)
class Hit:
    """One note near the query.

    Attributes:
        note_id: the note's id.
        score: cosine of the angle between query and note, [-1, 1]; 1 is the same direction.
    """

    note_id: str
    score: float


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What bringing an index up to date did.

    Attributes:
        added: notes indexed anew or again.
        removed: rows taken out, of notes that are gone and rows that belonged to none.
        indexed: notes that stand in the index now.
        pending: notes that are not in the index yet; the next sync goes on with them.
        not_indexed: id of each note that cannot be indexed, to the reason; words still find them.
        reason: why the index could not be brought up to date; "" when it was.
    """

    added: int = 0
    removed: int = 0
    indexed: int = 0
    pending: int = 0
    not_indexed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    reason: str = ""

    @property
    def done(self) -> bool:
        """True when every note that can be indexed is, and no other row is left."""
        return not self.reason and not self.pending


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How an index is, for an operator.

    Attributes:
        state: "ready"; "unused" before its first use; "words only" while it answers nothing.
        reason: why it answers nothing, with the next step; "" when it is ready.
        place: the folder, or the server's address without what is secret in it.
        model: name of the embedder's model; "" before its first use.
        dimension: numbers in a vector; 0 before its first use.
        versions: release of each part that the records name.
        scopes: scopes that this process has used.
        indexed: notes that stand in them.
        not_indexed: id of each note that cannot be indexed, to the reason.
        notice: what happened last that an operator should know, such as a rebuilding.
    """

    state: State
    reason: str = ""
    place: str = ""
    model: str = ""
    dimension: int = 0
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    scopes: int = 0
    indexed: int = 0
    not_indexed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notice: str = ""


@runtime_checkable
class Index(Protocol):
    """Finds notes by meaning. Every method blocks for a bounded time and never raises for a fault.

    A scope key names whose notes: the same key always means the same notes, and no search ever
    leaves its scope.
    """

    def sync(
        self,
        scope_key: ScopeKey,
        notes: Iterable[Note],
        *,
        token: str = "",
        budget_s: float | None = None,
    ) -> SyncReport:
        """Makes the scope's rows those of the notes.

        Args:
            scope_key: whose notes.
            notes: all that recall may show; a row of any other note goes.
            token: names this state of the notes. Where the last sync had the same one and left
                nothing undone, `notes` is not even looked at.
            budget_s: seconds after which no further batch is begun; the newest notes come first,
                the rest is `pending`.
        """
        ...

    def search(
        self,
        scope_key: ScopeKey,
        query: str,
        k: int,
        *,
        live: Collection[str] | None = None,
    ) -> list[Hit]:
        """The k notes nearest to the query, nearest first; [] when the index cannot answer.

        Args:
            scope_key: whose notes.
            query: words.
            k: how many.
            live: ids of the notes that may be found; rows of others do not count towards k.
                None means those of the last sync.
        """
        ...

    def drop(self, scope_key: ScopeKey) -> SyncReport:
        """Takes the whole scope out."""
        ...

    def status(self) -> IndexStatus:
        """How it is. Starts nothing and waits for nothing."""
        ...

    def close(self) -> None:
        """Lets go of files, connections and threads; it may be used again."""
        ...


class WordsOnly:
    """The index of a memory that has none: it takes everything and finds nothing.

    >>> WordsOnly().search("ann", "dark mode", 5)
    []
    """

    def __init__(self, reason: str = NO_EMBEDDER) -> None:
        self._reason = reason

    def sync(
        self,
        scope_key: ScopeKey,
        notes: Iterable[Note],
        *,
        token: str = "",
        budget_s: float | None = None,
    ) -> SyncReport:
        """A report that says why nothing was done."""
        return SyncReport(reason=self._reason)

    def search(
        self,
        scope_key: ScopeKey,
        query: str,
        k: int,
        *,
        live: Collection[str] | None = None,
    ) -> list[Hit]:
        """Nothing."""
        return []

    def drop(self, scope_key: ScopeKey) -> SyncReport:
        """A report that nothing was there."""
        return SyncReport()

    def status(self) -> IndexStatus:
        """Words only, and why."""
        return IndexStatus("words only", reason=self._reason)

    def close(self) -> None:
        """Nothing is open."""
