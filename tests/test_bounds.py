from __future__ import annotations

import itertools
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit.bounds import live_bytes, refusal, shrink, trim, waiting_bytes
from langmem_credit.digest import render
from langmem_credit.identity import sameness
from langmem_credit.ledger import Event, merge_events, trimmed, word_bytes
from langmem_credit.notebook import Notebook, fold
from langmem_credit.notes import LIMITS, Limits
from tests.notebook_support import (
    agreed,
    book,
    brought_back,
    doubted,
    forgot,
    ledgers,
    moment,
    preferences,
    said,
    texts,
    unsaid,
)

SMALL = replace(LIMITS, live_bytes=100, waiting_bytes=40)
LONG = "x" * 60


def full() -> Notebook:
    """100 bytes of live words, all the person's."""
    return book(said("a" * 50, 1), said("b" * 50, 2))


def test_a_write_that_fits_is_not_refused() -> None:
    assert refusal(book(), said("Use pnpm")) is None


def test_a_full_memory_refuses_a_note_and_names_the_remedy() -> None:
    assert refusal(full(), said("c"), SMALL) == (
        "Nothing was kept: the memory of this session is full (100 of 100 bytes). "
        "Ask the person which notes to forget."
    )


def test_what_waits_cannot_crowd_out_what_the_person_said() -> None:
    waiting = book(unsaid("a" * 40, 1))
    assert (refusal(waiting, unsaid("b", 2), SMALL), refusal(waiting, said("b", 2), SMALL)) == (
        (
            "Nothing was kept: the notes that wait for review fill their share of the memory "
            "(40 of 40 bytes). Ask the person to review them."
        ),
        None,
    )


def test_findings_share_the_room_of_what_waits() -> None:
    assert waiting_bytes(book(unsaid("a" * 40, 1, kind="finding"))) == 40


def test_bytes_are_counted_and_not_characters() -> None:
    assert live_bytes(book(said("成都"))) == 6


def test_the_quote_and_the_message_count_too() -> None:
    event = said("Use tabs", words="Please use tabs")
    assert live_bytes(book(event)) == len("Use tabs") + len("Please use tabs")


def test_forgotten_notes_leave_room() -> None:
    first = said("a" * 100, 1)
    assert refusal(book(first, forgot(first, 2)), said("b" * 100, 3), SMALL) is None


@pytest.mark.parametrize("change", [forgot, doubted])
def test_forgetting_and_disputing_are_never_refused_for_want_of_room(change: object) -> None:
    first = said("a" * 200, 1)
    assert refusal(book(first), change(first, 2), SMALL) is None  # type: ignore[operator]


def test_the_twenty_first_write_of_a_run_is_refused() -> None:
    assert (refusal(book(), said("a"), writes=19), refusal(book(), said("a"), writes=20)) == (
        None,
        (
            "This run has already made 20 writes to the memory, which is its limit. "
            "Nothing was changed: finish your answer, and write again in the next run."
        ),
    )


def test_a_note_over_the_bound_is_refused_however_it_was_made() -> None:
    event = {**said("a"), "text": "x" * 501}
    assert refusal(book(), event) == (
        "The note has 501 characters; at most 500 fit. Nothing was kept: pass a shorter one."
    )


@pytest.mark.parametrize("change", [forgot, doubted, agreed, brought_back])
def test_a_change_of_no_note_is_refused(change: object) -> None:
    stray = change({"note": "zzzzzz", "text": "x"}, 2)  # type: ignore[operator]
    assert refusal(book(), stray) == (
        "No note has this id, and nothing was changed. List the notes to see their ids."
    )


def test_forgetting_twice_is_said_to_change_nothing() -> None:
    event = said("Use pnpm", 1)
    assert refusal(book(event, forgot(event, 2)), forgot(event, 3)) == (
        f"Note {event['note']} is forgotten already: nothing was changed."
    )


def test_confirming_a_changed_note_is_refused() -> None:
    event = unsaid("Use pnpm", 1)
    assert refusal(book(event), agreed(event, 2, shown="Use npm")) == (
        f"Note {event['note']} changed after it was shown: read it and decide again."
    )


def test_confirming_a_forgotten_note_is_refused() -> None:
    event = unsaid("Use pnpm", 1)
    assert refusal(book(event, forgot(event, 2)), agreed(event, 3)) == (
        f"Note {event['note']} is forgotten: restore it first, then confirm it."
    )


def test_an_edit_needs_room() -> None:
    event = unsaid("a" * 30, 1)
    crowded = book(said("b" * 70, 0), event)
    assert (
        refusal(crowded, agreed(event, 2), SMALL),
        "is full" in str(refusal(crowded, agreed(event, 2, text="c" * 30), SMALL)),
    ) == (None, True)


def test_restoring_needs_room() -> None:
    event = said("a" * 60, 1)
    crowded = book(event, forgot(event, 2), said("b" * 60, 3))
    assert "is full" in str(refusal(crowded, brought_back(event, 4), SMALL))


def test_restoring_an_active_note_is_refused() -> None:
    event = said("Use pnpm", 1)
    assert refusal(book(event), brought_back(event, 2)) == (
        f"Note {event['note']} is active: there is nothing to restore."
    )


def test_restoring_a_disputed_note_is_not_refused() -> None:
    event = said("Use pnpm", 1)
    assert refusal(book(event, doubted(event, 2)), brought_back(event, 3)) is None


def test_an_unknown_write_is_refused() -> None:
    assert refusal(book(), {"id": "x", "type": "revised"}) == (
        "An event of the type 'revised' cannot be written here."
    )


# Shrinking.


def test_nothing_shrinks_while_the_ledger_fits() -> None:
    event = said("Use pnpm", 1)
    assert shrink([event, forgot(event, 2)]) == []


def test_a_forgotten_note_keeps_its_words_until_the_ledger_is_full() -> None:
    first, second = said("a" * 60, 1), said("b" * 60, 3)
    before = [first, forgot(first, 2)]
    after = merge_events([*before, second], shrink([*before, second], SMALL))
    assert (fold(before).others[0].text, fold(after).others[0].text) == ("a" * 60, "")


def test_the_note_forgotten_first_shrinks_first() -> None:
    first, second, third = (said(letter * 40, at) for at, letter in enumerate("abc"))
    events = [first, second, third, forgot(second, 10), forgot(first, 11)]
    notes = fold(merge_events(events, shrink(events, SMALL))).notes
    assert [notes[event["note"]].shrunk for event in (first, second)] == [False, True]


def test_corrected_notes_shrink_after_forgotten_ones() -> None:
    old, gone = said("a" * 40, 1), said("b" * 40, 2)
    events = [old, gone, said("c" * 40, 3, replaces=old["note"]), forgot(gone, 9)]
    notes = fold(merge_events(events, shrink(events, SMALL))).notes
    assert [notes[event["note"]].shrunk for event in (old, gone)] == [False, True]


def test_notes_that_have_not_ended_keep_their_words() -> None:
    events = [said(LONG, 1), unsaid(LONG + "y", 2)]
    assert shrink(events, SMALL) == []


def test_every_word_about_a_shrunk_note_goes() -> None:
    event = unsaid("a" * 30, 1, said="quote", ref="there", about="Bob")
    events = [
        event,
        agreed(event, 2, text="edited " + LONG),
        forgot(event, 3, why="reason", said="forget it"),
        said(LONG, 4),
    ]
    ledger = merge_events(events, shrink(events, SMALL))
    assert sum(word_bytes(one) for one in ledger) == len(LONG)


def test_a_shrunk_note_is_not_restored_and_the_reason_is_said() -> None:
    event = said(LONG, 1)
    events = [event, forgot(event, 2), said(LONG + "y", 3)]
    ledger = merge_events(events, shrink(events, SMALL))
    assert refusal(fold(ledger), brought_back(event, 4), SMALL) == (
        f"Note {event['note']} cannot be restored: its words were dropped to keep the memory "
        "small. Say it again to keep it as a new note."
    )


def test_a_late_save_of_a_shrunk_note_revives_nothing() -> None:
    event = said(LONG, 1)
    events = [event, forgot(event, 3), said(LONG + "y", 4)]
    late = said(LONG, 9, heard_at=2)
    ledger = merge_events([*events, late], shrink(events, SMALL))
    assert texts(fold(ledger).active) == [LONG + "y"]


def test_a_late_save_of_an_edited_shrunk_note_revives_nothing() -> None:
    event = said(LONG, 1)
    events = [event, agreed(event, 2, text="z" + LONG), forgot(event, 3), said(LONG + "y", 4)]
    late = [said(LONG, 9, heard_at=2), said("z" + LONG, 9, heard_at=2)]
    ledger = merge_events([*events, *late], shrink(events, SMALL))
    assert texts(fold(ledger).active) == [LONG + "y"]


def test_a_shrunk_correction_still_corrects() -> None:
    old = said("a" * 10, 1)
    newer = said("b" * 60, 2, replaces=old["note"])
    events = [old, newer, forgot(newer, 3), said("c" * 60, 4)]
    ledger = merge_events(events, shrink(events, SMALL))
    assert (fold(ledger).notes[newer["note"]].shrunk, fold(ledger).notes[old["note"]].status) == (
        True,
        "superseded",
    )


def test_a_shrunk_guess_that_corrected_nothing_corrects_nothing_now() -> None:
    old = said("a" * 10, 1)
    guess = unsaid("b" * 60, 2, replaces=old["note"])
    events = [old, guess, forgot(guess, 3), said("c" * 60, 4)]
    ledger = merge_events(events, shrink(events, SMALL))
    assert fold(ledger).notes[old["note"]].status == "active"


def test_shrinking_again_finds_nothing_more() -> None:
    event = said(LONG, 1)
    events = [event, forgot(event, 2), said(LONG + "y", 3)]
    ledger = merge_events(events, shrink(events, SMALL))
    assert shrink(ledger, SMALL) == []


def test_three_hundred_notes_said_and_forgotten_stay_within_the_bound() -> None:
    notes = [said(f"{number} " + "x" * 480, number) for number in range(300)]
    ledger = merge_events([*notes, *(forgot(note, 400) for note in notes)], [])
    ledger = merge_events(ledger, shrink(ledger))
    assert sum(map(word_bytes, ledger)) <= LIMITS.live_bytes


def test_lowering_the_bound_under_what_is_stored_loses_nothing_that_lives() -> None:
    events = preferences(20)
    assert (shrink(events, SMALL), len(fold(events).active)) == ([], 20)


@given(ledgers(), st.sampled_from([0, 20, 60]))
def test_shrinking_changes_no_notes_standing(events: list[Event], room: int) -> None:
    limits = replace(LIMITS, live_bytes=room)
    before, after = fold(events), fold(merge_events(events, shrink(events, limits)))
    assert {key: (note.status, note.replaced_by) for key, note in after.notes.items()} == {
        key: (note.status, note.replaced_by) for key, note in before.notes.items()
    }


@given(ledgers(), st.integers(0, 12))
def test_shrinking_early_revives_nothing_later(events: list[Event], cut: int) -> None:
    tiny = replace(LIMITS, live_bytes=0)
    early = merge_events(events, [])[:cut]
    before, after = fold(events), fold(merge_events(events, shrink(early, tiny)))
    assert {sameness(note.text) for note in after.active} <= {
        sameness(note.text) for note in before.active
    }


@given(ledgers())
def test_only_words_of_notes_that_live_are_left_when_there_is_no_room(
    events: list[Event],
) -> None:
    tiny = replace(LIMITS, live_bytes=0)
    shrunk = fold(merge_events(events, shrink(events, tiny)))
    assert sum(shrunk.words.values()) == live_bytes(shrunk)


def test_moments_of_a_shrunk_event_stay() -> None:
    event = said(LONG, 1)
    events = [event, forgot(event, 2), said(LONG + "y", 3)]
    assert {one["at"] for one in shrink(events, SMALL)} == {moment(1)}


def test_what_ended_in_this_run_keeps_its_words_for_its_digest() -> None:
    event = said(LONG, 1)
    events = [event, forgot(event, 3), said(LONG + "y", 4)]
    assert (
        shrink(events, SMALL, until=moment(2)),
        len(shrink(events, SMALL, until=moment(3))),
    ) == (
        [],
        1,
    )


@given(ledgers(), st.integers(0, 20))
def test_shrinking_leaves_the_digest_of_the_run_as_it_is(events: list[Event], minutes: int) -> None:
    tiny, as_of = replace(LIMITS, live_bytes=0), moment(minutes)
    after = merge_events(events, shrink(events, tiny, until=as_of))
    before = fold([event for event in events if event["at"] <= as_of])
    frozen = fold([event for event in after if event["at"] <= as_of])
    assert render(frozen, as_of) == render(before, as_of)


def test_a_correction_by_a_clock_that_ran_behind_counts_from_when_it_could_be_known() -> None:
    old = said("a" * 10, 0)
    guess = unsaid(LONG, 4, replaces=old["note"])
    events = [old, guess, agreed(guess, 0.5), said(LONG + "y", 5)]
    assert shrink(events, SMALL, until=moment(1)) == []


def test_a_shrunk_event_still_names_its_call() -> None:
    event = said(LONG, 1, message="m1", call="c1")
    shrunk = shrink([event, forgot(event, 2), said(LONG + "y", 3)], SMALL)
    assert [(one["message"], one["call"]) for one in shrunk] == [("m1", "c1")]


def test_words_heard_at_the_very_moment_of_the_withdrawal_are_not_late() -> None:
    event = said("Use pnpm", 1)
    again = said("Use pnpm", 3.00001, heard_at=3)
    assert texts(book(event, forgot(event, 3), again).active) == ["Use pnpm"]


# How many events.

FEW = replace(LIMITS, events=20)


def said_and_forgotten(count: int, start: int = 0) -> list[Event]:
    """So many notes, each forgotten half a minute later."""
    notes = [said(f"Rule {start + number} holds", start + number) for number in range(count)]
    return [
        event
        for number, note in enumerate(notes)
        for event in (note, forgot(note, start + number + 0.5))
    ]


def trimmed_by(events: list[Event], limits: Limits = FEW, **more: str) -> list[Event]:
    return merge_events(events, trim(events, limits, **more))


def standings(events: list[Event]) -> dict[str, str]:
    return {note_id: note.status for note_id, note in fold(events).notes.items()}


def test_nothing_leaves_while_the_events_fit() -> None:
    assert trim(said_and_forgotten(10), FEW) == []


def test_the_notes_that_ended_first_leave() -> None:
    events = [*preferences(3), *said_and_forgotten(12, 10)]
    left = trimmed_by(events)
    assert texts(fold(left).active) == [f"Rule number {number} holds." for number in range(3)]
    assert texts(fold(left).others) == [f"Rule {number} holds" for number in range(16, 22)]


def test_a_quarter_of_the_bound_is_left_free() -> None:
    assert len(trimmed_by(said_and_forgotten(11))) <= 16


def test_what_left_does_not_come_back_when_it_arrives_again() -> None:
    events = said_and_forgotten(11)
    left = trimmed_by(events)
    assert merge_events(left, events) == left


def test_what_left_does_not_come_back_by_a_late_write() -> None:
    left = trimmed_by(said_and_forgotten(11))
    late = said("Rule 0 holds", 30, words="Rule 0 holds", heard_at=0.1, utterance="u")
    after = fold(merge_events(left, [late]))
    assert (after.active, texts(after.unconfirmed)) == ((), ["Rule 0 holds"])


def test_a_late_write_stays_late_when_more_leaves() -> None:
    left = trimmed_by(said_and_forgotten(11))
    late = said("Rule 0 holds", 30, words="Rule 0 holds", heard_at=0.1, utterance="u")
    more = trimmed_by(merge_events(left, [late, *said_and_forgotten(11, 40)]))
    assert (texts(fold(more).active), texts(fold(more).unconfirmed)) == ([], ["Rule 0 holds"])
    assert len(more) < 20


def test_what_was_heard_before_and_saved_behind_what_leaves_stays_memory() -> None:
    other = said("I use zsh", 3.7, heard_at=3.4)
    left = trimmed_by([other, *said_and_forgotten(11)])
    assert texts(fold(left).active) == ["I use zsh"]
    assert "Rule 0 holds" not in texts(fold(left).others)


def test_words_heard_after_all_that_left_are_memory() -> None:
    left = trimmed_by(said_and_forgotten(11))
    again = said("Rule 0 holds", 30, heard_at=29)
    assert texts(fold(merge_events(left, [again])).active) == ["Rule 0 holds"]


def test_notes_that_live_stay_however_many_they_are() -> None:
    events = preferences(30)
    assert trim(events, FEW) == []


def test_what_ended_in_this_run_stays_for_its_digest() -> None:
    events = said_and_forgotten(11)
    assert trim(events, FEW, until=moment(0.2)) == []
    assert len(fold(trimmed_by(events, until=moment(3.7))).notes) == 7


def test_a_note_that_another_one_replaced_does_not_come_back_without_it() -> None:
    old = said("The NAS is brand A", 0)
    newer = said("The NAS is brand B", 0.1, replaces=old["note"])
    events = [old, newer, forgot(newer, 0.2), *said_and_forgotten(11, 1)]
    assert "The NAS is brand A" not in texts(fold(trimmed_by(events)).active)


def test_another_wording_does_not_come_back_without_the_one_that_was_forgotten() -> None:
    first = said("I use zsh", 0, utterance="u")
    other = said("Uses zsh", 0.3, words="I use zsh", utterance="u", heard_at=0)
    events = [first, forgot(first, 0.2), other, *said_and_forgotten(11, 1)]
    assert fold(trimmed_by(events)).active == ()


def test_a_forged_trim_takes_nothing_away() -> None:
    events = preferences(3)
    forged = trimmed([], at=moment(9), until=moment(9))
    assert len(fold(merge_events(events, [{**forged, "held": True}])).active) == 3


@pytest.mark.parametrize("key", ["until", "kept", "v", "at"])
@pytest.mark.parametrize("wrong", [None, 7, [], {}, "x", 1e400], ids=repr)
def test_a_trim_of_a_wrong_shape_does_no_harm(key: str, wrong: object) -> None:
    events = preferences(3)
    names = [event["note"] for event in events]
    odd = {**trimmed(names, at=moment(9), until=moment(9)), key: wrong}
    kept = len(fold(merge_events(events, [odd])).active)
    assert kept == (0 if (key, wrong) == ("kept", "x") else 3)


def test_a_thread_that_says_and_forgets_for_ever_stays_within_the_bound() -> None:
    events: list[Event] = []
    for number in range(100):
        events = trimmed_by(merge_events(events, said_and_forgotten(1, number)))
    assert len(events) <= FEW.events + 1


def test_trims_of_one_thread_merge_in_any_order() -> None:
    early, late = said_and_forgotten(11), said_and_forgotten(11, 20)
    one = trim(early, FEW)
    two = trim(merge_events([*early, *late], one), FEW)
    parts = [early, one, late, two]
    whole = merge_events([*early, *late], [*one, *two])
    for order in itertools.permutations(parts):
        merged: list[Event] = []
        for part in order:
            merged = merge_events(merged, part)
        assert merged == whole


@given(ledgers(), st.sampled_from([0, 2, 4, 8]), st.none() | st.integers(0, 20))
def test_trimming_changes_no_standing_of_what_stays(
    events: list[Event], most: int, minutes: int | None
) -> None:
    until = "" if minutes is None else moment(minutes)
    left = trimmed_by(events, replace(LIMITS, events=most), until=until)
    before, after = standings(events), standings(left)
    assert after == {note_id: before[note_id] for note_id in after}
    assert {"active", "unconfirmed", "disputed"}.isdisjoint(
        before[note_id] for note_id in before.keys() - after.keys()
    )


@given(ledgers(), st.sampled_from([0, 2, 4, 8]), st.integers(0, 20))
def test_trimming_leaves_the_digest_of_the_run_as_it_is(
    events: list[Event], most: int, minutes: int
) -> None:
    as_of = moment(minutes)
    left = trimmed_by(events, replace(LIMITS, events=most), until=as_of)
    frozen = [fold([event for event in part if event["at"] <= as_of]) for part in (events, left)]
    assert render(frozen[1], as_of) == render(frozen[0], as_of)


def test_more_notes_than_may_live_are_refused_with_the_remedy() -> None:
    assert refusal(book(*preferences(10)), said("Use pnpm", 99), FEW) == (
        "Nothing was kept: the memory of this session holds 10 notes, and no more fit. "
        "Ask the person which notes to forget."
    )


def test_more_notes_than_may_wait_are_refused_and_leave_room_for_what_the_person_says() -> None:
    waiting = book(*[unsaid(f"Guess {number}", number) for number in range(5)])
    assert (refusal(waiting, unsaid("x", 9), FEW), refusal(waiting, said("Use pnpm", 9), FEW)) == (
        (
            "Nothing was kept: 5 notes wait for review, and no more may. "
            "Ask the person to review them."
        ),
        None,
    )


@pytest.mark.parametrize("change", [forgot, doubted, agreed])
def test_forgetting_and_deciding_are_never_refused_for_the_number_of_notes(change: object) -> None:
    events = [unsaid(f"Guess {number}", number) for number in range(30)]
    assert refusal(book(*events), change(events[0], 40), FEW) is None  # type: ignore[operator]


def test_shrinking_twice_as_many_notes_takes_about_twice_the_time() -> None:
    def seconds(count: int) -> float:
        events = said_and_forgotten(count)
        tiny = replace(LIMITS, live_bytes=0, events=10**6)
        fastest = []
        for _ in range(3):
            start = time.process_time()
            shrink(events, tiny)
            fastest.append(time.process_time() - start)
        return min(fastest)

    assert seconds(800) / seconds(400) <= 3.0
