"""Traffic whose recall is known, drawn again and again: what do the limits say of it.

A population is counts of documents by kind (stratum, true occurrences, found ones); a stream is a binomial number a
kind. No document is built, and the streams of a population are drawn at once: what takes time is the estimators.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import isnan, nan, sqrt
from typing import NamedTuple

import numpy as np
import peer_intervals
from numpy.typing import NDArray

from monitor.estimators.certified import certified_recall
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import Stratum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
STRATA: tuple[Stratum, Stratum] = ("both", "unflagged")
A_POPULATION = 10
"""Streams that are drawn of one population; then comes another."""
_MISS, _Y, _T, _FOUND_ALL = (Moments._fields.index(name) for name in ("with_miss", "y", "t", "all_found"))


class Node(NamedTuple):
    """One point of the grid: true recall, share of documents with the entity, rates, occurrences a document."""

    recall: float
    prevalence: float
    random_rate: float
    mean_size: float
    """Mean of a geometric number of occurrences in a document that has any."""
    completeness: float = 1.0
    loose_rate: float = 0.1
    documents: int = 300_000

    @property
    def rates(self) -> tuple[float, float]:
        """Inclusion probabilities of flagged and of unflagged documents."""
        return 1 - (1 - self.random_rate) * (1 - self.loose_rate), self.random_rate

    @property
    def misses_seen(self) -> float:
        """Unflagged documents with the entity that are labelled, expected."""
        unflagged = self.documents * self.prevalence * (1 - sqrt(self.recall))
        return unflagged * self.random_rate * self.completeness


PREVALENCES = (1e-4, 1e-3, 2e-3, 2e-2, 5e-2)
RATES = (5e-4, 2e-3, 5e-3, 2e-2)
SHAPES = ((1.0, 1.0), (3.0, 1.0), (8.0, 1.0), (3.0, 0.6))
"""Mean size and completeness."""
GRID = [
    Node(recall, prevalence, rate, size, completeness)
    for recall, prevalence, rate, (size, completeness) in product(
        (0.5, 0.8, 0.9, 0.97, 0.995), PREVALENCES, RATES, SHAPES
    )
]
NO_MISSES = [Node(1.0, *rest) for rest in product(PREVALENCES, RATES, (1.0, 3.0))]
"""Detectors that miss nothing: any interval holds the truth, but it must have a width all the same."""


class Population(NamedTuple):
    """Documents by kind: a row a kind."""

    stratum: Ints
    """0 flagged, 1 not."""
    moments: Ints
    sizes: Ints

    def truth(self) -> tuple[float, float]:
        """Return recall in occurrences, and in documents; 1 where there is nothing to find."""
        total = (self.sizes @ self.moments).tolist()
        having = total[_FOUND_ALL] + total[_MISS]
        return total[_T] / total[_Y] if having else 1.0, total[_FOUND_ALL] / having if having else 1.0


class Streams(NamedTuple):
    """What was drawn of populations and labelled: a row a stream, then a place a stratum."""

    census: Ints
    sampled: Ints
    labelled: Ints
    moments: Ints
    truth: Floats
    truth_in_documents: Floats


class Measured(NamedTuple):
    """What was said of each stream; NaN where nothing was."""

    streams: Streams
    estimate: Floats
    lower: Floats
    upper: Floats
    broken: Flags
    """The interval is out of order, out of [0, 1], NaN or of no width."""
    certified: Floats

    @property
    def offered(self) -> Flags:
        """Whether there was an interval."""
        return ~np.isnan(self.lower) | self.broken

    @property
    def silent(self) -> Flags:
        """Whether there was one although no miss had been seen."""
        return self.offered & (self.streams.moments[:, :, _MISS].sum(axis=1) == 0)


def populate(node: Node, rng: np.random.Generator) -> Population:
    """Return a population: an entity's document is flagged with chance √recall, an occurrence in it found so too."""
    share = sqrt(node.recall)
    positive = int(rng.binomial(node.documents, node.prevalence))
    clean = node.documents - positive
    sizes = rng.geometric(1 / node.mean_size, positive)
    flagged = rng.random(positive) < share
    found = np.where(flagged, rng.binomial(sizes, share), 0)
    codes, counts = np.unique((sizes << 20 | found) << 1 | ~flagged, return_counts=True)
    kinds = [(0, 0, 0), (1, 0, 0), *((code & 1, code >> 21, code >> 1 & 0xFFFFF) for code in codes.tolist())]
    return Population(
        np.array([stratum for stratum, _, _ in kinds]),
        np.array([Moments.of(t, y) for _, y, t in kinds]),
        np.array([clean // 100, clean - clean // 100, *counts.tolist()]),
    )


def draw(node: Node, population: Population, n: int, rng: np.random.Generator) -> Streams:
    """Return `n` streams of a population."""
    chances = np.array(node.rates)[population.stratum]
    sampled = rng.binomial(population.sizes, chances, (n, len(chances)))
    labelled = rng.binomial(sampled, node.completeness)
    of_stratum = np.stack([population.stratum == 0, population.stratum == 1], axis=1).astype(np.int64)
    truth, in_documents = population.truth()
    return Streams(
        np.broadcast_to(population.sizes @ of_stratum, (n, 2)),
        sampled @ of_stratum,
        labelled @ of_stratum,
        np.stack([(labelled * here) @ population.moments for here in of_stratum.T], axis=1),
        np.full(n, truth),
        np.full(n, in_documents),
    )


def run(node: Node, streams: int, seed: int) -> Streams:
    """Return so many streams of a node, every ten of another population."""
    rng = np.random.default_rng(seed)
    parts = [
        draw(node, populate(node, rng), min(A_POPULATION, streams - begun), rng)
        for begun in range(0, streams, A_POPULATION)
    ]
    return Streams(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def cells(node: Node, streams: Streams) -> Iterator[tuple[StratumSample, StratumSample]]:
    """Yield each stream as the estimators read it."""
    rows = zip(*(array.tolist() for array in streams[:4]), strict=True)
    for census, sampled, labelled, moments in rows:
        flagged, blind = (
            StratumSample(
                "en", STRATA[h], census[h], (Design(node.rates[h], sampled[h], labelled[h], Moments(*moments[h])),)
            )
            for h in (0, 1)
        )
        yield flagged, blind


def measure(node: Node, streams: int, seed: int) -> Measured:
    """Return what population recall and the certified bound say of so many streams."""
    drawn = run(node, streams, seed)
    said: list[tuple[float, float, float, bool, float]] = []
    for cell in cells(node, drawn):
        estimate, lower, upper = population_recall(cell)[:3]
        bound = certified_recall(cell)
        floor = nan if bound is None else bound.lower
        if estimate is None or lower is None or upper is None:
            said.append((nan, nan, nan, False, floor))
        else:
            broken = not (0 <= lower <= estimate <= upper <= 1 and lower < upper)
            said.append((estimate, lower, upper, broken, floor))
        if bound is not None and (isnan(floor) or not 0 <= floor <= 1):
            raise ValueError(f"certified recall {floor} of {cell}")
    estimate_, lower_, upper_, broken_, certified = (np.array(column) for column in zip(*said, strict=True))
    return Measured(drawn, estimate_, lower_, upper_, broken_, certified)


def peers(measured: Measured) -> dict[str, peer_intervals.Limits]:
    """Return what other formulas say of the same streams, by their names."""
    streams = measured.streams
    return peer_intervals.all_of(streams.census, streams.labelled, streams.moments)
