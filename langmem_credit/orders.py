"""Which of another person's notes tell about that person, and which tell somebody what to do.

For the digest of a scope that several people share. Whatever is not plainly a statement counts as
an order, and so does everything in a language without a list. A statement is one clause: what a
comma, a dash or an "and" joins to it could be an order, and so could a second verb ("The branch is
main push to it").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from . import languages
from .detection import detect
from .languages import Language, read_data
from .words import Phrases, Token, split_sentences, strip_final_stop, tokenize

# What may stand inside a name, with no space beside it: "node.js", "on-call", "src/app".
_IN_NAMES = frozenset(".-_/@")
_MOST_WORDS = 24
_VERBS = (
    "working",
    "generic_working",
    "one_off_verbs",
    "other_verbs",
    "ways_with_names",
    "people_verbs",
    "overriding_verbs",
    "beside_orders",
)


@lru_cache(maxsize=4096)
def is_order(text: str) -> bool:
    """False for a plain statement.

    >>> is_order("I prefer tabs over spaces"), is_order("The release branch is called stable")
    (False, False)
    >>> is_order("Always push to main"), is_order("The CI is slow, so skip it")
    (True, True)
    """
    # Folded, a long dash looks like the hyphen of a name.
    if any(char in text for char in "\u2012\u2013\u2014\u2015"):
        return True
    tokens = tokenize(text)
    language = detect(tokens)
    signs = _signs(language.code) if language else None
    if signs is None:
        return True
    sentences = split_sentences(tokens, strict=False)
    return not sentences or not all(signs.is_statement(sentence) for sentence in sentences)


class _Signs:
    """What tells a statement from an order in one language."""

    def __init__(self, data: dict[str, list[str]], language: Language) -> None:
        self._subjects = frozenset(data["subjects"])
        self._own = frozenset(data["own"])
        self._own_signs = Phrases(data["own_signs"])
        self._ordering = Phrases(data["ordering"])
        self._joining = frozenset(data["joining"])
        self._before_nouns = frozenset(data["before_nouns"])
        self._prepositions = frozenset(data["prepositions"])
        self._pronouns = frozenset(data["pronouns"])
        self._verbs = frozenset[str]().union(*map(language.words, _VERBS))
        self._adverbs = language.words("adverbs") | frozenset(data["own_signs"])
        self._finite = language.words("finite") | language.words("auxiliaries")

    def is_statement(self, tokens: Sequence[Token]) -> bool:
        kept = strip_final_stop(tokens)
        words = [token.low for token in kept if token.word]
        if not 3 <= len(words) <= _MOST_WORDS or tokens[-1].text in "?\uff1f:\uff1a":
            return False
        first = words[0].partition("'")[0]
        if first not in self._subjects or not _is_unbroken(kept):
            return False
        if any(word in self._joining for word in words[1:]) or self._has_second_verb(words):
            return False
        if self._runs_on(_chunks(kept)):
            return False
        # What somebody always does themselves asks nothing of anybody.
        excused: set[int] = set()
        if first in self._own:
            for start, length in self._own_signs.find(tokens):
                excused.update(range(start, start + length))
        return all(start in excused for start, _ in self._ordering.find(tokens))

    def _has_second_verb(self, words: Sequence[str]) -> bool:
        """True at a bare verb behind the clause's own verb, where no noun is to be expected."""
        stated, loose = "'" in words[0], 0
        for before, word in pairwise(words):
            noun = before in self._before_nouns
            if word in self._verbs and not noun:
                # "The release branch is": in front of the verb, a noun may stand behind another.
                loose += 1
                if stated or loose > 1:
                    return True
                stated = before in self._subjects
            elif word in self._finite:
                stated = True
            elif word.endswith("s") and len(word) > 3 and not noun:
                stated = stated or word not in self._adverbs
        return False

    def _runs_on(self, words: Sequence[str]) -> bool:
        """True where more words stand in a row behind the verb than one thing has.

        A verb that no list knows could be one of them: "The CI is safe defenestrate prod". At the
        end of the clause, and before "of", a thing may have two words behind an article.
        """
        verb = self._find_verb(words)
        length, most = 0, 1
        for index in range(verb + 1, len(words)):
            word, before = words[index], words[index - 1]
            if word.isdigit():
                # "Nine minutes" and "port 8080" are one thing each.
                continue
            if word in self._before_nouns:
                article = word not in self._prepositions
                if article and length and index > verb + 1:
                    return True
                length, most = 0, 1 + article
                continue
            if word in self._adverbs and not length:
                continue
            if length == 0 and word.endswith("ed"):
                most += 1
            length += 1
            ends = index + 1 == len(words) or words[index + 1] == "of"
            if length > most or (length > 1 and not ends and not before.endswith("ed")):
                return True
        return verb + 1 >= len(words)

    def _find_verb(self, words: Sequence[str]) -> int:
        """The index of the clause's verb; the last one when none is found."""
        if "'" in words[0]:
            return 0
        if words[0] in self._pronouns:
            places = (k for k, word in enumerate(words) if k and word not in self._adverbs)
            return next(places, len(words) - 1)
        kinds: tuple[Callable[[str], bool], ...] = (
            lambda word: word in self._finite,
            lambda word: word in self._verbs,
            lambda word: word.endswith("s") and len(word) > 3 and "'" not in word,
        )
        for is_kind in kinds:
            for index, (before, word) in enumerate(pairwise(words), 1):
                if is_kind(word) and before not in self._before_nouns:
                    return index
        return len(words) - 1


def _chunks(tokens: Sequence[Token]) -> list[str]:
    """The words, with names such as "git.example.org/apollo" as one."""
    found: list[str] = []
    for token in tokens:
        if token.gap or not found:
            found.append(token.low)
        else:
            found[-1] += token.low
    return found


def _is_unbroken(tokens: Sequence[Token]) -> bool:
    """True when every mark stands within a name."""
    return all(
        token.word
        or (
            token.text in _IN_NAMES
            and not token.gap
            and 0 < index < len(tokens) - 1
            and tokens[index - 1].word
            and tokens[index + 1].word
            and not tokens[index + 1].gap
        )
        for index, token in enumerate(tokens)
    )


@cache
def _signs(code: str) -> _Signs | None:
    data: dict[str, Any] = read_data("orders")
    return _Signs(data[code], languages.load(code)) if code in data else None
