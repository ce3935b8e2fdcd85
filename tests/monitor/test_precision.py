"""Precision: from labels by design, and carried over to another prevalence."""

from __future__ import annotations

from math import inf, nan

import planning_oracles
import pytest
from cells import CONFIDENCES, Cell, cells, extremes, split
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.precision import AtPrevalence, Precision, false_positive_rate, precision, precision_at, reviews
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import Stratum

SHARES = st.floats(0, 1)
RIGHT = Moments(90, 0, *[90] * 12)
WRONG = Moments(10, 10, 0, 0, 10, 0, 0, 10, 0, 0, 10, 0, 0, 10)


def _stratum(stratum: Stratum, moments: Moments, language: str = "en") -> StratumSample:
    return StratumSample(language, stratum, 4_000, (Design(0.05, 200, 200, moments),))


def test_one_detector_s_precision_falls_from_988_to_447() -> None:
    """.9877 at one in two and .4469 at one in a hundred both say r/f = 80; 179 of 10,000 a day say f = .01."""
    balanced, rare = precision_at(0.5, 0.8, 0.01), precision_at(0.01, 0.8, 0.01)
    load = reviews(rare, 10_000, 100)

    assert balanced.precision is not None
    assert rare.precision is not None
    assert (round(balanced.precision, 4), round(rare.precision, 4)) == (0.9877, 0.4469)
    assert pytest.approx((179, 80, 79)) == load


def test_two_precisions_are_enough_to_solve_for_the_ratio_of_rates() -> None:
    """p/(1-p) = π/(1-π) · r/f at both prevalences, with the printed digits."""
    at_half = 0.9877 / (1 - 0.9877)
    at_hundredth = 0.4469 / (1 - 0.4469) * 99

    assert pytest.approx(80, rel=5e-3) == at_half
    assert pytest.approx(80, rel=5e-4) == at_hundredth


@given(prevalence=st.floats(1e-6, 1 - 1e-6), recall=st.floats(1e-3, 1), rate=st.floats(1e-6, 1))
def test_false_positive_rate_undoes_precision(prevalence: float, recall: float, rate: float) -> None:
    """What gave a precision is found again from it."""
    measured = precision_at(prevalence, recall, rate).precision

    assert measured is not None
    if measured < 0.999:
        assert pytest.approx(rate, rel=1e-9) == false_positive_rate(prevalence, recall, measured * (1 + 1e-15))


@given(prevalence=SHARES, recall=SHARES, rate=SHARES)
def test_precision_is_the_quotient_of_its_parts(prevalence: float, recall: float, rate: float) -> None:
    """A share where anything is flagged, None where nothing is."""
    at = precision_at(prevalence, recall, rate)

    assert 0 <= at.right <= at.flagged <= 1 + 1e-12
    assert (at.flagged == 0) == (at.precision is None)
    if at.precision is not None:
        assert at.right / at.flagged == at.precision


def test_nothing_flagged_has_no_precision() -> None:
    """A detector that flags nothing isn't wrong, nor right."""
    assert AtPrevalence(None, 0.0, 0.0) == precision_at(0.3, 0.0, 0.0)


def test_enough_capacity_is_short_of_nothing() -> None:
    """Fewer reviews than people can do: 0 short, not a negative number."""
    assert reviews(precision_at(0.01, 0.8, 0.01), 10_000, 500).short_per_day == 0.0


@pytest.mark.parametrize(("prevalence", "recall", "rate"), [(1.1, 0.5, 0.5), (0.5, -0.1, 0.5), (0.5, 0.5, nan)])
def test_what_is_no_share_is_refused(prevalence: float, recall: float, rate: float) -> None:
    """The message says what is allowed."""
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        precision_at(prevalence, recall, rate)


@pytest.mark.parametrize(
    ("prevalence", "recall", "measured"), [(0.0, 0.8, 0.9), (1.0, 0.8, 0.9), (0.5, 1.2, 0.9), (0.5, 0.8, 0.0)]
)
def test_impossible_measurement_is_refused(prevalence: float, recall: float, measured: float) -> None:
    """With no documents of one kind there's nothing to solve."""
    with pytest.raises(ValueError, match=r"in \(0, 1\)"):
        false_positive_rate(prevalence, recall, measured)


def test_precision_below_flagging_everything_is_refused() -> None:
    """No false-positive rate up to 1 gives .3 where half of the documents have the entity and all are flagged."""
    with pytest.raises(ValueError, match="flagging every document"):
        false_positive_rate(0.5, 1.0, 0.3)


@pytest.mark.parametrize(("documents", "capacity"), [(-1, 5), (5, -1), (inf, 5), (5, nan)])
def test_impossible_loads_are_refused(documents: float, capacity: float) -> None:
    """Documents and capacity are finite and not negative."""
    with pytest.raises(ValueError, match="at least 0"):
        reviews(precision_at(0.01, 0.8, 0.01), documents, capacity)


@settings(max_examples=80)
@given(cell=cells())
def test_limits_equal_the_oracle(cell: Cell) -> None:
    """Limits and n_eff to 1e-9 of the formulas on lists of documents; None exactly where the oracle has none."""
    expected = planning_oracles.precision(cell)
    found = precision(split(cell, 1))

    assert (expected is None) == (found.limits is None) == (found.reason is not None)
    if expected is not None and found.limits is not None:
        assert pytest.approx(expected[0], rel=1e-9, abs=1e-9) == found.limits
        assert pytest.approx(expected[1], rel=1e-9) == found.n_eff


@settings(max_examples=60)
@given(cell=cells())
def test_counts_stand_beside_the_share(cell: Cell) -> None:
    """Right, detected and documents are plain counts over labelled documents that the detector flagged."""
    labelled = [one for one in planning_oracles.detected_part(cell)[0] if one.labelled]
    found = precision(split(cell, 2))

    expected = (sum(one.t for one in labelled), sum(one.y for one in labelled), sum(one.y > 0 for one in labelled))
    assert expected == (found.right, found.detected, found.documents)


def test_strata_without_detected_spans_change_nothing() -> None:
    """Ten thousand unflagged documents, labelled or not, say nothing of what was flagged."""
    detected = [_stratum("both", RIGHT.plus(WRONG))]
    others = [_stratum("loose_only", Moments()), StratumSample("en", "unflagged", 10_000, ())]

    assert precision(detected) == precision([*others, *detected])


def test_unlabelled_detected_documents_are_given_to_detected_ones() -> None:
    """The documents of `both` aren't given to `loose_only`, where they would count for nothing."""
    cell = [
        StratumSample("en", "both", 30, ()),
        _stratum("loose_only", Moments()),
        _stratum("detector_only", RIGHT.plus(WRONG)),
        StratumSample("nl", "both", 4_030, (Design(0.05, 200, 200, RIGHT),)),
    ]
    limits = precision(cell).limits

    assert limits is not None
    assert pytest.approx((0.9 * 4_030 / 200 * 100 + 4_030 / 200 * 90) / (4_030 / 200 * 190)) == limits.estimate


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ([], "no_label"),
        ([StratumSample("en", "both", 50, (Design(0.5, 9, 0, Moments()),))], "no_label"),
        ([_stratum("unflagged", Moments())], "no_label"),
        ([_stratum("both", Moments()), _stratum("unflagged", RIGHT)], "nothing_detected"),
        ([_stratum("both", RIGHT), StratumSample("nl", "both", 400, ())], "detected_unlabelled"),
    ],
)
def test_no_data_gives_no_value(cell: list[StratumSample], reason: str) -> None:
    """Never 0, never NaN: None, and why."""
    found = precision(cell)

    assert (None, None, reason) == (found.limits, found.n_eff, found.reason)


@settings(max_examples=60)
@given(cell=extremes(), confidence=st.sampled_from(CONFIDENCES))
def test_no_sample_ends_the_board(cell: list[StratumSample], confidence: float) -> None:
    """Whatever can be sampled gives limits in order, or none with a reason."""
    found: Precision = precision(cell, confidence)

    assert (found.limits is None) == (found.reason is not None)
    if found.limits is not None:
        assert 0 <= found.limits.lower <= found.limits.estimate <= found.limits.upper <= 1
