"""A retrained detector that lost an entity, over a real Kafka and two workers: the pager names it, and the board moves.

The decisions are real detectors' on the same Spanish clinical cases, the labels experts'. Each reading of the corpus is
of new documents, all of them labelled; the demo's clock makes a day five seconds long.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count, takewhile
from pathlib import Path
from time import monotonic

import prometheus
import pytest
from brokers import free_port, missing_for_kafka, running_kafka
from prometheus import Told, Watch, watching
from workers import Fleet

from monitor.records import Decision, Span
from streams.annotators import EXACT, Annotators
from streams.broker import Connection
from streams.corpora import find_story, read_decisions, read_truth
from streams.demo_traffic import Known, Traffic, recorded

DATA = Path(os.environ.get("RECALLWATCH_TEST_DATA") or "/nowhere")
pytestmark = [
    pytest.mark.broker,
    pytest.mark.kafka,
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="no labelled corpora: set RECALLWATCH_TEST_DATA to their folder"),
]

BEFORE, AFTER, CORPUS = "crf_v2__meddocan_es_test", "crf_v3__meddocan_es_test", "meddocan_es_test"
SLACK = 0.1
"""Targets are this far below what the first version finds."""
PER_S = 50.0
SEEN_S = 30
"""Longer than `scrape.gap`, in which the killed board's last word counts."""
CLOCK = ("alarm.period=5", "alarm.hold=60", f"labels.deadline_days={60 / 86_400}")
FELL = 'ALERTS{alertname="RecallwatchRecallFell",entity="EMAIL_ADDRESS",language="any",alertstate="firing"}'
TRUE_TICKETS = {
    f"Recallwatch{name}"
    for name in ("BelowTarget", "DriftDetected", "OutputsLeak", "DisclosureHigh", "WorkerDown", "ConsumerLag")
}
"""The second version is worse in other entities too, and its outputs show it; one worker is killed, and what it had to
read waits. Nothing is unknown, stalled or without a board at any time."""
OWNER = "last_over_time(recallwatch_board_owner{}[5s]) == 1"
"""A scrape a second isn't met each time on a busy machine: a board is one that was seen within five."""


def census(decisions: str) -> dict[str, float]:
    """Return recall by entity over all documents."""
    entries = json.loads((DATA / "ground_truth.json").read_text(encoding="utf-8"))
    (cells,) = (entry["cells"] for entry in entries if entry["decisions"] == f"{decisions}.jsonl")
    return {cell["entity"]: cell["found_iou"] / cell["n_true"] for cell in cells}


def targets() -> dict[str, float]:
    """Return the recall asked for, by entity; of one of which nothing is found there is none."""
    return {entity: recall - SLACK for entity, recall in census(BEFORE).items() if recall > SLACK}


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Give topics on a Kafka of its own, with a recall asked for of each entity, and end whatever worker is left."""
    for lacks in (missing_for_kafka(), prometheus.missing()):
        if lacks is not None:
            pytest.skip(lacks)
    with running_kafka(tmp_path / "kafka") as kafka:
        asked = [f"targets.{entity}={recall:.3f}" for entity, recall in targets().items()]
        fleet = Fleet(kafka.server, "swap", tmp_path, ("sampling.random_rate=1.0", *CLOCK, *asked))
        try:
            done = fleet.run("topics")
            assert done.returncode == 0, done.stderr
            yield fleet
        finally:
            fleet.kill()


class Flow:
    """Decisions that go on until they're another detector's."""

    def __init__(self, traffic: Traffic, labels: dict[str, list[Span]]) -> None:
        self._traffic = traffic
        self._labels = labels
        self._readings = count()
        self._turn = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None

    async def turn_to(self, decisions: Sequence[Decision]) -> None:
        """Let another detector's decisions follow."""
        await self.end()
        self._turn = turn = asyncio.Event()
        self._sending = asyncio.create_task(
            self._traffic.send(takewhile(lambda _: not turn.is_set(), self._read(decisions)), PER_S)
        )

    def _read(self, decisions: Sequence[Decision]) -> Iterator[Known]:
        for reading in self._readings:
            yield from recorded(decisions, self._labels, f"#{reading}")

    async def end(self) -> None:
        """Let nothing follow."""
        self._turn.set()
        if self._sending is not None:
            await self._sending


@asynccontextmanager
async def flowing(fleet: Fleet, labels: dict[str, list[Span]]) -> AsyncIterator[Flow]:
    """Give traffic to a fleet, whose tasks people answer with these labels."""
    truth: dict[str, list[Span]] = {}
    people = Annotators(7, truth, EXACT, names=("people",), median_s=0.5)
    traffic = Traffic(Connection(servers=(fleet.server,)), fleet.tree.topics, people, truth)
    await traffic.start()
    flow = Flow(traffic, labels)
    try:
        yield flow
    finally:
        await flow.end()
        await traffic.stop()


def test_the_lost_entity_pages_through_a_move_of_the_board_until_it_is_found_again(
    fleet: Fleet, tmp_path: Path
) -> None:
    """Mail addresses go from .99 to nothing: they page, and nothing that stays above its target does, at any time."""
    files = find_story(DATA, BEFORE, AFTER, CORPUS)
    before, after = (
        [decision for decision in read_decisions(path) if isinstance(decision, Decision)]
        for path in (files.first, files.second)
    )
    ports = [free_port(), free_port()]
    addresses = [f"127.0.0.1:{port}" for port in ports]

    async def run(watch: Watch) -> None:
        for number, port in enumerate(ports):
            fleet.start(number, "worker", "--set", f"http.port={port}")
        await fleet.ready(0, 1)
        async with flowing(fleet, read_truth(files.labels)) as flow:
            await flow.turn_to(before)
            await healthy(watch)
            await flow.turn_to(after)
            await in_time(watch, lambda: bool(mails(watch)), 120, "a page that mail addresses are missed")
            check_page(mails(watch)[0], after[0])
            await move_board(fleet, watch, ports)
            await flow.turn_to(before)
            await in_time(watch, lambda: not watch.told("pager"), 120, "the pages are over")
            assert fleet.noise() == []
        assert await fleet.end_all() == [0, 0]

    with watching(tmp_path, addresses) as watch:
        asyncio.run(run(watch))
        check_all(watch, after[0])


async def in_time(watch: Watch, condition: prometheus.Condition, within_s: float, what: str) -> None:
    """Wait while traffic goes on."""
    await asyncio.to_thread(watch.until, condition, within_s, what)


async def healthy(watch: Watch) -> None:
    """Wait until every cell was looked at often, and nobody was paged."""
    looks = f"count(count_over_time((alarm:recallwatch_alarm_on:board == 0)[5m:1s]) >= 20) == {2 * len(targets())}"
    true = 'cell:recallwatch_true_occurrences:board{entity="EMAIL_ADDRESS",language="es",window="28d"}'
    await in_time(watch, lambda: watch.number(looks) is not None, 120, "twenty looks at alarms that are off")
    await in_time(watch, lambda: (watch.number(true) or 0) >= 500, 120, "two readings of the corpus labelled")
    assert [name for name in watch.alerts("firing") if name.endswith("page")] == []
    assert watch.names("pager") == set()


def mails(watch: Watch) -> list[Told]:
    """Return what the pager is told of mail addresses in all languages, which silences what Spanish alone would say."""
    return [
        alert
        for alert in watch.told("pager")
        if (alert.labels["entity"], alert.labels["language"]) == ("EMAIL_ADDRESS", "any")
    ]


def check_page(alert: Told, decision: Decision) -> None:
    """Check that the page is about the second version, and has its figures."""
    assert (alert.labels["detector"], alert.labels["version"]) == (decision.detector, decision.version)
    assert alert.labels["severity"] == "page"
    said = alert.annotations["description"]
    asked = f"{100 * round(targets()['EMAIL_ADDRESS'], 3):.4g}"
    assert said.startswith(
        f"EMAIL_ADDRESS in all languages ({decision.detector} {decision.version}): recall, the share that is found, is "
        f"below its target of {asked}%; the alarm is on since 20"
    )
    assert "Last 28d: recall 0%, limits 0% to " in said
    assert "; 0 of " in said
    assert "unknown" not in said


async def move_board(fleet: Fleet, watch: Watch, ports: Sequence[int]) -> None:
    """Kill the worker that is the board, and start it again once the other one is; the page stays what it is."""
    (owner,) = watch.ask(OWNER.format(""))
    number = next(n for n, port in enumerate(ports) if owner.metric["instance"].endswith(f":{port}"))
    before = monotonic()
    await fleet.end(number, signal.SIGKILL)
    other = OWNER.format(f'{{instance!="{owner.metric["instance"]}"}}')
    await in_time(watch, lambda: watch.number(other) is not None, 60, "the other worker is the board")
    fleet.start(number, "worker", "--set", f"http.port={ports[number]}")
    await fleet.ready(number)
    # at every second from before the kill until a while after the move: the page is there
    await in_time(watch, lambda: monotonic() - before > SEEN_S, 60, "longer than the gap after the kill")
    always = f"min_over_time((count({FELL}) or vector(0))[{int(monotonic() - before)}s:1s])"
    assert watch.number(always) == 1, watch.state()
    assert watch.told("pager", "resolved") == []


def check_all(watch: Watch, decision: Decision) -> None:
    """Check whom the pager named at any time: the second version's cells that are below their target, no other."""
    now = census(AFTER)
    below = {entity for entity, asked in targets().items() if now[entity] < asked}
    paged = [a for n in watch.notifications if n.receiver == "pager" for a in n.alerts]
    named = {(a.labels["alertname"], a.labels["entity"], a.labels["version"]) for a in paged}
    # Spanish, the one language, fell with all languages together: one page an entity, not two; its end may be told
    assert {a.labels["language"] for a in paged if a.status == "firing"} == {"any"}
    assert ("RecallwatchRecallFell", "EMAIL_ADDRESS", decision.version) in named
    assert named <= {("RecallwatchRecallFell", entity, decision.version) for entity in below}
    assert {alert.labels["entity"] for alert in watch.told("pager", "resolved")} == {entity for _, entity, _ in named}
    assert watch.names("tickets") <= TRUE_TICKETS, watch.state()
    assert watch.names("notices") <= {"RecallwatchDetectorChanged", "RecallwatchLedgerRebuilt"}, watch.state()
