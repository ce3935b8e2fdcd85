"""How long it takes until something is to be seen: after a restart, after a label, under a backlog."""

from __future__ import annotations

import asyncio
import signal
import statistics
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import count as count_up
from itertools import islice
from typing import NamedTuple

import aiohttp
import msgspec
import numpy as np
from aiokafka import AIOKafkaProducer
from bench.filling import Filled, fill
from bench.lab import Lab
from bench.rows import Row
from workers import Fleet, Worker, until

from monitor.records import Decision, Label, Span
from monitor.sampling import Sampler

ENTRIES = 100_000
FIRST_READING_S = 10.0
LABELS = 240
LABELS_A_SECOND = 5
DECISIONS_A_SECOND = 1000
VISIBLE_S = 1.5
BACKLOG = 400_000
SCRAPED_MS = 250.0
POLL_S = 0.04
SCRAPE_EVERY_S = 0.1
PATIENCE_S = 600.0
_LANGUAGES = ("en", "es", "de")
"""By turns a label each: labels of one language are further apart than two checkpoints, so that its count tells which
one is seen. No more of them, and few entities: a worker that does nothing but answer scrapes measures those."""
_SHORT = "Anna Bakker called from Utrecht about her order; her number is 06 1234 5678 and she will be at home."
_SPANS = [Span(0, 11, "PERSON"), Span(24, 31, "LOCATION"), Span(63, 75, "PHONE_NUMBER")]


def percentile_99(seconds: Sequence[float]) -> float:
    """Return the 99th percentile.

    >>> round(percentile_99([1.0] * 99 + [3.0]), 2)
    1.02
    """
    return float(np.percentile(seconds, 99))


@contextmanager
def running_fleet(lab: Lab, *settings: str) -> Iterator[Fleet]:
    """Make topics of their own; what runs on them ends with the block."""
    tag = f"l{uuid.uuid4().hex[:8]}"
    folder = lab.folder / tag
    folder.mkdir(parents=True)
    fleet = Fleet(lab.kafka.server, tag, folder, ("checkpoint.interval_s=0.5", *settings))
    made = fleet.run("topics")
    if made.returncode:
        raise RuntimeError(f"recallwatch topics ended with {made.returncode}: {made.stderr[-2000:]}")
    try:
        yield fleet
    finally:
        fleet.kill()


@asynccontextmanager
async def producing(fleet: Fleet) -> AsyncIterator[AIOKafkaProducer]:
    """Give a producer whose acknowledgements are those of a careful one."""
    producer = AIOKafkaProducer(bootstrap_servers=fleet.server, acks="all", linger_ms=0)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


def decision(doc_id: str, language: str, size: int = 0, spans: Sequence[Span] = _SPANS[:2]) -> bytes:
    """Return a short decision, or one of about `size` bytes."""
    text = _SHORT.ljust(size - 250, ".") if size else _SHORT
    return msgspec.json.encode(Decision(doc_id, language, text, "bench", "1.0", list(spans)))


def label(doc_id: str, spans: Sequence[Span] = _SPANS) -> bytes:
    """Return the answer to a document; by default the detector has missed one of three spans."""
    return msgspec.json.encode(Label(doc_id, "annotator", list(spans)))


# -- restart ---------------------------------------------------------------------------------------------------------


class Start(NamedTuple):
    """Seconds from the start of a process."""

    page: float
    """To the listening page: imports, settings."""
    reading: float
    """To reading on: the group, the recovery of the rows, the opening of the folds."""
    shown: float
    """To the first reading on the board."""


def restart(lab: Lab) -> Iterator[Row]:
    """Measure the first reading after a SIGTERM, and after a `kill -9`, with a ledger of 100,000 documents."""
    yield from restart_rows(lab, ENTRIES, lab.times)


def restart_rows(lab: Lab, entries: int, times: int) -> list[Row]:
    """Return a row for each way to end."""
    with running_fleet(lab, "sampling.random_rate=1.0") as fleet:
        found = asyncio.run(_restart(lab, fleet, entries, times))
    return [_restart_row(sig, entries, starts) for sig, starts in found.items()]


def _restart_row(sig: signal.Signals, entries: int, starts: Sequence[Start]) -> Row:
    shown, reading, page = (statistics.median(s) for s in (*zip(*starts, strict=True),)[::-1])
    dead = "" if sig == signal.SIGTERM else "; the group waits for who is dead, `kafka.session_timeout_s` is 6 here"
    return Row(
        name=f"restart after {sig.name}, {entries:,} ledger entries",
        unit="s",
        value=shown,
        reference=None,
        ratio=shown,
        bar=FIRST_READING_S,
        sense="<=",
        note=f"to the first reading; the page at {page:.1f} s, reading on at {reading:.1f} s; texts of {len(_SHORT)} "
        f"characters, two spans detected and three labelled{dead}",
    )


async def _restart(lab: Lab, fleet: Fleet, entries: int, times: int) -> dict[signal.Signals, list[Start]]:
    fleet.start(0)
    await fleet.ready(0)
    lab.say(f"filling a worker's ledger with {entries:,} labelled documents")
    await _fill_ledger(lab, fleet, entries)
    found: dict[signal.Signals, list[Start]] = {signal.SIGTERM: [], signal.SIGKILL: []}
    for turn in range(times):
        for sig, starts in found.items():
            await fleet.end(0, sig)
            starts.append(await _start(fleet, entries))
            lab.say(f"restart {turn + 1} after {sig.name}: {starts[-1].shown:.1f} s")
    return found


async def _fill_ledger(lab: Lab, fleet: Fleet, entries: int) -> None:
    """Have the worker draw every document and join its label."""
    names = [f"restart-{number:08d}" for number in range(entries)]
    languages = ("en", "es", "de")
    await fleet.send("decisions", ((n, decision(n, languages[i % 3])) for i, n in enumerate(names)))
    await fleet.send("labels", ((n, label(n)) for n in names))
    said = time.monotonic()

    async def all_joined() -> bool:
        nonlocal said
        done = await _joined(fleet)
        if time.monotonic() > said + 20:
            lab.say(f"{done:,} labels joined")
            said = time.monotonic()
        await asyncio.sleep(0.5)
        return done == entries

    await until(all_joined, PATIENCE_S, "every label joined")


async def _joined(fleet: Fleet) -> int:
    board = await fleet.board()
    return 0 if board is None else next((q.done for q in board.queues if q.language == "any"), 0)


async def _start(fleet: Fleet, entries: int) -> Start:
    begun = time.monotonic()
    worker = fleet.start(0)
    page, reading = _Moment(worker, "page"), _Moment(worker, "reading_from")

    async def all_shown() -> bool:
        if not worker.runs:
            raise RuntimeError(f"the worker ended: {worker.log.read_text()[-2000:]}")
        page.look()
        reading.look()
        return reading.at > 0 and await _joined(fleet) == entries

    await until(all_shown, PATIENCE_S, "the first reading")
    return Start(page.at - begun, reading.at - begun, time.monotonic() - begun)


class _Moment:
    """When a worker first said something, to a tenth of a second."""

    def __init__(self, worker: Worker, event: str) -> None:
        self._worker, self._event = worker, event
        self.at = 0.0

    def look(self) -> None:
        """Note the moment once it has come."""
        if not self.at and self._worker.said(self._event):
            self.at = time.monotonic()


# -- label to metrics ------------------------------------------------------------------------------------------------


def label_to_metrics(lab: Lab) -> Iterator[Row]:
    """Measure how long after its acknowledgement a label is counted in what the board exports."""
    if not lab.quick:
        yield label_row(lab, LABELS)


def label_row(lab: Lab, labels: int) -> Row:
    """Return the row of so many labels."""
    lab.say(f"sending {labels} labels, {LABELS_A_SECOND} a second, beside {DECISIONS_A_SECOND} decisions a second")
    with running_fleet(
        lab, "sampling.random_rate=0.02", "sampling.loose_rate=0.02", "readings.windows_days=[7]"
    ) as fleet:
        seconds = asyncio.run(_label(fleet, labels))
    p99 = percentile_99(seconds)
    return Row(
        name="label to /metrics, p99",
        unit="s",
        value=p99,
        reference=None,
        ratio=p99,
        bar=VISIBLE_S,
        sense="<=",
        note=f"{labels} labels, median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s; one worker, "
        f"{DECISIONS_A_SECOND} decisions/s of 1 KB, {LABELS_A_SECOND} labels/s, read every {POLL_S * 1000:.0f} ms; "
        f"`readings.windows_days=[7]`, {len(_LANGUAGES)} languages, 1 entity: few series",
    )


async def _label(fleet: Fleet, labels: int) -> list[float]:
    fleet.start(0)
    await fleet.ready(0)
    drawn = _drawn(fleet, labels)
    async with producing(fleet) as producer, asyncio.TaskGroup() as tasks:
        traffic = tasks.create_task(_decide(fleet, producer, drawn))
        await until(lambda: _queued(fleet, labels), PATIENCE_S, "tasks for every document to label")
        seen = _Seen(fleet)
        watching = tasks.create_task(seen.watch())
        for number, name in enumerate(drawn):
            pause = asyncio.create_task(asyncio.sleep(1 / LABELS_A_SECOND))
            await producer.send_and_wait(fleet.topic("labels"), label(name, _SPANS[:1]), key=b"tool")
            seen.sent(_LANGUAGES[number % len(_LANGUAGES)])
            await pause
        await until(seen.all_seen, PATIENCE_S, "every label in /metrics")
        watching.cancel()
        traffic.cancel()
    return seen.seconds


def _drawn(fleet: Fleet, count: int) -> list[str]:
    """Return documents that are drawn whatever flags them."""
    sampler = Sampler(fleet.tree.sampling)
    names = (f"label-{number:08d}" for number in count_up())
    return list(islice((name for name in names if sampler.draw(name, "l0", "unflagged")), count))


async def _decide(fleet: Fleet, producer: AIOKafkaProducer, drawn: Sequence[str]) -> None:
    """Send the documents that will be labelled, then others without end."""
    topic = fleet.topic("decisions")
    for number, name in enumerate(drawn):
        await producer.send(topic, _of_1_kb(name, number), key=name.encode())
    due = time.monotonic()
    for number in count_up():
        name = f"other-{number}"
        await producer.send(topic, _of_1_kb(name, number), key=name.encode())
        if number % 50 == 0:
            due += 50 / DECISIONS_A_SECOND
            await asyncio.sleep(max(0.0, due - time.monotonic()))


def _of_1_kb(doc_id: str, number: int) -> bytes:
    return decision(doc_id, _LANGUAGES[number % len(_LANGUAGES)], 1000, _SPANS[:1])


async def _queued(fleet: Fleet, count: int) -> bool:
    samples = await fleet.metrics(0)
    return sum(value for name, value in samples.items() if name.startswith("recallwatch_queue_sent_tasks")) >= count


class _Seen:
    """Compares what `/metrics` says was answered, language by language, with what was sent."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._sent: dict[str, list[float]] = {language: [] for language in _LANGUAGES}
        self._counted: Counter[str] = Counter()
        self.seconds: list[float] = []

    def sent(self, language: str) -> None:
        """Note that a label was acknowledged just now."""
        self._sent[language].append(time.monotonic())

    async def watch(self) -> None:
        """Read `/metrics` until the task is cancelled."""
        url = self._fleet.workers[0].url + "metrics"
        async with aiohttp.ClientSession() as session:
            while True:
                async with session.get(url) as response:
                    self._note(await response.text(), time.monotonic())
                await asyncio.sleep(POLL_S)

    def _note(self, text: str, now: float) -> None:
        for line in text.splitlines():
            if line.startswith('recallwatch_queue_done_tasks{language="'):
                language = line.split('"')[1]
                times = self._sent.get(language, [])
                first, self._counted[language] = self._counted[language], int(float(line.rpartition(" ")[2]))
                # a label may be there before its acknowledgement is
                self.seconds += [now - at for at in times[first : self._counted[language]]]

    async def all_seen(self) -> bool:
        """Tell whether every label that was sent is counted."""
        return all(self._counted[language] >= len(times) for language, times in self._sent.items())


# -- scrapes under a backlog -----------------------------------------------------------------------------------------


class Scrapes(NamedTuple):
    """What was asked while a backlog was read."""

    metrics: list[float]
    """Seconds."""
    page: list[float]
    sick: int
    """Answers of `/healthz` other than 200."""
    openings: int
    """How often the worker was given partitions."""
    lasted_s: float


def scrape_under_backlog(lab: Lab) -> Iterator[Row]:
    """Measure what `/metrics` and the page take to answer while a worker reads as fast as it can."""
    if not lab.quick:
        yield from scrape_rows(lab, BACKLOG)


def scrape_rows(lab: Lab, backlog: int) -> list[Row]:
    """Return the rows of a backlog of so many decisions of 5 KB."""
    lab.say(f"filling a topic with {backlog:,} decisions of 5 KB")
    topic = f"backlog-{uuid.uuid4().hex[:8]}"
    filled = asyncio.run(fill(lab.kafka.server, topic, backlog, 5000))
    with running_fleet(lab, f"topics.decisions={topic}") as fleet:
        found = asyncio.run(_scrape(fleet, filled))
    note = f"{len(found.metrics)} scrapes in {found.lasted_s:.0f} s; /healthz failed {found.sick} times, partitions "
    note += f"were assigned {found.openings} times; no label, so no labelled cell; each scrape waits for the last"
    return [_scrape_row("/metrics", found.metrics, note), _scrape_row("the page", found.page, note)]


def _scrape_row(name: str, seconds: Sequence[float], note: str) -> Row:
    p99 = percentile_99(seconds) * 1000
    return Row(
        name=f"{name} under a backlog, p99",
        unit="ms",
        value=p99,
        reference=None,
        ratio=p99,
        bar=SCRAPED_MS,
        sense="<=",
        note=f"median {statistics.median(seconds) * 1000:.0f}, longest {max(seconds) * 1000:.0f}; {note}",
    )


async def _scrape(fleet: Fleet, filled: Filled) -> Scrapes:
    worker = fleet.start(0)
    await fleet.ready(0)
    url, begun = worker.url, time.monotonic()
    metrics: list[float] = []
    page: list[float] = []
    sick = 0
    async with aiohttp.ClientSession() as session:
        decided = 0.0
        while decided < filled.records:
            seconds, _, text = await _timed(session, url + "metrics")
            metrics.append(seconds)
            decided = _decided(text)
            seconds, _, _ = await _timed(session, url)
            page.append(seconds)
            sick += (await _timed(session, url + "healthz"))[1] != 200
            await asyncio.sleep(SCRAPE_EVERY_S)
    return Scrapes(metrics, page, sick, len(worker.said("reading_from")), time.monotonic() - begun)


async def _timed(session: aiohttp.ClientSession, url: str) -> tuple[float, int, str]:
    begun = time.perf_counter()
    async with session.get(url) as response:
        text = await response.text()
    return time.perf_counter() - begun, response.status, text


def _decided(text: str) -> float:
    lines = (line for line in text.splitlines() if line.startswith("recallwatch_decisions_total{"))
    return sum(float(line.rpartition(" ")[2]) for line in lines)
