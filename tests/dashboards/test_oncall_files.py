"""The rules, the routes and the runbook: in step with each other, and nothing in them that the product doesn't have."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import get_args

import promtool
import pytest
from boards import NOW, busy_board
from boards import worker as busy_worker
from promtool import ALERTS, ROOT, SETTINGS, Story, told

from dashboards.alert import Alert
from dashboards.alerts import every_alert
from dashboards.alerts.traffic import SIGNALS
from dashboards.promql import select
from dashboards.recording import Recording
from dashboards.settings import SEVERITIES, read_settings
from monitor.drift_counts import SignalName
from monitor.errors import ConfigError
from monitor.exposition import Sample, samples
from monitor.metrics import LAG, METRICS, Metric

DEPLOY = ROOT / "deploy"
RULES = [str(DEPLOY / "prometheus" / name) for name in ("recording.yaml", "alerts.yaml")]
ROUTES = DEPLOY / "alertmanager/alertmanager.yaml"
STORIES = promtool.stories()


def output_of(program: str, package: str, *arguments: str) -> str:
    """Return what a program of Prometheus says that must succeed."""
    if shutil.which(program) is None:
        pytest.skip(f"no {program} on PATH (Debian, Ubuntu: apt-get install {package})")
    result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def sections(text: str) -> dict[str, str]:
    """Return the sections of a page in Markdown, by heading."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("name", ALERTS)
def test_alert_has_a_story_in_which_it_fires_and_one_in_which_it_must_not(name: str) -> None:
    """A rule that nobody ever saw fire, or keep still, isn't one to be woken by."""
    fires = {bool(story.fires) for story in STORIES if story.alert == name}
    assert fires == {True, False}


def test_stories_are_of_alerts_that_there_are() -> None:
    """A story of an alert that was renamed tells nothing."""
    assert {story.alert for story in STORIES} - ALERTS.keys() == set()


def test_runbook_has_a_section_for_each_alert_and_no_other() -> None:
    """In the alerts' order, each with its four parts."""
    found = sections((DEPLOY / "runbook.md").read_text(encoding="utf-8"))
    assert list(found) == list(ALERTS)
    parts = ("**What it means.**", "**Look at.**", "**Do.**", "**Silence.**")
    assert [name for name, text in found.items() if not all(part in text for part in parts)] == []


def test_link_of_each_alert_leads_to_its_section() -> None:
    """The anchor of a heading is its words in small letters."""
    rules = (DEPLOY / "prometheus/alerts.yaml").read_text(encoding="utf-8")
    linked = re.findall(rf'runbook_url: "{re.escape(SETTINGS.links.runbook)}#(.*)"', rules)
    assert linked == [name.lower() for name in ALERTS]


def test_runbook_and_routes_name_only_alerts_that_there_are() -> None:
    """What was renamed is renamed everywhere."""
    texts = [(DEPLOY / name).read_text(encoding="utf-8") for name in ("runbook.md", "alertmanager/alertmanager.yaml")]
    assert set(chain(*(re.findall(r"Recallwatch\w+", text) for text in texts))) == ALERTS.keys()


def test_rules_query_only_what_the_product_exports_or_a_rule_records() -> None:
    """A series that nobody makes never fires."""
    text = "".join(Path(path).read_text(encoding="utf-8") for path in RULES)
    recorded = {rule.name for rule in Recording(SETTINGS).rules()}
    exported = {metric.name for metric in METRICS}
    queried = set(re.findall(r"(?:\w+:)?recallwatch_\w+(?::\w+)?", text))
    assert queried - recorded - exported == set()


def test_every_recorded_series_is_read() -> None:
    """What no alert reads costs memory and tells nothing."""
    rules = Recording(SETTINGS).rules()
    read = "\n".join([*(rule.expr for rule in rules), *(alert.expr + alert.description for alert in ALERTS.values())])
    assert [rule.name for rule in rules if rule.name not in read] == []


def test_name_that_no_metric_has_is_refused() -> None:
    """Neither a metric of one's own nor a label too many gets into a rule."""
    with pytest.raises(ValueError, match="no metric of the product"):
        select(Metric("recallwatch_recal_ratio", "gauge", "Misspelled."))
    with pytest.raises(ValueError, match="no label entity; it has channel, partition"):
        select(LAG, entity="PERSON")


def test_every_signal_of_drift_is_told_in_plain_words() -> None:
    """A share that the product watches has words of its own: its name alone tells nobody at night anything."""
    assert set(SIGNALS) == set(get_args(SignalName))
    assert [name for name, words in SIGNALS.items() if "_" in words or len(words) < 20] == []


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS)
def test_description_says_where_how_much_and_out_of_what(alert: Alert) -> None:
    """Entity and language where the alert has them, and at least two figures: the value and what it rests on."""
    named = [label for label in alert.labels if f"$labels.{label} }}}}" not in alert.description]
    figures = alert.description.count("{{ $value") + alert.description.count("{{ template")
    assert (named, figures >= 2) == ([], True)


def test_promtool_finds_nothing_to_mend_in_the_rules() -> None:
    """Syntax, templates and duplicates."""
    told_so = output_of("promtool", "prometheus", "check", "rules", "--lint=all", "--lint-fatal", *RULES)
    assert told_so.count("SUCCESS") == len(RULES)


def test_amtool_takes_the_config() -> None:
    """Routes, receivers and inhibition rules."""
    assert "SUCCESS" in output_of("amtool", "prometheus-alertmanager", "check-config", str(ROUTES))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_severity_goes_to_its_receiver(severity: str) -> None:
    """A page wakes somebody, and nothing else does."""
    routed = output_of(
        "amtool",
        "prometheus-alertmanager",
        "config",
        "routes",
        "test",
        f"--config.file={ROUTES}",
        f"severity={severity}",
    )
    assert routed.strip() == {"page": "pager", "ticket": "tickets", "notice": "notices"}[severity]


def test_alert_without_a_severity_wakes_nobody() -> None:
    """Whoever else uses the same Alertmanager."""
    routed = output_of(
        "amtool", "prometheus-alertmanager", "config", "routes", "test", f"--config.file={ROUTES}", "a=b"
    )
    assert routed.strip() == "notices"


def exported(found: Sequence[Sample], minutes: int) -> dict[str, str]:
    """Return samples of the product as promtool's series, moments as long before each minute as they are before now."""
    lines = {}
    for sample in found:
        series = promtool.of(sample.metric, **dict(zip(sample.metric.labels, sample.labels, strict=True)))
        moment = sample.metric.name.endswith("_timestamp_seconds")
        value = f"{sample.value - NOW:.10g}+60" if moment else f"{sample.value:.10g}"
        lines[series] = f"{value}x{minutes}"
    return lines


def test_what_the_product_exports_reaches_the_pager(tmp_path: Path) -> None:
    """The exposition of a busy board, scraped for ten minutes: names and labels are what the rules ask for."""
    if shutil.which("promtool") is None:
        pytest.skip(promtool.MISSING)
    found = list(samples(busy_board(), busy_worker()))
    series = exported(found, 15) | {'up{job="recallwatch",instance="worker-0:9464"}': "1x15"}
    lines = told("", entity="PERSON", language="en", detector="presidio", version="2")
    story = Story("A busy board", "RecallwatchRecallFell", "10m", series, lines)
    result = promtool.run(promtool.document(story), tmp_path)
    said = result.stdout + result.stderr
    assert "PERSON in en (presidio 2): recall, the share that is found, is below its target of" in said
    assert "isn't known" not in said
    assert "unknown" not in said


SAMPLE = (ROOT / "dashboards/oncall.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('severity = "page"', 'severity = "siren"', "page, ticket, notice are allowed"),
        ('for = "5m"', 'for = "5 minutes"', "alerts.RecallwatchRecallFell.for"),
        ("below = 0.6", "under = 0.6", "alerts.RecallwatchKappaLow.below"),
        ("below = 0.6", "below = 0.6\nabove = 1", "alerts.RecallwatchKappaLow.above: no alert reads it"),
        ("[alerts.RecallwatchKappaLow]", "[alerts.RecallwatchKapaLow]", "alerts.RecallwatchKappaLow: isn't there"),
        ("[links]", "[link]", "link"),
        ('gap = "10m"', "gap = 10", "gap"),
        ("[links]", "[links", "oncall.toml"),
    ],
)
def test_number_that_can_not_be_used_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """By key, with what is allowed; so that no alert stands on a number that nobody set."""
    path = tmp_path / "oncall.toml"
    path.write_text(SAMPLE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(says)):
        every_alert(read_settings(path))
