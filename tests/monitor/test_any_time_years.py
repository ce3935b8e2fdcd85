"""Any-time limits are right at all looks of a year together, though old days are let go all the while."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from sequence_years import Traffic, limits, share_outside, sliding

MONTH = Traffic(0.8, 15, 35)
"""As the default config keeps them."""
WEEK = Traffic(0.8, 15, 8)


def _bound(alpha: float, years: int) -> float:
    """Return α and three Monte Carlo standard errors."""
    return alpha + 3 * sqrt(alpha * (1 - alpha) / years)


def test_a_year_of_looks_holds_the_truth() -> None:
    """A week is kept and α is .2: at most so many years in which any evening's limits leave the truth out."""
    assert share_outside(40, 1, WEEK, 0.8) <= _bound(0.2, 40)


def test_simulation_sees_a_beginning_that_slides() -> None:
    """The same years read as if all that is kept were one sequence: far more than that."""
    assert share_outside(40, 1, WEEK, 0.8, sliding) > _bound(0.2, 40)


@pytest.mark.slow
@pytest.mark.parametrize("recall", [0.8, 0.95])
def test_a_year_of_looks_holds_the_truth_over_1000_years(recall: float) -> None:
    """35 days are kept, 15 labels a day, α is .05."""
    assert share_outside(1_000, 12, MONTH._replace(recall=recall), 0.95) <= _bound(0.05, 1_000)


@pytest.mark.slow
def test_simulation_sees_a_beginning_that_slides_over_1000_years() -> None:
    """The same read as one sequence: more than α, beyond three standard errors."""
    assert share_outside(1_000, 12, MONTH, 0.95, sliding) > _bound(0.05, 1_000)


@pytest.mark.parametrize("recall", [0.6, 0.65, 0.9])
def test_what_the_simulation_calls_outside_is_outside_of_the_limits(recall: float) -> None:
    """Evening by evening, at recalls that traffic of .8 sometimes excludes."""
    rng = np.random.default_rng(3)
    found = set()
    for _ in range(3):
        for outside, one in limits(rng, WEEK, recall, 0.2, 40):
            assert outside == (one is not None and not one.lower < recall < one.upper)
            found.add(outside)

    assert found == {True, False}
