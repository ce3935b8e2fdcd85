"""What the alarm refuses: targets, floors, documents and promises that can't be."""

from __future__ import annotations

from math import inf, nan

import pytest

from monitor.estimators.e_detector import (
    NOTHING,
    Alarm,
    Entry,
    Floors,
    Period,
    Target,
    advance,
    evidence_of,
    promised_periods,
)

R0 = 0.75
TARGET = Target(R0, 2)
ONE = Floors(1.0, 1.0)


@pytest.mark.parametrize("recall", [0.0, 1.0, -0.1, 90.0, nan])
def test_target_is_a_share(recall: float) -> None:
    """0 and 1 leave no bet; 90 is not .9."""
    with pytest.raises(ValueError, match="target recall"):
        evidence_of(Entry(1.0, ONE, 1, 1), Target(recall, 1))


@pytest.mark.parametrize("y_max", [0, -3])
def test_a_document_counts_for_at_least_one(y_max: int) -> None:
    """With y_max below 1 no document would count."""
    with pytest.raises(ValueError, match="y_max"):
        evidence_of(Entry(1.0, ONE, 1, 1), Target(0.9, y_max))


@pytest.mark.parametrize(
    "floors",
    [Floors(0.0, 0.0), Floors(1.1, 0.1), Floors(0.1, 0.2), Floors(0.5, 0.0), Floors(nan, 0.1), Floors(-1.0, 0.1)],
)
def test_floors_are_rates(floors: Floors) -> None:
    """In (0, 1], and the smallest of all is no larger than the smallest of some."""
    with pytest.raises(ValueError, match="smallest"):
        evidence_of(Entry(1.0, floors, 1, 1), TARGET)


@pytest.mark.parametrize(("probability", "t", "y"), [(0.0, 0, 1), (1.1, 0, 1), (nan, 0, 0), (0.5, 2, 1), (0.5, -1, 1)])
def test_impossible_documents_are_refused(probability: float, t: int, y: int) -> None:
    """No chance to be drawn, or more found than true."""
    with pytest.raises(ValueError, match=r"probability|found"):
        evidence_of(Entry(probability, Floors(0.5, 0.1), t, y), TARGET)


def test_rate_below_its_floor_is_refused() -> None:
    """A found document drawn more rarely than the floor says would break the bet; a missed one may be."""
    floors = Floors(0.5, 0.1)

    assert evidence_of(Entry(0.1, floors, 0, 1), TARGET).labelled == 1
    assert evidence_of(Entry(0.5 * (1 - 1e-15), floors, 1, 1), TARGET).labelled == 1
    with pytest.raises(ValueError, match="below the smallest"):
        evidence_of(Entry(0.1, floors, 1, 1), TARGET)
    with pytest.raises(ValueError, match="below the smallest"):
        evidence_of(Entry(0.05, floors, 0, 1), TARGET)


def test_promise_is_for_all_cells_together() -> None:
    """One false alarm a year over 40 cells is one in 14,600 days of each."""
    assert promised_periods(365, 40, 1) == 14_600
    assert promised_periods(365, 40, 2) == 7_300


@pytest.mark.parametrize(
    "arguments", [(0, 40, 1), (365, 0, 1), (365, 40, 0), (365, 1, 365), (inf, 1, 1), (365, 1, nan)]
)
def test_impossible_promises_are_refused(arguments: tuple[float, int, float]) -> None:
    """As many false alarms as periods is no promise."""
    with pytest.raises(ValueError, match="false alarms"):
        promised_periods(*arguments)


@pytest.mark.parametrize(("promised", "hold"), [(1.0, 1), (nan, 1), (inf, 1), (100.0, 0)])
def test_impossible_alarms_are_refused(promised: float, hold: int) -> None:
    """A promise of one period fires always, and a hold of none never stays on."""
    with pytest.raises(ValueError, match="promised"):
        advance(Alarm(promised), Period("v1", NOTHING), hold)
