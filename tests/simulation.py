"""Traffic whose recall is known, drawn again and again: do the limits cover what they promise to.

A population is counts of documents by kind (stratum, true occurrences, found ones); a draw is a binomial number a kind.
No document is built, so that thousands of draws cost seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np

from monitor.estimators.certified import certified_recall
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import Stratum

Kind = tuple[Stratum, int, int]


class Node(NamedTuple):
    """One point of the grid: true recall, share of documents with the entity, rates, occurrences a document."""

    recall: float
    prevalence: float
    random_rate: float
    mean_size: float
    """Mean of a geometric number of occurrences in a document that has any."""
    loose_rate: float = 0.1
    documents: int = 300_000
    completeness: float = 1.0


class Coverage(NamedTuple):
    """What a node's draws gave; shares are of the draws in which a limit was offered."""

    draws: int
    offered: int
    two_sided: float
    lower: float
    certified: float
    width: float
    broken: int
    """Intervals that are out of order, out of [0, 1], NaN or of no width."""

    def floor(self, level: float) -> float:
        """Return the level less three Monte Carlo standard errors."""
        return level - 3 * sqrt(level * (1 - level) / max(self.offered, 1))


def populate(node: Node, rng: np.random.Generator) -> dict[Kind, int]:
    """Return a population: an entity's document is flagged with chance √recall, an occurrence in it found so too."""
    share = sqrt(node.recall)
    positive = int(rng.binomial(node.documents, node.prevalence))
    clean = node.documents - positive
    population: dict[Kind, int] = {("both", 0, 0): clean // 100, ("unflagged", 0, 0): clean - clean // 100}
    sizes = rng.geometric(1 / node.mean_size, positive)
    flagged = rng.random(positive) < share
    found = np.where(flagged, rng.binomial(sizes, share), 0)
    for looked, y, t in zip(flagged.tolist(), sizes.tolist(), found.tolist(), strict=True):
        kind: Kind = "both" if looked else "unflagged", y, t
        population[kind] = population.get(kind, 0) + 1
    return population


def draws(
    node: Node, population: dict[Kind, int], rng: np.random.Generator
) -> Iterator[tuple[StratumSample, StratumSample]]:
    """Yield samples of the population for ever."""
    rates = {
        "both": 1 - (1 - node.random_rate) * (1 - node.loose_rate),
        "unflagged": node.random_rate,
    }
    kinds = list(population)
    sizes = np.array([population[kind] for kind in kinds])
    chances = np.array([rates[stratum] for stratum, _, _ in kinds])
    unit = [Moments.of(t, y) for _, y, t in kinds]
    while True:
        sampled = rng.binomial(sizes, chances)
        labelled = rng.binomial(sampled, node.completeness)
        yield (
            _sample("both", rates, kinds, sizes, sampled, labelled, unit),
            _sample("unflagged", rates, kinds, sizes, sampled, labelled, unit),
        )


def cover(node: Node, streams: int, seed: int, *, shrink: float = 1.0) -> Coverage:
    """Return the coverage of one node over that many draws, each tenth from a new population.

    `shrink` pulls both limits towards the estimate, to show that the simulation would see a narrow interval.
    """
    rng = np.random.default_rng(seed)
    offered = two_sided = above = certain = certified = broken = 0
    width = 0.0
    for stream in range(streams):
        if stream % 10 == 0:
            population = populate(node, rng)
            truth, in_documents = _truth(population)
            source = draws(node, population, rng)
        cell = next(source)
        reading = population_recall(cell)
        if reading.lower is not None and reading.upper is not None and reading.estimate is not None:
            offered += 1
            low = reading.estimate - shrink * (reading.estimate - reading.lower)
            high = reading.estimate + shrink * (reading.upper - reading.estimate)
            two_sided += low <= truth <= high
            above += low <= truth
            width += reading.upper - reading.lower
            broken += not (0 <= reading.lower <= reading.estimate <= reading.upper <= 1)
            broken += not reading.lower < reading.upper
        bound = certified_recall(cell)
        if bound is not None:
            certain += 1
            certified += bound.lower <= in_documents
    some, any_bound = max(offered, 1), max(certain, 1)
    return Coverage(streams, offered, two_sided / some, above / some, certified / any_bound, width / some, broken)


def _truth(population: dict[Kind, int]) -> tuple[float, float]:
    true = sum(n * y for (_, y, _), n in population.items())
    found = sum(n * t for (_, _, t), n in population.items())
    having = sum(n for (_, y, _), n in population.items() if y)
    caught = sum(n for (_, y, t), n in population.items() if y and t == y)
    return found / max(true, 1), caught / max(having, 1)


def _sample(
    stratum: Stratum,
    rates: dict[str, float],
    kinds: list[Kind],
    sizes: np.ndarray,
    sampled: np.ndarray,
    labelled: np.ndarray,
    unit: list[Moments],
) -> StratumSample:
    here = [i for i, kind in enumerate(kinds) if kind[0] == stratum]
    sums = [0] * len(Moments())
    for i in here:
        n = int(labelled[i])
        if n:
            sums = [a + n * b for a, b in zip(sums, unit[i], strict=True)]
    design = Design(rates[stratum], int(sampled[here].sum()), int(labelled[here].sum()), Moments(*sums))
    return StratumSample("en", stratum, int(sizes[here].sum()), (design,))
