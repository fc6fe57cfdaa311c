"""Do two texts have the same words, but for the closed list of edits?

The person's words give the ways in which the note may be worded; nothing is derived from the note.
Three modes: the first person *kept*, told in the *third* person ("the user prefers"), or *left
out* at the very start ("Prefers dark mode"). What each word list holds is told in
`languages/fields.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import chain
from typing import Literal

from .agreement import is_adverb, is_second_verb, left_out_forms, third_form, third_forms
from .contractions import Word, open_each
from .languages import Language, load
from .letters import parts_words
from .mentions import has_two_cases, is_common, is_led, odd_mark
from .persons import Changes, plan_changes
from .words import Token, is_unspaced, tokenize

Mode = Literal["kept", "third", "left_out"]
_MODES: tuple[Mode, ...] = ("third", "left_out")


def same_words(unit: Sequence[Token], note: Sequence[Token], language: Language | None) -> bool:
    """True when the note has the unit's words one for one, but for the closed list of edits.

    >>> from langmem_credit.languages import load
    >>> en = load("en")
    >>> same_words(tokenize("I never eat meat"), tokenize("The user never eats meat"), en)
    True
    >>> same_words(tokenize("I never eat meat"), tokenize("The user eats meat"), en)
    False
    """
    return same_opened(open_each(unit, language), open_each(note, language), language)


def same_opened(
    unit: Sequence[tuple[Word, ...]], note: Sequence[tuple[Word, ...]], language: Language | None
) -> bool:
    """`same_words` for what `open_each` gives."""
    said = list(chain.from_iterable(unit))
    told = list(chain.from_iterable(note))
    if not said or not told:
        return False
    if _Matcher(said, told, language, "kept").matches():
        return True
    if language is None or not _has_person(said, language):
        return False
    mentions = language.phrases("mentions")
    if any(mentions.match_at_words(said, index) for index in range(len(said))):
        return False
    if not language.items("agreement") and odd_mark(said) < len(said):
        return False
    return any(_Matcher(said, told, language, mode).matches() for mode in _MODES)


def _has_person(said: Sequence[Word], language: Language) -> bool:
    """False when nothing in the words could change from the first person to the third."""
    # Languages that change person by tables carry it in the verb.
    if not language.items("agreement"):
        return True
    return any(word.low in _persons(language.code) for word in said)


@cache
def _persons(code: str) -> frozenset[str]:
    language = load(code)
    fields = ("subject", "object", "possessive", "reflexive", "droppable_subject")
    starts = (phrase.split()[0] for phrase in language.table("start_pairs"))
    return frozenset(starts).union(*(language.words(field) for field in fields))


class _Matcher:
    """Walks the person's words and the note side by side in one mode."""

    def __init__(
        self, said: Sequence[Word], told: Sequence[Word], language: Language | None, mode: Mode
    ) -> None:
        self.said = said
        self.told = told
        self.language = language
        self.mode = mode
        self.shifted = False
        self.verb_due = False
        self.subject_seen = False
        self.changes: Changes | None = None

    @cached_property
    def all_caps(self) -> bool:
        """True when the person typed everything in capitals."""
        letters = [word for word in self.said if word.word and word.low != word.text.upper()]
        return len(letters) > 2 and all(word.text.isupper() for word in letters)

    @cached_property
    def _articles(self) -> frozenset[str]:
        return self.language.words("articles") if self.language else frozenset()

    @cached_property
    def odd(self) -> int:
        """The index behind which words may be quoted."""
        return odd_mark(self.said)

    def matches(self) -> bool:
        i = j = 0
        if self.mode != "kept":
            if self._ambiguous():
                return False
            i, j = self._start()
            if i < 0 or not self._plan(i, j):
                return False
        while i < len(self.said):
            if self.mode != "kept" and not self.said[i].quoted:
                step = self._shift(i, j)
                if step is None:
                    return False
                if step != (0, 0):
                    i, j = i + step[0], j + step[1]
                    continue
            if j >= len(self.told) or not self._equal(i, j):
                return False
            i, j = i + 1, j + 1
        return j == len(self.told) and (self.mode == "kept" or self.shifted)

    def _plan(self, dropped: int, named: int) -> bool:
        """False when the language changes person by tables and they forbid it here."""
        assert self.language is not None
        if self.language.items("agreement"):
            return True
        self.changes = plan_changes(
            self.said,
            self.language,
            dropped=dropped,
            named=self.mode == "third" and named > 0,
        )
        return self.changes is not None

    def _ambiguous(self) -> bool:
        """True when the words speak of a user already, so that "the user" could be either."""
        assert self.language is not None
        articles = self.language.words("articles")
        lows = [" " if word.quoted else word.low.partition("'")[0] for word in self.said]
        text = "\0".join(["", *lows, ""])
        for item in self.language.items("third_person"):
            name = [token.low for token in tokenize(item) if token.low not in articles]
            if "\0".join(["", *name, ""]) in text:
                return True
        return False

    def _start(self) -> tuple[int, int]:
        """Where to begin in (said, told); (-1, -1) when the mode does not apply."""
        assert self.language is not None
        if self.mode == "third":
            return 0, self._inserted_subject()
        said, language = self.said, self.language
        low = said[0].low
        if low in language.words("droppable_subject"):
            place = self._left_out_subject()
            if place != (-1, -1):
                return place
        if len(said) > 1 and low in language.words("possessive"):
            # A finite verb must follow: "My email drafts go …" would turn into an order.
            if said[1].low in language.words("droppable_possessions") and self._is_predicated(2):
                self.shifted = True
                return 1, 0
        for phrase, others in language.table("start_pairs").items():
            lows = [token.text.lower() for token in tokenize(phrase)]
            found = [word.text.lower() for word in said[: len(lows)]] == lows
            if found and self._is_told(len(lows)):
                for other in others.split("|"):
                    length = self._told_phrase(other, 0)
                    # "私は" is left out of a statement: "猫を飼っています".
                    if length or (not other and self._ends_as_statement()):
                        self.shifted = True
                        return len(lows), length
        return -1, -1

    def _is_told(self, index: int) -> bool:
        """False at "my address must never be used", which would bind the agent without "my"."""
        assert self.language is not None
        following, denials = map(self.language.words, ("start_pairs_before", "negations"))
        lows = [word.low for word in self.said[index:]]
        return not following or (
            not following.isdisjoint(lows[:1]) and denials.isdisjoint(lows[1:])
        )

    def _ends_as_statement(self) -> bool:
        """True where the words can be no order without their subject: "猫を飼っています"."""
        assert self.language is not None
        endings, size = self.language.phrases("statement_endings"), len(self.said)
        bound = self.language.phrases("bound_endings")
        k = next((k for k in range(size) if endings.match_at_words(self.said, k) == size - k), size)
        return bound.match_at_words(self.said, k) != size - k

    def _inserted_subject(self) -> int:
        """How many words of the note name the user where the language leaves the subject out."""
        assert self.language is not None
        if any(word.low in self.language.words("subject") for word in self.said):
            return 0
        for phrase in self.language.items("insert_subject"):
            length = self._told_phrase(phrase, 0)
            if length:
                return length
        return 0

    def _left_out_subject(self) -> tuple[int, int]:
        assert self.language is not None
        if not self.language.items("agreement"):
            following = self.language.phrases("droppable_before").match_at_words(self.said, 1)
            pair = self.language.phrases("pairs_first").match_at_words(self.said, 1)
            self.shifted = bool(following or pair)
            return (1, 0) if self.shifted else (-1, -1)
        self.shifted = True
        if len(self.said) > 2 and self.said[1].low in self.language.words("droppable_copula"):
            # "I am to approve …" would turn into a rule about who approves, "I am always open
            # to …" into an order.
            denials = self.language.words("droppable_copula_denial")
            after = 2 + (len(self.said) > 3 and self.said[2].low in denials)
            low = self.said[after].low
            if low in self.language.words("droppable_copula_before") or low.isdigit():
                if not self._equal_word(self.said[1], self.told[0], first=True):
                    return 2, 0
        self.verb_due = True
        return 1, 0

    def _is_predicated(self, index: int) -> bool:
        """True when a finite verb or a mark follows here, at most one name aside.

        "My language must be German" and "My name is never to be used" would bind the agent.
        """
        assert self.language is not None
        finite = self.language.words("finite")
        if not finite:
            return True
        if index + 1 < len(self.said) and self.said[index].text.istitle():
            index += 1
        if index >= len(self.said):
            return False
        low = self.said[index].low
        if low in self.language.words("invariant") - self.language.words("copulas"):
            return False
        binding = self.language.words("possession_binding")
        if any(word.low in binding for word in self.said[index + 1 : index + 3]):
            return False
        return low in finite or not self.said[index].word

    def _shift(self, i: int, j: int) -> tuple[int, int] | None:
        """(words used of said, of told) by an edit here; (0, 0) for none; None for a mismatch."""
        assert self.language is not None
        language, word = self.language, self.said[i]
        if self.changes is not None:
            return self._change(i, j)
        if self.verb_due and word.word:
            return self._verb(i, j)
        if word.code:
            return 0, 0
        if word.hyphened and self._speaks_of_self(word.low):
            return None
        if self._speaks_of_self(word.low) and (self._is_in_name(i) or self._is_mentioned(i)):
            return (0, 0) if self._is_in_name(i) else None
        is_subject = word.low in language.words("subject")
        if is_subject or word.low in language.words("object"):
            self.verb_due = is_subject and bool(language.items("agreement"))
            self.subject_seen = self.subject_seen or is_subject
            length = self._third_person(j, "third_person")
            return (1, length) if length else None
        if word.low in language.words("possessive"):
            length = self._third_person(j, "third_possessive")
            return (1, length) if length else None
        if word.low in language.words("reflexive"):
            return None
        if is_second_verb(self.said, i, language) and j < len(self.told) and not self._equal(i, j):
            if self.told[j].low == third_form(word.low, language):
                return 1, 1
        return 0, 0

    def _speaks_of_self(self, low: str) -> bool:
        assert self.language is not None
        fields = ("subject", "object", "possessive", "reflexive")
        return any(low in self.language.words(field) for field in fields)

    def _is_mentioned(self, i: int) -> bool:
        """True where a word of the first person is spoken of: "reply with I think", "called my"."""
        assert self.language is not None
        low, before = self.said[i].low, self.said[i - 1] if i else None
        if i > self.odd:
            return True
        if before is None:
            return False
        if low in self.language.words("subject") or before.low in self.language.words("naming"):
            return is_led(self.said, i, self.language) or before.text == "("
        if low in self.language.words("possessive"):
            return i + 1 == len(self.said) or not self.said[i + 1].word
        # "The song is Let me be", "use me as the object".
        titled = i > 1 and before.text.istitle() and self.said[i - 2].word
        return before.low in self.language.words("mentioning_object") or (
            titled and not self.all_caps and low in self.language.words("object")
        )

    def _is_in_name(self, i: int) -> bool:
        """True at "the film Despicable Me" and "World War I"."""
        assert self.language is not None
        word = self.said[i]
        if i == 0 or self.all_caps or not self.said[i - 1].word or not word.text[0].isupper():
            return False
        if len(word.text) > 1:
            return True
        leads = self.language.words("leading_prepositions")
        return i > 1 and self.said[i - 1].text.istitle() and self.said[i - 2].low not in leads

    def _third_person(self, j: int, field: str) -> int:
        assert self.language is not None
        self.shifted = True
        articles = any(" " in phrase for phrase in self.language.items(field))
        for phrase in self.language.items(field):
            length = self._told_phrase(phrase, j)
            # Inside a sentence "user" alone joins the next word: "send user data".
            if length and (j == 0 or length > 1 or not articles):
                return length
        return 0

    def _told_phrase(self, phrase: str, j: int) -> int:
        """How many words of the note the phrase takes at j; 0 when it does not stand there."""
        lows = [token.text.lower() for token in tokenize(phrase)]
        end = j + len(lows)
        if end > len(self.told) or not (parts_words(self.told, j) and parts_words(self.told, end)):
            return 0
        found = [word.text.lower() for word in self.told[j:end]]
        return len(lows) if lows and found == lows and not self.told[j].quoted else 0

    def _change(self, i: int, j: int) -> tuple[int, int] | None:
        """The change that the plan has for this word."""
        length, options = (self.changes or {}).get(i, (0, ()))
        if not length:
            return 0, 0
        said = " ".join(word.low for word in self.said[i : i + length])
        for option in options:
            used = self._told_phrase(option, j)
            if used:
                self.shifted = self.shifted or option != said
                return length, used
        return None

    def _verb(self, i: int, j: int) -> tuple[int, int] | None:
        """The verb behind "I", which agrees with "the user" in the note."""
        assert self.language is not None
        language = self.language
        if j >= len(self.told):
            return None
        word, told = self.said[i], self.told[j]
        low, before = word.low, self.said[i - 1].low
        if is_adverb(low, language):
            return (1, 1) if self._equal_word(word, told, first=j == 0) else None
        self.verb_due = False
        if word.code:
            return None
        if self.mode == "left_out" and not self.subject_seen:
            options = left_out_forms(low, language, before=before)
        else:
            options = third_forms(low, language, before=before)
        return (1, 1) if told.low in options and not told.quoted else None

    def _equal(self, i: int, j: int) -> bool:
        said, told = self.said[i], self.told[j]
        if said.quoted != told.quoted:
            return False
        if i > 0 and j > 0 and said.gap != told.gap and not self._is_typography(i, j):
            return False
        return self._equal_word(said, told, first=i == 0 or j == 0)

    def _is_typography(self, i: int, j: int) -> bool:
        """True for white space between Chinese and Latin words: "用 pnpm" is "用pnpm"."""
        if {self.said[i].gap, self.told[j].gap} != {"", " "}:
            return False
        one, two = self.said[i - 1], self.said[i]
        return one.word and two.word and is_unspaced(one.text) != is_unspaced(two.text)

    def _equal_word(self, said: Word, told: Word, *, first: bool) -> bool:
        if said.text == told.text:
            return True
        if said.text.lower() != told.text.lower() or said.quoted or said.code:
            return False
        twice = said.low not in self._articles and has_two_cases(self.said, said.low)
        if first and said.text[1:] == told.text[1:] and not (twice and len(said.text) == 1):
            return True
        if twice or self.language is None or not said.text.isupper():
            return False
        if told.text not in (told.low, told.text.capitalize()):
            return False
        index = next(index for index, word in enumerate(self.said) if word is said)
        if self.all_caps and is_common(self.said, index, self.language):
            return True
        # Any other word in capitals may be a name: "ALWAYS USE LESS", "NEVER PUSH TO MAIN".
        if said.low not in self.language.words("emphasis") or len(said.text) < 2:
            return False
        named = index > 0 and self.said[index - 1].low in self._articles
        return not named and not is_led(self.said, index, self.language)
