"""The raw input of every invocation, kept while it runs, to tell what a caller really handed in.

Messages in a graph's state may come from anywhere: a middleware, a tool, `update_state`, a chat
history. LangChain tells each callback handler what an invocation was started with, before any of
that code runs, and which run started which. This handler hears every invocation of the process,
because it is attached by a configure hook with a default value, and it refuses a `Command` that
writes the memory's channels.

Which invocation a piece of code belongs to is always asked through its own run (never "the latest
one"), so concurrent runs do not mix.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.context import register_configure_hook
from langgraph.types import Command

from .errors import ForgedStateError
from .marks import Spoken, made_by_code, spoken_in, typed_here
from .state import CHANNELS

# Runs that never end (a stream that is never closed) would stay for ever. One that is pushed out
# merely hears nothing.
_RUNS = 20_000
_TRAILING = 100
# Shorter texts that a tool was called with turn up in honest messages by chance.
_SHARED_WORDS = 12

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Invocation:
    """What one run of a chain or graph was started with.

    Attributes:
        id: names the run; 16 characters.
        kind: "input", "resume" (nothing but answers to interrupts), "none" or "command".
        spoken: texts of the input's last human messages, oldest first; no code's, and none where
            the host said that this run is not typed.
        answers: texts in a resume value.
    """

    id: str
    kind: str
    spoken: tuple[Spoken, ...] = ()
    answers: frozenset[str] = _NOTHING


@dataclass(slots=True)
class Run:
    """One run below an invocation.

    Attributes:
        root: what a caller outside of any graph started.
        started: what this run itself was started with; for tools and nodes, the run above.
        graph: what the graph of the innermost node around this run was started with.
        depth: graph nodes around this run; 1 within a node of the outermost graph.
        namespace: LangGraph's checkpoint namespace of the innermost node, or None.
    """

    root: Invocation
    started: Invocation
    graph: Invocation
    depth: int
    namespace: str | None


class RootRecorder(BaseCallbackHandler):
    """Keeps run id → invocation, from a run's start to its end."""

    # In line, so that it runs in the caller's context and before anything else; errors must reach
    # the caller, since refusing forged state is one.
    run_inline = True
    raise_error = True
    ignore_llm = True
    ignore_chat_model = True
    ignore_retriever = True
    ignore_custom_event = True
    ignore_retry = True

    def __init__(self, capacity: int = _RUNS) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._runs: OrderedDict[UUID, Run] = OrderedDict()
        self._words: dict[UUID, tuple[str, ...]] = {}

    def __copy__(self) -> RootRecorder:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RootRecorder:
        # A copied config must go on reporting to the one recorder that is asked.
        return self

    def find(self, config: Mapping[str, Any] | None = None) -> Run | None:
        """The run that this code belongs to; None where none is known."""
        for candidate in (config, var_child_runnable_config.get(None)):
            run = self._runs.get(_parent_of(candidate))
            if run is not None:
                return run
        return None

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Notes what a chain, a graph or a node was started with.

        Raises:
            ForgedStateError: the input is a `Command` that writes a channel of the memory.
        """
        _refuse_forged(inputs)
        parent, outside = self._above(parent_run_id)
        namespace = (metadata or {}).get("langgraph_checkpoint_ns")
        if parent is None:
            typed = outside and typed_here(metadata)
            root = _invocation(run_id, inputs, typed=typed)
            if root.spoken or root.answers:
                root = self._without_relayed(root)
            run = Run(root, root, root, 0 if outside else 2, namespace)
        elif namespace and namespace != parent.namespace:
            graph = parent.started
            run = Run(parent.root, graph, graph, parent.depth + 1, namespace)
        else:
            started = _invocation(run_id, inputs, typed=parent.depth == 0)
            run = Run(parent.root, started, parent.graph, parent.depth, parent.namespace)
        self._keep(run_id, run)

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Notes that a tool runs, and with which words."""
        parent, _outside = self._above(parent_run_id)
        words = tuple(_strings(inputs if inputs is not None else input_str))
        if parent is None:
            # A tool that is called by hand: what it was called with was not typed.
            root = Invocation(_short(run_id), "none")
            run = Run(root, root, root, 2, None)
        else:
            run = Run(parent.root, parent.started, parent.graph, parent.depth, parent.namespace)
        self._keep(run_id, run, words)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run."""
        self._drop(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run."""
        self._drop(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run."""
        self._drop(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run."""
        self._drop(run_id)

    def _above(self, parent_run_id: UUID | None) -> tuple[Run | None, bool]:
        """The run above, and whether a new one without any is started from outside.

        A parent that is unknown belongs to a tracer. A run whose context says that it is within
        another one, which is over or was pushed out, is not from outside: it hears nothing.
        """
        parent = self._runs.get(parent_run_id) if parent_run_id else None
        if parent is not None:
            return parent, False
        above = _parent_of(var_child_runnable_config.get(None))
        if above is None:
            return None, True
        return self._runs.get(above), False

    def _without_relayed(self, root: Invocation) -> Invocation:
        """The invocation without texts that a tool, running just now, was called with.

        A tool that starts an agent in a thread of its own looks like a caller from outside, and
        what it says was written by a model.
        """
        with self._lock:
            words = [word for words in self._words.values() for word in words]
        if not words:
            return root
        spoken = tuple(part for part in root.spoken if not _relayed(part.whole, words))
        answers = frozenset(text for text in root.answers if not _relayed(text, words))
        return Invocation(root.id, root.kind, spoken, answers)

    def _keep(self, run_id: UUID, run: Run, words: tuple[str, ...] = ()) -> None:
        with self._lock:
            self._runs[run_id] = run
            if words:
                self._words[run_id] = words
            while len(self._runs) > self._capacity:
                oldest, _run = self._runs.popitem(last=False)
                self._words.pop(oldest, None)

    def _drop(self, run_id: UUID) -> None:
        with self._lock:
            self._runs.pop(run_id, None)
            self._words.pop(run_id, None)


RECORDER = RootRecorder()
_recorder: ContextVar[RootRecorder | None] = ContextVar("langmem_credit_recorder", default=RECORDER)
_installing = threading.Lock()
_installed = False


def install() -> None:
    """Attaches the recorder to every invocation of this process, once."""
    global _installed  # noqa: PLW0603
    with _installing:
        if not _installed:
            register_configure_hook(_recorder, inheritable=True)
            _installed = True


def _parent_of(config: Mapping[str, Any] | None) -> Any:
    """The id of the run that a config belongs to, or None."""
    return getattr((config or {}).get("callbacks"), "parent_run_id", None)


def _refuse_forged(inputs: object) -> None:
    if not isinstance(inputs, Command) or inputs.update is None:
        return
    update = inputs.update
    keys: set[Any] = set()
    if isinstance(update, Mapping):
        keys.update(update)
    elif isinstance(update, list | tuple):
        keys.update(pair[0] for pair in update if isinstance(pair, list | tuple) and pair)
    for key in keys:
        if isinstance(key, str) and key in CHANNELS:
            raise ForgedStateError(key)


def _invocation(run_id: UUID, inputs: object, *, typed: bool) -> Invocation:
    if inputs is None:
        return Invocation(_short(run_id), "none")
    if isinstance(inputs, Command):
        if inputs.resume is None or inputs.update or inputs.goto:
            return Invocation(_short(run_id), "command")
        answers = frozenset(_strings(inputs.resume)) if typed else _NOTHING
        return Invocation(_short(run_id), "resume", (), answers)
    spoken = tuple(_spoken_last(inputs)) if typed else ()
    return Invocation(_short(run_id), "input", spoken)


def _short(run_id: UUID) -> str:
    # The end of it: the first half of a version 7 id is the clock.
    return run_id.hex[-16:]


def _spoken_last(inputs: object) -> list[Spoken]:
    """Texts of the human messages that stand last in a raw input, oldest first."""
    spoken: list[Spoken] = []
    messages = _message_likes(inputs)
    for item in reversed(messages[-_TRAILING:]):
        message = _message(item)
        if message is None or isinstance(message, AIMessage | ToolMessage):
            break
        if isinstance(message, HumanMessage) and not made_by_code(message):
            spoken[:0] = spoken_in(message)
    return spoken


def _message_likes(inputs: object, *, named: bool = True) -> list[Any]:
    """What in a raw input may be messages.

    A chain around a graph is started with a text, or a mapping in which the text has a name of the
    host's choosing; with several names beside "messages" and "input", which of them was typed
    cannot be known.
    """
    if isinstance(inputs, str | BaseMessage):
        return [inputs]
    if isinstance(inputs, PromptValue):
        return list(inputs.to_messages())
    if isinstance(inputs, Mapping):
        if "role" in inputs or "content" in inputs:
            return [inputs]
        if not named:
            return []
        for name in ("messages", "input"):
            if name in inputs:
                return _message_likes(inputs[name], named=False)
        only = next(iter(inputs.values())) if len(inputs) == 1 else None
        return _message_likes(only, named=False)
    if isinstance(inputs, list):
        return inputs
    if isinstance(inputs, tuple):
        pair = len(inputs) == 2 and all(isinstance(part, str) for part in inputs)
        return [inputs] if pair else list(inputs)
    messages = getattr(inputs, "messages", None)
    return list(messages) if isinstance(messages, list | tuple) else []


def _message(item: Any) -> BaseMessage | None:
    """The message that LangGraph will make of an item of the input; None when it cannot."""
    if isinstance(item, BaseMessage):
        return item
    try:
        return convert_to_messages([item])[0]
    except Exception:  # noqa: BLE001 - whatever cannot be a message was not typed
        return None


def _strings(value: object, depth: int = 4) -> Iterator[str]:
    """Texts in a JSON-shaped value."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part, depth - 1)


def _relayed(text: str, arguments: list[str]) -> bool:
    return any(
        text in argument or (len(argument) >= _SHARED_WORDS and argument in text)
        for argument in arguments
        if text and argument
    )


def find_run(config: RunnableConfig | Mapping[str, Any] | None = None) -> Run | None:
    """The run that the calling code belongs to; None where nothing was recorded."""
    return RECORDER.find(config)
