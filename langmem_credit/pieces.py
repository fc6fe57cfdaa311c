"""Texts as words that can be compared: names joined by marks, forms of a word, words that name.

In scripts without spaces each character is a piece, and pairs of characters stand for words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from . import languages
from .notes import Note
from .words import Token, is_unspaced, tokenize

_JOINING = frozenset("-./_@:+#&\u2212\\")
# Endings that a word of three letters may take: "nut" and "nuts", but not "zsh" and "zshrc".
_SHORT_ENDINGS = frozenset(["s", "es", "'s", "e", "n", "en", "a", "o", "i"])
# Endings that two forms of a longer word differ in: "KeePass" is no form of "keep".
_ENDINGS = frozenset(
    [
        *("", "s", "es", "d", "ed", "ing", "ings", "y", "ies", "ic", "ical", "al", "ly", "er"),
        *("ers", "e", "en", "n", "em", "ern", "t", "st", "te", "ten", "et", "est", "a", "o"),
        *("as", "os", "an", "amos", "emos", "imos", "ar", "ir", "ia", "ias", "ico", "ica", "i"),
        *("icos", "icas", "isch", "ische", "ischer", "ie", "ien", "ique", "iques", "is", "ja"),
        *("ion", "ions", "or", "ors", "ons", "ez", "ent", "ment", "ou", "iert", "ieren", "iere"),
        *("co", "ca", "cos", "cas", "que", "ques", "sch", "sche", "scher", "c", "cal", "x", "aux"),
        *("am", "ando", "endo", "iendo", "ado", "ada", "ido", "ida", "go", "gue", "ues"),
    ]
)
_KOREAN_PARTICLES = frozenset("을를은는이가의도와과에")


class Piece(NamedTuple):
    """A word, a character of an unspaced script, or words joined by marks: tokens [begin, end)."""

    low: str
    begin: int
    end: int
    kind: str


def split_pieces(tokens: Sequence[Token]) -> Iterator[Piece]:
    """The tokens as words: letters with their combining marks, and names such as "console.log"."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if is_unspaced(token.low):
            yield Piece(token.low, index, index + 1, "char")
            index += 1
            continue
        if not token.word:
            yield Piece(token.text, index, index + 1, "mark")
            index += 1
            continue
        end = index + 1
        while end < len(tokens) and not tokens[end].gap and _goes_on(tokens, end):
            end += 1
        part = tokens[index:end]
        low = "".join(one.low for one in part)
        letters = all(one.word or is_combining(one.text) for one in part)
        yield Piece(low, index, end, "word" if letters else "joined")
        index = end


def _goes_on(tokens: Sequence[Token], index: int) -> bool:
    """True at a combining mark, at a word close behind, and at a mark between two words."""
    token = tokens[index]
    if is_unspaced(token.low) or tokens[index - 1].text.endswith("'"):
        # "j'habite" is two words.
        return False
    if token.word or is_combining(token.text):
        return True
    follows = index + 1 < len(tokens) and not tokens[index + 1].gap
    return token.text in _JOINING and follows and tokens[index + 1].word


def is_combining(text: str) -> bool:
    """True for a mark that goes on top of the letter before it."""
    return not text.isascii() and unicodedata.category(text[0])[0] == "M"


def alike(one: str, other: str) -> bool:
    """True for two forms of a word.

    >>> alike("allergy", "allergic"), alike("люблю", "любит"), alike("zsh", "zshrc")
    (True, True, False)
    """
    if one == other:
        return True
    one, other = _plain(one), _plain(other)
    if one == other:
        return True
    same = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        same += 1
    rests = one[same:], other[same:]
    longer = max(len(one), len(other))
    if "\uac00" <= one[0] <= "\ud7a3":
        return same >= 2 and max(map(len, rests)) <= 2
    if same * 2 < longer:
        return False
    if not one.isascii():
        return same >= 3 and max(map(len, rests)) <= 3
    if same >= 4:
        return all(rest in _ENDINGS for rest in rests)
    return same == 3 and "" in rests and "".join(rests) in _SHORT_ENDINGS


def is_among(low: str, words: frozenset[str]) -> bool:
    """True when the word, or another form of it, is among these."""
    return low in words or any(
        alike(low, word) for word in _by_start(words).get(_plain(low)[:2], ())
    )


def find_forms(words: Iterable[str], known: Iterable[str]) -> Iterator[set[str]]:
    """For each word, those of the known ones that are it or another form of it."""
    groups = _group(known)
    for low in words:
        yield {word for word in groups.get(_plain(low)[:2], ()) if alike(low, word)}


@lru_cache(maxsize=4096)
def _by_start(words: frozenset[str]) -> dict[str, list[str]]:
    return _group(words)


def _group(words: Iterable[str]) -> dict[str, list[str]]:
    """The words by their first two letters, which every two forms of one share."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(_plain(word)[:2], []).append(word)
    return groups


@lru_cache(maxsize=8192)
def _plain(word: str) -> str:
    """Without accents of Latin letters, and without "'s"."""
    word = word.removesuffix("'s")
    if word.isascii():
        return word or "'"
    parts = unicodedata.normalize("NFD", word)
    if not ("a" <= parts[0] <= "z"):
        return word
    return "".join(char for char in parts if unicodedata.category(char) != "Mn")


def note_words(note: Note) -> frozenset[str]:
    """The words that can name the note: of its text, and of the person's where it is credited."""
    return _cached_words(note.text) | (_cached_words(note.said) if note.credited else frozenset())


@lru_cache(maxsize=20_000)
def _cached_words(text: str) -> frozenset[str]:
    return naming_words(tokenize(text))


@cache
def _blank_words() -> frozenset[str]:
    """Words that name nothing: function words and words about memory, of every language."""
    blank: set[str] = set()
    for code in languages.CODES:
        language = languages.load(code)
        blank |= language.words("function_words")
        for field in ("forget_memory_words", "forget_verbs", "forget_removers", "forget_openers"):
            for phrase in language.items(field):
                blank.update(naming_words(tokenize(phrase), keep_all=True))
    return frozenset(blank)


def naming_words(tokens: Iterable[Token], *, keep_all: bool = False) -> frozenset[str]:
    """The words that can name something; pairs of characters for scripts without spaces."""
    tokens = list(tokens)
    found: set[str] = set()
    for piece in split_pieces(tokens):
        if piece.kind == "char":
            last = tokens[piece.begin - 1] if piece.begin else None
            token = tokens[piece.begin]
            if last is not None and is_unspaced(last.low) and last.end == token.start:
                found.add(last.low + token.low)
        elif piece.kind == "word":
            found |= _forms(piece.low)
        elif piece.kind == "joined":
            for token in tokens[piece.begin : piece.end]:
                found |= _forms(token.low) if token.word else set()
    return frozenset(found if keep_all else found - _blank_words())


def _forms(low: str) -> set[str]:
    """The word, and the word without a possessive or a Korean particle."""
    forms = {low}
    if low.endswith("'s"):
        forms.add(low[:-2])
    if low[-1] in _KOREAN_PARTICLES:
        forms.add(low[:-1])
    return {form for form in forms if len(form) > 1}
