"""A scope's ledger in a LangGraph store: one key for each event, never written again.

What stands under a scope's labels:

- `events/<bucket>`: the events, spread over buckets by their ids, one key each. A key names the
  event's content too, so that two versions of one event stand side by side and merging decides.
- `tokens`: a random text for each bucket and one for the whole scope. Whoever writes an event
  changes both tokens in the same batch, after the event. A token names the events written last,
  so that a reader notices a listing that lags behind.

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
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, SearchItem, SearchOp

from .asking import Steps
from .forks import Locked
from .growing import GrowingLedger
from .ledger import Event, received

Labels = tuple[str, ...]
Place = tuple[Labels, str]
Row = tuple[Event, Place]


class Mark(NamedTuple):
    """A token, and the keys of events that whoever wrote it saw in its bucket."""

    token: str = ""
    keys: frozenset[str] = frozenset()


_UNMARKED = Mark()

BUCKETS = 32
_SCOPE = "scope"
_PAGE = 2_000
_ROUNDS = 5
# SQLite takes 32,766 variables in one statement, five of them for each row.
_MOST_PUTS = 500
# Of one bucket that a token names: enough for what one run writes.
_MOST_KEYS = 20
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


class SnapshotCache(Locked):
    """The last snapshots of each store's scopes, for all threads of this process."""

    def __init__(self, most_events: int = 200_000) -> None:
        self._most_events = most_events
        super().__init__()
        self._stores: WeakKeyDictionary[BaseStore, OrderedDict[Labels, Snapshot]] = (
            WeakKeyDictionary()
        )
        self._held: WeakKeyDictionary[BaseStore, int] = WeakKeyDictionary()

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
            old = scopes.pop(labels, None)
            scopes[labels] = snapshot
            held = self._held.get(store, 0) + _cost(snapshot) - (_cost(old) if old else 0)
            while held > self._most_events and len(scopes) > 1:
                _, dropped = scopes.popitem(last=False)
                held -= _cost(dropped)
            self._held[store] = held

    def clear(self) -> None:
        """Forgets everything, as a new process would know it."""
        with self._lock:
            self._stores.clear()
            self._held.clear()


CACHE = SnapshotCache()


def _cost(snapshot: Snapshot) -> int:
    """In events; a scope of a few notes costs more than its notes."""
    return snapshot.size + 10


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

        An empty answer is the only proof that all is kept: the events are there, and their tokens
        tell a reader. Where that is not so at once, the events are listed as a reader lists them,
        and the tokens are written again. When the store fails in the middle, what it holds
        afterwards counts.
        """
        # As JSON has it, so that what comes back can be compared.
        rows = [(event, self._place(event)) for event in map(_as_json, events)]
        if not rows:
            return []
        failed: Exception | None = None
        marks: dict[str, str] = {}
        for start in range(0, len(rows), _MOST_PUTS):
            part = rows[start : start + _MOST_PUTS]
            # Copies, since a store in memory hands out the very objects that it was given.
            puts = [_put(labels, key, _as_json(event)) for event, (labels, key) in part]
            try:
                yield puts + self._marked(part, marks)
            except Exception as error:  # noqa: BLE001 - the store itself is asked what it holds
                failed = error
                break
        if failed is None and (yield from self._shown_at_once(rows, marks)):
            return []
        unseen = yield from self._unseen(rows, marks)
        if unseen and failed is not None:
            raise failed
        return unseen

    def _shown_at_once(self, rows: Sequence[Row], marks: Mapping[str, str]) -> Steps[bool]:
        """True where the store holds it all, tokens too: a reader sees by them what to expect."""
        for start in range(0, len(rows), _MOST_PUTS):
            part = rows[start : start + _MOST_PUTS]
            places = [place for _, place in part] + [(self._tokens, name) for name in marks]
            items = yield [_get(labels, key) for labels, key in places]
            for (event, _), item in zip(part, items, strict=False):
                if item is None or item.value != event:
                    return False
            if [*map(_token_of, items[len(part) :])] != [*marks.values()]:
                return False
        return True

    def _unseen(self, rows: Sequence[Row], marks: dict[str, str]) -> Steps[list[Event]]:
        """Those of the events that a reader would not see, after some tries to show them."""
        unseen = list(rows)
        before: Mapping[str, Mark] = {}
        stale: set[str] = set()
        for turn in range(_ROUNDS):
            tokens = yield from self._read_tokens()
            held = yield from self._held(rows)
            # A token shows only what could be read before it was written.
            late = {labels[-1] for _, (labels, _) in unseen} if turn else set()
            stale = {
                name
                for name, token in marks.items()
                if tokens.get(name, _UNMARKED).token != token
                and (not turn or tokens.get(name, _UNMARKED).token == before[name].token)
            }
            unseen = [row for row in rows if held.get(row[1]) != row[0]]
            if not unseen and not late and not stale:
                return []
            before = {name: tokens.get(name, _UNMARKED) for name in marks}
            # Only what is there: a token must not tell of what never came.
            yield self._marked([row for row in rows if row not in unseen], marks)
        hidden = {labels[-1] for _, (labels, _) in unseen} | stale
        return [event for event, (labels, _) in rows if {labels[-1], _SCOPE} & hidden]

    def _held(self, rows: Sequence[Row]) -> Steps[dict[Place, Any]]:
        """What the store lists where these events should be."""
        buckets = sorted({labels for _, (labels, _) in rows})
        found: dict[Place, Any] = {}
        for prefix in buckets if len(buckets) <= _MOST_BUCKETS else [self._events]:
            for item in (yield from listed(prefix)):
                found[tuple(item.namespace), item.key] = item.value
        return found

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

    def _marked(self, rows: Sequence[Row], marks: dict[str, str]) -> list[Op]:
        """New tokens for what the rows change, noted down in `marks`, and how to write them."""
        keys: dict[str, list[str]] = {_SCOPE: []}
        for _, (labels, key) in rows:
            keys.setdefault(labels[-1], []).append(key)
        # In one order for all writers: PostgreSQL locks rows as they come.
        for name in sorted(keys):
            marks[name] = secrets.token_hex(8)
        return [
            _put(self._tokens, name, {"token": marks[name], "keys": keys[name][-_MOST_KEYS:]})
            for name in sorted(keys)
        ]

    def _read_all(self) -> Steps[Snapshot]:
        tokens = yield from self._read_tokens()
        items = yield from listed(self._events)
        found: dict[str, list[SearchItem]] = {name: [] for name in tokens if name != _SCOPE}
        for item in items:
            bucket = self._bucket_in(item)
            if bucket:
                found.setdefault(bucket, []).append(item)
        return self._snapshot(tokens, found, {}, None)

    def _read_changed(self, known: Snapshot) -> Steps[Snapshot]:
        tokens = yield from self._read_tokens()
        changed = [
            bucket
            for bucket, mark in tokens.items()
            if bucket != _SCOPE and mark.token != known.buckets.get(bucket, ("",))[0]
        ]
        if len(changed) > _MOST_BUCKETS or known.buckets.keys() - tokens.keys():
            return replace((yield from self._read_all()), before=known.ledger)
        found: dict[str, list[SearchItem]] = {}
        for bucket in changed:
            items = yield from listed((*self._events, bucket))
            found[bucket] = [item for item in items if self._bucket_in(item) == bucket]
        return self._snapshot(tokens, found, known.buckets, known.ledger)

    def _snapshot(
        self,
        tokens: Mapping[str, Mark],
        found: Mapping[str, Sequence[SearchItem]],
        known: Mapping[str, tuple[str, list[Event]]],
        before: GrowingLedger | None,
    ) -> Snapshot:
        """What was known and what was found; what a listing lags behind of is read again."""
        buckets, scope = dict(known), tokens.get(_SCOPE, _UNMARKED).token
        for bucket, items in found.items():
            mark = tokens.get(bucket, _UNMARKED)
            whole = mark.keys <= {item.key for item in items}
            buckets[bucket] = (mark.token if whole else "", [received(one.value) for one in items])
            scope = scope if whole else ""
        return Snapshot(scope, buckets, before)

    def _read_tokens(self) -> Steps[dict[str, Mark]]:
        items = yield from listed(self._tokens)
        return {
            item.key: Mark(_token_of(item), _keys_of(item))
            for item in items
            if tuple(item.namespace) == self._tokens
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
            known = len(seen)
            for item in page:
                key = (tuple(item.namespace), item.key)
                seen.add(key)
                found[key] = item
            offset += len(page)
            # A store may hand out any number less than it was asked for.
            if len(seen) == known:
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


def _keys_of(item: Item) -> frozenset[str]:
    """Keys of the events that were written last before the token."""
    keys = item.value.get("keys")
    listed = keys if isinstance(keys, list) else []
    return frozenset(key for key in listed if isinstance(key, str))


def _get(labels: Labels, key: str) -> GetOp:
    return GetOp(labels, key, refresh_ttl=False)


def _put(labels: Labels, key: str, value: dict[str, Any]) -> PutOp:
    return PutOp(labels, key, value, index=False, ttl=None)
