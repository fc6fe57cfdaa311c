"""Graphs for the tests: a plain agent that hears, and whatever they all build on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware, ExtendedModelResponse, ModelRequest
from langchain.agents.middleware.types import PrivateStateAttr
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langmem_credit.heard import HeardRun, hear, install
from langmem_credit.state import RUN, LedgerChannel, RunChannel
from langmem_credit.testing import ScriptedChatModel


class ListeningState(AgentState[Any]):
    memory_ledger: Annotated[list[dict[str, Any]], LedgerChannel, PrivateStateAttr]
    memory_run: Annotated[dict[str, Any], RunChannel, PrivateStateAttr]


class Listening(AgentMiddleware[Any, Any, Any]):
    """Records what the run heard, and nothing else."""

    state_schema = ListeningState

    def __init__(self, runs: list[HeardRun] | None = None) -> None:
        super().__init__()
        self.runs = [] if runs is None else runs
        install()

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        run = hear(request.state)
        self.runs.append(run)
        response = handler(request)
        if run.recorded:
            return response
        return ExtendedModelResponse(response, Command(update={RUN: run.record()}))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        run = hear(request.state)
        self.runs.append(run)
        response = await handler(request)
        if run.recorded:
            return response
        return ExtendedModelResponse(response, Command(update={RUN: run.record()}))


def listening_agent(
    *steps: Any,
    tools: Sequence[Any] = (),
    before: Sequence[Any] = (),
    after: Sequence[Any] = (),
    checkpointer: Any = "memory",
    runs: list[HeardRun] | None = None,
    **more: Any,
) -> Any:
    """An agent that only hears; `before` and `after` are the middleware around it.

    `runs` takes what each model call found, for graphs whose state is not kept.
    """
    saver = InMemorySaver() if checkpointer == "memory" else checkpointer
    return create_agent(
        ScriptedChatModel(steps),
        list(tools),
        middleware=[*before, Listening(runs), *after],
        checkpointer=saver,
        **more,
    )


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
