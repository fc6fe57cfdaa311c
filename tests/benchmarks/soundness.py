"""False and honest credits: `python -m tests.benchmarks.soundness [--data DIR] [--by WHAT]`.

The rule, the same rule asked of one sentence alone, and the plain idea of `tests/plain_idea.py`
decide the same notes in one run: those of `tests/cases`, and with --data those of public sets. DIR
holds `hans.jsonl.gz`, `med.jsonl.gz` and `rules.jsonl.gz`, one JSON object a line with `category`,
`heard`, `said`, `note` and `expect`. Exit status 1 when the rule credits one false note that is not
word for word what was typed, or fewer than 99% of the honest notes of `rules`.

Rates stand with their 95% interval (Wilson's). `--by category` and `--by language` show the rule's
own rates in more rows. Entailed pairs of HANS and MED nearly all leave words out, so a careful rule
credits few of them: there the false credits are what counts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langmem_credit import Utterance, judge
from langmem_credit.credit import VERSION
from langmem_credit.words import find_tokens, split_sentences, strip_final_stop, text_of, tokenize
from tests import plain_idea
from tests.benchmarks.reporting import machine, table, versions
from tests.cases_support import heard_of, load_cases

SETS = ("hans", "med", "rules")
LANGUAGES = ("en", "es", "de", "zh", "fr", "it", "pt", "ru", "ja", "ko", "ar", "hi")
LEAST_HONEST = 0.99
_Z = 1.959964  # of a normal distribution, for 95%


@dataclass(frozen=True)
class Pair:
    """A note beside what was typed, and whether it should be credited."""

    set: str
    category: str
    language: str
    heard: tuple[Utterance, ...]
    said: str
    note: str
    honest: bool

    @property
    def equal(self) -> bool:
        """True when the note is what was typed, but for a final stop.

        Such a pair is no false credit, whatever a public set expects: the person said exactly that.
        """
        typed = self.heard[0].text if len(self.heard) == 1 else ""
        return self.set in SETS and self.note.rstrip(". ") == typed.rstrip(". ")


Decide = Callable[[Pair], bool]


@dataclass
class Count:
    """How one decider did on some pairs."""

    false: int = 0
    equal: int = 0
    hostile: int = 0
    right: int = 0
    retried: int | None = None
    honest: int = 0

    def add(self, pair: Pair, decide: Decide, *, retry: bool = False) -> None:
        """Counts one pair; with `retry` also whether the words that are offered are credited."""
        credited = decide(pair)
        if pair.honest:
            self.honest += 1
            self.right += credited
            if retry:
                self.retried = (self.retried or 0) + (credited or offers_credited_words(pair))
        elif pair.equal:
            self.equal += credited
        else:
            self.hostile += 1
            self.false += credited

    def row(self) -> tuple[str, ...]:
        """The rates: false, honest as worded, honest after one retry."""
        return (
            rate(self.false, self.hostile),
            rate(self.right, self.honest),
            "-" if self.retried is None else rate(self.retried, self.honest),
        )


def credits_by_rule(pair: Pair) -> bool:
    """What the package decides."""
    return judge(pair.note, pair.said, pair.heard).credited


def credits_sentence(pair: Pair) -> bool:
    """What the rule decides when it hears the sentence with the quote and nothing else."""
    quote = strip_final_stop(tokenize(pair.said))
    for one in reversed(pair.heard):
        tokens = tokenize(one.text)
        for sentence in split_sentences(tokens, strict=True):
            if one.typed and find_tokens(quote, sentence) is not None:
                alone = Utterance(one.id, text_of(sentence, one.text))
                return judge(pair.note, pair.said, [alone]).credited
    return credits_by_rule(pair)


def credits_by_idea(pair: Pair) -> bool:
    """What the plain idea decides, of the messages that were typed."""
    return any(
        plain_idea.is_credited(pair.note, pair.said, one.text) for one in pair.heard if one.typed
    )


def offers_credited_words(pair: Pair) -> bool:
    """True when a refusal offers words that are credited then."""
    words = judge(pair.note, pair.said, pair.heard).suggestion
    return words is not None and judge(words, words, pair.heard).credited


def own_pairs() -> Iterator[Pair]:
    """The notes of `tests/cases`: those of the rules' own tests, and those by other authors."""
    for name in (
        *("pairs", "attempts", "unseen_hostile", "unseen_honest"),
        *("beside_hostile", "beside_honest"),
    ):
        for case in load_cases(name):
            if _is_decided(case):
                yield _pair(name.partition("_")[0], str(case.get("kind", "")), "en", case)
    for code in LANGUAGES:
        for case in load_cases("credit" if code == "en" else f"credit_{code}"):
            if _is_decided(case):
                yield _pair("edges", "", code, case)
        if Path(__file__).parent.parent.joinpath(f"cases/languages_{code}.jsonl").exists():
            for case in load_cases(f"languages_{code}"):
                if _is_decided(case):
                    yield _pair("languages", str(case.get("kind", "")), code, case)


def _is_decided(case: dict[str, Any]) -> bool:
    """True for a note that must be credited, or must not; with some, either will do."""
    if case.get("call", {}).get("tool", "remember") != "remember":
        return False
    accepted = case.get("accept", [case["expect"]])
    return case["expect"] == "active" or "active" not in accepted


def _pair(name: str, category: str, language: str, case: dict[str, Any]) -> Pair:
    call = case.get("call", case)
    note = str(call["note"])
    said = str(call.get("said", note))
    honest = case["expect"] == "active"
    return Pair(name, category, language, tuple(heard_of(case)), said, note, honest)


def read_pairs(path: Path) -> Iterator[Pair]:
    """The pairs of a public set's file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            yield Pair(
                path.name.partition(".")[0],
                str(pair.get("category", "")),
                "en",
                (Utterance("m", str(pair["heard"])),),
                str(pair["said"]),
                str(pair["note"]),
                pair["expect"] == "active",
            )


def rate(part: int, whole: int) -> str:
    """A share with its 95% interval by Wilson's formula."""
    if not whole:
        return "-"
    share, square = part / whole, _Z * _Z / whole
    middle = (share + square / 2) / (1 + square)
    half = _Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole)) / (1 + square)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{part} of {whole}: {share:.1%} ({low:.1%}-{high:.1%})"


def compare(pairs: Iterable[Pair]) -> dict[tuple[str, str], Count]:
    """For each set and decider its count, the rule first."""
    deciders: dict[str, Decide] = {
        "credit rule": credits_by_rule,
        "one sentence": credits_sentence,
        "plain idea": credits_by_idea,
    }
    counts: dict[tuple[str, str], Count] = {}
    for pair in pairs:
        for name, decide in deciders.items():
            count = counts.setdefault((pair.set, name), Count())
            count.add(pair, decide, retry=name == "credit rule" and pair.set not in SETS)
    return counts


def break_down(pairs: Iterable[Pair], by: str) -> dict[tuple[str, str], Count]:
    """For each set and category or language the rule's own count."""
    counts: dict[tuple[str, str], Count] = {}
    for pair in pairs:
        count = counts.setdefault((pair.set, str(getattr(pair, by))), Count())
        count.add(pair, credits_by_rule, retry=pair.set not in SETS)
    return counts


def main(arguments: list[str] | None = None) -> int:
    """Prints the table; 1 when an aim is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder with public sets")
    parser.add_argument("--by", choices=("category", "language"), help="the rule's rates by this")
    options = parser.parse_args(arguments)
    files = [options.data / f"{name}.jsonl.gz" for name in SETS] if options.data else []
    missing = [file.name for file in files if not file.exists()]
    if missing:
        print(f"No {', '.join(missing)} in {options.data}; say where with --data DIR.")
        return 2
    pairs = [*own_pairs(), *(pair for file in files for pair in read_pairs(file))]
    counts = compare(pairs)
    print(f"{machine()}\n{versions('langmem_credit')}, rule version {VERSION}\n")
    header = ("set", "decided by", "false credits", "honest as worded", "honest after a retry")
    print(_table(header, counts))
    if options.by:
        print()
        print(_table(("set", options.by, *header[2:]), break_down(pairs, options.by)))
    missed = [
        f"{name}: {count.false} false credits"
        for (name, decider), count in counts.items()
        if decider == "credit rule" and count.false
    ]
    rules = counts.get(("rules", "credit rule"), Count())
    if rules.right < LEAST_HONEST * rules.honest:
        missed.append(f"rules: fewer than {LEAST_HONEST:.0%} of the honest notes credited")
    print(f"\nAim: no false credit, {LEAST_HONEST:.0%} of the honest rules: ", end="")
    print("MISSED: " + "; ".join(missed) if missed else "met")
    return 1 if missed else 0


def _table(header: tuple[str, ...], counts: dict[tuple[str, str], Count]) -> str:
    return table(
        header,
        [(*names, *count.row()) for names, count in counts.items()],
    )


if __name__ == "__main__":
    sys.exit(main())
