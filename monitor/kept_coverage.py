"""What a row of the ledger keeps of an output's coverage: the same stretches, in three fifths of the bytes.

Offsets are kept as steps from one to the next, which mostly fit a byte where an offset takes three. A masked stretch
begins and ends at most a blank or two from where a hidden one does, so it's kept beside that one, by the step from its
beginning: to deflate these look alike.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

import msgspec

from monitor.leaks.coverage import Coverage, Stretches


class KeptCoverage(msgspec.Struct, array_like=True, frozen=True):
    """A coverage as steps."""

    hidden: list[int]
    """Starts and ends by turns, from one to the next; the first from the text's beginning."""
    masked: list[int] | None
    """Before the first hidden stretch, then from each one's start to the next one's: how many are masked, and the same
    of these. In one list, as a ledger that opens makes one for each document."""
    joined: list[int] = []

    @classmethod
    def of(cls, coverage: Coverage) -> KeptCoverage:
        """Return a coverage as a row keeps it.

        >>> KeptCoverage.of(Coverage([(4, 13), (40, 52)], [(5, 12), (41, 51)]))
        KeptCoverage(hidden=[4, 9, 27, 12], masked=[0, 1, 1, 7, 1, 1, 10], joined=[])
        """
        hidden, masked = _steps(coverage.hidden), None
        if coverage.masked is not None:
            masked = _beside([0, *[start for start, _ in coverage.hidden]], coverage.masked)
        return cls(hidden, masked, [b - a for a, b in pairwise([0, *coverage.joined])])

    def coverage(self) -> Coverage:
        """Return the coverage that was kept."""
        edges = list(accumulate(self.hidden))
        starts = edges[::2]
        masked = None if self.masked is None else _masked([0, *starts], self.masked)
        return Coverage(list(zip(starts, edges[1::2], strict=True)), masked, list(accumulate(self.joined)))


def _beside(bases: Sequence[int], stretches: Stretches) -> list[int]:
    groups: list[Stretches] = [[] for _ in bases]
    for stretch in stretches:
        groups[bisect_right(bases, stretch[0], lo=1) - 1].append(stretch)
    return [step for base, group in zip(bases, groups, strict=True) for step in (len(group), *_steps(group, base))]


def _masked(bases: Sequence[int], kept: Sequence[int]) -> Stretches:
    masked: Stretches = []
    steps = iter(kept)
    for base, many in zip(bases, steps, strict=False):
        reached = base
        for _ in range(many):
            start = reached + next(steps)
            reached = start + next(steps)
            masked.append((start, reached))
    return masked


def _steps(stretches: Stretches, base: int = 0) -> list[int]:
    return [b - a for a, b in pairwise(chain((base,), chain.from_iterable(stretches)))]
