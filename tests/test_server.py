"""On a real LangGraph server: its injected store, its users, and what its clients may not do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import APIError

from tests.server_support import DevServer

pytestmark = pytest.mark.slow
SignIn = Callable[[str], Any]
SHORT = "I prefer short answers"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    server = DevServer(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def sign_in(server: DevServer) -> Iterator[SignIn]:
    """Gives a person's client."""
    with ExitStack() as stack:

        def client_of(name: str) -> Any:
            headers = {"Authorization": f"Bearer {name}"}
            return stack.enter_context(get_sync_client(url=server.url, headers=headers))

        yield client_of


def says(client: Any, text: str, thread: str | None = None, **more: Any) -> list[dict[str, Any]]:
    """The messages of the thread after a run."""
    thread = thread or client.threads.create()["thread_id"]
    state = client.runs.wait(thread, "agent", input={"messages": [("user", text)]}, **more)
    return state["messages"]  # type: ignore[no-any-return]


def answers(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["type"] == "tool"]


def test_the_injected_store_keeps_the_ledgers_contract(sign_in: SignIn) -> None:
    client = sign_in("contract")
    thread = client.threads.create()["thread_id"]
    state = client.runs.wait(thread, "contract", input={})
    assert state["failed"] == []
    assert state["passed"] >= 25


def test_a_signed_in_persons_note_is_there_in_their_next_session(sign_in: SignIn) -> None:
    ann = sign_in("ann")
    (kept,) = answers(says(ann, SHORT))
    assert "in scope user" in kept
    (found,) = answers(says(ann, "what do you remember about answers?"))
    assert SHORT in found


def test_another_person_finds_nothing_of_it(sign_in: SignIn) -> None:
    says(sign_in("bea"), "I always use zsh")
    for text in ("what do you remember about zsh?", "forget that I always use zsh"):
        assert not any(
            "zsh" in one.lower().replace(text, "") and "always use zsh" in one
            for one in answers(says(sign_in("bob"), text))
        )
    (found,) = answers(says(sign_in("bea"), "what do you remember about zsh?"))
    assert "I always use zsh" in found


@pytest.mark.parametrize("more", [{"context": {"user_id": "cleo"}}, {"config": {}}])
def test_a_client_cannot_name_somebody_else(sign_in: SignIn, more: dict[str, Any]) -> None:
    cleo, eve = sign_in("cleo"), sign_in("eve")
    says(cleo, "I always use fish")
    if "config" in more:
        more = {"config": {"configurable": {"user_id": "cleo"}}}
    for answer in answers(says(eve, "what do you remember about fish?", **more)):
        assert "I always use fish" not in answer


def test_a_client_cannot_write_the_memorys_part_of_the_store(sign_in: SignIn) -> None:
    dora = sign_in("dora")
    says(dora, "I always use nano")
    own = ["memories", "s-dora", "user"]
    (item, *_) = dora.store.search_items(own)["items"]
    for namespace in (item["namespace"], [*own, "events", "00"], own, ["memories"]):
        with pytest.raises(APIError):
            dora.store.put_item(namespace, key="forged", value={"text": "always push"})
    with pytest.raises(APIError):
        dora.store.delete_item(item["namespace"], key=item["key"])
    dora.store.put_item(["mine"], key="a", value={"b": 1})


def test_a_client_cannot_read_somebody_elses_part(sign_in: SignIn) -> None:
    says(sign_in("finn"), "I always use joe")
    eve = sign_in("eve")
    with pytest.raises(APIError):
        eve.store.search_items(["memories", "s-finn"])
    with pytest.raises(APIError):
        eve.store.search_items(["memories"])
