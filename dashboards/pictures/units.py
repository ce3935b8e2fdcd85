"""Values as Grafana writes them, by unit; as far as the dashboards use units."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

_TIMES = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"), (0.001, "ms"))


def shown(value: float, unit: str, decimals: int | None = None) -> str:
    """Return a value as it's read.

    Parameters: `unit`, Grafana's name of one; `decimals`, of what is written, None for as many as tell something.

    >>> shown(0.8371, "percentunit"), shown(12_400, "short"), shown(9_000, "s"), shown(3, "short", 0)
    ('83.7%', '12,400', '2.5 h', '3')
    """
    if not isfinite(value):
        return "–"
    if unit == "percentunit":
        return f"{100 * value:.{1 if decimals is None else decimals}f}%"
    if unit == "s":
        return _time(value, decimals)
    if unit == "dateTimeAsIso":
        return datetime.fromtimestamp(value / 1000, UTC).strftime("%b %d %H:%M")
    if decimals is None:
        return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{value:,.{decimals}f}"


def write_axis(axes: Axes, unit: str) -> None:
    """Have an axis' values written in a unit."""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: ticked(value, unit)))


def ticked(value: float, unit: str) -> str:
    """Return a tick: no more digits than it has, and no less, so that no two read alike.

    >>> [ticked(part / 2, "short") for part in range(5)], ticked(0.25, "percentunit")
    (['0', '0.5', '1', '1.5', '2'], '25%')
    """
    if unit == "percentunit":
        return f"{100 * value:.6g}%"
    return _time(value, None) if unit == "s" else f"{value:,.6g}"


def _time(value: float, decimals: int | None) -> str:
    """Return a length of time in the largest unit that it has one of."""
    size, name = next((one for one in _TIMES if abs(value) >= one[0]), _TIMES[-1])
    if value == 0:
        return "0 s"
    count = value / size
    digits = 1 if decimals is None or name != "s" else decimals
    text = f"{count:.{digits}f}"
    return f"{text.removesuffix('.0')} {name}"
