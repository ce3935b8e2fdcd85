"""Draws the dashboards for the README: `python tests/dashboard_pictures.py` writes deploy/images/dashboard-*.png.

The scenario's week, exported by the product's own exporter every ten minutes, becomes a Prometheus's history; so does
what the recording rules that dashboards read make of it. Needs prometheus and promtool, two minutes and half a
gigabyte under /tmp.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import scenario
from prometheus import ROOT, running_prometheus

from dashboards.pictures.asking import Prometheus, Span
from dashboards.promql import Recorded, quote
from dashboards.recording import Recording
from dashboards.settings import read_settings
from monitor.exposition import samples
from streams.scraping import write

BEGUN, STEP_S = 1_757_894_400, 600
"""A Monday, which isn't shown: counters of a day begin with it; and how far the scrapes are apart."""
LENGTH_S = scenario.DAYS * 86_400


def exposition() -> Iterator[str]:
    """Return what both workers export over the week, each sample with the time of its scrape."""
    for now in range(BEGUN, BEGUN + LENGTH_S + 1, STEP_S):
        at = scenario.moment(now, BEGUN, LENGTH_S)
        for worker in (0, 1):
            pipeline = scenario.pipeline(at, worker)
            board = scenario.snapshot(at) if pipeline.is_board else None
            target = f'instance="worker-{worker + 1}:9464",job="recallwatch"'
            for line in write(samples(board, pipeline), openmetrics=True).decode().splitlines():
                if not line.startswith("#"):
                    yield _scraped(line, target, now)
            yield f"up{{{target}}} 1 {now}\n"
    yield "# EOF\n"


def _scraped(line: str, target: str, now: int) -> str:
    series, _, value = line.rpartition(" ")
    name, brace, labels = series.partition("{")
    return f"{name}{{{target}{',' if brace else '}'}{labels} {value} {now}\n"


def recorded() -> list[Recorded]:
    """Return the recording rules that dashboards read; one that another one reads stands before it."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "deploy/grafana/dashboards").glob("*.json")]
    return [rule for rule in Recording(read_settings()).rules() if any(rule.name in text for text in texts)]


def record(rule: Recorded, url: str) -> Iterator[str]:
    """Return what a rule records over the week, evaluated at each scrape.

    promtool evaluates rules too, but at times of its own: what they record would be older than it was.
    """
    for series in Prometheus(url).over(rule.expr, Span(BEGUN, BEGUN + LENGTH_S, STEP_S)):
        labels = ",".join(f"{name}={quote(value)}" for name, value in series.metric.items() if name != "__name__")
        yield from (f"{rule.name}{{{labels}}} {value} {at:.0f}\n" for at, value in series.values)
    yield "# EOF\n"


def add(lines: Iterable[str], text: Path, data: Path) -> None:
    """Make blocks of lines of OpenMetrics."""
    with text.open("w", encoding="utf-8") as out:
        out.writelines(lines)
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(text), str(data)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def draw(folder: Path) -> None:
    """Make the history in a folder, and the pictures out of it."""
    text, data, config = folder / "week.om", folder / "data", folder / "prometheus.json"
    config.write_text("{}")
    add(exposition(), text, data)
    for rule in recorded():
        with running_prometheus(folder, config, data) as url:
            add(list(record(rule, url)), text, data)
    with running_prometheus(folder, config, data) as url:
        shown = (f"--at={BEGUN + LENGTH_S}", f"--since={LENGTH_S - scenario.DAY_S:.0f}", f"--step={STEP_S}")
        where = ("--prometheus", url, "--out", str(ROOT / "deploy/images"))
        subprocess.run([sys.executable, "-m", "dashboards", "render", *where, *shown], cwd=ROOT, check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        draw(Path(name))
