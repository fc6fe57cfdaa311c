"""Headless Chromium, driven by its own DevTools protocol: real clicks, real pages.

It needs Chromium and, for readable screenshots, fonts. On Debian:

    apt-get update && apt-get install chromium fonts-noto-core fonts-noto-cjk
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

NEEDED = "Chromium is not installed: apt-get update && apt-get install chromium"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    # Everything runs as one user in a container, where Chromium's own sandbox cannot start.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
)
_SECONDS = 30.0


def program() -> str:
    """Where Chromium is; the test is skipped without it, but never where everything is to run."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found:
        return found
    if os.environ.get("CI"):
        pytest.fail(NEEDED)
    pytest.skip(NEEDED)


@contextmanager
def chromium() -> Iterator[Chromium]:
    """One browser without a screen, with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [program(), *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port = Path(folder, "DevToolsActivePort")
            until(lambda: port.exists() and len(port.read_text().splitlines()) == 2)
            number, path = port.read_text().splitlines()
            address = f"ws://127.0.0.1:{number}{path}"
            with connect(address, max_size=None, proxy=None) as socket:
                yield Chromium(socket)
        finally:
            process.terminate()
            process.wait(_SECONDS)


class Chromium:
    """The browser; `tab` opens a page of it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)

    def tab(self) -> Tab:
        """A new tab that shares no cookie with the others."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank", browserContextId=context)
        attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        tab = Tab(self, attached["sessionId"])
        tab.ask("Page.enable")
        return tab

    def ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """The answer to one command of the protocol."""
        number = next(self._numbers)
        order: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            order["sessionId"] = session
        self._socket.send(json.dumps(order))
        while True:
            answer = json.loads(self._socket.recv(_SECONDS))
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])


class Tab:
    """One page in the browser."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser = browser
        self._session = session

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.ask(method, self._session, **params)

    def open(self, address: str) -> None:
        """Goes there and waits until the page is there."""
        answer = self.ask("Page.navigate", url=address)
        assert "errorText" not in answer, answer
        self.settle()

    def settle(self) -> None:
        until(lambda: self.js("document.readyState") == "complete")

    def js(self, expression: str) -> Any:
        """The value of an expression in the page, a promise's once it is kept."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    @property
    def text(self) -> str:
        """What a person reads."""
        return str(self.js("document.body.innerText"))

    def click(self, selector: str) -> None:
        """A real click of the mouse on the first such element, and what it leads to."""
        self.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView()")
        box = self.js(
            f"(r => ({{x: r.x + r.width / 2, y: r.y + r.height / 2}}))"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        self.js("window.leftBehind = true")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **box)

    def click_through(self, selector: str) -> None:
        """A click that leads to another page."""
        self.click(selector)
        self._arrive()

    def press(self, key: str, code: int) -> None:
        """One key of the keyboard."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text
            )

    def press_through(self, key: str, code: int) -> None:
        """A key that leads to another page."""
        self.js("window.leftBehind = true")
        self.press(key, code)
        self._arrive()

    def type(self, text: str) -> None:
        """Types at the keyboard's place."""
        self.ask("Input.insertText", text=text)

    def look(self, width: int, *, dark: bool = False) -> None:
        """The page as on a screen so wide."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.ask(
            "Page.captureScreenshot",
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"]},
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    def _arrive(self) -> None:
        until(lambda: self.js("window.leftBehind") is not True)
        self.settle()


def until(holds: Any) -> None:
    """Waits until it holds."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        try:
            if holds():
                return
        except AssertionError:
            # Between two pages there is nothing to ask.
            pass
        time.sleep(0.05)
    raise AssertionError("it did not come to hold in time")
