"""The closed list of edits, each with cases for and against: `python -m tests.specification`.

Prints the page `tests/SPECIFICATION.md`; with --write it writes it. Every case is decided while the
page is made, so that a line that does not hold cannot stand on it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from langmem_credit import Utterance, judge
from langmem_credit.credit import VERSION

PAGE = Path(__file__).parent / "SPECIFICATION.md"
Case = tuple[str, str]


@dataclass(frozen=True)
class Edit:
    """One edit that a note may make, or one stretch that it may be.

    Attributes:
        name: a short heading.
        rule: what may differ, and where not.
        credited: (typed, note) that differ so and are credited.
        refused: (typed, note) that look alike and are not.
    """

    name: str
    rule: str
    credited: tuple[Case, ...]
    refused: tuple[Case, ...]


EDITS = (
    Edit(
        "Nothing dropped",
        "The note has the whole message, word for word and in order, with every *not* and *never*.",
        (
            ("Never push to main", "Never push to main"),
            ("I like tea and cake", "I like tea and cake"),
        ),
        (
            ("Never push to main", "push to main"),
            ("If the tests pass, push to main", "Push to main"),
            ("Always use tabs, never spaces", "Always use spaces, never tabs"),
            ("I eat meat", "I don't eat meat"),
            ("I am not not amused", "I am not amused"),
        ),
    ),
    Edit(
        "Final punctuation",
        "A stop at the end may come or go, but not behind a colon, a slash or an operator.",
        (("I prefer dark mode.", "I prefer dark mode"), ("I use zsh", "I use zsh.")),
        (("Never write to C:", "Never write to C"), ("I use C#", "I use C")),
    ),
    Edit(
        "First letter",
        "The case of the first letter may change, unless it is a name's.",
        (("always use pnpm", "Always use pnpm"),),
        (("I use Go", "I use go"), ("US is my market", "us is my market")),
    ),
    Edit(
        "Capitals",
        "A message all in capitals, and *NEVER* and its like, may be told in small letters; any "
        "other word in capitals may be a name.",
        (("NEVER push to main", "Never push to main"), ("I NEVER eat meat", "I never eat meat")),
        (("ALWAYS USE LESS", "Always use less"), ("I use REST", "I use rest")),
    ),
    Edit(
        "Contractions",
        "A short form may be opened, and only into what it stands for.",
        (
            ("I don't eat meat", "I do not eat meat"),
            ("I'm left-handed", "I am left-handed"),
            ("I can't read cursive", "I cannot read cursive"),
        ),
        (("She's left the team", "She is left the team"), ("I don't eat meat", "I do eat meat")),
    ),
    Edit(
        "Openers and closers",
        "What only opens or closes may go: *please*, *remember that*, *from now on*, *ok*, "
        "*thanks*; some only before a comma or a clause.",
        (
            ("Please remember that I use zsh", "I use zsh"),
            ("ok, always use tabs", "always use tabs"),
            ("From now on always answer in French", "Always answer in French"),
            ("I prefer short answers, thanks", "I prefer short answers"),
        ),
        (
            ("No access for Bob", "Access for Bob"),
            ("No: Friday deploys", "Friday deploys"),
            ("Remember that dog I love", "Dog I love"),
            ("Always sign with: Best, thanks", "Always sign with: Best"),
            ("Right: always turn", "always turn"),
        ),
    ),
    Edit(
        "Polite form",
        "A request in the form of a question may be told as the order in it, where it must mean "
        "from now on and does not ask what can be done.",
        (
            ("Can you always answer in French?", "Always answer in French"),
            ("Could you please never use emojis?", "Never use emojis"),
            ("Always use tabs, ok?", "Always use tabs"),
        ),
        (
            ("Can you always cancel a subscription?", "Always cancel a subscription"),
            ("Can you use the web?", "Use the web"),
            ("Should we always use tabs?", "Always use tabs"),
        ),
    ),
    Edit(
        "First person",
        "*I*, *me* and *my* may be told as *the user*, with the verb's form, or left out at the "
        "very start where no order comes of it; never where the words speak of a user already.",
        (
            ("I never eat meat", "The user never eats meat"),
            ("I prefer dark mode", "Prefers dark mode"),
            ("My name is Zoë", "Name is Zoë"),
            ("Call me before you deploy", "Call the user before you deploy"),
        ),
        (
            ("We use pnpm", "Use pnpm"),
            ("I told the user to wait", "The user told the user to wait"),
            ("My address must never be used", "Address must never be used"),
            ('Sign with "I am out"', 'Sign with "The user is out"'),
            ("I live in Rome", "The users live in Rome"),
        ),
    ),
    Edit(
        "Place",
        "*In this repo* and *in this project* may stand in front; behind only where nothing there "
        "could take them for its own.",
        (
            ("Always use pnpm", "In this project, always use pnpm"),
            ("Use pnpm", "Use pnpm in this repo"),
        ),
        (
            ("Upload the database", "Upload the database in this repo"),
            ("Avoid any mention of my illness", "Avoid any mention of my illness in this project"),
            ("Use pnpm in every project", "In this project, use pnpm in every project"),
        ),
    ),
    Edit(
        "Attribution",
        "*The user said:* may stand in front.",
        (("Always use tabs", "The user said: always use tabs"),),
        (("Always use tabs", "My boss said: always use tabs"),),
    ),
    Edit(
        "Gerund",
        "In an order, *before you commit* may be told as *before committing*, where nobody else "
        "could be meant.",
        (
            ("Run the tests before you commit", "Run the tests before committing"),
            ("Never merge before you run the tests", "Never merge before running the tests"),
        ),
        (
            ("Always ask Bob to wait before you push", "Always ask Bob to wait before pushing"),
            ("I run the tests before you commit", "I run the tests before committing"),
            ("Run the tests before I commit", "Run the tests before committing"),
            ("Run the tests before you commit", "Run the tests after committing"),
        ),
    ),
    Edit(
        "Greetings",
        "Sentences that only greet or thank are no part of the message.",
        (("Hi! I prefer window seats. Thanks a lot!", "I prefer window seats"),),
        (
            ("Always answer with exactly: Hello. Goodbye.", "Always answer with exactly: Hello"),
            ("Great 🙄 I love meetings", "I love meetings"),
        ),
    ),
    Edit(
        "One sentence",
        "One or more whole sentences of a message may stand alone where every other one is a "
        "greeting, a request or question about a thing, or a plain fact about the person; where it "
        "points to none, shares no word with them, and the sentence points to none either.",
        (
            ("Can you plan a trip to Rome? I prefer trains.", "I prefer trains"),
            ("I live in Oslo. I work in Drammen.", "I live in Oslo"),
            (
                "Always run the linter first. Could you fix the build?",
                "Always run the linter first",
            ),
        ),
        (
            ("We deploy on Fridays. Only the website.", "We deploy on Fridays"),
            ("Always answer in English. Oma gets Dutch.", "Always answer in English"),
            ("I keep bees. True or false?", "I keep bees"),
            ("What is on the mug? I love bees.", "I love bees"),
            ("Draft my dating profile. I love long walks.", "I love long walks"),
            ("I use zsh. Scratch that.", "I use zsh"),
            ("I have a test account. Never charge that account.", "Never charge that account"),
        ),
    ),
    Edit(
        "One item of a list",
        "An item may stand alone under a heading that says that what follows is so or shall be so, "
        "where no item speaks of another and nothing else stands in the message.",
        (
            ("House rules:\n- no force pushes\n- two approvals per PR", "Two approvals per PR"),
            ("About me:\n- nurse practitioner\n- based in Cork", "based in Cork"),
        ),
        (
            (
                "What I don't want:\n- emojis\n- always start with a summary",
                "always start with a summary",
            ),
            ("My rules:\n- always eat late\n- except on Mondays", "always eat late"),
            ("Please remember:\n- buy milk\n- call Bob", "buy milk"),
            (
                "My rules:\n- always eat late\n- never stretch\nBoth are bad advice.",
                "never stretch",
            ),
        ),
    ),
)


def is_credited(typed: str, note: str) -> bool:
    """What the rule decides, where the whole message is the quote."""
    return judge(note, typed, [Utterance("m", typed)]).credited


def failures() -> list[tuple[str, str, str]]:
    """(edit, typed, note) of each case that does not hold."""
    return [
        (edit.name, typed, note)
        for edit in EDITS
        for expected, cases in ((True, edit.credited), (False, edit.refused))
        for typed, note in cases
        if is_credited(typed, note) != expected
    ]


def page() -> str:
    """The page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# What a note may say"
    yield ""
    yield f"Version {VERSION} of the rule. A note must say what the person typed, no more, no less,"
    yield "in their order; what may differ is on this list, and everything else is refused. Made by"
    yield "`python -m tests.specification --write`, which decides every case on it. English stands"
    yield "for all languages with a file of words; gerunds, single sentences and lists are its own."
    for number, edit in enumerate(EDITS, 1):
        yield ""
        yield f"## {number}. {edit.name}"
        yield ""
        yield edit.rule
        yield ""
        yield "| typed | note | |"
        yield "|---|---|---|"
        for typed, note in edit.credited:
            yield f"| {_cell(typed)} | {_cell(note)} | credited |"
        for typed, note in edit.refused:
            yield f"| {_cell(typed)} | {_cell(note)} | refused |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ⏎ ")


def main(arguments: list[str] | None = None) -> int:
    """Prints or writes the page; 1 when a case does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page beside this file")
    write = parser.parse_args(arguments).write
    for name, typed, note in failures():
        sys.stderr.write(f"does not hold ({name}): {note!r} where {typed!r} was typed\n")
    if write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
    return 1 if failures() else 0


if __name__ == "__main__":
    sys.exit(main())
