"""Advised rates for a whole config: the least mean of normalised variance, within what a budget and a config allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nan, sqrt

import numpy as np
import pytest

from monitor.advised_rates import AdvisedSampling, Place, advised_sampling, cell_gain
from monitor.cells import CellSample, Version
from monitor.config import LanguageRates, Sampling
from monitor.estimators.advisor import StratumTraffic, advise
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.readings import ANY
from monitor.records import STRATA, Stratum
from monitor.sampling import Sampler

ONE, TWO = Version("x", "1"), Version("x", "2")
RATE = 0.1


def row(stratum: Stratum, census: int, found: int, missed: int, language: str = "en") -> StratumSample:
    """Return a stratum of which a tenth is labelled: so many documents with an occurrence found, and missed."""
    hits, misses = (Moments(*[n * one for one in Moments.of(t, 1)]) for n, t in ((found, 1), (missed, 0)))
    labelled = max(round(census * RATE), found + missed)
    return StratumSample(language, stratum, census, (Design(RATE, labelled, labelled, hits.plus(misses)),))


def cell(entity: str, *rows: StratumSample, language: str = "en", version: Version = ONE, days: int = 10) -> CellSample:
    """Return a cell of the current version."""
    return CellSample(entity, language, version, version == ONE, days, rows)


WELL = cell("EMAIL", row("both", 4_000, 200, 4), row("loose_only", 2_000, 0, 2), row("unflagged", 40_000, 0, 1))
BADLY = cell("PERSON", row("both", 4_000, 90, 60), row("loose_only", 2_000, 0, 40), row("unflagged", 40_000, 0, 90))
SAMPLING = Sampling(random_rate=0.02, loose_rate=0.3, key="k")


def advised_of(*samples: CellSample, budget: float = 100.0, **more: object) -> AdvisedSampling:
    """Return the advice for some cells, which there must be."""
    found = advised_sampling(SAMPLING, samples, budget, **more)  # type: ignore[arg-type]  # options by name
    assert found is not None
    return found


def rates_of(found: AdvisedSampling) -> dict[Place, float]:
    """Return what is drawn of each stratum."""
    return {(row.language, row.stratum): row.rate for row in found.strata}


def mean_cost(samples: Sequence[CellSample], rates: Mapping[Place, float]) -> float:
    """Return the mean over cells of variance at some rates over the least variance that the same labels could give.

    By the definition: a document adds e²/rate, e = 1-R where the detector flagged it and R where it didn't.
    """
    costs = []
    for sample in samples:
        recall = population_recall(sample.strata).estimate
        assert recall is not None
        roots, sizes, drawn = [], [], []
        for part in sample.strata:
            design = part.designs[0]
            share = (design.moments.with_entity + 0.5) / (design.labelled + 1)
            detected = part.stratum in ("both", "detector_only")
            roots.append((1 - recall if detected else recall) * sqrt(share))
            sizes.append(part.census / sample.days)
            drawn.append(rates[part.language, part.stratum])
        variance = sum(n * a * a / p for n, a, p in zip(sizes, roots, drawn, strict=True))
        least = sum(n * a for n, a in zip(sizes, roots, strict=True)) ** 2
        costs.append(variance * sum(n * p for n, p in zip(sizes, drawn, strict=True)) / least)
    return sum(costs) / len(costs)


def test_a_single_cell_gets_its_own_best_rates() -> None:
    """The config's rates are those of the adviser, to the three digits that are written."""
    recall = population_recall(BADLY.strata).estimate
    assert recall is not None
    alone = advise([StratumTraffic.of(part, 10, RATE) for part in BADLY.strata], recall, 100)
    assert alone is not None
    expected = {(one.language, one.stratum): one.rate for one in alone.strata}
    assert rates_of(advised_of(BADLY)) == pytest.approx(expected, rel=0.01)


def test_no_rates_near_by_serve_the_cells_better() -> None:
    """Two cells that want opposite things: no other design that spends as much has a smaller mean cost."""
    found = advised_of(WELL, BADLY, floor=1e-9)
    rates = rates_of(found)
    attained = mean_cost((WELL, BADLY), rates)
    assert attained < mean_cost((WELL, BADLY), rates_of(advised_of(WELL, floor=1e-9)))
    assert attained < mean_cost((WELL, BADLY), rates_of(advised_of(BADLY, floor=1e-9)))
    random = np.random.default_rng(7)
    for _ in range(300):
        other = {place: rate * float(np.exp(random.normal(0, 0.3))) for place, rate in rates.items()}
        if min(other.values()) == other["en", "unflagged"]:  # else no two slices draw like that
            assert mean_cost((WELL, BADLY), other) > attained * 0.9999


def test_the_budget_is_spent_by_the_sampler_itself() -> None:
    """What the config draws, by its own arithmetic of slices, costs what was allowed."""
    found = advised_of(WELL, BADLY)
    sampler = Sampler(found.sampling)
    spent = sum(part.census / 10 * sampler.rates("en", part.stratum).probability for part in WELL.strata)
    assert spent == pytest.approx(100, rel=0.005)
    assert found.labels_per_day == pytest.approx(spent)
    before = Sampler(SAMPLING)
    assert found.labels_per_day_before == pytest.approx(
        sum(part.census / 10 * before.rates("en", part.stratum).probability for part in WELL.strata)
    )


def test_a_budget_above_all_traffic_reads_all() -> None:
    """Every rate is 1 then, the random one too."""
    found = advised_of(WELL, budget=1e6)
    assert found.sampling.random_rate == 1.0
    assert set(rates_of(found).values()) == {1.0}


def test_a_small_stratum_is_read_whole_and_the_rest_goes_to_the_others() -> None:
    """A rate that would pass 1 is 1, and the budget is spent all the same."""
    rare = cell("ID", row("both", 20, 10, 9), row("unflagged", 9_000, 0, 1))
    found = advised_of(rare, budget=50)
    assert rates_of(found)["en", "both"] == 1.0
    assert found.labels_per_day == pytest.approx(50, rel=0.005)


def test_only_cells_with_a_target_are_served() -> None:
    """Where any has one that can be served; the advice is then the same as without the others."""
    found = advised_of(WELL, BADLY, target=lambda entity, _: 0.9 if entity == "EMAIL" else None)
    assert [(one.entity, one.language) for one in found.cells] == [("EMAIL", "en")]
    assert found.sampling == advised_of(WELL).sampling


def test_a_target_of_a_cell_without_a_label_leaves_all_to_be_served() -> None:
    """No data, no say."""
    unseen = cell("ID", *[part._replace(designs=()) for part in WELL.strata])
    found = advised_of(WELL, BADLY, unseen, target=lambda entity, _: 0.9 if entity == "ID" else None)
    assert [one.entity for one in found.cells] == ["EMAIL", "PERSON"]


def test_rollups_change_nothing() -> None:
    """They are made of the same cells."""
    rollups = cell(ANY, *BADLY.strata), cell("EMAIL", *WELL.strata, language=ANY)
    assert advised_of(WELL, BADLY, *rollups) == advised_of(WELL, BADLY)


def test_all_entities_together_are_served_where_they_have_a_target() -> None:
    """The roll-up over entities is a cell like others then."""
    found = advised_of(WELL, cell(ANY, *BADLY.strata), target=lambda entity, _: 0.9 if entity == ANY else None)
    assert [(one.entity, one.language) for one in found.cells] == [(ANY, "en")]


def spanish(*parts: StratumSample, entity: str = "EMAIL") -> CellSample:
    """Return a cell of another language."""
    return cell(entity, *[part._replace(language="es") for part in parts], language="es")


def test_languages_that_differ_get_rates_of_their_own() -> None:
    """General rates are those of the larger language, so an unseen one is drawn like most of the traffic."""
    small = spanish(row("both", 400, 10, 30), row("unflagged", 900, 0, 9))
    found = advised_of(WELL, small)
    assert set(found.sampling.by_language) == {"es"}
    own = found.sampling.by_language["es"]
    assert own.random_rate == rates_of(found)["es", "unflagged"]
    assert found.sampling.random_rate == rates_of(found)["en", "unflagged"]
    assert own.random_rate != found.sampling.random_rate


def test_each_language_gets_as_many_labels_for_as_many_cells() -> None:
    """Cells count, and not traffic: the small language isn't forgotten."""
    small = spanish(row("both", 400, 20, 0), row("loose_only", 200, 0, 0), row("unflagged", 4_000, 0, 0))
    found = advised_of(WELL, small, floor=1e-9)
    by_language = {
        language: sum(one.labels_per_day for one in found.strata if one.language == language)
        for language in ("en", "es")
    }
    assert by_language["es"] == pytest.approx(by_language["en"], rel=0.01)


def test_what_the_config_names_stays_named_so() -> None:
    """A language in other letters keeps its name and its loose rate; one without traffic keeps all."""
    held = SAMPLING.by_language | {"EN": LanguageRates(random_rate=0.5, loose_rate=0.7), "nl": LanguageRates(0.9)}
    sampling = Sampling(0.02, 0.3, {"detector_only": 0.6}, held, "k")
    found = advised_sampling(sampling, [WELL], 100)
    assert found is not None
    own = found.sampling.by_language
    assert list(own) == ["EN", "nl"]
    assert (own["nl"], own["EN"].loose_rate) == (LanguageRates(0.9), 0.7)
    assert own["EN"].random_rate == found.sampling.random_rate
    assert found.sampling.loose_rate_by_stratum["detector_only"] == 0.6
    assert (found.sampling.key, found.sampling.loose_rate) == ("k", 0.3)


def test_versions_are_taken_together() -> None:
    """Half the documents under another version: the same traffic, the same labels, the same rates."""
    halves = [
        cell(
            "PERSON", *[row(part.stratum, part.census // 2, found, missed) for part, found, missed in kinds], version=v
        )
        for v in (ONE, TWO)
        for kinds in [list(zip(BADLY.strata, (45, 0, 0), (30, 20, 45), strict=True))]
    ]
    assert advised_of(*halves).sampling == advised_of(BADLY).sampling


def test_a_census_that_lags_behind_its_sample_is_raised_to_it() -> None:
    """Two stages count them: drawn documents were routed for sure."""
    late = cell("EMAIL", *[part._replace(census=0) for part in WELL.strata])
    found = advised_of(late, budget=1)
    assert {one.stratum: one.documents_per_day for one in found.strata} == {
        part.stratum: part.sampled / 10 for part in WELL.strata
    }


def test_without_a_label_of_an_entity_there_is_no_advice() -> None:
    """No data gives no number."""
    empty = cell("EMAIL", row("both", 100, 0, 0))
    assert advised_sampling(SAMPLING, [], 60) is None
    assert advised_sampling(SAMPLING, [empty], 60) is None


def test_shares_add_up_and_a_better_design_takes_fewer_labels() -> None:
    """The gain is of the variance times its labels: the design that is in force has none over itself."""
    found = advised_of(WELL, BADLY)
    for one in found.cells:
        assert sum(share.before for share in one.shares) == pytest.approx(1)
        assert sum(share.after for share in one.shares) == pytest.approx(1)
    same = advised_sampling(found.sampling, [WELL, BADLY], 100)
    assert same is not None
    assert [one.times_fewer for one in same.cells] == pytest.approx([1, 1])


def test_what_is_gained_is_for_as_many_labels() -> None:
    """A budget twice as large isn't a gain: only where the labels go is."""
    (small,), (large,) = advised_of(BADLY, budget=50).cells, advised_of(BADLY, budget=100).cells
    assert small.times_fewer == pytest.approx(large.times_fewer, rel=0.01)


def test_a_cell_that_was_not_served_has_a_gain_too() -> None:
    """A roll-up is planned beside the others; a cell without labels has none."""
    found = advised_of(WELL)
    gain = cell_gain("PERSON", "en", BADLY.strata, found.strata)
    assert gain is not None
    assert {share.stratum for share in gain.shares} == set(STRATA) - {"detector_only"}
    assert cell_gain("ID", "en", [part._replace(designs=()) for part in WELL.strata], found.strata) is None


@pytest.mark.parametrize(("budget", "floor"), [(0, 0.1), (-1, 0.1), (inf, 0.1), (nan, 0.1), (60, 0), (60, 1.1)])
def test_what_is_out_of_range_is_refused(budget: float, floor: float) -> None:
    """A budget that is none, a floor that is no share."""
    with pytest.raises(ValueError, match="labels a day above 0"):
        advised_sampling(SAMPLING, [WELL], budget, floor)
