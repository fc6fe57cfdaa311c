"""`chat`: talk to an agent that remembers what you said and nothing else.

Sessions, and the notes that all of them share, are kept in two SQLite files in the folder you name,
beside an index folder for recall by meaning. Without a model, or without its package or key, an
offline stand-in answers, and says so.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langmem_credit.characters import clean, one_line
from langmem_credit.drafts import STOOD_FOR
from langmem_credit.errors import CreditError
from langmem_credit.review.rows import reason_of

from .opening import NO_INDEX, choose_model, index_in, open_shared
from .terminal import Line, read_lines

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import BaseStore

    from langmem_credit.embedding import Embedder
    from langmem_credit.memory import CreditedMemory
    from langmem_credit.notes import Note

_COMMANDS = """\
/memories     what is kept here: ★ is memory, ? waits for you
/confirm ID   make a waiting note memory
/forget ID    take a note out of memory
/restore ID   take that back
/prompt       the system message as the model gets it
/new          a new session, which knows your notes and nothing else
/session ID   go on with another session; without ID, list them
/quit         leave"""

_MOST_NAMED = 5  # sessions
_WARMING = "what is kept"
# The longest that leaving waits for what is still being loaded.
_LAST_SECONDS = 30.0


def add_parser(commands: Any) -> None:
    """Adds the command to the parser's commands."""
    parser = commands.add_parser(
        "chat",
        help="talk to an agent that remembers, in a folder of yours",
        description=__doc__,
        epilog="while you talk:\n" + "\n".join(f"  {line}" for line in _COMMANDS.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", help="where the sessions are kept; made when missing")
    parser.add_argument(
        "--model",
        help="a chat model by name, such as openai:gpt-4o-mini; its package and key must be there",
    )
    parser.add_argument("--session", help="id of a session to go on with; otherwise a new one")
    parser.add_argument("--files", help="a folder whose text files the agent may read")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Talks until the input ends; 2 when the folder cannot be used."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.store.sqlite import SqliteStore

    folder = Path(args.folder)
    files = Path(args.files) if args.files else None
    if files is not None and not files.is_dir():
        sys.stderr.write(f"{args.files} is no folder. Name the folder with the files to read.\n")
        return 2
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(folder / "sessions.sqlite", check_same_thread=False)
        shared = open_shared(folder)
    except (OSError, sqlite3.Error) as error:
        sys.stderr.write(f"Cannot keep sessions in {args.folder}: {error}. Name another folder.\n")
        return 2
    with closing(connection), closing(shared):
        name = "sessions.sqlite"
        try:
            saver = SqliteSaver(connection)
            saver.setup()
            name = "notes.sqlite"
            store = SqliteStore(shared)
            store.setup()
        except sqlite3.Error as error:
            sys.stderr.write(
                f"{folder / name} cannot be used: {error}. Move it away or name another folder.\n"
            )
            return 2
        model, notice = choose_model(args.model)
        print(notice)
        index = index_in(folder)
        if index is None:
            print(NO_INDEX)
        chat = Chat.open(model, saver, session=args.session, files=files, store=store, index=index)
        chat.warm()
        try:
            chat.talk(read_lines())
        finally:
            chat.close()
    return 0


class Chat:
    """One person at one terminal, in one session at a time."""

    def __init__(
        self,
        memory: CreditedMemory,
        graph: CompiledStateGraph[Any, Any, Any, Any],
        session: str,
        say: Callable[[str], None] = print,
    ) -> None:
        self.memory = memory
        self.graph = graph
        self.session = session
        self.say = say
        # The text of each note as the person last saw it: a confirmation binds to it.
        self.shown: dict[str, str] = {}
        self.waiting = False
        self.help = _COMMANDS
        self.warming: threading.Thread | None = None
        self._embedder: Embedder | None = None

    @classmethod
    def open(
        cls,
        model: BaseChatModel,
        saver: Any,
        *,
        session: str | None = None,
        files: Path | None = None,
        say: Callable[[str], None] = print,
        store: BaseStore | None = None,
        index: Path | None = None,
    ) -> Chat:
        """A chat on these sessions, in a new one unless one is named.

        With a store the person's notes are those of all sessions; with an index folder recall is
        by meaning too.
        """
        from langmem_credit.chroma_index import ChromaIndex
        from langmem_credit.local_model import LocalModel
        from langmem_credit.memory import CreditedMemory
        from langmem_credit.scopes import Scope

        from .agent import build_agent
        from .stand_in import ABILITIES, StandInModel

        shared = [Scope("user", ("memories", "{user_id}"))] if store is not None else []
        embedder = LocalModel()
        found = None if index is None else ChromaIndex(index, embedder)
        memory = CreditedMemory(scopes=shared, index=found)
        graph = build_agent(memory, model, saver, files, store)
        chat = cls(memory, graph, session or new_session_id(), say)
        if index is not None:
            chat._embedder = embedder
        if isinstance(model, StandInModel):
            chat.help += f"\n\n{ABILITIES}"
        return chat

    @property
    def config(self) -> Any:
        """Names the session and the person to the graph."""
        return {"configurable": {"thread_id": self.session, "user_id": "me"}}

    def talk(self, lines: Iterable[Line]) -> None:
        """Answers each line until they end or say /quit."""
        new = " is new" if self._is_new() else ""
        self.say(f"Session {self.session}{new}. Type /help for the commands.")
        for line in lines:
            text = line.text.strip()
            if text.split(maxsplit=1)[:1] in (["/quit"], ["/exit"]):
                return
            if not text:
                continue
            if any("\ud800" <= char <= "\udfff" for char in text):
                self.say("That is not text in this terminal's encoding. Nothing was sent.")
                continue
            try:
                if text.startswith("/") and not line.pasted:
                    self.obey(text)
                else:
                    self.hear(line.text, pasted=line.pasted)
            except CreditError as error:
                self.say(str(error))
            except Exception as error:  # noqa: BLE001 - a chat outlives a failing model
                self.say(f"That failed: {type(error).__name__}: {one_line(str(error))[:300]}")

    def warm(self) -> None:
        """Begins to load what recall by meaning needs, where there is something to recall.

        The first recall need not wait for it then.
        """
        if self._embedder is not None and self._notebook().active:
            self.warming = threading.Thread(target=self._load, args=(self._embedder,), daemon=True)
            self.warming.start()

    def _load(self, embedder: Embedder) -> None:
        # Whatever fails here fails again, and is told, when somebody asks for it.
        with suppress(Exception):
            embedder.embed_query(_WARMING)
            self.memory.retriever(self.graph, self.config).invoke(_WARMING)

    def close(self) -> None:
        """Lets go of the index."""
        if self.warming is not None:
            self.warming.join(_LAST_SECONDS)
        self.memory.close_index()

    def hear(self, text: str, *, pasted: bool = False) -> None:
        """Gives the agent what the person typed or pasted, and says what came of it."""
        before = self._notebook().notes
        if pasted:
            self.say("  You pasted that, so nothing in it counts as your own words.")
        given: Any = _answer(text, pasted) if self.waiting else _input(text, pasted)
        result = self.graph.invoke(given, self.config)
        questions = result.get("__interrupt__", ())
        self.waiting = bool(questions)
        for question in questions:
            self.say(f"agent asks> {_question(question.value)}")
        if not questions and result["messages"]:
            self.say(f"agent> {clean(result['messages'][-1].text)}")
        for note in self._notebook().notes.values():
            old = before.get(note.id)
            if old is None or old.status != note.status:
                self._report(note)

    def obey(self, text: str) -> None:
        """Carries out one command."""
        name, _, rest = text.partition(" ")
        rest = rest.strip()
        if name == "/memories":
            self._list_notes()
        elif name == "/prompt":
            self.say(system_text(self.memory, self.graph, self.config))
        elif name == "/new":
            self._go_to(new_session_id())
        elif name == "/session":
            if rest:
                self._go_to(rest)
            else:
                self._list_sessions()
        elif name in ("/confirm", "/forget", "/restore"):
            if rest:
                self._decide(name, rest)
            else:
                self.say(f"{name} needs the id of a note. /memories shows them.")
        elif name == "/help":
            self.say(self.help)
        else:
            self.say(f"There is no command {name}.\n{_COMMANDS}")

    def _go_to(self, session: str) -> None:
        self.session, self.waiting = session, False
        self.shown.clear()
        new = ""
        if self._is_new():
            others = self._sessions()
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            named = f"; there is also: {', '.join(others[:_MOST_NAMED])}{more}" if others else ""
            new = f" is new{named}"
        self.say(f"Session {session}{new}. Notes in memory: {len(self._notebook().active)}.")

    def _is_new(self) -> bool:
        return not self.graph.get_state(self.config).values

    def _sessions(self) -> list[str]:
        """The ids of all sessions, the last used first."""
        return [one_line(one.id) for one in self.memory.sessions(self.graph, self.config)]

    def _list_sessions(self) -> None:
        found = self.memory.sessions(self.graph, self.config)
        rows = [f"{one_line(one.id)}  {one.title}".rstrip() for one in found]
        self.say("\n".join(rows) or "No sessions yet.")

    def _list_notes(self) -> None:
        notebook = self._notebook()
        notes = [*notebook.active, *notebook.unconfirmed]
        for note in notes:
            self.say(self._row(note))
        if not notes:
            self.say("Nothing is kept here.")

    def _row(self, note: Note) -> str:
        self.shown[note.id] = note.text
        mark = "★" if note.active else "?"
        by = "in your words" if note.credited else "confirmed"
        how = f"{note.about or 'you'}, {by}" if note.active else "the agent asked to keep it"
        return f"[{note.id}] {mark} {one_line(note.text)} ({how})"

    def _report(self, note: Note) -> None:
        if note.active:
            self.say(f"  kept as yours: {self._row(note)}")
        elif note.status == "unconfirmed":
            self.say(f"  held back: {self._row(note)}")
            self.say(f"    {reason_of(note)} /confirm {note.id} makes it memory.")
        else:
            self.say(f"  {note.status}: [{note.id}] {one_line(note.text)}")

    def _decide(self, name: str, note_id: str) -> None:
        notebook = self._notebook()
        note = notebook.get(note_id)
        kept = note
        if note is not None and note.why in STOOD_FOR:
            kept = notebook.get(note.replaced_by)
        if name == "/confirm" and kept is not None and kept.active:
            self.say(f"It is memory already: {self._row(kept)}")
            return
        waits = note is not None and note.status == "unconfirmed"
        if name == "/confirm" and waits and self.shown.get(note.id) != note.text:
            self.say(f"{self._row(note)}\nType it again to confirm exactly this.")
            return
        if name == "/confirm":
            shown = "" if note is None else self.shown.get(note.id, note.text)
            done = self.memory.confirm(self.graph, self.config, note_id, shown=shown)
        elif name == "/forget":
            done = self.memory.forget(self.graph, self.config, note_id, why="asked at the terminal")
        else:
            done = self.memory.restore(self.graph, self.config, note_id)
        self.say(f"[{done.id}] is {done.status}: {one_line(done.text)}")

    def _notebook(self) -> Any:
        return self.memory.notebook(self.graph, self.config)


def new_session_id() -> str:
    """A new id, short enough to type."""
    import secrets

    return secrets.token_hex(3)


def system_text(memory: CreditedMemory, graph: Any, config: Any) -> str:
    """The system message that the model would get for the next input of the session."""
    from langmem_credit.placement import placed

    from .agent import SYSTEM

    system = placed(memory, SYSTEM, memory.digest(graph, config))
    return "" if system is None else clean(system.text)


def _input(text: str, pasted: bool) -> dict[str, Any]:
    from langchain_core.messages import HumanMessage

    from langmem_credit.heard import mark

    message = HumanMessage(text)
    return {"messages": [mark(message, via="paste") if pasted else message]}


def _answer(text: str, pasted: bool) -> Any:
    from langgraph.types import Command

    # What was picked or pasted is no typed answer.
    return Command(resume={"choice": text} if pasted else text)


def _question(value: object) -> str:
    asked = value.get("question") if isinstance(value, dict) else value
    return one_line(str(asked))
