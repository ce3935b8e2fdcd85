"""The product as a user runs it: `recallwatch worker` processes on a broker, what they show, and what topics hold."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import aiohttp
import msgspec
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from monitor.config import Config, config_id
from monitor.fold import Channel
from monitor.history import History
from monitor.readings import BoardSnapshot
from monitor.records import Record
from streams.settings import load_settings

ROOT = Path(__file__).parents[1]
LOUD = ("Traceback", "Task exception was never retrieved", "was never awaited", "Unclosed ")
"""What no log may hold, whatever happens to workers and brokers."""


@dataclass
class Worker:
    """A worker's process and what it writes."""

    process: subprocess.Popen[bytes]
    log: Path
    _url: str = ""

    def lines(self) -> list[dict[str, object]]:
        """Return its log, line by line; a line that is no JSON stands under `raw`."""
        found: list[dict[str, object]] = []
        for line in self.log.read_text().splitlines():
            try:
                found.append(msgspec.json.decode(line, type=dict[str, object]))
            except msgspec.DecodeError:
                found.append({"raw": line})
        return found

    def said(self, event: str) -> list[dict[str, object]]:
        """Return the lines of one event."""
        return [line for line in self.lines() if line.get("event") == event]

    @property
    def url(self) -> str:
        """Where its page is; empty as long as it doesn't listen."""
        if not self._url:
            pages = self.said("page")
            self._url = str(pages[-1]["url"]) if pages else ""
        return self._url

    @property
    def runs(self) -> bool:
        """Whether it hasn't ended."""
        return self.process.poll() is None


@dataclass
class Fleet:
    """Topics of their own on a broker, and the workers that read them.

    Parameters
    ----------
    server
        The broker.
    tag
        Prefix of topics and group.
    folder
        Where logs go.
    settings
        `KEY=VALUE`, for every command.
    config
        The settings file of every command; None is none.
    direct
        Where the tests' own clients connect; empty: at the broker, as the workers do.
    program
        What Python runs; the product's command line, or one that is it and more.

    """

    server: str
    tag: str
    folder: Path
    settings: tuple[str, ...] = ()
    config: Path | None = None
    direct: str = ""
    program: tuple[str, ...] = ("-m", "streams.cli")
    environment: Mapping[str, str] = field(default_factory=dict)
    workers: dict[int, Worker] = field(default_factory=dict)
    started: list[Worker] = field(default_factory=list)

    # -- commands ----------------------------------------------------------------------------------------------------

    @property
    def overrides(self) -> list[str]:
        """What is set for every command."""
        own = [f"topics.{channel}={self.topic(channel)}" for channel in get_args(Channel)]
        own += [f"kafka.brokers={self.server}", f"kafka.group={self.tag}", "kafka.session_timeout_s=6.0"]
        own += ["kafka.rebalance_timeout_s=6.0", "http.port=0", "checkpoint.interval_s=0.2"]
        return [*own, "sampling.key=a key of the tests", *self.settings]

    @property
    def tree(self) -> Config:
        """The settings that every command has."""
        return load_settings(self.config, self.overrides, {}).config

    @property
    def plan_id(self) -> str:
        """The id of the settings as they stand now."""
        return config_id(self.tree)

    def command(self, name: str, *arguments: str) -> list[str]:
        """Return the command line of one of the product's commands."""
        # `up` has a broker of its own, and refuses another one
        wanted = [override for override in self.overrides if (name, override[:14]) != ("up", "kafka.brokers=")]
        sets = [part for override in wanted for part in ("--set", override)]
        file = ["--config", str(self.config)] if self.config else []
        return [sys.executable, "-P", *self.program, name, *file, *sets, *arguments]

    def environ(self) -> dict[str, str]:
        """Return the environment of a command: the package is found wherever it is started."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RECALLWATCH_")}
        return {**kept, "PYTHONPATH": str(ROOT), **self.environment}

    def run(self, name: str, *arguments: str, within_s: float = 60.0) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(name, *arguments),
            cwd=self.folder,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )

    def start(self, number: int, command: str = "worker", *arguments: str) -> Worker:
        """Start worker `number`, each time with a log of its own."""
        log = self.folder / f"{command}-{number}-{len(self.started)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.command(command, *arguments),
                cwd=self.folder,
                env=self.environ(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        self.workers[number] = worker = Worker(process, log)
        self.started.append(worker)
        return worker

    async def end(self, number: int, sig: signal.Signals = signal.SIGTERM, within_s: float = 45.0) -> int:
        """Send worker `number` a signal and return its exit code."""
        process = self.workers[number].process
        process.send_signal(sig)
        return await asyncio.to_thread(process.wait, within_s)

    async def end_all(self) -> list[int]:
        """Ask all workers to end; return their exit codes."""
        return list(await asyncio.gather(*(self.end(number) for number in self.workers)))

    def kill(self) -> None:
        """End what still runs."""
        for worker in self.started:
            if worker.runs:
                worker.process.kill()
                worker.process.wait()

    def noise(self) -> list[str]:
        """Return the lines of all logs that an operator shouldn't have to read."""
        return [
            f"{worker.log.name}: {line}"
            for worker in self.started
            for line in worker.log.read_text().splitlines()
            if any(word in line for word in LOUD)
        ]

    # -- what workers show -------------------------------------------------------------------------------------------

    async def ready(self, *numbers: int, times: int = 1, within_s: float = 60.0) -> None:
        """Wait until the workers read, for the `times`th time since each was started, and say that they are ready."""

        async def all_ready() -> bool:
            for number in numbers:
                worker = self.workers[number]
                assert worker.runs, f"{worker.log.name}: {worker.log.read_text()[-3000:]}"
                read = len(worker.said("reading_from")) >= times
                # not /readyz: it waits until a rebalance has lasted for long before it says no
                if not read or (await self.metrics(number)).get("recallwatch_ready") != 1:
                    return False
            return True

        await until(all_ready, within_s, f"workers {numbers} ready")

    async def get(self, number: int, path: str) -> tuple[int, str]:
        """Return status and body of a page of worker `number`; 0 where nobody answers."""
        url = self.workers[number].url
        if not url:
            return 0, ""
        try:
            async with aiohttp.ClientSession() as session, session.get(url + path) as response:
                return response.status, await response.text()
        except aiohttp.ClientError:
            return 0, ""

    async def board(self) -> BoardSnapshot | None:
        """Return what the worker that is the board says; None while none is."""
        for number, worker in self.workers.items():
            if worker.runs:
                status, body = await self.get(number, "api/board")
                if status == 200:
                    return msgspec.json.decode(body, type=BoardSnapshot)
        return None

    async def decided(self, number: int) -> float:
        """Return how many decisions worker `number` has counted since it was started."""
        samples = await self.metrics(number)
        return sum(value for name, value in samples.items() if name.startswith("recallwatch_decisions_total"))

    async def deciding(self, *numbers: int, within_s: float = 60.0) -> None:
        """Wait until each of the workers has counted a decision."""

        async def all_deciding() -> bool:
            return all([await self.decided(number) for number in numbers])

        await until(all_deciding, within_s, f"workers {numbers} count decisions")

    async def metrics(self, number: int) -> dict[str, float]:
        """Return the samples of a worker by name, labels included."""
        _, body = await self.get(number, "metrics")
        samples = (line.rpartition(" ") for line in body.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in samples}

    # -- topics ------------------------------------------------------------------------------------------------------

    def topic(self, channel: str) -> str:
        """Return the name of a channel's topic."""
        return f"{self.tag}-{channel}"

    @property
    def server_for_tests(self) -> str:
        """Where the tests' own clients connect."""
        return self.direct or self.server

    def producer(self, codec: str | None = None) -> AIOKafkaProducer:
        """Return a producer that waits out a broker that is started again."""
        return AIOKafkaProducer(
            bootstrap_servers=self.server_for_tests, linger_ms=5, compression_type=codec, request_timeout_ms=180_000
        )

    async def send(
        self,
        channel: str,
        records: Iterable[tuple[str, bytes | None]],
        *,
        codec: str | None = None,
        pause_s: float = 0.0,
    ) -> None:
        """Send keyed records, with a pause after each hundred."""
        producer = self.producer(codec)
        await producer.start()
        try:
            sent = []
            for number, (key, value) in enumerate(records, start=1):
                sent.append(await producer.send(self.topic(channel), value, key=key.encode()))
                if pause_s and number % 100 == 0:
                    await asyncio.sleep(pause_s)
            await asyncio.gather(*sent)
        finally:
            await producer.stop()

    async def read(self, channel: str, partitions: int) -> list[ConsumerRecord[bytes, bytes]]:
        """Return all that a channel's topic holds, in order within each partition."""
        return await self.read_topic(self.topic(channel), partitions)

    async def read_topic(self, topic: str, partitions: int) -> list[ConsumerRecord[bytes, bytes]]:
        """Return all that a topic holds, in order within each partition."""
        places = [TopicPartition(topic, number) for number in range(partitions)]
        consumer = AIOKafkaConsumer(bootstrap_servers=self.server_for_tests, auto_offset_reset="earliest")
        await consumer.start()
        try:
            consumer.assign(places)
            await consumer.seek_to_beginning()
            ends = await consumer.end_offsets(places)
            found: list[ConsumerRecord[bytes, bytes]] = []
            while any([await consumer.position(place) < ends[place] for place in places]):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    found += records
            return found
        finally:
            await consumer.stop()

    async def history(self) -> History:
        """Return what the history topic says."""
        history = History()
        for record in await self.read("history", 1):
            history.take(record.key, record.value)
        return history

    async def by_partition(self, channel: str, partitions: int) -> dict[int, list[Record]]:
        """Return the records of a topic as a stage sees them."""
        found: dict[int, list[Record]] = {number: [] for number in range(partitions)}
        for r in await self.read(channel, partitions):
            found[r.partition].append(Record(r.offset, r.timestamp, r.value, r.key))
        return found


async def until(condition: Callable[[], Awaitable[bool]], within_s: float, what: str, *, every_s: float = 0.1) -> None:
    """Wait until `condition` holds; fail with `what` when the time is over."""
    end = time.monotonic() + within_s
    while not await condition():
        assert time.monotonic() < end, f"not within {within_s:.0f} s: {what}"
        await asyncio.sleep(every_s)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that still run, theirs included."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in thread.read_text().split():
            found += [int(child), *children(int(child))]
    return found


def runs(pid: int) -> bool:
    """Tell whether a process is there and is no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
