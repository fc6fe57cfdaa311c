"""The one tool of the agent in `chat` and `demo` that is not the memory's: it reads text files."""

from __future__ import annotations

from pathlib import Path

from langchain_core.tools import BaseTool, tool

READ_FILE = "read_file"
NO_FILE = "There is no file"
UNREADABLE = "Cannot read"
_MOST_CHARS = 20_000


def create_read_file_tool(folder: Path) -> BaseTool:
    """`read_file(path)`: a text file below the folder, its first 20,000 characters."""
    root = folder.resolve()

    @tool(READ_FILE)
    def read_file(path: str) -> str:
        """Read a text file."""
        try:
            wanted = (root / path).resolve()
            if not wanted.is_relative_to(root) or not wanted.is_file():
                return f"{NO_FILE} {path!r} here."
            with wanted.open(encoding="utf-8", errors="replace") as file:
                text = file.read(_MOST_CHARS + 1)
        except (OSError, ValueError) as error:
            return f"{UNREADABLE} {path!r}: {type(error).__name__}."
        if len(text) > _MOST_CHARS:
            return text[:_MOST_CHARS] + "\n[The file goes on; this is its beginning.]"
        return text

    return read_file
