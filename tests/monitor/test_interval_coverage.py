"""Seeded simulation: limits cover the truth as often as they promise, within three Monte Carlo standard errors."""

from __future__ import annotations

from itertools import product

import pytest
from simulation import Coverage, Node, cover

QUICK = (
    Node(recall=0.5, prevalence=1e-3, random_rate=2e-2, mean_size=1),
    Node(recall=0.9, prevalence=1e-2, random_rate=5e-4, mean_size=3),
    Node(recall=0.97, prevalence=5e-2, random_rate=2e-3, mean_size=1, completeness=0.6),
    Node(recall=0.995, prevalence=1e-3, random_rate=5e-4, mean_size=3),
    Node(recall=0.8, prevalence=1e-4, random_rate=2e-2, mean_size=2, loose_rate=1.0),
)
GRID = [
    Node(recall, prevalence, rate, size, completeness=completeness)
    for recall, prevalence, rate, size, completeness in product(
        (0.5, 0.8, 0.9, 0.97, 0.995), (1e-4, 1e-3, 1e-2, 5e-2), (5e-4, 2e-3, 2e-2), (1.0, 3.0), (1.0, 0.6)
    )
]
OFFERED_AT_LEAST = 1_000
"""Of 2,000 draws. The rarest entity with labels missing has an interval in 1,440 of them; a node that has none in most
draws would be judged by next to nothing."""


def _holds(coverage: Coverage) -> None:
    assert coverage.broken == 0
    assert coverage.two_sided >= coverage.floor(0.94)
    assert coverage.lower >= coverage.floor(0.97)
    assert coverage.certified >= coverage.floor(0.95)


@pytest.mark.parametrize("node", QUICK, ids=str)
def test_limits_cover_the_truth(node: Node) -> None:
    """A handful of nodes, few draws: enough to see a formula that is wrong."""
    coverage = cover(node, streams=400, seed=20_260)

    assert coverage.offered > 200
    _holds(coverage)


@pytest.mark.slow
@pytest.mark.parametrize("node", GRID, ids=str)
def test_limits_cover_the_truth_over_the_whole_grid(node: Node) -> None:
    """Recall × prevalence × random rate × cluster sizes × completeness, 2,000 streams a node; every node is judged."""
    coverage = cover(node, streams=2_000, seed=1)

    assert coverage.offered >= OFFERED_AT_LEAST
    _holds(coverage)


def test_grid_has_every_combination() -> None:
    """Five recalls, four prevalences, three rates, two cluster sizes, two completenesses: a lost axis would show."""
    assert len(set(GRID)) == 5 * 4 * 3 * 2 * 2


def test_simulation_sees_an_interval_that_is_too_narrow() -> None:
    """The same draws, their limits a tenth of the way from the estimate: coverage falls through the floor."""
    coverage = cover(QUICK[2], streams=200, seed=20_260, shrink=0.1)

    assert coverage.two_sided < coverage.floor(0.94)
