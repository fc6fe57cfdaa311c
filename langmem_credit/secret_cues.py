"""Secrets that stand beside a word which says so: "the wifi password is …", `API_KEY=…`.

The words come from `languages/secrets.json`, all languages at once: a person's texts mix them. A
cue word alone redacts nothing: what follows it (or stands before it, as in "hunter2 is my
password") must look like a secret, the more so the looser it is tied to the cue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from langmem_credit.secret_texts import Span
from langmem_credit.secret_values import is_prose, looks_secret
from langmem_credit.secret_words import Cues, kind_of, load_cues

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
_LONGEST_CUE = 24

_CJK = "\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f"
_BARE = re.compile(rf"[^\s{_CJK}]\S{{0,{_MOST}}}+")
_ASCII_BARE = re.compile(rf"[^\s{_CJK}]{{1,{_MOST}}}+")
# In `User=sa;Password=…;Database=main` and `?token=…&page=2` another setting begins.
_NEXT_SETTING = re.compile(
    r"[;,&](?=[\"']?[A-Za-z_][\w .-]{0,40}[\"']?[=:])|\\?[\"'`]|</|\\[nrt]|\]\((?=[\w/#.])"
)
_OPENERS = {'"': '"', "'": "'", "`": "`", "「": "」", "『": "』", "《": "》"}
_CLOSERS = ".,;:)]}>\"'`。，；：、）】|"
_ENDS = re.compile(
    r"[\"'`*_)\]}>]{0,4}(?:\s*+$|[ \t]*+\n|[.;!?,)](?:\s|$)|[ \t]*+[|<]|[ \t]+[#(-]|[。！？，；、])"
)
_AND = re.compile(
    r"[\"'`]?[ \t]*(?:(?:,[ \t]+)?(?:and|or|und|oder|y|o|et|ou|e)|,|/|\+)[ \t]+"
    r"(?:(?:(?:and |the )?(?:new|old|other) one )?(?:is|was) (?:now )?)?[\"'`]?",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"[\"'`]?[^\s/:,\"'`]{1,60}[\"'`]?[ \t]?(?:[/:,]|and|und|y)[ \t]?[\"'`]?([^\s\"'`,]{4,64})"
)
_CLAUSE = re.compile(r"[.!?;:,\n。！？]")
_LONG = re.compile(rf"[^\s\"'`;,&<{_CJK}]*+")
# "48 21", "12-34-56": a PIN in groups.
_GROUPS = re.compile(r"\d{2,4}(?:[ -]\d{2,4}){1,3}(?![\w/:.-]?\d)(?! ?[^\W\d_])")
# "さくら2207": letters of a script without spaces, then figures, then nothing.
_MIXED = re.compile(rf"([{_CJK}]{{1,12}}\d{{2,8}})(?=[)\"'`」】]?\s*$|[ \t]*\n|[。，；、,;])")
_UNIT = re.compile(r"[ \t]*-?([^\W\d_]{1,20})")
_RUN = re.compile(r"[^\W\d_]{2,12}(?:[ ,]{1,2}[^\W\d_]{2,12}){2,29}+")
# Scripts written without spaces come after this character.
_LAST_SPACED = "\u2e7f"
_BEFORE_VALUE = ("\\", "*", "_")
# Group of `Cues.after` that matched → how firmly it ties.
_TIES = {"sign": "sign", "verb": "verb", "joined": "verb", "dash": "near", "near": "near"}
_LONELY_SIGNS = frozenset({"pass"})  # "pass" is a verb: only `pass: …` and `pass=…` are cues
_SEED_LENGTHS = frozenset({12, 15, 18, 21, 24})


def find_cued(text: str, low: str) -> Iterator[Span]:
    """Every secret beside a cue word, in order.

    Args:
        text: folded by `secret_texts.fold`.
        low: the same in lower case, of the same length.
    """
    search = _Search(text, low, load_cues())
    position = 0
    while found := search.cues.pattern.search(low, position):
        position = found.end()
        if not _starts_word(text, found) or _in_mark(text, found.start()):
            continue
        cue, kind = kind_of(found[found.lastgroup or 0])
        for start, end in search.after(found, cue, kind) or search.before(found, cue, kind):
            yield Span(start, end, _NAMES[kind])
            # "password: Xpassword: X": the value took the next cue along.
            signed = text[end : end + 1] in (":", "=") and end < len(text)
            position = max(position, end - _LONGEST_CUE * signed)


def _starts_word(text: str, found: re.Match[str]) -> bool:
    """True where a cue may begin: long ones also inside a compound ("WLANPasswort")."""
    start = found.start()
    if start == 0 or not text[start - 1].isalnum():
        return True
    if found.end() - start >= 6 or text[start] > _LAST_SPACED:
        return True
    return text[start].isupper() and text[start - 1].islower()  # dbPwd


def _in_mark(text: str, start: int) -> bool:
    """True for the cue word in the mark that stands for a removed secret."""
    return text.startswith("[secret removed]", start - 1)


@dataclass(slots=True)
class _Search:
    """One text being searched; what was judged once in it is not judged again."""

    text: str
    low: str
    cues: Cues
    judged: dict[tuple[object, ...], bool] = field(default_factory=dict)

    def after(self, found: re.Match[str], cue: str, kind: str) -> list[tuple[int, int]]:
        """The secrets that stand behind the cue."""
        text, cues = self.text, self.cues
        pattern = cues.after_joined if found.lastgroup == "joined" else cues.after
        tied = pattern.match(self.low, found.end())
        if not tied or not tied.lastgroup:
            return []
        start = tied.end()
        tie = _TIES[tied.lastgroup]
        if tie == "near" and text.startswith("--", found.start() - 2):
            tie = "sign"  # --password hunter2
        if cue in _LONELY_SIGNS and tie != "sign" and not self._is_noun(found.start(), tie):
            return []
        # "Password" as the label of a form, its value in the next line; no end of a sentence.
        if tie == "near" and "\n" in tied[0] and len(self._lead(found.start())) > 1:
            return []
        if kind == "login":
            return self._login(start, tie)
        if tied[0] == ":" and text[found.start() - 1 : found.start()] == ":":
            return []  # a part of a longer name, "…:secret:billing-d4e5f6"
        if kind == "pin" and (groups := _GROUPS.match(text, start)):
            return [groups.span()]
        value = _value(text, start, markup=text.startswith(">", start - 1))
        if value is None:
            mixed = _MIXED.match(text, start) if tie == "sign" and kind == "password" else None
            return [mixed.span(1)] if mixed else []
        first, last, quoted = value
        word = text[first:last]
        if quoted and " " in word.strip():
            good = kind in ("password", "phrase") and tie != "near" and self._is_phrase(word, odd=2)
            return [(first, last)] if good else []
        assigned = (
            tie == "sign" and "=" in tied[0] and found[0].upper() == text[slice(*found.span())]
        )
        alone = (assigned and not text[start - 1].isspace()) or (
            tie != "near"
            and _ENDS.match(text, last) is not None
            and (tie == "sign" or self._is_short_clause(found.start()))
            and (tie == "sign" or cue not in _LONELY_SIGNS)
        )
        if not self._looks(word, kind, tie, cue, quoted, alone, assigned) or (
            word.isdigit() and self._is_counted(last)
        ):
            return self._plain_words(first, kind) if tie != "near" else []
        return self._listed((first, _grown(text, last)), kind, cue)

    def before(self, found: re.Match[str], cue: str, kind: str) -> list[tuple[int, int]]:
        """The secret before its cue: "hunter2 is my password", "use 4821 as the PIN"."""
        if cue in _LONELY_SIGNS or kind in ("phrase", "login"):
            return []
        low, cues = self.low, self.cues
        behind = found.start()
        lowest = max(0, behind - 120)
        if low[max(0, behind - 2) : behind].rstrip(" ")[-1:] > _LAST_SPACED:
            joined = cues.before_joined.search(low, lowest, behind)
            if not joined or joined.end() != behind:
                return []
            start, end = joined.span(1)
        elif cues.of.match(low, found.end()) and (told := self._told_before(lowest, behind)):
            start, end = told
        else:
            return []
        while end > start and self.text[end - 1] in _CLOSERS:
            end -= 1
        while end > start and self.text[start] in "\"'`(*":
            start += 1
        good = self._looks(self.text[start:end], kind, "reverse", cue, False, False, False)
        return [(start, end)] if good else []

    def _told_before(self, lowest: int, behind: int) -> tuple[int, int] | None:
        """The word that "is my" or "as the" ties to a cue behind them."""
        words = self.low[lowest:behind].split()
        for back in range(1, min(5, len(words))):
            word = words[-back]
            if word in self.cues.before:
                start = self.low.rfind(words[-back - 1] + " ", lowest, behind)
                # A word that began before the stretch we read is not known whole.
                if start < 0 or (start == lowest and lowest > 0):
                    return None
                return start, start + len(words[-back - 1])
            # "… is a bad password", "… is not my password"
            if word[-1] in ".!?;:," or (
                word not in self.cues.own and is_prose(word, self.cues.vocabulary)
            ):
                return None
        return None

    def _looks(self, *judged: Any) -> bool:
        if judged not in self.judged:
            word, kind, tie, cue, quoted, alone, assigned = judged
            self.judged[judged] = looks_secret(
                word,
                kind,
                tie,
                self.cues.vocabulary,
                cue=cue,
                quoted=quoted,
                alone=alone,
                assigned=assigned,
            )
        return self.judged[judged]

    def _listed(self, span: tuple[int, int], kind: str, cue: str) -> list[tuple[int, int]]:
        """The secret and those that "and" or a comma puts beside it."""
        spans = [span]
        while len(spans) < 20 and (more := _AND.match(self.text, spans[-1][1])):
            following = _value(self.text, more.end(), markup=False)
            if not following:
                break
            word = self.text[following[0] : following[1]]
            if not self._looks(word, kind, "near", cue, False, False, False):
                break
            spans.append((following[0], _grown(self.text, following[1])))
        return spans

    def _login(self, start: int, tie: str) -> list[tuple[int, int]]:
        """The second half of "bob / hunter2"."""
        pair = _PAIR.match(self.text, start)
        if not pair or tie == "near":
            return []
        first, end = pair.span(1)
        while self.text[end - 1] in _CLOSERS:
            end -= 1
        good = self._looks(self.text[first:end], "password", "near", "", False, False, False)
        return [(first, end)] if good else []

    def _is_counted(self, end: int) -> bool:
        """True for "password is 12 characters": a number and its unit."""
        unit = _UNIT.match(self.low, end)
        if not unit:
            return False
        units = self.cues.vocabulary.units
        return unit[1] in units or (unit[1][0] > _LAST_SPACED and unit[1].startswith(tuple(units)))

    def _lead(self, start: int) -> list[str]:
        """The words before a cue, back to the last punctuation mark or line end."""
        clause = _CLAUSE.split(self.low[max(0, start - 60) : start])[-1]
        return [word for word in (part.strip("(*>\"'`-[{_") for part in clause.split()) if word]

    def _is_noun(self, start: int, tie: str) -> bool:
        """True for "pass" in "my pass is" and "user bob, pass", false in "tests pass"."""
        if tie == "verb":
            return self._is_short_clause(start) and bool(self._lead(start))
        before = self.text[max(0, start - 3) : start].rstrip(" ")
        return tie == "near" and before.endswith((",", "/", ";"))

    def _is_short_clause(self, start: int) -> bool:
        """True for "my wifi" before a cue, false for "make sure that the"."""
        lead = self._lead(start)
        if len(lead) > 6 or self.cues.conditions & set(lead):
            return False
        return not lead or any(word in self.cues.own for word in lead)

    def _is_phrase(self, words: str, odd: int = 4) -> bool:
        """True for words that make no sentence; one in so many may be "correct" or "open"."""
        listed = [word.lower() for word in re.split("[ ,]+", words) if len(word) > 1]
        prose = [word for word in listed if is_prose(word, self.cues.vocabulary)]
        return (
            not any(word in self.cues.glue for word in listed)
            and not any(len(word) < 4 for word in prose)
            and len(prose) * odd <= len(listed)
        )

    def _plain_words(self, start: int, kind: str) -> list[tuple[int, int]]:
        """A secret of several plain words, up to the end of its sentence: "correct horse …"."""
        if kind not in ("password", "phrase"):
            return []
        run = _RUN.match(self.text, start)
        if not run or not _ENDS.match(self.text, run.end()):
            return []
        words = re.split("[ ,]+", run[0])
        if kind == "phrase" and len(words) in _SEED_LENGTHS:
            return [run.span()]
        least = 3 if kind == "phrase" else 4
        if len(words) < least or not all(word.islower() for word in words):
            return []
        return [run.span()] if self._is_phrase(run[0]) else []


def _value(text: str, start: int, *, markup: bool) -> tuple[int, int, bool] | None:
    """Start, end of what stands here, without its quotation marks, and whether it had any."""
    while text[start : start + 1] in _BEFORE_VALUE and start < len(text) - 1:
        start += 1
    opener = text[start : start + 1]
    if opener in _OPENERS:
        end = text.find(_OPENERS[opener], start + 1, start + 1 + _MOST)
        if end > start + 1 and text.find("\n", start + 1, end) < 0:
            while text[end - 1] == "\\" and end > start + 2:
                end -= 1
            return start + 1, end, True
        start += 1
    pattern = _ASCII_BARE if text[start : start + 1].isascii() else _BARE
    bare = pattern.match(text, start)
    # Nothing unquoted in a script without spaces: it is the sentence going on ("密码是必填项").
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
    if end < len(text) and not text[end].isspace() and text[end] not in _CLOSERS + "\\&<":
        long = _LONG.match(text, end)
        return long.end() if long else end
    return end
