"""The alarm's formulas as they're written down, in exact fractions, one document at a time.

Nothing is shared with the product but its records: factors are multiplied instead of adding rounded logarithms, M is a
list of fractions, and a confidence sequence tries every r by both products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import prod
from typing import NamedTuple

from monitor.estimators.e_detector import Entry, Floors

UNIT = Decimal(2) ** 40
Test = Callable[[Entry, float, int, float], Fraction]


class Kind(NamedTuple):
    """Documents of one sort: their share of the traffic, and how they are drawn and found."""

    share: Fraction
    probability: float
    t: int
    y: int


def capped(entry: Entry, y_max: int) -> tuple[Fraction, Fraction]:
    """Return t and y, both scaled by y_max/y where y is above y_max."""
    scale = min(Fraction(1), Fraction(y_max, entry.y or 1))
    return entry.t * scale, entry.y * scale


def z(entry: Entry, recall: float, y_max: int) -> Fraction:
    """Return Z = w (t - r y)."""
    t, y = capped(entry, y_max)
    return (t - Fraction(recall) * y) / Fraction(entry.probability)


def factor(entry: Entry, recall: float, y_max: int, c: float) -> Fraction:
    """Return 1 - λZ with λ = c π_min/((1 - r) y_max)."""
    bet = Fraction(c) * Fraction(entry.floors.detected) / ((1 - Fraction(recall)) * y_max)
    return 1 - bet * z(entry, recall, y_max)


def factor_too_low(entry: Entry, recall: float, y_max: int, c: float) -> Fraction:
    """Return 1 + μZ with μ = c p_r/(r y_max); 1 for a document without a label."""
    bet = Fraction(c) * Fraction(entry.floors.any) / (Fraction(recall) * y_max)
    return 1 + bet * z(entry, recall, y_max) if entry.labelled else Fraction(1)


def exponential(units: int) -> Decimal:
    """Return exp(units/2⁴⁰) to 40 digits."""
    with localcontext(prec=40):
        return (units / UNIT).exp()


def decimal(number: Fraction) -> Decimal:
    """Return the fraction to 40 digits."""
    with localcontext(prec=40):
        return Decimal(number.numerator) / number.denominator


def sums(days: Sequence[Sequence[Entry]], recall: float, y_max: int, bets: Sequence[float]) -> list[Fraction]:
    """Return Σ M_j after each day, with no restart."""
    wealth = [Fraction(0)] * len(bets)
    after = []
    for day in days:
        if any(one.labelled and one.y for one in day):
            wealth = [m + Fraction(1, len(bets)) for m in wealth]
        wealth = [
            m * prod([factor(one, recall, y_max, c) for one in day], start=Fraction(1))
            for m, c in zip(wealth, bets, strict=True)
        ]
        after.append(sum(wealth, Fraction(0)))
    return after


def crossings(
    days: Sequence[Sequence[Entry]], recall: float, y_max: int, bets: Sequence[float], promised: float
) -> list[int]:
    """Return the days on which Σ M_j reaches what's promised; what came up to such a day is forgotten."""
    found: list[int] = []
    start = 0
    while True:
        after = sums(days[start:], recall, y_max, bets)
        crossed = next((k for k, m in enumerate(after) if m >= Fraction(promised)), None)
        if crossed is None:
            return found
        found.append(start + crossed)
        start += crossed + 1


def rejected(
    entries: Sequence[Entry], grid: Sequence[float], y_max: int, bets: Sequence[float], alpha: float
) -> tuple[list[float], list[float]]:
    """Return the r that are too high, and those that are too low."""

    def mean(test: Test, r: float) -> float:
        return sum([prod([_factor(test, one, r, y_max, c) for one in entries]) for c in bets]) / len(bets)

    bar = 2 / alpha
    return [r for r in grid if mean(factor, r) >= bar], [r for r in grid if mean(factor_too_low, r) >= bar]


@cache
def _factor(test: Test, entry: Entry, r: float, y_max: int, c: float) -> float:
    return float(test(entry, r, y_max, c))


def drawn(kinds: Sequence[Kind], floors: Floors) -> dict[Entry | None, Fraction]:
    """Return what may become of the traffic's next document with its chance; None: not drawn, or without the entity."""
    chances: dict[Entry | None, Fraction] = {None: Fraction(0)}
    for one in kinds:
        rate = Fraction(one.probability) if one.y else Fraction(0)
        if one.y:
            chances[Entry(one.probability, floors, one.t, one.y)] = one.share * rate
        chances[None] += one.share * (1 - rate)
    return chances


def histories(
    steps: int, following: Callable[[tuple[Entry | None, ...]], dict[Entry | None, Fraction]]
) -> Iterator[tuple[Fraction, tuple[Entry | None, ...]]]:
    """Yield every history of so many documents with its chance; what may follow can depend on what came before."""
    if not steps:
        yield Fraction(1), ()
        return
    for chance, before in histories(steps - 1, following):
        for entry, more in following(before).items():
            yield chance * more, (*before, entry)
