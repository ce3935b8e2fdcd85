"""The demo's story through a real Prometheus and a real Alertmanager: who is told what, and when it's over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import prometheus
import pytest
from demos import Demo, running_demo
from prometheus import Told, Watch, watching

from dashboards.settings import read_settings
from monitor.errors import SourceError
from streams.embedded import EmbeddedBroker

pytestmark = pytest.mark.broker

CELL = {"entity": "EMAIL_ADDRESS", "language": "any"}
QUIET = 'alarm:recallwatch_alarm_on:board{entity="EMAIL_ADDRESS",language="any"} == 0'
SEEN = 'cell:recallwatch_true_occurrences:board{entity="EMAIL_ADDRESS",language="any",window="28d"}'
FIGURES = re.compile(
    r"EMAIL_ADDRESS in all languages \(datafog (?P<version>\S+)\): recall, the share that is found, is below its "
    r"target of 80%; the alarm is on since 20\S+ \S+ \S+ UTC\. "
    r"Last 28d: recall (?P<estimate>[\d.]+)%, limits (?P<lower>[\d.]+)% to (?P<upper>[\d.]+)%; "
    r"(?P<found>\d+) of (?P<true>\d+) labelled occurrences found\. Last 7d: .* "
    r"Version (?P<before>\S+) before it: recall (?P<was>[\d.]+)%, lower limit [\d.]+%; \d+ of \d+ found\. "
    r"It's lowest in \w+, [\d.]+%\. Languages whose own alarm is on: [\w, ]+\."
)
STARTING = {"RecallwatchMonitorDown page", "RecallwatchBoardMissing page"}
"""What waits before the first scrape, and never fires."""


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    """Give a demo that runs; skip where there's no Prometheus or no embedded broker."""
    if (lacks := prometheus.missing()) is not None:
        pytest.skip(lacks)
    try:
        with EmbeddedBroker(port=0):
            pass
    except SourceError as error:
        pytest.skip(str(error))
    with running_demo(tmp_path) as demo:
        yield demo


def test_a_worse_detector_pages_and_the_page_is_over_once_it_is_rolled_back(demo: Demo, tmp_path: Path) -> None:
    """Nobody is paged while it's healthy; then the page has the cell and its figures; after the repair it resolves."""
    with watching(tmp_path, [demo.target]) as watch:
        quiet_evaluations = f"count_over_time(({QUIET})[5m:1s]) >= 20"
        watch.until(lambda: watch.number(quiet_evaluations) is not None, 120, "twenty looks at an alarm that's off")
        watch.until(lambda: (watch.number(SEEN) or 0) >= 60, 120, "sixty labelled addresses")
        assert {name for name in watch.alerts("pending") if name.endswith("page")} <= STARTING
        assert watch.alerts("firing") == {}, watch.state()
        assert watch.notifications == []

        demo.go_on()
        watch.until(lambda: bool(paged(watch)), 300, "a page that addresses are missed")
        check_page(paged(watch)[0])

        demo.go_on()
        watch.until(lambda: not watch.told("pager"), 120, "the page is over")
        (over,) = watch.told("pager", "resolved")
        check_page(over)
        assert over.ends_at > over.starts_at
        assert watch.names("pager") == {"RecallwatchRecallFell"}
        # what else is told is true, and nobody's sleep: another version came, and then the first one again
        assert watch.names("notices") == {"RecallwatchDetectorChanged"}
        assert watch.names("tickets") <= {"RecallwatchDriftDetected", "RecallwatchBelowTarget"}
    assert demo.end() == 0
    assert "nothing is left running" in demo.said


def paged(watch: Watch) -> list[Told]:
    """Return what the pager was told of the cell over all languages, which is the first to fall."""
    return [alert for alert in watch.told("pager") if alert.labels["language"] == "any"]


def check_page(alert: Told) -> None:
    """Check that the page says which cell of which version, how bad, out of how many, and where to read on."""
    figures = FIGURES.fullmatch(alert.annotations["description"])
    assert figures is not None, alert.annotations["description"]
    version = figures["version"]
    assert version.endswith("-2")
    assert alert.labels == {
        "alertname": "RecallwatchRecallFell",
        "severity": "page",
        "part": "board",
        "job": "recallwatch",
        "detector": "datafog",
        "version": version,
        **CELL,
    }
    lower, estimate, upper = (float(figures[name]) for name in ("lower", "estimate", "upper"))
    assert lower < estimate < upper < 80  # the second version finds half of the addresses
    assert figures["before"].endswith("-1")
    assert float(figures["was"]) > upper
    assert 0 < int(figures["found"]) < int(figures["true"])
    assert alert.annotations["summary"] == "Recall fell below its target"
    assert alert.annotations["runbook_url"] == f"{read_settings().links.runbook}#recallwatchrecallfell"
