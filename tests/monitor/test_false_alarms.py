"""H3: at most one false alarm a year for the board, looked at after every label; and a real fall is seen in days."""

from __future__ import annotations

from math import sqrt
from statistics import median

import numpy as np
import pytest
from alarm_years import (
    CHANGES,
    DAYS,
    RATES,
    evidence_by_look,
    kinds,
    paged,
    periods,
    sequence_crossings,
    sequence_evidence,
    year,
)

from monitor.estimators.confidence_sequence import confidence_sequence
from monitor.estimators.e_detector import Evidence, Period, Target, follow, promised_periods

TARGETS = [Target(recall, y_max) for recall in (0.8, 0.9, 0.95, 0.99) for y_max in (3, 10)]
CELLS = 5 * len(TARGETS)
PROMISED = promised_periods(DAYS, CELLS, false_alarms_per_year=1)


def _false_alarms(years: int, seed: int, promised: float) -> float:
    """Return the days with an alarm, a year of the board; recall is the target's, exactly."""
    rng = np.random.default_rng(seed)
    alarms = sum(
        len(paged(year(rng, [target.recall] * DAYS), target, promised))
        for _ in range(years)
        for target in TARGETS * (CELLS // len(TARGETS))
    )
    return alarms / years


def test_a_board_pages_falsely_once_a_year_at_most() -> None:
    """Forty cells at their targets, rates changed 36 times a year, looked at after every label: 8 years."""
    assert _false_alarms(8, 1, PROMISED) <= 1 + 3 * sqrt(1 / 8)


@pytest.mark.slow
def test_a_board_pages_falsely_once_a_year_at_most_over_500_years() -> None:
    """The same over 500 years, within three Monte Carlo standard errors."""
    assert _false_alarms(500, 2, PROMISED) <= 1 + 3 * sqrt(1 / 500)


def test_simulation_sees_alarms_that_are_too_many() -> None:
    """A promise of ten days a cell instead of a year for forty of them: far more than one a year."""
    assert _false_alarms(1, 3, 10.0) > 100


def test_traffic_has_its_recall_exactly() -> None:
    """Found over true in the means of the kinds is the recall that they're made for."""
    for recall in (0.5, 0.8, 0.95, 0.99):
        mix = kinds(recall)
        assert pytest.approx(recall, rel=1e-12) == sum(k.t * k.a_day for k in mix) / sum(k.y * k.a_day for k in mix)


def test_years_change_their_rates_and_draw_what_is_asked() -> None:
    """36 changes; drawn documents are as many as their traffic times their rates."""
    years = [year(np.random.default_rng(seed), [0.9] * DAYS) for seed in range(20)]
    expected = sum(
        kind.a_day * RATES[rates].entry(*kind[:3]).probability
        for one in years
        for rates in one.rates.tolist()
        for kind in kinds(0.9)
    )

    changes = [int((one.rates[1:] != one.rates[:-1]).sum()) for one in years]
    assert CHANGES >= max(changes) > CHANGES * (1 - 3 / len(RATES))
    assert pytest.approx(expected, abs=4 * sqrt(expected)) == sum(one.day.size for one in years)


def test_looks_within_a_day_are_the_alarm_of_a_day_that_ends_there() -> None:
    """After any document: what `follow` says of the days before and of that day's documents so far."""
    target, promised = Target(0.9, 3), 2.0
    one = year(np.random.default_rng(5), [0.8] * 45, scale=20.0)
    looks = evidence_by_look(one, target)
    whole = periods(one, looks)
    firing = set()
    for k, day in enumerate(one.day.tolist()):
        begun = int(np.searchsorted(one.day, day))
        partial = Period("1", Evidence(k + 1 - begun, tuple(looks[k].tolist())))
        if follow([*whole[:day], partial], promised, hold=7)[-1].state == "firing":
            firing.add(day)

    assert sorted(firing) == paged(one, target, promised)
    assert 3 < len(firing) < 45


@pytest.mark.parametrize(("recall", "days"), [(0.8, 18), (0.7, 5), (0.5, 2)])
def test_a_fall_is_seen_in_days(recall: float, days: int) -> None:
    """From .95, target .9, 21 labelled documents with the entity a day, the bar of forty cells: the median delay."""
    rng = np.random.default_rng(6)
    before = 30
    delays = []
    for _ in range(60):
        one = year(rng, [0.95] * before + [recall] * 120, changing=False)
        delays.append(next(day - before + 1 for day in paged(one, Target(0.9, 3), PROMISED) if day >= before))

    assert days / 2 <= median(delays) <= days * 1.5


def _shut_out(histories: int, seed: int) -> float:
    """Return the share of histories in which the truth is ever outside of the confidence sequence's limits."""
    rng = np.random.default_rng(seed)
    out = 0
    for _ in range(histories):
        one = year(rng, [0.9] * 60)
        looks = sequence_crossings(one, 0.9, 3, 0.05)
        out += bool(looks.size)
    return out / histories


def test_sequence_holds_the_truth_at_every_look() -> None:
    """60 days of changing rates, after every document: ever outside in at most α of the histories."""
    assert _shut_out(400, 7) <= 0.05 + 3 * sqrt(0.05 * 0.95 / 400)


@pytest.mark.slow
def test_sequence_holds_the_truth_at_every_look_of_many_histories() -> None:
    """The same over 10,000 histories."""
    assert _shut_out(10_000, 8) <= 0.05 + 3 * sqrt(0.05 * 0.95 / 10_000)


def test_looks_at_the_sequence_are_its_limits() -> None:
    """Where a look says that the truth is shut out, the limits do; before the first such look they don't."""
    rng = np.random.default_rng(9)
    found = 0
    for _ in range(40):
        one = year(rng, [0.9] * 60)
        looks = sequence_crossings(one, 0.9, 3, 0.6).tolist()
        for documents, outside in ((looks[0], True), (looks[0] - 1, False)) if looks else ((one.day.size, False),):
            limits = confidence_sequence(sequence_evidence(one, documents, 3), 1 - 0.6)
            assert outside == (limits is not None and not limits.lower < 0.9 < limits.upper)
        found += bool(looks)
    assert 2 < found < 40
