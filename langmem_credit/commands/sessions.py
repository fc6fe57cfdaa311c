"""`sessions`: list, search, read, mark and delete the sessions of a folder that `chat` made.

A search shows how far it has come on standard error where that is a terminal, and ends at any time
with Ctrl-C. With --json the output is one JSON object. Exit status 1 when nothing was found.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langmem_credit.characters import clean, one_line
from langmem_credit.errors import CreditError

if TYPE_CHECKING:
    from langmem_credit.matching import SessionHit
    from langmem_credit.memory import CreditedMemory
    from langmem_credit.register import SessionEntry
    from langmem_credit.searching import SearchProgress
    from langmem_credit.sessions import Conversation

_BAR_CHARS = 20
# Messages shown before and behind the one that is asked for.
_BEFORE, _BEHIND = 3, 6
_NAMES = {"person": "you", "agent": "agent", "tool": "tool"}
# Verb: what it does, and the method of the memory.
_MARKS = {
    "archive": ("put a session aside; it is still searched", "archive_session"),
    "trash": ("neither listed, searched nor shown until it is restored", "trash_session"),
    "restore": ("out of the trash, else out of the archive", "restore_session"),
}


@dataclass(frozen=True, slots=True)
class Opened:
    """The sessions of a folder."""

    memory: CreditedMemory
    graph: Any
    config: Any


def add_parser(commands: Any) -> None:
    """Adds the command to the parser's commands."""
    parser = commands.add_parser(
        "sessions",
        help="list, search, read, mark and delete the sessions of a folder that chat made",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    listing = verbs.add_parser("list", help="the sessions, the newest first")
    _add_common(listing)
    listing.add_argument("--trashed", action="store_true", help="those in the trash")
    listing.set_defaults(run=run, verb_run=run_list)

    search = verbs.add_parser("search", help="where all the words were said")
    _add_common(search)
    search.add_argument("words", nargs="+", help="all of them must match; any order")
    search.add_argument("--limit", type=int, default=40, help="hits that are shown, 1 to 40")
    search.add_argument("--everything", action="store_true", help="tools' calls and answers too")
    search.add_argument(
        "--progress", action="store_true", help="show how far it has come on a pipe too"
    )
    search.set_defaults(run=run, verb_run=run_search)

    show = verbs.add_parser("show", help="one session, or a place in it")
    _add_common(show)
    show.add_argument("session", help="its id")
    show.add_argument("--at", type=int, help="number of the message, as search names it")
    show.add_argument("--everything", action="store_true", help="tools' calls and answers too")
    show.set_defaults(run=run, verb_run=run_show)

    rename = verbs.add_parser("rename", help="give a session a title of your own")
    _add_common(rename)
    rename.add_argument("session", help="its id")
    rename.add_argument("title", nargs="+", help="at most 80 characters")
    rename.set_defaults(run=run, verb_run=run_mark)
    for name, (does, _) in _MARKS.items():
        mark = verbs.add_parser(name, help=does)
        _add_common(mark)
        mark.add_argument("session", help="its id")
        mark.set_defaults(run=run, verb_run=run_mark)

    delete = verbs.add_parser("delete", help="take a session out for good, with its conversation")
    _add_common(delete)
    delete.add_argument("session", help="its id")
    delete.add_argument("--yes", action="store_true", help="without this nothing is deleted")
    delete.set_defaults(run=run, verb_run=run_delete)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="the folder that chat keeps its sessions in")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    """Runs one verb; 1 for an unknown session, 2 when the folder or an argument cannot be used."""
    from langmem_credit.errors import UnknownSessionError

    try:
        with opened(Path(args.folder), indexed=args.verb == "delete") as there:
            status: int = args.verb_run(args, there)
            return status
    except (CreditError, sqlite3.Error) as error:
        sys.stderr.write(f"{one_line(str(error))}\n")
        return 1 if isinstance(error, UnknownSessionError) else 2


@contextmanager
def opened(folder: Path, *, indexed: bool = False) -> Iterator[Opened]:
    """The sessions of a folder; with its index only where that has to change.

    Raises:
        ConfigurationError: `chat` made no sessions there.
    """
    from langmem_credit.errors import ConfigurationError

    from .opening import index_in, opened_chat

    for name in ("sessions.sqlite", "notes.sqlite"):
        if not (folder / name).is_file():
            raise ConfigurationError(
                f"There is no {name} in {folder}. Name a folder that langmem-credit chat made."
            )
    index = index_in(folder) if indexed else None
    if index is not None and not index.is_dir():
        index = None
    with opened_chat(folder, index=index, session="-") as chat:
        yield Opened(chat.memory, chat.graph, chat.config)


def run_list(args: argparse.Namespace, there: Opened) -> int:
    """Prints the sessions; 1 when there are none."""
    found = there.memory.sessions(there.graph, there.config, trashed=args.trashed)
    if args.json:
        print_json({"sessions": [session_json(entry) for entry in found]})
    else:
        for entry in found:
            print(row(entry))
        if not found:
            print("No sessions here.")
    return 0 if found else 1


def run_search(args: argparse.Namespace, there: Opened) -> int:
    """Prints the hits, the best first; 1 when nothing was found."""
    query = " ".join(args.words)
    search = there.memory.search_sessions(
        there.graph, there.config, query, limit=args.limit, everything=args.everything
    )
    bar = Bar(shown=args.progress or sys.stderr.isatty())
    try:
        for progress in search:
            bar.show(progress)
    finally:
        bar.end()
    last = search.progress
    assert last is not None
    if args.json:
        print_json(
            {
                "query": query,
                "searched": last.searched,
                "of": last.of,
                "found": last.found,
                "unreadable": last.unreadable,
                "hits": [hit_json(hit) for hit in last.hits],
            }
        )
    else:
        print_hits(last)
    return 0 if last.hits else 1


def run_show(args: argparse.Namespace, there: Opened) -> int:
    """Prints a session's conversation, or what stands around one message."""
    conversation = there.memory.read_session(
        there.graph, there.config, args.session, everything=args.everything
    )
    if args.json:
        print_json(
            {
                "session": session_json(conversation.session),
                "messages": [asdict(one) for one in conversation.said],
            }
        )
    else:
        print_conversation(conversation, args.at)
    return 0


def run_mark(args: argparse.Namespace, there: Opened) -> int:
    """Renames, archives, trashes or restores a session, and prints it as it is then."""
    if args.verb == "rename":
        entry = there.memory.rename_session(
            there.graph, there.config, args.session, " ".join(args.title)
        )
    else:
        method = getattr(there.memory, _MARKS[args.verb][1])
        entry = method(there.graph, there.config, args.session)
    if args.json:
        print_json({"session": session_json(entry)})
    else:
        print(row(entry))
    return 0


def run_delete(args: argparse.Namespace, there: Opened) -> int:
    """Deletes a session for good; 2 without --yes, and nothing is done."""
    if not args.yes:
        sys.stderr.write("Nothing was deleted. Add --yes to delete the session for good.\n")
        return 2
    there.memory.delete_session(there.graph, there.config, args.session)
    if args.json:
        print_json({"deleted": args.session})
    else:
        print(
            f"Deleted session {one_line(args.session)}, with its conversation. The notes that all "
            "sessions share stay; forget them in chat or in the panel."
        )
    return 0


class Bar:
    """How far a search has come, on one line of standard error."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._length = 0

    def show(self, progress: SearchProgress) -> None:
        """Draws the line anew."""
        if not self._shown:
            return
        done = _BAR_CHARS * progress.searched // progress.of if progress.of else _BAR_CHARS
        line = (
            f"[{'#' * done}{'.' * (_BAR_CHARS - done)}] "
            f"{progress.searched} of {progress.of} sessions, {progress.found} found"
        )
        sys.stderr.write(f"\r{line.ljust(self._length)}")
        sys.stderr.flush()
        self._length = len(line)

    def end(self) -> None:
        """Leaves the line."""
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()


def print_hits(last: SearchProgress) -> None:
    """Prints the hits and what is not shown."""
    for hit in last.hits:
        print(row(hit.session))
        if not hit.in_title:
            at = f" --at {hit.place.message}" if hit.place.message >= 0 else ""
            print(f"    {_NAMES.get(hit.place.role, 'agent')}: {hit.line}{at and f'  ({at[1:]})'}")
    if not last.hits:
        print(f"Nothing found in {last.of} sessions.")
    elif last.found > len(last.hits):
        print(f"{last.found - len(last.hits)} more match. Add a word to narrow the search.")
    if last.unreadable:
        print(f"{last.unreadable} sessions could not be read.")


def print_conversation(conversation: Conversation, at: int | None) -> None:
    """Prints the conversation, or the part around the message of this number, which is marked."""
    said = conversation.said
    print(row(conversation.session))
    numbers = [one.number for one in said]
    first, last = 0, len(said)
    if at is not None:
        near = min(range(len(said)), key=lambda place: abs(numbers[place] - at), default=0)
        first, last = max(0, near - _BEFORE), near + _BEHIND + 1
    if first:
        print(f"  … {first} earlier")
    for one in said[first:last]:
        mark = ">" if one.number == at else " "
        text = clean(one.text).replace("\n", "\n      ")
        print(f"{mark} {one.number:3} {_NAMES[one.role]}: {text}")
    if last < len(said):
        print(f"  … {len(said) - last} later")


def row(entry: SessionEntry) -> str:
    """A session on one line."""
    marks = "".join(f" ({name})" for name in ("archived", "trashed") if getattr(entry, name))
    when = entry.updated_at[:16].replace("T", " ")
    count = f"{entry.messages} message{'' if entry.messages == 1 else 's'}"
    return f"{one_line(entry.id)}  {when}  {count}  {entry.title or '(nothing typed)'}{marks}"


def session_json(entry: SessionEntry) -> dict[str, Any]:
    """A session's entry for programs."""
    names = ("id", "title", "preview", "created_at", "updated_at", "messages", "archived")
    return {name: getattr(entry, name) for name in (*names, "trashed")}


def hit_json(hit: SessionHit) -> dict[str, Any]:
    """A hit for programs."""
    return {
        "session": session_json(hit.session),
        "in_title": hit.in_title,
        "line": hit.line,
        "place": asdict(hit.place),
    }


def print_json(value: Any) -> None:
    """Prints one JSON object, in ASCII, so that no terminal can refuse it."""
    print(json.dumps(value))
