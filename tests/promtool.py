"""Stories for the alerts: what Prometheus scraped, and who is told of it. promtool tells whether it's so.

A story stands on a monitor that runs well, and says what is different. The alert it's about must say exactly what it
says here, and no other alert may fire. Time begins at 0.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from dashboards.alerts import every_alert
from dashboards.prometheus_rules import ALERT_GROUP, RECORDING_GROUP, words
from dashboards.promql import UP, select
from dashboards.settings import read_settings
from monitor import metrics as m
from monitor.metrics import Metric

ROOT = Path(__file__).parents[1]
RULES = (ROOT / "deploy/prometheus/recording.yaml", ROOT / "deploy/prometheus/alerts.yaml")
MISSING = "no promtool on PATH (Debian, Ubuntu: apt-get install prometheus)"
SETTINGS = read_settings()
ALERTS = {alert.name: alert for alert in every_alert(SETTINGS)}

DAY = 1440
"""Minutes."""
PERSON = {"entity": "PERSON", "language": "es"}
VERSION = {"detector": "presidio", "version": "2"}
BOARD = "worker-0:9464"
SECOND = "worker-1:9464"

Series = dict[str, str]
"""Values by series, as promtool writes both."""


class Fires(NamedTuple):
    """One alert that somebody is told of: its labels, those that it always has left out, and its description."""

    description: str
    labels: Mapping[str, str]


class Story(NamedTuple):
    """What happened, in one sentence; the alert it's about; what is told at a moment.

    `fires` is empty where the alert mustn't fire. `others` are alerts that fire beside it.
    """

    name: str
    alert: str
    at: str
    series: Series
    fires: tuple[Fires, ...] = ()
    others: tuple[str, ...] = ()
    step: str = "1m"
    """How far samples are apart."""
    every: str = ""
    """How far evaluations are apart; empty is `step`. A story of days evaluates rarely: promtool takes its time."""


def told(description: str, **labels: str) -> tuple[Fires, ...]:
    """Return the one alert that is told."""
    return (Fires(description, labels),)


def of(metric: Metric, instance: str = BOARD, **labels: str) -> str:
    """Return the series of a worker's metric, with all labels that it has."""
    given = {label: labels[label] for label in metric.labels if label != "job"}
    own = select(metric, **given).partition("{")[2].removesuffix("}")
    target = f'job="recallwatch",instance="{instance}"'
    return f"{metric.name}{{{','.join(filter(None, (target, own)))}}}"


def always(value: float, steps: int) -> str:
    """Return the same value at every step."""
    return f"{value:.10g}x{steps}"


def clock(steps: int, minutes: float = 1) -> str:
    """Return a moment that is always now."""
    return f"0+{60 * minutes:g}x{steps}"


def then(*parts: str) -> str:
    """Return values one after the other, each `VALUExSTEPS` as long as it says."""
    return " ".join(parts)


def level(value: float, steps: int) -> str:
    """Return a stretch of exactly so many steps, to stand before others."""
    return f"{value:.10g}x{steps - 1}" if steps > 1 else f"{value:.10g}"


def gap(steps: int) -> str:
    """Return steps without a sample."""
    return f"_x{steps}"


def worker(steps: int, instance: str = BOARD, minutes: float = 1) -> Series:
    """Return what a worker that runs well exports of itself, for so many steps."""
    return {
        of(UP, instance): always(1, steps),
        of(m.READY, instance): always(1, steps),
        of(m.ASSIGNED, instance): always(8, steps),
        of(m.HEARTBEAT, instance): clock(steps, minutes),
        of(m.STARTED, instance): always(-10 * 86_400, steps),
        of(m.CONFIG_REFUSED, instance): always(0, steps),
        of(m.THINNING, instance): always(1, steps),
        of(m.RATE, instance, slice="random", language="any", stratum="any"): always(0.005, steps),
        of(m.DEADLINE, instance): always(7 * 86_400, steps),
        of(m.REBUILDS, instance): always(0, steps),
        of(m.UNCHECKED, instance): always(0, steps),
        of(m.LOST, instance, channel="decisions", partition="0"): always(0, steps),
        of(m.LAG, instance, channel="decisions", partition="0"): always(3, steps),
        of(m.POSITION, instance, channel="decisions", partition="0"): f"0+{6000 * minutes:g}x{steps}",
        of(m.DECISIONS, instance, **VERSION): f"0+{6000 * minutes:g}x{steps}",
        of(m.SAMPLED, instance, slice="random"): f"0+{30 * minutes:g}x{steps}",
        of(m.SAMPLED, instance, slice="both"): always(0, steps),
        of(m.LABELS, instance, outcome="joined"): f"0+{minutes:g}x{steps}",
        of(m.DEAD_LETTERS, instance, channel="decisions", reason="not_json"): always(0, steps),
    }


def board(steps: int, instance: str = BOARD, minutes: float = 1) -> Series:
    """Return what a board exports beside, nothing known of any cell."""
    return {
        of(m.BOARD_OWNER, instance): always(1, steps),
        of(m.COMPUTED, instance): clock(steps, minutes),
        of(m.DETECTOR, instance, **VERSION): always(1, steps),
        of(m.UNSEEN_TARGETS, instance): always(0, steps),
        of(m.NEWEST_LABEL, instance, language="es", **VERSION): clock(steps, minutes),
        of(m.QUEUE_OPEN, instance, language="es"): always(40, steps),
        of(m.QUEUE_DONE, instance, language="es"): always(900, steps),
        of(m.QUEUE_OLDEST, instance, language="es"): clock(steps, minutes),
    }


def running(steps: int, minutes: float = 1) -> Series:
    """Return a monitor of one worker that runs well, for so many steps of so many minutes."""
    return worker(steps, minutes=minutes) | board(steps, minutes=minutes)


class Recall(NamedTuple):
    """What is known of a cell: recall between its limits, the same where any tool looked, what it rests on."""

    estimate: float = 0.97
    lower: float = 0.955
    upper: float = 0.985
    found: int = 388
    true: int = 400
    looked: float = 0.975
    looked_lower: float = 0.962
    target: float = 0.95
    status: str = "ok"
    sampled: int = 5_000
    labelled: int = 4_500
    census: int = 1_000_000
    unflagged: float = 0.62
    halving: float = 0.021


def cell(known: Recall, values: str, window: str = "28d", instance: str = BOARD, **labels: str) -> Series:
    """Return the series of a cell; `values` has {} where each series' value stands."""
    place = {**PERSON, **VERSION, **labels, "window": window, "reading": "matched"}
    by_metric: dict[Metric, float] = {
        m.RECALL_ESTIMATE: known.estimate,
        m.RECALL_LOWER: known.lower,
        m.RECALL_UPPER: known.upper,
        m.FOUND: known.found,
        m.TRUE: known.true,
        m.LOOKED_ESTIMATE: known.looked,
        m.LOOKED_LOWER: known.looked_lower,
        m.UNFLAGGED_WIDTH: known.unflagged,
        m.HALVING_RATE: known.halving,
        m.TARGET: known.target,
        m.COMPLETENESS: known.labelled / known.sampled,
        m.CENSUS: known.census,
        m.CELL_SAMPLED: known.sampled,
        m.LABELLED: known.labelled,
        m.CURRENT: float(known.status in {"ok", "marked"}),
    }
    found = {of(metric, instance, **place): values.format(f"{value:.10g}") for metric, value in by_metric.items()}
    return found | {of(m.STATUS, instance, **place, status=known.status): values.format("1")}


def alarm(values: str, instance: str = BOARD, **labels: str) -> Series:
    """Return whether a cell's alarm is on."""
    return {of(m.ALARM_ON, instance, **{**PERSON, **VERSION, **labels}): values}


def stories(folder: Path = ROOT / "tests/dashboards") -> list[Story]:
    """Return all stories, of all files of the folder that hold some."""
    found: list[Story] = []
    for path in sorted(folder.glob("stories_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += module.STORIES
    return found


def document(story: Story, rules: Iterable[Path] = RULES) -> str:
    """Return promtool's test file of a story: JSON, which is YAML."""
    return json.dumps(
        {
            "rule_files": [str(path) for path in rules],
            "evaluation_interval": story.every or story.step,
            "group_eval_order": [RECORDING_GROUP, ALERT_GROUP],
            "tests": [_test(story)],
        },
        ensure_ascii=False,
        indent=1,
    )


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Have promtool run a test file."""
    path = folder / "stories.yaml"
    path.write_text(text, encoding="utf-8")
    program = shutil.which("promtool") or "promtool"
    return subprocess.run([program, "test", "rules", str(path)], capture_output=True, text=True, check=False)


def _test(story: Story) -> dict[str, object]:
    firing = dict.fromkeys(story.others, 1) | ({story.alert: len(story.fires)} if story.fires else {})
    return {
        "name": story.name,
        "interval": story.step,
        "input_series": [{"series": series, "values": values} for series, values in story.series.items()],
        "alert_rule_test": [
            {
                "eval_time": story.at,
                "alertname": story.alert,
                "exp_alerts": [_expected(story, one) for one in story.fires],
            }
        ],
        "promql_expr_test": [
            {
                "eval_time": story.at,
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": n} for name, n in firing.items()],
            }
        ],
    }


def _expected(story: Story, one: Fires) -> dict[str, object]:
    alert = ALERTS[story.alert]
    said = words(alert, SETTINGS.links.runbook)
    labels = {**alert.fixed_labels(), "job": "recallwatch", **one.labels}
    return {"exp_labels": labels, "exp_annotations": {**said, "description": one.description}}
