"""First person to third by tables, for languages whose verbs no rule here can inflect.

The tables pair forms ("prefiero" and "prefiere"). Which of them may change depends on the person's
words alone: where somebody else could be meant in the third person, nothing changes at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from .languages import Language, load
from .letters import parts_words
from .words import tokenize

if TYPE_CHECKING:
    from .contractions import Word

# (how many of the person's words, what they may turn into) by the index of the first.
Changes = dict[int, tuple[int, tuple[str, ...]]]
# Which field names the forms that each field is told as.
_THIRD = {"subject": "third_person", "object": "third_person", "possessive": "third_possessive"}


def plan_changes(
    said: Sequence[Word], language: Language, *, dropped: int, named: bool
) -> Changes | None:
    """Every change that the third person asks for, or None when it must not be used.

    Args:
        said: the person's words.
        language: its table "pairs" and its field "pairs_stand" ("first", "beside_subject" or
            nothing, which lets them stand anywhere).
        dropped: how many words are left out at the start.
        named: the note names the user where the language needs no subject.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.contractions import open_contractions
    >>> from langmem_credit.words import tokenize
    >>> es = load("es")
    >>> words = open_contractions(tokenize("Nunca como carne"), es)
    >>> plan_changes(words, es, dropped=0, named=False)
    {1: (1, ('come',))}
    >>> words = open_contractions(tokenize("Ana revisa lo que escribo"), es)
    >>> plan_changes(words, es, dropped=0, named=True) is None
    True
    """
    return _Plan(said, language, dropped, named).changes()


def _spelled(phrase: str) -> str:
    return " ".join(token.low for token in tokenize(phrase))


@cache
def _read_pairs(code: str) -> dict[str, str]:
    """The table of pairs by the words of its keys, so that "m'appelle" is "m' appelle"."""
    return {_spelled(key): other for key, other in load(code).table("pairs").items()}


class _Plan:
    def __init__(self, said: Sequence[Word], language: Language, dropped: int, named: bool) -> None:
        self.said = said
        self.language = language
        self.dropped = dropped
        self.named = named
        self.stand = (language.items("pairs_stand") or [""])[0]
        self.pairs = _read_pairs(language.code)
        self.first = language.phrases("pairs_first")
        self.objects = language.table("objects")
        self.blockers = language.words("pairs_not_behind")
        self.reflexive = language.words("reflexive")
        self.third = {
            low: tuple(language.items(third))
            for field, third in _THIRD.items()
            for low in language.items(field)
        }
        self.endings = tuple(language.items("first_person_endings"))
        self.beginnings = tuple(language.items("first_person_beginnings"))
        self.weak_endings = tuple(language.items("first_person_weak_endings"))
        self.main_seen = False
        self.blocked = False

    def changes(self) -> Changes | None:
        """The whole plan; None at the first word that may not change or must not stay."""
        found: Changes = {}
        index = self.dropped
        while index < len(self.said):
            word = self.said[index]
            if word.quoted or word.code:
                index += 1
                continue
            change = self._change(index)
            if change is None:
                return None
            length, options = change
            if options:
                found[index] = change
            self.blocked = self.blocked or word.low in self.blockers
            index += length
        return found

    def _change(self, index: int) -> tuple[int, tuple[str, ...]] | None:
        """(words used, what they turn into; nothing for words that stay), or None."""
        low = self.said[index].low
        if low in self.objects:
            return 1, tuple(self.objects[low].split("|"))
        length = self._pair_length(index)
        if length:
            return self._pair(index, length)
        if low in self.third:
            if low in self.language.words("subject") and not self._has_verb(index):
                return None
            return 1, self.third[low]
        if low in self.reflexive or self._may_speak_of_self(index):
            return None
        return 1, ()

    def _pair_length(self, index: int) -> int:
        if not 0 <= index < len(self.said) or self.said[index].quoted or self.said[index].code:
            return 0
        length = self.first.match_at_words(self.said, index)
        whole = parts_words(self.said, index) and parts_words(self.said, index + length)
        return length if whole else 0

    def _pair(self, index: int, length: int) -> tuple[int, tuple[str, ...]] | None:
        key = " ".join(word.low for word in self.said[index : index + length])
        options = tuple(self.pairs.get(key, "").split("|"))
        orders = self.language.words("order_like")
        # "Je travaille en anglais" without its subject would be an order.
        ordered = self.dropped > 0 and key in orders and not self._is_named()
        if tuple(map(_spelled, options)) == (key,) and not ordered:
            return length, options
        if not self._may_stand(index, length):
            return None
        # "Uso pnpm" told as "Usa pnpm" would be an order; "No usa pnpm" is none.
        if not self._is_named() and not self._is_denied(index):
            options = tuple(option for option in options if option not in orders)
        return (length, options) if options else None

    def _is_named(self) -> bool:
        subject = self.language.words("subject")
        return self.named or any(
            word.low in subject and not word.quoted for word in self.said[self.dropped :]
        )

    def _is_denied(self, index: int) -> bool:
        return index > 0 and self.said[index - 1].low in self.language.words("denies_order")

    def _may_stand(self, index: int, length: int) -> bool:
        if self.stand == "first":
            return self._stands_first(index)
        if self.stand == "beside_subject":
            return self._stands_beside_subject(index, length)
        return True

    def _stands_first(self, index: int) -> bool:
        """True for the first verb of the sentence, and one joined to it by "and"."""
        before = self._behind_adverbs(index)
        if before < self.dropped:
            self.main_seen = self.main_seen or self.dropped == 0
            return True
        joined = self.said[before].low in self.language.words("coordinators")
        return joined and self.main_seen and not self.blocked

    def _stands_beside_subject(self, index: int, length: int) -> bool:
        subject = self.language.words("subject")
        if self.dropped and self._behind_adverbs(index) < self.dropped:
            return True
        after = index + length
        if after < len(self.said) and self.said[after].low in subject:
            return True
        before = self._behind_adverbs(index)
        if before >= 0 and self.said[before].low in subject:
            return True
        return self._ends_clause(after - 1) and any(
            self.said[k].low in subject for k in range(self._clause_start(index), index)
        )

    def _has_verb(self, index: int) -> bool:
        """True when the verb of the subject here is in the table too."""
        if self.stand != "first" and self.stand != "beside_subject":
            return True
        after = index + 1
        while after < len(self.said) and self._is_adverb(after):
            after += 1
        if self._pair_length(after):
            return True
        if any(self._pair_length(index - length) == length for length in (1, 2) if index >= length):
            return True
        end = index
        while end + 1 < len(self.said) and self.said[end + 1].word:
            end += 1
        return self.stand == "beside_subject" and self._pair_length(end) == 1

    def _is_adverb(self, index: int) -> bool:
        low = self.said[index].low
        return low in self.language.words("subject_adverbs") or (
            self.stand == "first" and low in self.language.words("subject")
        )

    def _behind_adverbs(self, index: int) -> int:
        """The index of the nearest word before this one that is no adverb; may be -1."""
        before = index - 1
        while before >= self.dropped and self._is_adverb(before):
            before -= 1
        return before

    def _ends_clause(self, index: int) -> bool:
        return index + 1 >= len(self.said) or not self.said[index + 1].word

    def _clause_start(self, index: int) -> int:
        start = index
        while start > 0 and self.said[start - 1].word:
            start -= 1
        return start

    def _is_name(self, index: int) -> bool:
        """True at the capital of "dos gatos, Miso y Tofu", behind a word or a comma."""
        text, before = self.said[index].text, self.said[index - 1]
        named = index > 0 and len(text) > 1 and text.istitle()
        return named and (before.word or before.text == ",")

    def _may_speak_of_self(self, index: int) -> bool:
        """True for a first-person form that no table knows, such as "avísame" and "compro"."""
        low = self.said[index].low
        if self.beginnings and low.startswith(self.beginnings):
            return low not in self.language.words("first_person_not")
        weak = bool(self.weak_endings) and low.endswith(self.weak_endings)
        strong = bool(self.endings) and low.endswith(self.endings)
        if not (weak or strong) or low in self.language.words("first_person_not"):
            return False
        if self._is_name(index):
            return False
        if strong or index == self.dropped:
            return True
        return self.said[index - 1].low in self.language.words("first_person_behind")
