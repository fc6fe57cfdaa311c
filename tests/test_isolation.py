"""The tests' own surroundings: nothing reaches past this machine, nothing reports home."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

# A documentation address: nobody answers there, so a block that is missing shows as a time-out.
ELSEWHERE = "192.0.2.1"


def test_connecting_elsewhere_is_refused() -> None:
    with socket.socket() as client, pytest.raises(OSError, match="is blocked"):
        client.connect((ELSEWHERE, 80))


def test_connecting_elsewhere_without_an_exception_is_refused_too() -> None:
    with socket.socket() as client, pytest.raises(OSError, match="is blocked"):
        client.connect_ex((ELSEWHERE, 80))


def test_connecting_elsewhere_by_version_6_is_refused() -> None:
    with (
        socket.socket(socket.AF_INET6) as client,
        pytest.raises(OSError, match="is blocked"),
    ):
        client.connect(("2001:db8::1", 80))


def test_a_datagram_to_elsewhere_is_refused() -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as client,
        pytest.raises(OSError, match="is blocked"),
    ):
        client.sendto(b"x", (ELSEWHERE, 53))


def test_a_message_to_elsewhere_is_refused() -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as client,
        pytest.raises(OSError, match="is blocked"),
    ):
        client.sendmsg([b"x"], [], 0, (ELSEWHERE, 53))


def test_looking_a_name_up_is_refused() -> None:
    with pytest.raises(OSError, match="is blocked"):
        socket.getaddrinfo("service.example", 443)


def test_looking_an_address_up_is_refused() -> None:
    with pytest.raises(OSError, match="is blocked"):
        socket.gethostbyaddr(ELSEWHERE)


async def test_asyncio_is_refused_as_well() -> None:
    with pytest.raises(OSError, match="is blocked"):
        await asyncio.open_connection(ELSEWHERE, 80)


def test_a_process_started_by_a_test_is_refused_as_well() -> None:
    code = f"import socket; socket.create_connection(({ELSEWHERE!r}, 80), timeout=5)"
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert child.returncode == 1
    assert "is blocked" in child.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.53"])
def test_loopback_is_reached(host: str) -> None:
    with socket.create_server((host, 0)) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()


def test_a_pair_of_sockets_inside_one_process_works() -> None:
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"x")
        assert right.recv(1) == b"x"


def test_tracing_is_off() -> None:
    from langsmith.utils import tracing_is_enabled

    assert tracing_is_enabled() is False


def test_no_key_is_left_in_the_environment() -> None:
    assert [name for name in os.environ if name.endswith("_API_KEY")] == []


def test_no_proxy_is_left_in_the_environment() -> None:
    proxies = {name for name in os.environ if name.lower().endswith("_proxy")}
    assert proxies == {"NO_PROXY"}


def test_the_home_folder_is_a_temporary_one() -> None:
    assert Path.home().name.startswith("langmem-credit-home-")
