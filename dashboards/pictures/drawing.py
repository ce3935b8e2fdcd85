"""A dashboard as a picture: each panel's own queries, drawn where the panel stands, with its units and its legend.

It isn't Grafana: it has what a reader needs to know whether the dashboard answers a question. Lines, bands, dashes,
tables and their colours are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from dashboards.pictures.asking import Prometheus, Span
from dashboards.pictures.figures import draw_bars, draw_figures
from dashboards.pictures.files import DashboardFile, Panel, filled
from dashboards.pictures.lines import Marker, draw_lines
from dashboards.pictures.sheet import HAIR, INK, MID, Card
from dashboards.pictures.tables import draw_table

_COLUMN_IN, _ROW_IN, _HEAD_IN, _GAP_IN = 0.62, 0.335, 0.42, 0.06
_DPI, _COLOURS = 100, 256


class View(NamedTuple):
    """What is shown: the stretch of time, the job, the least that a rate is worked out over."""

    span: Span
    job: str
    rate_interval: str


def draw(file: DashboardFile, server: Prometheus, view: View, path: Path) -> None:
    """Write the picture of a dashboard, as PNG.

    Raises
    ------
    SourceError
        Prometheus refuses a query, or isn't there.
    OSError
        The file can't be written.
    """
    chosen = file.chosen(view.job, view.rate_interval)
    width = 24 * _COLUMN_IN
    height = max(p.grid_pos.y + p.grid_pos.h for p in file.panels) * _ROW_IN + _HEAD_IN
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(0.006, 1 - 0.26 / height, file.title, fontsize=13, color=INK, weight="bold", va="center")
    figure.text(
        0.994,
        1 - 0.26 / height,
        f"{_choice(file, chosen)}      {_times(view.span)}",
        fontsize=8,
        color=MID,
        ha="right",
        va="center",
    )
    markers = _markers(file, server, view, chosen)
    for panel in file.panels:
        _draw_panel(figure, panel, server, view, chosen, markers)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=_DPI)
    with Image.open(drawn) as image:  # with few colours it's half as large; no line loses its own
        image.convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


def _choice(file: DashboardFile, chosen: Mapping[str, str]) -> str:
    words = [
        f"{variable.name} {'all' if variable.all_value else chosen[variable.name]}"
        for variable in file.variables
        if variable.name not in ("datasource", "job")
    ]
    return "   ".join(words)


def _times(span: Span) -> str:
    first, last = (datetime.fromtimestamp(at, UTC) for at in (span.start, span.end))
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"


def _markers(file: DashboardFile, server: Prometheus, view: View, chosen: Mapping[str, str]) -> list[Marker]:
    found = [
        Marker(float(at) / 1000, f"{series.metric['kind']} {series.metric['what']}", annotation.icon_color)
        for annotation in file.moments
        for series in server.now(filled(annotation.expr, chosen), view.span.end)
        for _, at in series.samples()
    ]
    return [marker for marker in found if view.span.start < marker.at < view.span.end]


def _draw_panel(
    figure: Figure,
    panel: Panel,
    server: Prometheus,
    view: View,
    chosen: Mapping[str, str],
    markers: list[Marker],
) -> None:
    width, height = figure.get_size_inches()
    place = panel.grid_pos
    left, top = place.x * _COLUMN_IN + _GAP_IN, height - _HEAD_IN - place.y * _ROW_IN
    size = place.w * _COLUMN_IN - 2 * _GAP_IN, place.h * _ROW_IN - _GAP_IN
    box = (left / width, (top - size[1]) / height, size[0] / width, size[1] / height)
    figure.add_artist(Rectangle(box[:2], box[2], box[3], facecolor="white", edgecolor=HAIR, linewidth=1, zorder=-1))
    figure.text(
        (left + 0.1) / width,
        (top - 0.16) / height,
        filled(panel.title, chosen),
        fontsize=8.5,
        color=INK,
        weight="bold",
        va="center",
    )
    axes = figure.add_axes((box[0], box[1], box[2], box[3] - 0.3 / height))
    card = Card(axes, size[0], size[1] - 0.3)
    if panel.type == "timeseries":
        over = [(target, server.over(filled(target.expr, chosen), view.span)) for target in panel.targets]
        draw_lines(card, panel, over, view.span, markers)
        return
    now = [(target, server.now(filled(target.expr, chosen), view.span.end)) for target in panel.targets]
    _DRAWN[panel.type](card, panel, now)


_DRAWN: Mapping[str, Callable[..., None]] = {"stat": draw_figures, "table": draw_table, "bargauge": draw_bars}
