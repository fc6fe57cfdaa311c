"""Nodes for any `StateGraph`: `listen` first, `settle` after the tools, and a guarded tool node."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_type_hints

from langchain_core.messages import SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import StreamWriter

from . import wiring
from .access import check_compiled
from .books import Where, do
from .enrolling import enrol
from .errors import ConfigurationError, named
from .guard import Guard, is_own
from .heard import model_is_called, moved_on
from .indexing import keep_up
from .placement import digest_of, fixed, placed
from .recorder import RECORDER, find_run, install
from .session import WRITING, Session, as_mapping, has_channels
from .settings import Settings
from .settling import settle_step
from .state import CHANNELS, LEDGER, RUN

_log = logging.getLogger("langmem_credit")

Result = TypeVar("Result")
Graph = TypeVar("Graph", bound=CompiledStateGraph[Any, Any, Any, Any])


def listen(settings: Settings, state: Any, config: RunnableConfig) -> dict[str, Any]:
    """Update of the first node of a run: what was heard, and when the digest is frozen."""
    values = as_mapping(state)
    if RUN not in values:
        return _went_without({}, config)
    if "langgraph_node" in (config.get("metadata") or {}) and find_run(config) is None:
        wiring.warn_once(wiring.NOT_RECORDED)
    session = Session.read(settings, values, config)
    if session is None:
        return _went_without({}, config)
    where = Where.of(None, config)
    session = do(fixed(session, where, values[RUN]))
    keep_up(session)
    run = do(enrol(session, where, values[RUN]))
    return {} if run.recorded else {RUN: replace(run, listened=True).record()}


def settle_node(
    settings: Settings, state: Any, config: RunnableConfig, writer: StreamWriter
) -> dict[str, Any]:
    """Update of the node after the tools: answers made true, lost writes made good."""
    session = Session.read(settings, state, config)
    if session is None:
        return _went_without({}, config)
    wiring.SETTLED.add(_answered(session))
    settled, run = do(settle_step(session, as_mapping(state), Where.of(None, config)))
    update: dict[str, Any] = {}
    if settled.events:
        update[LEDGER] = list(settled.events)
    if settled.messages:
        update["messages"] = list(settled.messages)
    if not run.recorded:
        update[RUN] = run.record()
    for item in settled.news:
        writer(item)
    return update


def fold_in(
    settings: Settings, system: SystemMessage | str | None, state: Any
) -> SystemMessage | None:
    """The system message with the digest of this run folded in. Pure but for an unheard run."""
    session = Session.read(settings, state)
    if session is None:
        return _went_without(placed(settings, system, ""))
    _look_back(session)
    model_is_called(session.run)
    if session.run.digest is None:
        # Where it is text, only a step that may ask the stores can render it again.
        session = session.in_run(moved_on(session.run, as_mapping(state)))
    return placed(settings, system, digest_of(session))


def create_tool_node(
    settings: Settings, own: Sequence[BaseTool], tools: Sequence[Any], **options: Any
) -> ToolNode:
    """A ToolNode with the memory's tools and yours, with a guard around yours."""
    guard = Guard()
    for name in ("wrap_tool_call", "awrap_tool_call"):
        if name in options:
            raise ConfigurationError(
                f"tool_node() sets {name} itself, to guard the memory's channels. Wrap your tools "
                "instead."
            )
    if options.get("messages_key", "messages") != "messages":
        raise ConfigurationError(
            f"messages_key={options['messages_key']!r} does not fit: the memory reads and answers "
            "under 'messages'."
        )
    return ToolNode(
        [*own, *tools], wrap_tool_call=guard.wrap, awrap_tool_call=guard.awrap, **options
    )


def bind(graph: Graph) -> Graph:
    """The compiled graph, checked, and with the recorder of its invocations attached.

    Raises:
        ConfigurationError: it is no compiled graph, lacks the memory's channels, or lets callers
            write them.
    """
    check_compiled(graph, "memory.bind()")
    if not isinstance(graph, CompiledStateGraph):
        raise ConfigurationError(
            f"memory.bind() needs a compiled graph, not {named(graph)}. Pass what "
            "builder.compile(…) or create_agent(…) gave."
        )
    install()
    missing = CHANNELS - set(graph.channels)
    if missing:
        raise _no_channels()
    writable = CHANNELS & set(get_type_hints(graph.builder.input_schema))
    if writable:
        raise ConfigurationError(
            f"Callers may write {', '.join(sorted(writable))}. Build the graph with "
            "StateGraph(…, input_schema=MemoryInput), or an input schema of your own without them."
        )
    for name, node in graph.builder.nodes.items():
        if _is_unguarded(node.runnable):
            _log.warning("node %s: %s", name, wiring.NOT_GUARDED)
    return graph.with_config(callbacks=[RECORDER])


def _look_back(session: Session) -> None:
    """Warns of a node of the memory that should have run before the model in this run."""
    run = find_run()
    # An input starts a run at its first node, and so at `listen`; whatever else goes on with a
    # thread may begin at any node. A graph within a graph hears nothing in any case.
    if run is not None and run.depth == 1 and run.graph.kind == "input":
        if not session.run.recorded:
            wiring.warn_once(wiring.NOT_LISTENED)
    message = _answered(session)
    if message in wiring.WROTE and message not in wiring.SETTLED:
        wiring.warn_once(wiring.NOT_SETTLED)


def _answered(session: Session) -> str:
    """Id of the model's message whose calls were answered last, or ""."""
    if not session.messages or not isinstance(session.messages[-1], ToolMessage):
        return ""
    return next((call.message for call in session.last_calls() if call.name in WRITING), "")


def _is_unguarded(node: object) -> bool:
    """True for a plain tool node with tools of the host; one with a wrapper is its own affair."""
    if not isinstance(node, ToolNode) or all(map(is_own, node.tools_by_name.values())):
        return False
    # LangGraph keeps the wrappers under these names; it has no public ones.
    wrappers = [getattr(node, name, None) for name in ("_wrap_tool_call", "_awrap_tool_call")]
    return wrappers == [None, None]


def _went_without(left: Result, config: RunnableConfig | None = None) -> Result:
    """What a node does that was sent a state without the channels: it goes on, and the log says so.

    Raises:
        ConfigurationError: the graph has none.
    """
    if not has_channels(config):
        raise _no_channels()
    wiring.warn_once(wiring.SENT)
    return left


def _no_channels() -> ConfigurationError:
    return ConfigurationError(
        "The graph's state lacks the memory's channels. Use MemoryState, or a state that also "
        "inherits from MemoryChannels."
    )
