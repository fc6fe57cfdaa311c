"""The rules that the project's own files keep."""

from __future__ import annotations

import importlib
import re
import shutil
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import langmem_credit
from tests.benchmarks import importing
from tests.project_support import (
    PACKAGE,
    ROOT,
    closure,
    core_modules,
    foreign_imports,
    imports,
    links,
    marked_block,
    modules,
    pins,
    project,
    text_files,
    top_level_name,
    type_checking_imports,
)

CONCRETE_STORES = (
    "aiosqlite",
    "chromadb",
    "langgraph.checkpoint.memory",
    "langgraph.checkpoint.postgres",
    "langgraph.checkpoint.sqlite",
    "langgraph.store.memory",
    "langgraph.store.postgres",
    "langgraph.store.sqlite",
    "psycopg",
    "sqlite3",
)
# Put together from pieces, so that this file does not hold what it looks for.
LEFT_OVER_MARKS = (
    r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|W" + r"IP)\b",
    r"^(?:<{7}|={7}|>{7})(?: |$)",
    r"\bbreak" + r"point\(\)|\bpdb" + r"\.set_trace",
)
MACHINE_PATHS = (
    r"(?<![\w./-])/wo" + r"rk/",
    r"(?<![\w./-])/ro" + r"ot/",
    r"/tmp/pl" + r"an\b",
    r"\.py" + r"env\b",
    r"/opt/(?:wh" + r"eels|py" + r"pi)",
)
REGISTRY_HOSTS = (
    r"py" + r"pi\.org",
    r"python" + r"hosted\.org",
    r"npm" + r"js\.(?:org|com)",
    r"deb" + r"ian\.org",
    r"crates" + r"\.io",
    r"proxy\.go" + r"lang\.org",
    r"ana" + r"conda\.(?:org|com)",
    r"maven" + r"\.org",
    r"ruby" + r"gems\.org",
)
MAKING = (
    r"(?i:\bissues? +#?\d)",
    r"(?i:\bwork" + r"place\b)",
    r"(?i:\bco-?authored" + r"-by:)",
)
# Case files hold what people and attackers write, marks included.
PROSE_MAY_SAY_ANYTHING = {".jsonl"}


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from importlinter.cli import lint_imports_command as main; main()"
    return run("-c", code, "--no-cache", "--no-logo", cwd=folder)


def findings(patterns: tuple[str, ...], *, but: set[str] = frozenset()) -> list[str]:
    search = re.compile("|".join(patterns), re.MULTILINE)
    return [
        f"{path.relative_to(ROOT)}: {match.group()!r}"
        for path in text_files()
        if path.suffix not in but
        for match in search.finditer(path.read_text(encoding="utf-8"))
    ]


# Who imports whom.


def test_the_import_contracts_hold() -> None:
    checked = lint_imports(ROOT)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("notes", "from . import words", "Imports run one way"),
        ("words", "import langgraph.graph", "The core knows no framework"),
        (
            "words",
            "from langchain_core.messages import HumanMessage",
            "The core knows no framework",
        ),
        ("somewhere", "", "Imports run one way"),
    ],
    ids=["upwards", "langgraph", "langchain", "a module without a layer"],
)
def test_the_import_contracts_notice(tmp_path: Path, module: str, line: str, contract: str) -> None:
    shutil.copytree(PACKAGE, tmp_path / "langmem_credit")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "langmem_credit" / f"{module}.py").open("a") as source:
        source.write(f"\n{line}\n")
    checked = lint_imports(tmp_path)
    assert checked.returncode == 1
    assert re.search(rf"^{contract}.* BROKEN$", checked.stdout, re.MULTILINE), checked.stdout


def test_the_contract_for_the_core_names_every_module_of_it() -> None:
    contracts = {
        contract["id"]: contract for contract in project()["tool"]["importlinter"]["contracts"]
    }
    named = set(contracts["core"]["source_modules"])
    assert named == {f"langmem_credit.{top_level_name(path)}" for path in core_modules()} - {
        "langmem_credit.__init__"
    }


@pytest.mark.parametrize("path", core_modules(), ids=top_level_name)
def test_the_core_needs_the_standard_library_only(path: Path) -> None:
    assert foreign_imports(path, top_level_only=True) == set()


@pytest.mark.parametrize("path", core_modules(), ids=top_level_name)
def test_the_core_uses_nothing_else_but_the_secret_detectors(path: Path) -> None:
    allowed = {"detect_secrets"} if path.stem == "scrubbing" else set()
    assert foreign_imports(path) <= allowed


@pytest.mark.parametrize("path", modules(), ids=top_level_name)
def test_no_module_but_a_command_imports_a_concrete_store(path: Path) -> None:
    # `ranking` ranks by SQLite's word index, in memory; it keeps nothing. The index is Chroma's.
    allowed = {"commands", "ranking", "word_index", *(one.stem for one in PACKAGE.glob("chroma_*"))}
    stores = set() if top_level_name(path) in allowed else set(CONCRETE_STORES)
    assert imports(path) & stores == set()


@pytest.mark.parametrize("path", modules(), ids=top_level_name)
def test_langchain_itself_is_imported_by_the_middleware_and_the_commands_only(path: Path) -> None:
    allowed = {"commands", "middleware"}
    others = set() if top_level_name(path) in allowed else {"langchain"}
    assert foreign_imports(path) & others == set()


# What an import costs.


def test_importing_the_package_loads_no_heavy_part() -> None:
    assert importing.measure("import langmem_credit")[1] == []


def test_importing_the_package_takes_at_most_a_fifth_of_a_second() -> None:
    seconds = [importing.measure("import langmem_credit")[0] for _ in range(5)]
    assert statistics.median(seconds) <= importing.AIM_SECONDS


def test_judging_loads_no_heavy_part() -> None:
    assert importing.measure("from langmem_credit import judge")[1] == []


@pytest.mark.parametrize("name", ["langgraph", "langchain_core"])
def test_the_core_works_where_a_framework_is_missing(name: str) -> None:
    core = ", ".join(
        {f"langmem_credit.{top_level_name(path)}" for path in core_modules()}
        - {"langmem_credit.__init__"}
    )
    ran = run("-c", f"import sys; sys.modules[{name!r}] = None; import {core}")
    assert ran.stderr == ""


# Public names.


def test_every_public_name_says_where_it_lives() -> None:
    assert sorted(langmem_credit.__all__) == sorted(langmem_credit._MODULE_OF)


def test_the_type_checker_sees_the_same_names() -> None:
    assert type_checking_imports(PACKAGE / "__init__.py") == langmem_credit._MODULE_OF


@pytest.mark.parametrize("name", sorted(langmem_credit.__all__))
def test_a_public_name_is_there(name: str) -> None:
    defined = importlib.import_module(f"langmem_credit.{langmem_credit._MODULE_OF[name]}")
    assert getattr(langmem_credit, name) is getattr(defined, name)


def test_every_error_is_public() -> None:
    errors = importlib.import_module("langmem_credit.errors")
    defined = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert {name for name, module in langmem_credit._MODULE_OF.items() if module == "errors"} == (
        defined
    )


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Memory'"):
        langmem_credit.Memory  # noqa: B018


def test_dir_lists_the_public_names() -> None:
    assert set(langmem_credit.__all__) <= set(dir(langmem_credit))


# Sizes and packaging.


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_has_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_not_named_for_nothing(path: Path) -> None:
    assert path.stem not in {"base", "common", "helpers", "manager", "misc", "util", "utils"}


def test_the_dev_extra_pins_exact_releases() -> None:
    assert [pin for pin in pins("dev").values() if not re.fullmatch(r"==[^*,]+", pin)] == []


def test_the_dev_extra_pins_all_that_its_packages_bring_along() -> None:
    assert closure(pins("dev")) == set(pins("dev"))


def test_the_tests_run_on_the_pinned_releases() -> None:
    # A build for one kind of machine names it behind a plus sign.
    releases = {name: f"=={version(name).partition('+')[0]}" for name in pins("dev")}
    assert releases == pins("dev")


def test_every_run_time_dependency_is_pinned_for_the_tests() -> None:
    assert closure(project()["project"]["dependencies"]) <= set(pins("dev"))


def test_the_installed_package_is_this_tree() -> None:
    assert Path(langmem_credit.__file__).parent == PACKAGE


def test_the_newest_heading_of_the_changelog_is_this_version() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == project()["project"]["version"]


def test_the_console_script_starts() -> None:
    script = project()["project"]["scripts"]["langmem-credit"]
    module, _, function = script.partition(":")
    assert callable(getattr(importlib.import_module(module), function))


# Documents and checks.


def test_every_link_between_documents_leads_somewhere() -> None:
    documents = [path for path in text_files() if path.suffix == ".md"]
    broken = [
        (document.name, link)
        for document in documents
        if "snapshots" not in document.parts
        for link in links(document)
        if not (document.parent / link).exists()
    ]
    assert broken == []


def test_the_readme_names_the_test_command_that_ci_runs() -> None:
    commands = marked_block((ROOT / "README.md").read_text(encoding="utf-8"), "test-command")
    assert 1 <= len(commands) <= 2
    assert commands[-1].endswith(".venv/bin/pytest")


def test_the_readme_names_every_extra() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    extras = project()["project"]["optional-dependencies"]
    assert [extra for extra in extras if f"[{extra}" not in readme] == []


def test_the_hooks_before_a_commit_run_what_ci_runs() -> None:
    configuration = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    entries = [hook["entry"] for repo in configuration["repos"] for hook in repo["hooks"]]
    checks = [entry for entry in entries if not entry.startswith("pytest")]
    assert [check for check in checks if f".venv/bin/{check}" not in ci] == []


def test_ci_is_a_script_that_bash_accepts() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111 == 0o111
    subprocess.run(["bash", "-n", script], check=True, timeout=60)


def test_every_snapshot_is_compared_with_by_a_test() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests").glob("test_*.py"))
    kept = sorted(path.stem for path in (ROOT / "tests" / "snapshots").glob("*.md"))
    assert [name for name in kept if f'"{name}"' not in tests] == []


# What must not stand anywhere in the tree.


def test_no_left_over_mark_stands_in_the_tree() -> None:
    assert findings(LEFT_OVER_MARKS, but=PROSE_MAY_SAY_ANYTHING) == []


def test_no_path_of_one_machine_stands_in_the_tree() -> None:
    assert findings(MACHINE_PATHS) == []


def test_no_host_of_a_package_registry_stands_in_the_tree() -> None:
    assert findings(REGISTRY_HOSTS) == []


def test_nothing_about_the_making_stands_in_the_tree() -> None:
    assert findings(MAKING, but=PROSE_MAY_SAY_ANYTHING) == []


@pytest.mark.parametrize(
    ("patterns", "text"),
    [
        (LEFT_OVER_MARKS, "# TO" + "DO: later"),
        (LEFT_OVER_MARKS, "<" * 7 + " HEAD"),
        (MACHINE_PATHS, 'open("/wo' + 'rk/main/x")'),
        (REGISTRY_HOSTS, "https://py" + "pi.org/simple"),
        (MAKING, "see iss" + "ue 12"),
    ],
)
def test_the_search_would_find(patterns: tuple[str, ...], text: str) -> None:
    assert re.search("|".join(patterns), text, re.MULTILINE)
