"""The code in a Markdown document, as its reader would try it.

- ```` ```python ```` runs, all blocks of a document in one namespace, in order.
- ```` ```text ```` right after it is what it prints; `...` stands for anything.
- ```` ```console ```` holds commands after `$ ` and what each prints, with `...` as above.
- Any other block, and one whose line above is `<!-- not run: REASON -->`, is only shown.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(
    r"(?P<above>[^\n]*)\n```(?P<kind>\w+)\n(?P<body>.*?)^```$"
    r"(?:\s*^```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        line: where it begins, counted from 1.
        kind: the word after the fence.
        body: without the fences.
        output: what it prints, None where the document does not say.
    """

    line: int
    kind: str
    body: str
    output: str | None


def blocks(document: Path) -> Iterator[Block]:
    """The blocks of a document that are to be run, in order."""
    text = "\n" + document.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        if found["kind"] not in {"python", "console"}:
            continue
        if found["above"].startswith("<!-- not run: "):
            continue
        line = text.count("\n", 0, found.start("kind"))
        yield Block(line, found["kind"], found["body"], found["output"])


def run_document(document: Path, folder: Path) -> list[str]:
    """Runs a document's code in this folder; one line for each block that printed something else.

    Raises:
        Exception: whatever a python block raised.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    complaints: list[str] = []
    with contextlib.chdir(folder):
        for block in blocks(document):
            if block.kind == "python":
                pairs = [(block.output, _run_python(block, document, namespace))]
            else:
                pairs = [(shown, _run_command(command)) for command, shown in _commands(block.body)]
            complaints.extend(
                f"{document.name}:{block.line} printed\n{printed}\ninstead of\n{shown}"
                for shown, printed in pairs
                if shown is not None and not _same(shown, printed)
            )
    return complaints


def _run_python(block: Block, document: Path, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    # Empty lines in front make a traceback name the document's own line.
    code = compile("\n" * block.line + block.body, str(document), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def _commands(body: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        taken = 1
        while taken < len(lines) and lines[taken - 1].endswith("\\\n"):
            taken += 1
        yield "".join(lines[:taken]), "".join(lines[taken:])


def _run_command(command: str) -> str:
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": search},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return ran.stdout


def _same(shown: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(shown, printed, _FLAGS)
