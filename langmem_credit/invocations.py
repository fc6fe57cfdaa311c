"""What an invocation was started with: its kind, and the texts in it that may have been typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue
from langgraph.types import Command

from .errors import ForgedStateError
from .marks import Spoken, made_by_code, spoken_in
from .state import CHANNELS

_TRAILING = 100
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


def read_invocation(name: str, inputs: object, *, typed: bool) -> Invocation:
    """The invocation of this name with this raw input; without texts unless it may be typed.

    The texts are taken out at once: a message is an object that code may change later.
    """
    if inputs is None:
        return Invocation(name, "none")
    if isinstance(inputs, Command):
        if inputs.resume is None or inputs.update or inputs.goto:
            return Invocation(name, "command")
        answers = frozenset(strings_in(inputs.resume)) if typed else _NOTHING
        return Invocation(name, "resume", (), answers)
    spoken = tuple(_spoken_last(inputs)) if typed else ()
    return Invocation(name, "input", spoken)


def refuse_forged(inputs: object) -> None:
    """Lets everything pass but a `Command` that writes a channel of the memory.

    Raises:
        ForgedStateError: it does.
    """
    if not isinstance(inputs, Command) or inputs.update is None:
        return
    update = inputs.update
    keys: set[Any] = set()
    if isinstance(update, Mapping):
        keys.update(key for key in update if isinstance(key, str))
    elif isinstance(update, list | tuple):
        pairs = (pair for pair in update if isinstance(pair, list | tuple) and pair)
        keys.update(pair[0] for pair in pairs if isinstance(pair[0], str))
    else:
        keys.update(getattr(update, "__dict__", {}))
    for key in sorted(keys & CHANNELS):
        raise ForgedStateError(key)


def strings_in(value: object, depth: int = 4) -> Iterator[str]:
    """Texts in a JSON-shaped value."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for part in value.values():
            yield from strings_in(part, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for part in value:
            yield from strings_in(part, depth - 1)


def _spoken_last(inputs: object) -> list[Spoken]:
    """Texts of the human messages that stand last in a raw input, oldest first."""
    spoken: list[Spoken] = []
    messages = _message_likes(inputs)
    for item in reversed(messages[-_TRAILING:]):
        if isinstance(item, str):
            spoken.insert(0, Spoken(item, whole=item))
            continue
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
