"""Memory for LangGraph agents that credits only what the person said.

Importing this package loads none of its parts: each name below loads the module that holds it
when it is first used, so that a program which only needs the credit rule never waits for
LangGraph.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chroma_index import ChromaIndex
    from .credit import judge
    from .ending import Closed
    from .errors import (
        ChangedNoteError,
        ConfigurationError,
        CreditError,
        ForgedStateError,
        IdentityError,
        MissingExtraError,
        MissingModelError,
        RefusedWriteError,
        StoreError,
        UnknownNoteError,
        UnknownSessionError,
        UnreadableSessionError,
    )
    from .heard import mark, not_typed
    from .index import Index, IndexStatus
    from .kept_index import KeptIndex
    from .local_model import LocalModel
    from .memory import CreditedMemory
    from .notes import LIMITS, Limits, Note, Utterance, Verdict
    from .panel import create_panel
    from .retriever import CreditedRetriever
    from .scopes import Scope
    from .server_auth import create_store_rule
    from .settings import CreditRule
    from .state import MemoryChannels, MemoryInput, MemoryOutput, MemoryState

__all__ = [
    "LIMITS",
    "ChangedNoteError",
    "ChromaIndex",
    "Closed",
    "ConfigurationError",
    "CreditError",
    "CreditRule",
    "CreditedMemory",
    "CreditedRetriever",
    "ForgedStateError",
    "IdentityError",
    "Index",
    "IndexStatus",
    "KeptIndex",
    "Limits",
    "LocalModel",
    "MemoryChannels",
    "MemoryInput",
    "MemoryOutput",
    "MemoryState",
    "MissingExtraError",
    "MissingModelError",
    "Note",
    "RefusedWriteError",
    "Scope",
    "StoreError",
    "UnknownNoteError",
    "UnknownSessionError",
    "UnreadableSessionError",
    "Utterance",
    "Verdict",
    "create_panel",
    "create_store_rule",
    "judge",
    "mark",
    "not_typed",
]

_MODULE_OF = {
    "LIMITS": "notes",
    "ChangedNoteError": "errors",
    "ChromaIndex": "chroma_index",
    "Closed": "ending",
    "ConfigurationError": "errors",
    "CreditError": "errors",
    "CreditRule": "settings",
    "CreditedMemory": "memory",
    "CreditedRetriever": "retriever",
    "ForgedStateError": "errors",
    "IdentityError": "errors",
    "Index": "index",
    "IndexStatus": "index",
    "KeptIndex": "kept_index",
    "Limits": "notes",
    "LocalModel": "local_model",
    "MemoryChannels": "state",
    "MemoryInput": "state",
    "MemoryOutput": "state",
    "MemoryState": "state",
    "MissingExtraError": "errors",
    "MissingModelError": "errors",
    "Note": "notes",
    "RefusedWriteError": "errors",
    "Scope": "scopes",
    "StoreError": "errors",
    "UnknownNoteError": "errors",
    "UnknownSessionError": "errors",
    "UnreadableSessionError": "errors",
    "Utterance": "notes",
    "Verdict": "notes",
    "create_panel": "panel",
    "create_store_rule": "server_auth",
    "judge": "credit",
    "mark": "heard",
    "not_typed": "heard",
}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    # From now on the name is found without coming here.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
