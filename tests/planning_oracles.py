"""Slow, obvious versions of precision, planner and advisor: lists of documents, one number after the other, a grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, product
from math import inf, sqrt

import oracles
from cells import Cell
from oracles import Limits
from scipy import stats

from monitor.estimators.advisor import StratumTraffic
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import StratumSample

FLAGGED_BY_DETECTOR = ("both", "detector_only")


def detected_part(cell: Cell) -> Cell:
    """Return the documents, and the census, of the strata that the detector flagged."""
    sample, census = cell
    return (
        [one for one in sample if one.stratum in FLAGGED_BY_DETECTOR],
        {place: size for place, size in census.items() if place[1] in FLAGGED_BY_DETECTOR},
    )


def precision(cell: Cell) -> tuple[Limits, float] | None:
    """Return precision between its limits and n_eff; t of a document is its right spans, y its detected ones."""
    sample, census = detected_part(cell)
    labelled = [one for one in sample if one.labelled]
    if not any(one.y for one in labelled) or oracles.unlabelled(sample, census, flagged=True):
        return None
    return oracles.where_looked(oracles.weigh(sample, census))


def occurrences_for(recall: float, half_width: float, deff: float) -> int:
    """Return the smallest number of occurrences that is enough, by trying them all."""
    z = stats.norm.ppf(0.975)
    return next(n for n in count(1) if z * sqrt(deff * recall * (1 - recall) / n) <= half_width)


def half_width_after(strata: Sequence[StratumSample], times: int) -> float:
    """Return half the width of recall's interval, had the same sample come so many times."""
    recall = population_recall(list(strata) * times)
    return inf if recall.lower is None or recall.upper is None else (recall.upper - recall.lower) / 2


def dearer_rate(caught: int, rates: tuple[float, float], sizes: tuple[int, int], step: float) -> tuple[float, float]:
    """Return certified recall of one flagged and one unflagged stratum without a miss, and the rate that raises it.

    Rates are tried one by one, each a thousandth higher than the last.
    """
    least = oracles.caught_at_least(caught, rates[0], 0.005, sizes[0])
    looked = oracles.missed_at_most(0, rates[0], 0.005, sizes[0])

    def certified(rate: float) -> float:
        return least / (least + looked + oracles.missed_at_most(0, rate, 0.04, sizes[1]))

    base = certified(rates[1])
    tried = (rates[1] * (1 + k / 1000) for k in count())
    return base, next(rate for rate in tried if certified(rate) >= base + step)


def needs(traffic: Sequence[StratumTraffic], recall: float) -> list[float]:
    """Return (1-R)√θ or R√θ, θ the mean of a beta distribution that starts at half a document with the entity."""
    roots = []
    for row in traffic:
        labelled, seen = 1.0, 0.5
        for other in traffic:
            if other.stratum == row.stratum and other.language != row.language:
                labelled += other.labelled
                seen += other.with_entity
        a = 0.5
        b = a * labelled / seen - a
        theta = (a + row.with_entity) / (a + b + row.labelled)
        flagged = row.stratum in FLAGGED_BY_DETECTOR
        roots.append(sqrt(theta) * ((1 - recall) if flagged else recall))
    return roots


def variance(traffic: Sequence[StratumTraffic], roots: Sequence[float], rates: Sequence[float]) -> float:
    """Return Σ N a²/π."""
    return sum(row.per_day * a**2 / rate for row, a, rate in zip(traffic, roots, rates, strict=True))


def least_variance(traffic: Sequence[StratumTraffic], recall: float, budget: float, steps: int) -> float:
    """Return the least variance over a grid of rates for one language; the last row is its unflagged documents."""
    roots = needs(traffic, recall)
    grid = [step / steps for step in range(1, steps + 1)]
    best = inf
    for flagged in product(grid, repeat=len(traffic) - 1):
        spent = sum(row.per_day * rate for row, rate in zip(traffic, flagged, strict=False))
        blind = min((budget - spent) / traffic[-1].per_day, 1.0)
        if 0 < blind <= min(flagged):
            best = min(best, variance(traffic, roots, [*flagged, blind]))
    return best
