"""Matching as its definition reads: every pair tried, the best taken, over and over; every code point looked at."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from monitor.matching import Extent


def overlap(a: Extent, b: Extent) -> Fraction:
    """Return the IoU of two extents, exactly."""
    first, second = set(range(a.start, a.end)), set(range(b.start, b.end))
    return Fraction(len(first & second), len(first | second))


def matched(truth: Sequence[Extent], found: Sequence[Extent], iou: Fraction) -> set[int]:
    """Return which of `truth` are found, one to one, best first, ties by position."""
    pairs = [
        (-overlap(t, f), t[:2], f[:2], i, j)
        for i, t in enumerate(truth)
        for j, f in enumerate(found)
        if t.entity == f.entity and overlap(t, f) >= iou
    ]
    taken: set[int] = set()
    while pairs:
        *_, i, j = min(pairs)
        taken.add(i)
        pairs = [pair for pair in pairs if pair[3] != i and pair[4] != j]
    return taken


def masked(truth: Sequence[Extent], found: Sequence[Extent]) -> set[int]:
    """Return which of `truth` lie, code point by code point, inside spans of `found`."""
    covered = {at for f in found for at in range(f.start, f.end)}
    return {i for i, t in enumerate(truth) if covered.issuperset(range(t.start, t.end))}
