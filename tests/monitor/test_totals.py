"""Weighted totals: Fay and Feuer's gamma limits, and MOVER for their sums, ratios and products."""

from __future__ import annotations

from math import hypot, inf, nan

import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from monitor.estimators import mover
from monitor.estimators.fay_feuer import gamma_limits, known
from monitor.estimators.sample import Interval


def test_unweighted_counts_have_poisson_limits() -> None:
    """With weights of 1 the limits are the exact ones of a Poisson mean (Garwood 1936)."""
    for count in (0, 1, 7, 200):
        lower = stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
        upper = stats.chi2.ppf(0.975, 2 * count + 2) / 2

        assert pytest.approx((count, lower, upper), rel=1e-9) == gamma_limits(count, count, 1.0)


def test_nothing_seen_leaves_3_69_jumps() -> None:
    """The largest weight carries the upper limit where no document carries the total."""
    expected = (0.0, 0.0, 7377.76)

    assert pytest.approx(expected, abs=0.005) == gamma_limits(0, 0, 2000)


@settings(deadline=None)
@given(weights=st.lists(st.floats(0.5, 1e5), min_size=1, max_size=30), jump=st.floats(0.5, 1e5))
def test_gamma_limits_equal_chi_square_limits(weights: list[float], jump: float) -> None:
    """The same formula by another quantile function, to 1e-9."""
    total, variance = sum(weights), sum(w * w for w in weights)

    assert pytest.approx(oracles.fay_feuer(total, variance, jump), rel=1e-9) == gamma_limits(total, variance, jump)


@pytest.mark.parametrize("arguments", [(-1, 1, 1), (1, -1, 1), (1, 1, 0), (nan, 1, 1), (1, inf, 1), (1, 1, 1, 95)])
def test_impossible_totals_are_refused(arguments: tuple[float, ...]) -> None:
    """A negative or missing total is an error upstream."""
    with pytest.raises(ValueError, match="total"):
        gamma_limits(*arguments)


def test_known_total_has_no_width() -> None:
    """What was counted on every document isn't an estimate."""
    assert Interval(3.0, 3.0, 3.0) == known(3.0)


def _interval(low: float, high: float) -> st.SearchStrategy[Interval]:
    numbers = st.lists(st.floats(low, high), min_size=3, max_size=3).map(sorted)
    return numbers.map(lambda three: Interval(three[1], three[0], three[2]))


@settings(deadline=None)
@given(parts=st.lists(_interval(0, 1e6), max_size=5))
def test_sum_adds_squared_distances(parts: list[Interval]) -> None:
    """Each limit of a sum is as far from it as the parts' limits are in quadrature."""
    whole = mover.total(parts)

    assert sum(p.estimate for p in parts) == whole.estimate
    assert pytest.approx(hypot(*(p.estimate - p.lower for p in parts)), abs=1e-6) == whole.estimate - whole.lower
    assert pytest.approx(hypot(*(p.upper - p.estimate for p in parts)), abs=1e-6) == whole.upper - whole.estimate


@settings(deadline=None)
@given(top=_interval(0, 1e6), bottom=st.one_of(_interval(1, 1e6), st.just(Interval(0.3, 5e-324, 424.0))))
def test_ratio_limits_are_ordered(top: Interval, bottom: Interval) -> None:
    """Rounding can't turn the limits of a ratio around, nor make one negative."""
    ratio = mover.ratio(top, bottom)

    assert 0 <= ratio.lower <= ratio.estimate <= ratio.upper


@settings(deadline=None)
@given(top=_interval(1, 1e6), size=st.floats(1, 1e6))
def test_ratio_over_a_known_number_scales_the_limits(top: Interval, size: float) -> None:
    """A bottom without width changes the unit and nothing else."""
    assert pytest.approx(tuple(x / size for x in top), rel=1e-6) == mover.ratio(top, known(size))


def test_ratio_over_a_total_that_may_be_zero_has_no_upper_limit() -> None:
    """Infinity, which it goes to with the bottom's lower limit; 0 over anything stays 0."""
    top, bottom = Interval(2.0, 1.0, 3.0), Interval(1.0, 0.0, 2.0)
    near, at = mover.ratio(top, bottom._replace(lower=1e-12)), mover.ratio(top, bottom)

    assert (2.0, inf) == (at.estimate, at.upper)
    assert pytest.approx(at.lower) == near.lower
    assert near.upper > 1e12
    assert Interval(0.0, 0.0, 0.0) == mover.ratio(known(0.0), bottom)


@pytest.mark.parametrize("bottom", [known(0.0), known(nan), Interval(1.0, nan, 2.0), Interval(1.0, -1.0, 2.0)])
def test_ratio_needs_a_bottom_above_zero(bottom: Interval) -> None:
    """A ratio over nothing is no number."""
    with pytest.raises(ValueError, match="ratio"):
        mover.ratio(known(1.0), bottom)


@settings(deadline=None)
@given(first=_interval(1e-6, 1), second=_interval(1e-6, 1))
def test_product_of_shares_is_a_share(first: Interval, second: Interval) -> None:
    """Limits stay in order, in [0, 1], and no further out than the products of the limits."""
    product = mover.product_of_shares(first, second)

    assert 0 <= product.lower <= product.estimate <= product.upper <= 1
    assert first.lower * second.lower <= product.lower * (1 + 1e-9)
    assert product.upper <= first.upper * second.upper * (1 + 1e-9)


def test_product_with_nothing_found_keeps_its_upper_limit() -> None:
    """A share of 0 has no logarithm: the upper limits are multiplied."""
    assert Interval(0.0, 0.0, 0.25) == mover.product_of_shares(Interval(0, 0, 0.5), Interval(0.4, 0.3, 0.5))
