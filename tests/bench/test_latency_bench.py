"""Restart, label and scrape are measured at all, on a real Kafka: small sizes, and no figure is judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.lab import Lab
from bench.latency import label_row, restart_rows, scrape_rows
from brokers import missing_for_kafka

pytestmark = [pytest.mark.broker, pytest.mark.kafka]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a lab with a Kafka of its own; skip where none can be started."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    with Lab(Path(tmp_path_factory.mktemp("latency")), times=1) as lab:
        yield lab


def test_restart_ends_with_a_reading_of_every_label(lab: Lab) -> None:
    """A row for each way to end."""
    rows = restart_rows(lab, 200, 1)

    assert [row.name for row in rows] == [f"restart after {s}, 200 ledger entries" for s in ("SIGTERM", "SIGKILL")]
    assert all(row.value > 0 for row in rows)


def test_every_label_is_seen_in_the_metrics(lab: Lab) -> None:
    """None is lost on the way to the figure."""
    assert label_row(lab, 10).value > 0


def test_scrapes_are_timed_until_the_backlog_is_read(lab: Lab) -> None:
    """Of the metrics and of the page."""
    metrics, page = scrape_rows(lab, 4000)

    assert metrics.value > 0
    assert page.value > 0
    assert "/healthz failed 0 times" in metrics.note
