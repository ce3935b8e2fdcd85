"""Traffic of which it's known how many documents the detector named the entity in, drawn again and again.

A stream is new each time: how many documents are named, and hold the entity, is drawn too. A named document is right
or wrong; the entity is also where it isn't named, in documents flagged for something else, and in others.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from monitor.estimators.control_variate import Named
from monitor.estimators.prevalence import prevalence
from monitor.estimators.sample import Design, Interval, Moments, StratumSample
from monitor.records import Stratum

DOCUMENTS = 20_000
FLAGGED = 0.3
"""Of documents without the entity; those with it, but not named, are flagged as often."""
STRATA: tuple[Stratum, Stratum] = ("both", "unflagged")


class Node(NamedTuple):
    """One point of the grid."""

    prevalence: float
    """Of documents."""
    recall: float
    """Share of the documents with the entity in which it's named."""
    precision: float
    """Share of the named documents that have it, above 0."""
    rates: tuple[float, float]
    """Of flagged documents, and of others."""


GRID = [
    Node(*point)
    for point in product((0.005, 0.05, 0.3), (0.5, 0.95, 1.0), (0.6, 0.97, 1.0), ((0.02, 0.02), (0.1, 0.01)))
]


class Said(NamedTuple):
    """What was said of one stream."""

    truth: float
    """In the traffic that the stream comes from."""
    limits: Interval
    by_weights: Interval
    """Without the census of the named documents."""


def say(node: Node, streams: int, seed: int, confidence: float = 0.95) -> list[Said]:
    """Return what is said of the share of documents with the entity, of each stream with a label in both strata."""
    rng = np.random.default_rng([seed, 7])
    kinds = _kinds(node)
    found = []
    for sizes in rng.multinomial(DOCUMENTS, [share for share, *_ in kinds], streams):
        rates = np.array([node.rates[stratum] for _, stratum, *_ in kinds])
        drawn = rng.binomial(sizes, rates)
        samples = [_sample(node, kinds, sizes.tolist(), drawn.tolist(), kind) for kind in range(3)]
        strata, right, unnamed = samples
        by_weights = prevalence(strata, confidence).documents
        census = sum(n for n, (_, _, _, named) in zip(sizes.tolist(), kinds, strict=True) if named)
        limits = prevalence(strata, confidence, Named(census, right, unnamed)).documents
        if limits is not None and by_weights is not None:
            found.append(Said(node.prevalence, limits, by_weights))
    return found


def _kinds(node: Node) -> list[tuple[float, int, bool, bool]]:
    """Return share of all documents, stratum, whether the entity is there, whether it's named."""
    right = node.prevalence * node.recall
    wrong = right * (1 - node.precision) / node.precision
    missed = node.prevalence - right
    rest = 1 - right - wrong - missed
    return [
        (right, 0, True, True),
        (wrong, 0, False, True),
        (missed * FLAGGED, 0, True, False),
        (missed * (1 - FLAGGED), 1, True, False),
        (rest * FLAGGED, 0, False, False),
        (rest * (1 - FLAGGED), 1, False, False),
    ]


def _sample(
    node: Node, kinds: list[tuple[float, int, bool, bool]], sizes: list[int], drawn: list[int], kind: int
) -> tuple[StratumSample, ...]:
    """Return true occurrences, detected spans, or occurrences that aren't named: one to a document."""
    rows = []
    for h, stratum in enumerate(STRATA):
        moments = Moments()
        for (_, place, there, named), n in zip(kinds, drawn, strict=True):
            counted = (there, named, there and not named)[kind]
            if place == h and counted:
                moments = moments.plus(Moments(*(n * one for one in Moments.of(int(there and named), 1))))
        census, labelled = (
            sum(n for n, k in zip(counts, kinds, strict=True) if k[1] == h) for counts in (sizes, drawn)
        )
        rows.append(StratumSample("en", stratum, census, (Design(node.rates[h], labelled, labelled, moments),)))
    return tuple(rows)
