"""`judge`: what the rules say of remember and forget attempts, one JSON line each.

Each line is a run of its own on an empty memory, but for the notes under `existing`. The decision
is the one that the tools make.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_INPUT = """\
each input line is an object with
  heard     what was typed in the run, oldest first: texts, or objects with text, via
            (input, answer, prefill, click, paste, voice, other_speaker, edited) and speaker
  call      tool (remember or forget) with note and said, or query and said
  existing  for forget: texts of the notes already kept
  id        any; given back
each output line has id, outcome (active, unconfirmed, already_known, rejected, removed, kept),
rule (the part that broke), suggestion, stored and removed; a wrong line has id and error instead
"""


def add_parser(commands: Any) -> None:
    """Adds the command to the parser's commands."""
    parser = commands.add_parser(
        "judge",
        help="say of remember and forget attempts what becomes of them",
        description=__doc__,
        epilog=_INPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", help="JSON lines; standard input when left out")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judges every line; 1 when one of them could not be judged."""
    if args.file is None:
        return _judge_lines(sys.stdin)
    path = Path(args.file)
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as lines:
            return _judge_lines(lines)
    except OSError as error:
        sys.stderr.write(f"Cannot read {args.file}: {error.strerror}. Name a file of JSON lines.\n")
        return 2


def _judge_lines(lines: Iterable[str]) -> int:
    status = 0
    for line in lines:
        if not line.strip():
            continue
        result = judge_line(line)
        status = 1 if "error" in result else status
        # Escaped: a line may hold half a character, which no encoding can write.
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
    return status


def judge_line(line: str) -> dict[str, Any]:
    """The answer to one input line.

    >>> judge_line('{"id": 1, "heard": ["Use pnpm"]}')
    {'id': 1, 'error': 'call is missing: give an object with tool, note and said'}
    """
    try:
        attempt = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"not valid JSON: {error}"}
    if not isinstance(attempt, dict):
        return {"id": None, "error": "not a JSON object"}
    try:
        return {"id": attempt.get("id"), **_judge(attempt)}
    except _WrongLineError as error:
        return {"id": attempt.get("id"), "error": str(error)}


class _WrongLineError(ValueError):
    """A line lacks something or has it in the wrong form."""


def _judge(attempt: dict[str, Any]) -> dict[str, Any]:
    from langmem_credit.decisions import decide
    from langmem_credit.heard import HeardRun
    from langmem_credit.notebook import fold
    from langmem_credit.notes import utc_now
    from langmem_credit.session import Call, Session
    from langmem_credit.settings import Settings

    call = attempt.get("call")
    if not isinstance(call, dict):
        raise _WrongLineError("call is missing: give an object with tool, note and said")
    tool = call.get("tool")
    if tool not in ("remember", "forget"):
        raise _WrongLineError(f"call.tool is {tool!r}: it must be remember or forget")
    needed = ("note", "said") if tool == "remember" else ("said",)
    for name in needed:
        if name not in call:
            raise _WrongLineError(f"call.{name} is missing")
    if tool == "forget" and "query" not in call and "id" not in call:
        raise _WrongLineError("call.query is missing")
    heard = tuple(_read_heard(attempt.get("heard")))
    notes = _read_existing(attempt.get("existing", []))
    now = utc_now()
    run = HeardRun("judge", heard, now, now, "", "", recorded=True)
    session = Session(Settings(), notes, fold(notes), run, [], "", saved=True)
    decision = decide(session, Call(tool, call, "call", "message"))
    after = session.with_events(decision.events).notebook
    note = after.notes.get(decision.note_id)
    kept = decision.outcome in ("active", "unconfirmed", "already_known") and tool == "remember"
    return {
        "outcome": decision.outcome,
        "rule": decision.rule,
        "suggestion": decision.suggestion,
        "stored": note.text if note is not None and kept else None,
        "removed": [note.text] if note is not None and decision.outcome == "removed" else [],
    }


def _read_heard(heard: object) -> Iterator[Any]:
    from langmem_credit.notes import VIAS, Utterance

    if not isinstance(heard, list):
        raise _WrongLineError("heard is missing: give a list of texts")
    for number, given in enumerate(heard):
        entry = {"text": given} if isinstance(given, str) else given
        if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
            raise _WrongLineError(f"heard[{number}] is neither a text nor an object with a text")
        via, speaker = entry.get("via", "input"), entry.get("speaker")
        if via not in VIAS:
            raise _WrongLineError(
                f"heard[{number}].via is {via!r}: it must be one of {', '.join(VIAS)}"
            )
        if speaker is not None and not isinstance(speaker, str):
            raise _WrongLineError(f"heard[{number}].speaker is not a text")
        yield Utterance(f"heard-{number}", entry["text"], via=via, speaker=speaker)


def _read_existing(existing: object) -> list[dict[str, Any]]:
    from langmem_credit.errors import RefusedWriteError
    from langmem_credit.ledger import remembered
    from langmem_credit.notes import Verdict

    if existing is None:
        return []
    if not isinstance(existing, list) or not all(isinstance(text, str) for text in existing):
        raise _WrongLineError("existing is not a list of texts")
    events: list[dict[str, Any]] = []
    for number, text in enumerate(existing):
        moment = f"2000-01-01T00:00:00.{number:06d}Z"
        try:
            events.append(remembered(text, Verdict(credited=True), at=moment, call=f"e{number}"))
        except RefusedWriteError as error:
            raise _WrongLineError(f"existing[{number}]: {error}") from error
    return events
