"""`CreditedMemory`: one configuration, and every way into the memory that a host needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.types import StreamWriter

from . import closing, compaction, host, nodes
from .access import opened
from .books import ado, do
from .chroma_index import ChromaIndex
from .ending import Closed
from .index import IndexStatus, WordsOnly
from .kept_index import KeptIndex
from .ledger import Event
from .notebook import Notebook
from .notes import Note
from .recorder import install
from .sessions import SessionMethods
from .settings import Settings
from .tools import create_tools

if TYPE_CHECKING:
    from .middleware import CreditedMemoryMiddleware
    from .retriever import CreditedRetriever

PERSON = "person"


@dataclass(frozen=True, kw_only=True)
class CreditedMemory(SessionMethods, Settings):
    """A memory that credits only what the person said.

    It is a configuration: it holds no user, no thread and no note, and may serve many graphs.
    The options are those of `Settings`.
    """

    def __post_init__(self) -> None:
        if isinstance(self.index, (str, os.PathLike)):
            object.__setattr__(self, "index", ChromaIndex(self.index))
        super().__post_init__()
        # Before the first run, so that no invocation goes unrecorded.
        install()

    # Into a graph

    def tools(self) -> list[BaseTool]:
        """`remember`, `recall`, `forget` and `ask_user`, as far as the options offer them.

        For a model that you bind yourself. `middleware` and `tool_node` bring them along.
        """
        return create_tools(self)

    def middleware(self) -> CreditedMemoryMiddleware:
        """The middleware for `create_agent`; list it last. It brings the tools.

        Raises:
            MissingExtraError: LangChain is not installed.
        """
        from .middleware import CreditedMemoryMiddleware

        return CreditedMemoryMiddleware(self)

    def listen(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """Node: the first of a run. Notes what the person typed, and freezes the digest.

        Without it a note that is kept in a run changes the prompt of that run, and what was typed
        before a question to the person no longer counts after the answer. Its absence is logged.
        """
        return nodes.listen(self, state, config)

    def settle(self, state: Any, config: RunnableConfig, writer: StreamWriter) -> dict[str, Any]:
        """Node: right after the tools. Makes their answers true of what the memory holds.

        Without it a write that waits for another process, over a question or a crash, does not
        count although its answer says that it does, an answer that something else made untrue
        stands, and the stream is told nothing. Its absence is logged.
        """
        return nodes.settle_node(self, state, config, writer)

    def tool_node(self, tools: Sequence[Any] = (), **options: Any) -> ToolNode:
        """Node: the memory's tools and yours, with a guard around yours.

        A plain `ToolNode` does as well for the memory's tools alone. Beside them your own tools
        need the guard: without it a message that one of them writes can cut off what was typed
        in the run, and what it writes to the memory waits for the person's review. `bind` and
        the log tell of it.
        """
        return nodes.create_tool_node(self, self.tools(), tools, **options)

    def fold(self, system: SystemMessage | str | None, state: Any) -> SystemMessage | None:
        """The system message with the kept notes behind it; for your model node."""
        return nodes.fold_in(self, system, state)

    def bind(self, graph: nodes.Graph) -> nodes.Graph:
        """The compiled graph, checked for the memory's channels and recorded.

        A graph without it remembers all the same; only nobody looks whether its channels are
        there and closed to callers, and whether its tools are guarded.

        Raises:
            ConfigurationError: it is no compiled graph, the channels are missing, or callers may
                write them.
        """
        return nodes.bind(graph)

    # A thread's notes, for the host. Each of these methods raises ConfigurationError where the
    # graph or the config does not fit, with what to pass instead.

    def notebook(self, graph: host.StatefulGraph, config: Any) -> Notebook:
        """All that is kept in the thread and in the scopes that the config opens.

        Whatever its status; a scope opens for the values under "configurable".
        """
        return self._notebook(graph, config, "notebook")

    async def anotebook(self, graph: host.StatefulGraph, config: Any) -> Notebook:
        """As `notebook`."""
        return await self._anotebook(graph, config, "anotebook")

    def digest(self, graph: host.StatefulGraph, config: Any) -> str:
        """The text that the thread's next run would show the model; "" for none."""
        snapshot = opened(graph, config, "digest").get_state(config)
        return do(host.digest_in(self, host.where_of(graph, config), snapshot, config))

    async def adigest(self, graph: host.StatefulGraph, config: Any) -> str:
        """As `digest`."""
        snapshot = await opened(graph, config, "adigest").aget_state(config)
        return await ado(host.digest_in(self, host.where_of(graph, config), snapshot, config))

    def notes(self, graph: host.StatefulGraph, config: Any) -> tuple[Note, ...]:
        """The active notes, oldest first."""
        return self._notebook(graph, config, "notes").active

    async def anotes(self, graph: host.StatefulGraph, config: Any) -> tuple[Note, ...]:
        """As `notes`."""
        return (await self._anotebook(graph, config, "anotes")).active

    def unconfirmed(self, graph: host.StatefulGraph, config: Any) -> tuple[Note, ...]:
        """What waits for a person's review, oldest first."""
        return self._notebook(graph, config, "unconfirmed").unconfirmed

    async def aunconfirmed(self, graph: host.StatefulGraph, config: Any) -> tuple[Note, ...]:
        """As `unconfirmed`."""
        return (await self._anotebook(graph, config, "aunconfirmed")).unconfirmed

    def confirm(
        self,
        graph: host.StatefulGraph,
        config: Any,
        note_id: str,
        *,
        shown: str,
        text: str | None = None,
        by: str = PERSON,
    ) -> Note:
        """Makes a note memory because a person read it; gives the note as it is then.

        Args:
            graph: that the memory was built into.
            config: of the thread.
            note_id: of the note.
            shown: the text that the person was shown, byte for byte.
            text: what the person made of it, when they edited it.
            by: who confirmed it.

        Raises:
            UnknownNoteError: no note has this id.
            ChangedNoteError: the note no longer says what was shown.
            RefusedWriteError: it cannot be confirmed as it is, or cannot be written now.
        """
        change = host.confirming(self, note_id, shown, text, by)
        return host.apply(self, opened(graph, config, "confirm"), config, change)

    async def aconfirm(
        self,
        graph: host.StatefulGraph,
        config: Any,
        note_id: str,
        *,
        shown: str,
        text: str | None = None,
        by: str = PERSON,
    ) -> Note:
        """As `confirm`."""
        change = host.confirming(self, note_id, shown, text, by)
        return await host.aapply(self, opened(graph, config, "aconfirm"), config, change)

    def dispute(
        self,
        graph: host.StatefulGraph,
        config: Any,
        note_id: str,
        *,
        why: str = "",
        by: str = PERSON,
    ) -> Note:
        """Takes a note out of memory because a person says that it is not right."""
        change = host.disputing(self, note_id, why, by)
        return host.apply(self, opened(graph, config, "dispute"), config, change)

    async def adispute(
        self,
        graph: host.StatefulGraph,
        config: Any,
        note_id: str,
        *,
        why: str = "",
        by: str = PERSON,
    ) -> Note:
        """As `dispute`."""
        change = host.disputing(self, note_id, why, by)
        return await host.aapply(self, opened(graph, config, "adispute"), config, change)

    def forget(
        self,
        graph: host.StatefulGraph,
        config: Any,
        note_id: str,
        *,
        why: str = "",
        by: str = PERSON,
    ) -> Note:
        """Takes a note out of memory because a person says so; `restore` brings it back."""
        change = host.forgetting(self, note_id, why, by)
        return host.apply(self, opened(graph, config, "forget"), config, change)

    async def aforget(
        self,
        graph: host.StatefulGraph,
        config: Any,
        note_id: str,
        *,
        why: str = "",
        by: str = PERSON,
    ) -> Note:
        """As `forget`."""
        change = host.forgetting(self, note_id, why, by)
        return await host.aapply(self, opened(graph, config, "aforget"), config, change)

    def restore(
        self, graph: host.StatefulGraph, config: Any, note_id: str, *, by: str = PERSON
    ) -> Note:
        """Takes a note's last withdrawal, correction or dispute back."""
        change = host.restoring(note_id, by)
        return host.apply(self, opened(graph, config, "restore"), config, change)

    async def arestore(
        self, graph: host.StatefulGraph, config: Any, note_id: str, *, by: str = PERSON
    ) -> Note:
        """As `restore`."""
        change = host.restoring(note_id, by)
        return await host.aapply(self, opened(graph, config, "arestore"), config, change)

    def history(
        self, graph: host.StatefulGraph, config: Any, note_id: str | None = None
    ) -> list[Event]:
        """The events of the thread and the open scopes, or those about one note, oldest first."""
        snapshot = opened(graph, config, "history").get_state(config)
        return do(host.history_in(self, host.where_of(graph, config), snapshot, note_id))

    async def ahistory(
        self, graph: host.StatefulGraph, config: Any, note_id: str | None = None
    ) -> list[Event]:
        """As `history`."""
        snapshot = await opened(graph, config, "ahistory").aget_state(config)
        return await ado(host.history_in(self, host.where_of(graph, config), snapshot, note_id))

    # A session that ends

    def close_session(
        self, graph: host.StatefulGraph, config: Any, model: BaseChatModel | None = None
    ) -> Closed:
        """Closes the thread's session: keeps how it ended, and the files that it touched.

        Args:
            graph: that the memory was built into.
            config: of the thread.
            model: writes an outcome of one to three sentences and at most two facts, which wait
                for a person; without one the session's title is the outcome.

        Raises:
            RefusedWriteError: the thread waits for an answer, or cannot be written now.
            UnknownSessionError: its last run was for somebody else than the config names.
        """
        graph = opened(graph, config, "close_session")
        return closing.close(self, graph, config, model, host.where_of(graph, config))

    async def aclose_session(
        self, graph: host.StatefulGraph, config: Any, model: BaseChatModel | None = None
    ) -> Closed:
        """As `close_session`."""
        graph = opened(graph, config, "aclose_session")
        return await closing.aclose(self, graph, config, model, host.where_of(graph, config))

    def closing_node(self, model: BaseChatModel | None = None) -> Runnable[Any, dict[str, Any]]:
        """Node: closes the session, as `close_session` does; for the end of a graph."""
        return closing.create_closing_node(self, model)

    def compacting(self, compactor: Any, find: compaction.Find | None = None) -> Any:
        """The compactor, with findings kept and the digest rendered again where it compacts.

        Notes, findings, what was typed and the digest survive a compaction without this too.

        Args:
            compactor: a middleware such as langchain's SummarizationMiddleware, or a node such as
                langmem's SummarizationNode. A copy of the middleware, or another node, comes back.
            find: takes the messages that go and their summary, and gives at most eight findings as
                texts. They are the agent's own, unverified. It may be asynchronous in a graph that
                runs so.

        Raises:
            ConfigurationError: it is neither, or a middleware that does not compact before the
                model.
        """
        return compaction.compacting(self, compactor, find)

    # For chains

    def retriever(
        self, graph: host.StatefulGraph, config: Any, **options: Any
    ) -> CreditedRetriever:
        """A LangChain retriever over the thread's notes and those of the scopes that open.

        Args:
            graph: that the memory was built into.
            config: of the thread; a scope opens for the values under "configurable".
            options: `k` documents (1 to 20), only `about` this, the agent's `findings` too.
        """
        from .chains import create_thread_retriever

        return create_thread_retriever(self, graph, config, **options)

    def digest_runnable(
        self, graph: host.StatefulGraph, config: Any, *, for_template_text: bool = False
    ) -> Runnable[Any, str]:
        """A Runnable that gives what `digest` gives, for the variable of a prompt.

        Args:
            graph: that the memory was built into.
            config: of the thread.
            for_template_text: double the braces, for a digest that becomes part of a template's
                text. Leave it off for one that is the value of a template's variable.
        """
        from .chains import create_thread_digest

        return create_thread_digest(self, graph, config, for_template_text=for_template_text)

    # The index

    def index_status(self) -> IndexStatus:
        """How recall by meaning is. Starts nothing and waits for nothing."""
        index = self.index
        return index.status() if isinstance(index, KeptIndex) else WordsOnly().status()

    def close_index(self) -> None:
        """Ends the index's work in the background and lets go of its files; it opens again."""
        if isinstance(self.index, KeptIndex):
            self.index.close()

    # The method that was called names itself, so that an error can.

    def _notebook(self, graph: host.StatefulGraph, config: Any, method: str) -> Notebook:
        snapshot = opened(graph, config, method).get_state(config)
        return do(host.notebook_of(self, host.where_of(graph, config), snapshot))

    async def _anotebook(self, graph: host.StatefulGraph, config: Any, method: str) -> Notebook:
        snapshot = await opened(graph, config, method).aget_state(config)
        return await ado(host.notebook_of(self, host.where_of(graph, config), snapshot))
