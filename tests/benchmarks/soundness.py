"""False and honest credits on public pairs: `python -m tests.benchmarks.soundness [--data DIR]`.

DIR holds `hans.jsonl.gz`, `med.jsonl.gz` and `rules.jsonl.gz`, one JSON object a line with `heard`,
`said`, `note` and `expect`. The rule and the plain idea of `tests/plain_idea.py` decide the same
pairs in one run. Exit status 1 when the rule credits one false note that is not word for word what
was typed, or fewer than 99% of the honest notes of `rules`.

Entailed pairs of the first two sets nearly all leave words out, so a careful rule credits few of
them: there the false credits are what counts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langmem_credit import Utterance, judge
from tests import plain_idea
from tests.benchmarks.reporting import machine, table, versions

SETS = ("hans", "med", "rules")
LEAST_HONEST = 0.99
Decide = Callable[[str, str, str], bool]


@dataclass
class Count:
    """How one decider did on one set."""

    name: str
    false: int = 0
    equal: int = 0
    hostile: int = 0
    right: int = 0
    honest: int = 0

    def row(self) -> tuple[str, ...]:
        """The cells of the table behind the set's name."""
        return (
            self.name,
            f"{self.false} of {self.hostile} ({_percent(self.false, self.hostile)})",
            str(self.equal),
            f"{self.right} of {self.honest} ({_percent(self.right, self.honest)})",
        )


def read_pairs(path: Path) -> Iterator[dict[str, Any]]:
    """The pairs of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def credits_by_rule(note: str, said: str, heard: str) -> bool:
    """What the package decides."""
    return judge(note, said, [Utterance("m", heard)]).credited


def is_equal(pair: dict[str, Any]) -> bool:
    """True when the note is what was typed, but for a final stop.

    Such a pair is no false credit, whatever the set expects: the person said exactly that.
    """
    return str(pair["note"]).rstrip(". ") == str(pair["heard"]).rstrip(". ")


def measure(pairs: list[dict[str, Any]]) -> list[Count]:
    """The rule's count and the plain idea's, on the same pairs."""
    deciders: dict[str, Decide] = {
        "credit rule": credits_by_rule,
        "plain idea": plain_idea.is_credited,
    }
    counts = []
    for name, decide in deciders.items():
        count = Count(name)
        for pair in pairs:
            credited = decide(pair["note"], pair["said"], pair["heard"])
            if pair["expect"] == "active":
                count.honest += 1
                count.right += credited
            elif is_equal(pair):
                count.equal += credited
            else:
                count.hostile += 1
                count.false += credited
        counts.append(count)
    return counts


def main(arguments: list[str] | None = None) -> int:
    """Prints the table; 1 when an aim is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR")
    folder = parser.parse_args(arguments).data
    missing = [name for name in SETS if not (folder / f"{name}.jsonl.gz").exists()]
    if missing:
        print(f"No {', '.join(missing)} (.jsonl.gz) in {folder}; say where with --data DIR.")
        return 2
    rows = []
    missed = []
    for name in SETS:
        rule, idea = measure(list(read_pairs(folder / f"{name}.jsonl.gz")))
        rows += [(name, *rule.row()), (name, *idea.row())]
        if rule.false:
            missed.append(f"{name}: {rule.false} false credits")
        if name == "rules" and rule.right < LEAST_HONEST * rule.honest:
            missed.append(f"{name}: fewer than {LEAST_HONEST:.0%} of the honest notes credited")
    header = ("set", "decided by", "false credits", "credited, equal to what was typed", "honest")
    print(f"{machine()}\n{versions('langmem_credit')}\n")
    print(table(header, rows))
    print(f"\nAim: no false credit, {LEAST_HONEST:.0%} of the honest rules: ", end="")
    print("MISSED: " + "; ".join(missed) if missed else "met")
    return 1 if missed else 0


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


if __name__ == "__main__":
    sys.exit(main())
