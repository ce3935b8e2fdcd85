"""Delivery on a real Apache Kafka: whatever is done to the workers, every document counts once."""

from __future__ import annotations

import asyncio
import signal

import pytest
from deliveries import Delivery, Outcome
from toys import specs

from streams.broker import Connection
from streams.declare import ensure

pytestmark = [pytest.mark.broker, pytest.mark.kafka]


def names(count: int, prefix: str = "doc") -> list[str]:
    """Return names of documents."""
    return [f"{prefix}{number}" for number in range(count)]


async def declared(delivery: Delivery) -> None:
    """Create the topics before anybody writes."""
    await ensure(Connection(servers=(delivery.server,)), specs(delivery.tag))


def test_killed_stopped_and_frozen_workers_lose_and_repeat_nothing(delivery: Delivery) -> None:
    """Two workers share four partitions; one is killed, one ended, one frozen past its session, one comes twice."""
    documents, labels = names(24_000), names(600, "label")
    expected = Outcome.expected([*documents, *documents[:500]], labels)

    async def run() -> None:
        await declared(delivery)
        delivery.start(0)
        delivery.start(1)
        producing = asyncio.gather(
            delivery.produce("decisions", documents, pause_s=1.0), delivery.produce("labels", labels)
        )
        await delivery.reading(0)
        await delivery.reading(1)
        delivery.send(0, signal.SIGKILL)
        await asyncio.to_thread(delivery.wait, 0)
        delivery.start(0)
        await delivery.reading(0, 2)
        delivery.send(1, signal.SIGTERM)
        assert await asyncio.to_thread(delivery.wait, 1) == 0
        delivery.start(1)
        await delivery.reading(1, 2)
        delivery.send(0, signal.SIGSTOP)
        await delivery.reading(1, 3)  # the frozen worker's partitions have moved
        delivery.send(0, signal.SIGCONT)
        await producing
        await delivery.produce("decisions", documents[:500])
        assert await delivery.settle(expected, 60) == expected

    asyncio.run(run())
    assert set(delivery.stop().values()) == {0}
    assert asyncio.run(delivery.outcome()) == expected
    assert all(committed == end for committed, end in asyncio.run(delivery.committed()).values())


def test_an_exit_between_any_two_steps_of_a_checkpoint_costs_reading_again(delivery: Delivery) -> None:
    """Workers that end at one step after the other leave a state from which the next one is exact."""
    documents = names(3000)
    expected = Outcome.expected(documents, [])
    steps = ["count:sent", "keep:rows", "count:head", "keep:head", "count:tallies"]

    async def run() -> None:
        await declared(delivery)
        for number, step in enumerate(steps):
            await delivery.produce("decisions", documents[number * 600 :][:600])
            delivery.start(0, fail_at=step)
            assert await asyncio.to_thread(delivery.wait, 0) == 9
        delivery.start(0)
        await delivery.reading(0, len(steps) + 1)
        assert await delivery.settle(expected, 40) == expected

    asyncio.run(run())
    assert delivery.stop() == {0: 0}
    assert asyncio.run(delivery.outcome()) == expected


def test_a_send_that_fails_ends_the_worker(delivery: Delivery) -> None:
    """A record that is too large for its topic can't be skipped: exit 1, and no position past it."""
    documents = [f"doc{number}" for number in range(200)]

    async def run() -> None:
        await declared(delivery)
        await delivery.produce("decisions", documents)
        delivery.start(0, request_bytes=100)
        assert await asyncio.to_thread(delivery.wait, 0) == 1
        assert (await delivery.outcome()).counted == 0

    asyncio.run(run())
    assert "worker_crashed" in delivery.log(0).read_text()


def test_compressed_input_is_read_whatever_the_environment_says(delivery: Delivery) -> None:
    """Producers choose their compression; a container's APP_VERSION would crash Faust, or name another group."""
    delivery.environment = {"APP_VERSION": "1.2.3", "APP_STORE": "rocksdb://", "BROKER_COMMIT_EVERY": "1"}
    documents = names(2000)
    expected = Outcome.expected(documents, [])

    async def run() -> None:
        await declared(delivery)
        for number, codec in enumerate(["gzip", "snappy", "lz4", "zstd"]):
            await delivery.produce("decisions", documents[number * 500 :][:500], codec=codec)
        delivery.start(0)
        assert await delivery.settle(expected, 30) == expected

    asyncio.run(run())
    assert delivery.stop() == {0: 0}
