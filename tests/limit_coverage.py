"""How often limits of a node's streams hold: ours, the certified bound, and peers' on the same streams."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import simulation
from peer_intervals import Limits
from simulation import Flags, Floats, Node

TWO_SIDED, LOWER, CERTIFIED = 0.94, 0.97, 0.95
"""What is asked at a confidence of .95: of intervals, of lower limits, of the certified bound."""


class Coverage(NamedTuple):
    """How often limits held, of the streams in which an interval was offered; None where it never was."""

    offered: int
    two_sided: float | None
    lower: float | None
    width: float | None
    """Mean, of the intervals that have one."""


class Judged(NamedTuple):
    """A node, and how often each kind of limit held."""

    node: Node
    streams: int
    ours: Coverage
    broken: int
    """Intervals that are out of order, out of [0, 1], NaN or of no width."""
    certified: Coverage
    silent: Coverage
    """Ours, of the streams in which no miss had been seen."""
    peers: dict[str, Coverage]
    """Of the streams in which ours is offered. NaN and no width hold nothing."""

    @property
    def unoffered(self) -> int:
        """Streams without true occurrences among the labelled flagged documents: no data, no value."""
        return self.streams - self.ours.offered


def floor(level: float, draws: int) -> float:
    """Return the level less three Monte Carlo standard errors.

    >>> floor(0.9, 900)
    0.87
    """
    return level - 3 * sqrt(level * (1 - level) / max(draws, 1))


def judge(node: Node, streams: int, seed: int, *, shrink: float = 1.0) -> Judged:
    """Return how often limits hold over so many streams of a node.

    `shrink` pulls both of our limits towards the estimate, to show that a narrow interval would be seen.
    """
    measured = simulation.measure(node, streams, seed)
    drawn, offered = measured.streams, measured.offered
    ours = Limits(
        measured.estimate - shrink * (measured.estimate - measured.lower),
        measured.estimate + shrink * (measured.upper - measured.estimate),
    )
    bounded = ~np.isnan(measured.certified)
    bound = Limits(measured.certified, np.ones(streams))
    return Judged(
        node,
        streams,
        held(ours, drawn.truth, offered),
        int(measured.broken.sum()),
        held(bound, drawn.truth_in_documents, bounded),
        held(ours, drawn.truth, measured.silent),
        {name: held(limits, drawn.truth, offered) for name, limits in simulation.peers(measured).items()},
    )


def held(limits: Limits, truth: Floats, offered: Flags) -> Coverage:
    """Return how often the limits held, of the streams that count."""
    lower, upper, true = (array[offered] for array in (*limits, truth))
    if not len(true):
        return Coverage(0, None, None, None)
    above = lower <= true
    width = (upper - lower)[~np.isnan(lower)]
    return Coverage(
        len(true),
        float((above & (true <= upper)).mean()),
        float(above.mean()),
        float(width.mean()) if len(width) else None,
    )
