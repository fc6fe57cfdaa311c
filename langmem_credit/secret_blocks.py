"""Private key blocks, whole: PEM, OpenSSH, PGP and PuTTY, also with an end cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from langmem_credit.secret_texts import Span

_BLOCK = re.compile(r"-{4,5} ?BEGIN ([A-Z0-9 ]{0,40}?)PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_BLOCK_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_PUTTY = re.compile(r"Private-Lines:(?:[^\n]{0,10}\n| ?\d{1,4} )")
# A line of nothing but base64, whatever its letters.
_KEY_LINE = re.compile(r"[ \t>]{0,8}[A-Za-z0-9+/=]{8,}+(?=[^\nA-Za-z0-9+/=]{0,8}(?:\n|$))")
# A piece of a key block without its end: quoting, escapes, header fields, base64.
_BLOCK_PIECE = re.compile(
    r"(?:[\s>\"',]|\\[nr])*+"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Private-MAC):[^\n\\]{0,100}"
    r"|(?=[A-Za-z]{0,200}?(?:[0-9/+=]|[a-z][A-Z]))[A-Za-z0-9+/=]++|[A-Za-z0-9+/=]{16,}+)"
)
# What may stand between the two marks of a block that is only talked about.
_PROSE = re.compile(r"(?:[\s.,…'\"`]|[a-z]+(?![A-Za-z0-9+/=]))*+")
_WORDS = re.compile(r"[^\s\\]+")
_KEY_WORD = re.compile(r"[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]*[0-9+/=]+|n[A-Za-z0-9+/=]+")
_BLOCK_MOST = 20_000  # characters; an RSA key of 16,384 bits has 12,700


def find_blocks(text: str) -> Iterator[Span]:
    """Private key blocks; where an end is missing, as far as the words look like a key."""
    if "PRIVATE KEY" in text:
        # Marks in order; a start takes the end right after it, what is left over stands alone.
        marks = [(match.start(), match.end(), True) for match in _BLOCK.finditer(text)]
        marks += [(match.start(), match.end(), False) for match in _BLOCK_END.finditer(text)]
        marks.sort()
        open_mark: tuple[int, int] | None = None
        before = 0
        for start, end, begins in [*marks, (len(text), len(text), True)]:
            if open_mark and (begins or start - open_mark[1] > _BLOCK_MOST):
                stop = _key_lines(text, open_mark[1])
                if stop > open_mark[1]:
                    yield Span(open_mark[0], stop, "a private key")
                open_mark = None
            elif open_mark:
                prose = _PROSE.fullmatch(text, open_mark[1], start)
                if not prose or any(map(_KEY_LINE.match, _lines(text, open_mark[1], start))):
                    yield Span(open_mark[0], end, "a private key")
                open_mark = None
                before = end
                continue
            if begins:
                open_mark = (start, end)
            else:
                first = _first_line(text, max(before, start - _BLOCK_MOST), start)
                if first < start:
                    yield Span(first, end, "a private key")
            before = end
    for match in _PUTTY.finditer(text):
        line = _KEY_LINE.match(text, match.end()) if match[0][-1] == "\n" else None
        stop = _key_lines(text, line.end() if line else match.end())
        if stop > match.end():
            yield Span(match.start(), stop, "a private key")


def _lines(text: str, start: int, end: int) -> list[str]:
    """The whole lines in between, without what stands beside either mark."""
    return text[start:end].splitlines()[1:]


def _key_lines(text: str, position: int) -> int:
    while piece := _BLOCK_PIECE.match(text, position):
        position = piece.end()
    return position


def _first_line(text: str, lowest: int, end: int) -> int:
    """Where the key begins that ends here and whose first line was cut off."""
    first = end
    for piece in reversed(list(_WORDS.finditer(text, lowest, end))):
        if not _KEY_WORD.fullmatch(piece[0]):
            break
        first = piece.start()
    return first
