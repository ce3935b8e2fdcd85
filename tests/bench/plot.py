"""The bench as a picture: how far each figure is above or below what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.rows import Row
from bench.table import bar, figure, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The page's colours (streams/page/style.css): grey is everything, one accent is what somebody must see to.
INK, MID, SOFT, HAIR, ACT = "#1b1b1a", "#6c6c69", "#b9b9b4", "#e4e4e0", "#c2330a"
_LOWEST = 0.1
"""Of what is asked; a bar that falls shorter ends at the edge."""


def attained(row: Row) -> float:
    """Return the ratio as a multiple of what is asked, turned so that more than 1 is always good.

    >>> attained(Row(name="n", unit="s", value=5, reference=None, ratio=5, bar=10, sense="<="))
    2.0
    """
    if not row.bar:
        raise ValueError(f"{row.name} has no bar that a multiple could be taken of")
    met = row.ratio / row.bar
    return met if row.sense == ">=" else 1 / met if met else float("inf")


def plot(rows: Sequence[Row], machine: Mapping[str, object], path: Path) -> None:
    """Write the picture; PNG, or whatever the file's name ends with that matplotlib knows.

    Raises
    ------
    ImportError
        Where matplotlib isn't installed: `pip install 'recallwatch[plots]'`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  # an extra: the table needs none
    from matplotlib.figure import Figure  # noqa: PLC0415  # the same

    asked = [row for row in rows if row.bar]
    drawn = Figure(figsize=(11, 1.9 + 0.52 * len(asked)), layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.add_subplot()
    for place, row in enumerate(reversed(asked)):
        _draw(axes, place, row)
    _dress(axes, asked)
    axes.set_title(_title(asked), loc="left", color=INK, fontsize=13, pad=12)
    source = "tests/bench/run: " + ", ".join(f"{name} {value}" for name, value in machine.items())
    drawn.supxlabel(source, x=0.995, ha="right", color=MID, fontsize=8)
    drawn.savefig(path, dpi=150, facecolor="white")


def _title(rows: Sequence[Row]) -> str:
    missed = sum(row.ok is False for row in rows)
    if not missed:
        return f"All {len(rows)} figures are where they were asked to be"
    return f"{missed} of {len(rows)} figures fall{'s' if missed == 1 else ''} short of what was asked"


def _draw(axes: Axes, place: int, row: Row) -> None:
    times = max(attained(row), _LOWEST)
    colour = SOFT if row.ok else ACT
    axes.barh(place, times - 1, left=1, height=0.5, color=colour)
    beyond = times >= 1
    value = figure(row.ratio) if row.reference is not None else f"{figure(row.value)} {row.unit}"
    words = f"{value}, asked {bar(row)}" + ("" if row.ok else f": {verdict(row)}")
    axes.annotate(
        words,
        (times if beyond else 1, place),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        color=INK if row.ok else ACT,
        fontsize=9,
    )


def _label(row: Row) -> str:
    return f"{row.name}, {row.unit}" + (f"\nagainst {row.compared_with}" if row.compared_with else "")


def _dress(axes: Axes, rows: Sequence[Row]) -> None:
    """Set axes and labels: a logarithmic axis, since twice as good and half as good are equally far from 1."""
    axes.set_yticks(range(len(rows)), [_label(row) for row in reversed(rows)], color=INK, fontsize=9)
    axes.set_xscale("log")
    reached = [attained(row) for row in rows]
    low, high = min([0.5, *reached]), max([2.0, *(value for value in reached if value < float("inf"))])
    axes.set_xlim(max(low / 1.3, _LOWEST), high * 2.6)  # room for the words
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low / 1.3 <= tick <= high * 2.6]
    axes.set_xticks(ticks, [f"{tick:g} ×" for tick in ticks], color=MID)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("times as good as asked", color=MID)
    axes.axvline(1, color=INK, linewidth=1)
    axes.grid(axis="x", color=HAIR)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
