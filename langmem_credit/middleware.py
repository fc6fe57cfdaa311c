"""The memory as a middleware for `create_agent`.

It has no node of its own, since each node costs a checkpoint in every run: what the run heard, the
settled answers and the frozen digest ride on the model's own step. List it last. Middleware that
replaces the system message and stands after it would take the digest away; a warning says so when
that happens.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, cast

from .errors import ConfigurationError, MissingExtraError

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
    )
    from langchain.agents.middleware.types import PrivateStateAttr
except ImportError as error:
    raise MissingExtraError("The middleware for create_agent", "agents") from error

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.tracers.context import register_configure_hook
from langgraph.config import get_config
from langgraph.types import Command

from . import wiring
from .books import Where, Work, ado, do
from .guard import Guard, is_own
from .heard import HeardRun
from .placement import digest_of, placed
from .session import Session, has_channels
from .settings import Settings
from .settling import Settled, settle_step
from .state import LEDGER, RUN, LedgerChannel, RunChannel
from .tools import create_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

_log = logging.getLogger("langmem_credit")


class CreditedMemoryState(AgentState[Any]):
    """The agent's state with the memory's two channels, which callers neither write nor get."""

    memory_ledger: Annotated[list[dict[str, Any]], LedgerChannel, PrivateStateAttr]
    memory_run: Annotated[dict[str, Any], RunChannel, PrivateStateAttr]


class CreditedMemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Brings the tools, folds the digest into the system message, and guards other tools."""

    state_schema = CreditedMemoryState

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.tools = create_tools(settings)
        self._guard = Guard()

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Calls the model with the digest, and writes what changed."""
        self._check_tools(request)
        step = do(_stepped(self.settings, request))
        if step is None:
            return handler(request)
        with _watched(step.digest):
            response = handler(step.request)
        return step.response(response)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """As `wrap_model_call`."""
        self._check_tools(request)
        step = await ado(_stepped(self.settings, request))
        if step is None:
            return await handler(request)
        with _watched(step.digest):
            response = await handler(step.request)
        return step.response(response)

    def _check_tools(self, request: ModelRequest[Any]) -> None:
        """Warns of tools of a memory that came another way: they may be another memory's."""
        mine = set(map(id, self.tools))
        if any(is_own(tool) and id(tool) not in mine for tool in request.tools):
            wiring.warn_once(wiring.TOOLS_TWICE)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Lets the memory's tools through, and keeps others from its channels."""
        return self._guard.wrap(request, handler)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_tool_call`."""
        return await self._guard.awrap(request, handler)


def _stepped(settings: Settings, request: ModelRequest[Any]) -> Work[_Step | None]:
    """The model call, with all that the memory has to do before it done.

    None where a `Send` gave the model a state without the memory's channels.
    """
    session = Session.read(settings, request.state)
    if session is None and has_channels(_config()):
        wiring.warn_once(wiring.SENT)
        return None
    if session is None:
        raise ConfigurationError(
            "The agent's state lacks the memory's channels. A state_schema given to "
            "create_agent must not declare memory_ledger or memory_run otherwise."
        )
    where = Where.of(request.runtime, _config())
    state = cast("dict[str, Any]", request.state)
    settled, run = yield from settle_step(session, state, where)
    return _Step(settings, request, settled, run)


def _config() -> Any:
    try:
        return get_config()
    except RuntimeError:
        return None


class _Step:
    """One model call: the request as the model gets it, and the update that goes with it."""

    def __init__(
        self, settings: Settings, request: ModelRequest[Any], settled: Settled, run: HeardRun
    ) -> None:
        self._settled = settled
        self._run = run
        self._writer = getattr(request.runtime, "stream_writer", None)
        self.digest = digest_of(self._settled.session.in_run(self._run))
        self.request = request.override(
            system_message=placed(settings, request.system_message, self.digest),
            messages=cast("list[Any]", self._settled.replaced(request.messages)),
        )

    def response(
        self, response: ModelResponse[Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """The model's response, with the memory's update where there is one."""
        # Only now: a model call that failed and is tried again would tell it twice.
        if self._writer is not None:
            for item in self._settled.news:
                self._writer(item)
        update: dict[str, Any] = {}
        if not self._run.recorded:
            update[RUN] = self._run.record()
        if self._settled.events:
            update[LEDGER] = list(self._settled.events)
        if self._settled.messages:
            update["messages"] = list(self._settled.messages)
        if not update:
            return response
        return ExtendedModelResponse(model_response=response, command=Command(update=update))


class _DigestWatch(BaseCallbackHandler):
    """Sees what reaches the model, and warns once when the digest was taken away on the way."""

    run_inline = True

    def __init__(self) -> None:
        self.warned = False

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **_: Any
    ) -> None:
        """Looks for the digest in the system message."""
        digest = _expected.get()
        if self.warned or not digest or not messages:
            return
        system = [message.text for message in messages[0] if isinstance(message, SystemMessage)]
        if not any(digest in text for text in system):
            self.warned = True
            _log.warning(
                "another middleware took the kept notes out of the system message: list the "
                "memory's middleware last"
            )


_expected: ContextVar[str] = ContextVar("langmem_credit_expected_digest", default="")
_watch: ContextVar[_DigestWatch | None] = ContextVar("langmem_credit_watch", default=None)
_the_watch = _DigestWatch()
register_configure_hook(_watch, inheritable=False)


@contextmanager
def _watched(digest: str) -> Iterator[None]:
    expected, watch = _expected.set(digest), _watch.set(_the_watch if digest else None)
    try:
        yield
    finally:
        _watch.reset(watch)
        _expected.reset(expected)
