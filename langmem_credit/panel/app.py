"""The panel as one ASGI app, its options checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.types import Receive, Scope, Send

from langmem_credit.access import check_compiled
from langmem_credit.errors import ConfigurationError, named
from langmem_credit.memory import CreditedMemory

from .doors import Doors, Person, Sessions, is_person
from .entrance import Entrance, Seals
from .shield import Shield


@dataclass(frozen=True, slots=True)
class Panel:
    """The panel; give it to any ASGI server, or mount it in another app.

    Attributes:
        app: behind its shield.
        entrance: of the one-time link; None where the host signs people in.
    """

    app: Shield
    entrance: Entrance | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        await self.app(scope, receive, send)

    def link(self, address: str) -> str:
        """What to open in a browser, once, for a panel at this address.

        Raises:
            ConfigurationError: the host signs people in, so that there is no link.
        """
        if self.entrance is None:
            raise ConfigurationError(
                "This panel has no link: your own sign-in says who comes in. Open its address."
            )
        return f"{address.rstrip('/')}/enter?{urlencode({'token': self.entrance.token})}"

    @classmethod
    def over(
        cls,
        memory: CreditedMemory,
        graph: Any,
        *,
        person: Person,
        sessions: Sessions | None,
        hosts: Sequence[str],
        secret: str | bytes | None,
    ) -> Panel:
        """As `create_panel`."""
        _check(memory, graph, person, sessions, hosts, secret)
        entrance = None if callable(person) else Entrance()
        doors = Doors(memory, graph, person, sessions, entrance, Seals(secret))
        return cls(Shield(doors.app(), frozenset(host.lower() for host in hosts)), entrance)


def _check(
    memory: object, graph: Any, person: object, sessions: object, hosts: object, secret: object
) -> None:
    if not isinstance(memory, CreditedMemory):
        raise ConfigurationError(
            f"create_panel needs the memory first, not {named(memory)}. Call "
            "create_panel(memory, graph, person=…)."
        )
    check_compiled(graph, "create_panel")
    if isinstance(graph, type) or not callable(getattr(graph, "get_state", None)):
        raise ConfigurationError(
            f"create_panel needs the compiled graph second, not {named(graph)}. Pass what "
            "create_agent(…) or memory.bind(builder.compile(…)) gave."
        )
    if not callable(person) and not is_person(person):
        raise ConfigurationError(
            f'person={named(person)} does not fit. Pass values such as {{"user_id": "me"}}, or a '
            "function of the request that gives them for whoever is signed in."
        )
    if sessions is not None and not callable(sessions):
        raise ConfigurationError(
            f"sessions={named(sessions)} does not fit. Pass a function that gives the ids of the "
            "threads that a person may see."
        )
    if isinstance(hosts, str) or not isinstance(hosts, Sequence) or not hosts:
        raise ConfigurationError(
            f'hosts={named(hosts)} does not fit. Pass a list of names such as ["127.0.0.1"].'
        )
    if secret is not None and (not isinstance(secret, str | bytes) or len(secret) < 32):
        raise ConfigurationError(
            "The secret does not fit. Pass a text of at least 32 characters that nobody can guess, "
            "or leave it out."
        )
