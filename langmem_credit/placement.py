"""The digest's place in the system message: after the persona, as a content block of its own."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import SystemMessage

from .recent import DIGESTS
from .session import Session
from .settings import Settings


def digest_of(session: Session) -> str:
    """The digest of this run; "" when there is nothing to show."""
    run, limits = session.run, session.settings.limits
    return DIGESTS.of(session.frozen_notebook(), run.as_of, run.speaker, limits)


def placed(
    settings: Settings, system: SystemMessage | str | None, digest: str
) -> SystemMessage | None:
    """The system message with the digest behind what it says; the same one without a digest."""
    if isinstance(system, str):
        system = SystemMessage(system)
    if not digest:
        return system
    before = [] if system is None else _blocks(system.content)
    # Some providers glue the blocks together.
    block: dict[str, Any] = {"type": "text", "text": f"\n\n{digest}" if before else digest}
    if settings.cache_control is not None:
        block["cache_control"] = dict(settings.cache_control)
    if system is None:
        return SystemMessage(content=[block])
    return system.model_copy(update={"content": [*before, block]})


def _blocks(content: str | list[str | dict[str, Any]]) -> list[str | dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)
