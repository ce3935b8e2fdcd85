"""What ROUTE is measured on and how, with few records; no figure that comes out is looked at."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.filling import Filled, encoded, fill, number_in, records
from bench.lab import Lab
from bench.redacting import LEAKY, redact
from bench.route import OF_UNCHECKED, RATES, USUAL, Bench, both, in_rounds, of_bare, rate_row
from bench.running import Run, Seen, drawn_numbers, measured
from brokers import Kafka, missing_for_kafka, running_kafka

from monitor.decoding import Limits, decode_decision
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.net import build_net
from monitor.records import Span
from streams.settings import load_settings


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[Kafka]:
    """Give a real Apache Kafka; skip, and say what to install, where it can't be started."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    with running_kafka(tmp_path / "kafka") as broker:
        yield broker


@pytest.mark.parametrize("size", [500, 5400])
def test_decisions_are_flawless_and_of_their_size(size: int) -> None:
    """Nothing in them has to be set aside, every id is its number, most are ASCII, and there are spans to count."""
    values = [b'{"doc_id":"x' + rest for rest in encoded(size, 40)]
    found = [decode_decision(value, Limits()) for value in values]
    assert [one.quarantined for one in found if one.quarantined] == []
    assert sum(map(len, values)) / len(values) == pytest.approx(size, rel=0.06)
    assert any(one.record.spans for one in found)
    assert 20 < sum(one.record.text.isascii() for one in found) < 40


def test_outputs_show_nothing_but_for_one_in_fifty() -> None:
    """All are the text with flagged stretches replaced; the leaky ones keep the end of a value."""
    net = build_net(defaults=True, patterns={}, triggers=())
    values = [b'{"doc_id":"x' + rest for rest in encoded(5400, 150, outputs=True)]
    decisions = [decode_decision(value, Limits()) for value in values]
    assert [one.quarantined for one in decisions if one.quarantined] == []
    assert sum(map(len, values)) / len(values) == pytest.approx(2 * 5400, rel=0.06)
    found = [examine(d.text, d.spans, d.redacted or "", Policy(), net) for d in (one.record for one in decisions)]
    assert all(one.aligned for one in found)
    assert sum(bool(one.leaks) for one in found) == 150 // LEAKY
    assert {leak.kind for one in found for leak in one.leaks} == {"partial_mask"}


def test_value_that_stands_twice_is_flagged_twice() -> None:
    """A surname that the detector missed elsewhere is flagged there, too, and so replaced."""
    net = build_net(defaults=True, patterns={}, triggers=())
    text = "I am Bo Hendriksma. As I said, Mr Hendriksma."
    assert redact(text, [Span(5, 18, "PERSON")], net) == (
        [Span(5, 18, "PERSON"), Span(34, 44, "PERSON", 0.9)],
        "I am <PERSON>. As I said, Mr <PERSON>.",
    )


def test_no_document_stands_twice() -> None:
    """The texts come again, the ids don't."""
    keys = [key for key, _ in records(range(3, 9, 2), 500)]
    assert [number_in(key) for key in keys] == [3, 5, 7]


def test_a_run_is_measured_between_the_documents_it_drew() -> None:
    """From the first moment past 5 % on to the last document: positions, seconds and CPU seconds in between."""
    filled = Filled("", "", 1000, 2, 500)
    # partitions 0 and 1; offsets are half of the numbers
    seen = [Seen(10.0, 38), Seen(11.0, 41), Seen(11.0, 99), Seen(12.0, 198), Seen(14.0, 999), Seen(14.0, 998)]
    used = [(9.0, 1.0), (11.0, 2.0), (13.0, 4.0), (15.0, 6.0)]
    # 20, then 20 + 50 of both partitions, at last 500 + 500
    assert measured(seen, used, filled) == Run(1000 - 70, 3.0, 3.0)


@pytest.mark.kafka
@pytest.mark.broker
def test_worker_with_and_without_the_leak_check_reads_the_same_topic(kafka: Kafka, tmp_path: Path) -> None:
    """Both come to the end of a topic of outputs, and one is a share of the other."""
    filled = asyncio.run(fill(kafka.server, "decisions", 6_000, 1_000, outputs=True))
    config = tmp_path / "bench.toml"
    config.write_text("")
    said: list[str] = []
    bench = Bench(Lab(tmp_path, times=1, say=said.append), filled, config, (*RATES, *USUAL))
    rounds = in_rounds(bench.lab, "outputs", {"worker": bench.worker, "checks off": bench.unchecked})
    assert 0 < rate_row("ROUTE", rounds, "checks off", "checks off", OF_UNCHECKED).ratio < 5
    assert len(said) == 2


def test_too_few_records_give_no_figure() -> None:
    """All within a millisecond is no time."""
    with pytest.raises(RuntimeError, match="too few"):
        measured([Seen(1.0, 998), Seen(1.0, 999)], [(0.0, 0.0), (2.0, 1.0)], Filled("", "", 1000, 2, 500))


@pytest.mark.kafka
@pytest.mark.broker
def test_worker_and_reference_read_the_same_topic(kafka: Kafka, tmp_path: Path) -> None:
    """A worker and the bare loop both come to the end; what they drew is what the rates say, or `run_worker` raises."""
    filled = asyncio.run(fill(kafka.server, "decisions", 12_000, 500, codec="lz4"))
    config = tmp_path / "bench.toml"
    config.write_text("[net.patterns]\nbadge = 'K-\\d{4}'\n")
    said: list[str] = []
    bench = Bench(Lab(tmp_path, times=1, say=said.append), filled, config, (*RATES, *USUAL))
    rounds = in_rounds(bench.lab, "500 bytes", both(bench))
    row = of_bare("ROUTE", bench, rounds)
    assert 0 < row.ratio < 10
    assert row.note.startswith("12,000 records of ")
    assert [line.split()[2] for line in said] == ["worker", "bare"]
    assert all(0 < run.decisions <= 0.95 * filled.records + 1 and run.cpu_s > 0 for run in rounds[0].values())


def test_the_rates_draw_one_document_in_a_hundred() -> None:
    """By their ids alone."""
    settings = load_settings(None, list(RATES), {})
    assert len(drawn_numbers(settings.config, 20_000)) == pytest.approx(200, abs=60)


def test_route_needs_nothing_that_only_estimates_do() -> None:
    """The other readers' environments have what decoding and counting take, and no more."""
    program = "import sys, monitor.route, monitor.plan; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
