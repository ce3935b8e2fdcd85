"""A plan as a picture: how far recall is known, against labels, at the rates now and at the advised ones."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.advised_rates import Place
from monitor.errors import SourceError
from monitor.estimators.planner import Wait
from monitor.exposition import clean
from monitor.planning import BoardPlan, CellPlan, half_widths, rates_of
from monitor.readings import ANY
from streams.plan_table import figure, reason, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".png", ".svg")
MOST = 6
"""Cells drawn, those with a target and those that need somebody first."""
# The page's colours (streams/page/style.css): grey is everything, one accent is what somebody can do.
INK, MID, SOFT, HAIR, ACT = "#1b1b1a", "#6c6c69", "#b9b9b4", "#e4e4e0", "#c2330a"
_HIGH = 0.47
"""Half-width from which on the words stand below their point: above is the title."""
_POINTS = 40
_LEAST = 20
"""Labels from which on a curve is drawn: below, Student's quantile makes steps of it."""
_MOST_AHEAD = 300.0
"""Times the labels of today, at the right edge at most."""


def require_plots() -> None:
    """Raise SourceError where matplotlib isn't installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise SourceError(
            "--plot needs matplotlib: pip install 'recallwatch[plots]' (in a checkout: pip install '.[plots]')"
        )


def save_picture(plan: BoardPlan, path: Path, source: str) -> None:
    """Write the picture of a plan's cells, as PNG or SVG by the file's name.

    Raises
    ------
    SourceError
        matplotlib isn't installed, no cell has an interval, or the file can't be written.
    """
    require_plots()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  # an extra: the table needs none
    from matplotlib.figure import Figure  # noqa: PLC0415  # the same

    drawable = [cell for cell in shown(plan.cells) if cell.half_width is not None]
    if not drawable:
        why = "; ".join(sorted({reason(cell) for cell in plan.cells})) or "nothing was counted"
        raise SourceError(f"{path}: nothing to draw, as no cell has an interval: {why}")
    cells = drawable[:MOST]
    columns = 2 if len(cells) == 4 else min(len(cells), 3)
    rows = ceil(len(cells) / columns)
    drawn = Figure(figsize=(1.6 + 3.6 * columns, 1.9 + 3.0 * rows), layout="constrained")
    FigureCanvasAgg(drawn)
    grid = drawn.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    for place, axes in enumerate(grid):
        if place < len(cells):
            _draw(axes, cells[place], plan)
        else:
            axes.set_visible(False)
    drawn.suptitle(_title(plan, len(cells), len(drawable)), x=0.01, ha="left", color=INK, fontsize=12)
    drawn.supylabel("half-width of recall's interval", color=MID, fontsize=9)
    drawn.supxlabel(_footer(plan, source), x=0.995, ha="right", color=MID, fontsize=8)
    try:
        drawn.savefig(path, dpi=150, facecolor="white")
    except OSError as error:
        raise SourceError(f"{path}: can't be written ({error.strerror})") from None


def _title(plan: BoardPlan, shown: int, of: int) -> str:
    order = "those with a target first" if any(cell.target is not None for cell in plan.cells) else "the lowest first"
    cells = f"{shown} cells" if shown == of else f"{shown} of {of} cells, {order}"
    return f"What more labels would tell: recall to ± {plan.question.half_width:g} ({cells if of > 1 else 'one cell'})"


def _footer(plan: BoardPlan, source: str) -> str:
    budget = "" if plan.labels_per_day is None else f"{figure(plan.labels_per_day)} labels a day, "
    confidence = f"{100 * plan.question.confidence:g} % intervals"
    return f"recallwatch plan, {source}: {budget}{confidence}, {datetime.now(UTC).date().isoformat()}"


def _draw(axes: Axes, cell: CellPlan, plan: BoardPlan) -> None:
    """Draw one cell: both curves, today, what is wanted, and where the curves get there."""
    wanted, now = plan.question.half_width, cell.half_width or 0.0
    labels = _labels(cell)
    curves: list[tuple[Mapping[Place, float] | None, str, Wait | None]] = [(None, MID, cell.to_half_width)]
    if plan.advised is not None:
        curves.append((rates_of(plan.advised), ACT, cell.advised))
    axes.axhline(wanted, color=SOFT, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate("wanted", (labels[0], wanted), (2, -3), textcoords="offset points", va="top", color=MID, fontsize=7.5)
    for rates, colour, wait in curves:
        found = half_widths(cell.sample.strata, labels, rates, plan.question.confidence)
        known = [(n, width) for n, width in zip(labels, found, strict=True) if width is not None]
        axes.plot(*zip(*known, strict=True), color=colour, linewidth=1.8)
        if wait is not None and wait.labels is not None and wait.days and labels[0] < wait.labels < labels[-1]:
            axes.plot([wait.labels], [wanted], "o", color=colour, markersize=4.5)
    axes.plot([cell.labelled], [now], "o", color=INK, markersize=6, zorder=5)
    axes.annotate(
        f"today: {cell.labelled:,}",
        (cell.labelled, now),
        (6, 5) if now < _HIGH else (-4, -14),
        ha="left" if now < _HIGH else "right",
        textcoords="offset points",
        color=INK,
        fontsize=8,
    )
    _dress(axes, cell, labels)
    _tell(axes, cell, plan)


def _labels(cell: CellPlan) -> list[float]:
    """Return the numbers of labels that curves are drawn at, evenly in logarithms."""
    waits = [wait.labels for wait in (cell.to_half_width, cell.advised) if wait is not None and wait.labels is not None]
    last = min(1.6 * max([3 * cell.labelled, *waits]), _MOST_AHEAD * cell.labelled)
    first = min(max(cell.labelled / 4, _LEAST), cell.labelled)
    return [first * (last / first) ** (i / (_POINTS - 1)) for i in range(_POINTS)]


def _tell(axes: Axes, cell: CellPlan, plan: BoardPlan) -> None:
    """Say in the corner what the wanted width takes."""
    lines = [(f"rates now: {_needs(cell.to_half_width)}", MID)]
    if plan.advised is not None:
        lines.append((f"advised rates: {_needs(cell.advised)}", ACT))
    for place, (words, colour) in enumerate(lines):
        axes.text(
            0.97,
            0.94 - 0.085 * place,
            words,
            transform=axes.transAxes,
            ha="right",
            va="top",
            color=colour,
            fontsize=8.5,
        )


def _needs(wait: Wait | None) -> str:
    if wait is None or wait.labels is None:
        return "never"
    return f"{wait.labels:,} labels" if wait.days else "reached"


def _dress(axes: Axes, cell: CellPlan, labels: Sequence[float]) -> None:
    """Set axes and title: labels on a logarithmic axis, as each further digit costs a hundred times as many."""
    axes.set_xscale("log")
    axes.set_xlim(labels[0], labels[-1])
    axes.set_ylim(0, 0.52)
    ticks = [m * 10**e for e in range(10) for m in (1, 3) if labels[0] <= m * 10**e <= labels[-1]]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks], color=MID, fontsize=8)
    axes.set_xticks([], minor=True)
    axes.set_yticks([0, 0.1, 0.2, 0.3, 0.4, 0.5], ["0", "± .1", "± .2", "± .3", "± .4", "± .5"], color=MID, fontsize=8)
    entity, language = (clean(name) for name in (cell.sample.entity, cell.sample.language))
    entity = "any entity" if cell.sample.entity == ANY else entity
    language = "any language" if cell.sample.language == ANY else language
    axes.set_title(
        f"{entity} / {language}\n{cell.with_entity:,} documents with it", loc="left", color=INK, fontsize=9.5
    )
    axes.set_xlabel("labelled documents", color=MID, fontsize=8)
    axes.grid(axis="y", color=HAIR)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
