"""What a worker needs when there is more of everything: memory after ten times the decisions, CPU of more workers."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from bench.lab import Lab
from bench.loading import RETENTION_CHECKS, Annotators, Load, Stock, create_topics
from bench.rows import Row
from bench.running import cpu_s
from bench.watching import Committed, look, rss_bytes
from brokers import running_kafka
from workers import Fleet, until
from workloads import comparable, wait_for_readings

from monitor.sampling import Sampler

MIB = 1 << 20
FLAT = 1.05
EVERY_S = 1.0
SAID_EVERY_S = 10.0
NEAR = 0.05
"""How far from a point, as a share of it, memory is looked at for that point."""


# -- memory ----------------------------------------------------------------------------------------------------------

POINTS = (1_000_000, 10_000_000)
QUICK_POINTS = (200_000, 2_000_000)
SMALL_RECORD = 500
SAMPLED = 0.0001
"""Share of the documents that are drawn. They stay for 37 days, rightly so: at 1 % the ledger would be measured."""
AHEAD = 300_000
"""Records that the producer may be ahead of the group's commits: 40 MB a partition, less than is retained."""
RETAINED, SEGMENT = 160 * MIB, 16 * MIB


class Grown(NamedTuple):
    """A worker's memory after so many decisions."""

    decided: int
    rss_bytes: int


def memory(lab: Lab) -> Iterator[Row]:
    """Measure a worker's memory at two points of one run, on a broker of its own that soon deletes what was read."""
    smaller, larger = QUICK_POINTS if lab.quick else POINTS
    lab.say("writing documents")
    stock = Stock(SMALL_RECORD)
    with running_kafka(lab.folder / "memory", RETENTION_CHECKS) as kafka:
        yield memory_row(lab, kafka.server, stock, smaller, larger)


def memory_row(lab: Lab, server: str, stock: Stock, smaller: int, larger: int) -> Row:
    """Return the row that compares a worker's memory after `larger` decisions with that after `smaller`."""
    fleet = _fleet(lab, server, f"sampling.random_rate={SAMPLED}")
    try:
        seen = asyncio.run(_grow(lab, fleet, stock, larger))
    finally:
        fleet.kill()
    before, after = near(seen, smaller), near(seen, larger)
    note = (
        f"lowest and highest {min(after) / MIB:.1f}–{max(after) / MIB:.1f} MiB at the end, "
        f"{min(before) / MIB:.1f}–{max(before) / MIB:.1f} before; "
        f"{stock.record_bytes:.0f} bytes a record in the log, all read; {SAMPLED:.2%} drawn, so that the ledger, which "
        f"keeps a drawn document for the window, grew by some {SAMPLED * (larger - smaller):.0f} documents in between"
    )
    value, reference = statistics.median(after) / MIB, statistics.median(before) / MIB
    return Row(
        name=f"memory of a worker after {larger:,} decisions",
        unit="MiB RSS",
        value=value,
        reference=reference,
        compared_with=f"after {smaller:,}",
        ratio=value / reference,
        bar=FLAT,
        sense="<=",
        note=note if value / reference > 2 - FLAT else f"it fell by more than 5 %; {note}",
    )


def near(seen: Sequence[Grown], point: int) -> list[int]:
    """Return the memory around a point; of the nearest moment where none is close.

    >>> near([Grown(90, 1), Grown(97, 2), Grown(104, 3)], 100), near([Grown(50, 1)], 100)
    ([2, 3], [1])
    """
    close = [one.rss_bytes for one in seen if abs(one.decided - point) <= NEAR * point]
    return close or [min(seen, key=lambda one: abs(one.decided - point)).rss_bytes]


async def _grow(lab: Lab, fleet: Fleet, stock: Stock, total: int) -> list[Grown]:
    """Have a worker read `total` decisions that are sent meanwhile; return its memory over its way."""
    await create_topics(fleet, RETAINED, SEGMENT)
    pid = fleet.start(0).process.pid
    await fleet.ready(0)
    seen = [Grown(0, rss_bytes(pid))]
    said = begun = time.monotonic()
    async with Load(fleet, stock) as load, Annotators(fleet, stock), Committed(fleet) as committed:
        sending = asyncio.create_task(load.send_ahead(total, AHEAD, lambda: seen[-1].decided))
        while seen[-1].decided < total:
            await asyncio.sleep(EVERY_S)
            _check(sending)
            seen.append(Grown(await committed.records(), rss_bytes(pid)))
            if time.monotonic() - said > SAID_EVERY_S:
                said = time.monotonic()
                rate = seen[-1].decided / (said - begun)
                lab.say(f"{seen[-1].decided:,} of {total:,}, {rate:,.0f} a second, {seen[-1].rss_bytes / MIB:.1f} MiB")
        await sending
    await _all_counted(fleet, load.sent)
    await fleet.end(0)
    return seen


def _check(task: asyncio.Task[None]) -> None:
    """Raise what a task that goes on beside has failed with, if it has."""
    if task.done():
        task.result()


async def _all_counted(fleet: Fleet, sent: int) -> None:
    """Wait until the workers show that they counted every decision once; fail where retention was faster."""
    within = time.monotonic() + 30
    while True:
        sights = [await look(fleet, number) for number in fleet.workers]
        decided, lost = sum(s.decided for s in sights), sum(s.lost for s in sights)
        if lost or time.monotonic() > within:
            raise RuntimeError(f"{decided:,} decisions counted of {sent:,}, {lost:,} lost to retention")
        if decided == sent:
            return
        await asyncio.sleep(0.5)


def _fleet(lab: Lab, server: str, *settings: str) -> Fleet:
    tag = f"g{uuid.uuid4().hex[:8]}"
    folder = lab.folder / tag
    folder.mkdir(parents=True)
    usual = ("sampling.loose_rate=0.0", "checkpoint.interval_s=0.5", "kafka.session_timeout_s=60.0")
    return Fleet(server, tag, folder, (*usual, *settings))


# -- workers ---------------------------------------------------------------------------------------------------------

COUNTS = (1, 2, 4)
DECISIONS, QUICK_DECISIONS = 200_000, 60_000
RECORD = 1_000
WARM_UP = 0.1
"""Of the decisions, before the clock starts: what a process does once isn't what a decision costs."""
LABELLED = 400
IDLE_S = 30.0
EQUAL = 1.10


class Shared(NamedTuple):
    """What so many workers spent on the same topic."""

    per_100k: float
    """CPU seconds of all workers per 100,000 decisions."""
    idle_percent: float | None
    """Of a core, each worker, with nothing to read."""
    differences: Sequence[str]
    """Where the readings aren't those of the first run."""
    rebalances: int = 0
    """While it was measured; with one, part of it was read twice."""


def workers(lab: Lab) -> Iterator[Row]:
    """Measure what decisions cost one, two and four workers, and compare what they read."""
    lab.say("writing documents")
    stock = Stock(RECORD)
    yield from worker_rows(lab, lab.kafka.server, stock, QUICK_DECISIONS if lab.quick else DECISIONS, IDLE_S)


def worker_rows(
    lab: Lab, server: str, stock: Stock, decisions: int, idle_s: float, counts: Sequence[int] = COUNTS
) -> Iterator[Row]:
    """Return a row for each number of workers, one over all, one about the readings, one of idle workers."""
    runs: dict[int, list[Shared]] = {count: [] for count in counts}
    expected: dict[str, object] = {}
    for number in range(lab.times):
        turn = number % len(counts)
        for count in (*counts[turn:], *counts[:turn]):
            run = _share(lab, server, stock, decisions, count, 0.0 if number else idle_s, expected)
            lab.say(f"{count} workers: {run.per_100k:.2f} CPU s per 100,000 decisions")
            runs[count].append(run)
    yield from cost_rows(runs)


def cost_rows(runs: Mapping[int, Sequence[Shared]]) -> Iterator[Row]:
    """Return the rows of what was measured, by the number of workers."""
    costs = {count: statistics.median(run.per_100k for run in found) for count, found in runs.items()}
    least, most = min(costs.values()), max(costs.values())
    rebalances = sum(run.rebalances for found in runs.values() for run in found)
    yield Row(
        name=f"CPU of {', '.join(map(str, costs))} workers, the dearest",
        unit="CPU s per 100 k",
        value=most,
        reference=least,
        compared_with="the cheapest",
        ratio=most / least,
        bar=EQUAL,
        sense="<=",
        note="; ".join(f"{count}: {cost:.2f} ({_spread(runs[count])})" for count, cost in costs.items())
        + "; workers share one core whatever their number"
        + f"; {rebalances} rebalances meanwhile" * bool(rebalances),
    )
    found = [difference for several in runs.values() for run in several for difference in run.differences]
    yield Row(
        name="readings that differ with the number of workers",
        unit="readings",
        value=len(found),
        reference=None,
        ratio=len(found),
        bar=0,
        sense="<=",
        note=found[0] if found else "",
    )
    for count, several in runs.items():
        for idle in [run.idle_percent for run in several if run.idle_percent is not None]:
            name = f"an idle worker out of {count}"
            yield Row(name=name, unit="% of a core", value=idle, reference=None, ratio=idle, bar=None)


def _spread(runs: Sequence[Shared]) -> str:
    costs = [run.per_100k for run in runs]
    return f"{min(costs):.2f}–{max(costs):.2f}"


def _share(
    lab: Lab, server: str, stock: Stock, decisions: int, count: int, idle_s: float, expected: dict[str, object]
) -> Shared:
    """Run so many workers; `expected` takes the first run's readings."""
    fleet = _fleet(lab, server, f"sampling.random_rate={min(LABELLED / decisions, 1.0)}")
    asyncio.run(create_topics(fleet, -1, 1 << 30))
    with one_core():
        for number in range(count):
            fleet.start(number)
    try:
        return asyncio.run(_measure(fleet, stock, decisions, idle_s, expected))
    finally:
        fleet.kill()


@contextmanager
def one_core() -> Iterator[None]:
    """Give one core, the last, to all that this thread starts.

    Workers that compete for caches and for the core's second thread spend more seconds on the same work: that would be
    the machine's doing, and no different from that of any other neighbour.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


async def _measure(fleet: Fleet, stock: Stock, decisions: int, idle_s: float, expected: dict[str, object]) -> Shared:
    """Send decisions once all workers read, answer the tasks, and wait for the readings."""
    await fleet.ready(*fleet.workers, within_s=120)
    joined = _rebalances(fleet)
    idle = await _idle(fleet, idle_s) if idle_s else None
    async with Load(fleet, stock) as load, Annotators(fleet, stock) as annotators, Committed(fleet) as committed:
        await _read_all(load, committed, int(WARM_UP * decisions))
        begun, already = _cpu_s(fleet), load.sent
        await _read_all(load, committed, decisions - already)
        await annotators.finished(len(drawn_ids(fleet, stock, decisions)))
        spent, measured = _cpu_s(fleet) - begun, load.sent - already
        await _all_counted(fleet, load.sent)
        if not expected:
            expected |= await _settled(fleet)
    left = await wait_for_readings(fleet, expected, 60)
    return Shared(spent / measured * 100_000, idle, left, _rebalances(fleet) - joined)


def _rebalances(fleet: Fleet) -> int:
    return max(len(worker.said("reading_from")) for worker in fleet.workers.values())


async def _read_all(load: Load, committed: Committed, records: int) -> None:
    """Send so many records more, and wait until the group has read them."""
    await load.send(records)

    async def all_read() -> bool:
        return await committed.records() >= load.sent

    await until(all_read, 300, "all decisions read")


async def _idle(fleet: Fleet, seconds: float) -> float:
    begun = _cpu_s(fleet)
    await asyncio.sleep(seconds)
    return (_cpu_s(fleet) - begun) / seconds / len(fleet.workers) * 100


def _cpu_s(fleet: Fleet) -> float:
    return sum(cpu_s(worker.process.pid) for worker in fleet.workers.values())


def drawn_ids(fleet: Fleet, stock: Stock, decisions: int) -> set[str]:
    """Return which documents are drawn; where `loose_rate` is 0, ids alone decide that."""
    sampler = Sampler(fleet.tree.sampling)
    batches = range(-(-decisions // stock.per_batch))
    names = (name for number in batches for name in stock.ids(number))
    return {name for name in names if sampler.draw(name, "en", "unflagged")}


async def _settled(fleet: Fleet) -> dict[str, object]:
    """Return what the board says once it has said the same for three seconds, more than a checkpoint and a snapshot."""
    last: dict[str, object] = {}
    since = time.monotonic()
    while time.monotonic() - since < 3.0 or not last:
        board = await fleet.board()
        now = {} if board is None else comparable(board)
        if now != last:
            last, since = now, time.monotonic()
        await asyncio.sleep(1.0)
    return last
