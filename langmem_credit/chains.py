"""A thread's memory for LangChain chains: what it recalls, and what its next run would show."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable

from . import host
from .access import opened
from .books import ado, do
from .retriever import CreditedRetriever, Ranked, giving
from .settings import Settings


def create_thread_retriever(
    settings: Settings, graph: host.StatefulGraph, config: Any, **options: Any
) -> CreditedRetriever:
    """A retriever over the thread's notes and those of the scopes that the config opens."""
    opened(graph, config, "retriever")

    def source() -> Ranked:
        snapshot = graph.get_state(config)
        where = host.where_of(graph, config)
        shelf, rank = do(host.shelf_of(settings, where, snapshot, config))
        return Ranked(shelf.notebook, rank)

    async def asource() -> Ranked:
        snapshot = await graph.aget_state(config)
        where = host.where_of(graph, config)
        shelf, rank = await ado(host.shelf_of(settings, where, snapshot, config))
        return Ranked(shelf.notebook, rank)

    return CreditedRetriever(source=source, asource=asource, limits=settings.limits, **options)


def create_thread_digest(
    settings: Settings, graph: host.StatefulGraph, config: Any, *, for_template_text: bool
) -> Runnable[Any, str]:
    """A Runnable that gives what the thread's next run would show the model."""
    opened(graph, config, "digest_runnable")

    def text() -> str:
        snapshot = graph.get_state(config)
        return do(host.digest_in(settings, host.where_of(graph, config), snapshot, config))

    async def atext() -> str:
        snapshot = await graph.aget_state(config)
        return await ado(host.digest_in(settings, host.where_of(graph, config), snapshot, config))

    return giving(text, atext, for_template_text=for_template_text)
