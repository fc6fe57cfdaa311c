from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit.bounds import refusal, shrink
from langmem_credit.digest import render
from langmem_credit.ledger import (
    Event,
    confirmed,
    merge_events,
    new_note_id,
    next_at,
    tombstone,
)
from langmem_credit.notebook import Conflict, fold
from langmem_credit.notes import LIMITS
from langmem_credit.recall import recall, render_recall
from tests.notebook_support import (
    TODAY,
    agreed,
    book,
    brought_back,
    doubted,
    forgot,
    ledgers,
    loose,
    moment,
    said,
    status,
    texts,
    unsaid,
)

# Some noise on a busy machine; a loop over a loop shows as four times.
MOST_GROWTH = 3.0


def crowd(shape: str, count: int) -> list[Event]:
    """So many notes that all have to do with each other, and what was done to them."""
    words = "I always use zsh"
    events: list[Event] = []
    last = ""
    for number in range(count):
        text = f"{words} {'.' * (number % 2)}" if shape in ("replaced", "forgotten") else words
        if shape == "reworded":
            text = f"Always uses zsh, number {number}"
        make = loose if shape == "loose" and number % 2 else said
        note = make(text, number, words=words, utterance="u", replaces=last, call=f"c{number}")
        events.append(note)
        if shape == "replaced":
            last = note["note"]
        if shape == "forgotten":
            events.append(forgot(note, number + 0.5))
    return events


def growth(events: Callable[[int], list[Event]], count: int = 600) -> float:
    """How many times longer it takes to fold twice as many."""
    fastest = []
    for size in (count, 2 * count):
        ledger = events(size)
        seconds = []
        for _ in range(4):
            start = time.process_time()
            fold(ledger)
            seconds.append(time.process_time() - start)
        fastest.append(min(seconds))
    return fastest[1] / fastest[0]


PNPM = said("Use pnpm", 1)
WAITING = unsaid("Uses a Mac", 1)


# What a note is.


def test_a_credited_note_is_active() -> None:
    assert texts(book(PNPM).active) == ["Use pnpm"]


def test_an_uncredited_note_waits() -> None:
    notebook = book(WAITING)
    assert (texts(notebook.active), texts(notebook.unconfirmed)) == ([], ["Uses a Mac"])


def test_the_agents_finding_is_kept_apart_from_what_waits_for_review() -> None:
    notebook = book(unsaid("The cache is cold", kind="finding"))
    assert (texts(notebook.unconfirmed), texts(notebook.findings)) == ([], ["The cache is cold"])


def test_notes_stand_oldest_first() -> None:
    assert texts(book(said("B", 2), said("A", 3), said("C", 1)).active) == ["C", "B", "A"]


def test_a_note_carries_what_its_event_says() -> None:
    event = said(
        "Use tabs",
        1,
        words="Please use tabs",
        kind="preference",
        about="Bob",
        core=True,
        ref="docs/style.md",
        by="coder",
        message="m1",
    )
    note = book(event).active[0]
    assert (
        note.id,
        note.kind,
        note.about,
        note.core,
        note.said,
        note.span,
        note.ref,
        note.by,
        note.message_id,
        note.origin,
        note.at,
        note.credited,
    ) == (
        event["note"],
        "preference",
        "Bob",
        True,
        "Please use tabs",
        (0, 15),
        "docs/style.md",
        "coder",
        "m1",
        "person",
        moment(1),
        True,
    )


def test_the_words_that_a_verdict_rests_on_can_be_read_back() -> None:
    event = said("Use tabs", 1, words="Please use tabs", utterance="u7")
    assert book(event).active[0].verdict == {
        "rule": "",
        "utterance": "u7",
        "heard": "Please use tabs",
        "language": "en",
        "version": "",
        "ignored": [],
    }


def test_an_empty_ledger_is_an_empty_notebook() -> None:
    notebook = fold([])
    assert (notebook.notes, notebook.unknown, notebook.conflicts, notebook.last_at) == (
        {},
        (),
        (),
        "",
    )


def test_the_newest_verified_moment_is_known() -> None:
    assert book(PNPM, {**WAITING, "at": moment(99), "held": True}).last_at == moment(1)


def test_a_notebook_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        book(PNPM).notes["x"] = book(PNPM).active[0]  # type: ignore[index]


def test_what_became_of_an_event_is_found_by_the_event() -> None:
    note = book(PNPM).of_event(PNPM)
    assert note is not None
    assert note.id == PNPM["note"]


# Confirming.


def test_a_confirmed_note_is_active_and_says_by_whom() -> None:
    note = book(WAITING, agreed(WAITING, 2, by="ann")).active[0]
    assert (note.confirmed_by, note.confirmed_at, note.credited) == ("ann", moment(2), False)


def test_a_confirmation_of_another_text_changes_nothing_and_is_reported() -> None:
    other = agreed(WAITING, 2, shown="Uses Windows")
    notebook = book(WAITING, other)
    assert (texts(notebook.active), notebook.conflicts) == (
        [],
        (Conflict(other["id"], WAITING["note"], "the person was shown another text"),),
    )


def test_an_edited_confirmation_replaces_the_text() -> None:
    note = book(WAITING, agreed(WAITING, 2, text="Uses Linux")).active[0]
    assert (note.text, note.edited) == ("Uses Linux", True)


def test_an_edited_note_is_no_longer_credited() -> None:
    note = book(PNPM, agreed(PNPM, 2, text="Use npm")).active[0]
    assert (note.credited, note.confirmed_by) == (False, "person")


def test_of_two_edits_at_once_the_first_stands_and_the_other_is_reported() -> None:
    notebook = book(
        WAITING, agreed(WAITING, 2, text="Uses Linux"), agreed(WAITING, 3, text="Uses BSD")
    )
    assert (texts(notebook.active), len(notebook.conflicts)) == (["Uses Linux"], 1)


def test_confirming_a_credited_note_leaves_it_credited() -> None:
    assert book(PNPM, agreed(PNPM, 2)).active[0].credited


def test_one_confirmation_makes_only_its_own_note_active() -> None:
    other = unsaid("Uses Windows", 2)
    assert texts(book(WAITING, other, agreed(other, 3)).active) == ["Uses Windows"]


# Withdrawing and restoring.


def test_a_withdrawn_note_is_forgotten_with_its_reason() -> None:
    note = book(PNPM, forgot(PNPM, 2, why="changed tools")).others[0]
    assert (note.status, note.why, note.text) == ("forgotten", "changed tools", "Use pnpm")


@pytest.mark.parametrize(
    "late",
    [
        agreed(WAITING, 9),
        agreed(WAITING, 9, text="Uses Linux"),
        {**WAITING, "at": moment(9)},
        {**WAITING, "at": moment(9), "credited": True},
        doubted(WAITING, 9),
    ],
    ids=["confirmed", "edited", "replayed", "replayed as credited", "disputed"],
)
def test_nothing_late_revives_a_withdrawn_note(late: Event) -> None:
    assert status([WAITING, forgot(WAITING, 3), late], WAITING) == "forgotten"


def test_a_second_run_that_saves_what_was_heard_before_the_withdrawal_revives_nothing() -> None:
    late = said("Use pnpm", 9, heard_at=2)
    assert status([PNPM, forgot(PNPM, 3), late], late) == "forgotten"


def test_saving_the_withdrawn_utterance_once_more_revives_nothing() -> None:
    late = said("Use pnpm.", 9, utterance="u-1", heard_at=None)
    assert status([PNPM, forgot(PNPM, 3), late], late) == "forgotten"


def test_words_heard_after_the_withdrawal_make_a_new_note() -> None:
    again = said("Use pnpm", 9, heard_at=8)
    notebook = book(PNPM, forgot(PNPM, 3), again)
    assert [note.id for note in notebook.active] == [again["note"]] != [PNPM["note"]]


def test_a_late_save_is_known_by_the_text_before_an_edit_too() -> None:
    late = said("Use pnpm", 9, heard_at=0)
    assert status([PNPM, agreed(PNPM, 2, text="Use bun"), forgot(PNPM, 3), late], late) == (
        "forgotten"
    )


def test_a_late_save_of_a_disputed_note_is_disputed() -> None:
    late = said("Use pnpm", 9, heard_at=2)
    assert status([PNPM, doubted(PNPM, 3), late], late) == "disputed"


def test_a_late_save_of_a_corrected_note_stays_corrected() -> None:
    newer, late = said("Use bun", 3, replaces=PNPM["note"]), said("Use pnpm", 9, heard_at=2)
    assert texts(book(PNPM, newer, late).active) == ["Use bun"]


def test_a_withdrawal_that_arrives_before_its_note_still_counts() -> None:
    assert status([forgot(PNPM, 0), PNPM], PNPM) == "forgotten"


def test_only_restoring_after_the_withdrawal_brings_a_note_back() -> None:
    assert status([PNPM, forgot(PNPM, 2), brought_back(PNPM, 3)], PNPM) == "active"


def test_restoring_before_the_withdrawal_counts_for_nothing() -> None:
    assert status([PNPM, brought_back(PNPM, 2), forgot(PNPM, 3)], PNPM) == "forgotten"


def test_a_restored_note_may_be_withdrawn_again() -> None:
    events = [PNPM, forgot(PNPM, 2), brought_back(PNPM, 3), forgot(PNPM, 4)]
    assert status(events, PNPM) == "forgotten"


def test_restoring_makes_no_waiting_note_active() -> None:
    events = [WAITING, forgot(WAITING, 2), brought_back(WAITING, 3)]
    assert status(events, WAITING) == "unconfirmed"


def test_a_confirmation_while_a_note_was_forgotten_does_not_count_when_it_is_back() -> None:
    events = [WAITING, forgot(WAITING, 2), agreed(WAITING, 3), brought_back(WAITING, 4)]
    assert status(events, WAITING) == "unconfirmed"


def test_a_forgotten_note_does_not_expire() -> None:
    expired = {"v": 1, "id": "a", "type": "expired", "at": moment(3), "note": PNPM["note"]}
    assert status([PNPM, forgot(PNPM, 2), expired], PNPM) == "forgotten"


def test_forgetting_an_expired_note_forgets_it() -> None:
    expired = {"v": 1, "id": "a", "type": "expired", "at": moment(2), "note": PNPM["note"]}
    assert status([PNPM, expired, forgot(PNPM, 3)], PNPM) == "forgotten"


def test_restoring_what_was_not_withdrawn_is_reported() -> None:
    notebook = book(WAITING, brought_back(WAITING, 2))
    assert [conflict.reason for conflict in notebook.conflicts] == [
        "there was nothing to take back"
    ]


def test_forgetting_one_note_leaves_the_others() -> None:
    other = said("Use tabs", 2)
    assert texts(book(PNPM, other, forgot(other, 3)).active) == ["Use pnpm"]


def test_an_event_about_no_note_is_reported() -> None:
    stray = confirmed("zzzzzz", "hash", at=moment(1))
    assert book(stray).conflicts == (Conflict(stray["id"], "zzzzzz", "there is no such note"),)


# Disputing.


def test_a_disputed_note_leaves_the_digest_and_does_not_wait() -> None:
    notebook = book(PNPM, doubted(PNPM, 2))
    assert (notebook.active, notebook.unconfirmed, notebook.others[0].status) == (
        (),
        (),
        "disputed",
    )


def test_confirming_settles_a_dispute() -> None:
    assert status([PNPM, doubted(PNPM, 2), agreed(PNPM, 3)], PNPM) == "active"


def test_restoring_settles_a_dispute() -> None:
    assert status([PNPM, doubted(PNPM, 2), brought_back(PNPM, 3)], PNPM) == "active"


def test_a_confirmation_before_the_dispute_does_not_settle_it() -> None:
    assert status([PNPM, agreed(PNPM, 2), doubted(PNPM, 3)], PNPM) == "disputed"


# Correcting.


NAS_A = said("The NAS is brand A", 1)
NAS_B = said("The NAS is brand B", 2, replaces=NAS_A["note"])


def test_a_correction_leaves_one_of_the_two_active() -> None:
    notebook = book(NAS_A, NAS_B)
    assert texts(notebook.active) == ["The NAS is brand B"]


def test_a_corrected_note_names_the_newer_one() -> None:
    note = book(NAS_A, NAS_B).others[0]
    assert (note.status, note.replaced_by) == ("superseded", NAS_B["note"])


def test_an_unconfirmed_correction_corrects_nothing_yet() -> None:
    guess = unsaid("The NAS is brand C", 2, replaces=NAS_A["note"])
    assert texts(book(NAS_A, guess).active) == ["The NAS is brand A"]


def test_a_confirmed_correction_corrects() -> None:
    guess = unsaid("The NAS is brand C", 2, replaces=NAS_A["note"])
    assert texts(book(NAS_A, guess, agreed(guess, 3)).active) == ["The NAS is brand C"]


def test_a_held_correction_corrects_nothing() -> None:
    assert texts(book(NAS_A, {**NAS_B, "held": True}).active) == ["The NAS is brand A"]


def test_forgetting_the_newer_note_does_not_bring_the_older_one_back() -> None:
    assert book(NAS_A, NAS_B, forgot(NAS_B, 3)).active == ()


def test_restoring_brings_the_older_note_back() -> None:
    notebook = book(NAS_A, NAS_B, forgot(NAS_B, 3), brought_back(NAS_A, 4))
    assert texts(notebook.active) == ["The NAS is brand A"]


def test_restoring_the_newer_note_corrects_again() -> None:
    notebook = book(NAS_A, NAS_B, forgot(NAS_B, 3), brought_back(NAS_A, 4), brought_back(NAS_B, 5))
    assert texts(notebook.active) == ["The NAS is brand B"]


def test_of_two_corrections_at_once_the_first_is_named() -> None:
    other = said("The NAS is brand C", 3, replaces=NAS_A["note"])
    assert book(NAS_A, NAS_B, other).notes[NAS_A["note"]].replaced_by == NAS_B["note"]


def test_a_late_confirmation_of_the_older_note_does_not_bring_it_back() -> None:
    assert texts(book(NAS_A, NAS_B, agreed(NAS_A, 3)).active) == ["The NAS is brand B"]


def test_a_note_does_not_replace_itself() -> None:
    event = said("Use pnpm", 1)
    assert status([{**event, "replaces": event["note"]}], event) == "active"


def test_a_correction_whose_older_note_comes_later_still_corrects() -> None:
    assert texts(book({**NAS_B, "at": moment(0)}, NAS_A).active) == ["The NAS is brand B"]


def test_two_notes_that_replace_each_other_do_no_harm() -> None:
    other = said("The NAS is brand B", 2, replaces=NAS_A["note"])
    assert len(book({**NAS_A, "replaces": other["note"]}, other).active) == 1


# One text, one note.


def test_the_same_text_saved_twice_is_one_note() -> None:
    notebook = book(said("Use pnpm", 1), said("use pnpm.", 2))
    assert texts(notebook.active) == ["Use pnpm"]


def test_an_uncredited_save_of_an_active_note_does_not_wait() -> None:
    notebook = book(PNPM, unsaid("Use pnpm", 2))
    assert (texts(notebook.active), notebook.unconfirmed) == (["Use pnpm"], ())


def test_a_credited_save_of_a_waiting_note_takes_its_place() -> None:
    waiting = unsaid("Use pnpm", 0)
    notebook = book(waiting, PNPM)
    assert (texts(notebook.active), notebook.unconfirmed) == (["Use pnpm"], ())


def test_forgetting_one_of_two_equal_notes_lets_the_other_not_step_forward() -> None:
    again = said("Use pnpm", 2)
    assert book(PNPM, again, forgot(PNPM, 3)).active == ()


def test_disputing_one_of_two_equal_notes_lets_the_other_not_step_forward() -> None:
    again = said("Use pnpm", 2)
    assert book(PNPM, again, doubted(PNPM, 3)).active == ()


def test_correcting_one_of_two_equal_notes_lets_the_other_not_step_forward() -> None:
    again = said("The NAS is brand A", 1.5)
    assert texts(book(NAS_A, again, NAS_B).active) == ["The NAS is brand B"]


def test_the_same_words_of_two_speakers_are_two_notes() -> None:
    notebook = book(said("Use pnpm", 1, speaker="ann"), said("Use pnpm", 2, speaker="bob"))
    assert [note.speaker for note in notebook.active] == ["ann", "bob"]


def test_one_speaker_forgetting_leaves_the_others_note() -> None:
    ann, bob = said("Use pnpm", 1, speaker="ann"), said("Use pnpm", 2, speaker="bob")
    assert [note.speaker for note in book(ann, bob, forgot(ann, 3)).active] == ["bob"]


def test_an_edit_to_the_text_of_another_note_leaves_one() -> None:
    other = said("Use bun", 2)
    notebook = book(PNPM, other, agreed(PNPM, 3, text="Use bun"))
    assert texts(notebook.active) == ["Use bun"]


@pytest.mark.parametrize("same", ["Use pnpm", "use pnpm", " USE   PNPM! ", "Use pnpm."])
def test_the_same_text_is_found(same: str) -> None:
    note = book(PNPM).same_text(same)
    assert note is not None
    assert note.id == PNPM["note"]


@pytest.mark.parametrize("other", ["Use npm", "", None, 7, "Use pnpm?", "x" * 1_000_000], ids=str)
def test_another_text_is_not_found(other: object) -> None:
    assert book(PNPM).same_text(other) is None


def test_a_forgotten_text_is_not_found() -> None:
    assert book(PNPM, forgot(PNPM, 2)).same_text("Use pnpm") is None


def test_the_same_text_is_looked_for_among_the_speakers_own() -> None:
    ann, bob = said("Use pnpm", 1, speaker="ann"), said("Use pnpm", 2, speaker="bob")
    note = book(ann, bob).same_text("use pnpm", speaker="bob")
    assert note is not None
    assert note.id == bob["note"]


# One stretch of words, one note.

ZSH = said("I always use zsh", 1, utterance="u1", heard_at=0)
REWORDED = said("Always uses zsh", 2, words="I always use zsh", utterance="u1", heard_at=0)
LOOSE = loose("Loves zsh", 2, words="I always use zsh", utterance="u1", heard_at=0)


def test_another_wording_of_the_same_words_does_not_stand_beside_the_first() -> None:
    note = book(ZSH, REWORDED).others[0]
    assert (note.status, note.replaced_by, note.why) == (
        "superseded",
        ZSH["note"],
        "Another note rests on the same words.",
    )


def test_the_same_words_of_a_later_utterance_do_not_stand_beside_the_first() -> None:
    again = said("Always uses zsh", 9, words="I always use zsh", utterance="u9")
    assert texts(book(ZSH, again).active) == ["I always use zsh"]


def test_the_same_words_of_another_speaker_stand_beside_them() -> None:
    bob = said("Always uses zsh", 2, words="I always use zsh", speaker="bob")
    assert texts(book(ZSH, bob).active) == ["I always use zsh", "Always uses zsh"]


def test_another_wording_heard_before_the_withdrawal_revives_nothing() -> None:
    late = {**REWORDED, "at": moment(9), "heard": {"u": "u1", "ago": 9 * 60_000_000}}
    assert status([ZSH, forgot(ZSH, 3), late], late) == "forgotten"


def test_another_wording_about_somebody_else_revives_nothing() -> None:
    late = said("Always uses zsh", 9, words="I always use zsh", about="Bob", heard_at=2)
    assert status([ZSH, forgot(ZSH, 3), late], late) == "forgotten"


def test_forgetting_the_first_wording_lets_no_other_step_forward() -> None:
    assert book(ZSH, REWORDED, LOOSE, forgot(ZSH, 3)).active == ()


def test_another_wording_of_corrected_words_stays_corrected() -> None:
    newer = said("I use fish now", 3, replaces=ZSH["note"])
    late = said("Always uses zsh", 9, words="I always use zsh", heard_at=2)
    assert texts(book(ZSH, newer, late).active) == ["I use fish now"]


def test_words_said_again_after_the_withdrawal_are_a_note_in_any_wording() -> None:
    again = said("Always uses zsh", 9, words="I always use zsh", utterance="u1", heard_at=8)
    assert texts(book(ZSH, forgot(ZSH, 3), again).active) == ["Always uses zsh"]


def test_a_corrected_note_can_be_forgotten_too() -> None:
    other = said("The NAS is brand A", 1.5)
    events = [NAS_A, other, NAS_B, forgot(other, 3), forgot(NAS_A, 4)]
    assert (status(events, NAS_A), status(events, other)) == ("forgotten", "forgotten")


def test_another_wording_may_be_restored() -> None:
    assert texts(book(ZSH, REWORDED, brought_back(REWORDED, 3)).active) == [
        "I always use zsh",
        "Always uses zsh",
    ]


def test_another_wording_that_corrects_a_note_corrects_it() -> None:
    old = said("I use bash", 0.5)
    again = {**REWORDED, "replaces": old["note"]}
    notes = book(old, ZSH, again).notes
    assert (notes[old["note"]].replaced_by, notes[ZSH["note"]].status) == (ZSH["note"], "active")


@pytest.mark.parametrize("order", [0.5, 2], ids=["before", "after"])
def test_what_waits_from_a_credited_stretch_does_not_wait(order: float) -> None:
    waiting = loose("Loves zsh", order, words="I always use zsh", utterance="u1", heard_at=0)
    notebook = book(ZSH, waiting)
    assert (notebook.unconfirmed, notebook.notes[waiting["note"]].replaced_by) == (
        (),
        ZSH["note"],
    )


@pytest.mark.parametrize(
    "other",
    [
        loose("Loves zsh", 2, words="I always use zsh", utterance="u2", heard_at=0),
        loose("Loves zsh", 2, words="I always use zsh", utterance="u1", heard_at=0.5),
        {**LOOSE, "span": [90, 99]},
        unsaid("Loves zsh", 2),
    ],
    ids=["another utterance", "the id used again", "another stretch", "no utterance"],
)
def test_what_waits_from_elsewhere_goes_on_waiting(other: Event) -> None:
    assert texts(book({**ZSH, "span": [0, 16]}, other).unconfirmed) == ["Loves zsh"]


def test_a_finding_from_a_credited_stretch_stays_a_finding() -> None:
    assert texts(book(ZSH, {**LOOSE, "kind": "finding"}).findings) == ["Loves zsh"]


def test_a_held_note_from_a_credited_stretch_goes_on_waiting() -> None:
    assert texts(book(ZSH, {**LOOSE, "held": True}).unconfirmed) == ["Loves zsh"]


def test_what_was_confirmed_is_not_taken_away_by_the_credited_words() -> None:
    waiting = loose("Loves zsh", 0.5, words="I always use zsh", utterance="u1", heard_at=0)
    assert texts(book(waiting, agreed(waiting, 0.7), ZSH).active) == [
        "Loves zsh",
        "I always use zsh",
    ]


def test_another_wording_of_an_edited_note_does_not_undo_the_edit() -> None:
    edit = agreed(ZSH, 1.5, text="I use zsh at home")
    assert texts(book(ZSH, edit, REWORDED).active) == ["I use zsh at home"]


@pytest.mark.parametrize("shape", ["replaced", "forgotten", "reworded", "loose"])
def test_folding_twice_as_many_events_of_one_text_takes_about_twice_the_time(shape: str) -> None:
    assert growth(lambda count: crowd(shape, count)) <= MOST_GROWTH


# Held events.


def test_a_held_note_waits_whatever_it_claims() -> None:
    notebook = book({**PNPM, "held": True})
    assert (notebook.active, notebook.unconfirmed[0].credited, notebook.unconfirmed[0].origin) == (
        (),
        False,
        "agent",
    )


@pytest.mark.parametrize(
    "change",
    [agreed(PNPM, 2), forgot(PNPM, 2), doubted(PNPM, 2)],
    ids=["confirmed", "withdrawn", "disputed"],
)
def test_a_held_change_changes_nothing(change: Event) -> None:
    assert status([PNPM, {**change, "held": True}], PNPM) == "active"


def test_a_held_restoration_revives_nothing() -> None:
    assert status([PNPM, forgot(PNPM, 2), {**brought_back(PNPM, 3), "held": True}], PNPM) == (
        "forgotten"
    )


def test_a_held_note_takes_no_verified_notes_id() -> None:
    thief = {**said("Delete everything", 0), "note": PNPM["note"], "held": True}
    note = book(thief, PNPM).get(PNPM["note"])
    assert note is not None
    assert note.text == "Use pnpm"


def test_a_held_earlier_copy_does_not_hide_a_waiting_note() -> None:
    copy = {**unsaid("Uses a Mac", 0, call="other"), "held": True}
    assert [note.id for note in book(copy, WAITING).unconfirmed] == [WAITING["note"]]


# Ids.


def test_two_events_with_one_note_id_are_two_notes() -> None:
    other = {**said("Use tabs", 2), "note": PNPM["note"]}
    assert list(book(PNPM, other).notes) == [PNPM["note"], new_note_id(other["id"], [PNPM["note"]])]


@pytest.mark.parametrize("wrong", [None, 7, "", "../../etc", "x" * 99, ["a"], "K3M9XZ"], ids=repr)
def test_an_unusable_note_id_is_replaced(wrong: object) -> None:
    assert list(book({**PNPM, "note": wrong}).notes) == [new_note_id(PNPM["id"])]


@pytest.mark.parametrize("form", ["{}", " {} ", "[{}]", "#{}", "({})", '"{}"', "{}."])
def test_an_id_is_understood_as_people_and_models_write_it(form: str) -> None:
    note = book(PNPM).get(form.format(PNPM["note"].upper()))
    assert note is not None
    assert note.id == PNPM["note"]


@pytest.mark.parametrize(
    "unknown",
    [
        "M99",
        "0",
        "8a6e0804-2bd0-4672-b79d-d97027f9071a",
        "",
        None,
        7,
        {},
        "%",
        "'",
        "x" * 10**6,
    ],
    ids=lambda value: repr(value)[:20],
)
def test_an_id_that_names_nothing_finds_nothing(unknown: object) -> None:
    assert book(PNPM).get(unknown) is None


# What is not known.


@pytest.mark.parametrize(
    "event",
    [
        {"v": 1, "id": "a", "type": "linked", "at": moment(1)},
        {"v": 1, "id": "a", "type": "merged", "at": moment(1)},
        {"v": 1, "id": "a", "type": "revised", "at": moment(1), "note": PNPM["note"], "text": "x"},
        {"v": 2, "id": "a", "type": "remembered", "at": moment(1), "text": "x", "credited": True},
        {"v": "new", "id": "a", "type": "confirmed", "at": moment(1)},
        {"v": 1, "id": "a", "type": ["remembered"], "at": moment(1)},
        {"v": 1, "id": "a", "at": moment(1)},
        {"id": "a"},
    ],
    ids=lambda event: str(event.get("type")),
)
def test_an_unknown_event_is_kept_and_reported(event: Event) -> None:
    notebook = book(PNPM, event)
    assert (notebook.unknown, texts(notebook.active)) == ((event,), ["Use pnpm"])


@pytest.mark.parametrize(
    ("event_type", "becomes"),
    [
        ("withdrawn", "forgotten"),
        ("erased", "forgotten"),
        ("expired", "expired"),
        ("disputed", "disputed"),
    ],
)
def test_what_ends_a_note_is_heeded_even_from_a_newer_version(
    event_type: str, becomes: str
) -> None:
    newer = {"v": 2, "id": "a", "type": event_type, "at": moment(5), "note": PNPM["note"]}
    assert (status([PNPM, newer], PNPM), book(PNPM, newer).unknown) == (becomes, (newer,))


@pytest.mark.parametrize(
    "field",
    [
        "text",
        "said",
        "kind",
        "credited",
        "rule",
        "heard",
        "span",
        "lang",
        "about",
        "core",
        "ref",
        "origin",
        "by",
        "speaker",
        "message",
        "replaces",
        "ignored",
        "at",
        "note",
        "keys",
        "v",
    ],
)
@pytest.mark.parametrize(
    "wrong",
    [
        None,
        7,
        1e400,
        [],
        {},
        [[]],
        {"u": 3, "ago": "x"},
        b"\0",
        "\ud83d",
        [1, 2, 3],
        {"u": "u", "ago": -5},
    ],
    ids=repr,
)
def test_a_field_of_a_wrong_type_does_no_harm(field: str, wrong: Any) -> None:
    notebook = book({**said("Use tabs", 1), field: wrong}, PNPM, forgot(PNPM, 2))
    assert notebook.get(PNPM["note"]).status == "forgotten"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "ledger", [None, "x", 7, {"id": "a"}, [None, 3], object()], ids=lambda one: f"{one!r:.9}"
)
def test_a_ledger_that_is_none_folds_to_nothing(ledger: object) -> None:
    assert fold(ledger).notes == {}


# Tombstones.


def test_a_note_without_its_words_stays_forgotten() -> None:
    events = merge_events([PNPM, forgot(PNPM, 2)], [tombstone(PNPM)])
    note = fold(events).others[0]
    assert (note.status, note.text, note.said, note.shrunk) == ("forgotten", "", "", True)


def test_a_note_without_its_words_is_not_restored() -> None:
    notebook = book(tombstone(PNPM), forgot(PNPM, 2), brought_back(PNPM, 3))
    assert (notebook.active, [one.reason for one in notebook.conflicts]) == (
        (),
        ["its words were dropped to keep the ledger small"],
    )


def test_a_note_without_its_words_stands_for_no_other() -> None:
    lost = [tombstone(PNPM), forgot(PNPM, 2), brought_back(PNPM, 3)]
    again = [said("Use pnpm", 9, heard_at=8), said("Use pnpm", 10, heard_at=8.5)]
    assert [note.id for note in book(*lost, *again).active] == [again[0]["note"]]


def test_a_held_tombstone_corrects_nothing_and_is_not_active() -> None:
    forged = {**tombstone(NAS_B), "held": True}
    assert texts(book(NAS_A, forged).active) == ["The NAS is brand A"]


# The order of the list.


@given(ledgers(), st.randoms(use_true_random=False))
def test_the_fold_does_not_depend_on_the_order_of_the_list(
    events: list[Event], chance: random.Random
) -> None:
    shuffled = [*events, *events]
    chance.shuffle(shuffled)
    assert fold(shuffled) == fold(events)


@given(ledgers())
def test_at_most_one_note_of_a_text_is_active_or_waits(events: list[Event]) -> None:
    notebook = fold(events)
    standing = [
        (note.text.lower().rstrip("."), note.about)
        for note in (*notebook.active, *notebook.unconfirmed)
    ]
    assert len(standing) == len(set(standing))


@given(ledgers())
def test_every_active_note_is_credited_or_confirmed(events: list[Event]) -> None:
    assert all(note.credited or note.confirmed_by for note in fold(events).active)


@given(ledgers())
def test_held_events_never_make_a_note_active(events: list[Event]) -> None:
    assert fold([{**event, "held": True} for event in events]).active == ()


@given(ledgers())
def test_withdrawing_everything_last_leaves_nothing_active(events: list[Event]) -> None:
    born = [event for event in events if event["type"] == "remembered"]
    assert fold([*events, *(forgot(event, 99) for event in born)]).active == ()


# Anything at all.

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
FIELDS = {
    "v": st.sampled_from([1, 2, "1", None]),
    "id": st.sampled_from(["a", "b", "c", "d", ""]),
    "type": st.sampled_from(
        ["remembered", "confirmed", "withdrawn", "restored", "disputed", "erased", "expired", "x"]
    ),
    "at": st.sampled_from([moment(1), moment(2), "2026-03-01T23:00:00+14:00", "", "x"]),
    "note": st.sampled_from(["k3m9xz", "k3m9xy", "zz", ""]),
    "text": st.text(max_size=12),
    "hash": st.text(max_size=4),
    "key": st.text(max_size=4),
    "then": st.text(max_size=4),
    "replaces": st.sampled_from(["k3m9xz", "k3m9xy"]),
    "credited": st.booleans(),
    "held": st.booleans(),
    "shrunk": st.booleans(),
    "heard": st.fixed_dictionaries({}, optional={"u": ANYTHING, "t": ANYTHING, "ago": ANYTHING}),
    "about": st.text(max_size=3),
    "kind": st.sampled_from(["finding", "fact"]),
    "said": ANYTHING,
    "why": ANYTHING,
    "by": ANYTHING,
    "origin": ANYTHING,
    "span": ANYTHING,
}
WILD = st.lists(
    st.fixed_dictionaries({}, optional={key: value | ANYTHING for key, value in FIELDS.items()})
    | ANYTHING,
    max_size=8,
)


@given(WILD, st.randoms(use_true_random=False))
def test_no_ledger_breaks_what_reads_it(wild: list[Any], chance: random.Random) -> None:
    notebook = fold(wild)
    shuffled = [*wild]
    chance.shuffle(shuffled)
    assert repr(fold(shuffled)) == repr(notebook)
    assert len(render(notebook, TODAY).encode()) <= LIMITS.digest
    assert len(render_recall(recall(notebook, query="a"), TODAY).encode()) <= LIMITS.recall
    tiny = replace(LIMITS, live_bytes=0)
    after = fold(merge_events(wild, shrink(wild, tiny)))
    assert [note.id for note in after.active] == [note.id for note in notebook.active]
    assert refusal(notebook, unsaid("x")) is None
    assert next_at(TODAY, wild) >= TODAY
