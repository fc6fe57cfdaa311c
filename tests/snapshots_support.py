"""Texts kept as readable .md files and compared byte for byte."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of one folder.

    Attributes:
        folder: where NAME.md stands.
        update: write what a test gives instead of comparing with it.
    """

    folder: Path
    update: bool = False

    def check(self, name: str, text: str) -> None:
        """Compares the text with NAME.md, which holds it and one newline more.

        Raises:
            AssertionError: the file is missing or says something else.
            ValueError: the name is not a plain word.
        """
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
            raise ValueError(
                f"The snapshot name {name!r} is not usable. Use a-z, 0-9, _ and - only."
            )
        path = self.folder / f"{name}.md"
        content = f"{text}\n".encode()
        if self.update:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            return
        if not path.exists():
            raise AssertionError(f"{path.name} does not exist. {_REMEDY}")
        kept = path.read_bytes()
        if kept != content:
            raise AssertionError(_difference(path.name, kept, content))


_REMEDY = "If the new text is right, run the test again with --update-snapshots and read the file."


def _difference(name: str, kept: bytes, content: bytes) -> str:
    lines = difflib.unified_diff(
        kept.decode("utf-8", "backslashreplace").splitlines(),
        content.decode("utf-8").splitlines(),
        fromfile=name,
        tofile="this run",
        lineterm="",
    )
    shown = "\n".join(lines) or f"only bytes differ: {kept[-40:]!r} became {content[-40:]!r}"
    return f"{name} says something else. {_REMEDY}\n{shown}"
