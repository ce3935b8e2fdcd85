"""Runs toy workers against a broker, breaks them, and counts what came of every document."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import toys
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

ROOT = Path(__file__).parents[1]


class Outcome(NamedTuple):
    """What is to be read of `n` documents after a run, whatever happened in it."""

    counted: int
    total: int
    sampled: frozenset[str]
    kept: frozenset[str]
    labelled: frozenset[str]

    @classmethod
    def expected(cls, documents: Iterable[str], labels: Iterable[str]) -> Outcome:
        """Return what an undisturbed run gives."""
        names = list(documents)
        drawn = frozenset(name for name in names if toys.drawn(name))
        return cls(len(names), sum(map(toys.digest, names)), drawn, drawn, frozenset(labels))


@dataclass
class Delivery:
    """Topics of their own on a broker, and the workers that read them."""

    server: str
    tag: str
    folder: Path
    arguments: Mapping[str, object] = field(default_factory=dict)
    workers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    # -- workers -----------------------------------------------------------------------------------------------------

    def start(self, number: int, **arguments: object) -> subprocess.Popen[bytes]:
        """Start worker `number`, with its log in the folder."""
        told = {"servers": self.server, "tag": self.tag, **self.arguments, **arguments}
        environment = {**os.environ, **self.environment, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
        with self.log(number).open("ab") as out:
            worker = subprocess.Popen(
                [sys.executable, str(ROOT / "tests" / "toys.py"), json.dumps(told)],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        self.workers[number] = worker
        return worker

    def log(self, number: int) -> Path:
        """Return where worker `number` writes."""
        return self.folder / f"worker{number}.log"

    async def reading(self, number: int, times: int = 1, within_s: float = 60.0) -> None:
        """Wait until worker `number` (or its predecessors) began to read for the `times`th time."""
        until = time.monotonic() + within_s
        while self.log(number).read_text().count("reading_from") < times:
            if time.monotonic() > until:
                raise TimeoutError(f"worker {number}: {self.log(number).read_text()[-3000:]}")
            await asyncio.sleep(0.1)

    def send(self, number: int, sig: signal.Signals) -> None:
        """Send worker `number` a signal."""
        self.workers[number].send_signal(sig)

    def wait(self, number: int, within_s: float = 30.0) -> int:
        """Wait for the end of worker `number` and return its exit code."""
        return self.workers[number].wait(within_s)

    def restart_ended(self) -> int:
        """Start workers again that have ended; return how many."""
        ended = [number for number, worker in self.workers.items() if worker.poll() is not None]
        for number in ended:
            self.start(number)
        return len(ended)

    def stop(self) -> dict[int, int]:
        """End all workers in order; return their exit codes."""
        for worker in self.workers.values():
            if worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
                worker.terminate()
        return {number: self.wait(number) for number in self.workers}

    def kill(self) -> None:
        """End what still runs, whatever its state."""
        for worker in self.workers.values():
            if worker.poll() is None:
                worker.kill()
                worker.wait()

    # -- records -----------------------------------------------------------------------------------------------------

    async def produce(
        self, channel: str, documents: Iterable[str], *, pause_s: float = 0.0, codec: str | None = None
    ) -> None:
        """Send a record for each document, with a pause after each thousand."""
        producer = AIOKafkaProducer(
            bootstrap_servers=self.server, linger_ms=5, compression_type=codec, request_timeout_ms=180_000
        )
        await producer.start()
        try:
            topic = toys.channel_topics(self.tag)[channel]  # type: ignore[index]  # a channel's name
            for number, name in enumerate(documents):
                value = json.dumps({"doc_id": name, "text": "t" * 200}).encode()
                # labels come from a tool that knows nothing of our keys
                await producer.send(topic, value, key=name.encode() if channel != "labels" else b"tool")
                if pause_s and number % 1000 == 999:
                    await asyncio.sleep(pause_s)
            await producer.flush()
        finally:
            await producer.stop()

    async def read(self, topic: str, partitions: int) -> list[tuple[bytes, bytes | None]]:
        """Return keys and values of all that a topic holds."""
        places = [TopicPartition(topic, number) for number in range(partitions)]
        consumer = AIOKafkaConsumer(bootstrap_servers=self.server, auto_offset_reset="earliest")
        await consumer.start()
        try:
            consumer.assign(places)
            await consumer.seek_to_beginning()
            ends = await consumer.end_offsets(places)
            found: list[tuple[bytes, bytes | None]] = []
            while any([await consumer.position(place) < ends[place] for place in places]):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    found += [(record.key, record.value) for record in records]
            return found
        finally:
            await consumer.stop()

    async def last(self, topic: str) -> bytes | None:
        """Return the last value of a topic of one partition; None where it is empty."""
        place = TopicPartition(topic, 0)
        consumer = AIOKafkaConsumer(bootstrap_servers=self.server, auto_offset_reset="earliest")
        await consumer.start()
        try:
            consumer.assign([place])
            await consumer.seek_to_beginning()
            value = None
            while records := (await consumer.getmany(timeout_ms=500)).get(place):
                value = records[-1].value
            return value
        finally:
            await consumer.stop()

    async def outcome(self) -> Outcome:
        """Return what the topics say now."""
        topics = toys.channel_topics(self.tag)
        heads = dict(await self.read(f"{self.tag}-count-changelog", toys.PARTITIONS))
        states = [json.loads(value) for value in heads.values() if value]
        sampled = {key.decode() for key, _ in await self.read(topics["sampled"], toys.PARTITIONS)}
        rows = {
            key.decode().partition("/")[2] for key, _ in await self.read(f"{self.tag}-keep-changelog", toys.PARTITIONS)
        }
        kept, labelled = set(), set()
        for row in rows - {""}:
            channel, _, name = row.partition(":")
            (kept if channel == "sampled" else labelled).add(name)
        return Outcome(
            sum(s["count"] for s in states),
            sum(s["total"] for s in states),
            frozenset(sampled),
            frozenset(kept),
            frozenset(labelled),
        )

    async def settle(self, expected: Outcome, within_s: float) -> Outcome:
        """Wait until the outcome is as expected, or the time is over; workers that ended are started again."""
        until = time.monotonic() + within_s
        while (outcome := await self.outcome()) != expected and time.monotonic() < until:
            self.restart_ended()
            await asyncio.sleep(0.5)
        return outcome

    async def committed(self) -> dict[TopicPartition, tuple[int | None, int]]:
        """Return committed offset and end of each partition of `decisions`."""
        topic = toys.channel_topics(self.tag)["decisions"]
        places = [TopicPartition(topic, number) for number in range(toys.PARTITIONS)]
        consumer = AIOKafkaConsumer(bootstrap_servers=self.server, group_id=self.tag, enable_auto_commit=False)
        await consumer.start()
        try:
            consumer.assign(places)
            ends = await consumer.end_offsets(places)
            return {place: (await consumer.committed(place), ends[place]) for place in places}
        finally:
            await consumer.stop()
