"""Following the history topic: read whole before a worker starts, and record by record from then on."""

from __future__ import annotations

from collections.abc import Iterable

from aiokafka import AIOKafkaConsumer, TopicPartition

from monitor.history import History
from streams.broker import Connection

_QUIET_MS = 500
"""A poll that brings nothing for so long, at or past the end that the broker told, ends the first reading."""


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
        await consumer.start()
        self._consumer = consumer
        consumer.assign([self._place])
        await consumer.seek_to_beginning(self._place)
        end = (await consumer.end_offsets([self._place]))[self._place]
        while True:
            took = await self.read()
            if not took and await consumer.position(self._place) >= end:
                return

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
