"""Slow, obvious formulas for two readings, on lists of documents and in exact fractions where that's possible."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import matching_oracle
from scipy import stats

from monitor.matching import Extent

Limits = tuple[float, float, float]
BIT = Fraction(1, 10**40)
"""How far a weight is moved to see what that does: exact fractions leave no rounding."""


class Read(NamedTuple):
    """One doubly read document: its weight, and who named the entity."""

    weight: Fraction
    first: bool
    second: bool


class Searched(NamedTuple):
    """One document that two searches went through."""

    weight: float
    first: int
    second: int
    both: int


def kappa(documents: Sequence[Read]) -> Fraction | None:
    """Return (observed - expected)/(1 - expected) agreement as Cohen wrote it."""
    weight = sum((one.weight for one in documents), Fraction(0))
    if not weight:
        return None
    observed = sum((one.weight for one in documents if one.first == one.second), Fraction(0)) / weight
    named = sum((one.weight for one in documents if one.first), Fraction(0)) / weight
    named_too = sum((one.weight for one in documents if one.second), Fraction(0)) / weight
    expected = named * named_too + (1 - named) * (1 - named_too)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def kappa_variance(documents: Sequence[Read]) -> float:
    """Return Σ (w · dκ/dw)², each derivative taken by moving the weight of that one document."""
    now = kappa(documents)
    assert now is not None
    total = 0.0
    for at, one in enumerate(documents):
        heavier = [*documents]
        heavier[at] = one._replace(weight=one.weight + BIT)
        moved = kappa(heavier)
        assert moved is not None
        total += float(one.weight * (moved - now) / BIT) ** 2
    return total


def kappa_jackknife(documents: Sequence[Read]) -> float:
    """Return the unstratified delete-one jackknife's variance."""
    left = [kappa([*documents[:at], *documents[at + 1 :]]) for at in range(len(documents))]
    values = [float(one) for one in left if one is not None]
    n = len(values)
    mean = sum(values) / n
    return (n - 1) / n * sum((one - mean) ** 2 for one in values)


def fleiss_cohen_everitt(both: int, first_only: int, second_only: int, neither: int) -> float:
    """Return the large-sample variance of an unweighted kappa by the paper's formula (1969, 13), term by term."""
    n = both + first_only + second_only + neither
    p = [[both / n, first_only / n], [second_only / n, neither / n]]
    row = [sum(p[0]), sum(p[1])]
    column = [p[0][0] + p[1][0], p[0][1] + p[1][1]]
    observed = p[0][0] + p[1][1]
    expected = row[0] * column[0] + row[1] * column[1]
    agree = sum(p[i][i] * ((1 - expected) - (column[i] + row[i]) * (1 - observed)) ** 2 for i in (0, 1))
    differ = (1 - observed) ** 2 * sum(p[i][1 - i] * (column[i] + row[1 - i]) ** 2 for i in (0, 1))
    return (agree + differ - (observed * expected - 2 * expected + observed) ** 2) / (n * (1 - expected) ** 4)


def kappa_limits(documents: Sequence[Read], confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's limits of (1 + κ)/2, with the effective number and Student's quantile."""
    value = kappa(documents)
    assert value is not None
    weight = sum(one.weight for one in documents)
    kish = float(weight**2 / sum(one.weight**2 for one in documents))
    named = sum((one.weight for one in documents if one.first), Fraction(0)) / weight
    named_too = sum((one.weight for one in documents if one.second), Fraction(0)) / weight
    n_eff = min(2 * float(named * (1 - named_too) + named_too * (1 - named)), 1.0) * kish
    variance = kappa_variance(documents)
    if abs(value) < 1 and variance > 0:
        n_eff = min(n_eff, float(1 - value**2) / variance)
    _, lower, upper = _wilson(float(1 + value) / 2, n_eff, stats.t.isf((1 - confidence) / 2, max(kish - 1, 1)))
    return 2 * lower - 1, 2 * upper - 1


def _wilson(share: float, n: float, z: float) -> Limits:
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return share, middle - half, middle + half


def paired(first: Sequence[Extent], second: Sequence[Extent], iou: Fraction) -> list[tuple[Extent, Extent]]:
    """Return the pairs, best overlap first, ties to whichever pair stands first in the text."""
    pairs = [
        (-matching_oracle.overlap(a, b), sorted((a, b)), a, b)
        for a in first
        for b in second
        if a.entity == b.entity and matching_oracle.overlap(a, b) >= iou
    ]
    taken = []
    while pairs:
        *_, one, other = min(pairs)
        taken.append((one, other))
        pairs = [pair for pair in pairs if pair[2] != one and pair[3] != other]
    return taken


def recapture(documents: Sequence[Searched], tail: float = 0.025) -> Limits | None:
    """Return the first's recall among what the second found, between its limits."""
    total = sum(one.weight * one.second for one in documents)
    if not total:
        return None
    share = sum(one.weight * one.both for one in documents) / total
    variance = sum((one.weight * (one.both - share * one.second) / total) ** 2 for one in documents)
    clusters = total**2 / sum((one.weight * one.second) ** 2 for one in documents)
    most = float(sum(one.second for one in documents))
    if variance <= 1e-12 or sum(one.both < one.second for one in documents) < 5:
        most = min(most, clusters)
    n_eff = most if variance <= 1e-12 else min(share * (1 - share) / variance, most)
    return _wilson(share, n_eff, stats.t.isf(tail, max(clusters - 1, 1)))


def missed_by_both(documents: Sequence[Searched]) -> Limits | None:
    """Return (1 - r₁)(1 - r₂), limits from both recalls' at 97.5 %."""
    exchanged = [one._replace(first=one.second, second=one.first) for one in documents]
    first, second = recapture(documents, 0.0125), recapture(exchanged, 0.0125)
    if first is None or second is None:
        return None
    estimate, lower, upper = zip(first, second, strict=True)
    return (
        (1 - estimate[0]) * (1 - estimate[1]),
        (1 - upper[0]) * (1 - upper[1]),
        (1 - lower[0]) * (1 - lower[1]),
    )
