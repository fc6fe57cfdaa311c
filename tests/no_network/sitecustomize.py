"""Refuses every connection past this machine, in any Python that finds this folder on its path.

`tests/conftest.py` loads it for the test process and puts the folder on PYTHONPATH, so that the
processes which tests start refuse as well. An audit hook stands below every Python socket, also
asyncio's, and cannot be taken off again. Sockets that a compiled library opens by itself do not
pass through Python and are not seen.
"""

from __future__ import annotations

import ipaddress
import os
import sys

_WATCHED = {
    # Name of the event, and which of its arguments says where to.
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyaddr": 0,
    "socket.gethostbyname": 0,
    "socket.getnameinfo": 0,
}
_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
# Looked up by servers that want to print their own name.
_OWN_NAME = getattr(os, "uname", lambda: [None, ""])()[1].lower()


class NetworkBlockedError(OSError):
    """A test tried to reach past this machine."""

    def __init__(self, event: str, host: object) -> None:
        self.host = host
        super().__init__(
            f"{event} to {host!r} is blocked: tests reach nothing but loopback. "
            "Use a local server or a scripted stand-in."
        )


def is_local(host: object) -> bool:
    """True for loopback, for no host at all, and for names and addresses of this machine.

    The unspecified address counts: servers bind to it, and to connect to it means this machine.
    """
    if host is None:
        return True
    if isinstance(host, (bytes, bytearray)):
        host = bytes(host).decode("ascii", "replace")
    if not isinstance(host, str):
        return False
    name = host.strip("[]").partition("%")[0].lower()
    if name in _LOCAL_NAMES or name == _OWN_NAME:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    # The standard library does not call ::ffff:127.0.0.1 a loopback address.
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def refuse(event: str, args: tuple[object, ...]) -> None:
    """Raises NetworkBlockedError where an audited socket call leaves this machine."""
    position = _WATCHED.get(event)
    if position is None:
        return
    target = args[position]
    if position == 1 and not isinstance(target, tuple):
        # A Unix socket's path, or None where the socket is connected already.
        return
    if isinstance(target, tuple):
        target = target[0]
    if not is_local(target):
        raise NetworkBlockedError(event, target)


if not getattr(sys, "_langmem_credit_network_blocked", False):
    sys._langmem_credit_network_blocked = True  # type: ignore[attr-defined]
    sys.addaudithook(refuse)
