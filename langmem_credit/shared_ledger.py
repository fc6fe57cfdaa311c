"""A scope's ledger in a LangGraph store: one key for each event, never written again.

What stands under a scope's labels:

- `events/<bucket>`: the events, spread over buckets by their ids, one key each. A key names the
  event's content too, so that two versions of one event stand side by side and merging decides.
- `tokens`: a random text for each bucket and one for the whole scope. Whoever writes an event
  changes both tokens in the same batch, after the event.

So a reader who knows the scope's token needs one `get` to learn that nothing changed, and
otherwise reads the buckets whose tokens changed. Tokens are read before the events that they stand
for: a write in between changes a token that the reader does not have, and is found the next time.

Nothing here waits for a store: `asking.py` runs the steps.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast
from weakref import WeakKeyDictionary

from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, SearchItem, SearchOp

from .asking import Steps
from .growing import GrowingLedger
from .ledger import Event

Labels = tuple[str, ...]

BUCKETS = 32
_SCOPE = "scope"
_PAGE = 2_000
# A store behind a server may hand out less at once than it was asked for.
_LEAST_PAGE = 100
_ROUNDS = 5
# SQLite takes 32,766 variables in one statement, five of them for each row.
_MOST_PUTS = 500
# Past so many changed buckets one listing of the whole scope is quicker.
_MOST_BUCKETS = 8

_log = logging.getLogger("langmem_credit")


@dataclass(frozen=True)
class Snapshot:
    """A scope's ledger as it was read.

    Attributes:
        token: of the scope when it was read, or "" where nothing was ever written.
        buckets: token and events of each bucket.
        before: the ledger as an earlier snapshot had it, to grow it from, or None.
    """

    token: str = ""
    buckets: Mapping[str, tuple[str, list[Event]]] = field(default_factory=dict)
    before: GrowingLedger | None = None

    @cached_property
    def ledger(self) -> GrowingLedger:
        """The events, in order, and their fold."""
        events = [event for _, bucket in self.buckets.values() for event in bucket]
        if self.before is not None and self.before.by_id.keys() <= {one["id"] for one in events}:
            return self.before.grown(events)
        return GrowingLedger.of(events)

    @property
    def events(self) -> list[Event]:
        """All events, in order. Not to be changed."""
        return self.ledger.events

    @property
    def size(self) -> int:
        """How many events it holds."""
        return sum(len(events) for _, events in self.buckets.values())


class SnapshotCache:
    """The last snapshots of each store's scopes, for all threads of this process."""

    def __init__(self, most_events: int = 200_000) -> None:
        self._most_events = most_events
        self._lock = threading.Lock()
        self._stores: WeakKeyDictionary[BaseStore, OrderedDict[Labels, Snapshot]] = (
            WeakKeyDictionary()
        )

    def get(self, store: BaseStore, labels: Labels) -> Snapshot | None:
        """The snapshot kept of this scope, or None."""
        with self._lock:
            scopes = self._stores.get(store)
            if scopes is None or labels not in scopes:
                return None
            scopes.move_to_end(labels)
            return scopes[labels]

    def put(self, store: BaseStore, labels: Labels, snapshot: Snapshot) -> None:
        """Keeps the snapshot, and drops the store's least used ones when it holds too much."""
        with self._lock:
            scopes = self._stores.setdefault(store, OrderedDict())
            scopes[labels] = snapshot
            scopes.move_to_end(labels)
            # A scope of a few notes costs more than its notes.
            held = sum(one.size + 10 for one in scopes.values())
            while held > self._most_events and len(scopes) > 1:
                _, dropped = scopes.popitem(last=False)
                held -= dropped.size + 10

    def clear(self) -> None:
        """Forgets everything, as a new process would know it."""
        with self._lock:
            self._stores.clear()


CACHE = SnapshotCache()


@dataclass(frozen=True, slots=True, eq=False)
class SharedLedger:
    """The ledger of one scope.

    Attributes:
        store: of the graph.
        labels: of the scope, filled in for the run.
        cache: of snapshots.
    """

    store: BaseStore
    labels: Labels
    cache: SnapshotCache = CACHE

    def read(self) -> Steps[Snapshot]:
        """The ledger as it stands; one `get` when nothing changed since it was last read."""
        known = self.cache.get(self.store, self.labels)
        if known is None:
            snapshot = yield from self._read_all()
        else:
            (item,) = yield [_get(self._tokens, _SCOPE)]
            if _token_of(item) == known.token:
                return known
            snapshot = yield from self._read_changed(known)
        self.cache.put(self.store, self.labels, snapshot)
        return snapshot

    def append(self, events: Iterable[Event]) -> Steps[list[Event]]:
        """Writes the events and reads them back; those that the store does not hold are given.

        An empty answer is the only proof that all is kept. When the store fails in the middle,
        what it holds afterwards counts.
        """
        # As JSON has it, so that what comes back can be compared.
        rows = [(event, self._place(event)) for event in map(_as_json, events)]
        failed: Exception | None = None
        for start in range(0, len(rows), _MOST_PUTS):
            try:
                yield self._puts(rows[start : start + _MOST_PUTS])
            except Exception as error:  # noqa: BLE001 - the store itself is asked what it holds
                failed = error
                break
        missing: list[Event] = []
        for start in range(0, len(rows), _MOST_PUTS):
            part = rows[start : start + _MOST_PUTS]
            items = yield [_get(labels, key) for _, (labels, key) in part]
            missing += [
                event
                for (event, _), item in zip(part, items, strict=True)
                if item is None or item.value != event
            ]
        if missing and failed is not None:
            raise failed
        return missing

    @property
    def _tokens(self) -> Labels:
        return (*self.labels, "tokens")

    @property
    def _events(self) -> Labels:
        return (*self.labels, "events")

    def _place(self, event: Event) -> tuple[Labels, str]:
        content = json.dumps(event, sort_keys=True).encode()
        key = f"{event['id']}-{hashlib.sha256(content).hexdigest()[:8]}"
        return (*self._events, _bucket_of(event["id"])), key

    def _puts(self, rows: Sequence[tuple[Event, tuple[Labels, str]]]) -> list[Op]:
        # Copies, since a store in memory hands out the very objects that it was given.
        puts: list[Op] = [_put(labels, key, _as_json(event)) for event, (labels, key) in rows]
        # In one order for all writers: PostgreSQL locks rows as they come.
        changed = sorted({labels[-1] for _, (labels, _) in rows})
        return puts + [
            _put(self._tokens, name, {"token": secrets.token_hex(8)}) for name in (*changed, _SCOPE)
        ]

    def _read_all(self) -> Steps[Snapshot]:
        tokens = yield from self._read_tokens()
        items = yield from listed(self._events)
        found: dict[str, list[Event]] = {bucket: [] for bucket in tokens if bucket != _SCOPE}
        for item in items:
            bucket = self._bucket_in(item)
            if bucket:
                found.setdefault(bucket, []).append(dict(item.value))
        return Snapshot(
            tokens.get(_SCOPE, ""),
            {bucket: (tokens.get(bucket, ""), events) for bucket, events in found.items()},
        )

    def _read_changed(self, known: Snapshot) -> Steps[Snapshot]:
        tokens = yield from self._read_tokens()
        scope = tokens.pop(_SCOPE, "")
        changed = [
            bucket
            for bucket, token in tokens.items()
            if token != known.buckets.get(bucket, ("",))[0]
        ]
        if len(changed) > _MOST_BUCKETS or known.buckets.keys() - tokens.keys():
            return replace((yield from self._read_all()), before=known.ledger)
        buckets = dict(known.buckets)
        for bucket in changed:
            items = yield from listed((*self._events, bucket))
            events = [dict(item.value) for item in items if self._bucket_in(item) == bucket]
            buckets[bucket] = (tokens[bucket], events)
        return Snapshot(scope, buckets, known.ledger)

    def _read_tokens(self) -> Steps[dict[str, str]]:
        items = yield from listed(self._tokens)
        return {
            item.key: _token_of(item) for item in items if tuple(item.namespace) == self._tokens
        }

    def _bucket_in(self, item: SearchItem) -> str:
        """The bucket of an event of this very scope, or "".

        Whatever a store takes for the beginning of a label, another scope's event is never read.
        """
        labels = tuple(item.namespace)
        if labels[:-1] != self._events or not isinstance(item.value, Mapping):
            return ""
        event_id = item.value.get("id")
        if not isinstance(event_id, str) or _bucket_of(event_id) != labels[-1]:
            return ""
        return labels[-1]


def listed(prefix: Labels) -> Steps[list[SearchItem]]:
    """Everything under the labels.

    Stores order by time alone, and rows of one moment may change places between two pages, as rows
    that were just written push others along. A row can only be missed where another came twice;
    then it is all read again, in larger pages.
    """
    found: dict[tuple[Labels, str], SearchItem] = {}
    size = _PAGE
    for _ in range(_ROUNDS):
        seen: set[tuple[Labels, str]] = set()
        offset = 0
        while True:
            (page,) = yield [SearchOp(prefix, limit=size, offset=offset, refresh_ttl=False)]
            for item in page:
                key = (tuple(item.namespace), item.key)
                seen.add(key)
                found[key] = item
            offset += len(page)
            if len(page) < min(size, _LEAST_PAGE):
                break
        if len(seen) == offset:
            break
        size = 2 * max(size, offset)
    else:
        _log.warning("a scope was written to faster than it could be read; reading on later")
    return list(found.values())


def _bucket_of(event_id: str) -> str:
    digest = hashlib.sha256(event_id.encode("utf-8", "surrogatepass")).digest()
    return f"{digest[0] % BUCKETS:02d}"


def _as_json(event: Event) -> Event:
    return cast("Event", json.loads(json.dumps(event)))


def _token_of(item: Item | None) -> str:
    token = item.value.get("token") if item is not None else None
    return token if isinstance(token, str) else ""


def _get(labels: Labels, key: str) -> GetOp:
    return GetOp(labels, key, refresh_ttl=False)


def _put(labels: Labels, key: str, value: dict[str, Any]) -> PutOp:
    return PutOp(labels, key, value, index=False, ttl=None)
