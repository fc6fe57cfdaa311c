"""What other tools hand back, without the memory's channels and with their messages marked.

The channels themselves take nothing that the memory's own code did not make. The guard goes before
that: it keeps a foreign value from reaching them at all, in an update, behind an `Overwrite`, in a
command to the parent graph, or in the state of a `Send`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakSet

from langchain_core.messages import HumanMessage, convert_to_messages
from langchain_core.tools import StructuredTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, Overwrite, Send

from .marks import mark_code
from .state import CHANNELS
from .wiring import GUARDED

_log = logging.getLogger("langmem_credit")

# Functions that the memory's own tools run.
_OWN: WeakSet[Callable[..., Any]] = WeakSet()


def own_code(*functions: Callable[..., Any]) -> None:
    """Lets a tool that runs these functions, and no others, pass for one of the memory's own."""
    for function in functions:
        _OWN.add(function)


def is_own(tool: object) -> bool:
    """True for a tool of the memory, in whatever list it came and whatever it is called.

    By the code that it runs: a foreign tool may be called "remember" too, and each list of the
    memory's tools holds other objects.
    """
    if not isinstance(tool, StructuredTool):
        return False
    return all(code is not None and code in _OWN for code in (tool.func, tool.coroutine))


class Guard:
    """A wrapper around tool calls that lets the memory's own tools through as they are."""

    def wrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """For `ToolNode(wrap_tool_call=…)`."""
        GUARDED.add(_call_id(request))
        result = handler(request)
        return result if is_own(request.tool) else guarded(result)

    async def awrap(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """For `ToolNode(awrap_tool_call=…)`."""
        GUARDED.add(_call_id(request))
        result = await handler(request)
        return result if is_own(request.tool) else guarded(result)


def guarded(result: Any) -> Any:
    """A tool's result as it may go into the state."""
    if isinstance(result, list | tuple):
        return [guarded(item) for item in result]
    if isinstance(result, Command):
        return replace(result, update=_update(result.update), goto=_goto(result.goto))
    return result


def _call_id(request: ToolCallRequest) -> str:
    return str(request.tool_call.get("id") or "")


def _update(update: Any) -> Any:
    if update is None:
        return None
    if isinstance(update, Mapping):
        pairs = list(update.items())
        return dict(_allowed(pairs))
    if isinstance(update, list | tuple):
        if all(_is_pair(item) for item in update):
            return _allowed([(item[0], item[1]) for item in update])
        # A list of messages, for graphs whose state is one.
        return _messages(list(update))
    # A state object (dataclass, pydantic): what it sets, as pairs.
    return _allowed(list(vars(update).items())) if hasattr(update, "__dict__") else update


def _allowed(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    kept = []
    for key, value in pairs:
        if isinstance(key, str) and key in CHANNELS:
            _log.warning("a tool wrote the memory channel %s; the write was dropped", key)
            continue
        kept.append((key, _messages(value) if key == "messages" else value))
    return kept


def _is_pair(item: object) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)


def _messages(value: Any) -> Any:
    """The messages with those that look like a person's marked as code's."""
    if isinstance(value, Overwrite):
        return replace(value, value=_messages(value.value))
    if isinstance(value, list):
        return [_message(item) for item in value]
    return _message(value)


def _message(item: Any) -> Any:
    if isinstance(item, HumanMessage):
        return mark_code(item)
    if isinstance(item, str | tuple) or (isinstance(item, dict) and item):
        try:
            message = convert_to_messages([item])[0]
        except (ValueError, TypeError, NotImplementedError, KeyError):
            return item
        return mark_code(message) if isinstance(message, HumanMessage) else item
    return item


def _goto(goto: Any) -> Any:
    if isinstance(goto, Send):
        return Send(goto.node, _without_channels(goto.arg))
    if isinstance(goto, list | tuple):
        # A list stays a list: a tool node treats the two differently.
        return type(goto)(_goto(item) for item in goto)
    return goto


def _without_channels(arg: Any) -> Any:
    """A node's input without the channels, also where it carries a state for a tool node."""
    if not isinstance(arg, Mapping):
        return arg
    kept = {key: value for key, value in arg.items() if key not in CHANNELS}
    if isinstance(kept.get("state"), Mapping):
        kept["state"] = _without_channels(kept["state"])
    return kept
