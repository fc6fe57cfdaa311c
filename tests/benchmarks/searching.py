"""What a search over all sessions costs: `python -m tests.benchmarks.searching [SESSIONS]`.

A thousand sessions of 40 messages, on a SQLite file and on a PostgreSQL server, each with the
register in a store of the same kind. The query stands in one title, and in one conversation of
every hundred. Measured are the time to all title hits, to the whole answer in a process that has
read nothing (cold) and in one that has (warm), and the warm answer after one session went on. On
the side, what the same question costs with the plain checkpointer API: the newest checkpoint of
each thread by `get_tuple`, its texts folded and compared in the same way; and every checkpoint of
the file by `list`.

Exit status 1 when an aim is missed.
"""

from __future__ import annotations

import argparse
import gc
import random
import sqlite3
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from langmem_credit import CreditedMemory, Scope
from langmem_credit.matching import fold_text, query_words
from langmem_credit.testing import ScriptedChatModel
from langmem_credit.transcripts import CACHE, MOST_CHARS
from tests import store_support
from tests.benchmarks.reporting import machine, spread, table, versions

TITLES_AIM_MS = 50.0
WARM_AIM = 1 / 5
MESSAGES = 40
CHARACTERS = 200
QUERY = "purple submarine"
ONE_IN = 100
ROUNDS = 3
SETTLED_SECONDS = 20
_TEXT = (
    "report table region figure quarter answer server deploy branch review meeting budget train "
    "hotel flight summary letter draft market garden kitchen window number method result chapter"
)
_WORDS = _TEXT.split()
ANN = {"configurable": {"user_id": "ann"}}


class Sessions:
    """The sessions of one database."""

    def __init__(self, saver: Any, store: Any) -> None:
        self.memory = CreditedMemory(scopes=[Scope("user", ("memories", "{user_id}"))])
        self.saver = saver
        self.agent = create_agent(
            ScriptedChatModel(),
            middleware=[self.memory.middleware()],
            checkpointer=saver,
            store=store,
        )

    def fill(self, sessions: int) -> None:
        """Runs each session once and puts its conversation before what was said in the run."""
        luck = random.Random(7)
        for number in range(sessions):
            config = {"configurable": {"thread_id": f"s{number:05}", "user_id": "ann"}}
            title = "The purple submarine" if number == 3 else f"Plan number {number}"
            self.agent.invoke({"messages": [("user", title)]}, config)
            more = list(conversation(luck, found=number % ONE_IN == 1))
            self.agent.update_state(config, {"messages": more})

    def go_on(self, number: int) -> None:
        """One more run of a session."""
        config = {"configurable": {"thread_id": f"s{number:05}", "user_id": "ann"}}
        self.agent.invoke({"messages": [("user", "one more thing")]}, config)

    def search(self) -> tuple[float, float, list[str]]:
        """Seconds to all title hits and to the whole answer, and the sessions found."""
        start = time.perf_counter()
        search = self.memory.search_sessions(self.agent, ANN, QUERY)
        search.step()
        titles = time.perf_counter() - start
        last = list(search)[-1]
        return titles, time.perf_counter() - start, [hit.session.id for hit in last.hits]

    def plain(self, sessions: int) -> tuple[float, list[str]]:
        """Seconds for the same with `get_tuple` of each thread, and the sessions found."""
        words = query_words(QUERY)
        start = time.perf_counter()
        found = []
        for number in range(sessions - 1, -1, -1):
            config = {"configurable": {"thread_id": f"s{number:05}"}}
            checkpoint = self.saver.get_tuple(config).checkpoint
            if matches(words, checkpoint["channel_values"]["messages"]):
                found.append(f"s{number:05}")
        return time.perf_counter() - start, found

    def plain_list(self) -> tuple[float, set[str]]:
        """Seconds for the same with `list` of every checkpoint, and the sessions found."""
        words = query_words(QUERY)
        start = time.perf_counter()
        found, seen = set(), set()
        for one in self.saver.list(None):
            thread = one.config["configurable"]["thread_id"]
            if thread not in seen:
                seen.add(thread)
                if matches(words, one.checkpoint["channel_values"].get("messages", [])):
                    found.add(thread)
        return time.perf_counter() - start, found


def conversation(luck: random.Random, *, found: bool) -> Iterator[BaseMessage]:
    """What comes after the first two messages, 200 characters each."""
    for number in range(MESSAGES - 2):
        text = " ".join(luck.choices(_WORDS, k=40))[:CHARACTERS].ljust(CHARACTERS, ".")
        if found and number == 20:
            text = f"{text[:100]} a purple submarine {text[120:]}"
        yield HumanMessage(text) if number % 2 == 0 else AIMessage(text)


def matches(words: Sequence[str], messages: Sequence[BaseMessage]) -> bool:
    """True where all words stand in the conversation."""
    text = "\n".join(fold_text(message.text) for message in messages)
    return all(word in text for word in words)


@contextmanager
def on_sqlite() -> Iterator[Sessions]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        saver = sqlite3.connect(place / "sessions.sqlite", check_same_thread=False)
        notes = sqlite3.connect(
            place / "notes.sqlite", check_same_thread=False, isolation_level=None
        )
        with closing(saver), closing(notes):
            store = SqliteStore(notes)
            store.setup()
            yield Sessions(SqliteSaver(saver), store)


@contextmanager
def on_postgres() -> Iterator[Sessions]:
    with (
        store_support.new_database() as uri,
        PostgresSaver.from_conn_string(uri) as saver,
        PostgresStore.from_conn_string(uri) as store,
    ):
        saver.setup()
        store.setup()
        yield Sessions(saver, store)


DATABASES: dict[str, Callable[[], Any]] = {"SQLite": on_sqlite, "PostgreSQL": on_postgres}


def report(name: str, sessions: int) -> list[str]:
    """Prints what one database takes; the aims that were missed."""
    with DATABASES[name]() as there:
        there.fill(sessions)
        expected = ["s00003"] + [f"s{n:05}" for n in range(sessions - 1, -1, -1) if n % ONE_IN == 1]
        titles, cold, warm, changed, plain, listing = [], [], [], [], [], []
        there.search()
        just_written = [there.search()[1] for _ in range(ROUNDS)]
        # Sessions are not all a few seconds old, within which clocks may differ.
        time.sleep(SETTLED_SECONDS)
        for round_number in range(ROUNDS):
            CACHE.clear()
            gc.collect()
            first, whole, found = there.search()
            _expect(expected, found)
            titles.append(first)
            cold.append(whole)
            first, whole, found = there.search()
            _expect(expected, found)
            titles.append(first)
            warm.append(whole)
            seconds, found = there.plain(sessions)
            _expect(sorted(expected), sorted(found))
            plain.append(seconds)
            seconds, threads = there.plain_list()
            _expect(sorted(expected), sorted(threads))
            listing.append(seconds)
            # A session without the words, so that what is found stays the same.
            there.go_on(sessions - 1 - 10 * round_number)
            changed.append(there.search()[1])
        held = CACHE.chars
        CACHE.clear()
        gc.collect()
        tracemalloc.start()
        there.search()
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    rows = [
        ("to all title hits", titles),
        ("whole answer, cold", cold),
        ("whole answer, warm", warm),
        ("whole answer, warm, one session went on", changed),
        ("whole answer, warm, all sessions just written", just_written),
        ("plain get_tuple of each thread", plain),
        ("plain list of every checkpoint", listing),
    ]
    shown = [(label, spread([one * 1_000 for one in seconds])) for label, seconds in rows]
    print(f"\n{table((f'{name}, {sessions} sessions of {MESSAGES} messages', 'ms'), shown)}")
    ratio = statistics.median(warm) / statistics.median(cold)
    print(
        f"Warm is {ratio:.2f} of cold, aim {WARM_AIM:.2f}. At hand: {held:,} characters, bound "
        f"{MOST_CHARS:,}; {kept / 1e6:.1f} MB of Python objects."
    )
    missed = []
    if statistics.median(titles) * 1_000 > TITLES_AIM_MS:
        missed.append(f"{name}: title hits after {statistics.median(titles) * 1_000:.0f} ms")
    if ratio > WARM_AIM:
        missed.append(f"{name}: warm {ratio:.2f} of cold")
    if held > MOST_CHARS:
        missed.append(f"{name}: {held} characters at hand")
    return missed


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; 1 when an aim is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.searching")
    parser.add_argument("sessions", nargs="?", type=int, default=1_000)
    sessions = parser.parse_args(arguments).sessions
    print(machine())
    print(
        versions(
            "langmem_credit",
            "langgraph",
            "langgraph-checkpoint",
            "langgraph-checkpoint-sqlite",
            "langgraph-checkpoint-postgres",
        )
    )
    missed = [line for name in DATABASES for line in report(name, sessions)]
    print("\n" + ("MISSED: " + "; ".join(missed) if missed else "All aims met."))
    return 1 if missed else 0


def _expect(expected: list[str], found: list[str]) -> None:
    if found != expected:
        raise SystemExit(f"{len(found)} of {len(expected)} found, so the figures mean nothing.")


if __name__ == "__main__":
    sys.exit(main())
