"""For suites of your own: a chat model that follows a script, and a person who talks to a graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.types import Command
from pydantic import Field, PrivateAttr

Step = str | AIMessage | Callable[[list[BaseMessage]], "str | AIMessage"]

_call_numbers = itertools.count(1)


def tool_calls(*calls: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """A model's message that calls tools: `tool_calls(("remember", {"note": …, "said": …}))`."""
    return AIMessage(
        text,
        tool_calls=[
            {"name": name, "args": args, "id": f"call_{next(_call_numbers)}", "type": "tool_call"}
            for name, args in calls
        ],
    )


class ScriptedChatModel(BaseChatModel):
    """A chat model that gives one step of its script at each call, whatever it is asked.

    A step is a text, an AIMessage, or a function of the messages. After the last it says "Done".

    Attributes:
        received: the messages of each call, oldest first.
        offered: names of the tools it was last bound to.
    """

    script: list[Any] = Field(default_factory=list)
    received: list[list[BaseMessage]] = Field(default_factory=list)
    offered: list[str] = Field(default_factory=list)
    _position: int = PrivateAttr(default=0)

    def __init__(self, script: Iterable[Step] = (), **more: Any) -> None:
        fields: dict[str, Any] = {"script": list(script), **more}
        super().__init__(**fields)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def system_texts(self) -> list[str]:
        """The system message of each call, "" where there was none."""
        return [
            messages[0].text if messages and isinstance(messages[0], SystemMessage) else ""
            for messages in self.received
        ]

    def then(self, *steps: Step) -> ScriptedChatModel:
        """The same model; the steps come next, after what is left of its script."""
        self._position = min(self._position, len(self.script))
        self.script.extend(steps)
        return self

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        """The model itself; the tools' names are noted."""
        self.offered[:] = [
            tool.get("name", "") if isinstance(tool, dict) else getattr(tool, "name", "")
            for tool in tools
        ]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        self.received.append(list(messages))
        step: Any = "Done" if self._position >= len(self.script) else self.script[self._position]
        self._position += 1
        if callable(step):
            step = step(messages)
        message = AIMessage(step) if isinstance(step, str) else step
        # A new object each time: LangGraph gives the message an id in place.
        return ChatResult(generations=[ChatGeneration(message=message.model_copy())])


class ScriptedPerson:
    """Somebody who types to one thread of a graph."""

    def __init__(self, graph: Any, thread_id: str = "1", **configurable: Any) -> None:
        self.graph = graph
        self.config: RunnableConfig = {"configurable": {"thread_id": thread_id, **configurable}}

    def says(self, *texts: str | HumanMessage) -> str:
        """Types the texts as one input and gives the agent's last words."""
        return _last_words(self.graph.invoke(_typed(texts), self.config))

    def answers(self, value: Any) -> str:
        """Answers the interrupt that the graph waits at."""
        return _last_words(self.graph.invoke(Command(resume=value), self.config))

    async def asays(self, *texts: str | HumanMessage) -> str:
        """As `says`."""
        return _last_words(await self.graph.ainvoke(_typed(texts), self.config))

    async def aanswers(self, value: Any) -> str:
        """As `answers`."""
        return _last_words(await self.graph.ainvoke(Command(resume=value), self.config))

    @property
    def state(self) -> dict[str, Any]:
        """The thread's state, private channels too."""
        return dict(self.graph.get_state(self.config).values)


def _typed(texts: Sequence[str | HumanMessage]) -> dict[str, Any]:
    return {"messages": [HumanMessage(t) if isinstance(t, str) else t for t in texts]}


def _last_words(output: Any) -> str:
    messages = output.get("messages") or [] if isinstance(output, dict) else []
    return str(messages[-1].text) if messages else ""
