"""What a host may set, once and in code. Nothing here knows a user, a thread or a run."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .credit import judge
from .digest import Extras
from .errors import ConfigurationError, named
from .index import Index
from .kept_index import KeptIndex
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
        show_findings: the digest shows the agent's own findings of the session, marked as such.
            Otherwise one line says how many there are.
        show_repeated_facts: the digest shows facts that the summaries of two sessions state,
            although nobody confirmed them. Neither ever shows what reads as an order.
        index: finds notes by meaning, and is kept in step in the background: a folder or a Chroma
            server's `http://host:port` for a `ChromaIndex` with the local model, or any `Index`;
            None for recall by words.
    """

    limits: Limits = LIMITS
    enabled: bool = True
    questions: bool = True
    agent_name: str = ""
    cache_control: Mapping[str, Any] | None = field(default=None, hash=False)
    credit_rule: CreditRule = judge
    scopes: Sequence[Scope] = ()
    show_findings: bool = False
    show_repeated_facts: bool = False
    index: Index | str | os.PathLike[str] | None = None

    # Not for type checkers, which read the options off the fields.
    if not TYPE_CHECKING:

        def __new__(cls, *values: Any, **options: Any) -> Settings:
            """An object without options, once it is clear that all of them are known."""
            _check_names(cls, values, options)
            return super().__new__(cls)

    def __post_init__(self) -> None:
        expected: dict[str, type | tuple[type, ...]] = {
            "limits": Limits,
            "enabled": bool,
            "questions": bool,
            "agent_name": str,
            "show_findings": bool,
            "show_repeated_facts": bool,
            "cache_control": (Mapping, type(None)),
        }
        for name, kind in expected.items():
            if not isinstance(getattr(self, name), kind):
                raise ConfigurationError(
                    f"{name}={named(getattr(self, name))} does not fit. Pass {_plain(kind)}."
                )
        if not callable(self.credit_rule):
            raise ConfigurationError(
                f"credit_rule={named(self.credit_rule)} cannot be called. Pass a function like "
                "langmem_credit.judge."
            )
        for limit in fields(self.limits):
            value = getattr(self.limits, limit.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ConfigurationError(
                    f"limits.{limit.name}={named(value)} does not fit. Pass a whole number from 0 "
                    "on."
                )
        if not isinstance(self.scopes, Sequence):
            raise ConfigurationError(
                f"scopes={named(self.scopes)} does not fit. Pass a list of Scope."
            )
        object.__setattr__(self, "scopes", checked(self.scopes))
        if self.index is not None and not isinstance(self.index, KeptIndex):
            if isinstance(self.index, type) or not isinstance(self.index, Index):
                raise ConfigurationError(
                    f"index={named(self.index)} does not fit. Pass a folder, a Chroma server's "
                    "http://host:port, a ChromaIndex, or None for recall by words."
                )
            object.__setattr__(self, "index", KeptIndex(self.index))
        if self.cache_control is not None:
            frozen = MappingProxyType(dict(self.cache_control))
            object.__setattr__(self, "cache_control", frozen)

    @property
    def extras(self) -> Extras:
        """What the digest shows beside the notes that people said or confirmed."""
        return Extras(self.show_findings, self.show_repeated_facts)


def _check_names(cls: type[Settings], values: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    known = [one.name for one in fields(cls)]
    choice = f"The options are {', '.join(known)}."
    if values:
        raise ConfigurationError(
            f"{cls.__name__} takes its options by name, not {named(values[0])} alone. {choice}"
        )
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ConfigurationError(f"{cls.__name__} has no option {name}.{meant} {choice}")


def _plain(kind: type | tuple[type, ...]) -> str:
    names = {Limits: "a Limits", bool: "True or False", str: "text", Mapping: "a mapping"}
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join(names.get(one, "None") for one in kinds)
