"""Limits of the share of documents with the entity hold the traffic's, from next to none to all of them."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from limit_coverage import LOWER, floor

from monitor.estimators.prevalence import prevalence
from monitor.estimators.sample import Design, Interval, Moments, StratumSample
from monitor.records import Stratum

TWO_SIDED = 0.945
PREVALENCES = (0.004, 0.05, 0.3, 0.5, 0.7, 0.93, 0.996, 1.0)
LABELLED = (30, 150, 400)
"""In the mean."""


class Place(NamedTuple):
    """A stratum of a design, whose documents are drawn with one probability."""

    stratum: Stratum
    share: float
    """Of the documents."""
    weight: float
    odds: float
    """Of the entity in it, times those of the traffic as a whole."""


DESIGNS = {
    "all_read": [Place("both", 0.3, 1, 1), Place("unflagged", 0.7, 1, 1)],
    "random": [Place("both", 0.3, 10, 1), Place("unflagged", 0.7, 10, 1)],
    "weights": [Place("both", 0.1, 1, 1), Place("detector_only", 0.2, 5, 1), Place("unflagged", 0.7, 20, 1)],
    "odds": [Place("both", 0.3, 1, 60), Place("detector_only", 0.2, 5, 1), Place("unflagged", 0.5, 20, 0.1)],
}


class Point(NamedTuple):
    """A node: how common the entity is, how documents are drawn, and how many."""

    prevalence: float
    design: str
    labelled: int


GRID = [Point(*one) for one in product(PREVALENCES, DESIGNS, LABELLED)]


def _said(point: Point, streams: int, seed: int, confidence: float = 0.95) -> tuple[float, list[Interval]]:
    """Return the traffic's share, and what is said of streams in which every stratum has a label."""
    rng = np.random.default_rng([seed, 11])
    places = DESIGNS[point.design]
    shares = np.array([place.share for place in places])
    odds = np.array([place.odds for place in places]) * point.prevalence / max(1 - point.prevalence, 1e-9)
    having = np.ones(len(places)) if point.prevalence == 1 else odds / (1 + odds)
    rates = 1 / np.array([place.weight for place in places])
    documents = round(point.labelled / float(shares @ rates))
    sizes = rng.multinomial(documents, shares, streams)
    labelled = rng.binomial(sizes, rates)
    positive = rng.binomial(labelled, having)
    said = []
    for counts in zip(sizes.tolist(), labelled.tolist(), positive.tolist(), strict=True):
        if min(counts[1]):
            documents_limits = _limits(places, *counts, confidence)
            if documents_limits is not None:
                said.append(documents_limits)
    return float(shares @ having), said


def _limits(
    places: list[Place], sizes: list[int], labelled: list[int], positive: list[int], confidence: float
) -> Interval | None:
    rows = [
        StratumSample("en", place.stratum, size, (Design(1 / place.weight, n, n, Moments(*[k] * len(Moments()))),))
        for place, size, n, k in zip(places, sizes, labelled, positive, strict=True)
    ]
    return prevalence(rows, confidence).documents


def _hold(point: Point, streams: int, seed: int, confidence: float = 0.95) -> tuple[int, float, float, float]:
    """Return streams, and how often limits, lower limits and upper limits hold."""
    truth, said = _said(point, streams, seed, confidence)
    # all of the documents: rounding leaves 1 - 1e-16
    lower = np.array([one.lower for one in said]) <= truth + 1e-12
    upper = np.array([one.upper for one in said]) >= truth - 1e-12
    return len(said), float((lower & upper).mean()), float(lower.mean()), float(upper.mean())


def test_limits_hold_over_the_grid() -> None:
    """20 streams a node: what is asked for in the mean of each design."""
    for design in DESIGNS:
        found = [_hold(point, 20, seed) for seed, point in enumerate(GRID) if point.design == design]
        streams = sum(n for n, *_ in found)
        held = [sum(one[0] * one[k] for one in found) / streams for k in (1, 2, 3)]

        assert held[0] >= floor(TWO_SIDED, streams)
        assert min(held[1:]) >= floor(LOWER, streams)


@pytest.mark.slow
@pytest.mark.parametrize("point", GRID)
def test_limits_hold_in_every_node(point: Point) -> None:
    """2,000 streams: both limits in .945, each limit in .97, without an allowance for chance."""
    _, both, lower, upper = _hold(point, 2_000, GRID.index(point))

    assert both >= TWO_SIDED
    assert min(lower, upper) >= LOWER


def test_narrower_limits_would_be_seen() -> None:
    """Limits at a confidence of .8 hold less often than that."""
    n, both, *_ = _hold(Point(0.93, "random", 400), 400, 1, confidence=0.8)

    assert both < floor(TWO_SIDED, n)
