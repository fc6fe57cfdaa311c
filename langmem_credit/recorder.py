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

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.context import register_configure_hook
from langgraph.errors import GraphBubbleUp

from .invocations import Invocation, read_invocation, refuse_forged
from .issued import ISSUED
from .marks import typed_here
from .relays import ModelWords
from .wiring import Seen

# Runs that never end (a stream that is never closed) would stay for ever. One that is pushed out
# merely hears nothing.
_RUNS = 20_000


@dataclass(slots=True)
class Run:
    """One run below an invocation.

    Attributes:
        root: what a caller outside of any graph started.
        started: what this run itself was started with; for tools and nodes, the run above.
        graph: what the graph of the innermost node around this run was started with.
        depth: graph nodes around this run; 1 within a node of the outermost graph.
        namespace: LangGraph's checkpoint namespace of the innermost node, or None.
        thread: of the innermost graph, or "".
        is_root: this run is the root's own.
    """

    root: Invocation
    started: Invocation
    graph: Invocation
    depth: int
    namespace: str | None
    thread: str = ""
    is_root: bool = False


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
        self._words = ModelWords()
        self._paused = Seen(capacity)

    def __copy__(self) -> RootRecorder:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RootRecorder:
        # A copied config must go on reporting to the one recorder that is asked.
        return self

    def __len__(self) -> int:
        return len(self._runs) + len(self._words)

    def __bool__(self) -> bool:
        # A configure hook takes a handler that is false for none.
        return True

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
        refuse_forged(inputs)
        parent, outside = self._above(parent_run_id)
        namespace = (metadata or {}).get("langgraph_checkpoint_ns")
        thread = _thread_in(metadata) or ("" if parent is None else parent.thread)
        if parent is None:
            typed = outside and typed_here(metadata)
            root = self._typed(read_invocation(_new_name(), inputs, typed=typed), thread)
            run = Run(root, root, root, 0 if outside else 2, namespace, thread, is_root=True)
        elif namespace and namespace != parent.namespace:
            graph = parent.started
            run = Run(parent.root, graph, graph, parent.depth + 1, namespace, thread)
        else:
            started = read_invocation(_new_name(), inputs, typed=parent.depth == 0)
            run = Run(parent.root, started, parent.graph, parent.depth, parent.namespace, thread)
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
        if parent is None:
            # A tool that is called by hand: what it was called with was not typed.
            root = Invocation(_new_name(), "none")
            run = Run(root, root, root, 2, None, is_root=True)
        else:
            run = replace(parent, is_root=False)
        self._words.called(run_id, input_str if inputs is None else inputs, run.thread)
        self._keep(run_id, run)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run; what a model said in it is kept until its root ends."""
        run = self._runs.get(run_id)
        if run is not None and run.depth:
            self._words.said(run.root.id, outputs, run.thread)
        if run is not None and run.is_root and run.root.id not in self._paused:
            ISSUED.over(run.root.id)
        self._drop(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run."""
        self._pause(error, run_id)
        self._drop(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run."""
        self._drop(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Forgets the run."""
        self._pause(error, run_id)
        self._drop(run_id)

    def _pause(self, error: BaseException, run_id: UUID) -> None:
        """Notes that the root will end only to be resumed, with what it wrote still to come."""
        run = self._runs.get(run_id)
        if run is not None and isinstance(error, GraphBubbleUp):
            self._paused.add(run.root.id)

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

    def _typed(self, root: Invocation, thread: str) -> Invocation:
        """The invocation without what a model wrote in a run that is going on."""
        if not self._words or not (root.spoken or root.answers):
            return root
        hold = self._words.hold
        spoken = tuple(part for part in root.spoken if not hold(part.whole, thread))
        answers = frozenset(text for text in root.answers if not hold(text, thread))
        return replace(root, spoken=spoken, answers=answers)

    def _keep(self, run_id: UUID, run: Run) -> None:
        with self._lock:
            self._runs[run_id] = run
            pushed_out = []
            while len(self._runs) > self._capacity:
                pushed_out.append(self._runs.popitem(last=False))
        for oldest, gone in pushed_out:
            self._silence(oldest, gone)

    def _drop(self, run_id: UUID) -> None:
        with self._lock:
            run = self._runs.pop(run_id, None)
        if run is not None:
            self._silence(run_id, run)

    def _silence(self, run_id: UUID, run: Run) -> None:
        self._words.returned(run_id)
        if run.is_root:
            self._words.ended(run.root.id)


RECORDER = RootRecorder()


def _root_here() -> str:
    run = RECORDER.find()
    return "" if run is None else run.root.id


ISSUED.made_by = _root_here
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


def find_run(config: RunnableConfig | Mapping[str, Any] | None = None) -> Run | None:
    """The run that the calling code belongs to; None where nothing was recorded."""
    return RECORDER.find(config)


def _thread_in(metadata: Mapping[str, Any] | None) -> str:
    thread = (metadata or {}).get("thread_id")
    return "" if thread is None else str(thread)


def _parent_of(config: Mapping[str, Any] | None) -> Any:
    """The id of the run that a config belongs to, or None."""
    return getattr((config or {}).get("callbacks"), "parent_run_id", None)


def _new_name() -> str:
    # Not the run's id: a host may give two runs the same one.
    return secrets.token_hex(8)
