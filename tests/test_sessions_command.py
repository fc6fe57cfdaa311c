"""`langmem-credit sessions`, on the files that `chat` makes."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.sqlite import SqliteStore

from langmem_credit.commands import main
from langmem_credit.commands.chat import Chat, open_shared
from langmem_credit.commands.stand_in import StandInModel
from langmem_credit.commands.terminal import Line


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


def run_command(*args: object) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([str(one) for one in args])
    return Done(status, out.getvalue(), err.getvalue())


def talk_in(folder: Path, session: str, *lines: str) -> None:
    """What `chat` does with these lines."""
    connection = sqlite3.connect(folder / "sessions.sqlite", check_same_thread=False)
    with closing(connection), closing(open_shared(folder)) as shared:
        store = SqliteStore(shared)
        store.setup()
        said: list[str] = []
        saver = SqliteSaver(connection)
        chat = Chat.open(StandInModel(), saver, session=session, store=store, say=said.append)
        chat.talk(Line(line) for line in lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("memory")
    talk_in(place, "one", "Plan the trip to Porto", "a cheap hotel", "bye")
    talk_in(place, "two", "hello there", "the hotel in Rome was dear", "see you")
    return place


def test_the_command_runs_as_a_program(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "langmem_credit", "sessions", "search", str(folder), "porto"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "Plan the trip to Porto" in done.stdout


def test_the_sessions_of_a_folder_are_listed_newest_first(folder: Path) -> None:
    done = run_command("sessions", "list", folder)

    assert done.returncode == 0, done.stderr
    rows = [re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", row) for row in done.stdout.splitlines()]
    assert [re.sub(r"\d+ messages", "N messages", row) for row in rows] == [
        "two  WHEN  N messages  hello there",
        "one  WHEN  N messages  Plan the trip to Porto",
    ]


def test_a_search_shows_each_hit_with_its_line_and_place(folder: Path) -> None:
    done = run_command("sessions", "search", folder, "HOTEL")

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[::2]] == ["two", "one"]
    assert re.fullmatch(r" +you: the hotel in Rome was dear  \(--at \d+\)", lines[1])
    assert re.fullmatch(r" +you: a cheap hotel  \(--at \d+\)", lines[3])
    assert done.stderr == ""


def test_a_search_shows_how_far_it_has_come(folder: Path) -> None:
    done = run_command("sessions", "search", folder, "porto", "--progress")

    assert done.stderr.split("\r") == [
        "",
        "[....................] 0 of 2 sessions, 1 found",
        "[####################] 2 of 2 sessions, 1 found\n",
    ]


def test_a_search_as_json(folder: Path) -> None:
    done = run_command("sessions", "search", folder, "cheap", "hotel", "--json")

    found = json.loads(done.stdout)
    (hit,) = found.pop("hits")
    assert found == {
        "query": "cheap hotel",
        "searched": 2,
        "of": 2,
        "found": 1,
        "unreadable": 0,
    }
    assert (hit["line"], hit["in_title"], hit["session"]["id"]) == ("a cheap hotel", False, "one")
    assert hit["session"]["title"] == "Plan the trip to Porto"


def test_opening_a_hit_shows_the_conversation_at_its_place(folder: Path) -> None:
    found = json.loads(run_command("sessions", "search", folder, "cheap", "--json").stdout)
    at = found["hits"][0]["place"]["message"]

    done = run_command("sessions", "show", folder, "one", "--at", at)

    marked = [line for line in done.stdout.splitlines() if line.startswith(">")]
    assert marked == [f"> {at:3} you: a cheap hotel"]
    assert "you: Plan the trip to Porto" in done.stdout


def test_a_session_as_json(folder: Path) -> None:
    shown = json.loads(run_command("sessions", "show", folder, "one", "--json").stdout)

    said = [one["text"] for one in shown["messages"] if one["role"] == "person"]
    assert said == ["Plan the trip to Porto", "a cheap hotel", "bye"]


def test_nothing_found_is_exit_status_1(folder: Path) -> None:
    done = run_command("sessions", "search", folder, "nowhere")

    assert (done.returncode, done.stdout) == (1, "Nothing found in 2 sessions.\n")


def test_an_unknown_session_is_exit_status_1(folder: Path) -> None:
    done = run_command("sessions", "show", folder, "three")

    assert (done.returncode, done.stdout) == (1, "")
    assert "no session 'three'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("list", "{empty}"), "There is no sessions.sqlite"),
        (("search", "{folder}", ""), "no word to look for"),
        (("search", "{folder}", "x" * 401), "at most 400"),
        (("search", "{folder}", "x", "--limit", "41"), "from 1 to 40"),
    ],
    ids=["no folder", "no word", "a long query", "a wide limit"],
)
def test_wrong_usage_is_exit_status_2(
    folder: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    filled = [one.format(folder=folder, empty=tmp_path) for one in arguments]

    assert main(["sessions", *filled]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_was_said_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "evil \x1b[2J\u202e title"
    talk_in(tmp_path, "one", hostile)

    for arguments in (("list",), ("search",), ("show",)):
        more = {"search": ["evil"], "show": ["one"]}.get(arguments[0], [])
        assert main(["sessions", *arguments, str(tmp_path), *more]) == 0
    out = capsys.readouterr().out
    assert out.count("evil") >= 3
    assert not {"\x1b", "\u202e"} & set(out)


def listed(folder: Path, *more: str) -> list[tuple[str, str]]:
    """(id, title with its marks) of each session that is listed."""
    rows = run_command("sessions", "list", folder, *more).stdout.splitlines()
    return [(row.split("  ")[0], row.split("  ")[-1]) for row in rows if "  " in row]


def test_a_session_is_renamed_archived_trashed_and_restored(tmp_path: Path) -> None:
    talk_in(tmp_path, "one", "Plan the trip to Porto")

    assert run_command("sessions", "rename", tmp_path, "one", "Porto", "2027").returncode == 0
    assert listed(tmp_path) == [("one", "Porto 2027")]
    assert run_command("sessions", "archive", tmp_path, "one").returncode == 0
    assert listed(tmp_path) == [("one", "Porto 2027 (archived)")]
    assert run_command("sessions", "trash", tmp_path, "one").returncode == 0
    assert listed(tmp_path) == []
    assert listed(tmp_path, "--trashed") == [("one", "Porto 2027 (archived) (trashed)")]
    assert run_command("sessions", "search", tmp_path, "porto").returncode == 1
    assert run_command("sessions", "show", tmp_path, "one").returncode == 2
    assert run_command("sessions", "restore", tmp_path, "one").returncode == 0
    assert run_command("sessions", "restore", tmp_path, "one", "--json").returncode == 0
    assert listed(tmp_path) == [("one", "Porto 2027")]


def test_a_session_is_deleted_with_its_conversation(tmp_path: Path) -> None:
    talk_in(tmp_path, "one", "Plan the trip to Porto")
    talk_in(tmp_path, "two", "hello there")

    refused = run_command("sessions", "delete", tmp_path, "one")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--yes" in refused.stderr
    assert len(listed(tmp_path)) == 2
    done = run_command("sessions", "delete", tmp_path, "one", "--yes")
    assert done.returncode == 0, done.stderr
    assert listed(tmp_path) == [("two", "hello there")]
    assert run_command("sessions", "search", tmp_path, "porto").returncode == 1
    with closing(sqlite3.connect(tmp_path / "sessions.sqlite")) as connection:
        threads = connection.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
    assert threads == [("two",)]


@pytest.mark.parametrize("verb", ["rename", "archive", "trash", "restore", "delete"])
def test_an_unknown_session_is_neither_marked_nor_deleted(folder: Path, verb: str) -> None:
    more = {"rename": ["x"], "delete": ["--yes"]}.get(verb, [])
    done = run_command("sessions", verb, folder, "three", *more)

    assert (done.returncode, done.stdout) == (1, "")
    assert "no session 'three'" in done.stderr


def test_a_title_without_words_is_wrong_usage(folder: Path) -> None:
    done = run_command("sessions", "rename", folder, "one", " ")

    assert (done.returncode, done.stdout) == (2, "")
    assert "Pass a text" in done.stderr
