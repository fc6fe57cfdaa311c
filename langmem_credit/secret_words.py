"""The word lists of `languages/secrets.json`, compiled: cue words and what ties a value to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from langmem_credit.secret_texts import fold
from langmem_credit.secret_values import Vocabulary

_TURNED = frozenset({"pin", "key"})
_KINDS = ("password", "phrase", "pin", "key", "token", "login")


@dataclass(frozen=True, slots=True)
class Cues:
    """The word lists, compiled.

    Attributes:
        pattern: one cue; the group that matched says how it may end.
        kinds: cue without separators → kind.
        after: from the end of a cue to its value; the group that matched is the tie.
        after_joined: the same where no white space need stand between.
        before: words that tie a value to a cue behind it.
        before_joined: the same for scripts without spaces.
        of: what may follow a cue whose value stands before it.
        own: possessives and articles.
        conditions: words before a cue that make its sentence a rule or question: "if", "ensure".
        glue: words that say nothing beside a cue.
        glue_joined: one or more of them where no white space stands between.
    """

    pattern: re.Pattern[str]
    kinds: dict[str, str]
    after: re.Pattern[str]
    after_joined: re.Pattern[str]
    before: frozenset[str]
    before_joined: re.Pattern[str]
    of: re.Pattern[str]
    own: frozenset[str]
    conditions: frozenset[str]
    glue: frozenset[str]
    glue_joined: re.Pattern[str]
    vocabulary: Vocabulary


@lru_cache(maxsize=1_024)
def kind_of(written: str) -> tuple[str, str]:
    """A cue as the word list has it, without separators, and its kind."""
    cue = _squeezed(written)
    return cue, load_cues().kinds[cue]


def _squeezed(cue: str) -> str:
    return re.sub(r"[ _.\-'\n]", "", cue)


@lru_cache(maxsize=1)
def load_cues() -> Cues:
    """The word lists of `languages/secrets.json`, folded and compiled."""
    path = resources.files("langmem_credit") / "languages" / "secrets.json"
    languages: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))

    def words(field: str, *, joined: bool | None = None) -> list[str]:
        listed = {
            fold(word).lower()
            for language in languages.values()
            if joined is None or bool(language.get("joined")) == joined
            for word in language.get(field, [])
        }
        return sorted(listed, key=lambda word: (-len(word), word))

    groups: dict[str, list[str]] = {"plain": [], "inflected": [], "joined": []}
    kinds: dict[str, str] = {}
    for language in languages.values():
        way = (
            "joined"
            if language.get("joined")
            else "inflected"
            if language.get("inflected")
            else "plain"
        )
        for kind in _KINDS:
            for word in language.get(kind, []):
                folded = fold(word).lower()
                kinds.setdefault(_squeezed(folded), kind)
                # Latin letters keep their word ends, also in a language without spaces.
                group = "plain" if way == "joined" and folded.isascii() else way
                groups[group].append(folded)
                # "the code for the door" is the door code.
                for link in language.get("turned", []) if folded.count(" ") == 1 else ():
                    thing, what = folded.split(" ")
                    if kind in _TURNED and what in language["turned_nouns"]:
                        kinds.setdefault(_squeezed(f"{what} {link} {thing}"), kind)
                        groups[group].append(f"{what} {link} {thing}")
    tail = r"(?:\(s\))?(?:[ _-]?\d{1,2}(?!\d))?(?![^\W\u2e80-\U0003ffff])"
    pattern = (
        rf"(?P<joined>{_trie(groups['joined'])})"
        rf"|(?P<plain>{_trie(groups['plain'])}){tail}"
        rf"|(?P<inflected>{_trie(groups['inflected'])})[^\W\d_]{{0,4}}+{tail}"
    )
    of, fillers = _either(words("of")), _either(words("fillers"))
    links, joined = _either(words("links", joined=False)), _either(words("links", joined=True))
    word = r"[^\s:=,;!?\"'()]{0,39}[^\s:=,;!?\"'().]"
    after, after_joined = (
        r"[\\\"'`\]*)_]{0,5}(?:[ \t]?\([^()\n]{0,40}\)|,[ \t][^,.:=\n]{1,30},)?"
        rf"(?:[ \t]+(?:{_either(words('possessive'))})(?!\w))?"
        r"(?:"
        rf"(?:[ \t]+(?:{of})(?!\w)(?:[ \t]+{word}){{0,7}}?)?(?:[*_\"'`]{{0,3}})(?:"
        r"(?P<sign>[ \t]*(?:[\"']?[ \t]*,?\s{0,20}[\"']?\bvalue[\"']?[ \t]*)?"
        r"(?::=|=>|->|=(?!=)|:{1,2})[*_`]{0,3}[ \t]*(?:\n[\s>*-]{0,8})?)"
        rf"|(?P<verb>(?:[,.;!]?[ \t]+(?:it's|it is|that's|which is|{links})|'s)"
        rf"(?!\w)[ \t]*[:=]?\s{{1,4}}(?:(?:{fillers})(?!\w)[ \t]*[:,]?\s{{1,4}}){{0,2}})"
        r")"
        rf"|(?P<joined>[ \t]*(?:{joined})[ \t]*[::=]?[ \t]*(?:\n[ \t]{{0,8}})?)"
        r"|(?P<dash>[ \t]+--?[ \t]+|[ \t]*\|[ \t]*|(?:[ \t][\w:-]{1,20}=[^<>\n]{0,80})?>)"
        rf"|(?P<near>(?:,?[ \t]+|[ \t]*\n{{1,2}}[ \t]*{glued})"
        r"(?=[\"'`*\\]{0,3}[^\s]{0,80}?[\d!@#$%^&*+=~]))"
        r")"
        for glued in ("", "|(?=[!-~])")
    )
    reverse_joined = _either(words("reverse", joined=True))
    vocabulary = Vocabulary(
        prose=frozenset(words("prose")) | frozenset(words("of")),
        endings=tuple(words("prose_endings")),
        units=frozenset(words("units")),
        cues=frozenset(kinds),
        algorithms=frozenset(words("algorithms")),
        roots=frozenset(words("roots")),
        parts=frozenset(words("parts")),
    )
    glue = {
        part
        for field in ("glue", "links", "of", "own", "fillers", *_KINDS)
        for listed in words(field)
        for part in re.findall(r"\w+", listed)
    }
    return Cues(
        pattern=re.compile(pattern),
        kinds=kinds,
        after=re.compile(after),
        after_joined=re.compile(after_joined),
        before=frozenset(words("reverse", joined=False)),
        before_joined=re.compile(
            rf"([!-~]{{4,64}}+)[ \t]?(?:{reverse_joined})[ \t]?"
            r"(?:我的|私の|[내제][ ])?(?:\w{1,6}的)?"
        ),
        of=re.compile(rf"[\"'`)]?(?:\s*$|[ \t]*[\n.,;!?)]|[ \t]+(?:{of}|and|but|so)(?!\w))"),
        own=frozenset(words("own")),
        conditions=frozenset(words("conditions")),
        glue=frozenset(glue),
        glue_joined=re.compile(f"(?:{_either(words('glue', joined=True))})+"),
        vocabulary=vocabulary,
    )


def _either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", "[ \\t]+") for word in words) or r"(?!)"


def _trie(words: Iterable[str]) -> str:
    """A pattern for any of the words that reads each character once; spaces may be "", "_", "-"."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for char in word:
            node = node.setdefault(char, {})
        node[""] = {}
    return _branch(tree)


def _branch(node: dict[str, Any]) -> str:
    branches = [
        ("[ _.\\-]?" if char == " " else re.escape(char)) + _branch(child)
        for char, child in sorted(node.items(), reverse=True)
        if char
    ]
    if not branches:
        return ""
    pattern = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
    return f"(?:{pattern})?" if "" in node else pattern
