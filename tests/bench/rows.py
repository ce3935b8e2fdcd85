"""A figure beside its reference from the same run, and how both are measured: interleaved, the median of each."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

import msgspec

_Measured = TypeVar("_Measured")
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


def by_rounds(measures: Mapping[str, Callable[[], _Measured]], times: int) -> list[dict[str, _Measured]]:
    """Measure all of them `times` times, by turns, another one first in each round.

    >>> by_rounds({"a": lambda: 1, "b": lambda: 2}, 2)
    [{'a': 1, 'b': 2}, {'b': 2, 'a': 1}]
    """
    names = list(measures)
    turns = [names[first:] + names[:first] for first in (number % len(names) for number in range(times))]
    return [{name: measures[name]() for name in turn} for turn in turns]


def paired(rounds: Sequence[tuple[float, float]]) -> Pair:
    """Return the medians of rounds, each ours and the reference.

    >>> paired([(2.0, 4.0), (1.0, 4.0), (3.0, 4.0)])
    Pair(value=2.0, reference=4.0, ratio=0.5, spread='0.25–0.75')
    """
    ratios = sorted(own / other for own, other in rounds)
    return Pair(
        statistics.median(own for own, _ in rounds),
        statistics.median(other for _, other in rounds),
        statistics.median(ratios),
        f"{ratios[0]:.3g}–{ratios[-1]:.3g}",
    )


def by_turns(ours: Callable[[], float], reference: Callable[[], float], times: int) -> Pair:
    """Measure both `times` times, by turns, the first one changing each round.

    >>> by_turns(lambda: 2.0, lambda: 4.0, 3)
    Pair(value=2.0, reference=4.0, ratio=0.5, spread='0.5–0.5')
    """
    rounds = by_rounds({"ours": ours, "reference": reference}, times)
    return paired([(one["ours"], one["reference"]) for one in rounds])
