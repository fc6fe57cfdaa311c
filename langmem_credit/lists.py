"""The items of a typed list under a plain heading, each of which may stand alone.

The heading must be one of a few that say that what follows is so, or shall be so: "about me:",
"our conventions:". A heading that limits, denies or attributes its items is none of them. Nothing
else may stand in the message but greetings and what leaves every other sentence alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from .asides import find_aside
from .detection import detect
from .languages import Language, load
from .retractions import content_of
from .sentences import Stretch
from .standing import is_order
from .units import is_greeting
from .words import Token, quoted_mask, strip_final_stop, tokenize

_ITEM = re.compile(r"([-*\u2022]|\d{1,2}[.)])[ \t]+(\S.*?)[ \t]*")
_MOST = 20
_OPEN_MARKS = frozenset("()[]{}?^~")
_MOST_OPEN = 2  # words of a thing that a heading names: "rules for this repo"
# What a heading makes of its items, and the fields with its wordings: whole, and before a thing.
_HEADS = {
    "rules": ("list_rules", "list_rules_of"),
    "facts": ("list_facts", "list_facts_of"),
    "either": ("list_either", ""),
}


@dataclass(frozen=True, slots=True)
class _Item:
    text: str
    start: int


def items_of(whole: Stretch) -> Iterator[Stretch]:
    r"""Each item as a message of its own, in order; none where anything may touch one.

    >>> from langmem_credit.notes import Utterance
    >>> text = "House rules:\n- no force pushes\n- two approvals per PR"
    >>> whole = Stretch([Utterance("m", text)], 0, 0, tokenize(text))
    >>> [item.utterance.text for item in items_of(whole)]
    ['no force pushes', 'two approvals per PR']
    """
    utterance = whole.utterance
    if utterance.via != "input" or utterance.asked or "\n" not in utterance.text:
        return
    front, items, behind = _read(utterance.text)
    if not 0 < len(items) <= _MOST or not front:
        return
    language = whole.language or load("en")
    *before, head = front
    kind = _kind_of(head, language)
    if not kind or not all(_is_aside(line, language) for line in (*before, *behind)):
        return
    if any(_touches(tokenize(item.text), language) for item in items):
        return
    named = [content_of(tokenize(item.text)) for item in items]
    for place, item in enumerate(items):
        tokens = tokenize(item.text)
        if any(named[place] & other for k, other in enumerate(named) if k != place):
            # "never smoke", "guests smoke outside"
            continue
        if kind == "facts" and is_order(strip_final_stop(tokens), language):
            continue
        part = replace(utterance, text=item.text)
        heard = [*whole.heard[: whole.index], part, *whole.heard[whole.index + 1 :]]
        yield Stretch(heard, whole.index, item.start, tokens, lasting=kind != "either")


def _read(text: str) -> tuple[list[str], list[_Item], list[str]]:
    """(lines before the list, items, lines behind it); no items where it is no plain list."""
    lines: list[tuple[str, _Item | None]] = []
    place, marks = 0, set()
    for line in text.split("\n"):
        match = _ITEM.fullmatch(line.rstrip("\r"))
        if match:
            marks.add("#" if match[1][0].isdigit() else match[1])
            lines.append(("item", _Item(match[2], place + match.start(2))))
        elif line.strip():
            lines.append((line, None))
        place += len(line) + 1
    groups = [
        (listed, list(group))
        for listed, group in groupby(lines, key=lambda one: one[1] is not None)
    ]
    if len(marks) != 1 or [listed for listed, _ in groups] not in (
        [False, True],
        [False, True, False],
    ):
        return [], [], []
    texts = [[line for line, _ in group] for _, group in groups]
    items = [item for _, item in groups[1][1] if item is not None]
    return texts[0], items, texts[2] if len(texts) > 2 else []


def _kind_of(head: str, language: Language) -> str:
    """What the heading makes of its items; "" where it is none of those that are known."""
    tokens = tokenize(head)
    if len(tokens) < 2 or tokens[-1].text != ":":
        return ""
    tokens = tokens[:-1]
    start = 0
    while start < len(tokens) and (
        length := language.phrases("list_leads").match_at(tokens, start)
        or language.phrases("greetings").match_at(tokens, start)
    ):
        start += length
        while start < len(tokens) and tokens[start].text in ",!.":
            start += 1
    rest = tokens[start:]
    for kind, (field, before_thing) in _HEADS.items():
        if rest and language.phrases(field).match_at(rest, 0) == len(rest):
            return kind
        length = language.phrases(before_thing).match_at(rest, 0)
        named = rest[length:]
        if length and 0 < len(named) <= _MOST_OPEN and all(token.word for token in named):
            if not any(token.low in language.words("aside_not") for token in named):
                return kind
    return ""


def _is_aside(line: str, language: Language) -> bool:
    tokens = tokenize(line)
    return is_greeting(tokens, language) or find_aside(tokens, language) is not None


def _touches(item: Sequence[Token], language: Language) -> bool:
    """True when an item may speak of another one, or say how the list is meant."""
    if (detect(item) or language) is not language:
        return True
    if not item or item[0].low in language.words("list_not_first"):
        return True
    if (
        item[1:2]
        and item[1].text == ","
        and item[0].low in language.words("openers_before_separator")
    ):
        # "no, spaces" answers the item before.
        return True
    mask = quoted_mask(item)
    denied = language.words("list_not")
    return any(
        token.low.partition("'")[0] in denied or token.text in _OPEN_MARKS
        for token, quoted in zip(item, mask, strict=True)
        if not quoted
    )
