"""The project's own files as data, for the tests that hold it to its rules."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "langmem_credit"
# The highest layer of the core in pyproject.toml is the one with this module.
_HIGHEST_OF_THE_CORE = "settings"
# Not part of the tree: what tools leave behind, and what git keeps.
_UNTRACKED = re.compile(
    r"\.git|\.venv|\.hypothesis|\.ipynb_checkpoints|\.langgraph_api|__pycache__|build|dist"
    r"|\..*_cache|.*\.egg-info"
)


def project() -> dict[str, Any]:
    """pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text_files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file of the tree that is UTF-8 text, in the order of their paths."""
    for path in sorted(folder.iterdir()):
        if _UNTRACKED.fullmatch(path.name):
            continue
        if path.is_dir():
            yield from text_files(path)
        elif path.is_file() and not path.is_symlink() and _is_text(path):
            yield path


def modules() -> list[Path]:
    """Every module of the package."""
    return [path for path in text_files(PACKAGE) if path.suffix == ".py"]


def core_modules() -> list[Path]:
    """The modules that know nothing of LangGraph: those in the core's layers, and in none."""
    outside = set(chain.from_iterable(takewhile(_is_above_the_core, layers())))
    return [path for path in modules() if top_level_name(path) not in outside]


def layers() -> list[set[str]]:
    """Names of the modules of each layer, highest first."""
    contracts = project()["tool"]["importlinter"]["contracts"]
    lines = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [set(re.findall(r"\w+", line)) for line in lines]


def top_level_name(path: Path) -> str:
    """The child of the package that a module is, or is in: `credit`, `languages`."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path, *, top_level_only: bool = False) -> set[str]:
    """Dotted names that a module imports; its own package's begin with a dot.

    Imports for the type checker alone do not count.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in _statements(tree.body, into_functions=not top_level_only):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found.add(module)
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def foreign_imports(path: Path, *, top_level_only: bool = False) -> set[str]:
    """Top-level names of what a module imports from outside the standard library and the package.

    `detect_secrets.core.scan` counts as `detect_secrets`.
    """
    names = {name.partition(".")[0] for name in imports(path, top_level_only=top_level_only)}
    return names - set(sys.stdlib_module_names) - {"", "langmem_credit"}


def type_checking_imports(path: Path) -> dict[str, str]:
    """Name to module, of what a module imports for the type checker alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: statement.module or ""
        for node in tree.body
        if isinstance(node, ast.If) and _is_type_checking(node.test)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def pins(extra: str) -> dict[str, str]:
    """Distribution to its exact release, as an extra names them."""
    requirements = [
        Requirement(text) for text in project()["project"]["optional-dependencies"][extra]
    ]
    return {
        canonicalize_name(requirement.name): str(requirement.specifier)
        for requirement in requirements
    }


def closure(names: Iterable[str]) -> set[str]:
    """Distributions that these need, directly or not, and they themselves."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in found and not requirement.extras:
            continue
        found.add(name)
        extras = requirement.extras or {""}
        for text in distribution(name).requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(needed)
    return found


def links(path: Path) -> list[str]:
    """Targets of a Markdown file's links to other files, without their anchors."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [
        target.partition("#")[0]
        for target in targets
        if not re.match(r"[a-z]+:", target) and not target.startswith("#")
    ]


def marked_block(text: str, name: str) -> list[str]:
    """Lines of the fenced code between `<!-- NAME -->` and `<!-- /NAME -->`."""
    inside = re.search(rf"^<!-- {name} -->$(.*?)^<!-- /{name} -->$", text, re.DOTALL | re.MULTILINE)
    lines = inside.group(1).splitlines() if inside else []
    return [line for line in lines if line.strip() and not line.startswith("```")]


def _is_above_the_core(layer: set[str]) -> bool:
    return _HIGHEST_OF_THE_CORE not in layer


def _is_text(path: Path) -> bool:
    try:
        return "\0" not in path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def _statements(body: Iterable[ast.stmt], *, into_functions: bool) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not into_functions:
            continue
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _statements(node.orelse, into_functions=into_functions)
            continue
        nested = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        for handler in ast.iter_child_nodes(node):
            if isinstance(handler, (ast.ExceptHandler, ast.match_case)):
                nested.extend(handler.body)
        yield from _statements(nested, into_functions=into_functions)
