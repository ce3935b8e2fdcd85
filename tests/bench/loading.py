"""Decisions by the million at next to no cost: batches are made once, and sent again and again under other names.

A batch is a piece of Kafka's own log format (record batch, magic 2). It's made once of invented documents, with a mark
of eight bytes in each document's id; to send it, the mark is replaced by the batch's number, and times and CRC are set.
So every document has an id of its own, while texts, entities, languages and versions come round again after some
thousands. A record costs the sender two microseconds, most of them for the CRC: it leaves the machine to who is
measured.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self, cast

import msgspec
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.producer.message_accumulator import BatchBuilder
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c
from workers import Fleet, until
from workloads import SEED, answers, decision

from monitor.records import Task
from streams.broker import Connection
from streams.declare import ensure
from streams.documents import LabelledDocument, documents
from streams.topics import TopicSpec

MARK = "~~~~~~~~"
"""Stands in a template where the number of the batch will; no text holds it."""
_CRC = struct.Struct(">I")
_CRC_AT, _CHECKED_FROM = 17, 21
_TIMES = struct.Struct(">qq")
_TIMES_AT = 27
VERSIONS = (("1.0", 0.2), ("1.1", 0.35))
"""Of the detector, with the share that each misses; by turns, a template each."""


class Template(NamedTuple):
    """A batch to be sent under many names."""

    data: bytes
    documents: Sequence[LabelledDocument]


class Stock(Mapping[str, LabelledDocument]):
    """Templates of batches; as a mapping, what any document that was ever sent is.

    Parameters
    ----------
    record_bytes
        The most that a decision's JSON takes; few are more than a dozen bytes shorter.
    per_batch
        Records in a batch.
    templates
        How many different batches there are.

    """

    def __init__(self, record_bytes: int, *, per_batch: int = 200, templates: int = 8) -> None:
        self.per_batch = per_batch
        source = documents(SEED)
        self.templates = [
            _template(number, [_cut(next(source), source, record_bytes, number, n) for n in range(per_batch)])
            for number in range(templates)
        ]

    @property
    def record_bytes(self) -> float:
        """Bytes of a record in the log, on average."""
        return sum(len(t.data) for t in self.templates) / (len(self.templates) * self.per_batch)

    def batch(self, number: int, at_ms: int) -> bytes:
        """Return batch `number`, its records dated `at_ms`, as the broker stores it."""
        template = self.templates[number % len(self.templates)].data
        data = bytearray(template.replace(MARK.encode(), f"{number:08x}".encode()))
        _TIMES.pack_into(data, _TIMES_AT, at_ms, at_ms)
        _CRC.pack_into(data, _CRC_AT, calc_crc32c(memoryview(data)[_CHECKED_FROM:]))
        return bytes(data)

    def ids(self, number: int) -> list[str]:
        """Return the ids of the documents in batch `number`."""
        found = self.templates[number % len(self.templates)].documents
        return [document.doc_id.replace(MARK, f"{number:08x}") for document in found]

    def __getitem__(self, doc_id: str) -> LabelledDocument:
        """Return the document that was sent under this id."""
        _, template, place = doc_id.split("-")
        return self.templates[int(template)].documents[int(place)]._replace(doc_id=doc_id)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the templates; those that were sent are without end."""
        return (document.doc_id for template in self.templates for document in template.documents)

    def __len__(self) -> int:
        """Return how many different texts there are."""
        return len(self.templates) * self.per_batch


def _cut(
    document: LabelledDocument, more: Iterator[LabelledDocument], most: int, template: int, place: int
) -> LabelledDocument:
    """Return the beginning of a document, as much as a record takes; of the next one that is long enough."""
    name = f"{MARK}-{template:02d}-{place:03d}"
    whole = document._replace(doc_id=name)
    while len(_value(whole, template)) < most:
        whole = next(more)._replace(doc_id=name)
    kept = whole
    while (over := len(_value(kept, template)) - most) > 0:
        end = len(kept.text) - max(over // 6, 1)
        kept = kept._replace(text=kept.text[:end], labels=[s for s in kept.labels if s.end <= end])
    return kept


def _value(document: LabelledDocument, template: int) -> bytes:
    version, missed = VERSIONS[template % len(VERSIONS)]
    return cast("bytes", decision(document, version, missed)[1])


def _template(number: int, found: Sequence[LabelledDocument]) -> Template:
    made = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, 0, 1 << 30)
    for offset, document in enumerate(found):
        made.append(offset, 0, document.doc_id.encode(), _value(document, number), [])
    return Template(bytes(made.build()), found)


class _Built:
    """A batch that is ready, in the form in which aiokafka's producer takes one."""

    def __init__(self, data: bytes, records: int) -> None:
        self._data = data
        self._records = records

    def _build(self) -> bytes:
        return self._data

    def record_count(self) -> int:
        return self._records

    def size(self) -> int:
        return len(self._data)

    def close(self) -> None:
        """Do nothing: nothing is added to it."""

    def closed(self) -> bool:
        return True


def wall_clock(_number: int) -> int:
    """Return the time (ms) that any batch is dated: now."""
    return time.time_ns() // 1_000_000


RETENTION_CHECKS = "log.retention.check.interval.ms=5000\nlog.segment.delete.delay.ms=1000\n"
"""Of a broker whose topics must stay small; Kafka's own are five minutes and one."""


async def create_topics(fleet: Fleet, retention_bytes: int, segment_bytes: int) -> None:
    """Create a fleet's topics, `decisions` with no more than so many bytes a partition (and up to two segments)."""
    settings = {"retention.ms": "-1", "retention.bytes": str(retention_bytes), "segment.bytes": str(segment_bytes)}
    decisions = TopicSpec(
        name=fleet.topic("decisions"), partitions=fleet.tree.topics.partitions, settings=settings, owned=False
    )
    await ensure(Connection(servers=(fleet.server,)), [decisions])
    made = await asyncio.to_thread(fleet.run, "topics")
    if made.returncode:
        raise RuntimeError(f"recallwatch topics ended with {made.returncode}: {made.stderr[-2000:]}")


class Load:
    """Sends a stock's batches to the partitions of `decisions` by turns.

    Parameters
    ----------
    fleet
        Whose topics.
    stock
        What is sent.
    date
        The time (ms) of a batch's records, by its number.

    """

    def __init__(self, fleet: Fleet, stock: Stock, date: Callable[[int], int] = wall_clock) -> None:
        self.stock = stock
        self.sent = 0
        """Records that the broker has acknowledged."""
        self._fleet = fleet
        self._date = date
        self._next = 0
        self._partitions = fleet.tree.topics.partitions
        self._waiting: set[asyncio.Future[Any]] = set()
        self._producer = AIOKafkaProducer(
            bootstrap_servers=fleet.server, acks=1, max_request_size=4 << 20, request_timeout_ms=60_000
        )

    async def __aenter__(self) -> Self:
        await self._producer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._producer.stop()

    async def send(self, records: int) -> None:
        """Send so many records more, to the next whole batch, as fast as the broker takes them."""
        for _ in range(-(-records // self.stock.per_batch)):
            await self._send_one()
        await self.settled()

    async def send_steadily(self, records: int, per_s: float) -> None:
        """Send so many records more, `per_s` each second; what couldn't be sent in time follows at once."""
        begun = time.monotonic()
        for number in range(-(-records // self.stock.per_batch)):
            early = begun + number * self.stock.per_batch / per_s - time.monotonic()
            if early > 0:
                await asyncio.sleep(early)
            await self._send_one()
        await self.settled()

    async def send_ahead(self, total: int, most: int, read: Callable[[], float]) -> None:
        """Send until `total` were sent, and never more than `most` beyond what `read` says was read."""
        while self.sent < total:
            room = int(min(most - (self.sent - read()), total - self.sent))
            if room >= self.stock.per_batch:
                await self.send(min(room, most // 4))
            else:
                await asyncio.sleep(0.05)

    async def settled(self) -> None:
        """Wait until the broker has all that was sent."""
        await asyncio.gather(*self._waiting)

    async def _send_one(self) -> None:
        number, self._next = self._next, self._next + 1
        built = cast("BatchBuilder", _Built(self.stock.batch(number, self._date(number)), self.stock.per_batch))
        topic = self._fleet.topic("decisions")
        sent = await self._producer.send_batch(built, topic, partition=number % self._partitions)
        self._waiting.add(sent)
        sent.add_done_callback(self._note_sent)

    def _note_sent(self, sent: asyncio.Future[Any]) -> None:
        self._waiting.discard(sent)
        if not sent.cancelled() and sent.exception() is None:
            self.sent += self.stock.per_batch


class Annotators:
    """Answers tasks about a stock's documents as they come, as `workloads.answers` has it."""

    def __init__(self, fleet: Fleet, stock: Stock) -> None:
        self.asked: set[str] = set()
        """Documents that tasks were about."""
        self._fleet = fleet
        self._stock = stock
        self._work: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._work = asyncio.create_task(self._answer_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._work is not None
        self._work.cancel()
        with suppress(asyncio.CancelledError):
            await self._work

    async def finished(self, number: int, within_s: float = 120.0) -> None:
        """Wait until tasks about so many documents were answered."""

        async def all_answered() -> bool:
            assert self._work is not None
            if self._work.done():
                self._work.result()
            return len(self.asked) >= number

        await until(all_answered, within_s, f"tasks about {number} documents")

    async def _answer_all(self) -> None:
        fleet = self._fleet
        consumer = AIOKafkaConsumer(bootstrap_servers=fleet.server, auto_offset_reset="earliest")
        await consumer.start()
        try:
            topic = fleet.topic("annotation_tasks")
            consumer.assign([TopicPartition(topic, number) for number in range(fleet.tree.topics.partitions)])
            await consumer.seek_to_beginning()
            async with fleet.producer() as producer:
                async for record in consumer:
                    task = msgspec.json.decode(record.value, type=Task)
                    for key, value in answers(self._stock[task.doc_id], task):
                        await producer.send(fleet.topic("labels"), value, key=key.encode())
                    self.asked.add(task.doc_id)
        finally:
            await consumer.stop()
