"""A decision takes little time, whatever the text."""

from __future__ import annotations

import pytest

from langmem_credit import Utterance, judge
from tests.benchmarks import deciding

# Other work makes one measurement slow, a loop over a loop makes all of them four times as slow.
TRIES = 5


@pytest.mark.slow
def test_a_decision_stays_near_the_aims(monkeypatch):
    # The command holds the aims themselves; here a busy machine may take three times as long.
    monkeypatch.setattr(deciding, "AIM_SHORT_MS", 3 * deciding.AIM_SHORT_MS)

    assert any(deciding.main([]) == 0 for _ in range(TRIES))


@pytest.mark.slow
@pytest.mark.parametrize("name", deciding.SLOW_UNITS)
def test_a_text_made_to_be_slow_ends_in_time(name):
    assert deciding.run_slow(name, 200_000) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", deciding.SLOW_UNITS)
def test_twice_a_text_made_to_be_slow_takes_about_twice_the_time(name):
    def text(characters):
        return deciding.slow_text(name, characters)

    growths = (deciding.measure_growth(text, 10_000, runs=4) for _ in range(TRIES))
    assert any(growth <= deciding.AIM_DOUBLING for growth in growths)


@pytest.mark.parametrize("name", deciding.SLOW_UNITS)
def test_a_slow_text_within_the_bounds_is_decided(name):
    deciding.try_text(deciding.slow_text(name, 2_000))


@pytest.mark.parametrize(
    "unit", ["x1: ", "ui: ", "z: ", "for a, ", "when a, ", "note: ", "ok, ", "(", "in a - "]
)
def test_nesting_does_not_reach_the_limit_of_python(unit):
    text = unit * (2_000 // len(unit))

    assert not judge(text + "x", text, [Utterance("m", text)]).credited
