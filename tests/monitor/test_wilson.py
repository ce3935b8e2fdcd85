"""Wilson's interval: the table people know, its corners, and counts that can't be."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.mover import product_of_shares
from monitor.estimators.sample import Interval
from monitor.estimators.wilson import normal_quantile, wilson, wilson_share


@pytest.mark.parametrize(
    ("found", "true", "lower", "upper"),
    [(84, 118, 0.624, 0.786), (39, 47, 0.699, 0.911), (51, 55, 0.827, 0.971)],
)
def test_known_rows_have_their_limits_to_three_digits(found: int, true: int, lower: float, upper: float) -> None:
    """Three rows that are often printed with an error of .001."""
    interval = wilson(found, true)

    assert interval is not None
    assert (found / true, lower, upper) == (
        interval.estimate,
        round(interval.lower, 3),
        round(interval.upper, 3),
    )


@pytest.mark.parametrize(
    ("found", "true", "lower", "upper"),
    [
        (0, 1, 0.0, 0.793450686),
        (0, 3, 0.0, 0.561497032),
        (0, 21, 0.0, 0.154639019),
        (1, 3, 0.061491945, 0.792340399),
        (10, 10, 0.7224672, 1.0),
        (16, 16, 0.806392319, 1.0),
        (45, 45, 0.921348401, 1.0),
        (0, 500, 0.0, 0.00762434),
        (9, 10, 0.595849973, 0.982123787),
    ],
)
def test_degenerate_counts_have_nine_digits_and_exact_corners(
    found: int, true: int, lower: float, upper: float
) -> None:
    """Nothing found is 0.0 exactly and everything found 1.0, where the plain formula is a few 1e-17 off."""
    interval = wilson(found, true)

    assert interval is not None
    assert pytest.approx((lower, upper), abs=1e-9) == interval[1:]
    assert (found == 0) == (interval.lower == 0.0)
    assert (found == true) == (interval.upper == 1.0)


def test_no_data_gives_no_value() -> None:
    """0 of 0 is not a recall of 0, nor of 1."""
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("found", "true"), [(3, 2), (-1, 5), (nan, 5), (1, nan), (1, inf), (1, 0), (-1, -1)])
def test_impossible_counts_are_refused(found: float, true: float) -> None:
    """More found than true means double counting upstream: an error, not a domain error and not a complex number."""
    with pytest.raises(ValueError, match="found"):
        wilson(found, true)


@settings(deadline=None)
@given(true=st.integers(1, 10**12), share=st.floats(0, 1))
def test_limits_enclose_the_share_and_stay_in_range(true: int, share: float) -> None:
    """For every n, corners included, 0 <= lower <= estimate <= upper <= 1 and the width isn't zero."""
    interval = wilson(round(share * true), true)

    assert interval is not None
    assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1
    assert interval.lower < interval.upper


@settings(deadline=None)
@given(n=st.floats(0.5, 1e9), share=st.floats(0, 1), quantile=st.floats(0.1, 13))
def test_limits_solve_the_score_equation(n: float, share: float, quantile: float) -> None:
    """|p̂ - p| = z √(p(1-p)/n) at both limits, for effective numbers and Student's quantiles alike."""
    interval = wilson_share(share, n, quantile)

    for p in interval[1:]:
        assert pytest.approx(quantile**2 * p * (1 - p) / n, abs=1e-12) == (share - p) ** 2


def test_small_share_with_a_wide_quantile_keeps_its_lower_limit() -> None:
    """One in ten million at Student's 12.7: the roots' product, p²/(1 + s) over the upper limit, not 0."""
    interval = wilson_share(1e-7, 1.0, 12.706)

    assert interval.lower > 0
    assert pytest.approx(1e-14 / (1 + 12.706**2), rel=1e-12, abs=0) == interval.lower * interval.upper


@settings(max_examples=300, deadline=None)
@given(share=st.floats(0, 1), n=st.floats(5e-324, 1e300), quantile=st.floats(0, 1e300))
def test_limits_are_in_order_for_any_float(share: float, n: float, quantile: float) -> None:
    """From the smallest float to the largest: never an exception, NaN or infinity, and corners are exact."""
    interval = wilson_share(share, n, quantile)

    assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1
    assert interval.lower == 0 or share > 0
    assert interval.upper == 1 or share < 1


@settings(max_examples=300, deadline=None)
@given(true=st.integers(1, 10**18), share=st.floats(0, 1), confidence=st.floats(5e-324, 1 - 2**-53))
def test_any_confidence_gives_limits_in_order(true: int, share: float, confidence: float) -> None:
    """Counts up to 1e18 at every confidence that the config allows."""
    interval = wilson(min(round(share * true), true), true, confidence)

    assert interval is not None
    assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1


_SHARE = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted)


@settings(max_examples=300, deadline=None)
@given(first=_SHARE, second=_SHARE)
def test_product_of_shares_stays_in_order(first: list[float], second: list[float]) -> None:
    """Limits of 0 and the smallest floats included."""
    one, other = (Interval(estimate, lower, upper) for lower, estimate, upper in (first, second))
    product = product_of_shares(one, other)

    assert 0 <= product.lower <= product.estimate <= product.upper <= 1


@pytest.mark.parametrize("lower", [0.0, 5e-324])
def test_product_with_a_lower_limit_of_nothing_has_none(lower: float) -> None:
    """There's no log of 0, nor a quotient by the smallest float."""
    assert Interval(0.25, 0.0, 0.5) == product_of_shares(Interval(0.5, lower, 1.0), Interval(0.5, 0.5, 0.5))


def test_real_numbers_are_interpolated() -> None:
    """An effective number between two counts gives limits between theirs."""
    assert wilson_share(0.5, 20.0, 2.0).lower < wilson_share(0.5, 20.5, 2.0).lower
    assert wilson_share(0.5, 20.5, 2.0).lower < wilson_share(0.5, 21.0, 2.0).lower


@pytest.mark.parametrize("arguments", [(1.1, 5, 2), (-0.1, 5, 2), (0.5, 0, 2), (0.5, 5, -1), (nan, 5, 2)])
def test_impossible_shares_are_refused(arguments: tuple[float, float, float]) -> None:
    """A share outside [0, 1], no occurrences or a negative quantile can't be bounded."""
    with pytest.raises(ValueError, match="share"):
        wilson_share(*arguments)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, nan])
def test_confidence_is_a_probability(confidence: float) -> None:
    """95 is not .95."""
    with pytest.raises(ValueError, match="confidence"):
        normal_quantile(confidence)


def test_confidence_widens_the_interval() -> None:
    """90 % is inside 99 %."""
    narrow, wide = wilson(9, 10, 0.90), wilson(9, 10, 0.99)

    assert isinstance(narrow, Interval)
    assert isinstance(wide, Interval)
    assert wide.lower < narrow.lower < narrow.upper < wide.upper
