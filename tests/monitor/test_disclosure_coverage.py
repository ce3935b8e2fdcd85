"""Limits of the disclosure rate hold the traffic's, from outputs that show nothing to some that were never redacted."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from limit_coverage import LOWER, floor

from monitor.estimators.disclosure import disclosure
from monitor.estimators.over_masking import over_masking
from monitor.estimators.prevalence import prevalence
from monitor.estimators.sample import Design, Interval, Moments, StratumSample
from monitor.records import Stratum

TWO_SIDED = 0.94
DOCUMENTS = 60_000
STRATA: tuple[Stratum, Stratum] = ("both", "unflagged")
_Sums = np.ndarray


class Node(NamedTuple):
    """How much personal data there is, what outputs show of it, and what is labelled."""

    prevalence: float
    mean_size: float
    """Mean of a geometric number of true occurrences in a document that has any."""
    shown: tuple[float, float, float]
    """Chances that an occurrence is shown; that an output was never redacted; that nobody flagged the document."""
    rates: tuple[float, float]
    """Of flagged and of unflagged documents."""


SHOWN = ((0.0, 0.0, 0.002), (0.02, 0.0, 0.01), (0.002, 0.002, 0.0), (0.2, 0.05, 0.1), (0.001, 0.003, 0.0))
"""From rare to frequent; the last two hold most of it in few documents."""
RATES = ((0.05, 0.002), (0.03, 0.02))
GRID = [Node(*one) for one in product((0.01, 0.1), (1.0, 4.0, 8.0), SHOWN, RATES)]
HEAVY = Node(0.3, 8.0, (0.001, 0.003, 0.0), (0.03, 0.02))


class Said(NamedTuple):
    """The traffic's rate and share, and what is said of one stream."""

    rate: float
    share: float
    seen: int
    per_1000: Interval
    of_true: Interval | None
    plain: Interval
    """By prevalence alone."""


def _said(node: Node, streams: int, seed: int) -> list[Said]:
    """Return what is said of so many streams, every ten of another population."""
    rng = np.random.default_rng([seed, 12])
    said = []
    for begun in range(0, streams, 10):
        kinds, sizes = _population(node, rng)
        chances = np.array(node.rates)[kinds[:, 0]]
        readable = np.array([Moments.of(r, r) for _, _, r in kinds.tolist()])
        hidden = np.array([Moments.of(y - r, y) for _, y, r in kinds.tolist()])
        rate = 1000 * float(sizes @ kinds[:, 2]) / DOCUMENTS
        share = float(sizes @ kinds[:, 2]) / max(float(sizes @ kinds[:, 1]), 1)
        for _ in range(min(10, streams - begun)):
            drawn = rng.binomial(sizes, chances)
            samples = [_samples(node, kinds[:, 0], sizes, drawn, moments) for moments in (readable, hidden)]
            found, plain = disclosure(*samples), prevalence(samples[0]).per_1000
            if found.per_1000 is not None and plain is not None:
                said.append(Said(rate, share, found.readable, found.per_1000, found.share, plain))
    return said


def _population(node: Node, rng: np.random.Generator) -> tuple[_Sums, _Sums]:
    """Return documents by kind (stratum, true, readable), and how many there are of each."""
    by_chance, never, unflagged = node.shown
    having = int(rng.binomial(DOCUMENTS, node.prevalence))
    true = rng.geometric(1 / node.mean_size, having)
    blind = rng.random(having) < unflagged
    whole = blind | (rng.random(having) < never)
    readable = np.where(whole, true, rng.binomial(true, by_chance))
    kinds, sizes = np.unique(np.stack([blind, true, readable], axis=1).astype(np.int64), axis=0, return_counts=True)
    clean = DOCUMENTS - having
    others = np.array([[0, 0, 0], [1, 0, 0]])
    return np.concatenate([others, kinds]), np.concatenate([[clean // 20, clean - clean // 20], sizes])


def _samples(node: Node, strata: _Sums, sizes: _Sums, drawn: _Sums, moments: _Sums) -> list[StratumSample]:
    rows = []
    for h, stratum in enumerate(STRATA):
        here = strata == h
        n = int(drawn[here].sum())
        its = Moments(*(drawn[here] @ moments[here]).tolist())
        rows.append(StratumSample("en", stratum, int(sizes[here].sum()), (Design(node.rates[h], n, n, its),)))
    return rows


def _hold(said: list[Said]) -> tuple[float, float, float]:
    """Return how often both limits of the rate hold, its upper one, and those of the share."""
    upper = [one.rate <= one.per_1000.upper + 1e-9 for one in said]
    both = [one.per_1000.lower - 1e-9 <= one.rate <= one.per_1000.upper + 1e-9 for one in said]
    shares = [one.of_true.lower - 1e-9 <= one.share <= one.of_true.upper + 1e-9 for one in said if one.of_true]
    return float(np.mean(both)), float(np.mean(upper)), float(np.mean(shares)) if shares else 1.0


def test_limits_hold_over_the_grid() -> None:
    """12 streams a node: what is asked for in the mean; where nothing was seen there's an upper limit, and no lower."""
    said = [one for seed, node in enumerate(GRID) for one in _said(node, 12, seed)]
    both, upper, shares = _hold(said)
    silent = [one for one in said if not one.seen]

    assert both >= floor(TWO_SIDED, len(said))
    assert upper >= floor(LOWER, len(said))
    assert shares >= floor(TWO_SIDED, len(said))
    assert len(silent) > 50
    assert all(one.per_1000.lower == 0 < one.per_1000.upper for one in silent)


def test_few_outputs_that_were_never_redacted_are_reckoned_with() -> None:
    """They hold most of it and are mostly not seen: by prevalence alone the limits hold four in five times."""
    said = _said(HEAVY, 120, 1)
    both, upper, _ = _hold(said)
    alone = np.mean([one.rate <= one.plain.upper for one in said])

    assert both >= floor(TWO_SIDED, len(said))
    assert upper >= floor(LOWER, len(said))
    assert alone < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("node", [*GRID, HEAVY])
def test_limits_hold_in_every_node(node: Node) -> None:
    """1,000 streams, with an allowance for chance."""
    said = _said(node, 1_000, 7)
    both, upper, shares = _hold(said)

    assert both >= floor(TWO_SIDED, len(said))
    assert upper >= floor(LOWER, len(said))
    assert shares >= floor(TWO_SIDED, len(said))


LUMPS = [*product((0.0, 0.002, 0.02, 0.2), (0.0, 0.003, 0.03), (60, 300))]
"""Chances that a masked word, and that a sentence in a document, is needless; documents labelled."""


def _over_masked(lump: tuple[float, float, int], streams: int, seed: int) -> list[tuple[float, Interval]]:
    """Return the traffic's needless share with what is said of so many streams."""
    word, sentence, labelled = lump
    rng = np.random.default_rng([seed, 13])
    spans = rng.geometric(1 / 3, 8_000)
    graphemes = rng.geometric(1 / 10, spans.sum())
    starts = np.cumsum(spans) - spans
    more = np.where(rng.random(len(spans)) < sentence, 100, 0)
    masked = np.add.reduceat(graphemes, starts) + more
    needless = np.add.reduceat(np.where(rng.random(len(graphemes)) < word, graphemes, 0), starts) + more
    truth = float(needless.sum() / masked.sum())
    moments = np.array([Moments.of(*one) for one in zip(needless.tolist(), masked.tolist(), strict=True)])
    said = []
    for _ in range(streams):
        its = Moments(*moments[rng.integers(0, len(spans), labelled)].sum(axis=0).tolist())
        rows = [StratumSample("en", "both", 8_000, (Design(labelled / 8_000, labelled, labelled, its),))]
        limits = over_masking(rows).limits
        if limits is not None:
            said.append((truth, limits))
    return said


def test_limits_of_over_masking_hold_over_the_grid() -> None:
    """20 streams a node: from nothing needless over single words to sentences in few documents."""
    said = [one for seed, lump in enumerate(LUMPS) for one in _over_masked(lump, 20, seed)]

    assert np.mean([low <= truth <= high for truth, (_, low, high) in said]) >= floor(TWO_SIDED, len(said))
    assert np.mean([truth <= high for truth, (_, _, high) in said]) >= floor(LOWER, len(said))


@pytest.mark.slow
@pytest.mark.parametrize("lump", LUMPS)
def test_upper_limit_of_over_masking_holds_in_every_node(lump: tuple[float, float, int]) -> None:
    """1,000 streams, with an allowance for chance."""
    said = _over_masked(lump, 1_000, 5)

    assert np.mean([truth <= high for truth, (_, _, high) in said]) >= floor(LOWER, len(said))
