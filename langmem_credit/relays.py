"""Words that models wrote in runs which are going on just now.

A tool or node that starts an agent in a thread of its own looks like a caller from outside. What it
hands on was written by a model: it stands in the arguments of the tool that is running, or in a
message of a run that has not ended.

An agent that is started so often has a thread of its own, so another thread does not clear a text.
But what somebody types in another thread may well occur somewhere in a long text that a tool works
on: between threads that are known to be two, only a text that makes up a good part of a model's
words, or stands apart in them as a task in a list does, counts as handed on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from uuid import UUID

from langchain_core.messages import AIMessage
from langgraph.types import Command

from .invocations import strings_in
from .marks import text_of

# Shorter texts that a tool was called with turn up in honest messages by chance.
_SHARED = 12
# People repeat an agent's short phrases ("yes", "use tabs"); its long ones are handed on.
_LONG = 40
# Shorter ones are read for what stands apart in them; longer ones are documents.
_LIST = 4_000
_SHARE = 4
# What may stand between the parts of a list, a table or a JSON text.
_BORDERS = frozenset("\n\r\t\"'`|;:,.!?\u201c\u201d\u2018\u2019()[]{}<>\u3002\uff01\uff1f")
_BULLETS = " -*\u2022#0123456789"
# Texts of models that are kept for each invocation that goes on.
_SAID = 50
_ROOTS = 1_000


class ModelWords:
    """Texts of models, from when a tool or a model's step gave them until their run ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arguments: dict[UUID, tuple[str, tuple[str, ...]]] = {}
        self._said: dict[str, tuple[str, deque[str]]] = {}

    def __len__(self) -> int:
        return len(self._arguments) + len(self._said)

    def called(self, run_id: UUID, arguments: object, thread: str = "") -> None:
        """A tool of this thread, "" where it is not known, runs with these arguments."""
        words = tuple(text for text in strings_in(arguments) if text.strip())
        if words:
            with self._lock:
                self._arguments[run_id] = thread, words

    def said(self, root: str, outputs: object, thread: str = "") -> None:
        """A node of this root's invocation gave these outputs."""
        texts = [text for text in _said_by_models(outputs) if text.strip()]
        if texts:
            with self._lock:
                self._said.setdefault(root, (thread, deque(maxlen=_SAID)))[1].extend(texts)
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

    def hold(self, text: str, thread: str = "") -> bool:
        """True when a model wrote the text, typed in this thread, in a run that is going on."""
        with self._lock:
            arguments = [(one, word) for one, words in self._arguments.values() for word in words]
            said = [(one, word) for one, words in self._said.values() for word in words]
        return any(
            _relayed(text, word, apart=_are_two(thread, one)) for one, word in arguments
        ) or any(_repeated(text, word, apart=_are_two(thread, one)) for one, word in said)


def _are_two(thread: str, other: str) -> bool:
    return bool(thread and other and thread != other)


def _relayed(text: str, argument: str, *, apart: bool) -> bool:
    if len(argument) >= _SHARED and argument in text:
        return True
    return _handed_on(text, argument) if apart else text in argument


def _repeated(text: str, other: str, *, apart: bool) -> bool:
    if text.strip() == other.strip() or (len(other) >= _LONG and other in text):
        return True
    if len(text) < _LONG:
        return False
    return _handed_on(text, other) if apart else text in other


def _handed_on(text: str, words: str) -> bool:
    """True when the text makes up a good part of the words, or stands apart in them."""
    text = text.strip()
    if not text or text not in words:
        return False
    if len(text) * _SHARE >= len(words):
        return True
    if len(words) > _LIST:
        return False
    start = words.find(text)
    while start >= 0:
        before = words[:start].rstrip(_BULLETS)
        after = words[start + len(text) :].lstrip(" ")
        if (not before or before[-1] in _BORDERS) and (not after or after[0] in _BORDERS):
            return True
        start = words.find(text, start + len(text))
    return False


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
