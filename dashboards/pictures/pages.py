"""All dashboards of a folder, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import time

from dashboards.grafana.files import NAMES
from dashboards.pictures.asking import Prometheus, Span
from dashboards.pictures.drawing import View, draw
from dashboards.pictures.files import DashboardFile, read_dashboard
from dashboards.settings import Scrape, seconds

_SAMPLES = 400
_SCRAPES = 4
"""Steps, or scrapes, that a rate is worked out over at least; Grafana's own way."""


def draw_all(
    folder: Path, scrape: Scrape, url: str, out: Path, times: tuple[float | None, float | None, float | None]
) -> Iterator[Path]:
    """Draw each dashboard and yield its picture's path.

    Parameters
    ----------
    folder
        Where `grafana/dashboards` is.
    scrape
        The job, and how far scrapes are apart.
    times
        The last moment (s since the epoch; None is now), the seconds before it (None: as the file opens), and those
        between samples (None: 400 samples).

    Raises
    ------
    SourceError
        Prometheus refuses a query, or isn't there.
    OSError
        A file can't be read or written.
    """
    server, (at, since, step) = Prometheus(url), times
    for name in NAMES:
        file = read_dashboard(folder / f"grafana/dashboards/{name}.json")
        end = time() if at is None else at
        length = _length(file) if since is None else since
        apart = length / _SAMPLES if step is None else step
        least = _SCRAPES * max(apart, seconds(scrape.interval))
        path = out / f"dashboard-{name}.png"
        draw(file, server, View(Span(end - length, end, apart), scrape.job, f"{least:.0f}s"), path)
        yield path


def _length(file: DashboardFile) -> float:
    return float(seconds(file.time.start.removeprefix("now-")))
