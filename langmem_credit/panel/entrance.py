"""Who may come in, and which forms are the panel's own: a one-time link, a cookie, form tokens."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from threading import Lock

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?", re.I)
COOKIE = "langmem_panel"
# A cookie of ours; anything else is no cookie of ours.
_TICKET = re.compile(r"[A-Za-z0-9_-]{43}")


class Entrance:
    """A link that lets one browser in, once.

    Attributes:
        token: that the link carries.
        cookie: name of the cookie. Browsers keep one jar for all ports of a machine, so that
            another panel's cookie must have another name.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"{COOKIE}_{secrets.token_hex(4)}"
        self._ticket: str | None = None
        self._used = False
        self._lock = Lock()

    def enter(self, token: str) -> str | None:
        """The ticket for the browser's cookie; None for a wrong token or one that was used."""
        with self._lock:
            if self._used or not _same(token, self.token):
                return None
            self._used = True
            self._ticket = new_ticket()
            return self._ticket

    def admits(self, ticket: str) -> bool:
        """True for the ticket that was given out."""
        return self._ticket is not None and _same(ticket, self._ticket)


class Seals:
    """Marks what this panel made for one browser, so that nothing else can be passed off as it."""

    def __init__(self, secret: str | bytes | None = None) -> None:
        raw = secret.encode() if isinstance(secret, str) else secret
        self._secret = raw or secrets.token_bytes(32)

    def seal(self, ticket: str, purpose: str, *parts: str) -> str:
        """The mark of these parts; no part can stand for another."""
        digest = hmac.new(self._secret, digestmod=hashlib.sha256)
        for part in (ticket, purpose, *parts):
            raw = part.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(8) + raw)
        return digest.hexdigest()

    def holds(self, seal: str, ticket: str, purpose: str, *parts: str) -> bool:
        """True where the mark is that of the parts."""
        return _same(seal, self.seal(ticket, purpose, *parts))


def new_ticket() -> str:
    """What a browser's cookie holds."""
    return secrets.token_urlsafe(32)


def is_ticket(value: str) -> bool:
    """True for what `new_ticket` could have made."""
    return _TICKET.fullmatch(value) is not None


def host_name(host: str) -> str | None:
    """The name in a `Host` header, in lower case and without the port; None for what is none.

    >>> host_name("LOCALHOST:8000"), host_name("[::1]:80"), host_name("a b")
    ('localhost', '[::1]', None)
    """
    match = _HOST.fullmatch(host)
    return match.group(1).lower() if match else None


def is_own_origin(origin: str | None, site: str | None, host: str) -> bool:
    """True where a browser says that a form was sent from the panel's own pages.

    Args:
        origin: the header `Origin`, or None.
        site: the header `Sec-Fetch-Site`, or None; it counts where there is no origin.
        host: the header `Host`.

    >>> is_own_origin("http://evil.example", None, "localhost:8000")
    False
    """
    if site not in (None, "same-origin", "none"):
        return False
    if origin is None:
        return site == "same-origin"
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(
        one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    )
