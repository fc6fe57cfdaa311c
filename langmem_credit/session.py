"""One thread's memory as a node or a tool sees it: events, notes, and what this run heard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from pydantic import BaseModel

from .books import Book
from .drafts import text_in
from .events import name_of
from .growing import GrowingLedger
from .heard import HeardRun, hear
from .ledger import Event, held, is_trim, merge_events, next_at
from .notebook import Notebook
from .notes import Note, utc_now
from .recent import CLOCK, FOLDS, Named
from .scopes import SESSION
from .settings import Settings
from .shelf import Shelf, shelve
from .state import LEDGER

WRITING = frozenset({"remember", "forget"})
SHELVES: Named[Shelf] = Named(8)
# In a tool message's artifact: the scope that the call wrote to, where it is not the session.
SCOPE = "scope"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One tool call of a model's message.

    Attributes:
        name: of the tool.
        args: as the model wrote them, any type.
        id: of the call; unique within its message, unless a model repeats itself.
        message: id of the model's message.
    """

    name: str
    args: Mapping[str, Any]
    id: str
    message: str

    def says_the_same(self, other: Call) -> bool:
        """True for the same call, or one that only looks like another object."""
        return (self.name, self.id, self.message) == (other.name, other.id, other.message) and dict(
            self.args
        ) == dict(other.args)


@dataclass(frozen=True, slots=True)
class Session:
    """The memory of one thread at one step.

    Attributes:
        settings: of the memory.
        events: of the ledger, in order.
        notebook: their fold.
        run: that is going on.
        messages: of the graph's state.
        thread: id of the thread, or "".
        saved: the graph has a checkpointer.
        began: when the model's message that is answered was first looked at, or "".
        books: of the scopes that the host declared, once they were looked at.
        scope: whose ledger `events` and `notebook` are.
        counted: writes of this run, where `events` are not the session's own.
        kept: the ledger that `events` are of, where it is another scope's.
    """

    settings: Settings
    events: list[Event]
    notebook: Notebook
    run: HeardRun
    messages: Sequence[BaseMessage]
    thread: str
    saved: bool
    began: str = ""
    books: tuple[Book, ...] = ()
    scope: str = SESSION
    counted: int = 0
    kept: GrowingLedger | None = None

    @classmethod
    def read(
        cls, settings: Settings, state: object, config: Mapping[str, Any] | None = None
    ) -> Session | None:
        """The session of a graph's state; None when the graph has no memory channels."""
        values = as_mapping(state)
        if LEDGER not in values:
            return None
        events = [event for event in values[LEDGER] or [] if isinstance(event, dict)]
        configurable = _configurable(config)
        thread = configurable.get("thread_id")
        messages = values.get("messages") or []
        return cls(
            settings=settings,
            events=events,
            notebook=FOLDS.of(events),
            run=hear(values, config),
            messages=[message for message in messages if isinstance(message, BaseMessage)],
            thread="" if thread is None else str(thread),
            saved=is_saved(config),
        )

    @property
    def writes(self) -> int:
        """How many writes the tools have made in this run, in all scopes."""
        if self.scope != SESSION:
            return self.counted
        own = sum(
            1
            for event in self.events
            if "call" in event and not held(event) and text_in(event, "at") > self.run.since
        )
        return own + self._shared_writes()

    def _shared_writes(self) -> int:
        """How many of the other scopes' events answer a model's message of this thread."""
        if not any(book.events for book in self.books):
            return 0
        mine = {
            name_of(message.id or "") for message in self.messages if isinstance(message, AIMessage)
        }
        return sum(
            1
            for book in self.books
            for event in book.events
            if text_in(event, "at") > self.run.since
            and "call" in event
            and text_in(event, "message") in mine
        )

    def next_moment(self) -> str:
        """When the next event happens: after all others, and after this run's digest was frozen."""
        now = self.began or utc_now()
        return next_at(now, [*self.events, {"id": "run", "at": self.run.as_of}])

    def answering(self, message: str) -> Session:
        """The session with one clock for all calls of a model's message.

        Parallel calls start in any order; with one clock their notes keep the message's order.
        """
        return replace(self, began=CLOCK.of(f"{self.thread}\0{message}")) if message else self

    def with_events(self, events: Iterable[Event], scope: str = SESSION) -> Session:
        """The session once the events are in its ledger, or in that of another scope."""
        more = list(events)
        if not more:
            return self
        if scope != self.scope:
            books = tuple(
                # Without a token, which stands for what the store holds.
                replace(book, kept=book.kept.grown(more), token="")
                if book.scope.name == scope
                else book
                for book in self.books
            )
            return replace(self, books=books)
        if self.kept is not None:
            return self._keeping(self.kept.grown(more))
        merged = merge_events(self.events, more)
        return replace(self, events=merged, notebook=FOLDS.of(merged))

    def scope_name(self) -> str:
        """The scope's name, where there is more than one; else empty."""
        return self.scope if self.books else ""

    def new_since(self, before: Session) -> list[Event]:
        """The events of this ledger that the earlier state of it lacks, in order."""
        known = {event["id"] for event in before.events}
        return [event for event in self.events if event["id"] not in known]

    def _keeping(self, kept: GrowingLedger) -> Session:
        return replace(self, kept=kept, events=kept.events, notebook=kept.notebook)

    def with_books(self, books: tuple[Book, ...]) -> Session:
        """The session with what the other scopes hold now."""
        return replace(self, books=books)

    def book(self, scope: str) -> Book | None:
        """The book of a scope that the host declared."""
        return next((book for book in self.books if book.scope.name == scope), None)

    def within(self, book: Book) -> Session:
        """The session with another scope's ledger for its own."""
        return replace(
            self,
            events=book.events,
            notebook=book.notebook,
            kept=book.kept,
            scope=book.scope.name,
            counted=self.writes,
            saved=True,
            run=_spoken_by(self.run, book),
        )

    def shelf(self, notebook: Notebook | None = None) -> Shelf:
        """The session's notes, or those given for them, and the open scopes' as one notebook."""
        own = notebook or self.notebook
        if any(book.events and not book.token for book in self.books):
            return shelve(own, self.books, self.run.speaker)
        # A scope's token stands for all that it holds.
        books = tuple((book.labels, book.token, book.scope, book.me) for book in self.books)
        name = (books, self.run.speaker)
        return SHELVES.of(own, name, lambda: shelve(own, self.books, self.run.speaker))

    def in_run(self, run: HeardRun) -> Session:
        """The session with another view of its run."""
        return self if run is self.run else replace(self, run=run)

    def with_only(self, events: Iterable[Event]) -> Session:
        """The session with these events and no others."""
        if self.kept is not None:
            return self._keeping(GrowingLedger.of(events))
        kept = merge_events(events, [])
        return replace(self, events=kept, notebook=FOLDS.of(kept))

    def same_text(self, text: str, *, finding: bool = False) -> Note | None:
        """The speaker's active note, else the waiting one or finding, that already says this."""
        if finding:
            own = (*self.notebook.active, *self.notebook.findings)
            return _among(self.notebook, own).same_text(text)
        speaker, book = self.run.speaker or "", self.notebook
        if self.kept is not None:
            book = _among(book, self.kept.saying(text))
        elif book.findings or book.outcomes:
            book = _among(book, (*book.active, *book.unconfirmed))
        return book.same_text(text, speaker=speaker)

    def same_start(self, other: Session) -> bool:
        """True when a decision made from the one session holds for the other."""
        return (
            self.settings is other.settings
            and self.run == other.run
            and self.saved == other.saved
            and self.events == other.events
            and _tokens(self.books) == _tokens(other.books)
        )

    def frozen_notebook(self) -> Notebook:
        """The notes as this run's digest shows them."""
        as_of = self.run.as_of
        if all(text_in(event, "at") <= as_of for event in self.events):
            return self.notebook
        # What a trim left out stays out, and late, whenever it was made.
        seen = [one for one in self.events if is_trim(one) or one.get("at", "") <= as_of]
        return FOLDS.of(seen)

    def last_calls(self) -> list[Call]:
        """The tool calls of the model's last message, in its order."""
        message = _last_calling(self.messages)
        return [] if message is None else calls_of(message)

    def calls_before(self, call: Call) -> int:
        """How many calls of this run that may write stand before this one."""
        count = 0
        for message in reversed(self.messages):
            if isinstance(message, HumanMessage):
                break
            if not isinstance(message, AIMessage):
                continue
            calls = [one for one in calls_of(message) if one.name in WRITING]
            # By arguments too: a model may repeat an id within one message.
            same = [place for place, one in enumerate(calls) if one.says_the_same(call)]
            if message.id and message.id == call.message:
                count += same[0] if same else 0
            else:
                count += len(calls)
        return count

    def answers(self) -> dict[str, ToolMessage]:
        """The tool messages that follow the model's last message, by call id."""
        found: dict[str, ToolMessage] = {}
        for message in reversed(self.messages):
            if isinstance(message, AIMessage):
                break
            if isinstance(message, ToolMessage):
                found.setdefault(message.tool_call_id, message)
        return found


def calls_of(message: AIMessage) -> list[Call]:
    """The tool calls of a message."""
    return [
        Call(call["name"], call["args"], call["id"] or "", message.id or "")
        for call in message.tool_calls
    ]


def as_mapping(state: object) -> Mapping[str, Any]:
    """A graph's state by key, whatever its schema made of it."""
    if isinstance(state, Mapping):
        return state
    if isinstance(state, list):
        return {"messages": state}
    if isinstance(state, BaseModel):
        return {name: getattr(state, name) for name in type(state).model_fields}
    if is_dataclass(state) and not isinstance(state, type):
        return dict(vars(state)) if hasattr(state, "__dict__") else {}
    return {}


def _among(notebook: Notebook, notes: Iterable[Note]) -> Notebook:
    return replace(notebook, notes={note.id: note for note in notes})


def _spoken_by(run: HeardRun, book: Book) -> HeardRun:
    """The run with the name of whoever is speaking, in a scope where that counts."""
    if not book.me:
        return run
    heard = tuple(
        replace(one, speaker=book.me) if book.certain or (book.named and not one.speaker) else one
        for one in run.heard
    )
    return replace(run, heard=heard)


def _tokens(books: Sequence[Book]) -> list[tuple[str, str]]:
    return [(book.token, book.closed) for book in books]


def _last_calling(messages: Sequence[BaseMessage]) -> AIMessage | None:
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message if message.tool_calls else None
    return None


def _configurable(config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if config is None:
        try:
            config = get_config()
        except RuntimeError:
            return {}
    configurable = config.get("configurable")
    return configurable if isinstance(configurable, Mapping) else {}


def is_saved(config: Mapping[str, Any] | None = None) -> bool:
    """True when the graph that this config belongs to has a checkpointer."""
    configurable = _configurable(config)
    # LangGraph hands each task the checkpointer under this name; it has no public one.
    name = "__pregel_checkpointer"
    if name in configurable:
        return configurable[name] is not None
    return configurable.get("thread_id") is not None


def has_channels(config: Mapping[str, Any] | None = None) -> bool:
    """True when the graph that runs here has the memory's channels.

    A node of it may see none of them: a `Send` gives it a state of its own.
    """
    # LangGraph hands each task a reader of the graph's state under this name; it has no public one.
    read = _configurable(config).get("__pregel_read")
    if not callable(read):
        return False
    try:
        # Empty is another channel of that name, which was never written.
        return read(LEDGER) is not None
    except KeyError:
        return False
