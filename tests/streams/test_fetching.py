"""What waits here to be taken doesn't keep the client from fetching on."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.consumer.fetcher import Fetcher
from bench.filling import create
from brokers import Kafka

from streams.fetching import HURRIED_WAIT_MS, WAIT_MS, hurry

pytestmark = [pytest.mark.broker, pytest.mark.kafka]

WAIT_S = 10
"""How long the broker keeps a request that it has nothing for."""
RECORDS, BYTES = 40, 1000


def test_backlog_is_fetched_on_where_another_topic_has_nothing(kafka: Kafka, tag: str) -> None:
    """A fetch for the quiet topic alone goes out while the backlog's records wait; it doesn't hold the next one up."""

    async def run() -> int:
        backlog, quiet = f"{tag}-backlog", f"{tag}-quiet"
        for topic in (backlog, quiet):
            await create(kafka.server, topic, 1)
        async with AIOKafkaProducer(bootstrap_servers=kafka.server, max_batch_size=2 * BYTES) as producer:
            for _ in range(RECORDS):
                await producer.send_and_wait(backlog, bytes(BYTES), partition=0)
        consumer = AIOKafkaConsumer(
            bootstrap_servers=kafka.server,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=WAIT_S * 1000,
            max_partition_fetch_bytes=10 * BYTES,
        )
        consumer.assign([TopicPartition(backlog, 0), TopicPartition(quiet, 0)])
        async with consumer:
            hurry(consumer._fetcher, consumer.assignment)  # noqa: SLF001  # as the consumer's thread does
            seen = 0
            while seen < RECORDS:
                found = await asyncio.wait_for(consumer.getmany(timeout_ms=WAIT_S * 1000), WAIT_S / 2)
                seen += sum(map(len, found.values()))
                await asyncio.sleep(0.3)  # longer than the client waits before it fetches for the others
            return seen

    assert asyncio.run(run()) == RECORDS


@pytest.mark.parametrize(("taken", "wait_ms"), [(("held", 0), HURRIED_WAIT_MS), (("other", 0), WAIT_MS)])
def test_only_what_will_be_taken_makes_a_request_hurry(taken: tuple[str, int], wait_ms: int) -> None:
    """The records of a changelog that nobody reads on stay in the client, and would have it ask without a pause."""

    class Fetching:
        """As much of a fetcher as is asked."""

        def __init__(self) -> None:
            self._records = {TopicPartition("held", 0): object()}
            self._fetch_max_wait_ms = 500

        def _get_actions_per_node(self, assignment: str) -> tuple[str, int]:
            return assignment, self._fetch_max_wait_ms

    fetching = Fetching()
    hurry(cast("Fetcher", fetching), lambda: {taken})
    assert fetching._get_actions_per_node("assignment") == ("assignment", wait_ms)  # noqa: SLF001  # as the client does
