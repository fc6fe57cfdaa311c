"""Which stretches of a message may stand as a note: all of it, greetings and openers aside."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .closers import find_ends
from .languages import Language
from .openers import opener_length
from .standing import asks_about_ability, asks_about_state, has_strong_sign, is_order, opens_errand
from .words import (
    Token,
    count_words,
    ends_in_question,
    quoted_mask,
    separates,
    split_sentences,
    strip_final_stop,
)

_MOST_OPENERS = 6
# Beside marks that join to them, such as a skin tone.
_FRIENDLY = frozenset(
    ".,!?;:-…\u00a1\u00bf\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f\uff5e"
    "🙂😊😀😃😄☺🤗👍👌👋🙏👏🙌💪❤♥💙💚💛💜🧡🎉✨🌞☀🌻🌷🍀🚀✅"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """The part of a message that must be in the note, whole.

    Of "Hi! Please remember, I use tabs. Thanks!" the tokens are "Please remember, I use tabs.",
    the starts stand before "Please", "remember" and "I", the ends behind the stop and before it,
    so that a note may say "Please remember, I use tabs", "remember, I use tabs" or "I use tabs".
    "Hi! Please remember, I use tabs." is one of the wholes.

    Attributes:
        tokens: greetings and thanks aside; what the other checks read.
        starts: indexes at which the note may begin, first to last.
        ends: indexes at which the note may end, last to first.
        plain: which of the starts and ends read well; behind "merk dir, dass" the verb stands
            last, and "from now on" may be the only sign that the rest should last.
        wholes: the message, with and without its greetings; a note may copy one word for word.
    """

    tokens: Sequence[Token]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    plain: tuple[int, int] = (-1, -1)
    wholes: tuple[Sequence[Token], ...] = ()

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Every stretch that a note may say as [start, end), the longest first.

        Without its final stop, which says nothing.
        """
        seen = set()
        for start in self.starts:
            for end in self.ends:
                close = start + len(strip_final_stop(self.tokens[start:end]))
                if start < end and (start, close) not in seen:
                    seen.add((start, close))
                    yield start, close

    @property
    def shortest(self) -> Sequence[Token]:
        """The stretch without any opener or closer, but for those that shape the rest."""
        start, end = self.plain
        return self.tokens[self.starts[start] : self.ends[end]]


def find_unit(tokens: Sequence[Token], language: Language | None) -> Unit:
    """The unit of a whole message.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> unit = find_unit(tokenize("Hi! Please use tabs, ok thanks"), load("en"))
    >>> " ".join(token.text for token in unit.shortest)
    'use tabs , ok thanks'
    """
    if language is None:
        ends = tuple(dict.fromkeys((len(tokens), len(strip_final_stop(tokens)))))
        return Unit(tokens, (0,), ends)
    begin, end = _without_greetings(tokens, language)
    wholes = tuple(tokens[i:j] for i in {0, begin} for j in {len(tokens), end})
    core = tokens[begin:end]
    unit = _without_polite_form(core, language) or _unit(core, language)
    return replace(unit, wholes=wholes)


def _unit(tokens: Sequence[Token], language: Language) -> Unit:
    starts, ends = _starts(tokens, language), find_ends(tokens, language)
    return Unit(tokens, starts, ends, _plain(tokens, starts, ends, language))


def _plain(
    tokens: Sequence[Token], starts: Sequence[int], ends: Sequence[int], language: Language
) -> tuple[int, int]:
    """Which start and end a suggestion uses: the last, unless the rest needs what goes."""
    binding = language.words("binding_openers")
    bound = [k for k, start in enumerate(starts) if start and tokens[start - 1].low in binding]
    first, last = bound[0] - 1 if bound else len(starts) - 1, len(ends) - 1
    lasting = language.phrases("lasting_openers")
    needed = [k for k in range(first, 0, -1) if lasting.found_in(tokens[starts[k - 1] : starts[k]])]
    closing = [k for k in range(last, 0, -1) if lasting.found_in(tokens[ends[k] : ends[k - 1]])]
    if not (needed or closing) or has_strong_sign(tokens[starts[first] : ends[last]], language):
        return first, last
    return (needed[0] - 1, last) if needed else (first, closing[0] - 1)


def _without_greetings(tokens: Sequence[Token], language: Language) -> tuple[int, int]:
    """The indexes between which no greeting or thanks stand."""
    if not language.phrases("greetings").found_in(tokens):
        return 0, len(tokens)
    sentences = split_sentences(tokens, strict=True)
    first, last = 0, len(sentences)
    while first < last - 1 and is_greeting(sentences[first], language):
        first += 1
    while last > first + 1 and is_greeting(sentences[last - 1], language):
        if gives_words(sentences[first : last - 1], language):
            break
        last -= 1
    begin = sum(map(len, sentences[:first]))
    return begin, begin + sum(map(len, sentences[first:last]))


def gives_words(sentences: Sequence[Sequence[Token]], language: Language) -> bool:
    """True when the words speak of a text to be written: "Never write the words: Thank you."."""
    return any(
        token.text == ":" or token.low in language.words("wording_verbs")
        for sentence in sentences
        for token in sentence
    )


def is_greeting(sentence: Sequence[Token], language: Language) -> bool:
    """True when nothing but greetings, thanks, marks and emoji is in the sentence."""
    index, greeted = 0, False
    while index < len(sentence):
        length = language.phrases("greetings").match_at(sentence, index)
        if length:
            greeted = True
            index += length
        elif _is_friendly(sentence, index):
            index += 1
        else:
            return False
    return greeted


def _is_friendly(sentence: Sequence[Token], index: int) -> bool:
    """True for marks that say nothing: a stop, a heart, ":)", not a wink, a quotation mark or ">".

    "Great 🙄" may say that nothing is meant.
    """
    token = sentence[index]
    if token.word:
        return False
    before = sentence[index - 1] if index else None
    if token.text == ")":
        return before is not None and not token.gap and before.text in (":", "-")
    if token.text == "~":
        return before is not None and before.word and len(sentence) == index + 1
    return token.text in _FRIENDLY or unicodedata.category(token.text) in ("Mn", "Sk", "Cf")


def _starts(tokens: Sequence[Token], language: Language) -> tuple[int, ...]:
    starts = [0]
    index = 0
    if language.phrases("openers_not_with").found_in(tokens):
        # "Please don't is what I always say", "Sorry, Wrong Number is my favourite film".
        return (0,)
    while len(starts) <= _MOST_OPENERS:
        if index + 1 < len(tokens) and tokens[index].text in "\u00a1\u00bf":
            index += 1
            starts.append(index)
        begin = index
        length, marked = opener_length(tokens, index, language)
        if not length:
            break
        index += length
        while separates(tokens, index):
            index += 1
        if not _may_go(tokens, begin, begin + length, index, marked, language):
            break
        if count_words(tokens[index:]) < 2 or _goes_on(tokens, index, language):
            break
        starts.append(index)
    return tuple(starts)


def _may_go(
    tokens: Sequence[Token], begin: int, end: int, rest: int, marked: bool, language: Language
) -> bool:
    """False where the opener belongs to what follows.

    "No: Friday deploys" forbids them, so a negating opener goes only before a comma and a clause.
    "Remember passwords between sessions" is an order to remember, so some openers go only before
    a clause.
    """
    clause = _is_clause(tokens[rest:], language)
    if all(_negates(token, language) for token in tokens[begin:end]):
        return clause and rest == end + 1 and tokens[end].text in ",\uff0c"
    if language.phrases("openers_not_before_self").match_end(tokens[begin:end]):
        # A Chinese "from now on" is "later" before "I will move".
        if tokens[rest].low in language.words("weak_first_person"):
            return False
    if not marked and tokens[end - 1].low in language.words("openers_before_clause"):
        return rest > end or (clause and not _negates(tokens[rest], language))
    return True


def _negates(token: Token, language: Language) -> bool:
    return token.low in language.words("negating_openers")


def _is_clause(tokens: Sequence[Token], language: Language) -> bool:
    """True when the words open with a subject or an order."""
    if not tokens:
        return False
    low = tokens[0].low.partition("'")[0]
    return (
        low in language.words("clause_subjects")
        or language.phrases("strong").match_at(tokens, 0) > 0
        or is_order(tokens, language)
    )


def _goes_on(tokens: Sequence[Token], index: int, language: Language) -> bool:
    """True when the words before the index are part of what follows, and no opener.

    So it is at "From now on or tomorrow …" and at lists: "Yes, no and maybe are the answers".
    """
    joining = language.words("list_words")
    going_on = ("copulas", "openers_not_before")
    if tokens[index].low in joining or any(
        tokens[index].low in language.words(field) for field in going_on
    ):
        return True
    # "Remember that time I …" remembers no statement.
    if index > 0 and language.phrases("openers_not_over").match_at(tokens, index - 1):
        return True
    if index > 0 and tokens[index - 1].low in language.words("relative_openers"):
        # "Remember that dog I love" speaks of a dog, "remember that usually I walk" does not.
        known = language.words("adverbs") | language.words("subject_adverbs")
        known |= language.words("subordinators") | language.words("strong")
        following = tokens[index + 1].low if index + 1 < len(tokens) else ""
        if following in language.words("subject_pronouns") and tokens[index].low not in known:
            return True
    listed = index > 0 and tokens[index - 1].text in ",\uff0c\u3001"
    return listed and index + 1 < len(tokens) and tokens[index + 1].low in joining


def _has_polite_sign(order: Sequence[Token], language: Language) -> bool:
    """True when a request must mean from now on: "by default" and "I like" could ask."""
    if not language.items("polite_signs"):
        return has_strong_sign(order, language)
    signs = language.phrases("polite_signs")
    mask = quoted_mask(order)
    return any(not mask[index] for index, _ in signs.find(order))


def _is_way(order: Sequence[Token], language: Language) -> bool:
    """False where "can you" may ask what one can: "Can you always cancel a subscription?"."""
    if not language.items("agreement"):
        return True
    if order[0].low in language.words("openers_before_clause"):
        # "Can you remember that …?"
        return True
    return is_order(order, language) and not opens_errand(order, language)


def _is_request(tokens: Sequence[Token], language: Language) -> bool:
    """True when "please" or "from now on" shows that no ability is asked for."""
    fields = ("lasting_openers", "polite_request_signs")
    return any(language.phrases(field).found_in(tokens) for field in fields)


def _before_tail(order: Sequence[Token], language: Language) -> Unit | None:
    """The order before "もらえますか", one only where it ends in the form that asks."""
    if not language.phrases("polite_stems").match_end(order):
        return None
    if language.phrases("polite_abilities").found_in(order):
        # "Could it always work offline for me?"
        return None
    return _unit(order, language) if _has_polite_sign(order, language) else None


def _without_polite_form(tokens: Sequence[Token], language: Language) -> Unit | None:
    """The order inside "can you always …?" or "…, ok?", when it says that it should last."""
    bare = list(tokens)
    while bare and not bare[-1].word and bare[-1].text in "?!\uff1f\uff01.\u3002":
        bare.pop()
    # A particle can ask without a mark, as in Chinese.
    particle = language.phrases("polite_particles").match_end(bare)
    polite_end = language.phrases("polite_endings").match_end(bare)
    tail = language.phrases("polite_tails").match_end(bare)
    if not (ends_in_question(tokens) or particle or polite_end or tail):
        return None
    if any(ends_in_question(part) for part in split_sentences(bare, strict=False)):
        return None
    starts = _starts(bare, language)
    if tail:
        return _before_tail(bare[starts[0] : len(bare) - tail], language)
    for start in reversed(starts):
        length = language.phrases("polite_requests").match_at(bare, start)
        rest = start + length
        order = bare[rest : len(bare) - particle]
        if length and order and _has_polite_sign(order, language):
            if asks_about_state(order, language) or not _is_way(order, language):
                return None
            if not _is_request(bare, language) and asks_about_ability(order, language):
                return None
            return _unit(order, language)
    tag = language.phrases("polite_tags").match_end(bare)
    before = len(bare) - tag
    if tag and before > 1 and bare[before - 1].text in ",-\uff0c":
        order = bare[: before - 1]
        # "Skipping the tests is fine, ok?" asks.
        if not is_order(order, language):
            return None
        return _unit(order, language)
    return _before_ending(bare, language)


def _before_ending(bare: Sequence[Token], language: Language) -> Unit | None:
    """The order before a particle that asks for it without a mark, as in Chinese."""
    length = language.phrases("polite_endings").match_end(bare)
    if not length or length == len(bare) or not has_strong_sign(bare[:-length], language):
        return None
    order = bare[:-length]
    own = order[0].low in language.words("weak_first_person")
    if own or (not _is_request(bare, language) and asks_about_ability(order, language)):
        # "I may always use your card, may I?"
        return None
    return _unit(order, language)
