"""Ten real minutes of healthy traffic, with the numbers of on-call as they're shipped: nobody is told anything."""

from __future__ import annotations

import tomllib
from pathlib import Path
from time import monotonic

import prometheus
import pytest
from demos import running_demo
from prometheus import DEMO, watching

pytestmark = [pytest.mark.slow, pytest.mark.broker]

MINUTES = 10
TRUE_OF_THE_DEMO = {"RecallwatchTargetOutOfReach notice", "RecallwatchNeverKnown notice"}
"""At the demo's rates some targets can't be shown, and a cell begins without a label: neither is for somebody today."""


def allowed(folder: Path) -> Path:
    """Write what the demo's detector is allowed to leave, and no other number of the demo; return where."""
    alerts = tomllib.loads(DEMO.read_text(encoding="utf-8"))["alerts"]
    path = folder / "allowed.toml"
    tables = [f"[alerts.{name}]\nallowed = {own['allowed']}\n" for name, own in alerts.items() if "allowed" in own]
    path.write_text("".join(tables), encoding="utf-8")
    return path


def test_ten_minutes_of_healthy_traffic_tell_nobody_anything(tmp_path: Path) -> None:
    """No alert fires, and none waits that would if it went on, but for two notices that are true."""
    if (lacks := prometheus.missing()) is not None:
        pytest.skip(lacks)
    with running_demo(tmp_path) as demo, watching(tmp_path, [demo.target], [allowed(tmp_path)], "5s") as watch:
        end = monotonic() + 60 * MINUTES
        watch.until(lambda: monotonic() > end, 60 * MINUTES + 60, "ten minutes")
        assert watch.alerts("firing") == {}, watch.state()
        assert watch.notifications == []
        waiting = {
            (v.metric["alertname"], v.metric["entity"], v.metric["language"])
            for v in watch.ask('ALERTS{alertstate="pending"}')
            if f"{v.metric['alertname']} {v.metric['severity']}" not in TRUE_OF_THE_DEMO
        }
        assert waiting == set(), watch.state()
        seen = watch.number("sum(increase(recallwatch_decisions_total[10m]))")
        assert seen is not None
        assert seen > 10_000  # it ran
