"""What can't be survived by design is said: records that were removed from a topic before they were read."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import Kafka, missing_for_kafka, running_kafka
from faults.broker_settings import delete_before, ends
from workers import Fleet, until
from workloads import decisions, invented, label

from monitor.fold import Channel
from streams.fetching import WAIT_MS

pytestmark = [pytest.mark.broker, pytest.mark.kafka]

FETCH_WAIT_S = WAIT_MS / 1000
"""How long a worker's fetch waits at the broker for something to come."""

COUNTS: dict[str, int] = {"decisions": 4, "sampled": 4, "labels": 2, "labels_by_document": 4}


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Give a real Apache Kafka."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    with running_kafka(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture
def fleet(kafka: Kafka, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    """Give topics of their own, all of whose decisions are sampled."""
    tag = f"t{abs(hash(request.node.name)) % 10**9}"
    fleet = Fleet(kafka.server, tag, tmp_path, ("topics.labels_partitions=2", "sampling.random_rate=1.0"))
    assert fleet.run("topics").returncode == 0
    try:
        yield fleet
    finally:
        fleet.kill()


async def read_some(fleet: Fleet) -> None:
    """Have a worker read decisions and labels to their ends."""
    documents = invented(60)
    fleet.start(0)
    await fleet.ready(0)
    await fleet.send("decisions", decisions(documents))
    await fleet.send("labels", [label(document, f"ann {n}") for n, document in enumerate(documents)])

    async def all_read() -> bool:
        lag = await lags(fleet)
        return len(lag) == sum(COUNTS.values()) + 1 and not any(lag.values())

    await until(all_read, 60, "decisions and labels read")
    await asyncio.sleep(1.0)  # a last checkpoint


async def lags(fleet: Fleet) -> dict[str, float]:
    """Return the worker's lag by place."""
    samples = await fleet.metrics(0)
    return {name: value for name, value in samples.items() if name.startswith("recallwatch_consumer_lag_records")}


async def add_and_remove(fleet: Fleet, channel: Channel, records: list[tuple[str, bytes | None]]) -> dict[int, int]:
    """Send records, and remove all that the topic holds; return by partition how many were never read."""
    topic, count = fleet.topic(channel), COUNTS[channel]
    before = await ends(fleet.server, {topic: count})
    await fleet.send(channel, records)
    after = await ends(fleet.server, {topic: count})
    await delete_before(fleet.server, after)
    return {place.partition: after[place] - before[place] for place in after if after[place] > before[place]}


async def said_to_be_lost(fleet: Fleet, channel: Channel) -> tuple[dict[int, int], dict[int, int]]:
    """Return by partition how many records the metric and the log say were lost."""
    samples = await fleet.metrics(0)
    counted: dict[int, int] = {}
    for partition in range(COUNTS[channel]):
        lost = samples.get(f'recallwatch_lost_records_total{{channel="{channel}",partition="{partition}"}}', 0.0)
        counted |= {partition: int(lost)} if lost else {}
    logged = {
        int(str(line["partition"])): int(str(line["earliest"])) - int(str(line["position"]))
        for line in fleet.workers[0].said("records_lost")
        if line["topic"] == fleet.topic(channel)
    }
    return counted, logged


async def beyond_the_position(fleet: Fleet, channel: Channel) -> list[tuple[str, bytes | None]]:
    """Return records that the stage of a channel can read, more than one a partition."""
    if channel == "decisions":
        return list(decisions(invented(40, start=5000)))
    found = await fleet.read(channel, COUNTS[channel])
    return [((record.key or b"").decode(), record.value) for record in found]


@pytest.mark.parametrize("channel", list(COUNTS))
def test_records_removed_while_no_worker_ran_are_counted_and_logged(fleet: Fleet, channel: Channel) -> None:
    """The worker that comes back says how many of which partition it never read, and goes on."""

    async def run() -> None:
        await read_some(fleet)
        records = await beyond_the_position(fleet, channel)
        assert await fleet.end(0) == 0
        lost = await add_and_remove(fleet, channel, records)
        assert lost
        fleet.start(0)
        await fleet.ready(0)
        await until(lambda: counts(fleet, channel, lost), 20, f"{channel}: {lost} said to be lost")
        assert await said_to_be_lost(fleet, channel) == (lost, lost)
        await fleet.send("decisions", decisions(invented(20, start=9000)))
        await fleet.deciding(0)
        assert await fleet.end(0) == 0

    asyncio.run(run())
    assert fleet.noise() == []


@pytest.mark.parametrize("channel", ["decisions", "labels"])
def test_records_removed_under_a_worker_that_stood_still_are_counted_and_logged(fleet: Fleet, channel: Channel) -> None:
    """A worker that is frozen while the topic's retention passes it says so too, with the next record it reads."""

    async def run() -> None:
        await read_some(fleet)
        records = await beyond_the_position(fleet, channel)
        process = fleet.workers[0].process
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(FETCH_WAIT_S + 1.0)  # what a fetch that still waits at the broker is given isn't lost
        lost = await add_and_remove(fleet, channel, records)
        process.send_signal(signal.SIGCONT)
        await fleet.send(channel, records)
        await until(lambda: counts(fleet, channel, lost), 20, f"{channel}: {lost} said to be lost")
        assert await said_to_be_lost(fleet, channel) == (lost, lost)
        assert await fleet.end(0) == 0

    asyncio.run(run())
    assert fleet.noise() == []


async def counts(fleet: Fleet, channel: Channel, lost: dict[int, int]) -> bool:
    """Tell whether the metric counts what was lost."""
    return (await said_to_be_lost(fleet, channel))[0] == lost
