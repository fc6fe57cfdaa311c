"""The files that a session touched, read off the arguments of its tool calls.

Only arguments that are called a path, a file or a folder count: what stands in a text is no file.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .characters import one_line
from .scrubbing import scrub

HELD = 40
_CALL_BYTES = 8_192
_A_CALL = 8
_PATH_CHARS = 200
# All that are held together: they stand in every checkpoint.
_HELD_BYTES = 4_096
_NAMES = frozenset(
    {
        *("path", "paths", "pathname", "file", "files", "filename", "filenames", "filepath"),
        *("filepaths", "dir", "dirs", "directory", "directories", "folder", "folders"),
        *("glob", "globs"),
    }
)
# fileName, file_names: "name" alone may be anybody's.
_TWO_WORDS = frozenset({("file", "name"), ("file", "names"), ("path", "name"), ("path", "names")})
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_GLOB = re.compile(r"[*?\[\]{}]")


def touched_files(calls: Iterable[Mapping[str, Any]], before: Iterable[str] = ()) -> list[str]:
    r"""The paths in the arguments of tool calls, in the order in which they were last named.

    Args:
        calls: the arguments of each call, oldest first. Calls with more than 8,192 bytes of them
            do not count, and of each at most 8 paths do.
        before: paths that were touched earlier.

    Returns:
        At most the 40 newest, with slashes between their parts; a pattern counts as its folder.

    >>> touched_files([{"file_path": "src\\a.py", "text": "b.py"}, {"paths": ["./docs//x/*.md"]}])
    ['src/a.py', 'docs/x']
    """
    found: dict[str, None] = dict.fromkeys(before)
    for args in calls:
        for path in _paths_of(args):
            found.pop(path, None)
            found[path] = None
    held = list(found)[-HELD:]
    while sum(len(path.encode()) for path in held) > _HELD_BYTES:
        del held[0]
    return held


def _paths_of(args: Mapping[str, Any]) -> list[str]:
    try:
        size = len(json.dumps(args, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError):
        return []
    if size > _CALL_BYTES:
        return []
    paths = dict.fromkeys(filter(None, map(_normal, _named(args))))
    return list(paths)[:_A_CALL]


def _named(args: Mapping[Any, Any]) -> Iterator[str]:
    for key, value in args.items():
        if isinstance(key, str) and _names_a_path(key):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str):
                    yield one


def _names_a_path(key: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(key)]
    return bool(words) and (words[-1] in _NAMES or tuple(words[-2:]) in _TWO_WORDS)


def _normal(value: str) -> str:
    """The path as it is kept; "" for what is none."""
    path = value.strip()
    if not 0 < len(path) <= _PATH_CHARS or one_line(path) != path or "://" in path:
        return ""
    # "~/key" is a path; what looks like a key is none.
    if scrub(path).found:
        return ""
    parts = path.replace("\\", "/").split("/")
    pattern = next((at for at, part in enumerate(parts) if _GLOB.search(part)), None)
    if pattern is not None:
        parts = [*parts[:pattern], ""] if pattern else ["."]
    path = posixpath.normpath("/".join(parts))
    if path.startswith("/"):
        path = f"/{path.lstrip('/')}"
    return "" if path in (".", "/", "..") else path
