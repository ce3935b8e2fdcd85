"""That memory, workers and soak are measured as they say; how large a figure is belongs to the bench itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from aiokafka.record.memory_records import MemoryRecords
from bench.growth import Shared, cost_rows, memory_row, worker_rows
from bench.lab import Lab
from bench.loading import RETENTION_CHECKS, Stock
from bench.soak_plot import plot
from bench.soak_verdict import MIB, Seen, Soak, checks
from bench.soaking import as_json, read_options, run
from brokers import Kafka, missing_for_kafka, running_kafka

from monitor.decoding import Limits, decode_decision


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Give a real Apache Kafka; skip, and say what to install, where it can't be started."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    with running_kafka(tmp_path_factory.mktemp("kafka"), RETENTION_CHECKS) as broker:
        yield broker


@pytest.fixture(scope="module")
def stock() -> Stock:
    """Give a small stock."""
    return Stock(500, per_batch=40, templates=2)


def read(data: bytes) -> list[tuple[bytes, bytes, int]]:
    """Return key, value and time of each record of a batch, as a consumer reads it."""
    batch = MemoryRecords(data).next_batch()
    assert batch.validate_crc()
    return [(record.key, record.value, record.timestamp) for record in batch]


# -- what is sent ----------------------------------------------------------------------------------------------------


def test_a_batch_holds_its_documents_under_ids_of_its_own(stock: Stock) -> None:
    """Two batches of one template differ in their ids alone; an id tells which document it is."""
    first, other = ([decode_decision(v, Limits()).record for _, v, _ in read(stock.batch(n, 7))] for n in (0, 2))
    assert [decision.doc_id for decision in first] == stock.ids(0)
    assert not {decision.doc_id for decision in first} & {decision.doc_id for decision in other}
    assert [msgspec.structs.replace(decision, doc_id="") for decision in first] == [
        msgspec.structs.replace(decision, doc_id="") for decision in other
    ]
    assert [stock[decision.doc_id].text for decision in first] == [decision.text for decision in first]


def test_a_batch_is_dated_and_keyed(stock: Stock) -> None:
    """Every record bears the time that was asked for, and its document's id as key."""
    assert [(key.decode(), at_ms) for key, _, at_ms in read(stock.batch(3, 1234))] == [(n, 1234) for n in stock.ids(3)]


def test_records_are_of_the_size_asked_for_and_differ(stock: Stock) -> None:
    """None is larger; languages, entities and versions are several."""
    values = [value for number in (0, 1) for _, value, _ in read(stock.batch(number, 0))]
    assert max(map(len, values)) <= 500
    assert sum(map(len, values)) / len(values) > 475
    found = [decode_decision(value, Limits()).record for value in values]
    assert len({decision.lang for decision in found}) > 2
    assert {decision.version for decision in found} == {"1.0", "1.1"}
    assert len({span.entity for decision in found for span in decision.spans}) > 3


# -- rows ------------------------------------------------------------------------------------------------------------


def test_costs_are_compared_by_their_medians_and_differing_readings_count() -> None:
    """The dearest number of workers stands beside the cheapest; one difference fails its row."""
    runs = {
        1: [Shared(2.0, 1.0, []), Shared(4.0, None, []), Shared(2.2, None, [])],
        4: [Shared(2.5, 0.5, []), Shared(2.3, None, ["/readings: expected 1, is 2"]), Shared(2.3, None, [])],
    }
    cost, readings, *idle = cost_rows(runs)
    assert (cost.value, cost.reference, cost.ok) == (2.3, 2.2, True)
    assert (readings.value, readings.ok) == (1, False)
    assert [(row.value, row.ok) for row in idle] == [(1.0, None), (0.5, None)]


@pytest.mark.broker
@pytest.mark.kafka
def test_memory_is_measured_while_decisions_are_read(kafka: Kafka, stock: Stock, tmp_path: Path) -> None:
    """All that was sent is counted, and both points have a figure."""
    row = memory_row(Lab(tmp_path, say=lambda _: None), kafka.server, stock, 2_000, 20_000)
    assert row.reference is not None
    assert 20 < row.reference < 1000
    assert row.ratio == row.value / row.reference


@pytest.mark.broker
@pytest.mark.kafka
def test_workers_that_share_a_topic_read_the_same(kafka: Kafka, stock: Stock, tmp_path: Path) -> None:
    """One worker and two: no reading differs, and each number has a cost."""
    lab = Lab(tmp_path, times=1, say=lambda _: None)
    cost, readings, *idle = worker_rows(lab, kafka.server, stock, 4_000, 0.5, (1, 2))
    assert cost.value > 0
    assert (readings.value, readings.note) == (0, "")
    assert [row.name for row in idle] == ["an idle worker out of 1", "an idle worker out of 2"]


# -- the soak --------------------------------------------------------------------------------------------------------


def soaked(**changes: object) -> Soak:
    """Return a soak of 100 s in which all was well, but for what is changed."""
    seen = [
        Seen(
            at_s=at,
            rss_bytes=100 * MIB,
            lag=500,
            warnings=0,
            errors=0,
            scrape_s=0.01,
            cpu_share=0.3,
            sent=int(1000 * at),
            decided=int(1000 * at) - 500,
            lost=0,
        )
        for at in range(5, 101, 5)
    ]
    soak = Soak(
        asked_s=100.0,
        rate=1000.0,
        took_s=100.0,
        sent=100_000,
        decided=100_000,
        lost=0,
        sampled=20,
        exit_code=0,
        errors=[],
        warnings=["slow"],
        seen=seen,
    )
    return msgspec.structs.replace(soak, **changes)


def failed(soak: Soak) -> list[str]:
    """Return the names of the checks that a soak fails."""
    return [check.name for check in checks(soak) if not check.ok]


def test_a_soak_in_which_all_was_well_passes() -> None:
    """A warning alone is told, and fails nothing."""
    assert failed(soaked()) == []
    assert any("slow" in check.said for check in checks(soaked()))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("rate kept", {"took_s": 110.0}),
        ("no error logged", {"errors": ["worker_crashed"]}),
        ("counted once", {"decided": 99_999}),
        ("counted once", {"decided": 100_200}),
        ("counted once", {"lost": 1}),
        ("ended in order", {"exit_code": 1}),
        ("memory flat", {"seen": []}),
    ],
)
def test_a_soak_fails_by_what_went_wrong(name: str, changes: dict[str, object]) -> None:
    """Each fault fails the check that bears its name."""
    assert name in failed(soaked(**changes))


@pytest.mark.parametrize(("grown", "expected"), [(1.04, []), (1.06, ["memory flat"])])
def test_memory_of_the_last_quarter_is_held_against_the_second(grown: float, expected: list[str]) -> None:
    """A worker that takes 6 % more in the last quarter isn't flat; 4 % is."""
    seen = [
        msgspec.structs.replace(one, rss_bytes=int(100 * MIB * (grown if one.at_s > 75 else 1)))
        for one in soaked().seen
    ]
    assert failed(soaked(seen=seen)) == expected


@pytest.mark.parametrize(("at_s", "expected"), [(10, []), (50, ["lag bounded"])])
def test_lag_counts_after_the_warm_up(at_s: int, expected: list[str]) -> None:
    """Falling six seconds behind is forgiven in the beginning alone."""
    seen = [msgspec.structs.replace(one, lag=6000 if one.at_s == at_s else one.lag) for one in soaked().seen]
    assert failed(soaked(seen=seen)) == expected


@pytest.mark.broker
@pytest.mark.kafka
def test_a_short_soak_is_seen_to_its_end(kafka: Kafka, stock: Stock, tmp_path: Path) -> None:
    """Everything is counted once, no error is logged, the worker ends in order; report and picture are written."""
    soak = run(kafka.server, tmp_path, stock, 6.0, 400.0)
    assert set(failed(soak)) <= {"memory flat", "lag bounded", "rate kept"}
    assert soak.sent == 2400
    assert msgspec.json.decode(as_json(soak, checks(soak)))["soak"]["sent"] == 2400
    plot(soak, tmp_path / "soak.png")
    assert (tmp_path / "soak.png").stat().st_size > 1000


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "long"])
def test_a_soak_needs_a_number_of_minutes(minutes: str) -> None:
    """Anything else ends with 2."""
    with pytest.raises(SystemExit) as ended:
        read_options(["--minutes", minutes])
    assert ended.value.code == 2
