"""Random changes of one word, refused by the million: `python -m tests.fuzzing [--tries N]`.

Each try takes an honest note that is credited, word for word, and makes one change that no edit of
the closed list allows: a word left out, put in, doubled, exchanged for another one or for a look-
alike, two words that change places, a digit or a letter changed. The changed words come from the
inside of the note (no opener, closer or first word) and are longer than function words, so that
none of the edits can explain the change. A change that is credited is printed. Exit status 1 when
there is one, or when an edit of the closed list, made the same way, is refused.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from langmem_credit import Utterance, judge
from langmem_credit.detection import detect
from langmem_credit.languages import CODES, load
from langmem_credit.suggesting import suggest
from langmem_credit.words import tokenize
from tests.benchmarks.reporting import machine
from tests.cases_support import heard_of, load_cases

_SHORT = 4  # letters of the shortest word that is changed
# What an edit may speak of: changes of these words are its own business.
_EDITED = (
    *("openers", "closers", "subject", "object", "possessive", "reflexive", "subject_pronouns"),
    *("auxiliaries", "copulas", "emphasis", "contractions", "third_person", "place_front"),
    *("attribution", "negations", "determiners", "articles", "invariant", "droppable_subject"),
)
_PERSON = {"i", "my", "me", "we", "our", "us", "i'm", "mine", "and", "but", "or"}
_LOOKALIKES = {"a": "\u0430", "e": "\u0435", "o": "\u043e", "p": "\u0440", "c": "\u0441"}
Change = Callable[[list[str], int, random.Random], list[str] | None]


@dataclass
class Report:
    """What a run found."""

    tried: Counter[str] = field(default_factory=Counter)
    credited: list[tuple[str, str]] = field(default_factory=list)
    edits: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[str, str, str]] = field(default_factory=list)


def seeds() -> list[str]:
    """Honest messages of the cases that are credited word for word, of one line each."""
    names = ["pairs", "unseen_honest", *(f"credit_{code}" for code in CODES if code != "en")]
    texts = {}
    for name in (*names, "credit"):
        for case in load_cases(name):
            heard = heard_of(case)
            text = heard[0].text if len(heard) == 1 and case["expect"] == "active" else ""
            if "\n" not in text and len(text.split()) > 3 and is_credited(text, text):
                texts[text] = None
    return list(texts)


def is_credited(note: str, typed: str) -> bool:
    """What the rule says of the note where this was typed."""
    return judge(note, typed, [Utterance("m", typed)]).credited


def edited_words() -> frozenset[str]:
    """Words that an edit of the closed list may change, leave out or put in."""
    words: set[str] = set()
    for language in map(load, CODES):
        for name in _EDITED:
            for item in (*language.items(name), *language.table(name)):
                words.update(item.lower().split())
        for table in ("pairs", "objects", "contractions", "agreement", "start_pairs"):
            for key, told in language.table(table).items():
                words.update(f"{key} {told}".lower().replace("|", " ").split())
    return frozenset(words)


def _leave_out(words: list[str], at: int, _: random.Random) -> list[str]:
    return words[:at] + words[at + 1 :]


def _double(words: list[str], at: int, _: random.Random) -> list[str]:
    return words[: at + 1] + words[at:]


def _change_places(words: list[str], at: int, _: random.Random) -> list[str] | None:
    if at + 2 >= len(words) or words[at].lower() == words[at + 1].lower():
        return None
    return [*words[:at], words[at + 1], words[at], *words[at + 2 :]]


def _change_letter(words: list[str], at: int, chance: random.Random) -> list[str]:
    word = words[at]
    place = chance.randrange(1, len(word))
    letter = chance.choice([one for one in "abdefghiklmnoprtuvw" if one != word[place].lower()])
    return [*words[:at], word[:place] + letter + word[place + 1 :], *words[at + 1 :]]


def _look_alike(words: list[str], at: int, _: random.Random) -> list[str] | None:
    word = words[at]
    for letter, other in _LOOKALIKES.items():
        if letter in word[1:]:
            return [*words[:at], word[0] + word[1:].replace(letter, other, 1), *words[at + 1 :]]
    return None


CHANGES: dict[str, Change] = {
    "left out": _leave_out,
    "doubled": _double,
    "places changed": _change_places,
    "letter changed": _change_letter,
    "look-alike": _look_alike,
}


def changed_notes(
    texts: list[str], chance: random.Random, tries: int
) -> Iterator[tuple[str, str, str]]:
    """(kind of change, typed, note) of so many random changes."""
    edited = edited_words()
    places = {text: _inner_places(text.split(), edited) for text in texts}
    usable = [text for text in texts if places[text]]
    pool = sorted({text.split()[at] for text in usable for at in places[text]})
    done = 0
    while done < tries:
        typed = chance.choice(usable)
        words, at = typed.split(), chance.choice(places[typed])
        kind = chance.choice([*CHANGES, "put in", "exchanged"])
        if kind == "put in":
            changed: list[str] | None = [*words[:at], chance.choice(pool), *words[at:]]
        elif kind == "exchanged":
            other = chance.choice(pool)
            same = other.lower() == words[at].lower()
            changed = None if same else [*words[:at], other, *words[at + 1 :]]
        else:
            changed = CHANGES[kind](words, at, chance)
        if changed is not None and changed != words:
            done += 1
            yield kind, typed, " ".join(changed)


def _inner_places(words: list[str], edited: frozenset[str]) -> list[int]:
    """Where words stand that no edit speaks of, neither first nor last."""
    return [
        at
        for at in range(1, len(words) - 1)
        if words[at].isalpha() and len(words[at]) >= _SHORT and words[at].lower() not in edited
    ]


def allowed_notes(typed: str) -> Iterator[tuple[str, str, str]]:
    """(edit, typed, note) of edits of the closed list, on the words without their greetings."""
    yield "word for word", typed, typed
    core = suggest(typed, [Utterance("m", typed)]) or typed
    if not core[-1].isalnum():
        return
    yield "final stop", typed, f"{core}."
    if core[1:2].islower() and core[0].isalpha() and typed.startswith(core):
        yield "first letter", typed, core[0].swapcase() + core[1:]
    language = detect(tokenize(core))
    if language is None or language.code != "en" or not core.isascii() or core[1:2].isupper():
        return
    small = core if core.startswith("I") else core[0].lower() + core[1:]
    if "," not in core.split()[0]:
        yield "opener left out", f"Please remember: {small}", core
    for short, long in (("don't", "do not"), ("I'm", "I am"), ("isn't", "is not")):
        if short in core.split():
            yield (
                "contraction opened",
                typed,
                " ".join(long if word == short else word for word in core.split(" ")),
            )
    for verb in ("use", "prefer", "like", "live", "work", "own", "run"):
        if core.startswith(f"I {verb} "):
            rest = core.removeprefix(f"I {verb} ")
            if not _PERSON & set(rest.lower().split()):
                yield "first person", core, f"The user {verb}s {rest}"
                yield "left out at the start", core, f"{verb.title()}s {rest}"


def run(tries: int, seed: int) -> Report:
    """Makes so many changes and every allowed edit, and says what came of them."""
    report = Report()
    texts = seeds()
    for kind, typed, note in changed_notes(texts, random.Random(seed), tries):
        report.tried[kind] += 1
        if is_credited(note, typed):
            report.credited.append((typed, note))
    for typed in texts:
        for edit, heard, note in allowed_notes(typed):
            report.edits[edit] += 1
            if not is_credited(note, heard):
                report.refused.append((edit, heard, note))
    return report


def main(arguments: list[str] | None = None) -> int:
    """Prints what was tried and found; 1 when a change was credited or an edit refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    report = run(options.tries, options.seed)
    print(machine())
    for kind, count in sorted(report.tried.items()):
        print(f"{kind}: {count} changes")
    for typed, note in report.credited[:20]:
        print(f"CREDITED {note!r} where {typed!r} was typed")
    for edit, count in report.edits.items():
        print(f"{edit}: {count} edits")
    for edit, typed, note in report.refused[:20]:
        print(f"REFUSED ({edit}) {note!r} where {typed!r} was typed")
    print(
        f"{report.tried.total()} changes outside the closed list, {len(report.credited)} credited; "
        f"{report.edits.total()} edits inside, {len(report.refused)} refused; "
        f"{time.monotonic() - begun:.0f} s"
    )
    return 1 if report.credited or report.refused else 0


if __name__ == "__main__":
    sys.exit(main())
