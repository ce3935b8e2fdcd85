"""The first reference: aiokafka and msgspec, with nothing around them. `python -m bench.readers.bare SERVER TOPIC N`.

The settings are the best of those tried on transcripts of 5 KB, on a busy machine, by turns, two to five rounds each.
A fetch of 4 MiB a partition won; medians of the extra CPU: 35 % at 256 KiB, 14 % at 1 MiB (the default), 14 % at 8 MiB,
6 % at 16 MiB. `check_crcs` is off, as in librdkafka.
"""

from __future__ import annotations

import asyncio
import sys

import msgspec
from aiokafka import AIOKafkaConsumer
from bench.readers.stopwatch import Stopwatch

from monitor.records import Decision


async def read(server: str, topic: str, total: int, fetch_bytes: int = 4 << 20) -> None:
    """Decode so many decisions, from the topic's beginning."""
    consumer = AIOKafkaConsumer(  # without a group it reads all partitions
        topic,
        bootstrap_servers=server,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        check_crcs=False,
        max_partition_fetch_bytes=fetch_bytes,
    )
    await consumer.start()
    try:
        watch, decode = Stopwatch(total), msgspec.json.Decoder(Decision).decode
        while True:
            for records in (await consumer.getmany(timeout_ms=1000)).values():
                for record in records:
                    decode(record.value)
                if watch.count(len(records)):
                    return
    finally:
        await consumer.stop()


if __name__ == "__main__":
    asyncio.run(read(sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(int, sys.argv[4:])))
