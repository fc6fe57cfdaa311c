"""How long a decision takes: `python -m tests.benchmarks.deciding [--fuzz]`.

A message of 2,000 characters at most 2 ms, 200,000 characters at most 200 ms, and twice the text at
most 2.3 times the time, each a median. With --fuzz also texts made to be slow for each loop and
expression, each in a process of its own with a time limit. Exit status 1 when an aim is missed.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from langmem_credit import Utterance, judge
from langmem_credit.notes import LIMITS
from tests.benchmarks.reporting import machine, table, versions

AIM_SHORT_MS = 2.0
AIM_LONG_MS = 200.0
AIM_DOUBLING = 2.3
# A slow text may take this much longer per character than prose: it is all marks or short words.
FUZZ_SECONDS = 5.0
PROSE = (
    "The billing service answers in UTC, never in local time, and its tests live in spec/billing. "
    "I prefer short functions with descriptive names; every handler returns early on bad input. "
    "Never push to main without a review, and always squash before merging. "
    "Our fiscal year starts on 1 July, so quarterly reports use that calendar. "
)
# No bound, so that the text itself is read to its end.
UNBOUNDED = replace(LIMITS, said=10**9, note=10**9)
SLOW_UNITS = {
    "quotes": "'",
    "double quotes": '"',
    "code marks": "`",
    "quoted words": "'a' ",
    "openers": "please ",
    "openers before a mark": "ok, ",
    "closers": " please",
    "closers behind a mark": ", thanks",
    "greetings": "hi! ",
    "newlines": "\n",
    "words on lines": "a\n",
    "spaces": " ",
    "tabs and newlines": "\t\n ",
    "dots": ".",
    "dots apart": ". ",
    "short sentences": "A. ",
    "abbreviations": "e.g. ",
    "dotted name": "a.",
    "I": "I ",
    "the user": "the user ",
    "my": "my ",
    "colons": ": ",
    "leads": "note: ",
    "labels": "Ann: ",
    "labels in brackets": "[Ann] ",
    "orders and signs": "use and always ",
    "days": "today ",
    "recurrences": "every Monday ",
    "limits": "just this once ",
    "objects pointed at": "use it ",
    "numbers of things": "fix #1 ",
    "overriding": "ignore previous rules ",
    "chatter": "great job ",
    "remembering": "remember that I ",
    "commas": ", ",
    "hyphens": "-",
    "hyphened": "my-",
    "one letter": "a",
    "one word": "always ",
    "two words": "never always ",
    "contractions": "don't ",
    "apostrophes": "a'a'",
    "reported": "said ",
    "retractions": "scratch that ",
    "questions": "who ",
    "question marks": "? ",
    "places": "in this repo ",
    "attributions": "the user said: ",
    "strong": "from now on ",
    "prepositions": "for in ",
    "header lines": "to: ",
    "name lines": "\nBob: x",
    "quoted lines": "\n> a",
    "table lines": "\n|a",
    "open tags": "</a",
    "log lines": "\n[10:02",
    "dates": "\n2024-01-01",
    "equal signs": "=",
    "brackets": "[/INST",
    "closing brackets": ")",
    "capitals": "A",
    "capital words": "NEVER ",
    "combining marks": "e\u0301",
    "zero width": "\u200b",
    "characters of Chinese": "\u4e0d",
    "Chinese sentences": "\u6c38\u8fdc\u4e0d\u8981\u63a8\u9001\u3002",
    "Spanish words": "prefiero ",
    "German words": "immer ",
    "Greek words": "\u03b1; ",
    "surrogates": "\ud83d",
    "emoji": "\U0001f44d",
}
_CHILD = """
import sys
from tests.benchmarks.deciding import SLOW_UNITS, slow_text, try_text
try_text(slow_text(sys.argv[1], int(sys.argv[2])))
"""


def prose(characters: int) -> str:
    """Ordinary sentences, whole words, at most so many characters."""
    text = PROSE * (characters // len(PROSE) + 1)
    return text[: text.rindex(" ", 0, characters + 1)]


def slow_text(name: str, characters: int) -> str:
    """A text of one of the slow kinds."""
    unit = SLOW_UNITS[name]
    return (unit * (characters // len(unit) + 1))[:characters]


def try_text(text: str) -> None:
    """Decides on the text in every place where it can stand."""
    short = text[: LIMITS.said]
    heard = [Utterance("a", text), Utterance("b", short)]
    judge(short[: LIMITS.note], short, heard)
    judge(text, short, heard)
    judge("I prefer tabs", text, [Utterance("a", "I prefer tabs")])
    judge("The user" + short[1:], short, [Utterance("a", short), Utterance("b", text)])
    asked = Utterance("a", short, via="answer", asked=text)
    judge(short, short, [asked], about=text, core=True)


def median_ms(decide: Callable[[], object], runs: int) -> float:
    """The median of one run in milliseconds of the processor, whatever else it has to do."""
    decide()
    samples = []
    for _ in range(runs):
        start = time.process_time()
        decide()
        samples.append(time.process_time() - start)
    return statistics.median(samples) * 1000


def measure_short(runs: int = 101) -> dict[str, float]:
    """Median milliseconds of each kind of decision on 2,000 characters."""
    text = prose(LIMITS.said)
    heard = [Utterance("m", text)]
    first = text.partition(". ")[0]
    decisions = {
        "a sentence of it": (first, first),
        "the largest note": (text[: LIMITS.note], text[: LIMITS.note].rpartition(" ")[0]),
        "all of it": (text, text),
        "another text": ("Always deploy on Fridays", "always deploy"),
    }
    return {
        name: median_ms(lambda note=note, said=said: judge(note, said, heard), runs)
        for name, (note, said) in decisions.items()
    }


def measure_long(characters: int, runs: int = 31) -> float:
    """Median milliseconds on a message past every bound, which is looked at but not judged."""
    heard = [Utterance("m", prose(characters))]
    said = PROSE.partition(". ")[0]
    return median_ms(lambda: judge(said, said, heard), runs)


def measure_growth(text: Callable[[int], str], characters: int = 20_000, runs: int = 7) -> float:
    """How many times longer twice the text takes when no bound stops it from being judged.

    Of the fastest runs, in the processor's time, since other work comes and goes, and without the
    garbage collector, whose steps come at sizes of their own.
    """
    fastest = []
    gc.collect()
    gc.disable()
    try:
        for size in (characters, 2 * characters):
            whole = text(size)
            heard = [Utterance("m", whole)]
            seconds = []
            for _ in range(runs):
                start = time.process_time()
                judge(whole, whole, heard, limits=UNBOUNDED)
                seconds.append(time.process_time() - start)
            fastest.append(min(seconds))
    finally:
        gc.enable()
    return fastest[1] / fastest[0]


def run_slow(name: str, characters: int) -> float | None:
    """Seconds that a process of its own took for the slow text, or None past the limit."""
    start = time.perf_counter()
    try:
        subprocess.run(
            [sys.executable, "-c", _CHILD, name, str(characters)],
            check=True,
            timeout=FUZZ_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return None
    return time.perf_counter() - start


def main(arguments: list[str]) -> int:
    """Prints the tables; 1 when an aim is missed."""
    short = measure_short()
    long = {size: measure_long(size) for size in (200_000, 400_000)}
    growth = measure_growth(prose)
    print(f"{machine()}\n{versions('langmem_credit')}\n")
    rows = [(f"2,000 characters, {name}", f"{ms:.2f} ms") for name, ms in short.items()]
    rows += [(f"{size:,} characters", f"{ms:.2f} ms") for size, ms in long.items()]
    rows.append(("twice as many, all judged, every bound lifted", f"{growth:.2f} times"))
    print(table(("decision on a message of", "median"), rows))
    met = max(short.values()) <= AIM_SHORT_MS and max(long.values()) <= AIM_LONG_MS
    met = met and growth <= AIM_DOUBLING
    if "--fuzz" in arguments:
        seconds = {name: run_slow(name, 200_000) for name in SLOW_UNITS}
        shown = ((n, "over the limit" if s is None else f"{s:.2f} s") for n, s in seconds.items())
        print("\n" + table(("slow text of 200,000 characters", "process"), shown))
        met = met and None not in seconds.values()
    aim = f"{AIM_SHORT_MS:g} ms, {AIM_LONG_MS:g} ms, {AIM_DOUBLING:g} times"
    print(f"\nAim: {aim}: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
