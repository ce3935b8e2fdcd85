"""The dashboards: complete, legible, and every query answered by a Prometheus that scrapes the product."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from time import time

import prometheus
import pytest
import scenario
from click.testing import CliRunner
from probes import WELL

from dashboards.__main__ import ARTEFACTS, artefacts, main
from dashboards.grafana.files import NAMES
from dashboards.pictures.asking import Prometheus, Span
from dashboards.pictures.files import DashboardFile, Panel, filled, read_dashboard, values_asked
from dashboards.settings import read_settings
from monitor.metrics import METRICS
from streams.http import HttpServer
from streams.scraping import Published, Source

FOLDER = prometheus.ROOT / "deploy/grafana/dashboards"
FILES = {name: read_dashboard(FOLDER / f"{name}.json") for name in NAMES}
PANELS = [pytest.param(panel, id=f"{name}: {panel.title}") for name, file in FILES.items() for panel in file.panels]
LENGTH_S, SETTLED_S = 16.0, 4.0
SCREEN_AND_A_HALF = 38
"""Rows of the grid, at 38 pixels each and 960 on a screen."""


def told(worker: int, begun: float) -> Source:
    """Return what one of the scenario's workers publishes."""

    def publish() -> Published:
        at = scenario.moment(time(), begun, LENGTH_S)
        pipeline = scenario.pipeline(at, worker)
        return (scenario.snapshot(at) if pipeline.is_board else None), pipeline

    return publish


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Prometheus, Span]]:
    """Return a Prometheus that has scraped the whole scenario, and the time that took."""
    if (missing := prometheus.missing()) is not None:
        pytest.skip(missing)
    begun = time()
    servers = [HttpServer("127.0.0.1", 0, told(worker, begun), WELL) for worker in (0, 1)]
    for server in servers:
        server.start()
    targets = [server.url.removeprefix("http://").rstrip("/") for server in servers]
    try:
        with prometheus.watching(tmp_path_factory.mktemp("watch"), targets) as watch:
            watch.until(lambda: time() > begun + LENGTH_S + SETTLED_S, 60, "the scenario's end")
            yield Prometheus(watch.url), Span(begun, time(), 1.0)
    finally:
        for server in servers:
            server.stop()


def chosen(file: DashboardFile) -> dict[str, str]:
    """Return the variables of a dashboard as it opens."""
    return file.chosen(read_settings().scrape.job, "5s")


@pytest.mark.parametrize("name", NAMES)
def test_each_query_of_each_panel_gives_data(asked: tuple[Prometheus, Span], name: str) -> None:
    """Over time where a panel draws lines, now where it shows figures; none is empty, none an error."""
    server, span = asked
    empty = []
    for panel in FILES[name].panels:
        for target in panel.targets:
            expr = filled(target.expr, chosen(FILES[name]))
            found = server.now(expr, span.end) if target.instant else server.over(expr, span)
            if not any(isfinite(value) for series in found for _, value in series.samples()):
                empty.append(f"{panel.title}: {target.ref_id} {target.legend_format}")
    assert empty == []


@pytest.mark.parametrize("name", NAMES)
def test_each_line_is_one_line(asked: tuple[Prometheus, Span], name: str) -> None:
    """A query of a figure or a line gives one series a moment: two under one name can't be told apart."""
    server, span = asked
    several = []
    for panel in FILES[name].panels:
        for target in panel.targets if panel.type != "table" else ():
            found = server.now(filled(target.expr, chosen(FILES[name])), span.end)
            if len(found) > 1:
                several.append(f"{panel.title}: {target.ref_id} gives {len(found)}")
    assert several == []


@pytest.mark.parametrize("name", NAMES)
def test_each_variable_and_annotation_gives_data(asked: tuple[Prometheus, Span], name: str) -> None:
    """What is chosen from is what the product exports; markers are moments of the scenario, in milliseconds."""
    server, span = asked
    file = FILES[name]
    offered = {
        variable.name: server.label_values(label, selector)
        for variable in file.variables
        if variable.type == "query"
        for selector, label in [values_asked(filled(variable.query, chosen(file)))]
    }
    moments = {
        annotation.name: {
            float(at) / 1000
            for one in server.over(filled(annotation.expr, chosen(file)), span)
            for _, at in one.samples()
        }
        for annotation in file.moments
    }
    assert [variable for variable, values in offered.items() if not values] == []
    assert {name: len(found) for name, found in moments.items()} == {"Detector version": 2, "Config": 2}
    assert all(span.start <= at <= span.end for found in moments.values() for at in found)


def test_dashboards_are_drawn_with_what_prometheus_answers(asked: tuple[Prometheus, Span], tmp_path: Path) -> None:
    """One picture each, of a size for a README; a Prometheus that isn't there is said in one line."""
    server, span = asked
    options = ["render", "--out", str(tmp_path), "--since", f"{span.end - span.start:.0f}", "--step", "1"]
    drawn = CliRunner().invoke(main, [*options, "--prometheus", server.url])
    assert drawn.exit_code == 0, drawn.output
    pictures = sorted(tmp_path.glob("*.png"))
    assert [picture.stem for picture in pictures] == sorted(f"dashboard-{name}" for name in NAMES)
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert all(15_000 < picture.stat().st_size < 150_000 for picture in pictures)
    refused = CliRunner().invoke(main, [*options, "--prometheus", "http://127.0.0.1:1"])
    assert (refused.exit_code, refused.output.count("\n")) == (1, 1)
    assert "no Prometheus at http://127.0.0.1:1" in refused.output


@pytest.mark.parametrize("name", NAMES)
def test_dashboard_stands_in_the_tree_as_it_would_be_built(name: str) -> None:
    """`python -m dashboards check` covers it."""
    (artefact,) = (one for one in ARTEFACTS if one.path == f"grafana/dashboards/{name}.json")
    assert artefact.render() == (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_titles_and_ids_are_told_apart() -> None:
    """Of dashboards among each other, and of a dashboard's panels."""
    assert len({file.uid for file in FILES.values()}) == len({file.title for file in FILES.values()}) == len(FILES)
    for file in FILES.values():
        assert (
            len({panel.title for panel in file.panels}) == len({panel.id for panel in file.panels}) == len(file.panels)
        )


@pytest.mark.parametrize("panel", PANELS)
def test_panel_says_what_it_shows_and_when_that_is_bad(panel: Panel) -> None:
    """A unit for every value, a legend for every query, and a description of what is nominal and what isn't."""
    words = ("**Nominal:**", "**Degraded:**", "**Unhealthy:**")
    assert [word for word in words if word not in panel.description] == []
    assert panel.description.index(words[0]) > 30
    for target in panel.targets:
        column = next((t for t in titles(panel).items() if t[0] == f"Value #{target.ref_id}"), ("", ""))[1]
        assert panel.settings(target.ref_id, column).get("unit", panel.field_config.defaults.unit) != ""
        assert target.legend_format or column


def titles(panel: Panel) -> dict[str, str]:
    """Return a table's titles of columns, by what Grafana calls them."""
    renamed = [one.options.get("renameByName", {}) for one in panel.transformations]
    return {name: str(title) for one in renamed for name, title in one.items()}


@pytest.mark.parametrize("name", NAMES)
def test_panels_fill_the_grid_without_overlap_on_a_screen_and_a_half(name: str) -> None:
    """Each square of the grid has one panel."""
    taken = [
        (x, y)
        for panel in FILES[name].panels
        for x in range(panel.grid_pos.x, panel.grid_pos.x + panel.grid_pos.w)
        for y in range(panel.grid_pos.y, panel.grid_pos.y + panel.grid_pos.h)
    ]
    height = max(y for _, y in taken) + 1
    assert sorted(taken) == [(x, y) for x in range(24) for y in range(height)]
    assert height <= SCREEN_AND_A_HALF


@pytest.mark.parametrize("name", NAMES)
def test_variables_are_those_that_the_queries_use(name: str) -> None:
    """One that nothing follows from misleads; one that isn't there breaks a query."""
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{?(\w+)", text)) - {"__rate_interval", "__all"}
    assert used == {variable.name for variable in FILES[name].variables}


def test_queries_name_only_what_the_product_exports_or_a_rule_records() -> None:
    """The one vocabulary."""
    exported = {metric.name for metric in METRICS}
    rules = json.dumps((prometheus.ROOT / "deploy/prometheus/recording.yaml").read_text(encoding="utf-8"))
    recorded = set(re.findall(r"record: \\\"([^\\\"]+)", rules))
    texts = [target.expr for file in FILES.values() for panel in file.panels for target in panel.targets]
    named = set(re.findall(r"(?:\w+:)?recallwatch_\w+(?::\w+)?", "\n".join(texts)))
    assert named - exported - recorded == set()


def test_numbers_of_an_alert_are_those_of_the_config(tmp_path: Path) -> None:
    """Another bound in on-call's numbers is another bound in the dashboard."""
    over = tmp_path / "over.toml"
    over.write_text(
        "[alerts.RecallwatchRedactionsLeak]\nallowed = 0.037\n[alerts.RecallwatchQueueOverCapacity]\ndays = 11\n"
    )
    settings = read_settings(over=[over])
    built = {one.path: one.render() for one in artefacts(settings) if one.path.endswith(".json")}
    assert "vector(0.037)" in built["grafana/dashboards/leaks-and-drift.json"]
    assert "11 days of work" in built["grafana/dashboards/review-queue.json"]


def test_without_the_builders_it_says_what_to_install() -> None:
    """They're no dependency of the product; whoever runs it builds no dashboard."""
    hidden = "import sys; sys.modules['grafana_foundation_sdk'] = None; from dashboards.__main__ import main; main()"
    command = [sys.executable, "-c", hidden, "check"]
    done = subprocess.run(command, cwd=prometheus.ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install -e '.[dev]'" in done.stderr
