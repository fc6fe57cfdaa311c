"""Text as tokens that keep every character: the ground on which two texts are compared.

A token knows the white space before it, so `.env`, `. env` and `env` differ, and two token lists
are equal only when the texts are, but for the amount of white space and the style of quotation
marks, dashes, width and composition.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple, Protocol

from .letters import FOLDS, IS_UNSPACED, LETTERS, LOOKED_UP, UNSPACED

# French and Italian leave the last vowel out before another: "l'ora", "qu'il" are two words.
_ELIDED = "(?i:[cdjlmnst]|(?:jus|lors|puis)?qu|(?:da|de|ne|su|a)ll|que(?:st|ll)|un)"
_WHOLE = r"(?:[stdm]|ll|re|ve|mon)(?![^\W_])"  # "the T's", "n't", "C'mon"
_TOKEN = re.compile(
    rf"(\s*)(?:((?:{_ELIDED})'(?!{_WHOLE})(?=[^\W\d_]|\Z)|[{UNSPACED}]"
    rf"|(?:{LETTERS})+(?:'[^\W\d_{UNSPACED}]+)*)|(\S))"
)
_STOPS = frozenset(".!\u3002\uff01\u0964\u06d4")
_FINAL = _STOPS | frozenset(",;:\uff0c\uff1b\uff1a\u3001")
# Also doubled and combined ones, the Spanish one that opens, and the pictures.
QUESTION_MARKS = frozenset(
    "?\uff1f\u061f\u037e\u00bf\u203d\u2047\u2048\u2049\ufe56\u2753\u2754\u1367\u055e"
)
_ENDS = _STOPS | QUESTION_MARKS | frozenset("\u2026;\uff1b")
_WIDE_SEPARATORS = frozenset("\u3001\uff0c\uff1a\u3002\uff01\uff1b")
_SEPARATORS = frozenset(",:;.!-") | _WIDE_SEPARATORS
_CLOSING = frozenset("\"')]}\u300d\u300f\u3011`*_/")
_MAY_END = _ENDS | _CLOSING
_MOST_CLOSING = 8  # of these behind a stop
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
# The fields of a token by their places, read without a step of Python for each.
_TEXT, _WORD = itemgetter(0), itemgetter(5)
# A full stop behind one of these ends no sentence.
_SHORT_FORMS = """e.g i.e etc vs dr mr mrs ms prof st no nr approx fig ca bzw usw ggf z.b d.h sr
sra ud p.ej pág inc ltd cf al a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec"""
_ABBREVIATIONS = frozenset(_SHORT_FORMS.split())


class Token(NamedTuple):
    """One word, one character of a script without spaces, or one other character.

    Attributes:
        text: folded (quotes, dashes, width, composition); the case is kept.
        low: the same in lower case, without Arabic vowel points and the dots of Hindi.
        gap: the white space before it: "", " " or a newline.
        start: first character in the source text.
        end: one past its last character in the source text.
        word: True for letters and digits.
    """

    text: str
    low: str
    gap: str
    start: int
    end: int
    word: bool


def fold(text: str) -> str:
    """The text composed, with one kind of quotation mark, dash and width; the case is kept.

    >>> print(fold("don’t — “stop”"))
    don't - "stop"
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(FOLDS)


def tokenize(text: str) -> list[Token]:
    """Every character of the text in a token, in order; white space becomes a token's gap.

    Spans count characters of `text` when it is composed (NFC); of a decomposed text the spans
    are those of its composed form.

    >>> [(t.gap, t.text) for t in tokenize("Edit .env, don’t!")]
    [('', 'Edit'), (' ', '.'), ('', 'env'), ('', ','), (' ', "don't"), ('', '!')]
    """
    tokens: list[Token] = []
    # Twice as fast as calling the class, in the hottest loop of all.
    _new = tuple.__new__
    pointed = not text.isascii()
    # White space at the very end would be tried again from each of its characters.
    end = 0
    for space, word, other in _TOKEN.findall(fold(text).rstrip()):
        gap = space and ("\n" if "\n" in space else " ")
        start = end + len(space)
        if word:
            end = start + len(word)
            low = word.lower()
            if pointed and not low.isascii():
                low = low.translate(LOOKED_UP)
            tokens.append(_new(Token, (word, low, gap, start, end, True)))
        else:
            end = start + 1
            tokens.append(_new(Token, (other, other, gap, start, end, False)))
    return tokens


def count_words(tokens: Iterable[Token]) -> int:
    """How many of the tokens are words or characters of an unspaced script."""
    return sum(map(_WORD, tokens))


def holds_mark(tokens: Iterable[Token], marks: frozenset[str]) -> bool:
    """True when one of the tokens is one of the marks."""
    return not marks.isdisjoint(map(_TEXT, tokens))


def text_of(tokens: Sequence[Token], source: str) -> str:
    """The source's own characters from the first to the last token.

    >>> text_of(tokenize("hi, use “x”")[2:], "hi, use “x”")
    'use “x”'
    """
    if not tokens:
        return ""
    composed = unicodedata.normalize("NFC", source)
    return composed[tokens[0].start : tokens[-1].end]


def strip_final_stop(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens without closing punctuation that says nothing: `.`, `!`, `;`, `,`, `:`.

    A stop that stands alone is a path ("run it in ."), two are one too, and an ellipsis hints at
    something unsaid: they stay. A question mark is never taken away.
    """
    end = len(tokens)
    while end and tokens[end - 1].text in _FINAL and not tokens[end - 1].gap:
        end -= 1
    if end == len(tokens) or end == 0:
        return tokens
    if any(one.text == other.text == "." for one, other in pairwise(tokens[end:])):
        return tokens
    last = tokens[end - 1]
    # "Prefer save over save!" names two functions.
    if tokens[end].text in "!;:" and not is_unspaced(last.low):
        if any(token.low == last.low for token in tokens[: end - 1]):
            return tokens
    if last.word or last.text in _CLOSING or unicodedata.category(last.text[0])[0] in "LMNS":
        return tokens[:end]
    return tokens


def is_unspaced(text: str) -> bool:
    """True for a character of a script written without spaces, such as Chinese."""
    return IS_UNSPACED.match(text) is not None


def beside_unspaced(tokens: Sequence[Token], index: int) -> bool:
    """True when a neighbour of the mark here is of a script that puts no space behind marks."""
    beside = (*tokens[max(0, index - 1) : index], *tokens[index + 1 : index + 2])
    return any(is_unspaced(token.text) for token in beside)


def separates(tokens: Sequence[Token], index: int) -> bool:
    """True when the token here is a mark between two parts, as in "ok, …".

    A mark with a word close behind it belongs to a name: "no-reply", "No .env files".
    """
    if not 0 <= index < len(tokens) or tokens[index].text not in _SEPARATORS:
        return False
    if index + 1 == len(tokens) or tokens[index].text in _WIDE_SEPARATORS:
        return True
    if tokens[index].text in ",:;!" and beside_unspaced(tokens, index):
        return True
    return tokens[index + 1].gap != "" or not tokens[index + 1].word


def ends_in_question(tokens: Sequence[Token]) -> bool:
    """True when a question mark of any script is among the closing punctuation."""
    for index in range(len(tokens) - 1, -1, -1):
        token = tokens[index]
        before = tokens[max(0, index - 40) : index] if token.text == ";" else ()
        # Composing turns Greek's own question mark into a semicolon.
        if token.text in QUESTION_MARKS or any(_GREEK.match(near.text) for near in before):
            return True
        if token.word or token.text not in _ENDS | _CLOSING:
            return False
    return False


def split_sentences(tokens: Sequence[Token], *, strict: bool) -> list[Sequence[Token]]:
    """The tokens cut into sentences, nothing lost.

    Strict: only where a sentence surely ends (a stop, white space, then a capital, or a line
    end); use it before one sentence may stand alone. Otherwise at every possible end, a
    semicolon included; use it where each part must pass a check.

    >>> tokens = tokenize("Edit .env. no, Use v1.2 e.g. here. Ok")
    >>> [len(sentence) for sentence in split_sentences(tokens, strict=True)]
    [16, 1]
    """
    parts: list[Sequence[Token]] = []
    start = 0
    mask = quoted_mask(tokens)
    places = {k for k, token in enumerate(tokens, 1) if token.text in _MAY_END}
    places |= {k for k, token in enumerate(tokens) if token.gap == "\n"}
    for index in sorted(places - {0, len(tokens)}):
        if mask[index] and mask[index - 1]:
            continue
        if tokens[index].gap == "\n" or _ends_sentence(tokens, mask, index, strict):
            parts.append(tokens[start:index])
            start = index
    return [*parts, tokens[start:]] if tokens else []


def _ends_sentence(tokens: Sequence[Token], mask: Sequence[bool], index: int, strict: bool) -> bool:
    """True when a sentence may end right before tokens[index]; never inside quotation marks."""
    token, last = tokens[index], tokens[index - 1]
    if last.text in "\u3002\uff01\uff1f\u0964\u06d4":
        return token.text not in _ENDS and token.text not in _CLOSING
    stop = index - 1
    last_stop = max(0, stop - _MOST_CLOSING)
    while stop > last_stop and tokens[stop].text in _CLOSING and not tokens[stop].gap:
        stop -= 1
    if tokens[stop].text not in _ENDS:
        return False
    apart = token.gap or (tokens[stop].text in "!?;" and beside_unspaced(tokens, stop))
    if not apart or (not strict and mask[stop]):
        return False
    if tokens[stop].text == "." and _is_abbreviation(tokens, stop):
        return False
    if not strict:
        return True
    if tokens[stop].text in ";\u2026" or tokens[stop].gap:
        return False
    first = token.text[0]
    return not (token.word and first.islower())


def _is_abbreviation(tokens: Sequence[Token], stop: int) -> bool:
    """True when the stop at this index belongs to a short form such as "e.g."."""
    begin = stop
    while begin > 0 and not tokens[begin].gap:
        begin -= 1
    chunk = "".join(token.low for token in tokens[begin:stop]).strip("([{\"'")
    return chunk in _ABBREVIATIONS or len(chunk) < 2


def _stands_at(lows: Sequence[str], tokens: Sequence[Token], index: int) -> bool:
    """True when these words stand at the index, on one line."""
    if index < 0 or index + len(lows) > len(tokens) or tokens[index].low != lows[0]:
        return False
    for k in range(1, len(lows)):
        token = tokens[index + k]
        if token.low != lows[k] or token.gap == "\n":
            return False
    return True


class HasLow(Protocol):
    """Anything with a lower-case form."""

    @property
    def low(self) -> str:
        """The text in lower case."""


class Phrases:
    """A set of phrases that can be found in tokens, the longest first.

    >>> Phrases(["from now on", "from"]).match_at(tokenize("From now on: tabs"), 0)
    3
    """

    __slots__ = ("_by_first", "_by_last", "texts")

    def __init__(self, phrases: Iterable[str]) -> None:
        self.texts = tuple(phrases)
        # By the first word, then the second ("" for none): in Chinese many share the first.
        self._by_first: dict[str, dict[str, list[tuple[str, ...]]]] = {}
        self._by_last: dict[str, list[tuple[str, ...]]] = {}
        for lows in (tuple(token.low for token in tokenize(phrase)) for phrase in self.texts):
            if lows:
                second = lows[1] if len(lows) > 1 else ""
                self._by_first.setdefault(lows[0], {}).setdefault(second, []).append(lows)
                self._by_last.setdefault(lows[-1], []).append(lows)
        groups = [group for seconds in self._by_first.values() for group in seconds.values()]
        for group in (*groups, *self._by_last.values()):
            group.sort(key=len, reverse=True)

    def __contains__(self, low: str) -> bool:
        return "" in self._by_first.get(low, ())

    def match_at(self, tokens: Sequence[Token], index: int) -> int:
        """How many tokens the longest phrase at this index has; 0 when none stands there."""
        seconds = self._by_first.get(tokens[index].low) if index < len(tokens) else None
        if seconds is None:
            return 0
        if index + 1 < len(tokens):
            for lows in seconds.get(tokens[index + 1].low, ()):
                if _stands_at(lows, tokens, index):
                    return len(lows)
        return 1 if "" in seconds else 0

    def match_at_words(self, words: Sequence[HasLow], index: int) -> int:
        """`match_at` for anything with a lower-case form, white space aside."""
        seconds = self._by_first.get(words[index].low) if index < len(words) else None
        if seconds is None:
            return 0
        if index + 1 < len(words):
            for lows in seconds.get(words[index + 1].low, ()):
                if [word.low for word in words[index : index + len(lows)]] == list(lows):
                    return len(lows)
        return 1 if "" in seconds else 0

    def match_end(self, tokens: Sequence[Token]) -> int:
        """How many tokens the longest phrase at the very end has; 0 when none stands there."""
        for lows in self._by_last.get(tokens[-1].low, ()) if tokens else ():
            if _stands_at(lows, tokens, len(tokens) - len(lows)):
                return len(lows)
        return 0

    def find(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
        """(index, length) of every phrase in the tokens, in order."""
        starts = self._by_first
        if not starts:
            return
        last = len(tokens) - 1
        for index, token in enumerate(tokens):
            if (seconds := starts.get(token.low)) is None:
                continue
            if index < last and (group := seconds.get(tokens[index + 1].low)) is not None:
                lows = next((one for one in group if _stands_at(one, tokens, index)), None)
                if lows is not None:
                    yield index, len(lows)
                    continue
            if "" in seconds:
                yield index, 1

    def covered(self, tokens: Sequence[Token]) -> set[int]:
        """The indexes of all tokens in phrases."""
        return {index + k for index, length in self.find(tokens) for k in range(length)}

    def found_in(self, tokens: Sequence[Token]) -> bool:
        """True when at least one phrase stands in the tokens."""
        return next(self.find(tokens), None) is not None


def quoted_mask(tokens: Sequence[Token], marks: str = "\"`'") -> list[bool]:
    """For each token, whether it is one of the marks or stands between two of a kind.

    >>> quoted_mask(tokenize('call it "I win" now'))
    [False, False, True, True, True, True, False]
    """
    mask = [False] * len(tokens)
    if not holds_mark(tokens, frozenset(marks)):
        return mask
    opened: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.word or token.text not in marks:
            continue
        before, after = token.gap != "" or index == 0, index + 1 < len(tokens)
        if token.text == "'" and not before and "'" not in opened:
            # "the users' data": an apostrophe, unless one of these opened a quotation.
            before = not tokens[index - 1].word
            if not before or (after and tokens[index + 1].gap):
                continue
        begin = opened.pop(token.text, None)
        if begin is None:
            opened[token.text] = index
        else:
            mask[begin : index + 1] = [True] * (index + 1 - begin)
    return mask


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where the quote stands in the text on word boundaries, as [start, end) of its tokens.

    Case, white space, quotation marks and dashes are folded. None when it does not stand there.

    >>> find_quote("cat", "I love scatter plots") is None
    True
    """
    tokens = tokenize(text)
    place = find_tokens(strip_final_stop(tokenize(quote)), tokens)
    return (tokens[place[0]].start, tokens[place[1] - 1].end) if place else None


def find_tokens(quote: Sequence[Token], tokens: Sequence[Token]) -> tuple[int, int] | None:
    """Where the quote's tokens stand among the others, as [start, end); case is folded."""
    wanted = [token.low for token in quote]
    lows = [token.low for token in tokens]
    size = len(wanted)
    if not size or size > len(lows):
        return None
    # One search over a joined string: comparing lists at each index would cost their product.
    joined = "\x1f" + "\x1f".join(lows) + "\x1f"
    place = joined.find("\x1f" + "\x1f".join(wanted) + "\x1f")
    if place < 0:
        return None
    begin = joined.count("\x1f", 0, place)
    return begin, begin + size
