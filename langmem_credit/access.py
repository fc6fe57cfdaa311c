"""A host's graph and config, looked at before they are used, and refused with the remedy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import StateGraph
from langgraph.types import StateSnapshot

from .errors import ConfigurationError, named
from .state import LEDGER

NO_CHANNELS = (
    "This graph's state has no memory channel. Pass the graph that the memory was built into: "
    "create_agent(…, middleware=[memory.middleware()]), or one on StateGraph(MemoryState, …)."
)
_THREAD = '{"configurable": {"thread_id": "…"}}'
# LangGraph turns any other value into text, which names no conversation.
_NO_NAMES = (Mapping, list, tuple, set, bool, type(None))


class OpenedGraph:
    """A thread's graph, whose errors name the remedy; otherwise what the graph itself does.

    Attributes:
        store: the graph's, or None.
        saver: its checkpointer, or None.
    """

    def __init__(self, graph: Any, method: str) -> None:
        self._graph = graph
        self._method = method
        self.store: Any = getattr(graph, "store", None)
        self.saver: Any = getattr(graph, "checkpointer", None)

    def get_state(self, config: Any) -> StateSnapshot:
        """The thread's newest state."""
        with self.explained():
            snapshot: StateSnapshot = self._graph.get_state(_whole(config))
        return snapshot

    def update_state(self, config: Any, values: Any) -> Any:
        """Writes to the thread."""
        with self.explained():
            return self._graph.update_state(_whole(config), values)

    async def aget_state(self, config: Any) -> StateSnapshot:
        """As `get_state`."""
        with self.explained():
            snapshot: StateSnapshot = await self._graph.aget_state(_whole(config))
        return snapshot

    async def aupdate_state(self, config: Any, values: Any) -> Any:
        """As `update_state`."""
        with self.explained():
            return await self._graph.aupdate_state(_whole(config), values)

    def checkpointer(self) -> BaseCheckpointSaver[Any]:
        """The graph's checkpointer.

        Raises:
            ConfigurationError: it has none of its own.
        """
        if isinstance(self.saver, BaseCheckpointSaver):
            return self.saver
        raise _no_checkpointer(self._method)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Errors of the checkpointer with their remedy."""
        saver = self.saver
        if not _is_async(self._method) and _stands_still(saver):
            # The saver would wait for ever for a loop that nobody runs.
            raise _twin_needed(saver, self._method)
        try:
            yield
        except NotImplementedError as error:
            raise _twin_needed(saver, self._method) from error
        except asyncio.InvalidStateError as error:
            # What savers with a loop of their own raise on the very thread that runs it.
            if _is_async(self._method):
                raise
            raise _twin_needed(saver, self._method) from error
        except (ValueError, RuntimeError) as error:
            # A graph inside of another one may run on the outer one's checkpointer, so only a
            # failure tells that there is none.
            if not hasattr(self._graph, "checkpointer") or isinstance(saver, BaseCheckpointSaver):
                raise
            raise _no_checkpointer(self._method) from error


def opened(graph: Any, config: Any, method: str, *, thread: bool = True) -> OpenedGraph:
    """The graph for one call of a method of the memory.

    Args:
        graph: that the caller passed.
        config: that the caller passed.
        method: that was called.
        thread: the config has to name one.

    Raises:
        ConfigurationError: it is no compiled graph with memory, or the config names no thread.
    """
    _check_graph(graph, config, method)
    if thread:
        _check_thread(graph, config, method)
    elif not isinstance(config, Mapping):
        raise ConfigurationError(
            f"memory.{method}() needs the config of a person, not {named(config)}. Pass one such "
            'as {"configurable": {"user_id": "…"}}.'
        )
    channels = getattr(graph, "channels", None)
    # A config may name a graph inside of this one, whose channels are its own.
    inside = (config.get("configurable") or {}).get("checkpoint_ns")
    if isinstance(channels, Mapping) and LEDGER not in channels and not inside:
        raise ConfigurationError(NO_CHANNELS)
    return OpenedGraph(graph, method)


def check_compiled(graph: object, what: str) -> None:
    """Lets everything pass but a graph that is still being built.

    Raises:
        ConfigurationError: it is.
    """
    if isinstance(graph, StateGraph):
        raise ConfigurationError(
            f"{what} needs a compiled graph, and this one is still being built. Compile it first: "
            "graph = memory.bind(builder.compile(checkpointer=…))."
        )


def _check_graph(graph: object, config: object, method: str) -> None:
    call = f"memory.{method}()"
    check_compiled(graph, call)
    if _has_state(graph):
        return
    if _has_state(config):
        raise ConfigurationError(
            f"{call} takes the graph first and the config second, not the other way round. Call "
            f"memory.{method}(graph, config, …)."
        )
    raise ConfigurationError(
        f"{call} needs the graph first, not {named(graph)}. Pass what create_agent(…) or "
        "memory.bind(builder.compile(…)) gave."
    )


def _check_thread(graph: object, config: object, method: str) -> None:
    call = f"memory.{method}()"
    if not isinstance(config, Mapping):
        raise ConfigurationError(
            f"{call} needs the config of a thread, not {named(config)}. Pass the one that the "
            f"graph runs with: {_THREAD}."
        )
    # A graph may carry a config of its own, which this one overrides.
    names = [
        part["thread_id"]
        for part in map(_configurable, (config, getattr(graph, "config", None)))
        if "thread_id" in part
    ]
    if not names:
        raise ConfigurationError(
            f"{call} finds no thread in this config. Pass the one that the graph runs with: "
            f"{_THREAD}."
        )
    if isinstance(names[0], _NO_NAMES) or names[0] == "":
        raise ConfigurationError(
            f"{call} finds no thread in this config: thread_id is {named(names[0])}. Name the "
            f"conversation by a text of its own: {_THREAD}."
        )


def _configurable(config: object) -> Mapping[str, Any]:
    part = config.get("configurable") if isinstance(config, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _whole(config: Mapping[str, Any]) -> dict[str, Any]:
    """A copy, since LangGraph writes into it, with the part that LangGraph wants there."""
    return {**config, "configurable": dict(_configurable(config))}


def _has_state(graph: object) -> bool:
    # A graph on a server has these too, and little else of a graph.
    return callable(getattr(graph, "get_state", None)) and not isinstance(graph, type)


def _is_async(method: str) -> bool:
    # No other method of the memory begins so.
    return method.startswith("a")


def _stands_still(saver: object) -> bool:
    loop = getattr(saver, "loop", None)
    return isinstance(loop, asyncio.AbstractEventLoop) and not loop.is_running()


def _no_checkpointer(method: str) -> ConfigurationError:
    return ConfigurationError(
        f"memory.{method}() needs a graph with a checkpointer: without one nothing is kept after a "
        "run. Give compile() or create_agent() a checkpointer=…, such as InMemorySaver()."
    )


def _twin_needed(saver: object, method: str) -> ConfigurationError:
    kind = type(saver).__name__
    if _is_async(method):
        return ConfigurationError(
            f"{kind} has no async methods, which memory.{method}() needs. Call its twin "
            f"memory.{method.removeprefix('a')}(…), or use an async checkpointer."
        )
    return ConfigurationError(
        f"{kind} works on its own event loop, which memory.{method}() cannot wait for here. Call "
        f"its twin: await memory.a{method}(…)."
    )
