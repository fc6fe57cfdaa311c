"""A rule for the LangGraph server: its clients do not write the memory's notes.

The server lets a client read and write any namespace of the store. What stands there is memory, so
a client that may write it decides what was said. Register the rule beside your authentication:

    from langgraph_sdk import Auth

    auth = Auth()
    auth.on.store(create_store_rule(memory.scopes))

Graphs reach the store past this rule, and so do routes of your own that ask it by `get_client()`.
A handler for one action, such as `auth.on.store.put`, takes this rule's place for that action.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from .errors import IdentityError
from .scopes import RunValues, Scope, checked

Rule = Callable[[Any, Any], Awaitable[Any]]

_WRITES = frozenset({"put", "delete"})

_log = logging.getLogger("langmem_credit")


def create_store_rule(scopes: Iterable[Scope], then: Rule | None = None) -> Rule:
    """A handler for `auth.on.store`: memory is written by no client, and read by its owner only.

    Args:
        scopes: of the memory.
        then: your own rule, for what is no memory; where it moves the operation to another
            namespace, that one is checked as well.
    """
    declared = checked(scopes)

    async def rule(ctx: Any, value: Any) -> Any:
        if _refused(declared, ctx, value):
            _log.warning("a client's %s in the memory's part of the store was refused", ctx.action)
            return False
        if then is None:
            return None
        answer = await then(ctx, value)
        return False if _refused(declared, ctx, value) else answer

    return rule


def _refused(scopes: tuple[Scope, ...], ctx: Any, value: Any) -> bool:
    namespace = tuple(value.get("namespace") or ())
    writes = ctx.action in _WRITES
    touches = _touches if writes or ctx.action == "get" else _may_list
    touched = [scope for scope in scopes if touches(namespace, scope)]
    if not touched:
        return False
    if writes:
        return True
    return not any(_is_own(namespace, scope, ctx) for scope in touched)


def _touches(namespace: tuple[Any, ...], scope: Scope) -> bool:
    """True for a namespace within the scope's, and for one that the scope's is within."""
    return all(
        label == mine or mine.startswith("{")
        for label, mine in zip(namespace, scope.namespace, strict=False)
    )


def _may_list(namespace: tuple[Any, ...], scope: Scope) -> bool:
    """True where a listing under these labels may show something of the scope's.

    A listing takes wildcards for labels, and some stores compare by LIKE: no matter the case, with
    wildcards of its own, and with the last label as the beginning of one.
    """
    for index, (label, mine) in enumerate(zip(namespace, scope.namespace, strict=False)):
        if not isinstance(label, str) or any(char in label for char in "*%."):
            return True
        if mine.startswith("{"):
            continue
        told, last = label.casefold(), index == len(namespace) - 1
        known = mine.casefold()[: len(told)] if last else mine.casefold()
        alike = len(told) == len(known) and all(
            one in ("_", other) for one, other in zip(told, known, strict=True)
        )
        if not alike:
            return False
    return True


def _is_own(namespace: tuple[Any, ...], scope: Scope, ctx: Any) -> bool:
    """True within the part of a scope that nobody but the signed-in user has."""
    if scope.people or set(scope.placeholders) != {"user_id"}:
        return False
    try:
        labels = scope.fill(RunValues(identity=str(ctx.user.identity)))
    except IdentityError:
        return False
    return namespace[: len(labels)] == labels
