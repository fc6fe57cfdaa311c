"""Graphs for the tests: a plain agent that hears, and whatever they all build on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import tools_condition

from langmem_credit.heard import HeardRun, hear, install
from langmem_credit.memory import CreditedMemory
from langmem_credit.middleware import CreditedMemoryMiddleware
from langmem_credit.settings import Settings
from langmem_credit.state import RUN, MemoryInput, MemoryOutput, MemoryState
from langmem_credit.testing import ScriptedChatModel, ScriptedPerson, tool_calls


class Listening(CreditedMemoryMiddleware):
    """The memory's own middleware; it also notes what each model call found heard."""

    def __init__(self, runs: list[HeardRun] | None = None, guarded: bool = True) -> None:
        install()
        super().__init__(Settings())
        self.runs = [] if runs is None else runs
        self.guarded = guarded

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        self.runs.append(hear(request.state))
        return super().wrap_model_call(request, handler)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self.runs.append(hear(request.state))
        return await super().awrap_model_call(request, handler)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return super().wrap_tool_call(request, handler) if self.guarded else handler(request)


def listening_agent(
    *steps: Any,
    tools: Sequence[Any] = (),
    before: Sequence[Any] = (),
    after: Sequence[Any] = (),
    checkpointer: Any = "memory",
    runs: list[HeardRun] | None = None,
    guarded: bool = True,
    **more: Any,
) -> Any:
    """An agent with memory; `before` and `after` are the middleware around it.

    `runs` takes what each model call found, for graphs whose state is not kept.
    """
    saver = InMemorySaver() if checkpointer == "memory" else checkpointer
    return create_agent(
        ScriptedChatModel(steps),
        list(tools),
        middleware=[*before, Listening(runs, guarded), *after],
        checkpointer=saver,
        **more,
    )


@dataclass
class Talk:
    """A scripted model, an agent with memory, and a person who types to it."""

    memory: CreditedMemory
    model: ScriptedChatModel
    agent: Any
    person: ScriptedPerson

    @property
    def config(self) -> Any:
        return self.person.config

    @property
    def active(self) -> list[str]:
        return [note.text for note in self.memory.notes(self.agent, self.config)]

    @property
    def waiting(self) -> list[str]:
        return [note.text for note in self.memory.unconfirmed(self.agent, self.config)]

    @property
    def tool_answers(self) -> list[str]:
        """Contents of all tool messages, oldest first."""
        messages = self.agent.get_state(self.config).values["messages"]
        return [str(message.content) for message in messages if message.type == "tool"]


def talk(
    *steps: Any,
    memory: CreditedMemory | None = None,
    tools: Sequence[Any] = (),
    before: Sequence[Any] = (),
    after: Sequence[Any] = (),
    checkpointer: Any = "memory",
    thread_id: str = "1",
    **more: Any,
) -> Talk:
    """An agent as a host builds it, with the model following the steps."""
    memory = memory or CreditedMemory()
    model = ScriptedChatModel(steps)
    agent = create_agent(
        model,
        list(tools),
        middleware=[*before, memory.middleware(), *after],
        checkpointer=InMemorySaver() if checkpointer == "memory" else checkpointer,
        **more,
    )
    return Talk(memory, model, agent, ScriptedPerson(agent, thread_id))


def remembering(*pairs: tuple[str, str], **more: Any) -> Any:
    """A model's message that calls remember once for each (note, said)."""
    return tool_calls(*[("remember", {"note": n, "said": s} | more) for n, s in pairs])


def forgetting(query: str, said: str) -> Any:
    return tool_calls(("forget", {"query": query, "said": said}))


def thread(name: str = "1") -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


def heard_texts(graph: Any, config: dict[str, Any] | None = None) -> list[str]:
    """What the last run of the thread heard, as it stands in the state."""
    values = graph.get_state(config or thread()).values
    return [utterance["text"] for utterance in values.get(RUN, {}).get("heard", [])]


def heard_ways(graph: Any, config: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Text and way of what the last run heard."""
    values = graph.get_state(config or thread()).values
    heard = values.get(RUN, {}).get("heard", [])
    return [(utterance["text"], utterance.get("via", "input")) for utterance in heard]


def node_graph(
    model: ScriptedChatModel,
    memory: CreditedMemory | None = None,
    tools: Sequence[Any] = (),
    state: type[Any] = MemoryState,
    checkpointer: Any = "memory",
    store: Any = None,
) -> Any:
    """A graph as a host builds it from the memory's nodes, without LangChain's agents."""
    memory = memory or CreditedMemory()
    bound = model.bind_tools([*memory.tools(), *tools])

    def call_model(state: Any) -> dict[str, Any]:
        messages = state["messages"]
        system = memory.fold("Be kind.", state)
        return {"messages": [bound.invoke([system, *messages])]}

    builder = StateGraph(state, input_schema=MemoryInput, output_schema=MemoryOutput)
    builder.add_node("listen", memory.listen)
    builder.add_node("model", call_model)
    builder.add_node("tools", memory.tool_node(tools))
    builder.add_node("settle", memory.settle)
    builder.add_edge(START, "listen")
    builder.add_edge("listen", "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "settle")
    builder.add_edge("settle", "model")
    saver = InMemorySaver() if checkpointer == "memory" else checkpointer
    return memory.bind(builder.compile(checkpointer=saver, store=store))
