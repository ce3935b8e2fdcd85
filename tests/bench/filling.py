"""Topics full of decisions to measure on: generated transcripts with their personal data, joined or cut to a size.

Document `n` of a topic has the id `document_id(n)`, which is its key too, and stands in partition `n % partitions` at
offset `n // partitions`. The texts are a thousand distinct ones, in turns.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import msgspec
from aiokafka import AIOKafkaProducer
from bench.redacting import with_outputs

from monitor.records import Decision, Span
from streams.broker import Connection
from streams.declare import ensure
from streams.documents import LabelledDocument, documents
from streams.topics import TopicSpec

SEED = 11
TEXTS = 1000
BATCH_BYTES = 128 * 1024
"""Of a batch, before it is compressed: what a busy producer sends within a few milliseconds."""
_ID = "bench-{:09d}"
_ACCENTED = 4
"""Of so many texts one keeps its accents; the others are ASCII."""
_MISSED = 5
"""Of so many pieces of personal data the detector misses one."""


class Filled(NamedTuple):
    """A topic that is full."""

    server: str
    topic: str
    records: int
    partitions: int
    bytes: int
    """Of a record's value, on average."""


def document_id(number: int) -> str:
    """Return the id of a topic's document.

    >>> document_id(12), number_in(b"bench-000000012")
    ('bench-000000012', 12)
    """
    return _ID.format(number)


def number_in(key: bytes) -> int:
    """Return the number of the document with this id."""
    return int(key[-9:])


# -- decisions -------------------------------------------------------------------------------------------------------


def transcripts(size: int) -> Iterator[LabelledDocument]:
    """Yield texts of `size` code points, each of several documents in one language, joined and cut."""
    parts: dict[str, list[LabelledDocument]] = {}
    for document in documents(SEED):
        waiting = parts.setdefault(document.lang, [])
        waiting.append(document)
        if sum(len(part.text) + 1 for part in waiting) > size:
            yield _joined(waiting, size)
            waiting.clear()


def in_ascii(text: str) -> str:
    """Return the text with its letters' accents left out, as many a tool writes it; as long as it was.

    >>> in_ascii("Zoë – 12 €")
    'Zoe ? 12 ?'
    """
    folded = (unicodedata.normalize("NFKD", letter)[0] for letter in text)
    return "".join(folded).encode("ascii", "replace").decode()


def _joined(parts: list[LabelledDocument], size: int) -> LabelledDocument:
    labels: list[Span] = []
    start = 0
    for part in parts:
        labels += [Span(start + s.start, start + s.end, s.entity) for s in part.labels if start + s.end <= size]
        start += len(part.text) + 1
    return LabelledDocument("", parts[0].lang, "\n".join(part.text for part in parts)[:size], labels)


@lru_cache(maxsize=4)
def encoded(size: int, texts: int = TEXTS, *, outputs: bool = False) -> tuple[bytes, ...]:
    """Return decisions of about `size` bytes as they stand on the wire, without the beginning that holds the id.

    With `outputs` each has its redacted text besides, which makes it twice as large (`bench.redacting`).
    """
    overhead = 110 + size // 18  # names, spans and escapes
    found = decisions(size - overhead)
    if outputs:
        found = with_outputs(found)
    return tuple(msgspec.json.encode(d).removeprefix(b'{"doc_id":"-') for d in islice(found, texts))


def decisions(length: int) -> Iterator[Decision]:
    """Yield decisions about texts of so many code points, most of them in ASCII; the id is for others to give."""
    for number, transcript in enumerate(transcripts(length)):
        text = in_ascii(transcript.text) if number % _ACCENTED else transcript.text
        spans = [Span(s.start, s.end, s.entity, 0.9) for n, s in enumerate(transcript.labels) if n % _MISSED]
        yield Decision("-", transcript.lang, text, "bench", "1.0", spans)


def records(numbers: range, size: int, *, outputs: bool = False) -> Iterator[tuple[bytes, bytes]]:
    """Yield key and value of the documents with these numbers."""
    rest = encoded(size, outputs=outputs)
    for number in numbers:
        key = document_id(number).encode()
        yield key, b'{"doc_id":"' + key + rest[number % len(rest)]


# -- sending ---------------------------------------------------------------------------------------------------------


async def fill(
    server: str,
    topic: str,
    count: int,
    size: int,
    *,
    codec: str | None = None,
    partitions: int = 4,
    outputs: bool = False,
) -> Filled:
    """Make a topic and put `count` decisions of about `size` bytes into it.

    Parameters
    ----------
    codec
        What its batches are compressed with; None is nothing.
    outputs
        Whether each has its redacted text, too.
    """
    await create(server, topic, partitions)
    producer = AIOKafkaProducer(bootstrap_servers=server, compression_type=codec, max_batch_size=BATCH_BYTES, acks=1)
    await producer.start()
    try:
        # a batch of each partition goes with a request, and never two of one
        numbers = [range(partition, count, partitions) for partition in range(partitions)]
        parts = [
            _fill_partition(producer, topic, partition, records(own, size, outputs=outputs))
            for partition, own in enumerate(numbers)
        ]
        sent = sum(await asyncio.gather(*parts))
    finally:
        await producer.stop()
    return Filled(server, topic, count, partitions, sent // count)


async def create(server: str, topic: str, partitions: int) -> None:
    """Make a topic as a producer of decisions would, and wait until it can be written to."""
    spec = TopicSpec(name=topic, partitions=partitions, settings={"cleanup.policy": "delete"}, owned=False)
    await ensure(Connection(servers=(server,)), [spec])


async def _fill_partition(
    producer: AIOKafkaProducer, topic: str, partition: int, found: Iterator[tuple[bytes, bytes]]
) -> int:
    """Send whole batches, one after the other; return the bytes of all values.

    A record at a time would take longer than what is measured on them.
    """
    batch, sent = producer.create_batch(), 0
    last: asyncio.Future[object] | None = None
    for key, value in found:
        if batch.append(key=key, value=value, timestamp=None) is None:
            if last is not None:
                await last
            last = await producer.send_batch(batch, topic, partition=partition)
            batch = producer.create_batch()
            batch.append(key=key, value=value, timestamp=None)
        sent += len(value)
    await (await producer.send_batch(batch, topic, partition=partition))
    return sent
