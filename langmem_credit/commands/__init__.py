"""The command line: `langmem-credit`, also `python -m langmem_credit`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

_EXAMPLES = """\
examples:
  langmem-credit demo                      a story of a minute, on a real graph, offline
  langmem-credit chat ./memory             talk to an agent that remembers, in ./memory
  langmem-credit sessions search ./memory porto    where that was said, in all sessions
  langmem-credit panel ./memory            review its notes in the browser
  langmem-credit judge attempts.jsonl      what the rules say of attempts, a line each
  langmem-credit fetch-model               the local model, for recall by meaning

exit status: 0 all went well, 1 something did not hold or a line was wrong, 2 wrong usage
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: the words after the program's name; None takes them from the process.

    Returns:
        The exit status: 0, 1 where something did not hold, 2 for wrong usage.
    """
    parser = argparse.ArgumentParser(
        prog="langmem-credit",
        description="Memory for LangGraph agents that credits only what the person said.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    from . import chat, demo, fetch_model, judge, panel, sessions

    for module in (judge, chat, panel, sessions, demo, fetch_model):
        module.add_parser(commands)
    args = parser.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # A note may hold what the terminal's encoding does not.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status: int = args.run(args)
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return status
