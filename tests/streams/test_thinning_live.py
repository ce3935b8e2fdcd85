"""Thinning through the stages: the queue turns q down and up, and each offset is drawn under the q that is recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from workers import Fleet, until

from monitor.board import Board
from monitor.config import Config
from monitor.fold import Channel, Fold, Output
from monitor.history import History, thinning_output
from monitor.origin import DrawnRecord
from monitor.records import Record, Task
from monitor.thinning import Regulator
from streams.agents import Stages
from streams.chunks import Place
from streams.live import channel_topics
from streams.live_config import LiveConfig
from streams.settings import load_settings

TOPICS = channel_topics(Config())
DAY_S = 86_400
FULL_RATE = 0.5
BOUND = 60
OVERRIDES = ("sampling.random_rate=0.5", "sampling.key=k", "readings.windows_days=[7]")


def decision(offset: int, at_s: float) -> Record:
    """Return a decision at an offset."""
    made = {"doc_id": f"d{offset}", "lang": "en", "text": "x", "detector": "x", "version": "1", "spans": []}
    return Record(offset, int(at_s * 1000), json.dumps(made).encode())


class Pipeline:
    """A worker with all four stages over one partition each; topics and the history outlive it.

    Parameters
    ----------
    bounds
        Settings of the queue, `KEY=VALUE`.
    step_s, a_step
        Seconds between two looks, and the decisions that come in them.
    """

    def __init__(self, *bounds: str, step_s: float = 300.0, a_step: int = 40) -> None:
        self.step_s, self.a_step = step_s, a_step
        self.log: list[Record] = []
        self.now = 20_000.0 * DAY_S
        self.topic: list[Output] = []
        """The history topic."""
        self.drawn: dict[int, DrawnRecord] = {}
        self.asked: list[Task] = []
        self.factors: list[float] = []
        self.start(*bounds)

    def start(self, *bounds: str) -> None:
        """Open all folds anew, in a worker that knows the topics alone and reads them from their start."""
        self.history = History()
        self.live = LiveConfig(load_settings(None, (*OVERRIDES, *bounds)), {})
        for output in self.topic:
            self.history.take(output.key, output.value)
        self.follow()
        stages = Stages(TOPICS, self.live, self.history, lambda: self.now, self.end_of)
        self.prepares = {spec.name: spec.prepare for spec in stages.specs()}
        self.folds: dict[str, Fold] = {spec.name: spec.opener(0, None, {}) for spec in stages.specs()}
        self.regulator = Regulator()
        self.offsets: dict[Channel, int] = {"sampled": 0, "labels": 0, "labels_by_document": 0}

    def end_of(self, place: Place) -> int:
        """Return where decisions end."""
        assert place == Place(TOPICS["decisions"], 0)
        return len(self.log)

    def follow(self) -> None:
        """Take up the factor that the history tells."""
        held = self.history.thinning
        self.live.thin(1.0 if held is None else held.q)

    def prepare(self) -> None:
        """Let what is new take effect at a checkpoint."""
        for name, prepare in self.prepares.items():
            assert prepare is not None
            self.topic += prepare(self.folds[name]) or []

    def run(self, steps: int, answered: int = 0) -> None:
        """Let the time between two looks pass, again and again: decisions, answers, the board's look at the queue."""
        for _ in range(steps):
            self.now += self.step_s
            self.log += [decision(len(self.log) + n, self.now) for n in range(self.a_step)]
            self.decide()
            self.answer(answered)
            self.look()

    def decide(self) -> None:
        """Read the decisions that are new."""
        self.prepare()
        position = self.folds["route"].position("decisions") or 0
        outputs = self.folds["route"].fold("decisions", self.log[position:], len(self.log))
        for output in outputs:
            found = msgspec.json.decode(output.value or b"", type=DrawnRecord)
            self.drawn[int(found.doc_id[1:])] = found
        for task in self.hand_on("ledger", "sampled", outputs):
            self.asked.append(msgspec.json.decode(task.value or b"", type=Task))

    def hand_on(self, stage: str, channel: Channel, outputs: Sequence[Output]) -> list[Output]:
        """Give the outputs of one stage to another."""
        first = self.offsets[channel]
        records = [Record(first + n, int(self.now * 1000), output.value) for n, output in enumerate(outputs)]
        self.offsets[channel] += len(records)
        return self.folds[stage].fold(channel, records, self.offsets[channel])

    def answer(self, number: int) -> None:
        """Answer the oldest tasks."""
        answered, self.asked = self.asked[:number], self.asked[number:]
        given = ({"doc_id": t.doc_id, "annotator": "a", "task_id": t.task_id, "spans": []} for t in answered)
        labels = [Output("labels", b"", json.dumps(label).encode()) for label in given]
        self.hand_on("ledger", "labels_by_document", self.hand_on("intake", "labels", labels))

    def look(self) -> None:
        """Publish, and decide on the factor as the board's worker does."""
        board = self.folds["board"]
        assert isinstance(board, Board)
        for stage in ("route", "intake", "ledger"):
            for output in self.folds[stage].tallies():
                board.take(output.key, output.value)
            self.folds[stage].settle()
        decided = self.regulator.decide(board.snapshot(self.now), self.live.plan, self.history.thinning, self.now)
        if decided is not None:
            output = thinning_output(decided)
            self.topic.append(output)
            self.history.take(output.key, output.value)
        self.follow()
        self.factors.append(self.live.plan.thinning)

    def share_drawn(self, steps: int) -> float:
        """Return the share of the last steps' decisions that was drawn."""
        first = len(self.log) - steps * self.a_step
        return sum(offset >= first for offset in self.drawn) / (steps * self.a_step)

    def recorded(self, offset: int) -> tuple[str, float]:
        """Return config and factor that the history has in force at an offset."""
        changes = [c for c in self.history.of(TOPICS["decisions"], 0) if c.offset <= offset]
        return changes[-1].config, changes[-1].thinning


def test_a_backlog_thins_the_sample_and_answers_bring_it_back() -> None:
    """Nobody answers: fewer and fewer are drawn; the labels catch up: all of the sample is drawn again."""
    line = Pipeline(f"labels.max_backlog={BOUND}")
    line.run(13)
    assert line.factors[:2] == [1.0, 1.0]
    assert line.factors[-1] <= 1 / 8
    assert line.factors == sorted(line.factors, reverse=True)
    line.run(10)
    assert line.share_drawn(8) < 0.15 * FULL_RATE
    line.run(10, answered=50)
    assert line.factors[-1] == 1.0
    line.run(5, answered=50)
    assert line.share_drawn(5) > 0.8 * FULL_RATE
    assert line.history.thinning is not None
    assert line.history.thinning.reason == "room"


def test_each_document_is_drawn_under_the_recorded_factor() -> None:
    """Its own record carries the factor, and the inclusion probability with it."""
    line = Pipeline(f"labels.max_backlog={BOUND}")
    line.run(15)
    line.run(15, answered=60)
    assert len({drawn.thinning for drawn in line.drawn.values()}) > 2
    for offset, drawn in line.drawn.items():
        assert (drawn.config, drawn.thinning) == line.recorded(offset)
        assert drawn.probability == FULL_RATE * drawn.thinning
        assert drawn.floors == pytest.approx((0.525 * drawn.thinning, drawn.probability))


def test_the_recorded_history_gives_the_same_draws() -> None:
    """A worker that lost everything but the topics reads all decisions again, and draws what was drawn."""
    line = Pipeline(f"labels.max_backlog={BOUND}")
    line.run(15)
    line.run(8, answered=60)
    before = dict(line.drawn)
    line.drawn.clear()
    line.start(f"labels.max_backlog={BOUND}")
    line.decide()
    assert line.drawn == before
    assert {drawn.thinning for drawn in before.values()} > {1.0}


def test_a_new_worker_goes_on_from_the_recorded_factor() -> None:
    """It doesn't begin at 1, which would flood the queue again."""
    line = Pipeline(f"labels.max_backlog={BOUND}")
    line.run(12)
    factor = line.live.plan.thinning
    assert factor < 0.5
    line.start(f"labels.max_backlog={BOUND}")
    assert line.live.plan.thinning == factor
    line.asked.clear()
    line.decide()
    line.look()
    assert line.live.plan.thinning == factor


def test_capacity_holds_from_day_to_day() -> None:
    """Four times the capacity would be drawn; a quarter of it is, and everybody answers at once."""
    line = Pipeline("labels.capacity_per_day=360", step_s=3600, a_step=120)
    line.run(2 * 24, answered=1000)
    before = len(line.drawn)
    line.run(24, answered=1000)
    assert 0.8 * 360 < len(line.drawn) - before < 1.2 * 360
    assert line.factors[-1] == 0.25


def test_without_a_bound_the_factor_is_one_again() -> None:
    """The operator takes the bound away, and the next look says so."""
    line = Pipeline(f"labels.max_backlog={BOUND}")
    line.run(12)
    assert line.factors[-1] < 1
    line.start()
    line.decide()
    line.look()
    assert line.live.plan.thinning == 1.0


# -- on a broker -----------------------------------------------------------------------------------------------------


@pytest.fixture
def fleet(embedded_server: str, tag: str, tmp_path: Path) -> Iterator[Fleet]:
    """Give two workers' topics on the embedded broker, and a settings file that holds the bound."""
    config = tmp_path / "bounds.toml"
    config.write_text("[labels]\nmax_backlog = 10\n")
    fleet = Fleet(embedded_server, tag, tmp_path, ("sampling.random_rate=0.9",), config)
    try:
        yield fleet
    finally:
        fleet.kill()


@pytest.mark.broker
def test_workers_thin_and_say_so(fleet: Fleet) -> None:
    """Nobody answers: q falls, on record, in metrics, page and log; the next board goes on from it."""
    metric = "recallwatch_thinning_ratio"

    async def run() -> None:
        fleet.run("topics")
        fleet.start(0)
        await fleet.ready(0, within_s=90)
        assert (await fleet.metrics(0))[metric] == 1.0
        await fleet.send("decisions", sent(0, 100))

        async def thinned() -> bool:
            return (await fleet.metrics(0)).get(metric, 1.0) < 1

        await until(thinned, 60, "a lower factor")
        await fleet.send("decisions", sent(100, 400))

        async def read() -> bool:
            return await fleet.decided(0) == 500

        await until(read, 60, "all decisions")
        board = await fleet.board()
        assert board is not None
        assert board.thinning < 1
        fleet.start(1)
        await fleet.ready(1, within_s=90)
        assert (await fleet.metrics(1))[metric] == board.thinning
        assert await fleet.end(0) == 0

        async def moved() -> bool:
            return await fleet.board() is not None

        await until(moved, 60, "the board on the other worker")
        assert (await fleet.metrics(1))[metric] == board.thinning
        assert fleet.config is not None
        fleet.config.write_text("[labels]\nmax_backlog = 0\n")

        async def back() -> bool:
            return (await fleet.metrics(1)).get(metric) == 1.0

        await until(back, 60, "the factor 1")
        assert await fleet.end(1) == 0

    asyncio.run(run())
    said = [
        [str(line["reason"]).partition(":")[0] for line in fleet.workers[n].said("thinning_changed")] for n in (0, 1)
    ]
    assert (set(said[0]), said[1][-1]) == ({"over_backlog"}, "no_bound")
    assert fleet.noise() == []
    history = msgspec.json.decode(fleet.run("history", "--json").stdout)
    factors = {change["thinning"] for change in history["changes"]}
    assert (max(factors), min(factors) < 1) == (1.0, True)


def sent(first: int, number: int) -> list[tuple[str, bytes | None]]:
    """Return decisions for the broker."""
    return [(f"d{n}", decision(n, 0).value) for n in range(first, first + number)]
