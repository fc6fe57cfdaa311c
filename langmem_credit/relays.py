"""Words that models wrote in runs which are going on just now.

A tool or node that starts an agent in a thread of its own looks like a caller from outside. What it
hands on was written by a model: it stands in the arguments of the tool that is running, or in a
message of a run that has not ended. Two people who happen to share such words at one moment cost
each other no more than a note that waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID

from langchain_core.messages import AIMessage
from langgraph.types import Command

from .invocations import strings_in
from .marks import text_of

# Shorter texts that a tool was called with turn up in honest messages by chance.
_SHARED = 12
# People repeat an agent's short phrases ("yes", "use tabs"); its long ones are handed on.
_LONG = 40
# Texts of models that are kept for each invocation that goes on.
_SAID = 50
_ROOTS = 1_000


class ModelWords:
    """Texts of models, from when a tool or a model's step gave them until their run ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arguments: dict[UUID, tuple[str, ...]] = {}
        self._said: dict[str, deque[str]] = {}

    def __len__(self) -> int:
        return len(self._arguments) + len(self._said)

    def called(self, run_id: UUID, arguments: object) -> None:
        """A tool runs with these arguments."""
        words = tuple(text for text in strings_in(arguments) if text.strip())
        if words:
            with self._lock:
                self._arguments[run_id] = words

    def said(self, root: str, outputs: object) -> None:
        """A node of this root's invocation gave these outputs."""
        texts = [text for text in _said_by_models(outputs) if text.strip()]
        if texts:
            with self._lock:
                self._said.setdefault(root, deque(maxlen=_SAID)).extend(texts)
                while len(self._said) > _ROOTS:
                    # Of a run whose end nobody told.
                    del self._said[next(iter(self._said))]

    def returned(self, run_id: UUID) -> None:
        """The tool is done."""
        with self._lock:
            self._arguments.pop(run_id, None)

    def ended(self, root: str) -> None:
        """The root's invocation is over."""
        with self._lock:
            self._said.pop(root, None)

    def hold(self, text: str) -> bool:
        """True when a model wrote the text in a run that is going on."""
        with self._lock:
            arguments = [word for words in self._arguments.values() for word in words]
            said = [text for texts in self._said.values() for text in texts]
        return _relayed(text, arguments) or _repeated(text, said)


def _relayed(text: str, arguments: Iterable[str]) -> bool:
    return any(
        text in argument or (len(argument) >= _SHARED and argument in text)
        for argument in arguments
    )


def _repeated(text: str, said: Iterable[str]) -> bool:
    return any(
        text.strip() == other.strip()
        or (len(text) >= _LONG and text in other)
        or (len(other) >= _LONG and other in text)
        for other in said
    )


def _said_by_models(outputs: object, depth: int = 5) -> Iterator[str]:
    """What the AI messages in a node's output say, and what they call tools with."""
    if isinstance(outputs, AIMessage):
        yield text_of(outputs.content)
        for call in outputs.tool_calls:
            yield from strings_in(call["args"])
    elif not depth:
        return
    elif isinstance(outputs, Command):
        yield from _said_by_models(outputs.update, depth - 1)
    elif isinstance(outputs, Mapping):
        yield from _said_by_models(outputs.get("messages"), depth - 1)
    elif isinstance(outputs, list | tuple):
        for part in outputs:
            yield from _said_by_models(part, depth - 1)
