"""A real `langgraph dev` over a folder that the tests write."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.project_support import ROOT

GRAPH = '''\
"""An agent with memory, as a host of a server exports it, and one that tries the server's store."""

import asyncio
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from langmem_credit import CreditedMemory, Scope
from langmem_credit.commands.agent import build_agent
from langmem_credit.commands.stand_in import StandInModel
from tests import store_support

memory = CreditedMemory(scopes=[Scope("user", ("memories", "{user_id}"))])
agent = build_agent(memory, StandInModel(), None)


class State(TypedDict, total=False):
    passed: int
    failed: list[str]


class Reports:
    def __init__(self) -> None:
        self.passed, self.failed = 0, []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(f"{report.nodeid} {report.longreprtext}")
        elif report.when == "call" and report.passed:
            self.passed += 1


async def keep_contract(state: State, runtime: Runtime) -> State:
    loop = asyncio.get_running_loop()
    store_support.injected = store_support.Backend(runtime.store, loop)
    reports = Reports()
    # The server has imported some of the tests' modules before pytest could.
    command = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "-k", "TestServerStore", CONTRACT]
    await asyncio.to_thread(pytest.main, command, [reports])
    return {"passed": reports.passed, "failed": reports.failed}


builder = StateGraph(State)
builder.add_node("keep_contract", keep_contract)
builder.add_edge(START, "keep_contract")
builder.add_edge("keep_contract", END)
contract = builder.compile()
'''
AUTH = '''\
"""Whoever sends a name is signed in under it; the memory's part of the store is closed."""

from langgraph_sdk import Auth

from langmem_credit import Scope, create_store_rule

auth = Auth()


@auth.authenticate
async def sign_in(authorization: str | None) -> dict:
    if not authorization:
        raise Auth.exceptions.HTTPException(status_code=401, detail="who are you?")
    return {"identity": authorization.removeprefix("Bearer ")}


auth.on.store(create_store_rule([Scope("user", ("memories", "{user_id}"))]))
'''


class DevServer:
    """`langgraph dev` on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Writes the folder and waits until the server answers."""
        contract = ROOT / "tests" / "test_shared_ledger_contract.py"
        graph = GRAPH.replace("CONTRACT]", f"{str(contract)!r}]")
        (self.folder / "graph.py").write_text(graph, encoding="utf-8")
        (self.folder / "auth.py").write_text(AUTH, encoding="utf-8")
        config: dict[str, Any] = {
            "dependencies": ["."],
            "graphs": {"agent": "./graph.py:agent", "contract": "./graph.py:contract"},
            "auth": {"path": "./auth.py:auth"},
        }
        (self.folder / "langgraph.json").write_text(json.dumps(config), encoding="utf-8")
        command = [
            Path(sys.executable).with_name("langgraph"),
            "dev",
            *("--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(self.port)),
            *("--config", self.folder / "langgraph.json"),
        ]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ['PYTHONPATH']}"}
        log = (self.folder / "server.log").open("wb")
        self._process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/ok", timeout=2).close()
                return
            time.sleep(0.1)
        raise TimeoutError(f"the server did not start:\n{self.log()}")

    def log(self) -> str:
        """The last of what it printed."""
        return (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")[-4_000:]

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=30)
            self._process = None
