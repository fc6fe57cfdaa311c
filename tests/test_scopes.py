"""Scopes: declared by the host, filled in for each run, encoded one to one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit.errors import ConfigurationError, IdentityError
from langmem_credit.scopes import RunValues, Scope, checked, encoded

USER = Scope("user", ("memories", "{user_id}"))


def filled(scope: Scope = USER, **values: Any) -> tuple[str, ...]:
    return scope.fill(RunValues(configurable=values))


def problem(**values: Any) -> str:
    with pytest.raises(IdentityError) as raised:
        filled(**values)
    return str(raised.value)


def test_placeholder_is_filled_in_and_the_name_comes_last() -> None:
    assert filled(user_id="ann") == ("memories", "s-ann", "user")


def test_several_placeholders_make_several_labels() -> None:
    scope = Scope("project", ("{org}", "{project_id}"))
    assert filled(scope, org="a", project_id="b") == ("s-a", "s-b", "project")


def test_scope_without_a_placeholder_is_one_for_all() -> None:
    assert filled(Scope("team", ("notes",))) == ("notes", "team")


def test_two_scopes_with_one_namespace_stay_apart() -> None:
    labels = ("memories", "{user_id}")
    assert filled(Scope("a", labels), user_id="x") != filled(Scope("b", labels), user_id="x")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("ann", "s-ann"),
        ("Ann", "s-~41nn"),
        ("ann@example.org", "s-ann~40example~2eorg"),
        ("a:b", "s-a~3ab"),
        ("a.b", "s-a~2eb"),
        ("a_b", "s-a~5fb"),
        ("50%", "s-50~25"),
        ("a~b", "s-a~7eb"),
        ("*", "s-~2a"),
        ("ä", "s-~c3~a4"),
        ("a\0b", "s-a~00b"),
        (" ann", "s-~20ann"),
        ("\ud83d", "s-~ed~a0~bd"),
    ],
)
def test_value_becomes_a_label(value: str, label: str) -> None:
    assert encoded(value) == label


@given(st.text(), st.text())
def test_two_values_never_share_a_label(one: str, other: str) -> None:
    assert (encoded(one) == encoded(other)) == (one == other)


@given(st.text(alphabet=st.characters(), max_size=400))
def test_every_store_takes_the_label_as_it_is(value: str) -> None:
    label = encoded(value)
    assert 2 <= len(label) <= 120
    assert set(label) <= set("abcdefghijklmnopqrstuvwxyz0123456789-~")


def test_long_values_that_begin_alike_stay_apart() -> None:
    assert encoded("a" * 500) != encoded("a" * 501)


def test_no_value_is_refused_and_the_error_says_how_to_give_one() -> None:
    assert problem() == (
        "Scope 'user' cannot be used: it needs user_id, and this run gives none. Pass a text with "
        "each run, as context={'user_id': …} or config={'configurable': {'user_id': …}}; on a "
        "LangGraph server the signed-in user counts."
    )


@pytest.mark.parametrize("value", [None, "", " ", "\n"])
def test_empty_value_names_nobody(value: Any) -> None:
    assert "cannot be used" in problem(user_id=value)


@pytest.mark.parametrize("value", [1, 0, 1.0, True, b"ann", ["ann"], {"id": "ann"}])
def test_value_that_is_no_text_is_refused(value: Any) -> None:
    assert "is no text" in problem(user_id=value)


def test_value_without_end_is_refused() -> None:
    assert "has 20000 characters" in problem(user_id="a" * 20_000)


@pytest.mark.parametrize("context", [{"user_id": "ann"}, SimpleNamespace(user_id="ann")])
def test_context_may_be_a_mapping_or_an_object(context: Any) -> None:
    assert USER.fill(RunValues(context=context)) == ("memories", "s-ann", "user")


def test_signed_in_user_counts_as_the_user() -> None:
    assert USER.fill(RunValues(identity="ann")) == ("memories", "s-ann", "user")


def test_signed_in_user_fills_in_nothing_else() -> None:
    with pytest.raises(IdentityError):
        Scope("project", ("{project_id}",)).fill(RunValues(identity="ann"))


@pytest.mark.parametrize(
    "values",
    [
        RunValues(context={"user_id": "ann"}, configurable={"user_id": "bob"}),
        RunValues(configurable={"user_id": "bob"}, identity="ann"),
        RunValues(context={"user_id": "bob"}, identity="ann"),
    ],
)
def test_sources_that_differ_are_refused(values: RunValues) -> None:
    with pytest.raises(IdentityError, match="name different ones"):
        USER.fill(values)


def test_sources_that_agree_are_taken() -> None:
    values = RunValues({"user_id": "ann"}, {"user_id": "ann"}, "ann")
    assert USER.fill(values) == ("memories", "s-ann", "user")


def test_scope_of_a_user_is_one_persons() -> None:
    assert USER.people is False


def test_any_other_scope_is_several_peoples() -> None:
    assert Scope("project", ("{project_id}",)).people is True


@pytest.mark.parametrize("name", ["", "User", "a b", "a.b", "1a", "a" * 33, None, 7])
def test_name_that_does_not_fit_is_refused(name: Any) -> None:
    with pytest.raises(ConfigurationError, match="cannot be called"):
        Scope(name, ("memories",))


def test_session_is_no_name_for_a_scope() -> None:
    with pytest.raises(ConfigurationError, match='a scope "session" already'):
        Scope("session", ("memories",))


@pytest.mark.parametrize(
    "namespace",
    [(), "memories", None, ("a.b",), ("",), ("{a}-{b}",), ("x{a}",), ("{a b}",), (7,), ("a\0",)],
)
def test_namespace_that_does_not_fit_is_refused(namespace: Any) -> None:
    with pytest.raises(ConfigurationError):
        Scope("user", namespace)


def test_langgraphs_own_namespace_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="to itself"):
        Scope("user", ("langgraph", "{user_id}"))


@pytest.mark.parametrize("words", ["team", [""], [7], None])
def test_words_that_do_not_fit_are_refused(words: Any) -> None:
    with pytest.raises(ConfigurationError, match="words="):
        Scope("team", ("notes",), words=words)


def test_what_is_no_scope_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="scopes holds"):
        checked([("memories", "{user_id}")])  # type: ignore[list-item]


def test_two_scopes_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="Rename one"):
        checked([USER, USER])
