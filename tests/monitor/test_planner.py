"""How much to label: the formula's figures, and bounds that are where the plan said once the labels are in."""

from __future__ import annotations

from math import inf, nan

import planning_oracles
import pytest
from cells import Cell, cells, extremes
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import rows

from monitor.estimators.certified import certified_recall
from monitor.estimators.planner import (
    FixedPlan,
    Price,
    Wait,
    fixed_plan,
    price_of_certified,
    wait_for_certified,
    wait_for_half_width,
)
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample

HITS = Moments(112, 0, *[112] * 12)
MISSES = Moments(6, 6, 0, 0, 6, 0, 0, 6, 0, 0, 6, 0, 0, 6)
UNSEEN = Moments(4, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4)
SEEN_MISSES = [
    StratumSample("en", "both", 4_100, (Design(200 / 4_100, 200, 200, HITS.plus(MISSES)),)),
    StratumSample("en", "unflagged", 380_000, (Design(200 / 380_000, 200, 200, UNSEEN),)),
]
NOTHING_LABELLED = [StratumSample("en", "both", 50, (Design(0.5, 9, 0, Moments()),))]


def _no_miss(rate: float) -> list[StratumSample]:
    """Return 400 caught of 4,000 flagged documents, and no miss among those drawn of 20,000 unflagged ones."""
    drawn = round(rate * 20_000)
    return [
        StratumSample("en", "both", 4_000, (Design(0.5, 2_000, 2_000, Moments(400, 0, *[400] * 12)),)),
        StratumSample("en", "unflagged", 20_000, (Design(rate, drawn, drawn, Moments()),)),
    ]


def test_seventy_percent_within_five_points_takes_323_occurrences() -> None:
    """And at 4.1 occurrences per 1,000 documents about 79,000 documents: 3.6 years at 60 a day."""
    plan = fixed_plan(0.7, 0.05, 4.1)

    assert (plan.occurrences, round(plan.documents or 0, -3)) == (323, 79_000)
    assert pytest.approx(3.6, abs=0.05) == (plan.days(60) or 0) / 365


def test_plan_without_prevalence_has_no_documents() -> None:
    """No prevalence, no number of documents and no days: None, not 0."""
    plan = fixed_plan(0.7, 0.05)

    assert FixedPlan(323, None) == plan
    assert plan.days(60) is None


@given(recall=st.floats(0.01, 0.99), half_width=st.floats(0.03, 0.5), deff=st.floats(0.5, 4))
def test_fixed_plan_is_the_smallest_number_that_is_enough(recall: float, half_width: float, deff: float) -> None:
    """One occurrence fewer would be too wide."""
    expected = planning_oracles.occurrences_for(recall, half_width, deff)

    assert expected == fixed_plan(recall, half_width, deff=deff).occurrences


@pytest.mark.parametrize(
    ("recall", "half_width", "per_1000", "deff"),
    [(0, 0.05, 4, 1), (1, 0.05, 4, 1), (0.7, 0, 4, 1), (0.7, 1, 4, 1), (0.7, 0.05, 0, 1), (0.7, 0.05, 4, nan)],
)
def test_impossible_plans_are_refused(recall: float, half_width: float, per_1000: float, deff: float) -> None:
    """A half-width of 0 would take labels without end."""
    with pytest.raises(ValueError, match=r"above 0|in \(0, 1\)"):
        fixed_plan(recall, half_width, per_1000, deff=deff)


@pytest.mark.parametrize("pace", [0, -1, inf, nan])
def test_impossible_paces_are_refused(pace: float) -> None:
    """Without labels nothing is ever reached."""
    with pytest.raises(ValueError, match="labels a day"):
        fixed_plan(0.7, 0.05, 4.1).days(pace)
    with pytest.raises(ValueError, match="labels a day"):
        wait_for_half_width(SEEN_MISSES, 0.05, pace)


@pytest.mark.parametrize("wanted", [0, 1, -0.5, nan])
def test_impossible_wishes_are_refused(wanted: float) -> None:
    """A width, a bound and a step lie within (0, 1)."""
    for ask in (
        lambda: wait_for_half_width(SEEN_MISSES, wanted, 60),
        lambda: wait_for_certified(SEEN_MISSES, wanted, 60),
        lambda: price_of_certified(SEEN_MISSES, wanted),
    ):
        with pytest.raises(ValueError, match=r"in \(0, 1\)"):
            ask()


@settings(max_examples=40)
@given(cell=cells(), times=st.integers(2, 12))
def test_half_width_is_where_the_wait_said(cell: Cell, times: int) -> None:
    """Adding the same sample again and again is narrow enough at the wait, and not yet one sample before."""
    strata = rows(*cell)
    assume(population_recall(strata).lower is not None)
    widths = [planning_oracles.half_width_after(strata, k) for k in range(1, times + 1)]
    assume(widths[-1] < widths[0])
    wait = wait_for_half_width(strata, widths[-1], 10)
    now = sum(row.labelled for row in strata)
    first = next(k for k, width in enumerate(widths, 1) if width <= widths[-1])

    assert wait is not None
    assert wait.labels is not None
    assert (first - 1) * now < wait.labels <= first * now + 1
    assert ((wait.labels - now) / 10, wait.labels / 10) == wait[1:]


def test_far_half_width_goes_as_the_root_of_the_labels() -> None:
    """Ten times as narrow takes a hundred times the labels, to a fiftieth, once misses are seen."""
    near, far = (wait_for_half_width(SEEN_MISSES, width, 60) for width in (0.01, 0.001))

    assert near is not None
    assert far is not None
    assert pytest.approx(100, rel=0.02) == (far.labels or 0) / (near.labels or 1)


def test_what_is_reached_takes_no_days() -> None:
    """Both bounds are there: the labels are those that there are."""
    recall, certified = population_recall(SEEN_MISSES), certified_recall(SEEN_MISSES)

    assert recall.lower is not None
    assert recall.upper is not None
    assert certified is not None
    wide, low = (recall.upper - recall.lower) / 2 + 1e-9, certified.lower - 1e-9
    assert Wait(400, 0.0, 40.0) == wait_for_half_width(SEEN_MISSES, wide, 10)
    assert Wait(400, 0.0, 40.0) == wait_for_certified(SEEN_MISSES, low, 10)


def test_no_data_gives_no_plan() -> None:
    """Nothing labelled: nothing to go on from."""
    assert wait_for_half_width(NOTHING_LABELLED, 0.05, 60) is None
    assert wait_for_certified(NOTHING_LABELLED, 0.9, 60) is None
    assert price_of_certified(NOTHING_LABELLED) is None


def test_certified_recall_never_passes_the_observed_share() -> None:
    """.229 of the documents are caught: .22 is a matter of time, .24 isn't."""
    near, beyond = (wait_for_certified(SEEN_MISSES, wanted, 60) for wanted in (0.22, 0.24))

    assert near is not None
    assert near.days is not None
    assert Wait(None, None, None) == beyond


@pytest.mark.parametrize("times", [2, 3, 7])
def test_certified_recall_is_where_the_wait_said(times: int) -> None:
    """So many samples without a miss certify what was waited for, to a hundredth of the labels."""
    strata = _no_miss(0.02)
    certified = certified_recall(strata * times)

    assert certified is not None
    wait = wait_for_certified(strata, certified.lower, 60)
    assert wait is not None
    assert wait.labels is not None
    assert pytest.approx(2_400 * times, rel=0.01) == wait.labels


def test_price_is_the_rate_that_certifies_one_point_more() -> None:
    """Trying rates one after the other, each bound by trying all numbers, ends within one percent of the price."""
    flagged = StratumSample("en", "both", 1_000, (Design(0.5, 500, 500, Moments(150, 0, *[150] * 12)),))
    blind = StratumSample("en", "unflagged", 4_000, (Design(0.005, 20, 20, Moments()),))
    base, reached = planning_oracles.dearer_rate(150, (0.5, 0.005), (1_000, 4_000), 0.01)
    price = price_of_certified([flagged, blind])

    assert price is not None
    assert price.rate is not None
    assert pytest.approx(base + 0.01) == price.recall
    assert pytest.approx(reached, rel=0.01) == price.rate
    assert price.labels == 2  # 5 % of 20 and a little, rounded up


def test_price_of_what_reading_everything_does_not_buy_is_none() -> None:
    """.229 is what is caught; .6 more isn't for sale, nor is anything above 1."""
    certified = certified_recall(SEEN_MISSES)

    assert certified is not None
    for step in (0.6, 0.95):
        assert Price(certified.lower + step, None, None) == price_of_certified(SEEN_MISSES, step)


def test_price_without_unflagged_documents_is_none() -> None:
    """There is no random rate to raise."""
    price = price_of_certified(SEEN_MISSES[:1])

    assert price is not None
    assert price[1:] == (None, None)


@settings(max_examples=50)
@given(cell=extremes(), wanted=st.sampled_from((1e-6, 0.01, 0.5, 0.999)))
def test_no_sample_ends_the_planner(cell: list[StratumSample], wanted: float) -> None:
    """Whatever can be sampled gives finite numbers, none below what there is, or None."""
    now = sum(row.labelled for row in cell)
    for wait in (wait_for_half_width(cell, wanted, 60), wait_for_certified(cell, wanted, 60)):
        if wait is not None and wait.labels is not None and wait.days is not None:
            assert now <= wait.labels
            assert 0 <= wait.days < inf
    price = price_of_certified(cell, wanted)
    if price is not None and price.labels is not None and price.rate is not None:
        assert price.labels >= 0
        assert 0 < price.rate <= 1


@pytest.mark.parametrize("rate", [0.3, 0.28, 0.19, 0.15, 0.09])
def test_price_is_told_where_the_largest_factor_is_no_whole_number(rate: float) -> None:
    """Reading everything is 1/rate times as many: the last step up to it is shorter than one."""
    flagged = StratumSample("en", "both", 4_000, (Design(rate, 1_000, 1_000, Moments(400, 0, *[400] * 12)),))
    blind = StratumSample("en", "unflagged", 4_000, (Design(rate, 1_000, 1_000, Moments()),))
    certified = certified_recall([flagged, blind])
    assert certified is not None
    for step in (0.01, 0.02, 0.05, 0.1):
        price = price_of_certified([flagged, blind], step)
        assert price is not None
        assert price.rate is None or rate < price.rate <= 1
