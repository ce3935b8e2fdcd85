"""Rates for so many labels a day: the config's in their proportions, then as advised, changed where it matters."""

from __future__ import annotations

import pytest
from replays import ANNA, TEXT, decision, spans_of

from monitor.advised_rates import Place
from monitor.cells import CellSample, Version
from monitor.config import Config, Labels, LanguageRates, Sampling
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.plan import Plan
from monitor.sampling import Sampler
from streams.replay_rates import AdvisedRates, scaled

CENSUS: dict[Place, int] = {("en", "both"): 300, ("en", "unflagged"): 600, ("nl", "both"): 100}


def drawn(sampling: Sampling, census: dict[Place, int]) -> float:
    """Return the documents drawn in the mean."""
    sampler = Sampler(sampling)
    return sum(n * sampler.rates(*place).probability for place, n in census.items())


@pytest.mark.parametrize("documents", [0.5, 60, 900])
def test_scaled_rates_draw_so_many(documents: float) -> None:
    """In the config's proportions as long as none is 1, language by language."""
    own = {"nl": LanguageRates(random_rate=0.02, loose_rate_by_stratum={"both": 0.3})}
    sampling = Sampling(random_rate=0.01, loose_rate=0.05, loose_rate_by_stratum={"both": 0.1}, by_language=own)
    found = scaled(sampling, CENSUS, documents)
    assert drawn(found, CENSUS) == pytest.approx(documents)
    if documents < 100:
        ratio = found.loose_rate / found.random_rate
        dutch = found.by_language["nl"].loose_rate_by_stratum["both"] / found.random_rate
        assert (ratio, dutch) == pytest.approx((5, 30))


def test_more_than_all_is_all() -> None:
    """Every document is drawn where annotators get through more."""
    for rate in (0.005, 0.0019, 0.0027):  # times their inverse, the last two are a little less than 1
        assert drawn(scaled(Sampling(random_rate=rate), CENSUS, 1_001), CENSUS) == 1_000


def test_rates_stay_without_a_document() -> None:
    """Nothing tells how many there will be."""
    assert scaled(Sampling(), {}, 10) == Sampling()


def test_the_first_day_is_scaled_by_what_flags_its_documents() -> None:
    """Of 8 documents, 2 flagged, in a day of 80; two readers of each get through half as many."""
    lines = [decision(str(i), spans_of([ANNA]) if i < 2 else (), text=TEXT) for i in range(8)]
    plan = Plan(Config())
    for labels, documents in ((Labels(), 12.0), (Labels(copies=2, copied_share=0.5), 8.0)):
        found = AdvisedRates(12, labels).first(plan, lines, 80)
        assert drawn(found, {("en", "detector_only"): 20, ("en", "unflagged"): 60}) == pytest.approx(documents)


def sample(labelled: int, rate: float) -> list[CellSample]:
    """Return a cell with a miss in ten where something looked, of 1,000 documents in ten days."""
    hit, miss = Moments.of(1, 1), Moments.of(0, 1)
    seen = hit
    for i in range(labelled - 1):
        seen = seen.plus(miss if i % 10 == 0 else hit)
    flagged = StratumSample("en", "both", 500, (Design(rate, labelled, labelled, seen),) if labelled else ())
    blind = StratumSample("en", "unflagged", 500, (Design(rate, labelled, labelled, miss),) if labelled else ())
    return [CellSample("PERSON", "en", Version("x", "1"), current=True, days=10, strata=(flagged, blind))]


def test_labels_advise_rates_for_the_budget() -> None:
    """As many documents a day as asked for, in the mean; nothing is advised where nothing is labelled."""
    rates, plan = AdvisedRates(12, Labels()), Plan(Config())
    assert rates.next(plan, sample(0, 0.1)) is None
    advised = rates.next(plan, sample(40, 0.1))
    assert advised is not None
    assert drawn(advised, {("en", "both"): 50, ("en", "unflagged"): 50}) == pytest.approx(12, rel=0.01)


def test_rates_that_are_nearly_as_advised_stay() -> None:
    """A change of a tenth or less in every stratum isn't worth a config of its own; one of more in any stratum is."""
    rates = AdvisedRates(12, Labels())
    advised = rates.next(Plan(Config()), sample(40, 0.1))
    assert advised is not None
    assert rates.next(Plan(Config(sampling=advised)), sample(40, 0.1)) is None
    assert AdvisedRates(13, Labels()).next(Plan(Config(sampling=advised)), sample(40, 0.1)) is None
    assert AdvisedRates(14, Labels()).next(Plan(Config(sampling=advised)), sample(40, 0.1)) is not None
