"""The agent behind `chat` and `demo`: a plain LangGraph graph with the memory built in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from langmem_credit.memory import CreditedMemory
from langmem_credit.state import MemoryInput, MemoryState

from .files import create_read_file_tool

SYSTEM = "You are a helpful assistant. Use the memory tools when the person says what should last."


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
