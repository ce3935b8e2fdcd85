"""A week of healthy series, exported by the product itself on a simulated clock: no alert fires in it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import promtool
import pytest
from installation import DAY_S, HOUR_S, Installation, Makes, Read
from promtool import RULES

from dashboards.prometheus_rules import ALERT_GROUP, RECORDING_GROUP
from dashboards.promql import UP
from monitor.config import Config, read_config
from monitor.exposition import Sample

RUN_IN_DAYS = 10
"""From a Monday to a Thursday: what follows holds a weekend, and the Monday after it."""
HALF_S = HOUR_S // 2
FEW = {"EMAIL_ADDRESS", "PHONE_NUMBER", "IP_ADDRESS"}
GOOD, BAD = Makes("1", 0.003), Makes("2", 0.3)
DOCUMENTS = 1_000
ALL = FEW | {"PERSON", "LOCATION", "DATE_OF_BIRTH", "ADDRESS", "IBAN_CODE", "NATIONAL_ID", "CREDIT_CARD"}
MISSING = "_"


def config() -> Config:
    """Return settings of an installation that shows what it's asked for."""
    sampling = {"random_rate": 0.2, "loose_rate": 0.3, "key": "a week"}
    return read_config({"sampling": sampling, "targets": {"EMAIL_ADDRESS": 0.9, "PHONE_NUMBER": 0.9}})


@dataclass
class Series:
    """Scrapes, as promtool's series."""

    step_s: int
    wanted: set[str]
    """Names of the metrics that are kept."""
    start: float
    """Promtool's 0, by the simulated clock."""
    scrapes: int = 0
    values: dict[tuple[str, tuple[str, ...]], list[str]] = field(default_factory=dict)
    names: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def take(self, samples: list[Sample]) -> None:
        """Add a scrape; a series that isn't in it has no sample there."""
        for sample in samples:
            if sample.metric.name in self.wanted:
                self._take(sample)
        self.scrapes += 1

    def _take(self, sample: Sample) -> None:
        key = (sample.metric.name, sample.labels)
        values = self.values.get(key)
        if values is None:
            values = self.values[key] = []
            labels = dict(zip(sample.metric.labels, sample.labels, strict=True))
            self.names[key] = promtool.of(sample.metric, **labels)
        values += [MISSING] * (self.scrapes - len(values))
        moved = self.start if sample.metric.name.endswith("_timestamp_seconds") else 0
        values.append(f"{sample.value - moved:.10g}")

    def written(self) -> list[dict[str, str]]:
        """Return them as promtool reads them, what repeats written once."""
        up = {promtool.of(UP): f"1x{self.scrapes}"}
        found = {self.names[key]: _shortened(values) for key, values in self.values.items()}
        return [{"series": series, "values": values} for series, values in (up | found).items()]

    def document(self, expr: str, expected: dict[str, int]) -> str:
        """Return promtool's test of an expression at the end."""
        end = f"{(self.scrapes - 1) * self.step_s}s"
        samples = [{"labels": labels, "value": value} for labels, value in expected.items()]
        test = {
            "name": "a week",
            "interval": f"{self.step_s}s",
            "input_series": self.written(),
            "promql_expr_test": [{"eval_time": end, "expr": expr, "exp_samples": samples}],
        }
        rules = [str(path) for path in RULES]
        groups = [RECORDING_GROUP, ALERT_GROUP]
        head = {"rule_files": rules, "evaluation_interval": f"{self.step_s}s", "group_eval_order": groups}
        return json.dumps(head | {"tests": [test]})


def _shortened(values: list[str]) -> str:
    parts = []
    for value, same in groupby(values):
        times = len(list(same))
        parts.append(f"{value}x{times}" if value == MISSING else f"{value}x{times - 1}" if times > 1 else value)
    return " ".join(parts)


def lived(
    reads: list[Read], *, days: int, step_s: int, meanwhile: Callable[[Installation, int], None] | None = None
) -> Series:
    """Return the scrapes of some days after ten that nobody scraped; `meanwhile` is what happens on each morning."""
    installation = Installation(config(), reads)
    for _ in range(RUN_IN_DAYS * DAY_S // (6 * HOUR_S)):
        installation.live(6 * HOUR_S)
    wanted = set(re.findall(r"\brecallwatch_\w+", "".join(path.read_text(encoding="utf-8") for path in RULES)))
    series = Series(step_s, wanted, float(RUN_IN_DAYS * DAY_S))
    series.take(list(installation.scrape()))
    for number in range(days * DAY_S // step_s):
        if meanwhile is not None and number * step_s % DAY_S == 0:
            meanwhile(installation, number * step_s // DAY_S)
        installation.live(step_s)
        series.take(list(installation.scrape()))
    return series


def restarts(installation: Installation, day: int) -> None:
    """Let the worker be started again on Tuesday morning, as a new release is."""
    if day == 5:
        installation.restart()


def fired(state: str) -> str:
    """Return the expression of what was in a state at any time, by name."""
    return f'count by (alertname) (count_over_time(ALERTS{{alertstate="{state}"}}[60d]))'


@pytest.fixture(autouse=True)
def _needs_promtool() -> None:
    if shutil.which("promtool") is None:
        pytest.skip(promtool.MISSING)


def check(series: Series, expr: str, expected: dict[str, int], folder: Path) -> None:
    """Have promtool tell what an expression gives at the end."""
    result = promtool.run(series.document(expr, expected), folder)
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_alert_fires_in_a_healthy_week(tmp_path: Path) -> None:
    """Nights, a weekend without readers, and a release on Tuesday: a scrape each half hour tells nothing."""
    series = lived(GOOD.pool(DOCUMENTS, {"en"}, FEW), days=7, step_s=HALF_S, meanwhile=restarts)
    check(series, fired("firing"), {}, tmp_path)


def test_the_same_series_tell_of_a_detector_that_gets_worse(tmp_path: Path) -> None:
    """On Thursday a version comes that misses a third: by Sunday the pager's alert has fired, of the same series."""
    worse = BAD.pool(DOCUMENTS, {"en"}, FEW)

    def swaps(installation: Installation, day: int) -> None:
        if day == 0:
            installation.reads = worse

    series = lived(GOOD.pool(DOCUMENTS, {"en"}, FEW), days=3, step_s=HALF_S, meanwhile=swaps)
    fell = fired("firing").replace("ALERTS{", 'ALERTS{alertname="RecallwatchRecallFell",entity="PHONE_NUMBER",')
    check(series, fell, {'{alertname="RecallwatchRecallFell"}': 2}, tmp_path)


@pytest.mark.slow
def test_no_alert_fires_in_a_healthy_week_of_scrapes_each_five_minutes(tmp_path: Path) -> None:
    """Now what is measured over ten minutes has samples too."""
    series = lived(GOOD.pool(DOCUMENTS, {"en"}, FEW), days=7, step_s=300, meanwhile=restarts)
    check(series, fired("firing"), {}, tmp_path)


@pytest.mark.slow
def test_no_alert_fires_in_three_healthy_weeks_of_all_entities(tmp_path: Path) -> None:
    """A week is compared with the one before it, in two languages; scrapes are an hour apart."""
    good = Makes("1", 0.001)  # with more to find in each document, as few left to be read
    reads = good.pool(DOCUMENTS, {"en", "es"}, ALL)
    check(lived(reads, days=21, step_s=HOUR_S, meanwhile=restarts), fired("firing"), {}, tmp_path)
