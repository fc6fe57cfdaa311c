"""Agents that share notes between sessions."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from langmem_credit.memory import CreditedMemory
from langmem_credit.scopes import Scope
from langmem_credit.testing import ScriptedChatModel, ScriptedPerson, tool_calls

from .graph_support import node_graph, talk

USER = Scope("user", ("memories", "{user_id}"))
PROJECT = Scope("project", ("projects", "{project_id}"), words=("team",))
ZSH = "I always use zsh"


class Flaky(InMemoryStore):
    """A store that can be taken down, before or only for writes."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.read_only = False

    def batch(self, ops: Any) -> Any:
        ops = list(ops)
        if self.down or (self.read_only and any(type(op).__name__ == "PutOp" for op in ops)):
            raise ConnectionError("nobody answers")
        return super().batch(ops)

    async def abatch(self, ops: Any) -> Any:
        return self.batch(ops)


class Office:
    """One compiled agent with shared scopes, and whoever talks to it in whatever thread."""

    def __init__(
        self,
        *scopes: Scope,
        store: BaseStore | None = None,
        nodes: bool = False,
        saver: Any = None,
        session_only: bool = False,
        **more: Any,
    ) -> None:
        self.store = InMemoryStore() if store is None else store
        shared = [] if session_only else list(scopes) or [USER]
        self.memory = CreditedMemory(scopes=shared, **more)
        self.model = ScriptedChatModel()
        saver = saver or InMemorySaver()
        if nodes:
            self.agent = node_graph(self.model, self.memory, checkpointer=saver, store=self.store)
        else:
            it = talk(memory=self.memory, checkpointer=saver, store=self.store)
            self.agent, self.model = it.agent, it.model

    def person(self, thread: str = "1", **identity: Any) -> ScriptedPerson:
        return ScriptedPerson(self.agent, thread, **identity)

    def run(self, person: ScriptedPerson, words: Any, *steps: Any) -> list[str]:
        """What the tools answered in a run in which the model takes these steps."""
        before = len(self._tool_messages(person))
        self.model.then(*steps, "ok")
        person.says(words)
        return [str(one.content) for one in self._tool_messages(person)[before:]]

    async def arun(self, person: ScriptedPerson, words: Any, *steps: Any) -> list[str]:
        """As `run`."""
        before = len(self._tool_messages(person))
        self.model.then(*steps, "ok")
        await person.asays(words)
        return [str(one.content) for one in self._tool_messages(person)[before:]]

    def keep(self, person: ScriptedPerson, words: str, **more: Any) -> str:
        """The answer to a note in the person's own words."""
        return self.run(person, words, remember(words, **more))[-1]

    def forget(self, person: ScriptedPerson, words: str, query: str, **more: Any) -> str:
        """The answer to a request to forget."""
        call = tool_calls(("forget", {"query": query, "said": words, **more}))
        return self.run(person, words, call)[-1]

    def recall(self, person: ScriptedPerson, **args: Any) -> str:
        return self.run(person, "What do you know?", tool_calls(("recall", args)))[-1]

    def digest(self, person: ScriptedPerson) -> str:
        """The system message that the person's next run begins with."""
        self.model.then("ok")
        person.says("Hello")
        return self.model.system_texts[-1]

    def notes(self, person: ScriptedPerson) -> list[str]:
        return [note.text for note in self.memory.notes(self.agent, person.config)]

    def _tool_messages(self, person: ScriptedPerson) -> list[Any]:
        messages = self.agent.get_state(person.config).values.get("messages", [])
        return [one for one in messages if one.type == "tool"]


def remember(text: str, said: str | None = None, **more: Any) -> Any:
    """The model's message that asks for a note."""
    return tool_calls(("remember", {"note": text, "said": said or text, **more}))
