"""Closing a session, from the host's code or as a node, with or without a chat model.

The model that writes the outcome never sees a note of the person's: not the digest, and no tool's
answer. What it says streams to nobody.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import InvalidUpdateError
from langgraph.types import StateSnapshot

from . import host
from .access import NO_CHANNELS, OpenedGraph
from .books import Where, ado, do
from .ending import Closed, ending, older_facts, opened_books, said_in, target_of
from .errors import ConfigurationError, UnknownSessionError, named
from .marks import not_typed
from .owners import NOBODY, owner_in_run
from .runs import stored_run
from .session import Session
from .settings import Settings
from .state import LEDGER, RUN
from .summary import INSTRUCTIONS, SCHEMA, Summary, conversation_text

_CONFIG: RunnableConfig = {
    "tags": [TAG_NOSTREAM],
    "metadata": {"lc_source": "langmem_credit_closing"},
}


def close(settings: Settings, graph: OpenedGraph, config: Any, model: Any, where: Where) -> Closed:
    """Closes the thread's session, from the host's code."""
    writer = _writer(model)
    session = do(opened_books(_session_of(settings, graph.get_state(config), config, where), where))
    with not_typed():
        reply = _ask(writer, session)
    events, closed = do(ending(session, reply))
    if events:
        try:
            graph.update_state(config, {LEDGER: events})
        except InvalidUpdateError as error:
            raise host.not_written(error) from error
        host.check_kept(host.events_of(graph.get_state(config)), events)
    return closed


async def aclose(
    settings: Settings, graph: OpenedGraph, config: Any, model: Any, where: Where
) -> Closed:
    """As `close`."""
    writer = _writer(model)
    session = await ado(
        opened_books(_session_of(settings, await graph.aget_state(config), config, where), where)
    )
    with not_typed():
        reply = await _aask(writer, session)
    events, closed = await ado(ending(session, reply))
    if events:
        try:
            await graph.aupdate_state(config, {LEDGER: events})
        except InvalidUpdateError as error:
            raise host.not_written(error) from error
        host.check_kept(host.events_of(await graph.aget_state(config)), events)
    return closed


def create_closing_node(settings: Settings, model: Any) -> Runnable[Any, dict[str, Any]]:
    """A node that closes the session of the thread it runs in."""
    writer = _writer(model)

    def closing(state: Any, config: RunnableConfig) -> dict[str, Any]:
        where = Where.of(None, config)
        session = do(opened_books(_session_in(settings, state, config), where))
        events, _ = do(ending(session, _ask(writer, session)))
        return {LEDGER: events} if events else {}

    async def aclosing(state: Any, config: RunnableConfig) -> dict[str, Any]:
        where = Where.of(None, config)
        session = await ado(opened_books(_session_in(settings, state, config), where))
        events, _ = await ado(ending(session, await _aask(writer, session)))
        return {LEDGER: events} if events else {}

    return RunnableLambda(closing, afunc=aclosing, name="close_session")


Writer = Runnable[Any, Any]


def _writer(model: Any) -> Writer | None:
    if model is None:
        return None
    try:
        writer: Writer = model.with_structured_output(SCHEMA)
    except (AttributeError, NotImplementedError) as error:
        raise ConfigurationError(
            f"A session is closed with a chat model that gives structured output, not "
            f"{named(model)}. Pass one that can call tools, or None for the title as outcome."
        ) from error
    return writer


def _ask(writer: Writer | None, session: Session) -> object:
    if writer is None or not said_in(session.messages):
        return None
    try:
        return _answer(writer.invoke(_prompt(session), _CONFIG))
    except Exception as error:  # noqa: BLE001 - each provider raises errors of its own
        return Summary(problem=f"The model failed ({type(error).__name__}).")


async def _aask(writer: Writer | None, session: Session) -> object:
    if writer is None or not said_in(session.messages):
        return None
    try:
        return _answer(await writer.ainvoke(_prompt(session), _CONFIG))
    except Exception as error:  # noqa: BLE001 - each provider raises errors of its own
        return Summary(problem=f"The model failed ({type(error).__name__}).")


def _answer(reply: object) -> object:
    # None stands for a session that is closed without a model.
    return Summary(problem="The model gave no structured output.") if reply is None else reply


def _prompt(session: Session) -> list[BaseMessage]:
    text = conversation_text(said_in(session.messages), older_facts(target_of(session)))
    return [SystemMessage(INSTRUCTIONS), HumanMessage(text)]


def _session_in(settings: Settings, state: Any, config: Any) -> Session:
    session = Session.read(settings, state, config)
    if session is None:
        raise ConfigurationError(NO_CHANNELS)
    return session


def _session_of(settings: Settings, snapshot: StateSnapshot, config: Any, where: Where) -> Session:
    events = host.events_of(snapshot)
    host.check_settled(snapshot)
    _check_owner(settings, snapshot, config, where)
    state = {"messages": [], RUN: {}, **(snapshot.values or {}), LEDGER: events}
    session = _session_in(settings, state, config)
    return session.in_run(replace(session.run, heard=stored_run(state[RUN]).heard))


def _check_owner(settings: Settings, snapshot: StateSnapshot, config: Any, where: Where) -> None:
    """Lets a caller pass who names nobody, and so opens nobody's scope, or whose the session is."""
    owner = owner_in_run(settings, where.values)
    record = (snapshot.values or {}).get(RUN) or {}
    if owner not in ("", NOBODY) and record and record.get("whose", "") != owner:
        raise UnknownSessionError(config["configurable"]["thread_id"])
