"""What a board told and its table: on record at the next checkpoint, taken up by the board that comes after it."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
import structlog
from replays import decision
from stagedoubles import FakeTable, Sent
from traffic import CONFIG
from workers import Fleet, until

from monitor.alarm_readings import AlarmEvent
from monitor.board import Board
from monitor.config import Config
from monitor.estimators.sample import Moments
from monitor.fold import Output
from monitor.history import History
from monitor.notices import ROW, Notices
from monitor.plan import Plan
from monitor.readings import ANY
from monitor.records import Record
from monitor.tallies import published
from monitor.tally import CellKey, CensusKey, DesignKey, MadeKey, Tally, VersionKey
from streams.agents import Stages
from streams.checkpoint import checkpoint
from streams.chunks import Chunk, Place
from streams.live import channel_topics
from streams.live_config import LiveConfig
from streams.live_snapshot import told_until
from streams.settings import load_settings
from streams.stage import Stage

DAY_S = 86_400
PLAN = Plan(msgspec.structs.replace(CONFIG, targets={"PERSON": 0.5}))
FIRST_DAY = 20_000


class Port:
    """An app that takes whatever it's given."""

    async def emit(self, _output: Output) -> Awaitable[object]:
        """Acknowledge it."""
        return Sent()

    def rewind(self, _place: Place, _offset: int) -> None:
        """Do nothing."""

    def report(self, _place: Place, _offset: int) -> None:
        """Do nothing."""


class Worker:
    """A worker that has the board, over tallies and a table that outlive it."""

    def __init__(self, topic: list[Record], table: FakeTable) -> None:
        live = LiveConfig(load_settings(None), {})
        live.plan = PLAN
        stages = Stages(channel_topics(Config()), live, History(), lambda: 1.0, lambda _place: 0)
        (spec,) = [spec for spec in stages.specs() if spec.name == "board"]
        self.now = 0.0
        self.stage = Stage(
            spec=spec,
            topics={"tallies": "tallies"},
            port=Port(),
            table=table,  # type: ignore[arg-type]  # stands in for Faust's
            clock=lambda: self.now,
        )
        self.stage.open([Place("tallies", 0), Place(table.changelog_topic_name, 0)])
        self.stage.begin(1, {Place("tallies", 0): 0})
        self._topic = topic
        assert stages.board is not None
        self.board = stages.board

    def read(self) -> None:
        """Read the tallies to their end."""
        asyncio.run(self.stage.take("tallies", 0, Chunk(0, len(self._topic), self._topic, 1)))

    def checkpoint(self) -> None:
        """Make a checkpoint a while later."""
        self.now += 60.0
        assert asyncio.run(checkpoint(self.stage))

    def look(self, day: float) -> list[AlarmEvent]:
        """Return what a look at the board tells that no one did before."""
        before = self.board.notices.told
        told = self.board.snapshot((FIRST_DAY + day) * DAY_S).alarms
        assert told[: len(before)] == before
        return list(told[len(before) :])


def tallied(*versions: str) -> list[Record]:
    """Return what ROUTE and LEDGER say of forty PERSON found and two missed by each version, all labelled."""
    topic: list[Record] = []
    for day, version in enumerate(versions, FIRST_DAY):
        at_ms = day * DAY_S * 1000
        rows = Tally({CensusKey("en", "d", version, "both"): (100,)}, {VersionKey("en", "d", version): (at_ms, at_ms)})
        made = Tally({}, {VersionKey("en", "d", version): (-at_ms, at_ms)})
        moments = [Moments.of(1, 1)] * 40 + [Moments.of(0, 1)] * 2
        summed = tuple(sum(column) for column in zip(*moments, strict=True))
        made.add(DesignKey("en", "d", version, "both", 0.5), (42, 42, 0, 0, 0))
        made.add(MadeKey("d", version, "c0ffee", "babe"), (42,))
        for entity in ("PERSON", ANY):
            for of in ("matched", "masked"):
                made.add(CellKey("en", "d", version, "both", 0.5, entity, of), summed)
        for output in (published("route", 0, str(day), 1, rows), published("ledger", 0, str(day), 1, made)):
            topic.append(Record(len(topic), at_ms, output.value, output.key))
    return topic


def of_cell(events: list[AlarmEvent]) -> list[tuple[str, tuple[int | None, ...]]]:
    """Return the causes that were told of PERSON/en, with their windows."""
    return [(event.cause, event.windows_days) for event in events if (event.entity, event.language) == ("PERSON", "en")]


def test_what_was_told_without_a_record_coming_is_on_record_at_the_next_checkpoint() -> None:
    """A number lapses as time goes by, and the next worker doesn't tell of it again."""
    topic, table = tallied("1"), FakeTable()
    here = Worker(topic, table)
    here.read()
    here.checkpoint()
    assert of_cell(here.look(0.5)) == []
    here.checkpoint()
    assert of_cell(here.look(20)) == [("stopped_knowing", (7, 28))]
    here.checkpoint()
    written = len(table.journal)
    here.checkpoint()
    assert len(table.journal) == written

    there = Worker(topic, table)
    there.read()
    assert of_cell(there.look(20.1)) == []
    assert of_cell(list(there.board.notices.told)) == [("stopped_knowing", (7, 28))]


def test_what_lapsed_while_the_board_moved_is_told_by_the_next_one() -> None:
    """It knows what could be relied on before it opened."""
    topic, table = tallied("1"), FakeTable()
    here = Worker(topic, table)
    here.read()
    here.look(0.5)
    here.checkpoint()

    there = Worker(topic, table)
    there.read()
    assert of_cell(there.look(20)) == [("stopped_knowing", (7, 28))]


def test_week_that_lapsed_while_four_weeks_stand_is_told() -> None:
    """A reading of either window is a number that somebody may rely on."""
    topic = tallied("1")
    plan = Plan(msgspec.structs.replace(CONFIG, targets={"PERSON": 0.5}, readings=_never_stale()))
    board = Board(plan)
    board.fold("tallies", topic, len(topic))
    told = [of_cell(list(board.snapshot((FIRST_DAY + day) * DAY_S).alarms)) for day in (0.5, 9, 10, 40)]

    assert told[1:3] == [[("stopped_knowing", (7,))]] * 2
    assert told[0] == []
    assert told[3] == [("stopped_knowing", (7,)), ("stopped_knowing", (28,))]


def _never_stale() -> object:
    return msgspec.structs.replace(CONFIG.readings, stale_after_days=365.0)


def test_new_version_is_told_once_by_whichever_worker_sees_it_first() -> None:
    """With the day of its first document; the first one of a detector is none that changed."""
    table = FakeTable()
    here = Worker(tallied("1"), table)
    here.read()
    here.look(0.5)
    here.checkpoint()
    there = Worker(tallied("1", "2"), table)
    there.read()
    told = there.look(1.5)
    there.checkpoint()
    third = Worker(tallied("1", "2"), table)
    third.read()

    assert [e for e in told if e.changed] == [
        AlarmEvent(ANY, ANY, "d", "2", "design_changed", (FIRST_DAY + 1) * DAY_S, None, changed="version")
    ]
    assert third.look(1.6) == []


@pytest.mark.parametrize("row", [b"\x00", msgspec.msgpack.encode((9, {}))])
def test_row_of_another_format_is_left_out_and_logged(row: bytes) -> None:
    """The board opens all the same, and writes its own row over it."""
    table = FakeTable()
    asyncio.run(table.write(0, ROW, row))
    with structlog.testing.capture_logs() as logs:
        worker = Worker(tallied("1"), table)
    worker.read()
    worker.look(0.5)
    worker.checkpoint()

    assert [(log["event"], log["log_level"], log["partition"]) for log in logs] == [("told_begun_anew", "warning", 0)]
    assert logs[0]["reason"] == worker.board.notices.begun_anew
    assert Notices(table.rows[0][ROW]).begun_anew == ""


def test_row_that_was_deleted_is_none() -> None:
    """A tombstone in the changelog leaves nothing to read, and nothing to warn of."""
    table = FakeTable()
    asyncio.run(table.write(0, ROW, b"\x00"))
    asyncio.run(table.write(0, ROW, None))
    with structlog.testing.capture_logs() as logs:
        worker = Worker(tallied("1"), table)

    assert logs == []
    assert worker.board.notices.told == ()


@pytest.mark.broker
def test_board_that_moved_tells_another_version_no_more(embedded_server: str, tag: str, tmp_path: Path) -> None:
    """The worker that told of it is killed; the next one has it from the table, and so has the report."""
    settings = ("sampling.random_rate=1", "topics.partitions=1", "targets.PERSON=0.9", "kafka.session_timeout_s=6")
    fleet = Fleet(embedded_server, tag, tmp_path, settings)

    async def told() -> list[AlarmEvent]:
        board = await fleet.board()
        return [] if board is None else [event for event in board.alarms if event.changed == "version"]

    async def on_record() -> bool:
        rows = await fleet.read_topic(f"{tag}-board-changelog", 1)
        return any(row.key == b"0/told" and Notices(row.value).told for row in rows)

    async def run() -> tuple[list[AlarmEvent], list[AlarmEvent]]:
        fleet.start(0)
        await fleet.ready(0)
        for version in ("1", "2"):
            await fleet.send("decisions", [(str(i), decision(f"{version}/{i}", version=version)) for i in range(9)])
            await until(_counts(fleet, version), 30, "the version's readings")
        await until(_holds(told), 30, "the new version")
        here = await told()
        await until(on_record, 30, "the row")
        await fleet.end(0, signal.SIGKILL)
        fleet.start(1)
        await fleet.ready(1)
        await until(_holds(told), 30, "what was told")
        return here, await told()

    try:
        assert fleet.run("topics").returncode == 0
        here, there = asyncio.run(run())
        done = fleet.run("report", "--out", str(tmp_path / "out"))
    finally:
        fleet.kill()
    assert here == there
    assert [(event.detector, event.version, event.cause) for event in there] == [("x", "2", "design_changed")]
    events = json.loads(Path(done.stdout.split()[1]).read_text())["report"]["alarm"]["events"]
    assert [(event["version"], event["changed"]) for event in events] == [("2", "version")]


def _counts(fleet: Fleet, version: str) -> Callable[[], Awaitable[bool]]:
    async def counts() -> bool:
        board = await fleet.board()
        return board is not None and ("x", version) in board.current_versions

    return counts


def _holds(told: Callable[[], Awaitable[list[AlarmEvent]]]) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return bool(await told())

    return holds


def test_commands_show_what_the_board_put_on_record() -> None:
    """Up to the moment they speak of; their own look where there's nothing that can be read."""
    events = tuple(AlarmEvent("PERSON", "en", "d", "1", "recall_fell", at, 2.0) for at in (10.0, 20.0))
    notices, mine = Notices(), events[1:]
    notices.told = events

    assert told_until(notices.encode(), 15.0, mine) == events[:1]
    assert told_until(None, 15.0, mine) == told_until(b"\x00", 15.0, mine) == mine
