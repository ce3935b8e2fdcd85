"""One run of a worker, or of a program that it is compared with: how long it took, and what it cost.

A worker is started as its users start it, on a topic that is full, in a group of its own. It isn't asked how far it
is: the documents that it draws, 1 % of all, tell that by their number and by the time at which each was sent. So the
clock is the worker's own, to the millisecond, and looking at it costs the worker nothing.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from aiokafka import AIOKafkaConsumer, TopicPartition
from bench.filling import Filled, document_id, number_in
from bench.lab import ROOT
from bench.readers.stopwatch import SKIPPED
from workers import Fleet

from monitor.config import Config
from monitor.sampling import Sampler

PEERS = ROOT / ".cache" / "bench-peers"
"""The venv of the programs that can't be installed beside the product; `tests/bench/run` makes it."""
PATIENCE_S = 300.0
CPU_EVERY_S = 0.02
_TICKS = os.sysconf("SC_CLK_TCK")


class Run(msgspec.Struct, frozen=True):
    """What was measured between two moments of a run."""

    decisions: int
    wall_s: float
    cpu_s: float
    """Of the whole process, all its threads."""

    @property
    def rate(self) -> float:
        """Decisions a second."""
        return self.decisions / self.wall_s

    @property
    def cpu_per_100k(self) -> float:
        """CPU seconds per 100,000 decisions."""
        return self.cpu_s / self.decisions * 100_000


class Seen(NamedTuple):
    """A drawn document on its topic."""

    at_s: float
    """When it was sent; seconds since the epoch."""
    number: int


# -- programs to compare with ----------------------------------------------------------------------------------------


def run_reader(module: str, arguments: Sequence[object], python: Path | str = sys.executable) -> Run:
    """Run one of `bench.readers` to its end and return what it measured."""
    command = [str(python), "-P", "-m", f"bench.readers.{module}", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{module} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Run)


# -- the worker ------------------------------------------------------------------------------------------------------


def run_worker(filled: Filled, folder: Path, settings: Iterable[str], config: Path | None = None) -> Run:
    """Have a worker read a topic from its beginning, in a new group and on new topics of its own.

    Raises
    ------
    RuntimeError
        Where it doesn't come to the topic's end in time, or draws other documents than it should.
    """
    tag = f"b{uuid.uuid4().hex[:8]}"
    own = (f"topics.decisions={filled.topic}", "checkpoint.interval_s=0.5", *settings)
    fleet = Fleet(filled.server, tag, folder, own, config)
    made = fleet.run("topics")
    if made.returncode:
        raise RuntimeError(f"recallwatch topics ended with {made.returncode}: {made.stderr[-2000:]}")
    try:
        return asyncio.run(_measure(fleet, filled))
    finally:
        fleet.kill()


async def _measure(fleet: Fleet, filled: Filled) -> Run:
    expected = drawn_numbers(fleet.tree, filled.records)
    worker = fleet.start(0)
    used: list[tuple[float, float]] = []
    watching = asyncio.create_task(_watch(worker.process.pid, used))
    try:
        seen = await asyncio.wait_for(_read_drawn(fleet, filled.partitions, expected), PATIENCE_S)
    except TimeoutError:
        raise RuntimeError(f"the worker isn't at the end: {worker.log.read_text()[-2000:]}") from None
    finally:
        watching.cancel()
    await fleet.end(0)
    return measured(seen, used, filled)


def drawn_numbers(config: Config, records: int) -> set[int]:
    """Return which documents of a topic a worker draws; nothing but their ids decides where `loose_rate` is 0."""
    sampler = Sampler(config.sampling)
    return {number for number in range(records) if sampler.draw(document_id(number), "en", "unflagged")}


async def _watch(pid: int, used: list[tuple[float, float]]) -> None:
    """Note the process's CPU seconds over time."""
    with suppress(FileNotFoundError, ProcessLookupError):
        while True:
            used.append((time.time(), cpu_s(pid)))
            await asyncio.sleep(CPU_EVERY_S)


def cpu_s(pid: int) -> float:
    """Return the CPU seconds that a process has used so far, all its threads together (proc(5), utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


async def _read_drawn(fleet: Fleet, partitions: int, expected: set[int]) -> list[Seen]:
    """Return the drawn documents in the order of their sending, once all that are expected were there."""
    consumer = AIOKafkaConsumer(bootstrap_servers=fleet.server, auto_offset_reset="earliest", fetch_min_bytes=1 << 20)
    await consumer.start()
    seen: dict[int, float] = {}
    try:
        consumer.assign([TopicPartition(fleet.topic("sampled"), number) for number in range(partitions)])
        while len(seen) < len(expected):
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    seen.setdefault(number_in(record.key), record.timestamp / 1000)
    finally:
        await consumer.stop()
    if seen.keys() != expected:
        raise RuntimeError(f"{len(seen.keys() - expected)} documents were drawn that shouldn't be")
    return sorted(Seen(at_s, number) for number, at_s in seen.items())


def measured(seen: Sequence[Seen], used: Sequence[tuple[float, float]], filled: Filled) -> Run:
    """Return what was measured from `SKIPPED` of the topic on to its end.

    Parameters
    ----------
    seen
        Drawn documents in the order of their sending. The last one of a millisecond ends a chunk: how far reading was.
    used
        Times (seconds since the epoch) with the CPU seconds that were used up to then.
    """
    reached: dict[int, int] = {}
    steps: dict[float, int] = {}
    for at_s, number in seen:
        partition = number % filled.partitions
        reached[partition] = max(reached.get(partition, 0), number // filled.partitions + 1)
        steps[at_s] = sum(reached.values())
    begin = next(at_s for at_s, counted in steps.items() if counted >= SKIPPED * filled.records)
    end = seen[-1].at_s
    if not begin < end:
        raise RuntimeError(f"{filled.records} records are too few to measure on")
    times, seconds = zip(*used, strict=True)
    cpu_begin, cpu_end = np.interp([begin, end], times, seconds)
    return Run(steps[end] - steps[begin], end - begin, float(cpu_end - cpu_begin))
