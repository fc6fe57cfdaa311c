"""The review panel: a person reads, confirms, corrects and forgets notes in a browser.

It is an ASGI app of server-rendered pages and plain forms, without script. It decides through the
memory's own methods and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langmem_credit.errors import MissingExtraError

if TYPE_CHECKING:
    from langmem_credit.memory import CreditedMemory

    from .app import Panel

# Names by which a browser on this machine reaches it.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def create_panel(
    memory: CreditedMemory,
    graph: Any,
    *,
    person: Mapping[str, str] | Callable[[Any], Any],
    sessions: Callable[[Mapping[str, str]], Iterable[str]] | None = None,
    hosts: Sequence[str] = LOOPBACK,
    secret: str | bytes | None = None,
) -> Panel:
    """The panel over a graph's notes, as an ASGI app.

    Args:
        memory: that the graph was built with.
        graph: compiled, with the checkpointer and the store that hold the notes.
        person: whose notes. A mapping, such as `{"user_id": "me"}`, is one person, who comes in by
            the one-time link. A function of the request (sync or async) is your own sign-in: it
            gives the values of whoever is signed in, or None; there is no link then.
        sessions: ids of the threads that these values may see, newest first. Without it only the
            shared scopes are shown.
        hosts: names, without a port, that the panel answers to. Any other `Host` is refused.
        secret: makes the forms' tokens; the same text in every process that serves one panel.
            Left out, it is made anew, and forms of an earlier process are refused.

    Raises:
        ConfigurationError: something does not fit.
        MissingExtraError: Starlette or Jinja is not installed.
    """
    try:
        from .app import Panel
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "jinja2"):
            raise
        raise MissingExtraError("The review panel", "panel") from error
    return Panel.over(memory, graph, person=person, sessions=sessions, hosts=hosts, secret=secret)
