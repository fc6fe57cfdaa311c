"""A note that ended in one scope does not come back through another, nor while a store is down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from langmem_credit.shared_ledger import CACHE

from .sharing_support import PROJECT, USER, ZSH, Flaky, Office, remember

PLUMS = "I like plums"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    CACHE.clear()


def forgetting(office: Office, then: Any) -> Callable[[Any], Any]:
    """A model's step, before which the host forgets all of the person's notes."""

    def step(_: Any) -> Any:
        person = office.person("2", user_id="ann")
        for note in office.memory.notes(office.agent, person.config):
            office.memory.forget(office.agent, person.config, note.id, why="gone")
        return then() if callable(then) else then

    return step


@pytest.mark.parametrize("text", [PLUMS, "The user likes plums", "I like plums."])
@pytest.mark.parametrize("scope", [None, "session"])
def test_words_heard_before_a_forget_make_no_note_in_any_scope(
    text: str, scope: str | None
) -> None:
    office = Office()
    ann, elsewhere = (office.person(thread, user_id="ann") for thread in "12")
    office.keep(elsewhere, PLUMS)
    late = remember(text, PLUMS, **({"scope": scope} if scope else {}))
    office.run(ann, PLUMS, forgetting(office, late))
    assert office.notes(ann) == []


def test_words_heard_before_a_forget_stay_out_while_the_store_is_down() -> None:
    store = Flaky()
    office = Office(store=store)
    ann, elsewhere = (office.person(thread, user_id="ann") for thread in "12")
    office.keep(elsewhere, PLUMS)

    def down() -> Any:
        store.down = True
        return remember(PLUMS, scope="session")

    office.run(ann, PLUMS, forgetting(office, down))
    store.down = False
    assert office.notes(ann) == []


def test_words_said_again_after_a_forget_are_kept_in_another_scope() -> None:
    office = Office()
    ann = office.person("2", user_id="ann")
    office.keep(ann, PLUMS)
    forgetting(office, None)(None)
    assert office.keep(ann, PLUMS, scope="session").startswith("Remembered")


def test_another_persons_forgotten_note_counts_for_nothing() -> None:
    office = Office(USER, PROJECT)
    bob = office.person("b", user_id="bob", project_id="apollo")
    ann = office.person("a", user_id="ann", project_id="apollo")
    words = "The team likes plums"
    office.keep(bob, words, scope="project")

    def step(_: Any) -> Any:
        (note,) = office.memory.notes(office.agent, bob.config)
        office.memory.forget(office.agent, bob.config, note.id)
        return remember(words)

    assert office.run(ann, words, step)[-1].startswith("Remembered")


# --- what the digest shows while a store is down ---


def test_corrected_note_stays_out_of_the_standing_digest() -> None:
    office = Office(store=Flaky())
    ann = office.person("1", user_id="ann")
    office.keep(ann, ZSH)
    (note,) = office.memory.notes(office.agent, ann.config)
    assert office.keep(ann, "I no longer use zsh", id=note.id).startswith("Remembered")
    CACHE.clear()
    office.store.down = True
    assert "always use zsh" not in office.digest(ann)


def test_note_that_the_host_forgot_stays_out_of_the_standing_digest() -> None:
    office = Office(store=Flaky())
    ann = office.person("1", user_id="ann")
    office.keep(ann, ZSH)
    assert "always use zsh" in office.digest(ann)
    forgetting(office, None)(None)
    office.store.down = True
    assert "always use zsh" not in office.digest(ann)


def test_words_in_two_scopes_are_forgotten_in_the_narrowest() -> None:
    office = Office()
    ann = office.person("1", user_id="ann")
    office.keep(ann, PLUMS, scope="session")
    CACHE.clear()
    office.run(office.person("2", user_id="ann"), PLUMS, remember(PLUMS))
    assert office.notes(ann) == [PLUMS, PLUMS]
    answer = office.forget(ann, "forget that I like plums", "plums")
    assert answer.startswith("Forgotten")
    assert "scope session" in answer
    assert "scope user" in answer
    assert office.notes(ann) == [PLUMS]


class Broken:
    @property
    def user_id(self) -> str:
        raise KeyError("user")


def test_context_that_raises_closes_the_scope() -> None:
    office = Office()
    office.model.then("ok")
    thread = {"configurable": {"thread_id": "1"}}
    hello = {"messages": [{"role": "user", "content": "Hello"}]}
    answer = office.agent.invoke(hello, thread, context=Broken())
    assert answer["messages"][-1].content == "ok"
