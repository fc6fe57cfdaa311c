"""Compaction of the messages: what the memory keeps when a summary takes their place.

The ledger, what the run heard and the digest are no messages, so they survive by themselves. What
is done here, in the very step that compacts: findings that the host's code draws from what goes are
kept, with the files that it touched, and the digest is rendered again, since the messages begin
anew in any case.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.base import coerce_to_runnable
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from . import wiring
from .books import Where, Work, ado, do
from .bounds import refusal, shrink
from .ending import files_of
from .enrolling import enrol
from .errors import ConfigurationError, RefusedWriteError, named
from .heard import first_of, is_summary
from .marks import text_of
from .notes import utc_now
from .placement import fixed
from .session import Session, as_mapping
from .settings import Settings
from .state import LEDGER, RUN, issue_events
from .unsaid import found, touched

_log = logging.getLogger("langmem_credit")

# Takes the messages that go and the summary that stands for them; gives findings as texts.
Find = Callable[[Sequence[BaseMessage], str], "Iterable[str] | Awaitable[Iterable[str]]"]

MOST_FINDINGS = 8


@dataclass(frozen=True, slots=True)
class _Compaction:
    """What a step takes away.

    Attributes:
        gone: the messages that the summary stands for, oldest first.
        summary: its text, or "".
        first: id of the first message of the state after it.
        removed: the state loses the messages, and not only the model's view of them.
    """

    gone: list[BaseMessage]
    summary: str
    first: str
    removed: bool


def compacting(settings: Settings, compactor: Any, find: Find | None) -> Any:
    """The compactor, a middleware or a node, with the memory's part done in its step.

    Raises:
        ConfigurationError: it is neither, or a middleware that does not compact before the model.
    """
    if find is not None and not callable(find):
        raise ConfigurationError(
            f"find={named(find)} cannot be called. Pass a function of the messages that go and "
            "their summary, which gives findings as texts."
        )
    if not isinstance(compactor, type) and callable(getattr(compactor, "before_model", None)):
        return _compacting_middleware(settings, compactor, find)
    if isinstance(compactor, type) or not (isinstance(compactor, Runnable) or callable(compactor)):
        raise ConfigurationError(
            f"memory.compacting() takes a middleware or a node that compacts messages, not "
            f"{named(compactor)}. Pass SummarizationMiddleware(…) or SummarizationNode(…)."
        )
    return _compacting_node(settings, coerce_to_runnable(compactor), find)


def _compacting_node(
    settings: Settings, node: Runnable[Any, Any], find: Find | None
) -> Runnable[Any, Any]:
    def compact(state: Any, config: RunnableConfig) -> Any:
        return _noted(settings, find, state, node.invoke(state, config), Where.of(None, config))

    async def acompact(state: Any, config: RunnableConfig) -> Any:
        update = await node.ainvoke(state, config)
        return await _anoted(settings, find, state, update, Where.of(None, config))

    return RunnableLambda(compact, afunc=acompact, name=getattr(node, "name", None) or "compact")


def _compacting_middleware(settings: Settings, middleware: Any, find: Find | None) -> Any:
    """A copy of the middleware whose hook before the model does the memory's part too."""
    kind = type(middleware)
    has_sync, has_async = _is_own(kind, "before_model"), _is_own(kind, "abefore_model")
    if not (has_sync or has_async):
        raise ConfigurationError(
            f"{kind.__name__} does not compact before the model, so memory.compacting() cannot "
            "see it. List it as it is: notes and digest survive it all the same."
        )
    hooks: dict[str, Any] = {}
    if has_sync:

        @wraps(kind.before_model)
        def before_model(self: Any, state: Any, runtime: Any) -> Any:
            update = kind.before_model(self, state, runtime)
            return _noted(settings, find, state, update, Where.of(runtime, get_config()))

        hooks["before_model"] = before_model

    @wraps(kind.abefore_model if has_async else kind.before_model)
    async def abefore_model(self: Any, state: Any, runtime: Any) -> Any:
        if has_async:
            update = await kind.abefore_model(self, state, runtime)
        else:
            update = await asyncio.to_thread(kind.before_model, self, state, runtime)
        return await _anoted(settings, find, state, update, Where.of(runtime, get_config()))

    hooks["abefore_model"] = abefore_model
    wrapped = copy.copy(middleware)
    # The same name, so that nodes and checkpoints of the agent keep theirs.
    wrapped.__class__ = type(kind.__name__, (kind,), hooks)
    return wrapped


def _is_own(kind: type[Any], hook: str) -> bool:
    """True where the class has a hook of its own, and not the empty one of LangChain's base."""
    function = getattr(kind, hook, None)
    return function is not None and function.__qualname__ != f"AgentMiddleware.{hook}"


def _noted(settings: Settings, find: Find | None, state: Any, update: Any, where: Where) -> Any:
    values = as_mapping(state)
    compaction = _compaction(values, update)
    if compaction is None:
        return update
    texts = _asked(find, compaction)
    if inspect.isawaitable(texts):
        if inspect.iscoroutine(texts):
            texts.close()
        raise ConfigurationError(
            "find is asynchronous and this run is not. Pass a plain function, or run the graph "
            "with ainvoke or astream."
        )
    return {**update, **do(_kept(settings, values, compaction, _texts(texts), where))}


async def _anoted(
    settings: Settings, find: Find | None, state: Any, update: Any, where: Where
) -> Any:
    values = as_mapping(state)
    compaction = _compaction(values, update)
    if compaction is None:
        return update
    texts = await asyncio.to_thread(_asked, find, compaction)
    if inspect.isawaitable(texts):
        try:
            texts = await texts
        except Exception as error:  # noqa: BLE001 - the host's code; the run goes on
            texts = _failed(error)
    return {**update, **await ado(_kept(settings, values, compaction, _texts(texts), where))}


def _asked(find: Find | None, compaction: _Compaction) -> Any:
    if find is None:
        return []
    try:
        return find(list(compaction.gone), compaction.summary)
    except Exception as error:  # noqa: BLE001 - the host's code; the run goes on
        return _failed(error)


def _failed(error: Exception) -> list[str]:
    # Not its message, which may quote what was said.
    _log.warning("no findings at a compaction: find failed (%s)", type(error).__name__)
    return []


def _texts(found_texts: Any) -> list[str]:
    """What was found, as far as it is text: at most eight."""
    if isinstance(found_texts, str):
        found_texts = [found_texts]
    if not isinstance(found_texts, Iterable) or isinstance(found_texts, Mapping):
        if found_texts is not None:
            _log.warning("no findings at a compaction: find gave no list of texts")
        return []
    texts = [text for text in found_texts if isinstance(text, str) and text.strip()]
    if len(texts) > MOST_FINDINGS:
        _log.warning("kept the first %d of %d findings", MOST_FINDINGS, len(texts))
    return texts[:MOST_FINDINGS]


def _compaction(values: Mapping[str, Any], update: Any) -> _Compaction | None:
    """What the update takes away; None where it compacts nothing."""
    if not isinstance(update, Mapping):
        return None
    messages = [m for m in values.get("messages") or [] if isinstance(m, BaseMessage)]
    written = update.get("messages")
    written = written if isinstance(written, list) else []
    removals = {message.id for message in written if isinstance(message, RemoveMessage)}
    stay = [one for one in written if isinstance(one, BaseMessage) and one.id not in removals]
    summary = _running_summary(update)
    text = str(getattr(summary, "summary", "") or "") or _summary_in(stay)
    left = messages
    if REMOVE_ALL_MESSAGES in removals:
        _give_ids(stay)
        left = stay
    elif removals:
        left = [message for message in messages if message.id not in removals]
    kept = {message.id for message in left}
    gone = [message for message in messages if message.id not in kept]
    # A summary that is only written anew takes nothing away.
    if not all(map(is_summary, gone)):
        return _Compaction(gone, text, first_of(left), True)
    last, before = _last_in(summary), _last_in(_running_summary(values))
    if last and last != before:
        return _Compaction(_between(messages, before, last), text, first_of(messages), False)
    return None


def _running_summary(values: Mapping[str, Any]) -> Any:
    """Langmem's account of what it has summarised, wherever the state keeps it."""
    for value in values.values():
        inner = value.values() if isinstance(value, Mapping) else [value]
        for one in inner:
            if hasattr(one, "last_summarized_message_id"):
                return one
    return None


def _last_in(summary: Any) -> str:
    return getattr(summary, "last_summarized_message_id", None) or ""


def _between(messages: Sequence[BaseMessage], before: str, last: str) -> list[BaseMessage]:
    ids = [message.id for message in messages]
    start = ids.index(before) + 1 if before in ids else 0
    end = ids.index(last) + 1 if last in ids else start
    return list(messages[start:end])


def _summary_in(messages: Sequence[BaseMessage]) -> str:
    return next((text_of(one.content) for one in messages if is_summary(one)), "")


def _give_ids(messages: Iterable[BaseMessage]) -> None:
    # As LangGraph would a moment later; the run's record names the first one.
    for message in messages:
        if message.id is None:
            message.id = str(uuid.uuid4())


def _kept(
    settings: Settings,
    values: Mapping[str, Any],
    compaction: _Compaction,
    texts: Sequence[str],
    where: Where,
) -> Work[dict[str, Any]]:
    """Update with the findings, the files, and the run with its digest rendered again."""
    session = Session.read(settings, values)
    if session is None:
        wiring.warn_once(wiring.NO_CHANNELS)
        return {}
    before = session
    for text in texts:
        session = _with_finding(session, text)
    files = files_of(session, compaction.gone) if compaction.removed else []
    if files and files != files_of(session, []):
        session = session.with_events([touched(files, at=session.next_moment())])
    events = session.new_since(before)
    events += shrink(session.events, settings.limits, until=before.run.as_of)
    as_of = max(utc_now(), before.run.as_of, *(event.get("at", "") for event in events), "")
    run = replace(
        before.run, as_of=as_of, first=compaction.first, recorded=False, digest=None, gone=()
    )
    moved = yield from fixed(session.in_run(run), where, values.get(RUN))
    # The record of this step may be the run's first: it must say whose the run is.
    run = yield from enrol(moved, where, values.get(RUN))
    update: dict[str, Any] = {RUN: run.record()}
    if events:
        update[LEDGER] = issue_events(events)
    return update


def _with_finding(session: Session, text: str) -> Session:
    limits = session.settings.limits
    if session.same_text(text.strip(), finding=True) is not None:
        return session
    try:
        event = found(
            text,
            at=session.next_moment(),
            by=session.settings.agent_name,
            thread=session.thread,
            taken=session.notebook.notes,
            limits=limits,
        )
    except RefusedWriteError:
        _log.warning("a finding at a compaction was not kept: it is empty or too long")
        return session
    if refusal(session.notebook, event, limits):
        _log.warning("a finding at a compaction was not kept: there is no room for it")
        return session
    return session.with_events([event])
