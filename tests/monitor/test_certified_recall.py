"""Certified recall: exact thinning bounds, how α is split, and a bound where no miss was seen."""

from __future__ import annotations

import oracles
import pytest
from cells import CONFIDENCES, Cell, cells, extremes, split
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.certified import CertifiedRecall, certified_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.estimators.thinning import at_least, at_most


def _caught(n: int) -> Moments:
    return Moments(n, 0, *[n] * 12)


def _missed(n: int) -> Moments:
    return Moments(*(n * moment for moment in Moments.of(0, 1)))


def _row(stratum: str, rate: float, census: int, sampled: int, seen: Moments, *, language: str = "en") -> StratumSample:
    design = Design(rate, sampled, sampled, seen)
    return StratumSample(language, stratum, census, (design,))  # type: ignore[arg-type]  # a literal from the test


def test_a_random_rate_of_five_in_ten_thousand_cannot_exclude_5989_missed_documents() -> None:
    """The price of a low rate: (1 - .0005)^5989 is still above .05."""
    assert at_most(0, 0.0005, 0.05, 10**9) == 5989


@settings(max_examples=60, deadline=None)
@given(
    seen=st.integers(0, 9),
    rate=st.sampled_from((0.03, 0.1, 0.5, 0.9, 0.995)),
    # not 1e-4, which is .1⁴: at a tie rounding decides
    alpha=st.sampled_from((0.05, 0.04, 0.005, 0.00011)),
    room=st.integers(0, 90),
)
def test_bounds_equal_trying_every_number(seen: int, rate: float, alpha: float, room: int) -> None:
    """Both searches find what a linear scan over exact binomial sums finds."""
    ceiling = seen + room

    assert oracles.missed_at_most(seen, rate, alpha, ceiling) == at_most(seen, rate, alpha, ceiling)
    assert oracles.caught_at_least(seen, rate, alpha, ceiling) == at_least(seen, rate, alpha, ceiling)


@settings(max_examples=60, deadline=None)
@given(seen=st.integers(0, 10**6), rate=st.floats(1e-9, 1), alpha=st.floats(1e-6, 0.5), room=st.integers(0, 10**9))
def test_bounds_hold_at_any_size(seen: int, rate: float, alpha: float, room: int) -> None:
    """Up to a thousand million documents the bounds lie between what was seen and what there is."""
    ceiling = seen + room

    assert seen <= at_least(seen, rate, alpha, ceiling) <= ceiling
    assert seen <= at_most(seen, rate, alpha, ceiling) <= ceiling


def test_rate_of_one_leaves_no_doubt_and_rate_of_zero_leaves_all() -> None:
    """A census is exact; what can't be seen is bounded by the census alone."""
    assert (at_most(7, 1.0, 0.05, 900), at_least(7, 1.0, 0.05, 900), at_most(7, 0.0, 0.05, 900)) == (7, 7, 900)


@pytest.mark.parametrize("arguments", [(5, 0.1, 0.05, 4), (-1, 0.1, 0.05, 4), (1, 1.5, 0.05, 4), (1, 0.1, 0, 4)])
def test_impossible_counts_are_refused(arguments: tuple[int, float, float, int]) -> None:
    """More seen than there are is an error upstream."""
    for bound in (at_most, at_least):
        with pytest.raises(ValueError, match="rate"):
            bound(*arguments)


def test_alpha_goes_mostly_to_the_unflagged() -> None:
    """.005 to the caught, .005 to the flagged, .04 to the unflagged stratum of .05."""
    cell = [_row("both", 0.5, 1000, 500, _caught(100)), _row("unflagged", 0.0005, 10**6, 500, Moments())]
    least = oracles.caught_at_least(100, 0.5, 0.005, 1000)
    most = oracles.missed_at_most(0, 0.5, 0.005, 1000) + at_most(0, 0.0005, 0.04, 10**6)

    assert CertifiedRecall(least / (least + most), 100, 0, least, most) == certified_recall(cell)


def test_alpha_of_an_exact_stratum_goes_to_the_others() -> None:
    """No unflagged document: the flagged strata get its part."""
    expected = oracles.missed_at_most(3, 0.5, 0.045, 1000)
    bound = certified_recall([_row("both", 0.5, 1000, 500, _caught(100).plus(_missed(3)))])

    assert bound is not None
    assert expected == bound.missed_at_most


def test_smallest_rate_bounds_the_missed_and_largest_the_caught() -> None:
    """Rates of .1 and .4 in one stratum: each bound takes the rate that errs to the safe side."""
    designs = Design(0.1, 100, 100, _caught(10)), Design(0.4, 400, 400, _caught(40))
    bound = certified_recall([StratumSample("en", "both", 2000, designs)])

    assert bound is not None
    assert oracles.caught_at_least(50, 0.4, 0.005, 2000) == bound.caught_at_least
    assert oracles.missed_at_most(0, 0.1, 0.045, 2000) == bound.missed_at_most


def test_missing_labels_lower_the_rate_of_the_missed_only() -> None:
    """Half of the labels are in: a missed document was seen half as often; the caught bound takes the whole rate."""
    bound = certified_recall([StratumSample("en", "both", 2000, (Design(0.4, 800, 400, _caught(40)),))])

    assert bound is not None
    assert oracles.caught_at_least(40, 0.4, 0.005, 2000) == bound.caught_at_least
    assert oracles.missed_at_most(0, 0.2, 0.045, 2000) == bound.missed_at_most


def test_stratum_without_a_label_could_be_all_misses() -> None:
    """A thousand flagged documents that nobody labelled add a thousand."""
    labelled = _row("both", 1.0, 100, 100, _caught(10))

    assert CertifiedRecall(10 / 1010, 10, 0, 10, 1000) == certified_recall(
        [labelled, StratumSample("en", "loose_only", 1000, ())]
    )


def test_languages_at_one_rate_pay_once() -> None:
    """A roll-up's silence is one silence: its bound is that of the sum, not five bounds at a fifth of α."""
    languages = [
        _row("unflagged", 0.001, 10**6, 1000, Moments(), language=name) for name in ("de", "en", "es", "fr", "nl")
    ]
    caught = _row("both", 1.0, 100, 100, _caught(100))
    bound = certified_recall([*languages, caught])

    assert bound is not None
    assert at_most(0, 0.001, 0.045, 10**9) == bound.missed_at_most


def test_languages_at_distant_rates_are_bounded_apart() -> None:
    """Misses seen at a high rate aren't blown up by another language's low one."""
    cell = [
        _row("both", 1.0, 100, 100, _caught(100)),
        _row("unflagged", 0.5, 1000, 500, _missed(20), language="en"),
        _row("unflagged", 0.001, 10**6, 1000, Moments(), language="es"),
    ]
    bound = certified_recall(cell)

    assert bound is not None
    assert at_most(20, 0.5, 0.0225, 1000) + at_most(0, 0.001, 0.0225, 10**6) == bound.missed_at_most


def test_census_is_exact() -> None:
    """Every document drawn and labelled: the share itself."""
    bound = certified_recall([_row("both", 1.0, 100, 100, _caught(9).plus(_missed(1)))])

    assert CertifiedRecall(0.9, 9, 1, 9, 1) == bound


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_is_a_probability(confidence: float) -> None:
    """95 is not .95."""
    with pytest.raises(ValueError, match="confidence"):
        certified_recall([], confidence)


@pytest.mark.parametrize("cell", [[], [_row("unflagged", 0.1, 5000, 500, Moments())]])
def test_no_data_gives_no_value(cell: list[StratumSample]) -> None:
    """Without a document that has the entity there is nothing to certify, not a recall of 0."""
    assert certified_recall(cell) is None


@settings(max_examples=60, deadline=None)
@given(cell=cells())
def test_bound_is_offered_for_every_sample_with_the_entity(cell: Cell) -> None:
    """Between 0 and the observed share where all is drawn alike, never NaN; None exactly where nothing was seen."""
    bound = certified_recall(oracles.rows(*cell))
    seen = [one for one in cell[0] if one.labelled and one.y]

    assert bool(seen) == (bound is not None)
    if bound is not None:
        assert 0 <= bound.lower <= 1
        assert len(seen) == bound.caught + bound.missed
        assert bound.caught <= bound.caught_at_least
        assert bound.missed <= bound.missed_at_most <= sum(cell[1].values())
        assert bound.lower > 0 or bound.caught == 0


@settings(max_examples=300, deadline=None)
@given(cell=extremes(), confidence=st.sampled_from(CONFIDENCES))
def test_no_sample_ends_the_board(cell: list[StratumSample], confidence: float) -> None:
    """Whatever can be sampled gives a bound in range, or none: never an exception, NaN or infinity."""
    bound = certified_recall(cell, confidence)
    if bound is not None:
        assert 0 <= bound.lower <= 1
        assert bound.caught <= bound.caught_at_least
        assert bound.missed <= bound.missed_at_most


@settings(max_examples=60, deadline=None)
@given(cell=cells(), seed=st.integers(0, 99))
def test_rows_in_any_order_and_split_give_the_same_bound(cell: Cell, seed: int) -> None:
    """Partitions, workers and arrival can't change a bound."""
    assert certified_recall(oracles.rows(*cell)) == certified_recall(split(cell, seed))
