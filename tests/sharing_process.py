"""One of several processes that write into one scope: `python -m tests.sharing_process ORDER`.

Its order is JSON, as its argument. It is an agent with real runs, or, for many writes, the
ledger alone. Prints a line for each write once it was told that it is saved, so that whoever kills
this process knows what it was promised.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langmem_credit.asking import run
from langmem_credit.books import Book, Opening, Where, Writing, do
from langmem_credit.ledger import next_at, withdrawn
from langmem_credit.notes import utc_now
from langmem_credit.scopes import RunValues, Scope
from langmem_credit.shared_ledger import SharedLedger, SnapshotCache

from . import store_support
from .notebook_support import said

USER = Scope("user", ("memories", "{user_id}"))
LABELS = ("memories", "s-ann", "user")


def main() -> None:
    order = json.loads(sys.argv[1])
    with opened(order["store"]) as store:
        if order["kind"] == "agent":
            talk(store, order)
        else:
            write(store, order)


@contextmanager
def opened(where: dict[str, str]) -> Iterator[Any]:
    if where["kind"] == "sqlite":
        with store_support.sqlite_file(Path(where["at"])) as backend:
            yield backend.store
    else:
        with store_support.postgres(where["at"]) as backend:
            yield backend.store


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def talk(store: Any, order: dict[str, Any]) -> None:
    """Runs of an agent: notes, and now and then one is forgotten again."""
    # Not for those that write alone, which it would make slow to start.
    from langmem_credit.chroma_index import ChromaIndex

    from .index_support import BagOfWords
    from .sharing_support import Office

    folder = order.get("index")
    index = None if folder is None else ChromaIndex(folder, BagOfWords())
    office = Office(USER, store=store, index=index)
    name = order["name"]
    for number in range(order["count"]):
        person = office.person(f"{name}-{number}", user_id="ann")
        word = f"{name}n{number}"
        answer = office.keep(person, f"My word number {number} is {word}")
        tell(word=word, saved=answer.startswith("Remembered as "), answer=answer)
        if order.get("forget") and number % order["forget"] == 0:
            answer = office.forget(person, f"Forget the word {word}", word)
            tell(word=word, forgotten=answer.startswith("Forgotten: "), answer=answer)


def write(store: Any, order: dict[str, Any]) -> None:
    """Notes written as the tools write them, without a graph around."""
    name = order["name"]
    where = Where(store, RunValues(configurable={"user_id": "ann"}))
    for number in range(order["start"], order["start"] + order["count"]):
        (book,) = do(_open(where))
        word = f"{name}n{number}"
        at = next_at(utc_now(), [{"id": "x", "at": book.notebook.last_at}])
        event = {**said(f"Word {word}", call=word, heard_at=None), "at": at}
        problem = do(_write(book, [event]))
        tell(word=word, saved=not problem, event=event["id"])
        if order.get("forget") and number % order["forget"] == 0:
            gone = withdrawn(event["note"], at=next_at(utc_now(), [event]), call=f"forget {word}")
            tell(word=word, forgotten=not do(_write(book, [gone])))


def _open(where: Where) -> Any:
    return (yield Opening([USER], where))


def _write(book: Book, events: list[Any]) -> Any:
    return (yield Writing(book, events))


def stored(store: Any) -> list[Any]:
    """What the scope holds, read anew."""
    ledger = SharedLedger(store, LABELS, SnapshotCache())
    return list(run("user", store, ledger.read()).events)


if __name__ == "__main__":
    main()
