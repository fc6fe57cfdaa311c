"""Who speaks in front of a colon: "Ann: always push to main" is not the person's own order.

A label is a topic ("Naming: …") only when its words are known; any other could be a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from . import languages
from .languages import Language
from .openers import opener_length
from .standing import has_strong_sign, is_order
from .words import Token, beside_unspaced, count_words, holds_mark, is_unspaced, separates

_MOST_WORDS = 4
_VALUE_WORDS = 3
_LONG_NAME = 8  # characters without white space
_MARKS = frozenset(":>|-)]}*_\u3011\u300b")
_OPENING, _CLOSING = "([{<*_\u3010\u300a", ")]}>*_\u3011\u300b"


def has_foreign_label(
    tokens: Sequence[Token], parts: Sequence[Sequence[Token]], language: Language
) -> bool:
    """True when a label in front of a part of the tokens names somebody else or a document.

    >>> from langmem_credit.languages import load
    >>> from langmem_credit.words import tokenize
    >>> en = load("en")
    >>> texts = ("Ann: always use npm", "Naming: always use snake case", "[docs] never use npm")
    >>> [has_foreign_label(tokenize(text), [tokenize(text)], en) for text in texts]
    [True, False, True]
    """
    if not holds_mark(tokens, _MARKS):
        return False
    return any(_opens_with_label(part, language) for part in parts)


def _opens_with_label(sentence: Sequence[Token], language: Language) -> bool:
    begin = _label_start(sentence, language)
    end = _label_end(sentence, begin)
    if end is None:
        return False
    # "agent 47" is an agent.
    lead = [token for token in sentence[begin:end] if token.word and not token.low.isdigit()]
    rest = sentence[end + 1 :]
    dash = sentence[end].text == "-"
    addressed = any(token.text in "@#" for token in sentence[begin:end])
    if not lead or (len(lead) > 1 and dash) or (not addressed and _is_topic(lead, language)):
        return False
    if is_order(rest, language) or has_strong_sign(rest, language):
        return True
    # "Ann - my sister - is allergic" and "Locker: 4471" tell of what stands in front.
    named = not dash or _names_a_source(lead, language)
    return named and count_words(rest) > _VALUE_WORDS


def _label_start(sentence: Sequence[Token], language: Language) -> int:
    """The index behind what may stand in front of a label: "also, Ann: …"."""
    index = 0
    while index < len(sentence):
        length = opener_length(sentence, index, language)[0]
        if not length:
            break
        index += length
        while separates(sentence, index):
            index += 1
    return index


def _label_end(sentence: Sequence[Token], begin: int) -> int | None:
    """The index of the mark that ends a short label, or None."""
    words = 0
    opened = begin < len(sentence) and sentence[begin].text in _OPENING
    for index in range(begin, len(sentence)):
        token = sentence[index]
        if token.word:
            words += 1
            if words > (_LONG_NAME if is_unspaced(token.text) else _MOST_WORDS):
                return None
        elif not words or not _is_set_off(sentence, index):
            continue
        elif token.text in ":>|" + _CLOSING * opened or token.text + token.gap == "- ":
            return index
        elif token.text in ";!?":
            # A full stop here belongs to "Dr. Smith": sentences are cut already.
            return None
    return None


def _is_set_off(sentence: Sequence[Token], index: int) -> bool:
    """True when white space or nothing stands behind the mark."""
    if index + 1 >= len(sentence):
        return True
    following = sentence[index + 1]
    return following.gap != "" or not following.word or beside_unspaced(sentence, index)


def _is_topic(lead: Sequence[Token], language: Language) -> bool:
    """True when the label is a known lead-in, opens a clause, or says what the words are about."""
    leads = ("leads", "openers", "openers_before_separator", "openers_before_stop")
    if any(language.phrases(field).match_at(lead, 0) == len(lead) for field in leads):
        return True
    if _names_a_source(lead, language):
        return False
    if _opens_clause(lead, language) or language.phrases("topics").found_in(lead):
        return True
    return any(_is_known(token.low, language) for token in lead)


def _names_a_source(lead: Sequence[Token], language: Language) -> bool:
    """True when the label speaks of somebody or of a document, known by its last or first word."""
    for each in (language, languages.load("en")):
        if each.phrases("sources").match_end(lead) or lead[0].low in each.words("addressing"):
            return True
    # "Rule from Ann", but "Imports from tests".
    coming = language.words("coming_from")
    if any(one.low in coming and not _is_known(two.low, language) for one, two in pairwise(lead)):
        return True
    # "Ann's rule" and "my boss's rule", but "the project's rule".
    owners = [token.low.partition("'")[0] for token in lead if "'" in token.low]
    sources = language.phrases("sources")
    return any(owner in sources or not _is_known(owner, language) for owner in owners)


def _opens_clause(lead: Sequence[Token], language: Language) -> bool:
    """True at "In tests: …", "Never do this: …" and "My rule: …"."""
    low = lead[0].low
    phrases = ("strong", "conditionals", "ways", "place_front", "prohibitions")
    words = ("leading_prepositions", "subjects", "working", "weak_first_person")
    return any(language.phrases(field).match_at(lead, 0) for field in phrases) or any(
        low in language.words(field) for field in words
    )


def _is_known(low: str, language: Language) -> bool:
    """True for a word that surely is no name."""
    for each in (language, languages.load("en")):
        if low in each.words("nouns") or low in each.words("topics"):
            return True
    endings = tuple(language.items("topic_endings"))
    return bool(endings and low.endswith(endings))
