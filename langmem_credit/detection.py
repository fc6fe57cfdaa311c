"""Which language a text is written in, among those with a file of words.

Words tell it, and letters that only some languages have. A language that has no file is told too,
by a few common words, so that its text is not read by another's rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from .languages import CODES, Language, load, read_data
from .scripts import SCRIPTS, find_script, is_persian
from .words import Token

# Russian is told by its script, English by default.
_BY_WORDS = tuple(code for code in CODES if code not in {"en", "ru", *SCRIPTS})

_ROMANISED = 2  # words of Hindi in Latin letters: "boss ne kaha hamesha npm use karo"


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
    head = tokens[:400]
    counts = Counter(token.low for token in head if token.word)
    letters = "".join(counts.elements())
    han = 0
    if not letters.isascii():
        other = _read_script(head, letters, counts)
        if other is not None:
            return other
        han = sum("\u3400" <= char <= "\u9fff" for char in letters)
    elif len(load("hi").phrases("detect").covered(head)) >= _ROMANISED:
        # Its rules read no Latin letters, so that nothing shows that the words should last.
        return (load("hi"),)
    tied, best_score = [load("en")], sum(counts[word] for word in counts.keys() & _telling("en"))
    for name in _names(head):
        del counts[name]
    scores = _count_telling(counts)
    for code in _BY_WORDS:
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


def _read_script(
    tokens: Sequence[Token], letters: str, counts: Counter[str]
) -> tuple[Language, ...] | None:
    """What the script tells; None where it is that of English or Chinese."""
    script = find_script(tokens, load("en").words("detect"))
    if script is not None:
        return _written_in(script, letters, counts)
    if sum("\u0400" <= char <= "\u04ff" for char in letters) * 2 > len(letters):
        return _detect_cyrillic(counts, letters)
    known = sum(
        char < "\u0250" or "\u1e00" <= char <= "\u1eff" or "\u3400" <= char <= "\u9fff"
        for char in letters
    )
    return () if known * 2 < len(letters) else None


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


def _written_in(code: str, letters: str, counts: Counter[str]) -> tuple[Language, ...]:
    """The language of a script; none for another one that is written in it."""
    if code == "ar" and is_persian(letters):
        return ()
    scores = _count_telling(counts)
    others = [one for one, (_, marks) in _foreign().items() if "\u0933" in marks]
    if code == "hi" and any(scores[one] > 1 for one in others):
        return ()
    return (load(code),)


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
