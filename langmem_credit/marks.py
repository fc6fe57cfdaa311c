"""Marks by which a host says how a text came: typed, pasted, clicked, or made by code.

A mark sits in the message's `additional_kwargs`, so it survives JSON, a queue and re-sending. Marks
only take away: no mark makes a text count as typed that would not count without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from .errors import ConfigurationError, named
from .events import is_name
from .notes import VIAS

MARK = "langmem_credit"
# In a run's config: {"metadata": NOT_TYPED}. Metadata travels with SDK calls and queues too.
NOT_TYPED = {"langmem_credit_typed": False}

# Only the memory itself knows what answers its question.
_MARKABLE = tuple(via for via in VIAS if via != "answer")

_typed_here: ContextVar[bool] = ContextVar("langmem_credit_typed_here", default=True)


@dataclass(frozen=True, slots=True)
class Spoken:
    """One text of a message and how it came.

    Attributes:
        text: unchanged.
        via: one of `notes.VIAS`.
        speaker: who, or None.
        whole: the text of the whole message that it is part of.
    """

    text: str
    via: str = "input"
    speaker: str | None = None
    whole: str = ""


def mark(
    message: HumanMessage | str,
    *,
    via: str | None = None,
    speaker: str | None = None,
    typed: Sequence[str] | None = None,
) -> HumanMessage:
    """A copy of the message that says how its text came.

    Args:
        message: the message, or its text, of which a message is made. Nothing else can be marked:
            not what an agent or a tool said, and no dict.
        via: "prefill", "click", "paste", "voice", "other_speaker" or "edited"; "input" (typed) is
            the default.
        speaker: who typed it, where several people share a thread.
        typed: the parts that were typed, in order; the rest of the text counts as pasted.

    Raises:
        ConfigurationError: something else than a person's message, nothing to say of it, an
            unknown `via`, a speaker without a name, or a typed part that the text does not
            contain.
    """
    if not isinstance(message, HumanMessage | str):
        raise ConfigurationError(
            f"mark() takes a HumanMessage or its text, not {named(message)}. Only what a person "
            "sent can be marked: mark(HumanMessage(…), …)."
        )
    marked = HumanMessage(message) if isinstance(message, str) else message
    said: dict[str, Any] = {}
    if via is not None:
        said["via"] = _checked_via(via)
    if speaker is not None:
        said["speaker"] = _checked_speaker(speaker)
    if typed is not None:
        said["typed"] = _checked_parts(text_of(marked.content), typed)
    if not said:
        raise ConfigurationError(
            f"mark() was told nothing about the message. Pass via= (one of {', '.join(_MARKABLE)}),"
            " speaker= (a name), or typed= (the parts that were typed)."
        )
    return _with_mark(marked, said)


def mark_code(message: HumanMessage) -> HumanMessage:
    """A copy of the message that says: code made this, nobody typed it."""
    return _with_mark(message, {"code": True})


@contextmanager
def not_typed() -> Iterator[None]:
    """Within it, no graph that is started counts its input as typed.

    For a thread or executor of your own that starts an agent with text a model wrote: a new thread
    knows nothing of the run that started it, so its graph looks like one that a person started.
    Enter it inside the thread's function.
    """
    token = _typed_here.set(False)
    try:
        yield
    finally:
        _typed_here.reset(token)


def typed_here(metadata: Mapping[str, Any] | None) -> bool:
    """False where the host said that this run's input was not typed."""
    if not _typed_here.get():
        return False
    return not metadata or metadata.get("langmem_credit_typed", True) is True


def made_by_code(message: BaseMessage) -> bool:
    """True for a message that says of itself that code made it."""
    kwargs = message.additional_kwargs
    # "lc_source" is what LangChain's own middleware writes (`get_notification_metadata` reads it).
    if isinstance(kwargs.get("lc_source"), str):
        return True
    said = kwargs.get(MARK)
    return isinstance(said, Mapping) and bool(said.get("code"))


def spoken_in(message: HumanMessage) -> list[Spoken]:
    """The texts of a message, each with how it came; a mark that makes no sense means pasted."""
    whole = text_of(message.content)
    said = message.additional_kwargs.get(MARK)
    speaker = message.name or None
    if said is None:
        return [Spoken(whole, "input" if _is_known(speaker) else "paste", speaker, whole)]
    if not isinstance(said, Mapping):
        return [Spoken(whole, "paste", speaker, whole)]
    if isinstance(said.get("speaker"), str):
        speaker = said["speaker"] or None
    via = said.get("via", "input")
    if via not in VIAS or via == "answer" or not _is_known(speaker):
        via = "paste"
    if said.get("typed") is None:
        return [Spoken(whole, via, speaker, whole)]
    split = _split(whole, said["typed"])
    if split is None:
        return [Spoken(whole, "paste", speaker, whole)]
    return [Spoken(text, via if own else "paste", speaker, whole) for text, own in split]


def text_of(content: object) -> str:
    """The text of a message's content: its text blocks, a line break between them.

    Joined, because a file that a host attached as a block must not stand beside the typed words as
    if it were not there.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = []
    for block in content:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, Mapping) and block.get("type") == "text":
            text = block.get("text")
            texts.append(text if isinstance(text, str) else "")
    return "\n".join(texts)


def _checked_via(via: object) -> str:
    if not isinstance(via, str) or via not in _MARKABLE:
        raise ConfigurationError(f"via={named(via)} is unknown. Use one of {', '.join(_MARKABLE)}.")
    return via


def _checked_speaker(speaker: object) -> str:
    if not isinstance(speaker, str) or not speaker.strip():
        raise ConfigurationError(
            f"speaker={named(speaker)} is no name. Pass who sent the message, as text, or leave "
            "speaker out."
        )
    if not is_name(speaker):
        raise ConfigurationError(
            f"speaker={named(speaker)} cannot be kept as it is, and another name may be somebody "
            "else's. Pass at most 120 visible characters without spaces at the ends, nothing that "
            "looks like a secret."
        )
    return speaker


def _is_known(speaker: str | None) -> bool:
    """False for a name that would be kept as another one, which may be somebody else's."""
    return speaker is None or is_name(speaker)


def _checked_parts(whole: str, typed: object) -> list[str]:
    if not isinstance(typed, list | tuple):
        raise ConfigurationError(
            f"typed must be a list of the parts that were typed, not {named(typed)}. Pass "
            'typed=["…"], or typed=[] where none was.'
        )
    found = len(_starts(whole, typed))
    if found < len(typed):
        raise ConfigurationError(
            f"typed must be parts of the message's text, in their order; part {found + 1} is not: "
            f"{named(typed[found])}. Copy the parts out of the text."
        )
    return list(typed)


def _split(whole: str, parts: object) -> list[tuple[str, bool]] | None:
    """The typed parts and what lies between them; None when the text does not hold them so."""
    if not isinstance(parts, Sequence) or isinstance(parts, str | bytes):
        return None
    starts = _starts(whole, parts)
    if len(starts) < len(parts):
        return None
    pieces: list[tuple[str, bool]] = []
    at = 0
    for part, start in zip(parts, starts, strict=True):
        pieces += [(whole[at:start], False), (part, True)]
        at = start + len(part)
    pieces.append((whole[at:], False))
    return [(text, own) for text, own in pieces if text.strip()]


def _starts(whole: str, parts: Sequence[Any]) -> list[int]:
    """Where the parts stand, one after the other, up to the first that does not."""
    starts: list[int] = []
    at = 0
    for part in parts:
        found = whole.find(part, at) if isinstance(part, str) and part.strip() else -1
        if found < 0:
            break
        starts.append(found)
        at = found + len(part)
    return starts


def _with_mark(message: HumanMessage, said: dict[str, Any]) -> HumanMessage:
    before = message.additional_kwargs.get(MARK)
    kept = {**before, **said} if isinstance(before, Mapping) else said
    kwargs = {**message.additional_kwargs, MARK: kept}
    return message.model_copy(update={"additional_kwargs": kwargs})
