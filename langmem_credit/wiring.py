"""What can be seen of how a host wired the memory in, told to its developer once in the log.

Each line is about something that takes no note away and makes none active that should wait, but
that leaves a part of what the memory promises undone. What cannot be told for sure is not warned
about.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict

_log = logging.getLogger("langmem_credit")

NO_CHANNELS = (
    "a memory tool was called without the memory's channels, so that nothing can be kept: give "
    "create_agent middleware=[memory.middleware()], or build the graph on MemoryState"
)
NOT_LISTENED = (
    "memory.listen did not run first in this run: notes kept in it change its prompt, and what was "
    "typed before a question to the person is not heard after it; let START lead to a node with "
    "memory.listen"
)
NOT_SETTLED = (
    "memory.settle did not run after the tools: a write that waits for another process, over a "
    "question or a crash, does not count although its answer says that it does, and the stream is "
    "told nothing; put a node with memory.settle right behind the tools"
)
NOT_GUARDED = (
    "a plain ToolNode runs other tools than the memory's: messages that they write can cut off "
    "what was typed in the run, and what they write to the memory waits for review as if it were a "
    "note; use memory.tool_node([...your tools])"
)
NOT_RECORDED = (
    "this run began before the memory was made, so that nothing typed in it is heard: make "
    "CreditedMemory(...) before the graph runs"
)
SENT = (
    "a Send gave a node of the memory a state of its own without the memory's channels: the node "
    "went on without the kept notes; send the whole state, or let an edge lead there"
)
NO_STORE = (
    "scopes are declared, but the graph has no store, so that every note stays in its session: "
    "pass store=… to create_agent or compile, or declare no scopes"
)
TOOLS_TWICE = (
    "tools of a memory were given to create_agent beside the memory's middleware, which brings its "
    "own: leave memory.tools() out of tools"
)
NOT_ANSWERED = (
    "an answer to ask_user was not understood and counts as none: resume with the text that was "
    'typed, or with {"choice": text} for an option that was picked'
)


class Seen:
    """Names that were seen lately; bounded, for any thread."""

    def __init__(self, capacity: int = 2_000) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._names: OrderedDict[str, None] = OrderedDict()

    def add(self, name: str) -> None:
        """Notes the name, unless it is empty."""
        if not name:
            return
        with self._lock:
            self._names[name] = None
            self._names.move_to_end(name)
            while len(self._names) > self._capacity:
                self._names.popitem(last=False)

    def __contains__(self, name: str) -> bool:
        return name in self._names


# Ids of a model's messages whose calls wrote something, and of those that were settled; ids of the
# tool calls that a guard let through. In this process only: what another one did is not judged.
WROTE = Seen()
SETTLED = Seen()
GUARDED = Seen()
_SAID = Seen()


def warn_once(line: str) -> None:
    """Logs the line, the first time in this process."""
    if line not in _SAID:
        _SAID.add(line)
        _log.warning(line)
