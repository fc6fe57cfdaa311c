"""How long a notebook takes to fold and to render: `python -m tests.benchmarks.folding [RUNS]`.

Each run folds the ledger anew. The figures are processor time, so that other programs on the same
machine do not count. Exit status 1 when an aim is missed.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

from langmem_credit.digest import render
from langmem_credit.ledger import Event, merge_events
from langmem_credit.notebook import fold
from langmem_credit.recall import recall, render_recall
from tests.benchmarks.reporting import machine, spread, table, versions
from tests.notebook_support import TODAY, agreed, forgot, said, unsaid

AIM_MS = {40: 1.0, 1_000: 20.0}
SIZES = (40, 250, 1_000, 2_000)
_TEXT = (
    "always use pnpm never npm the user prefers dark mode deploy on friday tests lint review "
    "staging database backup config branch merge release Zürich 成都 café"
)


def ledger(notes: int, *, seed: int = 7) -> list[Event]:
    """A ledger of so many notes: most credited, some waiting, confirmed, corrected, forgotten."""
    chance = random.Random(seed)
    events: list[Event] = []
    for number in range(notes):
        text = " ".join(chance.choices(_TEXT.split(), k=12)) + f" {number}."
        words = f"please {text}" if number % 3 else text
        act = number % 10
        if act == 9:
            event = unsaid(text, number, kind=chance.choice(["fact", "finding"]))
            events += [event, agreed(event, notes + number)]
        elif act == 8:
            event = said(text, number, words=words)
            events += [event, forgot(event, notes + number, why="no longer true")]
        else:
            event = said(text, number, words=words, kind="preference", message=f"lc_run--{number}")
            events.append(event)
    return events


def milliseconds(action: Callable[[], object], runs: int) -> list[float]:
    """Of each run, after one that does not count."""
    action()
    samples = []
    for _ in range(runs):
        start = time.process_time()
        action()
        samples.append((time.process_time() - start) * 1_000)
    return samples


def measure(events: list[Event], runs: int) -> dict[str, list[float]]:
    """Samples in milliseconds by what was done."""
    notebook = fold(events)
    found = recall(notebook, query="dark mode staging")
    return {
        "merge one more event": milliseconds(lambda: merge_events(events, [events[-1]]), runs),
        "fold": milliseconds(lambda: fold(events), runs),
        "render": milliseconds(lambda: render(notebook, TODAY), runs),
        "fold and render": milliseconds(lambda: render(fold(events), TODAY), runs),
        "recall by words": milliseconds(lambda: recall(notebook, query="dark mode staging"), runs),
        "render the answer": milliseconds(lambda: render_recall(found, TODAY), runs),
    }


def main(runs: int = 50) -> int:
    """Prints the table; 1 when folding and rendering is slower than the aim."""
    samples = {size: measure(ledger(size), runs) for size in SIZES}
    medians = {
        size: {name: statistics.median(one) for name, one in by_name.items()}
        for size, by_name in samples.items()
    }
    rows = [
        (
            f"{size:,}",
            name,
            spread(samples[size][name]),
            f"{medians[size][name] / medians[SIZES[0]][name]:.1f} for {size / SIZES[0]:.0f} times",
        )
        for name in samples[SIZES[0]]
        for size in SIZES
    ]
    print(f"{machine()}\n{versions('langmem_credit')}\n")
    print(table(("notes", "what", f"ms, median of {runs} (range)", "ratio to 40 notes"), rows))
    missed = 0
    for size, aim in AIM_MS.items():
        met = medians[size]["fold and render"] <= aim
        missed += not met
        print(
            f"\nAim: fold and render {size:,} notes in at most {aim} ms: "
            f"{'met' if met else 'MISSED'}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
