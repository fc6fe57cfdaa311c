"""Which characters of a text may be stored and shown.

A note is confirmed by somebody who looks at it, so it may hold nothing that a screen does not show
or shows elsewhere than it stands. What honest writing needs stays: emoji sequences, the joiners of
Persian and Indic scripts, points and accents, right-to-left letters. Visible letters are never
exchanged for others; compatibility forms are folded only where texts are compared (`words.py`).

Decided here, each at the price named:

- Every bidirectional control goes, the plain marks LRM, RLM and ALM included. Hebrew and Arabic
  letters carry their direction themselves; without a mark at most a full stop stands at the other
  end of the line, while a kept mark can turn the order of numbers round unseen.
- Private use characters of the basic plane stay (fonts draw them: icons, logos). Those of planes
  15 and 16 go: most programs draw nothing, so they carry unseen text.
- Only the three flags that Unicode recommends (England, Scotland, Wales) keep their tag characters;
  any other tag is text that only a machine reads.
- Blank letters (Hangul fillers, blank braille) go: they look like white space and are not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, combining

# Thai, Vietnamese and pointed Hebrew use up to three marks on a letter, Burmese four
# ("လျှို့ဝှက်"); text that climbs over its neighbours uses ten and more.
MARKS_IN_A_ROW = 4

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_PAIRS = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# The black flag, then its region in tags.
_REGIONS = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_FLAGS = re.compile(f"(?<=\U0001f3f4)(?:{_REGIONS})")

# Never kept: controls, surrogates, everything that draws nothing or steers the drawing.
_DROPPED = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e0120-\U0010ffff"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(1 << 16, 14 << 16, 1 << 16)
    )
)
# Kept or not by what stands beside them: joiners, variation selectors.
_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e011f"
_INVISIBLE = re.compile(f"[{_DROPPED}{_JOINERS}{_SELECTORS}]")
_ALWAYS_DROPPED = re.compile(f"[{_DROPPED}]")
# A run that may hold too many marks; marks are neither word characters nor white space, so that
# no table of them is needed to pass ordinary text quickly.
_MANY_MARKS = re.compile(rf"[^\w\s\x00-\u02ff]{{{MARKS_IN_A_ROW + 1}}}")
_FOLDED = re.compile("[\t\r\v\f\x85\u2028\u2029]")

_PICTURES = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07"
    "\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"
)
# Scripts whose letters take other forms beside a joiner: Arabic and its relatives, Mongolian,
# the Indic family, Tibetan, Burmese, Khmer and their neighbours.
_JOINING = re.compile(
    "[\u0600-\u077f\u07c0-\u07ff\u0840-\u0dff\u0f00-\u109f\u1780-\u18af\u1900-\u194f\u1a20-\u1aaf"
    "\u1b00-\u1c4f\ua840-\ua8ff\ua930-\uaa7f\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010a5f\U00010d00-\U00010d3f\U00010f30-\U00010f6f\U00011000-\U000119ff"
    "\U00011c00-\U00011fff\U0001e900-\U0001e95f]"
)
_CURSIVE = re.compile("[\u0620-\u077f\u0840-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
_OPERATORS = re.compile("[\u2190-\u22ff\u2a00-\u2aff]")
_KEYCAP = "\u20e3"


def clean(text: str) -> str:
    r"""The text as it may be stored and shown.

    Line ends of every kind become "\n", a tab becomes a space. Cleaning twice changes nothing
    more; ordinary text of any language comes back as it is.

    Raises:
        TypeError: the text is no str.

    >>> clean("pass\u200bword\x00 \u202egnp.exe")
    'password gnp.exe'
    >>> clean("می\u200cنویسم 👨\u200d👩\u200d👧") == "می\u200cنویسم 👨\u200d👩\u200d👧"
    True
    """
    return _clean(text)[0]


def has_hidden(text: str) -> bool:
    r"""True when `clean` drops something from the text that a reader cannot see.

    Line ends, tabs and surplus accents are no hidden text.

    Raises:
        TypeError: the text is no str.

    >>> has_hidden("plain\ttext\r\n"), has_hidden("pl\u200bain")
    (False, True)
    """
    return _clean(text)[1]


def one_line(text: str) -> str:
    r"""The cleaned text on one line: each run of white space, line ends too, is one space.

    A space and no visible mark such as " / ": the line then shows nothing that was not typed.

    Raises:
        TypeError: the text is no str.

    >>> one_line(" Use tabs.\r\n\tNever spaces. ")
    'Use tabs. Never spaces.'
    """
    return " ".join(clean(text).split())


@lru_cache(maxsize=4_096)
def is_invisible(char: str) -> bool:
    """True for one character that draws nothing, though some stay between certain letters."""
    return _INVISIBLE.match(char) is not None


def _clean(text: str) -> tuple[str, bool]:
    if not isinstance(text, str):
        raise TypeError(f"A text must be a str, not {type(text).__name__}.")
    if text.isascii() and text.isprintable():
        return text, False
    if _FOLDED.search(text):
        text = _LINE_ENDS.sub("\n", text).replace("\t", " ")
    if not _INVISIBLE.search(text) and not _MANY_MARKS.search(text):
        return text, False
    return _walk(_PAIRS.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    """The character that two surrogates stand for together."""
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _walk(text: str) -> tuple[str, bool]:
    """The text without what may not stay, character by character, and whether that was hidden.

    Each decision rests on the characters kept so far and on one that will surely be kept; that
    makes cleaning idempotent.
    """
    kept: list[str] = []
    before = ""  # the last character kept
    base = ""  # the last one that is no skin tone and no selector: what a picture is
    marks = 0
    hidden = False
    flags = {match.start(): match.end() for match in _FLAGS.finditer(text)}
    skip_to = 0
    for position, char in enumerate(text):
        if position < skip_to:
            continue
        if char <= "\u02ff" and char not in _ASCII_DROPPED:
            kept.append(char)
            before = base = char
            marks = 0
            continue
        if position in flags and before == "\U0001f3f4":
            skip_to = flags[position]
            kept.append(text[position:skip_to])
            before = base = "\U000e007f"
            continue
        after = text[position + 1 : position + 2]
        if is_invisible(char):
            if marks < MARKS_IN_A_ROW and _belongs(char, before, base, after):
                kept.append(char)
                before = char
            else:
                hidden = True
            continue
        if category(char) in ("Mn", "Me"):
            marks += 1
            if marks > MARKS_IN_A_ROW:
                continue
        else:
            marks = 0
        kept.append(char)
        before = char
        if not "\U0001f3fb" <= char <= "\U0001f3ff":
            base = char
    return "".join(kept), hidden


_ASCII_DROPPED = frozenset(char for char in map(chr, range(0x300)) if _ALWAYS_DROPPED.match(char))


def _belongs(char: str, before: str, base: str, after: str) -> bool:
    """True when the joiner or selector does honest work between these two characters."""
    if not before or _ALWAYS_DROPPED.match(char):
        return False
    if char in _JOINERS:
        if _JOINING.match(before):
            return _joins_letters(char, before, after)
        # A picture, perhaps with its skin tone or selector, then the next picture.
        drawn = before == base or before == "\ufe0f" or "\U0001f3fb" <= before <= "\U0001f3ff"
        return (
            char == "\u200d"
            and drawn
            and _PICTURES.match(base) is not None
            and _PICTURES.match(after) is not None
        )
    if char in "\ufe0e\ufe0f":
        if before in "0123456789#*":
            return after == _KEYCAP
        return _PICTURES.match(before) is not None
    if char >= "\U000e0100":
        return _IDEOGRAPHS.match(before) is not None
    if char < "\ufe00":
        return _MONGOLIAN.match(before) is not None
    return _IDEOGRAPHS.match(before) is not None or _OPERATORS.match(before) is not None


def _joins_letters(char: str, before: str, after: str) -> bool:
    if category(before)[0] not in "LM":
        return False
    if _JOINING.match(after) and category(after)[0] in "LM" and not is_invisible(after):
        return True
    # At the end of a word: a Malayalam chillu, a half form, an Arabic letter in its first form.
    virama = 9
    return combining(before) == virama or (
        char == "\u200d" and _CURSIVE.match(before) is not None and category(before) == "Lo"
    )
