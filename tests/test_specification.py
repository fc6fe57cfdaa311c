"""The page of edits holds, and is the one that its command makes."""

from __future__ import annotations

import pytest

from tests import specification

CASES = [
    pytest.param(expected, typed, note, id=f"{edit.name}: {note[:40]}")
    for edit in specification.EDITS
    for expected, cases in ((True, edit.credited), (False, edit.refused))
    for typed, note in cases
]


@pytest.mark.parametrize(("expected", "typed", "note"), CASES)
def test_a_case_of_the_page_holds(expected, typed, note):
    assert specification.is_credited(typed, note) is expected


def test_the_page_is_the_one_that_is_made():
    assert specification.PAGE.read_text(encoding="utf-8") == specification.page()


def test_every_edit_has_cases_for_and_against():
    assert all(edit.credited and edit.refused for edit in specification.EDITS)


def test_a_case_that_does_not_hold_is_told(monkeypatch, capsys):
    wrong = specification.Edit("Wrong", "Words may go.", (("Never push", "push"),), ())
    monkeypatch.setattr(specification, "EDITS", (wrong,))

    assert specification.main([]) == 1
    assert "does not hold (Wrong)" in capsys.readouterr().err
