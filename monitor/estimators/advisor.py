"""Which rate to turn: inclusion probabilities that make population recall's variance least for a label budget.

A document's part in the variance of R is e²/π with e = t - R y, and it costs a label with chance π. The least variance
for a budget has each rate in proportion to the root of the mean e² in its stratum (Neyman). A share θ of a stratum's
documents has the entity. Where the detector flagged, it mostly found it: e = (1-R) y, so the root is (1-R)√θ. Where it
didn't, t = 0: e = -R y, and the root is R√θ. (Number of occurrences per document taken as alike. Misses inside a
document that the detector flagged aren't in it: they'd want more of those than this gives.)

Choices:

* θ is *smoothed*, as a stratum where nothing was seen must not get nothing: θ = (x + ½)/(n + ½/θ₀), x of n labelled
  documents with the entity, θ₀ = (X + ½)/(N + 1) from the same stratum in the other languages. That is half a document
  with the entity, seen at their share; without other languages θ₀ = ½ and θ = (x + ½)/(n + 1), Jeffreys' rule.
* The labels must be of *before* the window that the rates will be read in; rates that follow their own sample's luck
  would bias what is read. R is taken between .01 and .99: an estimate of 1 isn't knowledge.
* A *floor*: the rates are a mixture, (1 - floor) of the advised ones and `floor` of one rate for all documents. So no
  rate is 0, and no design is worse than 1/floor times that of one rate, however wrong θ and R are.
* What the config *can say*: the random slice reaches all documents of a language, so no stratum can be drawn at a lower
  rate than its unflagged documents. Where the formula wants that, those strata are drawn at one rate, the root of their
  mean square: the least variance with that bound (pooling adjacent violators).
* A rate is at most 1; what a capped stratum leaves goes to the others in proportion.

Sources: J. Neyman, On the two different aspects of the representative method, JRSS 97 (1934) 558-625; the mixture:
T. Hesterberg, Weighted average importance sampling and defensive mixture distributions, Technometrics 37 (1995)
185-194; pooling: R. E. Barlow and others, Statistical Inference under Order Restrictions (1972), 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from typing import NamedTuple

from monitor.estimators.precision import DETECTED
from monitor.estimators.sample import StratumSample
from monitor.records import FLAGGED, Stratum

_SURE = 0.01
"""R is taken to be at least this far from 0 and from 1."""
_NO_TRAFFIC = 1e-9
"""Documents a day that a stratum without any counts as where strata share one rate: it then follows the others."""


class StratumTraffic(NamedTuple):
    """One stratum of one language: its traffic, its rate, and what labels from before the window showed."""

    language: str
    stratum: Stratum
    per_day: float
    """Documents a day, by census."""
    rate: float
    """Inclusion probability in force, in (0, 1]."""
    labelled: int
    with_entity: int
    """Of the labelled documents, those with the entity."""

    @classmethod
    def of(cls, row: StratumSample, days: float, rate: float) -> StratumTraffic:
        """Return the traffic of a stratum whose sample spans `days` > 0, with the rate in force now.

        >>> StratumTraffic.of(StratumSample("en", "both", 700, ()), 7, 0.05)
        StratumTraffic(language='en', stratum='both', per_day=100.0, rate=0.05, labelled=0, with_entity=0)
        """
        if not 0 < days < inf:
            raise ValueError(f"{days} days: above 0 and finite")
        with_entity = sum([d.moments.with_entity for d in row.designs])
        return cls(row.language, row.stratum, row.census / days, rate, row.labelled, with_entity)


class StratumAdvice(NamedTuple):
    """The advised rate of one stratum, and what it does."""

    language: str
    stratum: Stratum
    rate: float
    """Inclusion probability, in (0, 1]."""
    labels_per_day: float
    """Documents drawn a day; labels, where every task is done."""
    share_before: float
    """Of the variance at the rates in force."""
    share_after: float
    """Of the variance at the advised rates."""


class Advice(NamedTuple):
    """Advised rates by stratum, in the order of the traffic."""

    strata: tuple[StratumAdvice, ...]
    labels_per_day: float
    """The budget, or all traffic where that is less."""
    times_fewer: float
    """Labels at the rates in force, for each label at the advised ones, that give the same width."""


class SliceRates(NamedTuple):
    """Rates as the config has them, for one language or for all."""

    random_rate: float
    loose_rate_by_stratum: dict[Stratum, float]


def advise(
    traffic: Sequence[StratumTraffic], recall: float, labels_per_day: float, floor: float = 0.1
) -> Advice | None:
    """Return the rates that read most out of a label budget, for one cell's recall.

    Parameters: `traffic`, one row a (language, stratum), in any order; `recall` R of the cell in [0, 1], estimated
    before the window; `labels_per_day` > 0; `floor` in (0, 1], 1 giving one rate for all.

    Returns None without traffic or without a label. Raises ValueError for what is out of range.

    A design of 200 and 200 documents, one rate for all before: three times fewer labels for the same width.

    >>> flagged = StratumTraffic("en", "both", 4_100, 0.0026, 200, 118)
    >>> blind = StratumTraffic("en", "unflagged", 380_000, 0.0026, 200, 4)
    >>> advice = advise([flagged, blind], 0.229, 1_000)
    >>> [(row.stratum, round(row.rate, 4), round(row.labels_per_day)) for row in advice.strata], advice.times_fewer
    ([('both', 0.0348, 142), ('unflagged', 0.0023, 858)], 3.02...)
    """
    _check(traffic, recall, labels_per_day, floor)
    documents = sum([row.per_day for row in traffic])
    if not documents or not any(row.labelled for row in traffic):
        return None
    needs = _needs(traffic, min(max(recall, _SURE), 1 - _SURE))
    wanted = _expressible(traffic, needs)
    mass = sum([row.per_day * want for row, want in zip(traffic, wanted, strict=True)])
    mixture = [(1 - floor) * want / mass + floor / documents for want in wanted]
    rates = _fill([row.per_day for row in traffic], mixture, labels_per_day)
    return _advice(traffic, needs, rates)


def slice_rates(rates: Mapping[Stratum, float]) -> SliceRates:
    """Return the random rate and the loose rates that draw each stratum at its inclusion probability.

    π = 1 - (1 - p_r)(1 - p_s) with p_s = 0 for unflagged documents; so p_r is their rate, or without such documents the
    smallest of all, and p_s = (π - p_r)/(1 - p_r). Thinning isn't in it.

    Parameters: `rates` of one language (or of all), each in (0, 1], none below that of `unflagged`; at least one.

    Raises ValueError where no two slices draw like that.

    >>> slice_rates({"both": 0.55, "unflagged": 0.1})
    SliceRates(random_rate=0.1, loose_rate_by_stratum={'both': 0.5...})
    """
    if not rates or not all(0 < rate <= 1 for rate in rates.values()):
        raise ValueError(f"rates {dict(rates)}: at least one, each in (0, 1]")
    random = rates.get("unflagged", min(rates.values()))
    below = [stratum for stratum, rate in rates.items() if rate < random]
    if below:
        raise ValueError(f"{below[0]} at {rates[below[0]]}: the random slice draws every stratum at {random} or more")
    loose = {s: (rates[s] - random) / (1 - random) if random < 1 else 0.0 for s in FLAGGED if s in rates}
    return SliceRates(random, loose)


def smoothed_shares(traffic: Sequence[StratumTraffic]) -> list[float]:
    """Return θ for each row: the share of documents with the entity, in (0, 1), where nothing was seen too.

    >>> smoothed_shares([StratumTraffic("en", "unflagged", 1.0, 0.1, 99, 0)])
    [0.005]
    """
    shares = []
    for row in traffic:
        others = [o for o in traffic if o.stratum == row.stratum and o.language != row.language]
        elsewhere = (sum([o.with_entity for o in others]) + 0.5) / (sum([o.labelled for o in others]) + 1)
        shares.append((row.with_entity + 0.5) / (row.labelled + 0.5 / elsewhere))
    return shares


def _needs(traffic: Sequence[StratumTraffic], recall: float) -> list[float]:
    shares = smoothed_shares(traffic)
    return [
        (1 - recall if row.stratum in DETECTED else recall) * sqrt(share)
        for row, share in zip(traffic, shares, strict=True)
    ]


def _expressible(traffic: Sequence[StratumTraffic], needs: Sequence[float]) -> list[float]:
    """Return the needs, with no stratum's below that of the unflagged documents of its language."""
    wanted = list(needs)
    for blind, row in enumerate(traffic):
        if row.stratum != "unflagged":
            continue
        pool, level = [blind], needs[blind]
        others = [i for i, other in enumerate(traffic) if other.language == row.language and i != blind]
        for i in sorted(others, key=needs.__getitem__):
            if needs[i] >= level:
                break
            pool.append(i)
            level = _root_mean_square([(max(traffic[j].per_day, _NO_TRAFFIC), needs[j]) for j in pool])
        for i in pool:
            wanted[i] = level
    return wanted


def _root_mean_square(weighted: Sequence[tuple[float, float]]) -> float:
    return sqrt(sum([n * a * a for n, a in weighted]) / sum([n for n, _ in weighted]))


def _fill(sizes: Sequence[float], proportions: Sequence[float], budget: float) -> list[float]:
    """Return rates min(1, λ m) that draw the budget of Σ N documents, or all where it's no smaller."""
    rates = [1.0] * len(sizes)
    if budget >= sum(sizes):
        return rates
    left = budget
    falling = sorted(range(len(sizes)), key=proportions.__getitem__, reverse=True)
    for first, i in enumerate(falling):
        # added up anew: taking away what is capped would leave a residue
        mass = sum([sizes[j] * proportions[j] for j in falling[first:]])
        if left * proportions[i] < mass:
            for j in falling[first:]:
                rates[j] = left * proportions[j] / mass
            break
        left -= sizes[i]
    return rates


def _advice(traffic: Sequence[StratumTraffic], needs: Sequence[float], rates: Sequence[float]) -> Advice:
    before = [row.per_day * a * a / row.rate for row, a in zip(traffic, needs, strict=True)]
    after = [row.per_day * a * a / rate for row, a, rate in zip(traffic, needs, rates, strict=True)]
    labels = [row.per_day * rate for row, rate in zip(traffic, rates, strict=True)]
    labels_before = sum([row.per_day * row.rate for row in traffic])
    strata = [
        StratumAdvice(row.language, row.stratum, rate, drawn, was / sum(before), now / sum(after))
        for row, rate, drawn, was, now in zip(traffic, rates, labels, before, after, strict=True)
    ]
    return Advice(tuple(strata), sum(labels), sum(before) * labels_before / (sum(after) * sum(labels)))


def _check(traffic: Sequence[StratumTraffic], recall: float, labels_per_day: float, floor: float) -> None:
    if not (0 <= recall <= 1 and 0 < labels_per_day < inf and 0 < floor <= 1):
        raise ValueError(
            f"recall {recall} in [0, 1], {labels_per_day} labels a day above 0 and finite, floor {floor} in (0, 1]"
        )
    if len({(row.language, row.stratum) for row in traffic}) < len(traffic):
        raise ValueError("a stratum of a language stands in the traffic twice")
    for row in traffic:
        if not (0 <= row.per_day < inf and 0 < row.rate <= 1 and 0 <= row.with_entity <= row.labelled):
            raise ValueError(
                f"{row.language}/{row.stratum}: {row.per_day} documents a day (at least 0), rate {row.rate} in (0, 1], "
                f"{row.with_entity} with the entity of {row.labelled} labelled"
            )
