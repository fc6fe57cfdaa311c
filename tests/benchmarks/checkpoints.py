"""What memory costs an agent's checkpoints and model calls.

    python -m tests.benchmarks.checkpoints [--quick]

Three agents hear the same messages on SqliteSaver. *Plain* has no memory and no tools, so it also
lacks the messages in which a note is asked for and answered. *Same messages* has a tool called
`remember` that keeps nothing, so that its conversation is the same, character for character.
*Memory* has this package's middleware. The aim is about what the memory adds to a conversation,
so it stands against the second; what the tool messages cost stands beside it.

Exit status 1 when an aim is missed.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from langmem_credit import CreditedMemory
from tests.benchmarks.reporting import machine, spread, table, versions

AIM_OVERHEAD_MS = 1.0
OVERHEAD_NOTES = 40
MESSAGE_CHARACTERS = 200
ANSWER = "I looked at it and this is what stands there: ".ljust(MESSAGE_CHARACTERS, "=")
# Five are typed in one run, so each must plainly leave the others alone.
_PREFERENCE = (
    "I prefer python {number:03} with pytest and mypy and ruff and black and poetry, rust with "
    "cargo and docker, go with make and podman, java with gradle and maven, react with vitest and "
    "playwright on ubuntu 24.4"
)
_REQUEST = (
    "Please look at row {number:03} of the table that I sent you this morning and tell me what you "
    "see in its fourth column, and also whether it fits with what the other five columns of the "
    "same row say there too."
)


@dataclass(frozen=True, slots=True)
class Load:
    """How many threads, runs and notes, and the aim for them.

    Attributes:
        notes: told in each thread, at its start, so that the rest of it carries them.
        notes_a_run: messages, each one note, that a run brings while there are notes to tell.
        aim: the largest ratio of database sizes, None where the load only informs.
    """

    name: str
    threads: int
    runs: int
    notes: int
    notes_a_run: int = 1
    aim: float | None = None

    def messages(self, run: int) -> list[str]:
        """What is typed in this run of each thread."""
        first = run * self.notes_a_run
        numbers = range(first, min(first + self.notes_a_run, self.notes))
        return [preference(number) for number in numbers] or [request(run)]


LOADS = (
    Load("1 thread, 200 runs, 25 notes", 1, 200, 25, aim=1.25),
    Load("20 threads, 10 runs, 25 notes each", 20, 10, 25, notes_a_run=5, aim=1.8),
    Load("20 threads, 10 runs, 1 note each", 20, 10, 1, aim=1.8),
    Load("20 threads, 10 runs, no note", 20, 10, 0),
)


class PreferenceModel(BaseChatModel):
    """Calls `remember`, if it has it, with each preference just heard; else one fixed answer."""

    @property
    def _llm_type(self) -> str:
        return "preferences"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        names = {getattr(each, "name", "") for each in tools}
        return self.bind(remembers="remember" in names)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        *,
        remembers: bool = False,
        **kwargs: Any,
    ) -> ChatResult:
        calls = [
            {
                "name": "remember",
                "args": {"note": text, "said": text},
                "id": f"call_{len(messages)}_{at}",
            }
            for at, text in enumerate(_heard_last(messages))
            if remembers and text.startswith("I prefer")
        ]
        answer = AIMessage("" if calls else ANSWER, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


def create_plain(checkpointer: Any) -> Any:
    """An agent without memory and without tools."""
    return create_agent(PreferenceModel(), [], checkpointer=checkpointer)


def create_with_same_messages(answer: str) -> Callable[[Any], Any]:
    """Makes an agent whose `remember` keeps nothing and answers with this text."""

    def remember(note: str, said: str) -> str:
        """Keeps nothing."""
        return answer

    def create(checkpointer: Any) -> Any:
        kept_nowhere = StructuredTool.from_function(remember)
        return create_agent(PreferenceModel(), [kept_nowhere], checkpointer=checkpointer)

    return create


def create_with_memory(checkpointer: Any) -> Any:
    """The agent with this package's memory."""
    memory = CreditedMemory()
    return create_agent(
        PreferenceModel(), [], middleware=[memory.middleware()], checkpointer=checkpointer
    )


def preference(number: int) -> str:
    """A message of 200 characters that the credit rule takes whole."""
    return _PREFERENCE.format(number=number)


def request(number: int) -> str:
    """A message of 200 characters with nothing to keep."""
    return _REQUEST.format(number=number)


def database_bytes(create: Callable[[Any], Any], load: Load) -> tuple[int, list[float], int]:
    """Bytes of the database, milliseconds of each run, notes active in all threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoints.sqlite"
        connection = sqlite3.connect(path, check_same_thread=False)
        agent = create(SqliteSaver(connection))
        times = []
        notes = 0
        for thread in range(load.threads):
            config = {"configurable": {"thread_id": f"thread-{thread}"}}
            for run in range(load.runs):
                start = time.perf_counter()
                agent.invoke(_input(*load.messages(run)), config)
                times.append((time.perf_counter() - start) * 1_000)
            notes += _active_notes(agent, config)
        # Closing the last connection writes the log back into the file.
        connection.close()
        return sum(each.stat().st_size for each in Path(folder).iterdir()), times, notes


class Stopwatch(AgentMiddleware):
    """Notes the time when a model call passes, on its way in and on its way out."""

    def __init__(self, name: str, passed: list[float]) -> None:
        super().__init__()
        self._name = name
        self._passed = passed

    @property
    def name(self) -> str:
        """Two of a kind need names of their own."""
        return self._name

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Hands the call on."""
        self._passed.append(time.perf_counter())
        response = handler(request)
        self._passed.append(time.perf_counter())
        return response


def overhead_ms(notes: int, runs: int, *, memory: bool) -> list[float]:
    """Milliseconds spent between two stopwatches around the memory, one figure a model call.

    Without memory the stopwatches stand next to each other, which measures what they and the
    agent's own wrapping cost.
    """
    passed: list[float] = []
    between = [CreditedMemory().middleware()] if memory else []
    agent = create_agent(
        PreferenceModel(),
        [],
        middleware=[Stopwatch("outer", passed), *between, Stopwatch("inner", passed)],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "thread"}}
    for number in range(notes):
        agent.invoke(_input(preference(number)), config)
    _expect(notes if memory else 0, _active_notes(agent, config))
    passed.clear()
    for run in range(runs):
        agent.invoke(_input(request(run)), config)
    return [
        (inner_in - outer_in + outer_out - inner_out) * 1_000
        for outer_in, inner_in, inner_out, outer_out in zip(
            passed[0::4], passed[1::4], passed[2::4], passed[3::4], strict=True
        )
    ]


def remember_answer() -> str:
    """What the memory's `remember` tells the model about a credited note."""
    agent = create_with_memory(InMemorySaver())
    out = agent.invoke(_input(preference(0)), {"configurable": {"thread_id": "thread"}})
    return str(next(message.text for message in out["messages"] if message.type == "tool"))


def report_databases(scale: int) -> list[str]:
    """Prints sizes and times of each load; the aims that were missed."""
    missed = []
    rows = []
    create_same = create_with_same_messages(remember_answer())
    for load in LOADS:
        smaller = Load(
            load.name, load.threads, load.runs // scale, load.notes // scale, load.notes_a_run
        )
        plain, plain_times, _ = database_bytes(create_plain, smaller)
        same, same_times, _ = database_bytes(create_same, smaller)
        ours, our_times, notes = database_bytes(create_with_memory, smaller)
        _expect(smaller.threads * smaller.notes, notes)
        ratio = ours / same
        if load.aim is not None and ratio > load.aim:
            missed.append(f"{load.name}: {ratio:.3f} times, aim {load.aim}")
        rows.append(
            (
                load.name,
                *(f"{size / 1e6:.2f}" for size in (plain, same, ours)),
                f"{ratio:.3f}",
                "" if load.aim is None else f"{load.aim:.2f}",
                f"{ours / plain:.3f}",
                *(f"{statistics.median(ms):.1f}" for ms in (plain_times, same_times, our_times)),
            )
        )
    header = (
        "load",
        "plain MB",
        "same messages MB",
        "memory MB",
        "memory / same",
        "aim",
        "memory / plain",
        "plain ms/run",
        "same ms/run",
        "memory ms/run",
    )
    print(f"\n{table(header, rows)}")
    return missed


def report_overhead(runs: int) -> list[str]:
    """Prints what a model call costs more; the aim if it was missed."""
    without = overhead_ms(OVERHEAD_NOTES, runs, memory=False)
    ours = overhead_ms(OVERHEAD_NOTES, runs, memory=True)
    added = statistics.median(ours) - statistics.median(without)
    rows = (
        ("without memory", spread(without)),
        ("memory, no note", spread(overhead_ms(0, runs, memory=True))),
        (f"memory, {OVERHEAD_NOTES} notes", spread(ours)),
    )
    print(f"\n{table((f'one model call in a thread of {runs} runs', 'ms, median (range)'), rows)}")
    print(f"Added by the memory: {added:.3f} ms, aim {AIM_OVERHEAD_MS} ms")
    return [f"{added:.3f} ms added to a model call"] if added > AIM_OVERHEAD_MS else []


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; 1 when an aim is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.checkpoints")
    parser.add_argument("--quick", action="store_true", help="a fifth of the runs; aims may miss")
    scale = 5 if parser.parse_args(arguments).quick else 1
    print(machine())
    print(
        versions(
            "langmem_credit",
            "langgraph",
            "langchain",
            "langchain-core",
            "langgraph-checkpoint",
            "langgraph-checkpoint-sqlite",
        )
    )
    missed = [*report_databases(scale), *report_overhead(200 // scale)]
    print("\n" + ("MISSED: " + "; ".join(missed) if missed else "All aims met."))
    return 1 if missed else 0


def _input(*texts: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text) for text in texts]}


def _heard_last(messages: Sequence[BaseMessage]) -> list[str]:
    """Texts of the person's messages since the agent's last one, oldest first."""
    texts: list[str] = []
    for message in reversed(messages):
        if not isinstance(message, HumanMessage):
            break
        texts.insert(0, message.text)
    return texts


def _active_notes(agent: Any, config: Any) -> int:
    events = agent.get_state(config).values.get("memory_ledger") or []
    return sum(event["type"] == "remembered" and bool(event.get("credited")) for event in events)


def _expect(notes: int, found: int) -> None:
    if found != notes:
        raise SystemExit(f"{found} of {notes} notes are active, so the figures mean nothing.")


if __name__ == "__main__":
    sys.exit(main())
