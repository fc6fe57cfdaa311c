"""A checkpointer's twin that makes no objects of what it reads.

A checkpointer hands a checkpoint out whole, and most of the time goes into making objects of its
messages. Whether a conversation changed can be told without them. LangGraph copies checkpointers in
the same way to give them another serializer.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

_log = logging.getLogger("langmem_credit")

_KNOWN = "langgraph.checkpoint."


class Asleep(dict[str, Any]):
    """A mapping without its objects, and what it was stored as."""

    stored: tuple[str, bytes]


class AsleepList(list[Any]):
    """As `Asleep`, for a list."""

    stored: tuple[str, bytes]


class _SleepingSerde:
    """Reads MessagePack without making objects; everything else as the other serializer does."""

    def __init__(self, serde: Any, unpack: Callable[[bytes], Any]) -> None:
        self._serde = serde
        self._unpack = unpack

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """As the other serializer, though nothing is ever written here."""
        stored: tuple[str, bytes] = self._serde.dumps_typed(obj)
        return stored

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value, whose objects are None."""
        if data[0] != "msgpack":
            return self._serde.loads_typed(data)
        value = self._unpack(data[1])
        asleep: Asleep | AsleepList
        if isinstance(value, dict):
            asleep = Asleep(value)
        elif isinstance(value, list):
            asleep = AsleepList(value)
        else:
            return value
        asleep.stored = data
        return asleep


def asleep_twin(saver: BaseCheckpointSaver[Any]) -> tuple[BaseCheckpointSaver[Any], Any]:
    """A copy of the checkpointer that wakes nothing, and its own serializer.

    Of LangGraph's own checkpointers only: another one may keep what it reads for later, and would
    hand out what is asleep. It is asked as it is.
    """
    serde = getattr(saver, "serde", None)
    if not type(saver).__module__.startswith(_KNOWN):
        return saver, serde
    try:
        import ormsgpack

        option = ormsgpack.OPT_NON_STR_KEYS

        def unpack(data: bytes) -> Any:
            return ormsgpack.unpackb(data, ext_hook=_nothing, option=option)

        twin = copy.copy(saver)
        twin.serde = _SleepingSerde(serde, unpack)
    except Exception as error:  # noqa: BLE001 - a release that is built otherwise
        _log.info("%s is read as it is (%s)", type(saver).__name__, type(error).__name__)
        return saver, serde
    return twin, serde


def _nothing(code: int, data: bytes) -> None:
    """What stands for an object that is not made."""
