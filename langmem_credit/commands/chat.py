"""`chat`: talk to an agent that remembers what you said and nothing else.

Sessions, and the notes that all of them share, are kept in two SQLite files in the folder you name,
beside an index folder for recall by meaning. Without a model, or without its package or key, an
offline stand-in answers, and says so.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langmem_credit.characters import clean, one_line
from langmem_credit.errors import CreditError
from langmem_credit.review.rows import reason_of

from .terminal import Line, read_lines

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import BaseStore

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

NO_INDEX = (
    "Recall is by words alone. For recall by meaning: pip install 'langmem_credit[index,model]'"
)


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
        try:
            chat.talk(read_lines())
        finally:
            chat.close()
    return 0


def open_shared(folder: Path) -> sqlite3.Connection:
    """The file with the notes that all sessions of the folder share."""
    # The store begins and ends its transactions itself.
    return sqlite3.connect(folder / "notes.sqlite", check_same_thread=False, isolation_level=None)


def index_in(folder: Path) -> Path | None:
    """Where the index of these sessions lies; None where what it needs is not installed."""
    from importlib.util import find_spec

    if find_spec("chromadb") is None or find_spec("sentence_transformers") is None:
        return None
    return folder / "index"


def choose_model(name: str | None) -> tuple[BaseChatModel, str]:
    """The model of this name, or the stand-in, and a line that says which and why."""
    from .stand_in import NOTICE, StandInModel

    if not name:
        return StandInModel(), NOTICE
    try:
        from langchain.chat_models import init_chat_model

        return init_chat_model(name), f"The model is {name}."
    except Exception as error:  # noqa: BLE001 - packages raise what they like for a missing key
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        return StandInModel(), f"{name} cannot be used: {one_line(why)}\n{NOTICE}"


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
        from langmem_credit.memory import CreditedMemory
        from langmem_credit.scopes import Scope

        from .agent import build_agent

        shared = [Scope("user", ("memories", "{user_id}"))] if store is not None else []
        memory = CreditedMemory(scopes=shared, index=index)
        graph = build_agent(memory, model, saver, files, store)
        return cls(memory, graph, session or new_session_id(), say)

    @property
    def config(self) -> Any:
        """Names the session and the person to the graph."""
        return {"configurable": {"thread_id": self.session, "user_id": "me"}}

    def talk(self, lines: Iterable[Line]) -> None:
        """Answers each line until they end or say /quit."""
        self.say(f"Session {self.session}. Type /help for the commands.")
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

    def close(self) -> None:
        """Lets go of the index."""
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
            self.say(_COMMANDS)
        else:
            self.say(f"There is no command {name}.\n{_COMMANDS}")

    def _go_to(self, session: str) -> None:
        self.session, self.waiting = session, False
        self.shown.clear()
        kept = len(self._notebook().active)
        new = "" if self.graph.get_state(self.config).values else "new; "
        self.say(f"Session {session}: {new}notes in memory: {kept}.")

    def _list_sessions(self) -> None:
        saver: Any = self.graph.checkpointer
        ids = dict.fromkeys(one.config["configurable"]["thread_id"] for one in saver.list(None))
        self.say("\n".join(ids) or "No sessions yet.")

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
        about = note.about or "you"
        by = "in your words" if note.credited else "confirmed" if note.active else "by the agent"
        return f"[{note.id}] {mark} {one_line(note.text)} ({about}, {by})"

    def _report(self, note: Note) -> None:
        if note.active:
            self.say(f"  kept as yours: {self._row(note)}")
        elif note.status == "unconfirmed":
            self.say(f"  held back: {self._row(note)}")
            self.say(f"    {reason_of(note)} /confirm {note.id} makes it memory.")
        else:
            self.say(f"  {note.status}: [{note.id}] {one_line(note.text)}")

    def _decide(self, name: str, note_id: str) -> None:
        note = self._notebook().get(note_id)
        if name == "/confirm" and note is not None and note.active:
            self.say(f"It is memory already: {self._row(note)}")
            return
        if name == "/confirm" and note is not None and self.shown.get(note.id) != note.text:
            self.say(f"{self._row(note)}\nType it again to confirm exactly this.")
            return
        if name == "/confirm":
            shown = "" if note is None else self.shown[note.id]
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
