"""How long `import langmem_credit` takes: `python -m tests.benchmarks.importing [RUNS]`.

Each figure is a fresh process's own, from before the import statement to after it; the start of
Python is not in it. Exit status 1 when the aim is missed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from tests.benchmarks.reporting import machine, spread, table, versions

AIM_SECONDS = 0.2
HEAVY = (
    "langgraph",
    "langchain",
    "langchain_core",
    "chromadb",
    "torch",
    "sentence_transformers",
    "detect_secrets",
)
STATEMENTS = (
    "import langmem_credit",
    "from langmem_credit import judge",
    "from langmem_credit import CreditedMemory",
)
_CHILD = """
import sys, time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start)
print(*sorted(set(sys.modules) & set({heavy!r})))
"""


def measure(statement: str) -> tuple[float, list[str]]:
    """Seconds that the statement took in a process of its own, and the heavy parts it loaded."""
    code = _CHILD.format(statement=statement, heavy=HEAVY)
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    seconds, _, loaded = child.stdout.partition("\n")
    return float(seconds), loaded.split()


def main(runs: int = 15) -> int:
    """Prints the table; 1 when the median import is slower than the aim."""
    rows = []
    medians = {}
    for statement in STATEMENTS:
        # One run first, which may have to compile, does not count.
        measure(statement)
        samples, loaded = [], []
        for _ in range(runs):
            seconds, loaded = measure(statement)
            samples.append(seconds)
        medians[statement] = statistics.median(samples)
        rows.append((statement, spread(samples), ", ".join(loaded) or "none"))
    print(f"{machine()}\n{versions('langmem_credit', 'langgraph', 'langchain-core')}\n")
    print(table(("statement", f"seconds, median of {runs} (range)", "heavy parts loaded"), rows))
    met = medians[STATEMENTS[0]] <= AIM_SECONDS
    print(f"\nAim: {STATEMENTS[0]} in at most {AIM_SECONDS} s: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
