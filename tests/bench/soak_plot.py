"""A soak as a picture: memory and lag over time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench.plot import ACT, HAIR, INK, MID
from bench.soak_verdict import LAG_S, MIB, Seen, Soak, checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(soak: Soak, path: Path) -> None:
    """Write the picture; PNG, or whatever the file's name ends with that matplotlib knows.

    Raises
    ------
    ImportError
        Where matplotlib isn't installed: `pip install 'recallwatch[plots]'`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  # an extra: the verdict needs none
    from matplotlib.figure import Figure  # noqa: PLC0415  # the same

    drawn = Figure(figsize=(9, 5), layout="constrained")
    FigureCanvasAgg(drawn)
    memory, lag = drawn.subplots(2, 1, sharex=True)
    _draw(memory, soak, "memory (RSS), MiB", lambda seen: seen.rss_bytes / MIB)
    memory.set_ylim(bottom=0)
    _draw(lag, soak, "lag, seconds of traffic", lambda seen: seen.lag / soak.rate)
    lag.axhline(LAG_S, color=ACT, linewidth=1)
    lag.annotate("allowed", (0, LAG_S), xytext=(0, 4), textcoords="offset points", color=ACT, fontsize=8)
    lag.set_ylim(0, 1.2 * max(LAG_S, *(seen.lag / soak.rate for seen in soak.seen)))
    lag.set_xlabel("minutes", color=MID)
    memory.set_title(_title(soak), loc="left", color=INK, fontsize=12)
    source = f"tests/bench/soak, {datetime.now(UTC).date().isoformat()}"
    drawn.supxlabel(source, x=0.995, ha="right", color=MID, fontsize=8)
    drawn.savefig(path, dpi=150, facecolor="white")


def _title(soak: Soak) -> str:
    failed = [check.name for check in checks(soak) if not check.ok]
    verdict = f"FAILED: {', '.join(failed)}" if failed else "memory flat, lag bounded, nothing lost"
    return f"{soak.sent:,} decisions at {soak.rate:,.0f} a second: {verdict}"


def _draw(axes: Axes, soak: Soak, name: str, value: Callable[[Seen], float]) -> None:
    axes.plot([seen.at_s / 60 for seen in soak.seen], [value(seen) for seen in soak.seen], color=INK, linewidth=1.2)
    axes.set_ylabel(name, color=MID)
    axes.grid(axis="y", color=HAIR)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=MID)
    axes.spines[:].set_visible(False)
