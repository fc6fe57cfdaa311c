"""What a person types at the terminal, line by line, told apart from what was pasted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

# Nobody types a whole line in this time; a paste brings its lines at once.
_AT_ONCE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Line:
    """What came from the terminal until the person paused.

    Attributes:
        text: several lines when they were pasted.
        pasted: more than one line came at once.
    """

    text: str
    pasted: bool = False


def read_lines(prompt: str = "you> ") -> Iterator[Line]:
    """Each line until the input ends; lines that come at once are one pasted text.

    A pasted single line cannot be told from a typed one. Lines of a pipe are all taken as typed.
    """
    at_terminal = sys.stdin.isatty()
    if at_terminal:
        _enable_editing()
    while True:
        try:
            lines = [input(prompt)]
            while at_terminal and _is_waiting():
                lines.append(input())
        except EOFError:
            print()
            return
        text = "\n".join(lines)
        yield Line(text, pasted="\n" in text.strip())


def _enable_editing() -> None:
    """Arrow keys and a history, where Python was built with them."""
    try:
        import readline
    except ImportError:
        return
    # A paste then arrives with its lines together, instead of each as if it were typed.
    readline.parse_and_bind("set enable-bracketed-paste on")


def _is_waiting() -> bool:
    """True when more input is there already."""
    import select

    try:
        return bool(select.select([sys.stdin], [], [], _AT_ONCE_SECONDS)[0])
    except (OSError, ValueError):
        # Consoles that cannot be asked, as on Windows.
        return False
