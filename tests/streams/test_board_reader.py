"""The live board as a command reads it: all that was published, and nothing left behind."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from aiokafka.admin import AIOKafkaAdminClient
from brokers import free_port
from workers import Fleet, until
from workloads import decisions, invented

from monitor.board import Board
from monitor.changes import change_record
from monitor.config import Sampling
from monitor.errors import SourceError
from monitor.estimators.sample import Moments
from monitor.history import config_record
from monitor.plan import Plan
from monitor.readings import ANY
from monitor.records import Record
from monitor.tallies import published
from monitor.tally import ANY_ENTITY, CellKey, CensusKey, DesignKey, DesignRow, Tally, VersionKey
from streams import lookup
from streams.board_reader import read_board, read_live, records
from streams.declare import ensure
from streams.live import connection, declared_topics
from streams.settings import Settings, load_settings

DAY = 20_000
NOW = DAY * 86_400 + 60.0


@pytest.fixture
def fleet(embedded_server: str, tag: str, tmp_path: Path) -> Iterator[Fleet]:
    """Give topics of their own on the embedded broker; whatever worker a test leaves behind is ended."""
    fleet = Fleet(embedded_server, tag, tmp_path)
    try:
        yield fleet
    finally:
        fleet.kill()


def settings_of(fleet: Fleet) -> Settings:
    """Return what a command is told about a fleet."""
    return load_settings(None, fleet.overrides, {})


def rows(position: int, documents: int, day: int = DAY) -> list[tuple[str, bytes | None]]:
    """Return what ROUTE and LEDGER publish of a day, as of a position: so many documents, ten of them labelled."""
    route, ledger = Tally(), Tally()
    route.add(CensusKey("en", "x", "1", "both"), (documents,))
    route.note_seen(VersionKey("en", "x", "1"), day * 86_400_000, day * 86_400_000 + 43_200_000)
    ledger.add(DesignKey("en", "x", "1", "both", 0.5), DesignRow(10, 10))
    ledger.note_seen(VersionKey("en", "x", "1"), -day * 86_400_000, day * 86_400_000)
    for entity in ("PERSON", ANY_ENTITY):
        ledger.add(CellKey("en", "x", "1", "both", 0.5, entity, "matched"), Moments(*[9 * n for n in Moments.of(1, 1)]))
    found = [published("route", 0, str(day), position, route), published("ledger", 0, str(day), position, ledger)]
    return [(row.key.decode(), row.value) for row in found]


def declare(fleet: Fleet) -> None:
    """Create the fleet's topics."""
    asyncio.run(ensure(connection(settings_of(fleet)), declared_topics(fleet.tree)))


@pytest.mark.broker
def test_a_board_is_all_that_was_published(fleet: Fleet) -> None:
    """Of each row the newest, an old one that was written last among them."""
    declare(fleet)
    sent = [*rows(1, 30), *rows(3, 50), *rows(2, 40)]
    asyncio.run(fleet.send("tallies", sent))
    expected = Board(Plan(fleet.tree))
    expected.fold("tallies", [Record(i, 0, value, key.encode()) for i, (key, value) in enumerate(sent)], len(sent))
    found = read_board(settings_of(fleet))
    assert found.samples(NOW) == expected.samples(NOW)
    assert [sample.strata[0].census for sample in found.samples(NOW) if sample.language == "en"] == [50, 50]


@pytest.mark.broker
def test_a_topic_without_a_record_is_an_empty_board(fleet: Fleet) -> None:
    """Nothing was published yet, and that is no error."""
    declare(fleet)
    assert read_board(settings_of(fleet)).samples(NOW) == []


@pytest.mark.broker
def test_history_comes_with_it_where_asked_for(fleet: Fleet) -> None:
    """Configs in force stand beside the numbers."""
    declare(fleet)
    record = config_record(Plan(fleet.tree), NOW)
    asyncio.run(fleet.send("history", [(record.key.decode(), record.value)]))
    asyncio.run(fleet.send("tallies", rows(1, 30)))
    live = read_live(settings_of(fleet))
    assert list(live.history.configs) == [fleet.plan_id]
    assert len(live.board.samples(NOW)) == 4


@pytest.mark.broker
def test_a_plan_is_read_off_the_live_board(fleet: Fleet) -> None:
    """Without files and without --recall; rates and targets are those that workers took into use last."""
    declare(fleet)
    sampling = Sampling(random_rate=0.25, loose_rate=0.0)
    ours = Plan(msgspec.structs.replace(fleet.tree, sampling=sampling, targets={"PERSON": 0.7}))
    history = [config_record(ours, NOW), change_record("decisions", 0, 0, ours, NOW)]
    asyncio.run(fleet.send("history", [(record.key.decode(), record.value) for record in history]))
    asyncio.run(fleet.send("tallies", rows(1, 30, int(time.time() // 86_400))))
    done = fleet.run("plan", "--json")
    assert done.returncode == 0
    assert "the board has seen 12 hours so far: all that is said of a day is as if it went on so" in done.stderr
    found = json.loads(done.stdout)
    assert {(c["entity"], c["certified_wanted"]) for c in found["cells"]} == {("PERSON", 0.7), ("any", 0.9)}
    assert [(cell["entity"], cell["language"]) for cell in found["advised"]["serves"]] == [("PERSON", "en")]
    assert {(c["entity"], c["labelled"]) for c in found["cells"]} == {("PERSON", 10), ("any", 10)}
    (stratum,) = found["advised"]["strata"]
    assert (stratum["documents_per_day"], stratum["rate_before"]) == (60, 0.25)


@pytest.mark.broker
def test_it_reads_beside_running_workers_and_makes_no_group(fleet: Fleet) -> None:
    """What the workers' own board says, while they run; the one group is theirs."""
    declare(fleet)

    async def counted() -> tuple[float, float]:
        ours = await asyncio.to_thread(read_board, settings_of(fleet))
        theirs = await fleet.board()
        shown = sum(row.value for row in theirs.strata) if theirs else 0.0
        read = [
            row.census for s in ours.samples(time.time()) if (s.entity, s.language) == (ANY, ANY) for row in s.strata
        ]
        return shown, sum(read)

    async def run() -> tuple[set[str], bool]:
        fleet.start(0)
        await fleet.send("decisions", decisions(invented(120)))
        await fleet.ready(0)
        before = await groups(fleet.server)

        async def agree() -> bool:
            shown, read = await counted()
            return shown == read >= 100

        await until(agree, 60, "the same census")
        return await groups(fleet.server) - before - {fleet.tag}, fleet.workers[0].runs

    assert asyncio.run(run()) == (set(), True)


async def groups(server: str) -> set[str]:
    """Return the names of the broker's consumer groups."""
    client = AIOKafkaAdminClient(bootstrap_servers=server)
    await client.start()
    try:
        return {name for name, *_ in await client.list_consumer_groups()}
    finally:
        await client.close()


@pytest.mark.broker
def test_a_topic_that_is_missing_is_said(fleet: Fleet) -> None:
    """And not made: a command that looks creates nothing."""
    with pytest.raises(
        SourceError, match=rf"topic {fleet.topic('history')}: missing, create it with `recallwatch topics`"
    ):
        read_board(settings_of(fleet))


def test_where_no_broker_answers_it_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody waits for it: one line, and which broker."""
    monkeypatch.setattr(lookup, "PATIENCE_S", 0.2)
    server = f"127.0.0.1:{free_port()}"
    with pytest.raises(SourceError, match=rf"{server}: no broker within 0 s"):
        read_board(settings_of(Fleet(server, "t", tmp_path)))


def test_records_keep_place_time_key_and_value() -> None:
    """As a stage sees them."""

    class Fetched:
        offset, timestamp, key, value = 7, 5, b"k", None

    assert records([Fetched()]) == [Record(7, 5, None, b"k")]
