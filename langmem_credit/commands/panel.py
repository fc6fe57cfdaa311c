"""`panel`: review the notes of a `chat` folder in the browser.

It listens on this machine alone and prints a link that lets one browser in, once.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from langmem_credit.errors import CreditError

_PORT = 8765
_MOST_SESSIONS = 1_000


def add_parser(commands: Any) -> None:
    """Adds the command to the parser's commands."""
    parser = commands.add_parser(
        "panel", help="review a chat folder's notes in the browser", description=__doc__
    )
    parser.add_argument("folder", help="the folder of `chat`")
    parser.add_argument(
        "--port", type=int, default=_PORT, help=f"on 127.0.0.1; 0 for any (default {_PORT})"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serves until it is interrupted; 2 when the folder, the port or the extra is missing."""
    from langmem_credit.panel import create_panel

    from .opening import index_in, opened_chat

    folder = Path(args.folder)
    sessions = folder / "sessions.sqlite"
    if not sessions.is_file():
        sys.stderr.write(
            f"{args.folder} has no sessions. Name a folder of `langmem-credit chat`.\n"
        )
        return 2
    try:
        from langmem_credit.panel.serving import serve

        with opened_chat(folder, index=index_in(folder)) as chat:
            saver: Any = chat.graph.checkpointer
            saver.setup()
            panel = create_panel(
                chat.memory, chat.graph, person={"user_id": "me"}, sessions=_newest(sessions)
            )
            serve(panel, port=args.port)
    except ModuleNotFoundError as error:
        from langmem_credit.errors import MissingExtraError

        sys.stderr.write(f"{MissingExtraError('The review panel', 'panel')} ({error})\n")
        return 2
    except (CreditError, sqlite3.Error) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _newest(path: Path) -> Any:
    """Gives the ids of the file's sessions, the one used last first."""

    def sessions(_: Mapping[str, str]) -> Iterable[str]:
        # A connection of its own, so that a session that is being written holds nobody up.
        address = f"{path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=5)) as connection:
            rows = connection.execute(
                "SELECT thread_id FROM checkpoints GROUP BY thread_id "
                "ORDER BY MAX(checkpoint_id) DESC LIMIT ?",
                (_MOST_SESSIONS,),
            ).fetchall()
        return [str(row[0]) for row in rows]

    return sessions
