"""Coverage by node as a picture: four formulas side by side on the same streams."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.plot import ACT, HAIR, INK, MID, SOFT
from limit_coverage import LOWER, TWO_SIDED, Coverage, Judged, floor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMULAS = (
    ("recallwatch", "recallwatch: factored"),
    ("wilson", "Wilson on pooled counts"),
    ("logit", "log-odds (svyciprop)"),
    ("normal", "normal (confint of svyratio)"),
)
ROWS = (
    ("two_sided", 0.95, TWO_SIDED, "interval holds the truth"),
    ("lower", 0.975, LOWER, "lower limit is no higher than it"),
)


def plot(judged: Sequence[Judged], path: Path, day: str) -> None:
    """Write the picture; PNG, or whatever the file's name ends with that matplotlib knows.

    Raises
    ------
    ImportError
        Where matplotlib isn't installed: `pip install 'recallwatch[plots]'`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  # an extra: the tests need none
    from matplotlib.figure import Figure  # noqa: PLC0415  # the same

    drawn = Figure(figsize=(13, 7.4), layout="constrained")
    FigureCanvasAgg(drawn)
    grid = drawn.subplots(len(ROWS), len(FORMULAS), sharex=True, sharey="row")
    for across, (limit, promised, asked, words) in zip(grid, ROWS, strict=True):
        for axes, (name, title) in zip(across, FORMULAS, strict=True):
            _draw(axes, [(one.node.misses_seen, _of(one, name)) for one in judged], limit, promised, asked)
            if limit == ROWS[0][0]:
                axes.set_title(title, loc="left", color=INK, fontsize=11, pad=32)
        across[0].set_ylabel(f"share of streams whose\n{words}", color=MID)
    streams, whole = judged[0].streams, sum(one.streams for one in judged)
    without = sum(one.unoffered for one in judged)
    drawn.suptitle(
        f"How often do 95 % limits of recall hold? Each of {len(judged)} dots is one setting, {streams:,} streams",
        x=0.005,
        ha="left",
        color=INK,
        fontsize=13,
    )
    drawn.supxlabel(
        "labelled documents, expected, that hold the entity and that no tool flagged "
        "(few: the misses that matter are mostly not in the sample)\n"
        "Each formula gets the same labels; NaN, or no width, holds nothing. "
        "Red: short by more than three Monte Carlo standard errors.\n"
        f"{without:,} of {whole:,} streams have no interval of ours and are left out. "
        f"Simulated by tests/coverage_report.py, {day}",
        color=MID,
        fontsize=9,
    )
    drawn.savefig(path, dpi=150, facecolor="white")


def _of(one: Judged, name: str) -> Coverage:
    return one.ours if name == "recallwatch" else one.peers[name]


def _draw(axes: Axes, seen: Sequence[tuple[float, Coverage]], limit: str, promised: float, asked: float) -> None:
    points = [(x, getattr(c, limit), floor(asked, c.offered)) for x, c in seen if c.offered]
    good = [(x, y) for x, y, least in points if y >= least]
    bad = [(x, y) for x, y, least in points if y < least]
    axes.axhline(promised, color=SOFT, linewidth=1, zorder=1)
    axes.scatter(*zip(*good, strict=True) if good else ([], []), s=10, color=MID, alpha=0.6, linewidths=0)
    axes.scatter(*zip(*bad, strict=True) if bad else ([], []), s=14, color=ACT, alpha=0.6, linewidths=0, marker="D")
    widths = [c.width for _, c in seen if c.width is not None]
    low = min(y for _, y, _ in points)
    axes.annotate(
        f"{len(bad)} of {len(points)} settings fall short of {asked:g}\n"
        f"lowest {low:.3f}, mean width {sum(widths) / len(widths):.2f}",
        (0, 1),
        xytext=(0, 3),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=8.5,
        color=ACT if bad else MID,
    )
    axes.set_xscale("log")
    axes.set_ylim(-0.03, 1.03)
    marks = [0, 0.25, 0.5, 0.75, promised]
    axes.set_yticks(marks, [f"{mark:g}" for mark in marks])
    axes.grid(axis="y", color=HAIR)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, colors=MID)
    axes.spines[:].set_visible(False)
