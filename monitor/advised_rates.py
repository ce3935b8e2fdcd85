"""Advised rates for a whole config: one design that serves many cells.

The best rates of one cell, its recall read from a budget of B documents a day, are B a_h/Σ N a, a_h the root of the
mean square that a document of stratum h adds to the variance (`monitor.estimators.advisor`). The config has one rate a
stratum and language, whatever the entity. Each cell c measures a design by its own yardstick: how many times as many
labels it takes as the cell's own best rates, Σ_h N_h a²_h,c/π_h · B/(Σ N a_c)². The advised rates make the mean of that
over the cells least, so

    π_h ∝ √(mean over c of (a_h,c/Σ N a_c)²),

the root of the mean square of the rates that the cells would have alone. (The sum of plain variances would serve the
cells with few occurrences, whose variance is the largest, and nobody else; the mean of the rates themselves isn't the
least of anything. What the config can say stays so under a root of mean squares.)

Languages count alike where as many of their cells are served, whatever their traffic. Roll-ups aren't served (but for
all entities of a language, where they have a target): they are made of the same cells. The config knows no detector and
no version, so the samples of all versions are taken together: rates that lag behind a change cost width, never truth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import inf, sqrt
from typing import NamedTuple

import msgspec

from monitor.cells import CellSample
from monitor.config import LanguageRates, Sampling
from monitor.estimators.advisor import SliceRates, StratumTraffic, advise, slice_rates
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import StratumSample
from monitor.estimators.union import unite
from monitor.readings import ANY
from monitor.records import Stratum
from monitor.sampling import Sampler
from monitor.tally import ANY_ENTITY

Target = Callable[[str, str], float | None]
"""Recall asked for in a cell (entity, language), `Plan.target`; None where none is."""
Place = tuple[str, Stratum]
_ALMOST_NOTHING = 1e-9
"""Documents a day, as a share of a cell's traffic, and a floor: for rates of which only the proportions count."""
_DIGITS = 3
"""Significant digits of an advised rate: what is written to a file can be read by people, and nothing is lost."""


class AdvisedStratum(NamedTuple):
    """One stratum of one language: its traffic, and what is drawn of it before and after."""

    language: str
    stratum: Stratum
    documents_per_day: float
    """By census, of all versions."""
    rate_before: float
    rate: float
    """Inclusion probabilities in (0, 1], without thinning."""
    labels_per_day_before: float
    labels_per_day: float
    """Documents drawn a day; labels, where every task is done."""


class VarianceShare(NamedTuple):
    """A stratum's share of the variance of one cell's recall, in [0, 1], before and after."""

    language: str
    stratum: Stratum
    before: float
    after: float


class AdvisedCell(NamedTuple):
    """What the advised rates do for one cell."""

    entity: str
    language: str
    recall: float
    """The estimate that they were worked out for."""
    times_fewer: float
    """Labels, of all languages, at the rates before, for each at the advised ones that gives the same width."""
    shares: tuple[VarianceShare, ...]


class AdvisedSampling(NamedTuple):
    """A config's rates, as they should be, and what they do."""

    sampling: Sampling
    """Key and all as it was, but for `random_rate`, `loose_rate_by_stratum` and the same by language."""
    strata: tuple[AdvisedStratum, ...]
    cells: tuple[AdvisedCell, ...]
    """Those that were served."""

    @property
    def labels_per_day(self) -> float:
        """Documents drawn a day at the advised rates."""
        return sum([row.labels_per_day for row in self.strata])

    @property
    def labels_per_day_before(self) -> float:
        """Documents drawn a day at the rates before."""
        return sum([row.labels_per_day_before for row in self.strata])


class _Served(NamedTuple):
    """A cell, its traffic, and for each stratum the rate it would have alone and its share of the variance at one."""

    entity: str
    language: str
    recall: float
    alone: dict[Place, float]
    even: dict[Place, float]


def advised_sampling(
    sampling: Sampling,
    samples: Sequence[CellSample],
    labels_per_day: float,
    floor: float = 0.1,
    *,
    target: Target | None = None,
) -> AdvisedSampling | None:
    """Return the config whose rates read most out of a label budget for all cells together.

    Assumes that the samples are of *before* the time that will be read at these rates: rates that follow their own
    sample's luck would bias what is read.

    Parameters: `sampling` in force; `samples` of a board, of all versions and languages, roll-ups among them or not;
    `labels_per_day` > 0, documents drawn in all languages; `floor` in (0, 1], the share of the budget that is spent at
    one rate for all documents, so that no rate is 0; `target`, where given, says which cells to serve: those that have
    one, if any of these can be served, and otherwise all but the roll-ups.

    A cell can be served when a label holds its entity. Recall that no unflagged document's label speaks of is taken as
    high as it is in flagged ones. Rates have three digits, so the budget is met to half a percent. General rates are
    those of the language with the most documents; languages that differ, or that the config names, get their own. What
    the config says of strata and languages without traffic stays.

    Returns None where no cell can be served. Raises ValueError for what is out of range.

    >>> from monitor.cells import Version
    >>> from monitor.estimators.sample import Design, Moments
    >>> flagged = StratumSample("en", "both", 4_100, (Design(0.05, 200, 200, Moments.of(1, 1)),))
    >>> blind = StratumSample("en", "unflagged", 95_900, (Design(0.005, 400, 400, Moments.of(0, 1)),))
    >>> sample = CellSample("PERSON", "en", Version("x", "1"), True, 10, (flagged, blind))
    >>> advised = advised_sampling(Sampling(), [sample], 60)
    >>> advised.sampling.random_rate, advised.sampling.loose_rate_by_stratum
    (0.0039, {'both': 0.0514})
    """
    if not (0 < labels_per_day < inf and 0 < floor <= 1):
        raise ValueError(f"{labels_per_day} labels a day above 0 and finite, floor {floor} in (0, 1]")
    own = [sample for sample in samples if sample.language != ANY]
    traffic = _traffic(own)
    served = _served(own, target)
    if not served or not any(traffic.values()):
        return None
    rates = _rates(traffic, served, labels_per_day, floor)
    advised = _written(sampling, traffic, rates)
    before, after = Sampler(sampling), Sampler(advised)
    strata = tuple(
        AdvisedStratum(
            *place, n, p := before.rates(*place).probability, q := after.rates(*place).probability, n * p, n * q
        )
        for place, n in traffic.items()
    )
    return AdvisedSampling(advised, strata, tuple([_gain(cell, strata) for cell in served]))


def _traffic(samples: Sequence[CellSample]) -> dict[Place, float]:
    """Return the documents a day of each language and stratum, all versions together."""
    once = {(sample.language, sample.version): sample for sample in samples}
    found: defaultdict[Place, float] = defaultdict(float)
    for sample in once.values():
        for row in sample.strata:
            found[row.language, row.stratum] += max(row.census, row.sampled) / sample.days  # the census may lag
    return dict(sorted(found.items()))


def _served(samples: Sequence[CellSample], target: Target | None) -> list[_Served]:
    cells: defaultdict[tuple[str, str], list[StratumSample]] = defaultdict(list)
    for sample in samples:
        cells[sample.entity, sample.language] += sample.strata
    wanted = [cell for cell in cells if target is not None and target(*cell) is not None]
    found = [_serve(*cell, cells[cell]) for cell in sorted(wanted)]
    if not any(found):
        found = [_serve(*cell, cells[cell]) for cell in sorted(cells) if cell[0] != ANY_ENTITY]
    return [cell for cell in found if cell is not None]


def _serve(entity: str, language: str, rows: Sequence[StratumSample]) -> _Served | None:
    """Return what a cell wants; None where nothing is known of it."""
    strata = unite(rows)
    read = population_recall(strata)
    recall = read.estimate if read.where_looked is None or read.estimate is not None else read.where_looked.estimate
    if recall is None:
        return None
    traffic = [StratumTraffic.of(row, 1, 1.0) for row in strata]
    advice = advise(traffic, recall, _ALMOST_NOTHING * max(sum([row.per_day for row in traffic]), 1), _ALMOST_NOTHING)
    if advice is None:
        return None
    places = [(row.language, row.stratum) for row in strata]
    mass = sum([row.labels_per_day for row in advice.strata])
    alone = {place: row.rate / mass for place, row in zip(places, advice.strata, strict=True)}
    even = {place: row.share_before for place, row in zip(places, advice.strata, strict=True)}
    return _Served(entity, language, recall, alone, even)


def _rates(
    traffic: Mapping[Place, float], served: Sequence[_Served], budget: float, floor: float
) -> dict[Place, float]:
    """Return the rates by stratum that spend the budget, or 1 where it's no smaller than the traffic."""
    wanted = {place: sqrt(sum([cell.alone.get(place, 0.0) ** 2 for cell in served])) for place in traffic}
    mass = sum([traffic[place] * want for place, want in wanted.items()])
    documents = sum(traffic.values())
    mixture = {place: (1 - floor) * want / mass + floor / documents for place, want in wanted.items()}
    full: set[Place] = set()
    while len(full) < len(mixture):
        left = budget - sum([traffic[place] for place in full])
        others = sum([traffic[place] * share for place, share in mixture.items() if place not in full])
        over = {place for place, share in mixture.items() if place not in full and left * share >= others}
        if not over:
            return {place: 1.0 if place in full else left * share / others for place, share in mixture.items()}
        full |= over
    return dict.fromkeys(mixture, 1.0)


def _written(sampling: Sampling, traffic: Mapping[Place, float], rates: Mapping[Place, float]) -> Sampling:
    """Return the config that draws at these rates."""
    languages: defaultdict[str, dict[Stratum, float]] = defaultdict(dict)
    documents: defaultdict[str, float] = defaultdict(float)
    for (language, stratum), n in traffic.items():
        languages[language][stratum] = rates[language, stratum]
        documents[language] += n
    slices = {language: _rounded(slice_rates(found)) for language, found in languages.items()}
    general = slices[max(documents, key=documents.__getitem__)]
    # ROUTE writes languages in lower case, people as they like
    named = {name.lower(): name for name in sampling.by_language}
    by_language = dict(sampling.by_language)
    for language, own in slices.items():
        if own != general or language in named:
            name = named.get(language, language)
            held = by_language.get(name, LanguageRates())
            loose = _laid_over(held.loose_rate_by_stratum, own)
            by_language[name] = msgspec.structs.replace(held, random_rate=own.random_rate, loose_rate_by_stratum=loose)
    loose = _laid_over(sampling.loose_rate_by_stratum, general)
    return msgspec.structs.replace(
        sampling, random_rate=general.random_rate, loose_rate_by_stratum=loose, by_language=by_language
    )


def _laid_over(held: Mapping[str, float], rates: SliceRates) -> dict[str, float]:
    return {**held, **{str(stratum): rate for stratum, rate in rates.loose_rate_by_stratum.items()}}


def _rounded(rates: SliceRates) -> SliceRates:
    loose = {stratum: _round(rate) for stratum, rate in rates.loose_rate_by_stratum.items()}
    return SliceRates(_round(rates.random_rate), loose)


def _round(rate: float) -> float:
    return float(f"{rate:.{_DIGITS}g}")


def cell_gain(
    entity: str, language: str, rows: Sequence[StratumSample], strata: Sequence[AdvisedStratum]
) -> AdvisedCell | None:
    """Return what a design does for any cell, served or a roll-up; None where nothing is known of it.

    Parameters: `rows`, disjoint, of the cell; `strata` of `AdvisedSampling`, with those of the rows among them.
    """
    cell = _serve(entity, language, rows)
    return None if cell is None else _gain(cell, strata)


def _gain(cell: _Served, strata: Sequence[AdvisedStratum]) -> AdvisedCell:
    """Return what the design does for a cell: variance in any unit, times labels."""
    mine = [row for row in strata if (row.language, row.stratum) in cell.even]
    before = [cell.even[row.language, row.stratum] / row.rate_before for row in mine]
    after = [cell.even[row.language, row.stratum] / row.rate for row in mine]
    shares = tuple(
        VarianceShare(row.language, row.stratum, was / sum(before), now / sum(after))
        for row, was, now in zip(mine, before, after, strict=True)
    )
    labels = sum([row.labels_per_day_before for row in strata]) / sum([row.labels_per_day for row in strata])
    return AdvisedCell(cell.entity, cell.language, cell.recall, sum(before) / sum(after) * labels, shares)
