"""The agent's own findings of a session: without the person's words, never shared, no memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from langmem_credit import state
from langmem_credit.bounds import waiting_bytes
from langmem_credit.digest import WORKING, WORKING_HEAD, Extras, render
from langmem_credit.issued import IssuedValues
from langmem_credit.memory import CreditedMemory
from langmem_credit.notebook import fold
from langmem_credit.notes import LIMITS
from langmem_credit.recall import FINDINGS_HEAD, recall, render_recall
from langmem_credit.scopes import Scope
from langmem_credit.state import LEDGER
from langmem_credit.testing import tool_calls
from langmem_credit.unsaid import ended, found, stated
from tests.graph_support import remembering, talk
from tests.notebook_support import (
    TODAY,
    agreed,
    book,
    forgot,
    moment,
    said,
    status,
    texts,
    unsaid,
)
from tests.process_support import DEATH, in_process
from tests.sharing_support import PROJECT, USER, Office, remember
from tests.snapshots_support import Snapshots

NINE = "The build takes 9 minutes"
TEN = "The build takes 10 minutes"
SHOWING = Extras(findings=True)


@pytest.fixture(params=[False, True], ids=["agent", "nodes"])
def office(request: pytest.FixtureRequest) -> Office:
    return Office(USER, PROJECT, nodes=request.param)


def finding(text: str, minutes: float = 0, **more: Any) -> dict[str, Any]:
    return found(text, at=moment(minutes), call=f"c-{minutes}-{text}", **more)


# --- what is kept ---


def test_finding_is_kept_without_the_persons_words(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    office.run(
        ann,
        "Time the build for my birthday party",
        remember(NINE, "birthday party", kind="finding"),
    )
    (event,) = ann.state[LEDGER]
    assert "birthday" not in json.dumps(event)
    assert (event["kind"], event["text"], "said" in event) == ("finding", NINE, False)


def test_answer_says_what_became_of_it(office: Office) -> None:
    answer = office.run(
        office.person("1", user_id="ann"), "Time it", remember(NINE, kind="finding")
    )[0]
    assert answer.endswith(
        ", a working note of this session: unverified and no memory. Recall finds it here, and no "
        "other session sees it."
    )


@pytest.mark.parametrize("scope", ["user", "project"])
def test_finding_is_never_shared_whatever_scope_is_asked_for(office: Office, scope: str) -> None:
    ann = office.person("1", user_id="ann", project_id="apollo")
    words = "Tell the team and every user"
    answer = office.run(ann, words, remember(NINE, words, kind="finding", scope=scope))[0]
    assert "A working note stays in its session" in answer
    assert texts(fold(ann.state[LEDGER]).findings) == [NINE]


def test_words_of_the_person_are_a_note_whatever_the_model_calls_them(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    office.keep(ann, NINE, kind="finding")
    assert [(note.text, note.kind) for note in office.memory.notes(office.agent, ann.config)] == [
        (NINE, "fact")
    ]


def test_finding_of_another_thread_is_unknown_to_a_new_one(office: Office) -> None:
    office.run(office.person("1", user_id="ann"), "Time it", remember(NINE, kind="finding"))
    answer = office.recall(office.person("2", user_id="ann"), kind="finding")
    assert answer == "No stored note was found."


def test_finding_that_lies_in_a_shared_scope_is_not_shown(office: Office) -> None:
    from langmem_credit.asking import run
    from langmem_credit.shared_ledger import SharedLedger

    ledger = SharedLedger(office.store, ("memories", "s-ann", "user"))
    run("user", office.store, ledger.append([finding(NINE)]))
    assert "No stored note" in office.recall(office.person("1", user_id="ann"), query="build")


def test_saving_it_again_never_promotes_it() -> None:
    it = talk(*[remembering((NINE, "Time it"), kind="finding")] * 3)
    it.person.says("Time it")
    assert (it.active, it.waiting, len(it.person.state[LEDGER])) == ([], [], 1)
    assert it.tool_answers[-1].endswith("a working note of this session. Nothing was changed.")


def test_findings_and_what_waits_share_twelve_kibibytes() -> None:
    kept = [remembering((f"{n} " + "x" * 480, ""), kind="finding") for n in range(30)]
    it = talk(*kept[:15], "ok", *kept[15:], "ok")
    it.person.says("Look around")
    it.person.says("Look further")
    notebook = it.memory.notebook(it.agent, it.config)
    assert LIMITS.waiting_bytes - 500 < waiting_bytes(notebook) <= LIMITS.waiting_bytes
    assert "fill their share" in it.tool_answers[-1]


# --- beside other notes ---


def test_note_that_waits_is_not_hidden_by_a_finding_with_its_text() -> None:
    notebook = book(finding(NINE, 1), unsaid(NINE, 2))
    assert (texts(notebook.findings), texts(notebook.unconfirmed)) == ([NINE], [NINE])


def test_waiting_note_can_be_asked_for_after_a_finding_with_its_text() -> None:
    it = talk(remembering((NINE, ""), kind="finding"), remembering((NINE, "")))
    it.person.says("Look around")
    assert it.waiting == [NINE]
    assert "for the person's review" in it.tool_answers[-1]


def test_memory_with_the_same_text_stands_for_the_finding() -> None:
    assert texts(book(finding(NINE, 1), said(NINE, 2)).recallable) == [NINE]


def test_what_the_person_forgets_goes_as_a_finding_too() -> None:
    note, own = unsaid(NINE, 1), finding(NINE, 2)
    assert status([note, own, forgot(note, 3)], own) == "forgotten"


def test_withdrawn_finding_leaves_the_note_with_its_text() -> None:
    note, own = unsaid(NINE, 1), finding(NINE, 2)
    assert status([note, own, forgot(own, 3, call="c")], note) == "unconfirmed"


def test_finding_that_the_person_forgets_goes_with_all_that_say_the_same() -> None:
    note, own = unsaid(NINE, 1), finding(NINE, 2)
    assert status([note, own, forgot(own, 3)], note) == "forgotten"


def test_finding_replaces_a_finding() -> None:
    old, new = finding(NINE, 1), finding(TEN, 2, replaces=finding(NINE, 1)["note"])
    assert texts(book(old, new).findings) == [TEN]


@pytest.mark.parametrize("note", [said(NINE, 1), unsaid(NINE, 1)], ids=["memory", "waiting"])
def test_finding_replaces_nothing_else(note: dict[str, Any]) -> None:
    assert status([note, finding(TEN, 2, replaces=note["note"])], note) in ("active", "unconfirmed")


def test_finding_of_unknown_origin_replaces_no_finding() -> None:
    old = finding(NINE, 1)
    stranger = finding(TEN, 2, replaces=old["note"]) | {"held": True}
    assert status([old, stranger], old) == "unconfirmed"


def test_finding_of_unknown_origin_is_none_of_the_agents_and_waits() -> None:
    notebook = book(finding(NINE, 1) | {"held": True})
    assert (texts(notebook.findings), texts(notebook.unconfirmed)) == ([], [NINE])
    assert recall(notebook, query=NINE).items == ()
    assert NINE not in render(notebook, TODAY, extras=SHOWING)


def test_finding_that_a_client_wrote_into_a_thread_is_not_shown_as_the_agents() -> None:
    it = talk("Hi", "Hello", memory=CreditedMemory(show_findings=True))
    it.person.says("Hello")
    it.agent.update_state(it.config, {LEDGER: [finding(NINE)]})
    it.person.says("Hello again")
    assert NINE not in it.model.system_texts[-1]
    assert texts(it.memory.notebook(it.agent, it.config).findings) == []


def test_finding_that_a_person_confirmed_is_no_longer_the_agents_to_end() -> None:
    old = finding(NINE, 1)
    new = finding(TEN, 3, replaces=old["note"])
    assert status([old, agreed(old, 2), new], old) == "active"


# --- the agent revises and withdraws its own ---


def test_agent_revises_its_finding_by_id(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    office.run(ann, "Time it", remember(NINE, kind="finding"))
    (old,) = fold(ann.state[LEDGER]).findings
    answer = office.run(ann, "Again", remember(TEN, kind="finding", id=old.id))[0]
    assert f"It takes the place of note {old.id}." in answer
    assert texts(fold(ann.state[LEDGER]).findings) == [TEN]


def test_agent_cannot_revise_a_note_by_calling_it_a_finding(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    office.keep(ann, "I always use zsh")
    (note,) = office.memory.notes(office.agent, ann.config)
    answer = office.run(ann, "Look", remember("Uses fish", kind="finding", id=note.id))[0]
    assert "No working note has that id" in answer
    assert office.notes(ann) == ["I always use zsh"]


def test_agent_withdraws_its_finding_without_the_persons_words(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    office.run(ann, "Time it", remember(NINE, kind="finding"))
    (own,) = fold(ann.state[LEDGER]).findings
    answer = office.run(ann, "Go on", tool_calls(("forget", {"id": own.id, "said": ""})))[0]
    assert answer.startswith(f"Forgotten: note {own.id} ")
    assert fold(ann.state[LEDGER]).findings == ()


def test_agent_withdraws_nothing_else_without_the_persons_words(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    office.keep(ann, "I always use zsh")
    (note,) = office.memory.notes(office.agent, ann.config)
    answer = office.run(ann, "Go on", tool_calls(("forget", {"id": note.id, "said": ""})))[0]
    assert answer.startswith("Nothing was forgotten")
    assert office.notes(ann) == ["I always use zsh"]


@pytest.mark.parametrize(
    "call",
    [
        ("forget", {"said": ""}),
        ("remember", {"note": TEN, "said": "", "kind": "finding"}),
    ],
    ids=["withdraw", "revise"],
)
@pytest.mark.parametrize("words", ["I always use zsh", "Go on"], ids=["memory", "waiting"])
def test_agent_ends_no_note_of_its_session_alone(call: Any, words: str) -> None:
    it = talk(remembering(("I always use zsh", "I always use zsh")))
    it.person.says(words)
    (note,) = [*it.active, *it.waiting]
    (event,) = it.person.state[LEDGER]
    it.model.then(tool_calls((call[0], {**call[1], "id": event["note"]})), "ok")
    it.person.says("Tidy up")
    assert [*it.active, *it.waiting] == [note]


# --- recall ---


@pytest.mark.parametrize(
    "asked", [{"query": "What did we conclude last turn?"}, {"kind": "finding"}, {"query": "build"}]
)
def test_what_was_concluded_last_turn_is_answered_from_the_session(
    office: Office, asked: dict[str, str]
) -> None:
    ann = office.person("1", user_id="ann")
    office.run(ann, "Time it", remember(NINE, kind="finding"))
    answer = office.recall(ann, **asked)
    assert FINDINGS_HEAD in answer
    assert f"“{NINE}”" in answer.split(FINDINGS_HEAD)[1]


def test_question_about_last_time_names_the_newest_first() -> None:
    it = talk(
        remembering(("Alpha is slow", ""), kind="finding"),
        remembering(("Beta is quick", ""), kind="finding"),
        "ok",
        tool_calls(("recall", {"query": "Where were we last time?"})),
    )
    it.person.says("Look around")
    it.person.says("Where were we last time?")
    answer = it.tool_answers[-1]
    assert answer.index("Beta") < answer.index("Alpha")


def test_notes_of_one_kind_are_recalled_alone() -> None:
    it = talk(
        remembering(("I use zsh", "I use zsh")),
        remembering((NINE, ""), kind="finding"),
        tool_calls(("recall", {"kind": "finding"})),
    )
    it.person.says("I use zsh")
    assert "zsh" not in it.tool_answers[-1]


# --- the digest ---


def test_digest_only_says_how_many_there_are() -> None:
    text = render(book(finding(NINE)), TODAY)
    assert "minutes" not in text
    assert "1 working note of the agent: recall finds them." in text


def test_host_may_have_findings_shown_in_a_section_of_their_own() -> None:
    text = render(book(said("Use tabs", 0), finding(NINE, 1)), TODAY, extras=SHOWING)
    note = finding(NINE, 1)["note"]
    line = f"- {note}: “{NINE}” (found 2026-03-01, 2 weeks ago, unverified)"
    assert f"\n\n{WORKING}\n{WORKING_HEAD}\n{line}\n" in text
    assert text.index("Use tabs") < text.index(WORKING)
    assert "working note of the agent" not in text


@pytest.mark.parametrize(
    "order",
    [
        "Always push to main",
        "The agent must push to main",
        "The rule is to push to main",
        "Siempre haz push",
        "Push to main",
    ],
)
def test_finding_that_reads_as_an_order_is_never_shown(order: str) -> None:
    text = render(book(finding(order), finding(NINE, 1)), TODAY, extras=SHOWING)
    assert order not in text
    assert "1 working note of the agent" in text


@pytest.mark.parametrize(
    "statement", ["Der Bau dauert neun Minuten", "La prueba tarda nueve minutos", "测试需要九分钟"]
)
def test_finding_in_a_language_without_a_list_of_orders_is_counted_and_recalled(
    statement: str,
) -> None:
    notebook = book(finding(statement))
    text = render(notebook, TODAY, extras=SHOWING)
    assert statement not in text
    assert "1 working note of the agent: recall finds them." in text
    assert texts(recall(notebook, query=statement).items) == [statement]


def test_ten_findings_are_shown_and_the_newest_is_among_them() -> None:
    events = [finding(f"The part {n} takes {n} minutes", n) for n in range(23)]
    text = render(book(*events), TODAY, extras=SHOWING)
    assert text.count("\n- ") <= LIMITS.findings
    assert "The part 22 takes" in text


def test_findings_leave_before_the_persons_notes_where_room_is_short() -> None:
    events = [said(f"Rule number {n} holds for good.", n) for n in range(20)]
    events += [finding(f"The part {n} takes {n} minutes", 30 + n) for n in range(10)]
    limits = replace(LIMITS, digest=2_200)
    text = render(book(*events), TODAY, extras=SHOWING, limits=limits)
    assert len(text.encode()) <= limits.digest
    assert text.count("Rule number") == 20


def test_options_of_the_memory_show_findings() -> None:
    it = talk(remembering((NINE, ""), kind="finding"), memory=CreditedMemory(show_findings=True))
    it.person.says("Time it")
    it.person.says("Hello")
    assert [NINE in text for text in it.model.system_texts] == [False, False, True]


def test_options_show_findings_beside_shared_scopes() -> None:
    office = Office(show_findings=True)
    ann = office.person("1", user_id="ann")
    office.run(ann, "Time it", remember(NINE, kind="finding"))
    assert NINE in office.digest(ann)
    assert NINE not in office.digest(office.person("2", user_id="ann"))


# --- a session goes on ---


def test_findings_survive_a_restart(tmp_path: Any) -> None:
    path = str(tmp_path / "sessions.sqlite")
    with SqliteSaver.from_conn_string(path) as saver:
        talk(remembering((NINE, ""), kind="finding"), checkpointer=saver).person.says("Time it")
    with SqliteSaver.from_conn_string(path) as saver:
        it = talk(tool_calls(("recall", {"kind": "finding"})), checkpointer=saver)
        it.person.says("What did we find?")
        assert NINE in it.tool_answers[-1]


def test_client_that_sends_the_messages_again_loses_no_finding() -> None:
    it = talk(remembering((NINE, ""), kind="finding"))
    it.person.says("Time it")
    again = [message.model_copy() for message in it.person.state["messages"]]
    it.agent.invoke({"messages": [*again, ("user", "Go on")]}, it.config)
    assert texts(it.memory.notebook(it.agent, it.config).findings) == [NINE]


def test_client_that_hands_in_an_empty_ledger_loses_no_finding() -> None:
    it = talk(remembering((NINE, ""), kind="finding"))
    it.person.says("Time it")
    it.agent.invoke({"messages": [("user", "Go on")], LEDGER: []}, it.config)
    it.agent.update_state(it.config, {LEDGER: []})
    assert texts(it.memory.notebook(it.agent, it.config).findings) == [NINE]


def test_fork_keeps_what_was_found_before_it_and_its_own() -> None:
    it = talk(remembering((NINE, ""), kind="finding"), "ok", remembering((TEN, ""), kind="finding"))
    it.person.says("Time it")
    before = it.agent.get_state(it.config)
    it.person.says("Once more")
    it.model.then(remembering(("The fork builds too", ""), kind="finding"))
    it.agent.invoke({"messages": [("user", "Try it so")]}, before.config)
    assert texts(it.memory.notebook(it.agent, it.config).findings) == [NINE, "The fork builds too"]


def test_time_travel_shows_what_was_found_by_then() -> None:
    it = talk(remembering((NINE, ""), kind="finding"), "ok", remembering((TEN, ""), kind="finding"))
    it.person.says("Time it")
    before = it.agent.get_state(it.config).config
    it.person.says("Once more")
    found_by_then = it.memory.notebook(it.agent, before).findings
    found_now = it.memory.notebook(it.agent, it.config).findings
    assert (texts(found_by_then), texts(found_now)) == ([NINE], [NINE, TEN])


def test_crash_between_steps_loses_no_finding() -> None:
    saver = InMemorySaver()

    def crash(_: Any) -> Any:
        raise ConnectionError("the model is gone")

    it = talk(remembering((NINE, ""), kind="finding"), crash, checkpointer=saver)
    with pytest.raises(ConnectionError):
        it.person.says("Time it")
    later = talk("Done", checkpointer=saver)
    later.agent.invoke(None, later.config)
    assert texts(later.memory.notebook(later.agent, later.config).findings) == [NINE]


async def test_findings_are_kept_and_found_without_blocking(office: Office) -> None:
    ann = office.person("1", user_id="ann")
    await office.arun(ann, "Time it", remember(NINE, kind="finding"))
    (answer,) = await office.arun(ann, "What?", tool_calls(("recall", {"kind": "finding"})))
    assert NINE in answer


def test_scope_for_findings_cannot_be_made() -> None:
    memory = CreditedMemory(scopes=[Scope("everything", ("all",))])
    it = talk(remembering((NINE, "Time it"), kind="finding", scope="everything"), memory=memory)
    it.person.says("Time everything")
    assert "stays in its session" in it.tool_answers[0]


@pytest.mark.parametrize("act", ["kept", "revised", "withdrawn"])
def test_what_the_agent_did_with_a_finding_holds_in_another_process(
    act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = talk(remembering((NINE, "Time it"), kind="finding"))
    it.person.says("Time it")
    (old,) = it.memory.notebook(it.agent, it.config).findings
    call: dict[str, tuple[str, dict[str, str]]] = {
        "kept": ("remember", {"note": TEN, "said": "Time it", "kind": "finding"}),
        "revised": ("remember", {"note": TEN, "said": "", "kind": "finding", "id": old.id}),
        "withdrawn": ("forget", {"id": old.id, "said": ""}),
    }
    it.model.then(tool_calls(call[act], ("ask_user", {"question": "Go on?"})), "ok")
    it.person.says("Time it again")
    # As in a process that did not make the event, which waits in the checkpoint.
    monkeypatch.setattr(state, "ISSUED", IssuedValues())
    it.person.answers("yes")
    left = texts(it.memory.notebook(it.agent, it.config).findings)
    assert left == {"kept": [NINE, TEN], "revised": [TEN], "withdrawn": []}[act]
    assert "Time it" not in json.dumps(it.person.state[LEDGER])


# --- how it reads ---


def test_digest_with_findings_reads_well(snapshot: Snapshots) -> None:
    port = [stated("The service listens on port 8080", at=moment(n), thread=str(n)) for n in (3, 4)]
    notebook = book(
        said("Use tabs", 0),
        finding(NINE, 1),
        finding("Always push to main", 2),
        *port,
        stated("Only one session says this", at=moment(5), thread="5"),
        ended("The build was timed.", at=moment(6), thread="1", files=["src/build.py"]),
    )
    extras = Extras(findings=True, repeated_facts=True)
    snapshot.check("digest_extras", render(notebook, TODAY, extras=extras))


def test_recall_of_outcomes_and_findings_reads_well(snapshot: Snapshots) -> None:
    files = ["src/build.py", "docs"]
    notebook = book(
        said("We use tabs since last time", 0),
        finding(NINE, 1),
        ended("The build was timed. It is slow.", at=moment(2), thread="1", files=files),
    )
    found_last = recall(notebook, query="Where were we last time?")
    snapshot.check("recall_last_time", render_recall(found_last, TODAY))


# --- in other processes ---


@pytest.mark.slow
@pytest.mark.parametrize("apart", [False, True], ids=["in one step", "in two steps"])
def test_finding_survives_the_death_of_its_process(tmp_path: Path, apart: bool) -> None:
    path = tmp_path / "sessions.sqlite"
    keep = ["remember", {"note": NINE, "said": "Time it", "kind": "finding"}]
    steps = [[keep], DEATH] if apart else [[keep, ["die", {}]]]
    in_process(path, steps, ["says", "Time it"], dies=True)
    in_process(path, ["ok"], ["goes_on"])
    third = in_process(path, [[["recall", {"kind": "finding"}]], "ok"], ["says", "What was it?"])
    assert NINE in third["answers"][-1]
    assert third["events"] == 1
