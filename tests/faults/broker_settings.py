"""Topics of a running broker, changed as an administrator would, and read beside the product."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from streams.topics import TopicSpec

TRIES = 40


async def alter(server: str, specs: Iterable[TopicSpec], changed: Mapping[str, str]) -> None:
    """Give topics other settings beside those that they were made with; nothing but these where `changed` is empty."""
    asked = [ConfigResource(ConfigResourceType.TOPIC, s.name, {**s.settings, **changed}) for s in specs]
    client = AIOKafkaAdminClient(bootstrap_servers=server)
    await client.start()
    try:
        for response in await client.alter_configs(asked):
            for code, message, *_ in response.resources:
                assert not code, message
    finally:
        await client.close()


async def delete_before(server: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Remove the records below these offsets, as retention does."""
    client = AIOKafkaAdminClient(bootstrap_servers=server)
    await client.start()
    try:
        await client.delete_records({place: RecordsToDelete(offset) for place, offset in offsets.items()})
    finally:
        await client.close()


async def ends(server: str, topics: Mapping[str, int]) -> dict[TopicPartition, int]:
    """Return where each partition of topics with so many partitions ends; asks again while the broker is starting."""
    places = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
    for left in reversed(range(TRIES)):
        consumer = AIOKafkaConsumer(bootstrap_servers=server)
        try:
            await consumer.start()
            found: dict[TopicPartition, int] = await consumer.end_offsets(places)
        except KafkaError:
            if not left:
                raise
            await asyncio.sleep(0.5)
        else:
            return found
        finally:
            await consumer.stop()
    raise AssertionError


async def removed(server: str, topic: str, partitions: int) -> int:
    """Return how many offsets of a topic hold no record any more, below the last that does."""
    places = [TopicPartition(topic, number) for number in range(partitions)]
    consumer = AIOKafkaConsumer(bootstrap_servers=server, auto_offset_reset="earliest", enable_auto_commit=False)
    await consumer.start()
    gone = 0
    try:
        consumer.assign(places)
        upto = await consumer.end_offsets(places)
        for place in places:
            await consumer.seek_to_beginning(place)
        following = dict.fromkeys(places, 0)
        while any([await consumer.position(place) < upto[place] for place in places]):
            for place, records in (await consumer.getmany(timeout_ms=200)).items():
                for record in records:
                    gone += record.offset - following[place]
                    following[place] = record.offset + 1
    finally:
        await consumer.stop()
    return gone
