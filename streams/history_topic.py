"""Following the history topic: read whole before a worker starts, and record by record from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from aiokafka import AIOKafkaConsumer, TopicPartition

from monitor.history import History
from streams.broker import Connection

_QUIET_MS = 500
"""How long a poll waits for something to come."""
_TURN_S = 0.02


class HistoryReader:
    """A consumer without a group: every worker reads all of the topic.

    Parameters
    ----------
    topic
        Its name; it has one partition.
    history
        Where the records go.
    """

    def __init__(self, connection: Connection, topic: str, history: History) -> None:
        self._connection = connection
        self._place = TopicPartition(topic, 0)
        self._history = history
        self._consumer: AIOKafkaConsumer | None = None

    async def start(self) -> None:
        """Read all there is."""
        consumer = AIOKafkaConsumer(enable_auto_commit=False, **self._connection.client_options())
        self._consumer = consumer  # before it connects: what fails to start must be closed too
        await consumer.start()
        consumer.assign([self._place])
        await consumer.seek_to_beginning(self._place)
        end = (await consumer.end_offsets([self._place]))[self._place]
        await self.read()  # also of an empty topic: whoever may not read it is told so
        while await consumer.position(self._place) < end:
            await self.read()

    async def catch_up(self) -> None:
        """Return when all was taken that the topic held at this moment; somebody must be reading on meanwhile."""
        consumer = self._consumer
        if consumer is None:
            return
        end = (await consumer.end_offsets([self._place]))[self._place]
        while await consumer.position(self._place) < end:  # noqa: ASYNC110  # the reader's progress has no event
            await asyncio.sleep(_TURN_S)

    async def read(self) -> int:
        """Take what came within half a second; return how many records."""
        if self._consumer is None:
            return 0
        count = 0
        for records in (await self._consumer.getmany(timeout_ms=_QUIET_MS)).values():
            count += self._take(records)
        return count

    def _take(self, records: Iterable[object]) -> int:
        count = 0
        for record in records:
            self._history.take(getattr(record, "key", None), getattr(record, "value", None))
            count += 1
        return count

    async def stop(self) -> None:
        """Close the connection."""
        if self._consumer is not None:
            await self._consumer.stop()
            self._consumer = None
