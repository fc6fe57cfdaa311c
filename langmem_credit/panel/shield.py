"""What every request passes and every answer carries, whatever the page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .entrance import host_name, is_own_origin

# No script at all, nothing from elsewhere, no frame around it, no form to elsewhere.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Without a referrer of its own a browser sends forms with the origin "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Shield:
    """An app behind it answers to its own names only, and takes forms from its own pages only.

    Attributes:
        app: behind it.
        hosts: names, without a port.
    """

    app: ASGIApp
    hosts: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        problem = self._problem(scope)
        answer = self.app if problem is None else problem
        await answer(scope, receive, guarded)

    def _problem(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or host_name(hosts[0]) not in self.hosts:
            # A page elsewhere may have had its name lead here.
            return PlainTextResponse("This panel does not answer to that host name.", 421)
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return PlainTextResponse("This panel knows GET and POST only.", 405)
        if not is_own_origin(headers.get("origin"), headers.get("sec-fetch-site"), hosts[0]):
            return PlainTextResponse("This form was not sent from the panel's own pages.", 403)
        return None
