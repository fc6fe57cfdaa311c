"""The panel on this machine: a server on loopback, and the link that opens it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from langmem_credit.errors import ConfigurationError

from .app import Panel

PORT = 8765
_HOST = "127.0.0.1"


def serve(panel: Panel, *, port: int = PORT, say: Callable[[str], None] = print) -> None:
    """Serves the panel on 127.0.0.1 until it is interrupted, and says the one-time link.

    Args:
        panel: of `create_panel`.
        port: 0 for any that is free.
        say: takes the lines for the person.

    Raises:
        ConfigurationError: the port cannot be had.
    """
    with _listening(port) as listener:
        address = f"http://{_HOST}:{listener.getsockname()[1]}"
        if panel.entrance is None:
            say(f"The review panel is at {address}.")
        else:
            say(f"Open this link once, in the browser that is to review:\n{panel.link(address)}")
        say("Ctrl-C ends it.")
        # No access log: it would hold the link.
        options = uvicorn.Config(
            panel, log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        asyncio.run(uvicorn.Server(options).serve([listener]))


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    try:
        # A panel that was just ended may be started again at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_HOST, port))
        # Before the link is said, so that whoever opens it at once is waited on.
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigurationError(
            f"Port {port} of {_HOST} cannot be had: {error}. Pass another one, or 0 for any."
        ) from error
    return listener
