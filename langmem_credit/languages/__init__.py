"""What the rules must know of each language, read from one JSON file a language.

A file gives word lists and phrases under the names in `FIELDS`; a language without a file is
credited verbatim only. Nothing here knows grammar: `shift.py` and `standing.py` do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from langmem_credit.words import Phrases, Token

from .fields import FIELDS

__all__ = ["CODES", "FIELDS", "Language", "detect", "detect_tied", "load", "read_data"]

CODES: tuple[str, ...] = ("en", "es", "de", "zh", "fr", "it", "pt", "ru")


class Language:
    """One language's data.

    >>> load("en").phrases("openers").match_at([], 0)
    0
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.code: str = data["code"]
        self._data = data
        self._phrases: dict[str, Phrases] = {}
        self._merged: dict[tuple[str, ...], Phrases] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._items: dict[str, tuple[str, ...]] = {}
        self._tables: dict[str, dict[str, str]] = {}
        # Chinese in simplified characters is looked up in traditional ones too.
        self._variants = str.maketrans(data.get("variants", {}))

    def phrases(self, field: str) -> Phrases:
        """The phrases of a field, ready to be found in tokens."""
        found = self._phrases.get(field)
        if found is None:
            items = self.table("pairs") if field == "pairs_first" else self.items(field)
            found = self._phrases[field] = Phrases(items)
        return found

    def merged(self, fields: tuple[str, ...]) -> Phrases:
        """The phrases of several fields as one, to look for all of them in one go."""
        found = self._merged.get(fields)
        if found is None:
            found = self._merged[fields] = Phrases(
                text for field in fields for text in self.phrases(field).texts
            )
        return found

    def words(self, field: str) -> frozenset[str]:
        """The lower-case words of a field."""
        found = self._words.get(field)
        if found is None:
            found = self._words[field] = frozenset(self.items(field))
        return found

    def items(self, field: str) -> tuple[str, ...]:
        """The entries of a field in the file's order; a string is cut at white space."""
        found = self._items.get(field)
        if found is None:
            value = self._data.get(field, [])
            items = value.split() if isinstance(value, str) else list(value)
            if self._variants:
                others = [item.translate(self._variants) for item in items]
                items += [other for item, other in zip(items, others, strict=True) if other != item]
            found = self._items[field] = tuple(items)
        return found

    def table(self, field: str) -> dict[str, str]:
        """A field that maps words to words."""
        found = self._tables.get(field)
        if found is None:
            value = self._data.get(field, {})
            found = dict(value) if isinstance(value, dict) else {}
            for key, other in list(found.items()) if self._variants else ():
                found[key.translate(self._variants)] = other.translate(self._variants)
            self._tables[field] = found
        return found


@cache
def load(code: str) -> Language:
    """The language with this code.

    Raises:
        KeyError: there is no file for it.
    """
    if code not in CODES:
        raise KeyError(f"There is no language file for {code!r}; there are: {', '.join(CODES)}.")
    return Language(read_data(code))


@cache
def read_data(name: str) -> dict[str, Any]:
    """The parsed JSON of a data file of this package, by its name without the ending."""
    text = resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def _english() -> frozenset[str]:
    """English words, which tell no other language."""
    english = load("en")
    fields = ("detect", "nouns", "function_words", "leading_prepositions", "finite", "subjects")
    verbs = ("working", "generic_working", "one_off_verbs", "adverbs", "generic_markers")
    return frozenset[str]().union(*map(english.words, (*fields, *verbs)))


@cache
def _telling(code: str) -> frozenset[str]:
    """Words that tell the language: its `detect` words, and its verbs that English has not."""
    language = load(code)
    if code == "en":
        return language.words("detect")
    verbs = ("working", "generic_working", "one_off_verbs", "other_verbs")
    fields = (*verbs, "finite", "subjects", "adverbs")
    more = frozenset[str]().union(
        *map(language.words, fields),
        *(item.split() for item in language.table("pairs")),
        language.words("function_words"),
        (item for item in language.items("errands") if " " not in item),
    )
    known = (language.words("detect") | more) - _english()
    shared = language.words("detect") & load("en").words("detect")
    # One letter is a variable in any language.
    return frozenset(word for word in known if len(word) > 1 or word > "\u2e80") | shared


@cache
def _foreign() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """(common words, letters) of languages that have no file, to tell them from those that have.

    Words that English has too are left out: taken for another language, an English order would
    escape the check that it should last.
    """
    english = load("en")
    known = english.words("detect") | english.words("nouns") | english.words("function_words")
    known |= english.words("leading_prepositions") | english.words("working")
    known |= english.words("generic_working") | english.words("one_off_verbs")
    return {
        code: (
            frozenset(word for word in data["words"].split() if len(word) > 1) - known,
            frozenset(data["letters"]),
        )
        for code, data in read_data("foreign").items()
    }


@cache
def _tellers() -> dict[str, list[str]]:
    """For each word the codes of the languages that it tells, English aside."""
    known = {code: _telling(code) for code in CODES[1:]}
    known |= {code: words for code, (words, _) in _foreign().items()}
    tellers: dict[str, list[str]] = {}
    for code, words in known.items():
        for word in words:
            tellers.setdefault(word, []).append(code)
    return tellers


def detect(tokens: Sequence[Token]) -> Language | None:
    """The language of the text among those with a file; None for any other.

    Text with no known word at all counts as English, since a language with rules credits less
    than one without; so does a text that ties with English.
    """
    return next(iter(detect_tied(tokens)), None)


def detect_tied(tokens: Sequence[Token]) -> tuple[Language, ...]:
    """The languages that the text may as well be of, the one of `detect` first; none for `None`.

    "Nunca como carne" is Spanish and Portuguese; English shares its place with none.

    >>> from langmem_credit.words import tokenize
    >>> [one.code for one in detect_tied(tokenize("Nunca como carne"))]
    ['es', 'pt']
    """
    words = [token.low for token in tokens[:400] if token.word]
    letters = "".join(words)
    counts = Counter(words)
    han = 0
    if not letters.isascii():
        if any("\u3040" <= char <= "\u30ff" for char in letters):
            return ()
        han = sum("\u3400" <= char <= "\u9fff" for char in letters)
        latin = sum(char < "\u0250" or "\u1e00" <= char <= "\u1eff" for char in letters)
        if sum("\u0400" <= char <= "\u04ff" for char in letters) * 2 > len(letters):
            return _detect_cyrillic(counts, letters)
        if (latin + han) * 2 < len(letters):
            return ()
    tied, best_score = [load("en")], _count_known(counts, _telling("en"))
    for name in _names(tokens[:400]):
        del counts[name]
    scores = _count_telling(counts)
    for code in CODES[1:]:
        score = scores[code]
        if code == "zh":
            # Two or three characters make a word; a name in Chinese makes no Chinese sentence.
            score += (han - score) // 3 + (han > 1 and han == len(letters))
        elif score and _has_letter(letters, load(code).items("letters")):
            # "a façade" has no word that English has not.
            english = load("en").words("detect")
            score += any(word not in english for word in counts.keys() & _telling(code))
        if score > best_score:
            tied, best_score = [load(code)], score
        elif score == best_score and score and tied[0].code != "en":
            tied.append(load(code))
    if _is_foreign(counts, scores, letters, best_score):
        return ()
    return tuple(tied)


def _is_foreign(counts: Counter[str], scores: Counter[str], letters: str, best_score: int) -> bool:
    """True when a language without a file tells more of the words than the best with one."""
    for code, (known, marks) in _foreign().items():
        score = scores[code]
        # One word may be a name, unless it is long and nothing speaks against it.
        marked = score > 0 and _has_letter(letters, marks)
        enough = score > 1 or (
            best_score == 0 and (marked or any(len(word) > 4 for word in counts.keys() & known))
        )
        if enough and score + marked > best_score:
            return True
    return False


def _detect_cyrillic(counts: Counter[str], letters: str) -> tuple[Language, ...]:
    """Russian, unless a letter or the words tell another language of its script."""
    scores = _count_telling(counts)
    for code, (_, marks) in _foreign().items():
        marked = _has_letter(letters, {mark for mark in marks if mark > "\u0400"})
        if marked or scores[code] > scores["ru"]:
            return ()
    return (load("ru"),)


def _count_known(counts: Counter[str], known: frozenset[str]) -> int:
    """How many of the words are known."""
    return sum(counts[word] for word in counts.keys() & known)


def _count_telling(counts: Counter[str]) -> Counter[str]:
    """For each language how many of the words tell it, in one pass for all."""
    tellers = _tellers()
    scores: Counter[str] = Counter()
    for word in counts.keys() & tellers.keys():
        for code in tellers[word]:
            scores[code] += counts[word]
    return scores


def _names(tokens: Sequence[Token]) -> set[str]:
    """Words that tell no language: parts of "nie-wieder", and "ES" where not all is in capitals."""
    names = set()
    clitics = _clitics()
    mixed = any(token.word and not token.text.isupper() for token in tokens)
    for index, token in enumerate(tokens):
        if token.word:
            # "A nossa porta" opens with a capital, no name.
            opening = index == 0 and len(token.text) == 1
            if mixed and len(token.text) < 4 and token.text.isupper() and not opening:
                names.add(token.low)
        elif token.text in "-_/." and not token.gap and 0 < index < len(tokens) - 1:
            if not tokens[index + 1].gap and tokens[index + 1].low not in clitics:
                names |= {tokens[index - 1].low, tokens[index + 1].low}
    return names


@cache
def _clitics() -> frozenset[str]:
    return frozenset(word for code in CODES for word in load(code).words("clitics"))


def _has_letter(letters: str, marks: Iterable[str]) -> bool:
    return any(mark in letters for mark in marks)
