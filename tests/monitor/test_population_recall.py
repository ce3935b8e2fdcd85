"""Population recall: worked figures, reasons for no value, limits against slow formulas."""

from __future__ import annotations

from math import inf, log1p

import oracles
import pytest
from cells import CONFIDENCES, Cell, cells, extremes, split
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.estimators.recall import PopulationRecall, population_recall
from monitor.estimators.sample import Design, Interval, Moments, StratumSample
from monitor.estimators.unseen import Unseen, halving_rate


def _sums(*kinds: tuple[int, int, int]) -> Moments:
    """Return moments of (documents, found, true) kinds."""
    sums = [0] * len(Moments())
    for documents, t, y in kinds:
        sums = [a + documents * b for a, b in zip(sums, Moments.of(t, y), strict=True)]
    return Moments(*sums)


def _flagged(census: int, labelled: int, *kinds: tuple[int, int, int]) -> StratumSample:
    return StratumSample("en", "both", census, (Design(labelled / census, labelled, labelled, _sums(*kinds)),))


def _unflagged(census: int, labelled: int, *kinds: tuple[int, int, int]) -> StratumSample:
    design = Design(labelled / census, labelled, labelled, _sums(*kinds))
    return StratumSample("en", "unflagged", census, (design,))


SEED = _flagged(4_100, 200, (112, 1, 1), (6, 0, 1))


def _rounded(interval: Interval | None) -> tuple[float, ...]:
    assert interval is not None
    return tuple(round(limit, 3) for limit in interval)


def _limits(reading: PopulationRecall) -> Interval:
    assert reading.estimate is not None
    assert reading.lower is not None
    assert reading.upper is not None
    return Interval(reading.estimate, reading.lower, reading.upper)


def test_one_unflagged_miss_weighs_more_than_ninety_flagged_ones() -> None:
    """112 of 122 found is .918 pooled; four of the misses stand for 1,900 documents each, so it's .229."""
    reading = population_recall([SEED, _unflagged(380_000, 200, (4, 0, 1))])

    assert _rounded(_limits(reading)) == (0.229, 0.103, 0.513)
    assert reading.reason is None


def test_no_miss_seen_among_the_unflagged_leaves_a_wide_interval() -> None:
    """200 of 380,000 without a miss don't tell that there is none; the narrow interval is R_F's alone."""
    reading = population_recall([SEED, _unflagged(380_000, 200)])

    assert _rounded(_limits(reading)) == (0.949, 0.241, 0.977)
    assert _rounded(reading.where_looked) == (0.949, 0.892, 0.977)
    assert reading.unflagged_width_share is not None
    assert reading.unflagged_width_share > 0.99


def test_enriched_sampling_of_detections_is_weighted_back() -> None:
    """Documents with detections drawn ten times as often: .769 and a low lower limit, not .930 [.856, .968]."""
    reading = population_recall([_flagged(1000, 100, (80, 1, 1), (4, 0, 1)), _unflagged(9000, 90, (2, 0, 1))])
    interval = _limits(reading)

    assert round(interval.estimate, 6) == 0.769231
    assert 0.3 < interval.lower < 0.55
    assert 0.9 < interval.upper < 1


def test_occurrences_beyond_what_the_detector_read_stay_in_the_denominator() -> None:
    """One of three found, two of them past the detector's reach: 1/3, whatever the cause."""
    cell = [StratumSample("en", "detector_only", 1, (Design(1.0, 1, 1, Moments.of(1, 3)),))]

    assert pytest.approx(1 / 3) == population_recall(cell).estimate


NO_LABEL = StratumSample("en", "both", 50, (Design(0.1, 5, 0, Moments()),))
BLIND_NO_LABEL = StratumSample("en", "unflagged", 500, (Design(0.01, 5, 0, Moments()),))


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ([], "no_label"),
        ([NO_LABEL, BLIND_NO_LABEL], "no_label"),
        ([_flagged(100, 10), _unflagged(500, 500)], "no_truth"),
        ([_flagged(100, 10), BLIND_NO_LABEL], "no_truth"),
        ([NO_LABEL, _unflagged(500, 50, (3, 0, 1))], "flagged_unlabelled"),
        ([SEED, BLIND_NO_LABEL], "unflagged_unlabelled"),
        ([_flagged(100, 10), _unflagged(500, 50, (3, 0, 1))], "no_truth_where_looked"),
        ([_unflagged(500, 50, (3, 0, 1))], "no_truth_where_looked"),
    ],
)
def test_no_data_gives_no_value_but_a_reason(cell: list[StratumSample], reason: str) -> None:
    """Never 0 and never NaN for what isn't known: limits are absent, and one word says why."""
    reading = population_recall(cell)

    assert (reason, None, None) == (reading.reason, reading.lower, reading.upper)
    # all true occurrences that were seen lie where nobody looked: that much is an estimate
    assert (0.0 if reason == "no_truth_where_looked" else None) == reading.estimate


def test_labels_of_the_flagged_alone_give_where_looked_and_no_headline() -> None:
    """R_F is an upper bound of recall, so it never takes the estimate's place."""
    reading = population_recall([SEED, BLIND_NO_LABEL])

    assert _rounded(reading.where_looked) == (0.949, 0.892, 0.977)
    assert reading.estimate is None
    assert reading.n_eff is not None


def test_nothing_found_has_an_upper_limit() -> None:
    """Recall 0 is a value, with the product of both upper limits above it."""
    interval = _limits(population_recall([_flagged(1000, 100, (20, 0, 1)), _unflagged(1000, 100)]))

    assert interval[:2] == (0.0, 0.0)
    assert 0 < interval.upper < 0.5


def test_one_miss_does_not_raise_the_lower_limit() -> None:
    """30 of 30 must not look worse than 29 of 30."""
    perfect = _limits(population_recall([_flagged(1000, 100, (30, 1, 1)), _unflagged(1000, 500)]))
    one_miss = _limits(population_recall([_flagged(1000, 100, (29, 1, 1), (1, 0, 1)), _unflagged(1000, 500)]))

    assert one_miss.lower < perfect.lower


def test_census_keeps_the_sampling_interval_of_recall_alone() -> None:
    """Every document drawn and labelled: g is known, R_F still speaks of the traffic behind the window."""
    cell = [
        StratumSample("en", "both", 200, (Design(1.0, 200, 200, _sums((112, 1, 1), (6, 0, 1))),)),
        StratumSample("en", "unflagged", 300, (Design(1.0, 300, 300, _sums((2, 0, 1))),)),
    ]
    reading = population_recall(cell)
    interval, looked = _limits(reading), reading.where_looked
    assert looked is not None

    known = 118 / 120
    assert pytest.approx([known * limit for limit in looked]) == list(interval)
    assert (reading.unflagged_width_share, reading.halving_random_rate) == (0.0, None)


def test_census_with_labels_missing_has_width() -> None:
    """π = 1 and half of the labels: what the others hold isn't known."""
    half = StratumSample("en", "unflagged", 300, (Design(1.0, 300, 150, Moments()),))
    reading = population_recall([SEED, half])
    assert reading.where_looked is not None

    assert _limits(reading).lower < reading.where_looked.lower


def test_no_unflagged_document_means_that_where_looked_is_everywhere() -> None:
    """With N_U = 0 the population's recall is R_F."""
    reading = population_recall([SEED])

    assert pytest.approx(_limits(reading)) == reading.where_looked


@pytest.mark.parametrize("misses", [0, 1, 4, 200])
@pytest.mark.parametrize("flagged", [30.0, 3e4, 3e9])
def test_halved_width_is_reached_at_the_rate_it_names(misses: int, flagged: float) -> None:
    """With as many unflagged documents and the same expected total, M's part of the log-width is half, to .5 %."""
    now = Unseen(total=2_000.0 * misses, variance=2_000.0**2 * misses, jump=2_000.0, rate=1e-9)
    rate = halving_rate(now, now.limits(0.95), flagged)
    assert rate is not None
    before, after = now.limits(0.95), now.limits(0.95, rate / 1e-9)

    def width(missed: Interval) -> float:
        return log1p((missed.upper - missed.lower) / (flagged + missed.lower))

    assert pytest.approx(width(before) / 2, rel=5e-3) == width(after)


def test_halving_rate_is_at_most_one() -> None:
    """Nobody can draw more than everything."""
    reading = population_recall([SEED, _unflagged(1_000, 600, (4, 0, 1))])

    assert reading.halving_random_rate == 1.0


@pytest.mark.parametrize(("documents", "reason"), [(3_838, None), (3_839, "unflagged_unlabelled")])
def test_large_language_that_nobody_labelled_takes_the_headline(documents: int, reason: str | None) -> None:
    """A language with over a hundredth of the unflagged documents, none labelled, leaves where-looked alone."""
    cell = [SEED, _unflagged(380_000, 200, (4, 0, 1)), StratumSample("nl", "unflagged", documents, ())]
    reading = population_recall(cell)

    assert (reason, reason is None) == (reading.reason, reading.lower is not None)
    assert _rounded(reading.where_looked) == (0.949, 0.892, 0.977)


@pytest.mark.parametrize(("documents", "reason"), [(41, None), (42, "flagged_unlabelled")])
def test_large_flagged_language_that_nobody_labelled_leaves_nothing(documents: int, reason: str | None) -> None:
    """The same limit where tools looked: there isn't even a recall where they did."""
    cell = [SEED, _unflagged(380_000, 200), StratumSample("nl", "loose_only", documents, ())]
    reading = population_recall(cell)

    assert (reason, reason is None) == (reading.reason, reading.where_looked is not None)


def _lopsided(census: int, spans: int) -> list[StratumSample]:
    """Return one label that stands for nearly everything, and one found occurrence that stands for itself."""
    return [
        StratumSample("en", "both", census, (Design(0.05, 50, 1, Moments.of(0, spans)),)),
        StratumSample("en", "unflagged", 100_000, (Design(0.005, 500, 10, Moments()),)),
        StratumSample("nl", "both", 1, (Design(0.05, 1, 1, Moments.of(1, 1)),)),
    ]


@settings(max_examples=300, deadline=None)
@given(cell=extremes(), confidence=st.sampled_from(CONFIDENCES))
@example(cell=_lopsided(553_324, 20), confidence=0.95)
@example(cell=_lopsided(10**9, 10**9), confidence=0.95)
def test_no_sample_ends_the_board(cell: list[StratumSample], confidence: float) -> None:
    """Whatever can be sampled gives limits in order, or a reason: never an exception, NaN or infinity."""
    reading = population_recall(cell, confidence)
    if reading.reason is None:
        recall, looked = _limits(reading), reading.where_looked
        assert looked is not None
        assert 0 <= recall.lower <= recall.estimate <= recall.upper <= 1
        assert 0 <= looked.lower <= looked.estimate <= looked.upper <= 1
        assert reading.n_eff is not None
        assert 0 < reading.n_eff < inf
        share, rate = reading.unflagged_width_share, reading.halving_random_rate
        assert share is None or 0 <= share <= 1
        assert rate is None or 0 < rate <= 1


@settings(max_examples=60, deadline=None)
@given(cell=cells())
def test_no_interval_where_a_kind_is_unlabelled(cell: Cell) -> None:
    """The reason, and with it the interval, follows from the languages' labels and census as the oracle reads them."""
    reason = population_recall(oracles.rows(*cell)).reason
    if reason in {None, "flagged_unlabelled", "unflagged_unlabelled"}:
        flagged, blind = (oracles.unlabelled(*cell, flagged=kind) for kind in (True, False))
        expected = "flagged_unlabelled" if flagged else "unflagged_unlabelled" if blind else None

        assert expected == reason


@settings(max_examples=60, deadline=None)
@given(cell=cells())
def test_limits_equal_the_oracle(cell: Cell) -> None:
    """R, R_F and n_eff to 1e-9 of the same formulas on lists of documents, wherever there is an interval."""
    reading = population_recall(oracles.rows(*cell))
    if reading.reason is None:
        expected, looked, n_eff = oracles.population_recall(*cell)

        assert pytest.approx(expected, rel=1e-9, abs=1e-9) == _limits(reading)
        assert pytest.approx(looked, rel=1e-9, abs=1e-9) == reading.where_looked
        assert pytest.approx(n_eff, rel=1e-9) == reading.n_eff


@settings(max_examples=60, deadline=None)
@given(cell=cells(), confidence=st.sampled_from((0.5, 0.9, 0.95, 0.999)))
def test_limits_are_ordered_and_have_width(cell: Cell, confidence: float) -> None:
    """0 <= lower <= estimate <= upper <= 1, no NaN, no zero width, or else a reason and no limits."""
    reading = population_recall(oracles.rows(*cell), confidence)
    if reading.reason is None:
        interval = _limits(reading)
        assert 0 <= interval.lower <= interval.estimate <= interval.upper <= 1
        assert interval.lower < interval.upper
        assert reading.where_looked is not None
        assert interval.upper <= reading.where_looked.upper * (1 + 1e-12)
        share, rate = reading.unflagged_width_share, reading.halving_random_rate
        assert share is None or 0 <= share <= 1
        assert rate is None or 0 < rate <= 1
    else:
        assert reading.lower is None
        assert reading.upper is None


@settings(max_examples=60, deadline=None)
@given(cell=cells(), seed=st.integers(0, 99))
def test_rows_in_any_order_and_split_give_the_same_bits(cell: Cell, seed: int) -> None:
    """Partitions, workers and arrival can't change a reading."""
    assert population_recall(oracles.rows(*cell)) == population_recall(split(cell, seed))
