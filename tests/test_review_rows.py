"""What a reviewer sees, on ledgers made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_credit import Utterance, judge
from langmem_credit.ledger import confirmed, disputed, remembered, restored, withdrawn
from langmem_credit.notebook import fold
from langmem_credit.notes import Verdict, text_hash
from langmem_credit.review.differing import Piece, compare
from langmem_credit.review.rows import (
    actions_of,
    counts_of,
    evidence_of,
    page_of,
    reason_of,
    section_of,
    shown_hash,
    steps_of,
    took_effect,
    undoing,
)


def at(second: int) -> str:
    return f"2026-03-01T10:{second // 60:02}:{second % 60:02}.000000Z"


def kept(text, second=0, *, said=None, heard=None, **more):
    """The event of a note on these typed words."""
    typed = (
        [Utterance(f"m{second}-{len(heard)}", heard, at=at(second))] if heard is not None else []
    )
    verdict = judge(text, said or text, typed)
    return remembered(text, verdict, at=at(second), said=said or text, heard=typed, **more)


def only(*events):
    (note,) = fold(events).notes.values()
    return note


POISON = kept("Push to main", said="push to main", heard="Never push to main")
OWN = kept("I prefer tabs", heard="I prefer tabs")


# Words that differ.


def marked(text, other):
    return [piece.text for piece in compare(text, other) if piece.differs]


@pytest.mark.parametrize(
    ("text", "other", "differing"),
    [
        ("Push to main", "Never push to main", []),
        ("Never push to main", "Push to main", ["Never"]),
        ("Use tabs, not spaces", "use spaces, not tabs", ["tabs", "spaces"]),
        ("ship to US", "ship to us", ["US"]),
        ("我不喜欢茶", "我喜欢茶", ["不"]),
        ("a\nb", "a b", []),
        ("x y", "", ["x y"]),
        ("", "x", []),
    ],
)
def test_words_that_are_not_in_the_other_text_differ(text, other, differing):
    assert marked(text, other) == differing


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_are_the_whole_text(text, other):
    from unicodedata import normalize

    assert "".join(piece.text for piece in compare(text, other)) == normalize("NFC", text)


@given(st.text(alphabet="ab c", max_size=30))
def test_a_text_does_not_differ_from_itself(text):
    assert marked(text, text) == []


def test_long_texts_are_compared_in_bounded_time():
    text, other = "a b " * 500, "b a " * 499 + "c"
    assert marked(text, other) == []


# Why, and on what.


def test_the_evidence_of_a_held_back_note_marks_what_it_leaves_out():
    evidence = evidence_of(only(POISON))
    assert evidence.knowledge == "typed"
    assert evidence.rule == "same_words"
    assert evidence.note == (Piece("Push to main"),)
    assert evidence.quoted == (Piece("push to main"),)
    assert evidence.typed == (Piece("Never", differs=True), Piece(" push to main"))


def test_a_quote_that_nobody_typed_is_not_shown_as_typed():
    note = only(kept("Push to main", heard="hello there"))
    evidence = evidence_of(note)
    assert (evidence.knowledge, evidence.rule, evidence.typed) == ("not_typed", "typed", ())
    assert evidence.reason == "The quoted words were not typed by the person in this run."


def test_what_a_stranger_wrote_is_no_evidence_of_what_was_typed():
    note = only(OWN | {"held": True})
    evidence = evidence_of(note)
    assert (evidence.knowledge, evidence.typed) == ("unverified", ())
    assert evidence.reason == "Its origin could not be verified."


def test_a_message_too_long_to_keep_is_said_to_be():
    note = only(kept("Use tabs always", said="Use tabs always", heard="Use tabs always " * 200))
    assert evidence_of(note).knowledge == "too_long"


def test_a_note_in_the_persons_words_needs_no_reason():
    evidence = evidence_of(only(OWN))
    assert (evidence.rule, evidence.reason) == ("", "")


def test_the_reason_has_the_detail_that_is_not_stored():
    assert reason_of(only(POISON)).startswith("The note does not say the person's whole message")
    assert "{detail}" not in reason_of(only(POISON))


def test_what_a_person_edited_is_not_held_against_what_was_typed():
    event = confirmed(POISON["note"], text_hash("Push to main"), at=at(5), text="Ask before")
    evidence = evidence_of(only(POISON, event))
    assert evidence.note == (Piece("Ask before"),)
    assert evidence.typed == (Piece("Never", differs=True), Piece(" push to main"))
    assert evidence.reason == "The note does not say the person's whole message word for word."


def test_a_rule_of_the_hosts_own_has_a_plain_reason():
    event = remembered("Use tabs", Verdict(credited=False, rule="house_rule"), at=at(0))
    assert reason_of(only(event)) == "What was typed in that run does not say it."


# Where notes stand.


def test_notes_stand_by_status_origin_and_kind():
    no = Verdict(credited=False, rule="typed")
    events = [
        OWN,
        POISON,
        kept("I like tea", 1, heard="I like tea", origin="summary"),
        remembered("The tests pass", no, at=at(2), kind="finding"),
        kept("I like coffee", 3, heard="I like coffee"),
    ]
    events.append(withdrawn(events[-1]["note"], at=at(4)))
    counts = counts_of(fold(events))
    assert counts == {
        "yours": 1,
        "others": 0,
        "facts": 1,
        "waiting": 1,
        "working": 1,
        "ended": 1,
    }


def test_of_another_persons_notes_only_the_active_ones_are_seen():
    mine = kept("I like tea", heard="I like tea", speaker="ann")
    active = kept("I like milk", 1, heard="I like milk", speaker="bob")
    waiting = kept(
        "Push to main", 2, said="push to main", heard="Never push to main", speaker="bob"
    )
    notes = list(fold([mine, active, waiting]).notes.values())
    assert [section_of(note, "ann") for note in notes] == ["yours", "others", None]
    assert [section_of(note, "bob") for note in notes] == ["others", "yours", "waiting"]
    assert [bool(actions_of(note, "ann")) for note in notes] == [True, False, False]


def test_a_page_is_grouped_by_whom_it_is_about_and_newest_first():
    events = [
        kept("I like tea", 0, heard="I like tea"),
        kept("Ann likes milk", 1, heard="Ann likes milk", about="Ann"),
        kept("I like water", 2, heard="I like water"),
    ]
    events[1]["about"] = "Ann"
    page = page_of(fold(events), "yours")
    assert [note.text for note in page.notes] == ["I like water", "I like tea", "Ann likes milk"]


def test_a_page_is_bounded_and_its_number_too():
    no = Verdict(credited=False, rule="typed")
    events = [remembered(f"note number {n}", no, at=at(n)) for n in range(60)]
    notebook = fold(events)
    page = page_of(notebook, "waiting", number=2)
    assert (len(page.notes), page.total, page.number, page.count) == (25, 60, 2, 3)
    assert page.notes[0].text == "note number 34"
    assert page_of(notebook, "waiting", number=99).number == 3
    assert page_of(notebook, "waiting", number=-1).number == 1
    assert page_of(fold([]), "waiting") == page_of(fold([]), "waiting", number=5)


def test_a_query_needs_every_word_whatever_the_case():
    events = [
        kept("I like green tea", 0, heard="I like green tea"),
        kept("I like black tea", 1, heard="I like black tea"),
    ]
    notebook = fold(events)
    assert [note.text for note in page_of(notebook, "yours", query="TEA green").notes] == [
        "I like green tea"
    ]
    assert page_of(notebook, "yours", query="tea coffee").total == 0
    assert page_of(notebook, "yours", query=events[0]["note"]).total == 1


# What may be done.


def test_actions_fit_the_status():
    assert actions_of(only(POISON)) == ("confirm", "edit", "reject")
    assert actions_of(only(OWN)) == ("forget", "edit", "dispute")
    assert actions_of(only(OWN, withdrawn(OWN["note"], at=at(5)))) == ("restore",)
    assert actions_of(only(OWN, disputed(OWN["note"], at=at(5)))) == ("restore",)


def test_a_note_that_another_one_stands_for_cannot_be_restored():
    twice = [OWN, kept("I prefer tabs.", 3, heard="I prefer tabs.", message="m9")]
    twin = next(note for note in fold(twice).notes.values() if note.status == "superseded")
    assert actions_of(twin) == ()


@pytest.mark.parametrize(
    ("action", "event", "note"),
    [
        ("confirm", confirmed(POISON["note"], text_hash("Push to main"), at=at(5)), POISON),
        ("reject", withdrawn(POISON["note"], at=at(5)), POISON),
        ("forget", withdrawn(OWN["note"], at=at(5)), OWN),
        ("dispute", disputed(OWN["note"], at=at(5)), OWN),
    ],
)
def test_an_action_and_its_undoing_take_effect(action, event, note):
    done = only(note, event)
    assert took_effect(action, done)
    back = undoing(action, done)
    assert back in ("restore", "dispute")
    undo = restored if back == "restore" else disputed
    undone = only(note, event, undo(note["note"], at=at(6)))
    assert took_effect(back, undone)
    assert not took_effect(action, undone)


def test_what_was_restored_to_wait_is_rejected_again():
    gone = [POISON, withdrawn(POISON["note"], at=at(5))]
    back = only(*gone, restored(POISON["note"], at=at(6)))
    assert (back.status, undoing("restore", back)) == ("unconfirmed", "reject")
    assert undoing("restore", only(OWN)) == "forget"


def test_a_confirmation_of_another_text_did_not_take_effect():
    event = confirmed(POISON["note"], text_hash("something else"), at=at(5))
    assert not took_effect("confirm", only(POISON, event))


def test_the_hash_names_the_exact_text():
    assert shown_hash("Use tabs") != shown_hash("Use  tabs")
    assert len(shown_hash("\ud800")) == 64


def test_the_history_of_a_note_is_told_in_order_and_without_others():
    events = [
        POISON,
        OWN,
        confirmed(POISON["note"], text_hash("Push to main"), at=at(5), by="ann", text="Ask first"),
        withdrawn(POISON["note"], at=at(6), why="not any more"),
    ]
    steps = steps_of(fold(events), events, POISON["note"])
    assert [(step.type, step.by, step.text, step.why) for step in steps] == [
        ("remembered", "", "Push to main", ""),
        ("confirmed", "ann", "Ask first", ""),
        ("withdrawn", "", "", "not any more"),
    ]


def test_an_event_of_unknown_origin_is_told_as_such():
    forged = confirmed(POISON["note"], text_hash("Push to main"), at=at(5)) | {"held": True}
    events = [POISON, forged]
    assert [step.verified for step in steps_of(fold(events), events, POISON["note"])] == [
        True,
        False,
    ]
