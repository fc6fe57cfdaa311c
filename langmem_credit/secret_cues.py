"""Secrets that stand beside a word which says so: "the wifi password is …", `API_KEY=…`.

The words come from `languages/secrets.json`, all languages at once: a person's texts mix them. A
cue word alone redacts nothing: what follows it (or stands before it, as in "hunter2 is my
password") must look like a secret, the more so the looser it is tied to the cue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from langmem_credit.secret_shapes import Span
from langmem_credit.secret_values import Vocabulary, is_prose, is_reference, looks_secret

_KINDS = ("password", "phrase", "pin", "key", "token", "login")
_NAMES = {
    "password": "a password",
    "phrase": "a secret phrase",
    "pin": "a PIN or code",
    "key": "an API key",
    "token": "a token",
    "login": "a password",
}
# Longest value taken without a reason to go on, and longest text between a cue and its value.
_MOST = 256

_CJK = "\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f"
_BARE = re.compile(r"[^\s]{1,%d}+" % _MOST)
_ASCII_BARE = re.compile(r"[^\s%s]{1,%d}+" % (_CJK, _MOST))
# In `User=sa;Password=…;Database=main` and `?token=…&page=2` another setting begins.
_NEXT_SETTING = re.compile(r"[;,&](?=[\"']?[A-Za-z_][\w .-]{0,40}[\"']?[=:])|\\?[\"'`]|</|\\[nrt]")
_OPENERS = {'"': '"', "'": "'", "`": "`", "「": "」", "『": "』", "《": "》"}
_CLOSERS = ".,;:)]}>\"'`。，；：、）】|"
_ENDS = re.compile(
    r"[\"'`*_)\]}>]{0,4}(?:\s*+$|[ \t]*+\n|[.;!?,)](?:\s|$)|[ \t]*+[|<]|[ \t]+[#(-]|[。！？，；、])"
)
_AND = re.compile(r"[\"'`]?[ \t]*(?:,|/|\+|and|or|und|oder|y|o|et|ou|e)[ \t]+[\"'`]?", re.IGNORECASE)
_PAIR = re.compile(r"[\"'`]?[^\s/:,\"'`]{1,60}[\"'`]?[ \t]?(?:[/:,]|and|und|y)[ \t]?[\"'`]?([^\s\"'`,]{4,64})")
_CLAUSE = re.compile(r"[.!?;:,\n。！？]")
_CONDITIONS = frozenset(
    "if when whether ensure check that make sure unless until while because since verify confirm "
    "assume where how why what which wenn ob falls si cuando quand se quando если когда".split()
)
_LONELY_SIGNS = frozenset({"pass"})  # "pass" is a verb: only `pass: …` and `pass=…` are cues
_SEED_LENGTHS = frozenset({12, 15, 18, 21, 24})


@dataclass(frozen=True, slots=True)
class _Cues:
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
    glue: frozenset[str]
    glue_joined: re.Pattern[str]
    vocabulary: Vocabulary


def find_cued(text: str, low: str) -> Iterator[Span]:
    """Every secret beside a cue word, in order.

    Args:
        text: folded by `scrubbing.fold`.
        low: the same in lower case, of the same length.
    """
    cues = load_cues()
    position = 0
    while found := cues.pattern.search(low, position):
        position = found.end()
        if not _starts_word(text, found.start(), found[0]) or _in_mark(text, found.start()):
            continue
        cue = _squeezed(found[found.lastgroup or 0])
        kind = cues.kinds[cue]
        spans = _after(text, low, found, cue, kind, cues) or _before(text, low, found, cue, kind, cues)
        for start, end in spans:
            yield Span(start, end, _NAMES[kind])
            position = max(position, end)


def _starts_word(text: str, start: int, cue: str) -> bool:
    """True where a cue may begin: long ones also inside a compound ("WLANPasswort")."""
    if start == 0 or not text[start - 1].isalnum() or len(cue) >= 6 or cue[0] > "\u2e7f":
        return True
    return text[start].isupper() and text[start - 1].islower()  # dbPwd


def _in_mark(text: str, start: int) -> bool:
    """True for the cue word in the mark that stands for a removed secret."""
    return text.startswith("[secret removed]", start - 1)


def _after(
    text: str, low: str, found: re.Match[str], cue: str, kind: str, cues: _Cues
) -> list[tuple[int, int]]:
    pattern = cues.after_joined if found.lastgroup == "joined" else cues.after
    tied = pattern.match(low, found.end())
    if not tied or not tied.lastgroup:
        return []
    tie = tied.lastgroup
    start = tied.end()
    if tie == "near" and text[max(0, found.start() - 2) : found.start()] == "--":
        tie = "sign"  # --password hunter2
    if tie in ("dash", "joined"):
        tie = "near" if tie == "dash" else "verb"
    if cue in _LONELY_SIGNS and tie != "sign":
        lead = text[max(0, found.start() - 2) : found.start()].strip()
        if tie != "near" or lead not in ("", ",", "/", ";") or found.start() == 0:
            return []
    if kind == "login":
        return _login(text, tied.end(), tie, cues)
    value = _value(text, start, markup=text.startswith(">", tied.end() - 1))
    if value is None:
        return []
    first, last, quoted = value
    word = text[first:last]
    assigned = tie == "sign" and "=" in tied[0] and text[found.start() : found.end()].isupper()
    if quoted and " " in word.strip():
        good = kind in ("password", "phrase") and tie != "near" and _is_quoted_phrase(word, cues)
        return [(first, last)] if good else []
    alone = (assigned and not text[start - 1].isspace()) or _ENDS.match(text, last) is not None and (
        tie == "sign" or (tie == "verb" and _is_short_clause(low, found.start(), cues))
    )
    if not looks_secret(
        word, kind, tie, cues.vocabulary, cue=cue, quoted=quoted, alone=alone, assigned=assigned
    ) or (word.isdigit() and _is_counted(low, last, cues)):
        return _phrase(text, first, kind, tie, cues)
    spans = [(first, _grown(text, last))]
    while len(spans) < 20 and (more := _AND.match(text, spans[-1][1])):
        following = _value(text, more.end(), markup=False)
        if not following or not looks_secret(
            text[following[0] : following[1]], kind, "near", cues.vocabulary, cue=cue
        ):
            break
        spans.append((following[0], _grown(text, following[1])))
    return spans


def _login(text: str, start: int, tie: str, cues: _Cues) -> list[tuple[int, int]]:
    """The second half of "bob / hunter2"."""
    pair = _PAIR.match(text, start)
    if not pair or tie not in ("sign", "verb"):
        return []
    end = pair.end()
    while text[end - 1] in _CLOSERS:
        end -= 1
    good = looks_secret(text[pair.start(1) : end], "password", "near", cues.vocabulary)
    return [(pair.start(1), end)] if good else []


def _value(text: str, start: int, *, markup: bool) -> tuple[int, int, bool] | None:
    """Start, end of what stands here, without its quotation marks, and whether it had any."""
    while text.startswith(("\\", "*", "_"), start) and start < len(text) - 1:
        start += 1
    opener = text[start : start + 1]
    if opener in _OPENERS and opener:
        end = text.find(_OPENERS[opener], start + 1, start + 1 + _MOST)
        line = text.find("\n", start + 1, start + 1 + _MOST)
        if end > start + 1 and not 0 <= line < end:
            while text[end - 1] == "\\" and end > start + 2:
                end -= 1
            return start + 1, end, True
        start += 1
    pattern = _ASCII_BARE if text[start : start + 1].isascii() else _BARE
    bare = pattern.match(text, start)
    if not bare:
        return None
    end = bare.end()
    if other := _NEXT_SETTING.search(text, start, end):
        end = other.start()
    if markup and (tag := text.find("<", start, end)) >= 0:
        end = tag
    while end > start and text[end - 1] in _CLOSERS:
        end -= 1
    return (start, end, False) if end > start else None


def _grown(text: str, end: int) -> int:
    """The end of the run when the value was longer than we looked at."""
    if end < len(text) and not text[end].isspace() and text[end] not in _CLOSERS:
        long = re.compile(r"[^\s\"'`;,&<%s]*+" % _CJK).match(text, end)
        return long.end() if long and text[end] not in "\\&;," else end
    return end


def _is_counted(low: str, end: int, cues: _Cues) -> bool:
    """True for "password is 12 characters": a number and its unit."""
    unit = re.compile(r"[ \t]*-?([^\W\d_]{1,20})").match(low, end)
    if not unit:
        return False
    units = cues.vocabulary.units
    return unit[1] in units or (unit[1][0] > "\u2e7f" and unit[1].startswith(tuple(units)))


def _is_short_clause(low: str, start: int, cues: _Cues) -> bool:
    """True for "my wifi" before a cue, false for "make sure that the"."""
    lead = _CLAUSE.split(low[max(0, start - 60) : start])[-1].split()
    if len(lead) > 6 or (len(lead) == 60):
        return False
    return not _CONDITIONS & set(lead) and (not lead or any(word in cues.own for word in lead))


def _is_quoted_phrase(words: str, cues: _Cues) -> bool:
    """True for words that make no sentence; one in four may be "correct" or "long"."""
    listed = [word.lower() for word in re.split("[ ,]+", words) if word]
    prose = [word for word in listed if is_prose(word, cues.vocabulary)]
    return (
        not any(word in cues.glue for word in listed)
        and not any(len(word) < 4 for word in prose)
        and len(prose) * 4 <= len(listed)
    )


def _phrase(text: str, start: int, kind: str, tie: str, cues: _Cues) -> list[tuple[int, int]]:
    """A secret of several plain words, up to the end of its sentence: "correct horse …"."""
    if kind not in ("password", "phrase") or tie not in ("sign", "verb"):
        return []
    run = re.compile(r"[^\W\d_]{2,12}(?:[ ,]{1,2}[^\W\d_]{2,12}){2,29}+").match(text, start)
    if not run or not _ENDS.match(text, run.end()):
        return []
    words = re.split("[ ,]+", run[0])
    if kind == "phrase" and len(words) in _SEED_LENGTHS:
        return [run.span()]
    least = 3 if kind == "phrase" else 4
    if len(words) < least or not all(word.islower() for word in words):
        return []
    return [run.span()] if _is_quoted_phrase(run[0], cues) else []


def _before(
    text: str, low: str, found: re.Match[str], cue: str, kind: str, cues: _Cues
) -> list[tuple[int, int]]:
    """The value before its cue: "hunter2 is my password", "use 4821 as the PIN"."""
    if cue in _LONELY_SIGNS or kind == "phrase":
        return []
    lowest = max(0, found.start() - 120)
    joined = cues.before_joined.search(low, lowest, found.start())
    if joined and joined.end() == found.start():
        start, end = joined.span(1)
    else:
        if not cues.of.match(low, found.end()):
            return []
        words = low[lowest : found.start()].split()
        for back in range(1, min(5, len(words))):
            word = words[-back]
            if word in cues.before:
                break
            # "… is a bad password", "… is not my password"
            if word[-1] in ".!?;:," or (word not in cues.own and is_prose(word, cues.vocabulary)):
                return []
        else:
            return []
        raw = words[-back - 1]
        start = low.rfind(raw + " ", lowest, found.start())
        if start < 0 or (start == lowest and lowest > 0):
            return []
        end = start + len(raw)
    while end > start and text[end - 1] in _CLOSERS:
        end -= 1
    while end > start and text[start] in "\"'`(*":
        start += 1
    value = text[start:end]
    if is_reference(value, cues.vocabulary, quoted=False):
        return []
    good = looks_secret(value, kind, "reverse", cues.vocabulary, cue=cue)
    return [(start, end)] if good else []


def _squeezed(cue: str) -> str:
    return re.sub(r"[ _.\-'\n]", "", cue)


@lru_cache(maxsize=1)
def load_cues() -> _Cues:
    """The word lists of `languages/secrets.json`, folded and compiled."""
    from langmem_credit.scrubbing import fold

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
        way = "joined" if language.get("joined") else "inflected" if language.get("inflected") else "plain"
        for kind in _KINDS:
            for word in language.get(kind, []):
                folded = fold(word).lower()
                kinds.setdefault(_squeezed(folded), kind)
                # Latin letters keep their word ends, also in a language without spaces.
                group = "plain" if way == "joined" and folded.isascii() else way
                groups[group].append(folded)
    tail = r"(?:\(s\))?(?:[ _-]?\d{1,2}(?!\d))?(?!\w)"
    pattern = (
        rf"(?P<plain>{_trie(groups['plain'])}){tail}"
        rf"|(?P<inflected>{_trie(groups['inflected'])})[^\W\d_]{{0,4}}+{tail}"
        rf"|(?P<joined>{_trie(groups['joined'])})"
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
        r"(?::=|=>|->|={1,3}|:{1,2})[*_`]{0,3}[ \t]*(?:\n[\s>*-]{0,8})?)"
        rf"|(?P<verb>(?:[,.;!]?[ \t]+(?:it's|it is|that's|which is|{links})|'s)"
        rf"(?!\w)[ \t]*[:=]?\s{{1,4}}(?:(?:{fillers})(?!\w)[ \t]*[:,]?\s{{1,4}}){{0,2}})"
        r")"
        rf"|(?P<joined>[ \t]*(?:{joined})[ \t]*[::=]?[ \t]*(?:\n[ \t]{{0,8}})?)"
        r"|(?P<dash>[ \t]+--?[ \t]+|[ \t]*\|[ \t]*|>)"
        rf"|(?P<near>,?[ \t]+(?=\S){glued})"
        r")"
        for glued in ("", "|(?=[!-~])")
    )
    reverse_joined = _either(words("reverse", joined=True))
    vocabulary = Vocabulary(
        prose=frozenset(words("prose")) | frozenset(words("of")),
        endings=tuple(words("prose_endings")),
        units=frozenset(words("units")),
        cues=frozenset(kinds),
    )
    glue = {part for field in ("glue", "links", "of", "own", "fillers", *_KINDS)
            for listed in words(field) for part in re.findall(r"\w+", listed)}
    return _Cues(
        pattern=re.compile(pattern),
        kinds=kinds,
        after=re.compile(after),
        after_joined=re.compile(after_joined),
        before=frozenset(words("reverse", joined=False)),
        before_joined=re.compile(
            rf"([!-~]{{4,64}}+)[ \t]?(?:{reverse_joined})[ \t]?(?:我的|私の|내[ ])?(?:\w{{1,6}}的)?"
        ),
        of=re.compile(rf"[\"'`)]?(?:\s*$|[ \t]*[\n.,;!?)]|[ \t]+(?:{of}|and|but|so)(?!\w))"),
        own=frozenset(words("own")),
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
