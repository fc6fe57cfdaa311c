"""The memory for chains without an agent: a LangChain retriever, and the digest as a Runnable.

Both ask for the notebook each time they run, so they show what is kept then. What they hand over
is inert: one line a note, in which no tag closes and no image is fetched. Given to a prompt as the
value of a variable it is never read as a template; put into the text of a template it must have
its braces doubled, which `for_template_text` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import Field

from .errors import ConfigurationError, named
from .lines import inert
from .notebook import Notebook
from .notes import LIMITS, Limits, Note
from .recall import DEFAULT_LIMIT, MOST, Rank, clamped, recall
from .word_index import WORDS


@dataclass(frozen=True, slots=True)
class Ranked:
    """A notebook that brings its own ranking, as one with an index does.

    Attributes:
        notebook: as it is now.
        rank: ids of the notes that match a query, best first.
    """

    notebook: Notebook
    rank: Rank


Source = Callable[[], Notebook | Ranked]
AsyncSource = Callable[[], Awaitable[Notebook | Ranked]]


class CreditedRetriever(BaseRetriever):
    """Finds kept notes as documents, best first; the newest ones where the query is empty.

    Attributes:
        source: gives the notebook as it is now, alone or `Ranked`.
        asource: the same for asynchronous runs; left out, `source` runs on a thread.
        rank: ids of the notes that match a query, best first, where the notebook comes alone.
        k: how many documents, 1 to 20.
        about: only notes about this; "" for all.
        findings: the agent's own unverified working notes too.
        limits: the bounds.
    """

    source: Source
    asource: AsyncSource | None = None
    rank: Rank = WORDS.rank
    k: int = Field(default=DEFAULT_LIMIT, ge=1, le=MOST)
    about: str = ""
    findings: bool = False
    limits: Limits = LIMITS

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return self._found(self.source(), query, k)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        notebook = await (self.asource() if self.asource else asyncio.to_thread(self.source))
        # Ranking may ask an index, which blocks.
        return await asyncio.to_thread(self._found, notebook, query, k)

    def _found(self, source: Notebook | Ranked, query: str, k: int | None) -> list[Document]:
        if isinstance(source, Ranked):
            notebook, ranking = source.notebook, source.rank
        else:
            notebook, ranking = source, self.rank
        if not isinstance(query, str):
            raise ConfigurationError(
                f"A retriever needs its query as text, not {named(query)}. Pass the question, or "
                '"" for the newest notes.'
            )
        most = clamped(self.k if k is None else k)
        shown = [*notebook.active, *(notebook.findings if self.findings else ())]
        if not query.strip() and not self.about:
            newest = sorted(shown, key=lambda note: (note.at, note.id), reverse=True)
            return [document_of(note) for note in newest[:most]]
        allowed = {note.id for note in shown}

        def rank(asked: str, notes: Sequence[Note]) -> Sequence[str]:
            # Working notes that are not wanted leave before the ranking, so none is counted.
            return ranking(asked, [note for note in notes if note.id in allowed])

        found = recall(
            notebook,
            query=query,
            about=self.about or None,
            limit=most,
            rank=rank,
            limits=self.limits,
            look_back=False,
        )
        return [document_of(note) for note in found.items if note.id in allowed]


def document_of(note: Note) -> Document:
    """A note as a document: its text on one line, and where it comes from as metadata."""
    facts = {
        "note": note.id,
        "kind": note.kind,
        "noted_at": note.at,
        "verified": note.active,
        "about": note.about,
        "speaker": note.speaker,
        "said": inert(note.said) if note.said != note.text else "",
        "ref": inert(note.ref),
        "confirmed_by": note.confirmed_by,
    }
    return Document(
        id=note.id,
        page_content=inert(note.text),
        metadata={name: value for name, value in facts.items() if value != ""},
    )


def giving(
    text: Callable[[], str], atext: Callable[[], Awaitable[str]], *, for_template_text: bool
) -> Runnable[Any, str]:
    """A Runnable that gives the text, whatever it is given."""

    def fitting(told: str) -> str:
        return told.replace("{", "{{").replace("}", "}}") if for_template_text else told

    def digest(_: Any) -> str:
        return fitting(text())

    async def adigest(_: Any) -> str:
        return fitting(await atext())

    return RunnableLambda(digest, afunc=adigest, name="digest")
