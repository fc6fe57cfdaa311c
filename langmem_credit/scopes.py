"""Scopes: whose notes. The host declares them; each run says whose they are this time.

A scope's notes live under labels of a LangGraph store. The labels are filled in from what the host
hands to each run, never from what a model writes. Values are encoded one to one, so that two
identities never share a label and none is the beginning of another: letters and digits in lower
case stand for themselves, all else for its bytes. The scope's own name is the last label, so that
two scopes with the same labels stay apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import ConfigurationError, IdentityError, named

SESSION = "session"
USER = "user"
USER_ID = "user_id"

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_LITERAL = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
# PostgreSQL's index takes 2,700 bytes for all labels and the key together.
_LABEL_CHARS = 120
_VALUE_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class Scope:
    """One scope that the host declares.

    Attributes:
        name: what the model and the answers call it, such as "user"; part of where its notes lie.
        namespace: labels in the store, oldest first; `"{user_id}"` is filled in for each run.
        people: several people share it, so that each note says whose it is. None: they do, unless
            a label is `"{user_id}"`.
        orders: what others in it told the agent to do counts for everybody. Otherwise only their
            plain statements stand in the digest, under their names.
        words: of which the person must say one to have a note kept in a scope that is wider
            than the default one; the name counts always.

    Raises:
        ConfigurationError: a name or a label does not fit.
    """

    name: str
    namespace: tuple[str, ...]
    people: bool | None = None
    orders: bool = False
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(_text(self.name)):
            raise ConfigurationError(
                f"A scope cannot be called {named(self.name)}. Use at most 32 lower-case letters, "
                "digits and hyphens, a letter first."
            )
        if self.name == SESSION:
            raise ConfigurationError(
                'Every memory has a scope "session" already. Give this one another name.'
            )
        object.__setattr__(self, "namespace", _labels(self.namespace))
        if not self.namespace:
            raise ConfigurationError(
                f"Scope {self.name!r} needs a namespace. Pass labels such as "
                '("memories", "{user_id}").'
            )
        object.__setattr__(self, "words", _texts(self.words, self.name))
        for label in self.namespace:
            _check_label(label, self.name)
        if self.namespace[0] == "langgraph":
            raise ConfigurationError(
                f'LangGraph keeps the label "langgraph" to itself. Begin scope {self.name!r} with '
                "another one."
            )
        if self.people is None:
            object.__setattr__(self, "people", USER_ID not in self.placeholders)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names of the values that a run must give."""
        found = (_PLACEHOLDER.fullmatch(label) for label in self.namespace)
        return tuple(match.group(1) for match in found if match)

    def fill(self, values: RunValues) -> tuple[str, ...]:
        """The labels of this run, the scope's name last.

        Raises:
            IdentityError: the run gives no value, or one that cannot name anybody for certain.

        >>> scope = Scope("user", ("memories", "{user_id}"))
        >>> scope.fill(RunValues(configurable={"user_id": "Ann@x.example"}))
        ('memories', 's-~41nn~40x~2eexample', 'user')
        """
        labels = []
        for label in self.namespace:
            match = _PLACEHOLDER.fullmatch(label)
            labels.append(encoded(values.text(match.group(1), self.name)) if match else label)
        return (*labels, self.name)


@dataclass(frozen=True, slots=True)
class RunValues:
    """What the host handed to a run, and whom a server signed in.

    Attributes:
        context: of LangGraph's runtime: a mapping, or an object with attributes.
        configurable: of the run's config.
        identity: of the user whom the LangGraph server signed in, or None.
    """

    context: object = None
    configurable: Mapping[str, Any] = field(default_factory=dict)
    identity: str | None = None

    def text(self, name: str, scope: str) -> str:
        """The value that all sources agree on.

        Raises:
            IdentityError: there is none, it is no text, or two sources differ.
        """
        given = self._given(name)
        if not given:
            raise IdentityError(scope, name, "this run gives none")
        for value in given.values():
            if not isinstance(value, str):
                raise IdentityError(
                    scope, name, f"{value!r:.60} is no text, and 1 must not pass for '1'"
                )
            if not value.strip():
                raise IdentityError(scope, name, "it is empty")
            if len(value) > _VALUE_CHARS:
                raise IdentityError(scope, name, f"it has {len(value)} characters")
        if len(set(given.values())) > 1:
            raise IdentityError(scope, name, f"{' and '.join(given)} name different ones")
        return str(next(iter(given.values())))

    def has(self, name: str) -> bool:
        """True where at least one source gives something."""
        return bool(self._given(name))

    def _given(self, name: str) -> dict[str, Any]:
        """The value of each source that has one; None counts as none."""
        found = {
            "the context": _value(self.context, name),
            "the config": _value(self.configurable, name),
        }
        if name == USER_ID:
            found["the server's sign-in"] = self.identity
        return {source: value for source, value in found.items() if value is not None}


def encoded(value: str) -> str:
    """The text as one label, one to one, of characters that every store takes as they are.

    No capitals and no wildcards, since some stores compare labels by LIKE. A long text becomes its
    SHA-256.

    >>> encoded("a:b"), encoded("a.b"), encoded("")
    ('s-a~3ab', 's-a~2eb', 's-')
    """
    raw = value.encode("utf-8", "surrogatepass")
    label = "s-" + "".join(chr(byte) if byte in _PLAIN else f"~{byte:02x}" for byte in raw)
    if len(label) <= _LABEL_CHARS:
        return label
    return f"h-{hashlib.sha256(raw).hexdigest()}"


def checked(scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    """The scopes, from the narrowest on as the host listed them.

    Raises:
        ConfigurationError: something is no scope, or two have one name.
    """
    if isinstance(scopes, (Scope, str)) or not isinstance(scopes, Iterable):
        raise ConfigurationError(f"scopes={named(scopes)} does not fit. Pass a list of Scope.")
    known: dict[str, Scope] = {}
    for scope in scopes:
        if not isinstance(scope, Scope):
            raise ConfigurationError(
                f'scopes holds {named(scope)}. Pass Scope("user", ("memories", "{{user_id}}")).'
            )
        if scope.name in known:
            raise ConfigurationError(f"Two scopes are called {scope.name!r}. Rename one.")
        known[scope.name] = scope
    return tuple(known.values())


def _value(source: object, name: str) -> Any:
    try:
        if isinstance(source, Mapping):
            return source.get(name)
        return getattr(source, name, None) if source is not None else None
    except Exception as error:  # noqa: BLE001 - a host's property may raise what it likes
        return error


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _labels(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _texts(words: object, scope: str) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ConfigurationError(
            f"words={named(words)} of scope {scope!r} does not fit. Pass a list."
        )
    texts = tuple(words)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ConfigurationError(
            f"words={named(words)} of scope {scope!r} does not fit. Pass texts."
        )
    return texts


def _check_label(label: object, scope: str) -> None:
    if isinstance(label, str) and (_LITERAL.fullmatch(label) or _PLACEHOLDER.fullmatch(label)):
        return
    raise ConfigurationError(
        f"Label {named(label)} of scope {scope!r} does not fit. A label is letters, digits, "
        'hyphens and underscores, or one placeholder such as "{user_id}"; two values make two '
        "labels."
    )
