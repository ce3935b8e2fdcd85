"""The thread that owns the Kafka client: what is fetched there, and what is asked of the client from outside."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer
from aiokafka.consumer.fetcher import Fetcher
from aiokafka.errors import IllegalStateError, KafkaError
from aiokafka.structs import OffsetAndMetadata, TopicPartition
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.chunks import Place
from streams.fetching import hurry, read_ahead
from streams.lease import Lease
from streams.unpacking import unpack

log = structlog.get_logger(__name__)

TURN_S = 1.0
"""Between two signs of life of an event loop."""


class ConsumerThread(driver.AIOKafkaConsumerThread):
    """The thread that owns the Kafka client; every call that changes the client's state is made inside it."""

    cut_off = False
    """Whether a fetch failed half way, so that what it took out of the client is unknown."""
    _taken: Collection[tuple[str, int]] = ()
    """The partitions whose records were asked for last."""
    lease: Lease | None = None
    """Whether our partitions are ours for certain; None before the client was started."""
    turned_at: float | None = None
    """When this thread's loop turned last, by `time.monotonic`; None before it was started."""

    async def on_start(self) -> None:
        """Start the client, and watch whether the group knows us."""
        self.add_future(self._turn())
        read_ahead()
        await super().on_start()
        consumer = self._ensure_consumer()
        hurry(consumer._fetcher, lambda: self._taken)  # noqa: SLF001  # the client has no other way to it
        self.lease = Lease(self.app.conf.broker_session_timeout)
        self.lease.watch(consumer._coordinator)  # noqa: SLF001  # see above

    async def _turn(self) -> None:
        """Note that the loop turns, whatever waits on it."""
        while True:
            self.turned_at = time.monotonic()
            await asyncio.sleep(TURN_S)

    @property
    def led(self) -> bool:
        """Whether each partition of ours has a leader, as far as the client knows."""
        consumer = self._consumer
        if consumer is None:
            return False
        cluster = consumer._client.cluster  # noqa: SLF001  # no public way to it
        leaders = [cluster.leader_for_partition(place) for place in consumer.assignment()]
        return all(leader is not None and leader >= 0 for leader in leaders)

    async def _fetch_records(
        self,
        consumer: AIOKafkaConsumer,
        active_partitions: set[TP],
        timeout: float | None = None,  # noqa: ASYNC109  # the driver's signature
        max_records: int | None = None,
    ) -> Mapping[TP, list[Any]]:
        """Return what was fetched, as records of ours; nothing where a partition was taken away meanwhile."""
        fetcher: Fetcher = consumer._fetcher  # noqa: SLF001  # as the driver does
        self._taken = active_partitions
        until = time.monotonic() + (timeout or 0.0)
        try:
            while True:
                unpack(fetcher._records)  # noqa: SLF001  # what has come since, before the client unpacks it
                fetched = await super()._fetch_records(consumer, active_partitions, 0.0, max_records)
                left = until - time.monotonic()
                if fetched or left <= 0 or not await _something_came(fetcher, left):
                    return fetched
        except (KeyError, IllegalStateError) as error:
            log.info("fetch_cut_off", problem=type(error).__name__)
            self.cut_off = True
            return {}

    async def seek_places(self, positions: Mapping[Place, int]) -> None:
        """Read on at `positions`; partitions that are no longer ours are left out."""
        await self.call_thread(self._seek_places, positions)

    async def _seek_places(self, positions: Mapping[Place, int]) -> None:
        consumer = self._ensure_consumer()
        assigned = consumer.assignment()
        for place, offset in positions.items():
            if place in assigned:
                consumer.seek(TopicPartition(*place), offset)

    async def committed(self, places: Iterable[Place]) -> dict[Place, int | None]:
        """Return the group's committed offsets, None where it has none."""
        found: dict[Place, int | None] = await self.call_thread(self._committed, list(places))
        return found

    async def _committed(self, places: list[Place]) -> dict[Place, int | None]:
        consumer = self._ensure_consumer()
        return {place: await consumer.committed(TopicPartition(*place)) for place in places}

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        """Commit; a failure is a log line, since the state holds the positions and the next commit repeats them."""
        wanted = {TopicPartition(*tp): OffsetAndMetadata(offset, "") for tp, offset in offsets.items()}
        try:
            await self._ensure_consumer().commit(wanted)
        except KafkaError as error:
            log.warning("commit_failed", problem=type(error).__name__)
            return False
        return True


async def _something_came(fetcher: Fetcher, within_s: float) -> bool:
    """Wait until the client has fetched something; raises what the broker refused, False where the time is over."""
    waiter = fetcher._create_fetch_waiter()  # noqa: SLF001  # what its own waiting does
    with fetcher._subscriptions.fetch_context():  # noqa: SLF001  # else it takes us for one that polls too seldom
        done, _ = await asyncio.wait([waiter], timeout=within_s)
    if not done:
        waiter.cancel()
        return False
    waiter.result()
    return not fetcher._closed  # noqa: SLF001  # see above
