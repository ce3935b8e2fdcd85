"""The parts around the app: tables, settings, outages, waiting for a broker."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import closing
from types import SimpleNamespace
from typing import cast

import pytest
from brokers import free_port
from faust.tables.manager import TableManager
from faust.types import TP, EventT
from toys import STAGES, options

from monitor.errors import StateError
from monitor.records import Record
from streams.app import App
from streams.broker import Connection, Sasl, wait_for_broker
from streams.chunks import Chunk
from streams.outages import OncePer
from streams.tables import Table
from streams.worker import Process


@pytest.fixture
def app() -> App:
    """Give an app that is never started."""
    return App(options(["127.0.0.1:9"], "unit"))


def recovered(app: App, *records: Record, partition: int = 0, topic: str = "unit-keep-changelog") -> Table:
    """Return the `keep` table after recovery has read `records`."""
    table = cast("Table", app.tables["keep"])
    message = SimpleNamespace(topic=topic, partition=partition)
    event = SimpleNamespace(message=message, value=Chunk(0, len(records), records, 1))
    table.apply_changelog_batch([cast("EventT[object]", event)])
    return table


def test_a_table_recovers_head_and_rows_of_a_partition(app: App) -> None:
    """The last version of a row counts, and a deleted one is gone."""
    table = recovered(
        app,
        Record(0, 0, b"head", b"2/"),
        Record(1, 0, b"1", b"2/a"),
        Record(2, 0, b"1", b"2/b"),
        Record(3, 0, b"2", b"2/a"),
        Record(4, 0, None, b"2/b"),
        partition=2,
    )
    assert table.held(2).head == b"head"
    assert dict(table.held(2).rows) == {"a": b"2"}
    assert table.held(0) == (None, {})


def test_recovery_is_watched_before_faust_knows_where_it_begins(app: App) -> None:
    """A changelog that was just assigned has no offset yet: Faust keeps None for it."""
    recovery = cast("TableManager", app.tables).recovery
    recovery.add_active(app.tables["keep"], TP("unit-keep-changelog", 0))
    assert None in recovery.active_offsets.values()
    assert app.recovered_offsets == 0


def test_a_row_of_another_partition_stops_the_worker(app: App) -> None:
    """Recovery would log a warning and go on with a hole in the state."""
    table = recovered(app, Record(7, 0, b"1", b"3/a"), partition=2)
    with pytest.raises(StateError, match="unit-keep-changelog/2@7"):
        table.held(2)


def test_events_of_another_tables_changelog_are_not_applied(app: App) -> None:
    """Recovery hands events of a partition that was taken away to the table of the event before."""
    table = recovered(app, Record(0, 0, b"x", b"0/"), topic="unit-count-changelog")
    assert table.held(0).head is None


def test_the_environment_changes_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faust lets APP_VERSION and the like override what the code says; a new version would be a new group."""
    for name, value in {"APP_VERSION": "1.2.3", "APP_STORE": "rocksdb://", "WEB_PORT": "1", "TIMEZONE": "x"}.items():
        monkeypatch.setenv(name, value)
    app = App(options(["127.0.0.1:9"], "unit"))
    assert app.conf.id == "unit"
    assert str(app.conf.store) == "memory:"


def test_an_app_without_a_table_is_refused() -> None:
    """Faust would assign partitions by another rule, which doesn't co-partition."""
    given = options(["127.0.0.1:9"], "unit")
    board = [spec for spec in STAGES if spec.table is None]
    with pytest.raises(ValueError, match="needs a stage with a table"):
        App(given.__class__(**{**vars(given), "stages": tuple(board)}))


def test_a_topic_that_two_stages_read_is_refused() -> None:
    """Chunks go to one stage."""
    given = options(["127.0.0.1:9"], "unit")
    twice = given.__class__(**{**vars(given), "topics": {**given.topics, "labels": given.topics["decisions"]}})
    with pytest.raises(ValueError, match="is read by stage count already"):
        App(twice)


def test_a_password_goes_to_every_client_and_into_no_repr() -> None:
    """Faust's and aiokafka's forms say the same."""
    sasl = Sasl(mechanism="SCRAM-SHA-512", username="u", password="secret")  # noqa: S106  # a test's
    connection = Connection(servers=("a:1",), sasl=sasl)
    assert connection.client_options()["sasl_plain_password"] == sasl.password
    assert connection.client_options()["security_protocol"] == "SASL_PLAINTEXT"
    assert "secret" not in repr(connection)
    assert "secret" not in repr(connection.credentials())


@pytest.mark.parametrize(("reached", "crashes", "code"), [(True, False, 1), (False, False, 0), (False, True, 1)])
def test_what_hangs_ends_with_0_only_where_no_broker_took_the_last_checkpoint(
    app: App, monkeypatch: pytest.MonkeyPatch, *, reached: bool, crashes: bool, code: int
) -> None:
    """Connections that don't close with a broker there are an error, and so is a crash on the way out."""
    exits: list[int] = []
    timers: list[threading.Timer] = []
    monkeypatch.setattr(threading.Timer, "start", lambda timer: timers.append(timer))  # noqa: PLW0108  # binds
    monkeypatch.setattr("os._exit", exits.append)
    monkeypatch.setattr("logging.shutdown", lambda: None)
    with closing(asyncio.new_event_loop()) as loop:
        process = Process(app, loop)
        app.left(reached)
        if crashes:
            process._crash(RuntimeError())  # noqa: SLF001  # what mode calls
    for timer in timers:
        if not timer.finished.is_set():  # cancelled
            timer.function(*timer.args)
    assert exits == [code]


def test_an_absent_broker_is_one_line_and_ever_longer_pauses(capsys: pytest.CaptureFixture[str]) -> None:
    """The log has one line, however often was tried, and the pauses double up to the longest."""
    pauses: list[float] = []

    class GivesUp(Exception):
        """Ends the wait."""

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 5:
            raise GivesUp

    connection = Connection(servers=(f"127.0.0.1:{free_port()}",))
    with pytest.raises(GivesUp):
        asyncio.run(wait_for_broker(connection, first_s=1.0, longest_s=5.0, sleep=sleep))
    assert pauses == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert capsys.readouterr().out.count("broker_absent") == 1


def test_a_repeated_warning_passes_once_in_its_time() -> None:
    """Hundreds of attempts a second are one line in the log, and another one half a minute later."""
    now = [0.0]
    once = OncePer(30.0, clock=lambda: now[0])

    def passes(level: int, text: str, *arguments: object) -> bool:
        return once.filter(logging.LogRecord("aiokafka", level, "", 0, text, arguments, None))

    assert passes(logging.ERROR, "Unable connect to %s", 1)
    assert not passes(logging.ERROR, "Unable connect to %s", 2)
    assert passes(logging.ERROR, "Unable to update metadata from %s", 1)
    assert passes(logging.INFO, "Unable connect to %s", 1)
    now[0] = 31.0
    assert passes(logging.ERROR, "Unable connect to %s", 1)
