"""Ages and dates: when something was said, in UTC, whatever the clocks and time zones are."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime, timedelta
from typing import Any

import pytest

from langmem_credit.digest import render
from langmem_credit.events import remembered
from langmem_credit.identity import instant
from langmem_credit.notes import Utterance, Verdict
from langmem_credit.recall import recall, render_recall
from tests.graph_support import remembering, talk
from tests.notebook_support import TODAY, book, moment, said
from tests.project_support import ROOT

MEETING = "The meeting is tomorrow at 3"
TYPED = "Remember that the meeting is tomorrow at 3"
MIDNIGHT = 15 * 60  # minutes after the tests' start at nine


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("- ")]


def recalled(notebook: Any, as_of: str = TODAY) -> str:
    (line,) = lines(render_recall(recall(notebook, query="meeting"), as_of))
    return line


def test_tomorrow_is_shown_with_the_date_it_was_said() -> None:
    notebook = book(said(MEETING))
    assert lines(render(notebook, TODAY))[0].endswith("(you said so on 2026-03-01, 2 weeks ago)")
    assert "you said so on 2026-03-01, 2 weeks ago" in recalled(notebook)


def test_date_is_that_of_the_words_where_they_were_kept_the_next_day() -> None:
    late = said(MEETING, MIDNIGHT + 5, heard_at=MIDNIGHT - 5)
    assert instant(late["at"])[:10] == "2026-03-02"
    assert "you said so on 2026-03-01" in lines(render(book(late), TODAY))[0]
    assert "you said so on 2026-03-01" in recalled(book(late))


def test_date_of_the_words_survives_another_wording() -> None:
    late = said(
        "The user meets Bob tomorrow",
        MIDNIGHT + 5,
        words="I meet Bob tomorrow",
        heard_at=MIDNIGHT - 1,
    )
    assert "you said on 2026-03-01" in lines(render(book(late), TODAY))[0]


@pytest.mark.parametrize("lag", [0, 1, 14])
def test_words_kept_on_the_same_day_have_its_date(lag: int) -> None:
    (note,) = book(said(MEETING, 60 * lag, heard_at=0)).active
    assert note.said_at[:10] == "2026-03-01"


@pytest.mark.parametrize(
    "lag",
    [-1, True, "x", 10**30, 1.5, None],
    ids=["negative", "bool", "text", "huge", "part", "none"],
)
def test_nonsense_about_when_it_was_heard_leaves_the_date_of_the_note(lag: Any) -> None:
    event = said(MEETING)
    event = {**event, "heard": {**event["heard"], "ago": lag}}
    (note,) = book(event).active
    assert note.said_at == note.at


def test_date_does_not_depend_on_where_it_was_said() -> None:
    # Half past eleven at night in Tokyo, half past six in the morning in Los Angeles.
    verdict = Verdict(True, utterance_id="u", span=(0, len(MEETING)))
    moments = set()
    for at in ("2026-03-05T23:30:00+09:00", "2026-03-05T06:30:00-08:00"):
        heard = [Utterance("u", MEETING, at=at)]
        (note,) = book(remembered(MEETING, verdict, at=at, heard=heard)).active
        moments.add((note.at, note.said_at))
    assert moments == {("2026-03-05T14:30:00.000000Z",) * 2}


@pytest.mark.parametrize("hours", [1, 30, 24 * 400])
def test_clock_that_was_set_back_gives_no_negative_age(hours: int) -> None:
    back = datetime.fromisoformat(moment(0)) - timedelta(hours=hours)
    for text in (render(book(said(MEETING)), back.isoformat()), recalled(book(said(MEETING)))):
        assert "-" not in text.split("2026-03-01")[1]
    assert "ago" not in render(book(said(MEETING)), back.isoformat())


PROGRAM = f"""
from langmem_credit.digest import render
from langmem_credit.notes import utc_now
from langmem_credit.recall import recall, render_recall
from tests.graph_support import remembering, talk
from tests.notebook_support import TODAY, book, said

late = said({MEETING!r}, 15 * 60 + 5, heard_at=15 * 60 - 5)
print(render(book(late), TODAY))
print(render_recall(recall(book(late), query="meeting"), TODAY))
it = talk(remembering(({MEETING!r}, {TYPED!r})))
before = utc_now()
it.person.says({TYPED!r})
(event,) = it.memory.history(it.agent, it.config)
print(event["at"].endswith("Z"), before <= event["at"] <= utc_now())
"""


@pytest.mark.slow
def test_digest_and_recall_are_the_same_in_every_time_zone() -> None:
    outputs = set()
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles", "Pacific/Kiritimati", "Asia/Kolkata"):
        environment = {**os.environ, "TZ": zone, "PYTHONPATH": str(ROOT)}
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        outputs.add(ran.stdout)
    (output,) = outputs
    assert output.endswith("True True\n")


def test_model_sees_the_date_beside_tomorrow() -> None:
    it = talk(remembering((MEETING, TYPED)))
    it.person.says(TYPED)
    it.person.says("Hello")
    (note,) = it.memory.notes(it.agent, it.config)
    assert f"you said on {note.said_at[:10]}" in it.model.system_texts[-1]
