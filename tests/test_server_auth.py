"""The rule that keeps a server's clients out of the memory's part of the store."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from langgraph_sdk import Auth

from langmem_credit.scopes import Scope
from langmem_credit.server_auth import create_store_rule

SCOPES = [
    Scope("user", ("memories", "{user_id}")),
    Scope("team", ("teams", "{team_id}")),
]
OWN = ("memories", "s-ann", "user")


async def refused(action: str, namespace: Any, identity: str = "ann", then: Any = None) -> bool:
    rule = create_store_rule(SCOPES, then)
    ctx = SimpleNamespace(action=action, user=SimpleNamespace(identity=identity))
    return await rule(ctx, {"namespace": namespace}) is False


@pytest.mark.parametrize("action", ["put", "delete"])
@pytest.mark.parametrize(
    "namespace",
    [
        (*OWN, "events", "07"),
        (*OWN, "tokens"),
        OWN,
        ("memories", "s-ann"),
        ("memories", "anything"),
        ("memories",),
        ("teams", "s-red", "team", "events", "00"),
        ["teams", "s-red"],
        (),
        None,
    ],
)
async def test_client_writes_no_memory(action: str, namespace: Any) -> None:
    assert await refused(action, namespace)


@pytest.mark.parametrize("action", ["put", "delete", "get", "search", "list_namespaces"])
@pytest.mark.parametrize("namespace", [("files",), ("memory",), ("ann", "memories")])
async def test_other_namespaces_are_the_clients(action: str, namespace: Any) -> None:
    assert not await refused(action, namespace)


@pytest.mark.parametrize("action", ["get", "search", "list_namespaces"])
async def test_client_reads_its_own_memory(action: str) -> None:
    assert not await refused(action, (*OWN, "events", "07"))


@pytest.mark.parametrize("action", ["get", "search", "list_namespaces"])
@pytest.mark.parametrize(
    "namespace",
    [
        ("memories", "s-anna", "user", "events", "07"),
        ("memories", "s-an", "user"),
        ("memories", "s-ann"),
        ("memories",),
        ("teams", "s-red", "team"),
        (),
        None,
    ],
)
async def test_client_reads_nobody_elses(action: str, namespace: Any) -> None:
    assert await refused(action, namespace)


@pytest.mark.parametrize("identity", ["", " "])
async def test_client_without_an_identity_reads_nothing(identity: str) -> None:
    assert await refused("get", ("memories", "s-", "user"), identity)


async def test_own_rule_decides_the_rest() -> None:
    async def deny(ctx: Any, value: Any) -> bool:
        return False

    assert await refused("get", ("files",), then=deny)


async def test_own_rule_cannot_move_an_operation_into_the_memory() -> None:
    async def move(ctx: Any, value: Any) -> None:
        value["namespace"] = ("memories", *value["namespace"])

    assert await refused("put", ("s-bob", "user"), then=move)


def test_rule_can_be_registered() -> None:
    auth = Auth()
    rule = create_store_rule(SCOPES)
    auth.on.store(rule)
    assert auth._handlers[("store", "*")] == [rule]


@pytest.mark.parametrize("action", ["search", "list_namespaces"])
@pytest.mark.parametrize(
    "namespace",
    [
        ("*",),
        ("*", "*"),
        ("memories", "*"),
        ("mem",),
        ("MEM",),
        ("m%",),
        ("m_mories",),
        ("memories.s-bob",),
        ("*", "s-bob", "user"),
        (7,),
    ],
)
async def test_wildcards_and_beginnings_list_no_memory(action: str, namespace: Any) -> None:
    assert await refused(action, namespace)


@pytest.mark.parametrize("prefix", [None, (), ("*",), ("memories",), ("teams", "*"), ("mem",)])
@pytest.mark.parametrize("suffix", [("tokens",), ("user", "tokens"), ("*",), None])
async def test_a_suffix_lists_nobodys_memory(prefix: Any, suffix: Any) -> None:
    rule = create_store_rule(SCOPES)
    ctx = SimpleNamespace(action="list_namespaces", user=SimpleNamespace(identity="ann"))
    value = {"namespace": prefix, "suffix": suffix, "max_depth": 2, "limit": 10, "offset": 0}
    assert await rule(ctx, value) is False
