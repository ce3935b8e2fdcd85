"""Advised rates: the least variance that a budget and the config allow, and never a rate of 0."""

from __future__ import annotations

from itertools import product
from math import inf, nan, sqrt

import numpy as np
import planning_oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Sampling
from monitor.estimators.advisor import StratumTraffic, advise, slice_rates, smoothed_shares
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import STRATA, Stratum
from monitor.sampling import Sampler

NO_FLOOR = 1e-12


def _row(stratum: Stratum, per_day: float, labelled: int, seen: int, language: str = "en") -> StratumTraffic:
    return StratumTraffic(language, stratum, per_day, 0.01, labelled, seen)


FLAGGED, BLIND = _row("both", 400, 99, 49), _row("unflagged", 10_000, 499, 4)


@st.composite
def traffics(draw: st.DrawFn, strata: tuple[Stratum, ...] = STRATA, languages: int = 2) -> list[StratumTraffic]:
    """Draw the traffic of one or more languages, strata without traffic or labels among them."""
    rows = []
    for language, stratum in product(("en", "es")[:languages], strata):
        labelled = draw(st.integers(0, 300))
        per_day = draw(st.one_of(st.just(0.0), st.floats(0.5, 50_000)))
        rate = draw(st.floats(1e-4, 1))
        rows.append(StratumTraffic(language, stratum, per_day, rate, labelled, draw(st.integers(0, labelled))))
    return rows


@settings(max_examples=40)
@given(
    rows=traffics(("both", "loose_only", "unflagged"), 1),
    recall=st.floats(0.02, 0.98),
    share=st.floats(0.02, 0.9),
    sizes=st.tuples(st.floats(1, 100), st.floats(1, 100), st.floats(1, 100)),
)
def test_no_rates_on_a_grid_have_less_variance(
    rows: list[StratumTraffic], recall: float, share: float, sizes: tuple[float, float, float]
) -> None:
    """Among all that spend the budget and that the config can say; and the advised ones do both."""
    traffic = [row._replace(per_day=size) for row, size in zip(rows, sizes, strict=True)]
    budget = share * sum(sizes)
    advice = advise(traffic, recall, budget, NO_FLOOR)
    if advice is None:
        assert not any(row.labelled for row in rows)
        return
    rates = [row.rate for row in advice.strata]
    attained = planning_oracles.variance(traffic, planning_oracles.needs(traffic, recall), rates)

    assert min(rates[:2]) >= rates[2]
    assert pytest.approx(budget) == sum(size * rate for size, rate in zip(sizes, rates, strict=True))
    assert attained <= planning_oracles.least_variance(traffic, recall, budget, 40) * (1 + 1e-6)


@settings(max_examples=150)
@given(
    traffic=traffics(),
    recall=st.floats(0, 1),
    budget=st.floats(0.1, 200_000),
    floor=st.sampled_from((0.01, 0.1, 0.5, 1.0)),
)
def test_budget_is_met_and_no_rate_is_zero(
    traffic: list[StratumTraffic], recall: float, budget: float, floor: float
) -> None:
    """Exactly, or all traffic where that is less; the floor's share of one rate for all is in every rate."""
    advice = advise(traffic, recall, budget, floor)
    documents = sum(row.per_day for row in traffic)
    if advice is None:
        assert not (documents and any(row.labelled for row in traffic))
        return
    expected = min(budget, documents)

    assert pytest.approx(expected) == advice.labels_per_day == sum(row.labels_per_day for row in advice.strata)
    least = floor * expected / documents
    assert all(least * (1 - 1e-9) <= row.rate <= 1 for row in advice.strata)
    assert pytest.approx(1) == sum(row.share_before for row in advice.strata)
    assert pytest.approx(1) == sum(row.share_after for row in advice.strata)


@settings(max_examples=100)
@given(traffic=traffics(), recall=st.floats(0, 1), budget=st.floats(1, 10_000), floor=st.floats(0.05, 1))
def test_floor_bounds_what_wrong_advice_costs(
    traffic: list[StratumTraffic], recall: float, budget: float, floor: float
) -> None:
    """No rate is below floor times one rate for all: whatever the truth, at most 1/floor times its variance."""
    advice = advise(traffic, recall, budget, floor)
    if advice is not None:
        one_rate = min(budget / sum(row.per_day for row in traffic), 1)
        assert all(row.rate >= one_rate * floor * (1 - 1e-9) for row in advice.strata)


def test_rates_are_in_proportion_to_the_roots() -> None:
    """θ is ½ and .009 after smoothing; R = .6: .4 √.495 to .6 √.009."""
    advice = advise([FLAGGED, BLIND], 0.6, 100, NO_FLOOR)

    assert advice is not None
    flagged, blind = advice.strata
    assert pytest.approx(0.4 * sqrt(49.5 / 100) / (0.6 * sqrt(4.5 / 500))) == flagged.rate / blind.rate


def test_loose_only_is_treated_as_what_the_detector_missed() -> None:
    """A net's flag isn't the detector's: such documents weigh R√θ, as unflagged ones do."""
    loose = _row("loose_only", 400, 99, 49)
    advice = advise([loose, BLIND], 0.6, 100, NO_FLOOR)

    assert advice is not None
    assert pytest.approx(sqrt(49.5 / 100) / sqrt(4.5 / 500)) == advice.strata[0].rate / advice.strata[1].rate


def test_capped_stratum_leaves_the_rest_to_the_others() -> None:
    """Twenty flagged documents a day are all read; the other 1,980 labels go to the 10,000."""
    advice = advise([_row("loose_only", 20, 100, 90), BLIND], 0.9, 2_000, NO_FLOOR)

    assert advice is not None
    assert (advice.strata[0].rate, advice.strata[0].labels_per_day) == (1.0, 20.0)
    assert pytest.approx(0.198) == advice.strata[1].rate


def test_high_recall_draws_flagged_documents_at_the_random_rate() -> None:
    """The formula wants fewer of them than the random slice gives: both get one rate, within the budget."""
    advice = advise([FLAGGED, BLIND], 0.99, 104, NO_FLOOR)

    assert advice is not None
    assert pytest.approx((0.01, 0.01)) == tuple(row.rate for row in advice.strata)
    assert advice.strata[0].rate == advice.strata[1].rate


def test_floor_of_one_is_one_rate_for_all() -> None:
    """Nothing of the advice is left in it."""
    advice = advise([FLAGGED, BLIND], 0.5, 104, 1.0)

    assert advice is not None
    assert pytest.approx((0.01, 0.01)) == tuple(row.rate for row in advice.strata)


def test_nothing_seen_is_not_nothing_there() -> None:
    """Jeffreys' rule in one language; half a document at the others' share where there are others."""
    alone = _row("unflagged", 1, 99, 0)
    known = _row("unflagged", 1, 999, 9, "es")
    unlabelled = _row("unflagged", 1, 0, 0, "fr")

    assert pytest.approx([0.005]) == smoothed_shares([alone])
    shares = smoothed_shares([alone, known, unlabelled])
    assert pytest.approx(0.5 / (99 + 0.5 / (9.5 / 1000))) == shares[0]
    assert pytest.approx(9.5 / 1099) == shares[2]
    assert 0 < shares[0] < shares[1] < 1


def test_strata_of_a_kind_do_not_borrow_from_another_kind() -> None:
    """Half of the flagged documents with the entity says nothing of the unflagged ones."""
    assert smoothed_shares([BLIND]) == smoothed_shares([FLAGGED, BLIND])[1:]


def test_no_data_gives_no_advice() -> None:
    """Without traffic or without a label."""
    assert advise([], 0.9, 100) is None
    assert advise([FLAGGED._replace(per_day=0), BLIND._replace(per_day=0)], 0.9, 100) is None
    assert advise([FLAGGED._replace(labelled=0, with_entity=0)], 0.9, 100) is None


@pytest.mark.parametrize(
    ("recall", "budget", "floor"), [(1.1, 10, 0.1), (nan, 10, 0.1), (0.9, 0, 0.1), (0.9, inf, 0.1), (0.9, 10, 0)]
)
def test_impossible_questions_are_refused(recall: float, budget: float, floor: float) -> None:
    """A floor of 0 could give a rate of 0."""
    with pytest.raises(ValueError, match="floor"):
        advise([FLAGGED, BLIND], recall, budget, floor)


@pytest.mark.parametrize("change", [{"rate": 0.0}, {"per_day": -1.0}, {"with_entity": 100}, {"per_day": nan}])
def test_impossible_traffic_is_refused(change: dict[str, float]) -> None:
    """The message names the stratum."""
    with pytest.raises(ValueError, match="en/both"):
        advise([FLAGGED._replace(**change), BLIND], 0.9, 100)


def test_stratum_given_twice_is_refused() -> None:
    """Two rows of a stratum would get two rates."""
    with pytest.raises(ValueError, match="twice"):
        advise([FLAGGED, FLAGGED], 0.9, 100)


def test_traffic_is_read_from_a_sample() -> None:
    """A week's census by day, labels and documents with the entity over all designs."""
    designs = Design(0.1, 9, 8, Moments.of(1, 2)), Design(0.2, 9, 7, Moments.of(0, 1))
    row = StratumSample("en", "both", 700, designs)

    assert StratumTraffic("en", "both", 100.0, 0.05, 15, 2) == StratumTraffic.of(row, 7, 0.05)
    with pytest.raises(ValueError, match="days"):
        StratumTraffic.of(row, 0, 0.05)


def test_shares_and_gain_are_those_of_the_variance() -> None:
    """Σ N a²/π at the rates in force and at the advised ones, by stratum, and labels times variance."""
    traffic = [FLAGGED._replace(rate=0.2), BLIND._replace(rate=0.002)]
    advice = advise(traffic, 0.6, 100)
    roots = planning_oracles.needs(traffic, 0.6)

    assert advice is not None
    totals = []
    for rates, shares in (
        ([0.2, 0.002], [row.share_before for row in advice.strata]),
        ([row.rate for row in advice.strata], [row.share_after for row in advice.strata]),
    ):
        totals.append(planning_oracles.variance(traffic, roots, rates))
        alone = planning_oracles.variance(traffic[:1], roots[:1], rates[:1]) / totals[-1]
        assert pytest.approx([alone, 1 - alone]) == shares
    assert pytest.approx((400 * 0.2 + 10_000 * 0.002) * totals[0] / (100 * totals[1])) == advice.times_fewer


def test_estimates_do_vary_as_little_as_the_advice_says() -> None:
    """Recall .5 of 400,000 occurrences, drawn twenty thousand times: variances are apart as told, to a tenth."""
    traffic = [
        StratumTraffic("en", "both", 400_000, 0.02, 1_000, 500),
        StratumTraffic("en", "unflagged", 4_000_000, 0.0005, 1_000, 50),
    ]
    advice = advise(traffic, 0.5, 10_000)
    rng = np.random.default_rng(5)

    def spread(flagged: float, blind: float) -> float:
        found = rng.binomial(200_000, flagged, 20_000) / flagged
        missed = rng.binomial(200_000, blind, 20_000) / blind
        return float(np.var(found / (found + missed)))

    assert advice is not None
    gain = spread(0.02, 0.0005) / spread(*(row.rate for row in advice.strata))
    assert advice.times_fewer > 2
    assert pytest.approx(advice.times_fewer, rel=0.1) == gain


@settings(max_examples=100)
@given(traffic=traffics(), recall=st.floats(0, 1), budget=st.floats(1, 200_000))
def test_advised_rates_can_be_written_into_the_config(
    traffic: list[StratumTraffic], recall: float, budget: float
) -> None:
    """What the sampler makes of the slices, language by language, is the advised probability."""
    advice = advise(traffic, recall, budget)
    if advice is None:
        return
    for language in ("en", "es"):
        rates = {row.stratum: row.rate for row in advice.strata if row.language == language}
        slices = slice_rates(rates)
        loose = {str(stratum): rate for stratum, rate in slices.loose_rate_by_stratum.items()}
        sampler = Sampler(Sampling(random_rate=slices.random_rate, loose_rate_by_stratum=loose))

        assert set(loose) == {"both", "loose_only", "detector_only"}
        drawn = {stratum: sampler.rates(language, stratum).probability for stratum in rates}
        assert pytest.approx(rates, rel=1e-9) == drawn


def test_census_of_a_stratum_stays_one() -> None:
    """A rate of 1 is a loose rate of 1, whatever the random rate; a random rate of 1 needs no loose slice."""
    assert slice_rates({"unflagged": 0.3, "both": 1.0}).loose_rate_by_stratum == {"both": 1.0}
    assert slice_rates({"unflagged": 1.0, "both": 1.0}) == (1.0, {"both": 0.0})


def test_without_unflagged_documents_the_smallest_rate_is_the_random_one() -> None:
    """The random rate can't be 0, and such documents may come tomorrow."""
    assert slice_rates({"both": 0.2, "detector_only": 0.2}) == (0.2, {"both": 0.0, "detector_only": 0.0})


@pytest.mark.parametrize("rates", [{}, {"both": 0.0}, {"both": 1.5}, {"both": nan}, {"both": 0.1, "unflagged": 0.2}])
def test_rates_that_no_slices_give_are_refused(rates: dict[Stratum, float]) -> None:
    """The random slice draws every stratum."""
    with pytest.raises(ValueError, match=r"in \(0, 1\]|random slice"):
        slice_rates(rates)
