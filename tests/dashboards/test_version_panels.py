"""What panels say of versions and of cells below their target, by promtool: the queries of the files, as they stand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import promtool
import pytest
from promtool import PERSON, VERSION, Recall, Series, always, board, cell, of

from dashboards.pictures.files import Panel, Target, filled, read_dashboard
from dashboards.promql import quote
from monitor import metrics as m

FOLDER = promtool.ROOT / "deploy/grafana/dashboards"
STEPS = 30
AT, AT_S = "20m", 1_200.0
BEFORE = "in traffic before, {{version}}"
LEAKS = "Redactions that leak, of the language with most"
READABLE = "Readable in 1,000 outputs, of the language with most"
RECALL = "The cell on top: recall between its limits"
Samples = Mapping[tuple[tuple[str, str], ...], float]

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason=promtool.MISSING)


def panel_of(name: str, title: str) -> Panel:
    """Return a panel of a file."""
    (found,) = (panel for panel in read_dashboard(FOLDER / f"{name}.json").panels if panel.title == title)
    return found


def line(panel: Panel, legend: str) -> Target:
    """Return the query of a panel whose legend begins so."""
    (found,) = (target for target in panel.targets if target.legend_format.startswith(legend))
    return found


def column(panel: Panel, title: str) -> Target:
    """Return the query of a table's column."""
    (organized,) = (one.options for one in panel.transformations if one.id == "organize")
    (name,) = (name for name, given in organized["renameByName"].items() if given == title)
    (found,) = (target for target in panel.targets if name == f"Value #{target.ref_id}")
    return found


def check(folder: Path, name: str, series: Series, wanted: Mapping[str, Samples], at: str = AT) -> None:
    """Check what expressions give once this was scraped; `wanted` has their values by labels."""
    chosen = read_dashboard(FOLDER / f"{name}.json").chosen("recallwatch", "1m") | {"window": "28d"}
    tests = [
        {
            "expr": filled(expr, chosen),
            "eval_time": at,
            "exp_samples": [
                {"labels": "{" + ",".join(f"{key}={quote(text)}" for key, text in labels) + "}", "value": value}
                for labels, value in samples.items()
            ],
        }
        for expr, samples in wanted.items()
    ]
    document = {
        "rule_files": [str(promtool.RULES[0])],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": one, "values": values} for one, values in series.items()],
                "promql_expr_test": tests,
            }
        ],
    }
    result = promtool.run(json.dumps(document), folder)
    assert result.returncode == 0, result.stdout + result.stderr


def version(name: str, first: float, last: float, leak: float) -> Series:
    """Return a version that decided between two moments, and what its outputs show: so much, of 1,000 redactions."""
    place = {**VERSION, "version": name, "language": "es", "window": "28d"}
    known = Recall(estimate=1 - leak, lower=0.9 - leak, target=0.95)
    series = {
        of(m.FIRST_DECISION, **place): always(first, STEPS),
        of(m.LAST_DECISION, **place): always(last, STEPS),
        of(m.REDACTIONS_ESTIMATE, **place): always(leak, STEPS),
        of(m.REDACTIONS_LOWER, **place): always(leak / 2, STEPS),
        of(m.DISCLOSURE_ESTIMATE, **place, entity="any"): always(1_000 * leak, STEPS),
        of(m.DISCLOSURE_LOWER, **place, entity="any"): always(500 * leak, STEPS),
    }
    return series | cell(known, "{}x30", version=name)


def traffic(current: str, *versions: Series) -> Series:
    """Return a board whose newest traffic has one version, and which knows others."""
    held = {s: values for s, values in board(STEPS).items() if not s.startswith(m.DETECTOR.name)}
    held[of(m.DETECTOR, **VERSION | {"version": current})] = always(1, STEPS)
    return held | {s: values for one in versions for s, values in one.items()}


ROLLED_OUT = traffic("10", version("8", 0, 500, 0.30), version("9", 400, 905, 0.02), version("10", 900, 1_199, 0.01))
"""9 gave way to 10, which leaks less; 8 leaked most of all, long ago."""
ROLLED_BACK = traffic("9", version("8", 0, 500, 0.30), version("9", 400, 1_199, 0.02), version("10", 900, 1_000, 0.05))
"""10 came, leaked, and is gone: 9 decides again, and 8 is long forgotten."""


def of_version(name: str, value: float, **labels: str) -> Samples:
    """Return one sample of a version."""
    return {tuple({**labels, "detector": "presidio", "version": name}.items()): value}


@pytest.mark.parametrize(
    ("series", "now", "before"),
    [(ROLLED_OUT, ("10", 0.01), ("9", 0.02)), (ROLLED_BACK, ("9", 0.02), ("10", 0.05))],
    ids=["rolled out", "rolled back"],
)
def test_panel_tells_the_version_in_traffic_from_the_one_before_by_when_they_decided(
    tmp_path: Path, series: Series, now: tuple[str, float], before: tuple[str, float]
) -> None:
    """Neither the one that leaks most, nor the higher name, nor who came first: a line of each, in all three panels."""
    leaks, readable = panel_of("leaks-and-drift", LEAKS), panel_of("leaks-and-drift", READABLE)
    wanted = {
        line(leaks, "leak, ").expr: of_version(*now, language="es"),
        line(leaks, BEFORE).expr: of_version(*before, language="es"),
        line(readable, "readable, ").expr: of_version(now[0], 1_000 * now[1], language="es"),
        line(readable, BEFORE).expr: of_version(before[0], 1_000 * before[1], language="es"),
    }
    check(tmp_path, "leaks-and-drift", series, wanted)
    recall = panel_of("recall-board", RECALL)
    wanted = {
        line(recall, "recall of").expr: of_version(now[0], 1 - now[1], **PERSON),
        line(recall, BEFORE).expr: of_version(before[0], 1 - before[1], **PERSON),
    }
    check(tmp_path, "recall-board", series, wanted)


def test_panel_of_the_first_version_has_none_before(tmp_path: Path) -> None:
    """And no line that is empty under a name."""
    leaks = panel_of("leaks-and-drift", LEAKS)
    wanted: dict[str, Samples] = {
        line(leaks, "leak, ").expr: of_version("1", 0.02, language="es"),
        line(leaks, BEFORE).expr: {},
    }
    check(tmp_path, "leaks-and-drift", traffic("1", version("1", 0, 1_199, 0.02)), wanted)


@pytest.mark.parametrize(
    ("series", "since"),
    [
        (ROLLED_OUT, {"8": 0, "9": 400, "10": 905}),
        (ROLLED_BACK, {"8": 0, "9": 1_000, "10": 900}),
        (traffic("9", version("8", 0, 500, 0.1), version("9", 700, 1_199, 0.1)), {"8": 0, "9": 700}),
        (traffic("9", version("9", 300, 1_199, 0.1)), {"9": 300}),
    ],
    ids=["rolled out", "rolled back", "after a pause", "the first one"],
)
def test_a_version_is_in_traffic_since_the_other_one_stopped(
    tmp_path: Path, series: Series, since: Mapping[str, float]
) -> None:
    """Of one that was rolled back to that isn't when it was first seen; in milliseconds, as a date wants it."""
    table = panel_of("recall-board", "Versions: since when, and on how much they stand")
    samples = {key: value for name, at in since.items() for key, value in of_version(name, 1_000 * at).items()}
    check(tmp_path, "recall-board", series, {column(table, "Since").expr: samples})


def test_as_many_cells_are_below_their_target_in_the_figure_as_in_the_table(tmp_path: Path) -> None:
    """Few labels, an old number, a limit that is low for what nobody looked at: none of them counts in either."""
    below = Recall(lower=0.81, looked_lower=0.82)
    series = traffic("2", version("2", 0, 1_199, 0.01)) | {
        name: values
        for entity, known in {
            "PERSON": below,
            "IBAN": below,
            "URL": below._replace(true=99),
            "PHONE_NUMBER": below._replace(status="stale"),
            "NIE": Recall(lower=0.5),
            "EMAIL": Recall(),
        }.items()
        for name, values in cell(known, "{}x30", entity=entity).items()
    }
    words = {"PERSON": 1, "IBAN": 1, "URL": 0}
    table = panel_of("recall-board", "Cells, the one furthest under its target first")
    marked = {
        key: float(value) for entity, value in words.items() for key in of_version("2", 0, language="es", entity=entity)
    }
    figure = line(panel_of("recall-board", "Below target where tools looked"), "below").expr
    wanted: dict[str, Samples] = {column(table, "Below target").expr: marked, figure: {(): 2.0}}
    check(tmp_path, "recall-board", series, wanted)
