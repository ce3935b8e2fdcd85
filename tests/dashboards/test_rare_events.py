"""What a dashboard counts of rare events, by promtool: as much as the alerts say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import promtool
import pytest
from promtool import of

from dashboards.grafana.queries import Queries
from dashboards.recording import Recording
from dashboards.settings import read_settings
from monitor import metrics as m

QUERIES = Queries(Recording(read_settings()))


@pytest.mark.skipif(shutil.which("promtool") is None, reason=promtool.MISSING)
@pytest.mark.parametrize(
    ("values", "expected"),
    [("_x30 500x40", 500), ("0x30 500x40", 500), ("500x70", 0), ("0x70", 0)],
    ids=["came with 500", "rose by 500", "was at 500 all the time", "nothing happened"],
)
def test_what_a_counter_came_with_counts_in_full(values: str, expected: int, tmp_path: Path) -> None:
    """A counter that is first scraped at 500 never rose, for `increase`; the alert says 500 records are lost."""
    asked = QUERIES.happened(m.LOST, (), "15m").replace("$job", read_settings().scrape.job)
    series = of(m.LOST, channel="decisions", partition="0")
    wanted = {"expr": f"round({asked})", "eval_time": "40m", "exp_samples": [{"labels": "{}", "value": expected}]}
    told = {"interval": "1m", "input_series": [{"series": series, "values": values}], "promql_expr_test": [wanted]}
    result = promtool.run(json.dumps({"evaluation_interval": "1m", "tests": [told]}), tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
