"""The agent behind `chat` and `demo`: a plain LangGraph graph with the memory built in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from langmem_credit.memory import CreditedMemory
from langmem_credit.state import MemoryInput, MemoryState

SYSTEM = "You are a helpful assistant. Use the memory tools when the person says what should last."
_MOST_CHARS = 20_000


def build_agent(
    memory: CreditedMemory,
    model: BaseChatModel,
    checkpointer: BaseCheckpointSaver[Any],
    folder: Path | None = None,
    store: BaseStore | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph: listen, then the model and its tools in turns.

    Args:
        memory: what it remembers with.
        model: what it thinks with.
        checkpointer: where its sessions are kept.
        folder: whose text files it may read; None for no files.
        store: where it keeps what all sessions share, or None.
    """
    files = [] if folder is None else [create_read_file_tool(folder)]
    speaking = model.bind_tools([*memory.tools(), *files])

    def think(state: MemoryState) -> dict[str, Any]:
        system = memory.fold(SYSTEM, state)
        before = [] if system is None else [system]
        return {"messages": [speaking.invoke([*before, *state["messages"]])]}

    def route(state: MemoryState) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    graph = StateGraph(MemoryState, input_schema=MemoryInput)
    graph.add_node("listen", memory.listen)
    graph.add_node("think", think)
    graph.add_node("tools", memory.tool_node(files))
    graph.add_node("settle", memory.settle)
    graph.add_edge(START, "listen")
    graph.add_edge("listen", "think")
    graph.add_conditional_edges("think", route, ["tools", END])
    graph.add_edge("tools", "settle")
    graph.add_edge("settle", "think")
    return memory.bind(graph.compile(checkpointer=checkpointer, store=store))


def create_read_file_tool(folder: Path) -> BaseTool:
    """`read_file(path)`: a text file below the folder, its first 20,000 characters."""
    root = folder.resolve()

    @tool
    def read_file(path: str) -> str:
        """Read a text file."""
        try:
            wanted = (root / path).resolve()
            if not wanted.is_relative_to(root) or not wanted.is_file():
                return f"There is no file {path!r} here."
            with wanted.open(encoding="utf-8", errors="replace") as file:
                text = file.read(_MOST_CHARS + 1)
        except (OSError, ValueError) as error:
            return f"Cannot read {path!r}: {type(error).__name__}."
        if len(text) > _MOST_CHARS:
            return text[:_MOST_CHARS] + "\n[The file goes on; this is its beginning.]"
        return text

    return read_file
