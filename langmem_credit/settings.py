"""What a host may set, once and in code. Nothing here knows a user, a thread or a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from .credit import judge
from .errors import ConfigurationError
from .notes import LIMITS, Limits, Utterance, Verdict
from .scopes import Scope, checked


@runtime_checkable
class CreditRule(Protocol):
    """Decides whether a note is the person's own words. `langmem_credit.judge` is the one built in.

    Pure: the same arguments give the same verdict, since a verdict is computed again when a run
    goes on in another process.
    """

    def __call__(
        self,
        note: str,
        said: str,
        heard: Sequence[Utterance],
        *,
        about: str | None = None,
        core: bool = False,
        limits: Limits = LIMITS,
    ) -> Verdict:
        """The verdict on a note, a quote, and what was heard in this run."""
        ...


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The configuration of a memory. Unknown options raise.

    Attributes:
        limits: bounds on everything kept or shown.
        enabled: False takes `remember` away; notes still stand in the digest, and `recall` and
            `forget` still work.
        questions: offer `ask_user`, which puts a question to the person by an interrupt.
        agent_name: who keeps notes, shown to reviewers ("" for one agent alone).
        cache_control: put on the digest's content block, such as `{"type": "ephemeral"}`.
        credit_rule: another rule than the one built in.
        scopes: where notes may be kept beside the session, the narrowest first. They need the
            graph to have a store. A scope called "user" is where notes go by default.
    """

    limits: Limits = LIMITS
    enabled: bool = True
    questions: bool = True
    agent_name: str = ""
    cache_control: Mapping[str, Any] | None = field(default=None, hash=False)
    credit_rule: CreditRule = judge
    scopes: Sequence[Scope] = ()

    def __post_init__(self) -> None:
        expected: dict[str, type | tuple[type, ...]] = {
            "limits": Limits,
            "enabled": bool,
            "questions": bool,
            "agent_name": str,
            "cache_control": (Mapping, type(None)),
        }
        for name, kind in expected.items():
            if not isinstance(getattr(self, name), kind):
                raise ConfigurationError(
                    f"{name}={getattr(self, name)!r} does not fit. Pass {_plain(kind)}."
                )
        if not callable(self.credit_rule):
            raise ConfigurationError(
                f"credit_rule={self.credit_rule!r} cannot be called. Pass a function like "
                "langmem_credit.judge."
            )
        for limit in fields(self.limits):
            value = getattr(self.limits, limit.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ConfigurationError(
                    f"limits.{limit.name}={value!r} does not fit. Pass a whole number from 0 on."
                )
        if isinstance(self.scopes, Scope) or not isinstance(self.scopes, Sequence):
            raise ConfigurationError(f"scopes={self.scopes!r} does not fit. Pass a list of Scope.")
        object.__setattr__(self, "scopes", checked(self.scopes))
        if self.cache_control is not None:
            frozen = MappingProxyType(dict(self.cache_control))
            object.__setattr__(self, "cache_control", frozen)


def _plain(kind: type | tuple[type, ...]) -> str:
    names = {Limits: "a Limits", bool: "True or False", str: "text", Mapping: "a mapping"}
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(names.get(one, "None") for one in kinds)
