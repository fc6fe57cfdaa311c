"""What the commands open: the notes' file, the index folder and the model, as far as there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langmem_credit.characters import one_line

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from .chat import Chat

NO_INDEX = (
    "Recall is by words alone. For recall by meaning: pip install 'langmem_credit[index,model]'"
)


def open_shared(folder: Path) -> sqlite3.Connection:
    """The file with the notes that all sessions of the folder share."""
    # The store begins and ends its transactions itself.
    return sqlite3.connect(folder / "notes.sqlite", check_same_thread=False, isolation_level=None)


@contextmanager
def opened_chat(folder: Path, *, index: Path | None, **options: Any) -> Iterator[Chat]:
    """A chat with the stand-in model on the folder's two files, which are closed at the end.

    The options are those of `Chat.open`. A file of sessions that cannot be read is noticed by its
    first reader, not here.
    """
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.store.sqlite import SqliteStore

    from .chat import Chat
    from .stand_in import StandInModel

    sessions = sqlite3.connect(folder / "sessions.sqlite", check_same_thread=False)
    with closing(sessions), closing(open_shared(folder)) as shared:
        store = SqliteStore(shared)
        store.setup()
        saver = SqliteSaver(sessions)
        chat = Chat.open(StandInModel(), saver, store=store, index=index, **options)
        try:
            yield chat
        finally:
            chat.close()


def index_in(folder: Path) -> Path | None:
    """Where the index of these sessions lies; None where what it needs is not installed."""
    from importlib.util import find_spec

    if find_spec("chromadb") is None or find_spec("sentence_transformers") is None:
        return None
    return folder / "index"


def choose_model(name: str | None) -> tuple[BaseChatModel, str]:
    """The model of this name, or the stand-in, and a line that says which and why."""
    from .stand_in import NOTICE, StandInModel

    if not name:
        return StandInModel(), NOTICE
    try:
        from langchain.chat_models import init_chat_model

        return init_chat_model(name), f"The model is {name}."
    except Exception as error:  # noqa: BLE001 - packages raise what they like for a missing key
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        return StandInModel(), f"{name} cannot be used: {one_line(why)}\n{NOTICE}"
