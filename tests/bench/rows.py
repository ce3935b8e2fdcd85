"""A figure beside its reference from the same run, and how both are measured: interleaved, the median of each."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

Sense = Literal[">=", "<="]
_COMPARE: dict[Sense, Callable[[float, float], bool]] = {">=": operator.ge, "<=": operator.le}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table."""

    name: str
    """What was measured, in a few words: `ROUTE, 5 KB, 4 partitions`."""
    unit: str
    """Of value and reference: `decisions/s`, `CPU s per 100 k`, `ns/byte`."""
    value: float
    """Ours; the median."""
    reference: float | None
    """The reference, in the same unit, from the same run; None where the bar is absolute."""
    compared_with: str = ""
    """What the reference is: `bare aiokafka + msgspec`."""
    ratio: float
    """Value over reference; where there is no reference, the value itself."""
    bar: float | None
    """What the ratio must be; None where the row only informs."""
    sense: Sense = ">="
    note: str = ""
    """What a reader must know: spread, shortfall and why."""

    @property
    def ok(self) -> bool | None:
        """Whether the bar is met; None where there is none."""
        return None if self.bar is None else _COMPARE[self.sense](self.ratio, self.bar)


class Pair(NamedTuple):
    """Two things measured by turns."""

    value: float
    """Median of ours."""
    reference: float
    """Median of the reference."""
    ratio: float
    """Median of the rounds' own ratios: what slows a whole round down cancels."""
    spread: str
    """Lowest and highest ratio of a round."""


def by_turns(ours: Callable[[], float], reference: Callable[[], float], times: int) -> Pair:
    """Measure both `times` times, by turns, the first one changing each round.

    >>> by_turns(lambda: 2.0, lambda: 4.0, 3)
    Pair(value=2.0, reference=4.0, ratio=0.5, spread='0.5–0.5')
    """
    rounds: list[tuple[float, float]] = []
    for number in range(times):
        if number % 2:
            other = reference()
            rounds.append((ours(), other))
        else:
            own = ours()
            rounds.append((own, reference()))
    ratios = sorted(own / other for own, other in rounds)
    return Pair(
        statistics.median(own for own, _ in rounds),
        statistics.median(other for _, other in rounds),
        statistics.median(ratios),
        f"{ratios[0]:.3g}–{ratios[-1]:.3g}",
    )
