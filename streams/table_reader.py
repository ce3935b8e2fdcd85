"""A stage's table, read from its changelog without a group: a look at what is kept that moves nobody's position.

Keys are as `streams.tables` writes them.
"""

from __future__ import annotations

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from monitor.errors import SourceError, StateError
from streams.live import connection
from streams.lookup import find_topic
from streams.settings import Settings
from streams.topics import TopicSpec, changelog

_QUIET_MS = 500


class TableRows:
    """What a changelog says, record by record: the last value of each key, a tombstone's being none.

    Parameters
    ----------
    topic
        The changelog's name, for errors.
    """

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.heads: dict[int, bytes] = {}
        """By partition."""
        self.rows: dict[int, dict[str, bytes]] = {}
        """By partition, then by their names."""

    def take(self, partition: int, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Take a record.

        Raises
        ------
        StateError
            A key that no table writes.
        """
        prefix = f"{partition}/".encode()
        if key is None or not key.startswith(prefix):
            raise StateError(f"{self.topic}/{partition}@{offset}: no row of this partition")
        name = key[len(prefix) :].decode(errors="surrogateescape")
        if name:
            rows = self.rows.setdefault(partition, {})
            if value is None:
                rows.pop(name, None)
            else:
                rows[name] = value
        elif value is None:
            self.heads.pop(partition, None)
        else:
            self.heads[partition] = value


async def read_table(settings: Settings, table: str) -> TableRows:
    """Return what a table holds now.

    Raises
    ------
    SourceError
        No broker that answers or takes us; a topic that isn't there or is another one's.
    StateError
        A record that no table writes.
    """
    spec = await find_topic(settings, changelog(settings.config.kafka.group, table))
    consumer = AIOKafkaConsumer(enable_auto_commit=False, **connection(settings).client_options())
    rows = TableRows(spec.name)
    try:
        await consumer.start()
        await _read_all(consumer, spec, rows)
    except KafkaError as error:
        raise SourceError(f"topic {spec.name} can't be read ({type(error).__name__})") from None
    finally:
        await consumer.stop()
    return rows


async def _read_all(consumer: AIOKafkaConsumer, spec: TopicSpec, rows: TableRows) -> None:
    places = [TopicPartition(spec.name, number) for number in range(spec.partitions)]
    consumer.assign(places)
    await consumer.seek_to_beginning(*places)
    ends = await consumer.end_offsets(places)
    at_end = False
    while not at_end:
        # asked before the read: what stands in the last batch beyond an end that a broker told short is read too
        at_end = all([await consumer.position(place) >= ends[place] for place in places])
        for place, records in (await consumer.getmany(timeout_ms=_QUIET_MS)).items():
            for record in records:
                rows.take(place.partition, record.offset, record.key, record.value)
