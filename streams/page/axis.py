"""Places on a row's 0-1 axis, as the percentages that SVG takes: the picture stretches, its strokes don't."""

from __future__ import annotations

from typing import NamedTuple

from monitor.readings import Share
from streams.page.cells import Cell


class Bar(NamedTuple):
    """A stretch of the axis: where it begins and how long it is, in percent without the sign."""

    x: str
    width: str


class Marks(NamedTuple):
    """All that can be drawn in one row; what has no value is None and isn't drawn."""

    interval: Bar | None
    estimate: str | None
    looked: Bar | None
    certified: Bar | None
    target: str | None
    ghost: Bar | None
    ghost_estimate: str | None


def place(value: float | None) -> str | None:
    """Return a share as a percentage of the axis.

    >>> place(0.6125), place(1.0), place(None)
    ('61.3', '100', None)
    """
    if value is None:
        return None
    return f"{100 * min(max(value, 0.0), 1.0):.1f}".removesuffix(".0")


def bar(lower: float | None, upper: float | None) -> Bar | None:
    """Return the stretch between two shares, or None where one of them isn't there."""
    x, width = place(lower), place(None if lower is None or upper is None else upper - lower)
    return None if x is None or width is None else Bar(x, width)


def stratum_marks(share: Share) -> Marks:
    """Return the picture of one stratum: an interval and an estimate."""
    return Marks(bar(share.lower, share.upper), place(share.estimate), None, None, None, None, None)


def marks(cell: Cell) -> Marks:
    """Return the picture of one row."""
    share, before = cell.reading.matched, cell.previous
    certified = cell.reading.certified
    looked = share.where_looked
    return Marks(
        interval=bar(share.lower, share.upper),
        estimate=place(share.estimate),
        looked=None if looked is None else bar(looked.lower, looked.upper),
        certified=None if certified is None or share.lower is not None else bar(certified.lower, 1.0),
        target=place(cell.reading.target),
        ghost=None if before is None else bar(before.matched.lower, before.matched.upper),
        ghost_estimate=None if before is None else place(before.matched.estimate),
    )
