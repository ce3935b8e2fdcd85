"""A worker as seen from outside: memory and CPU by its process, progress by what it shows."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from bench.running import cpu_s
from workers import Fleet

_PAGE = os.sysconf("SC_PAGE_SIZE")


def rss_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


class Sight(NamedTuple):
    """A worker at one moment."""

    at_s: float
    """By `time.monotonic`."""
    rss_bytes: int
    cpu_s: float
    """Since it was started."""
    scrape_s: float
    """How long `/metrics` took to answer."""
    decided: int
    """Decisions counted since it was started; what it shows is up to a second old."""
    lost: int
    """Records that retention removed before they were read."""
    sampled: int
    """Documents drawn."""


async def look(fleet: Fleet, number: int) -> Sight:
    """Return how worker `number` is now.

    Raises
    ------
    RuntimeError
        It has ended, or doesn't answer.

    """
    pid = fleet.workers[number].process.pid
    begun = time.monotonic()
    samples = await fleet.metrics(number)
    scrape_s = time.monotonic() - begun
    if not samples:
        worker = fleet.workers[number]
        raise RuntimeError(f"{worker.log.name}: {'no answer' if worker.runs else 'the worker has ended'}")
    decided, lost, sampled = (
        _sum(samples, f"recallwatch_{name}_total") for name in ("decisions", "lost_records", "sampled_documents")
    )
    return Sight(begun, rss_bytes(pid), cpu_s(pid), scrape_s, decided, lost, sampled)


def _sum(samples: Mapping[str, float], metric: str) -> int:
    return int(sum(value for name, value in samples.items() if name.partition("{")[0] == metric))


class Committed:
    """How much of `decisions` a fleet has read and made durable, by its group's commits; 2 to 3 s old.

    Unlike a scrape it costs the worker nothing.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._group = fleet.tag
        self._places = [TopicPartition(fleet.topic("decisions"), n) for n in range(fleet.tree.topics.partitions)]
        self._client = AIOKafkaAdminClient(bootstrap_servers=fleet.server)

    async def __aenter__(self) -> Self:
        await self._client.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def records(self) -> int:
        """Return how many records, all partitions together."""
        found = await self._client.list_consumer_group_offsets(self._group, partitions=self._places)
        return sum(max(place.offset, 0) for place in found.values())
