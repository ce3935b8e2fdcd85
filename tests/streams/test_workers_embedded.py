"""The product on the embedded broker, end to end and without faults; and what is refused before any broker is asked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from workers import Fleet, children, runs, until
from workloads import People, comparable, decisions, invented, replayed, unasked, wait_for_readings

pytestmark = pytest.mark.broker


@pytest.fixture
def fleet(tag: str, tmp_path: Path) -> Iterator[Fleet]:
    """Give commands that find no broker, unless a test gives them one."""
    fleet = Fleet("127.0.0.1:9", tag, tmp_path, ("topics.labels_partitions=2",))
    try:
        yield fleet
    finally:
        fleet.kill()


@pytest.mark.usefixtures("embedded_server")
def test_up_brings_up_all_and_leaves_nothing(fleet: Fleet) -> None:
    """`recallwatch up`: decisions in, tasks out, labels in, the readings of a replay; after SIGTERM nothing runs."""
    fleet.settings += ("sampling.random_rate=0.5",)
    documents = invented(200)
    sent, early = decisions(documents), unasked(documents)

    async def run() -> list[int]:
        up = fleet.start(0, "up", "--port", "0")

        async def listens() -> bool:
            return bool(up.said("embedded_broker_started"))

        await until(listens, 60, "the broker")
        fleet.server = str(up.said("embedded_broker_started")[0]["server"])
        await fleet.ready(0, within_s=90)
        async with People(fleet, documents) as people:
            await fleet.send("labels", early)
            await fleet.send("decisions", sent)

            async def all_answered() -> bool:
                expected = comparable(replayed(fleet.tree, sent, [*early, *people.sent]))
                board = await fleet.board()
                return board is not None and comparable(board) == expected and board.queues[-1].done > 50

            await until(all_answered, 90, "the readings of a replay")
        assert await wait_for_readings(fleet, comparable(replayed(fleet.tree, sent, [*early, *people.sent])), 30) == []
        pages = {path: await fleet.get(0, path) for path in ("", "metrics", "readyz", "healthz", "api/board")}
        assert {path: status for path, (status, _) in pages.items()} == dict.fromkeys(pages, 200)
        assert "recallwatch_recall_estimate_ratio{" in pages["metrics"][1]
        assert "EMAIL_ADDRESS" in pages[""][1]
        below = children(up.process.pid)
        assert below
        assert await fleet.end(0) == 0
        return below

    below = asyncio.run(run())
    assert [pid for pid in below if runs(pid)] == []
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(fleet.server.rpartition(":")[2]))) != 0
    assert fleet.noise() == []


def test_a_password_in_the_clear_is_refused(fleet: Fleet) -> None:
    """Without TLS no password is sent, unless the operator says so; the line that says it doesn't show it."""
    fleet.settings += ('kafka.security="sasl_plaintext"', "kafka.username=ann")
    fleet.environment = {"RECALLWATCH_KAFKA_PASSWORD": "hush-hush"}
    done = fleet.run("worker")
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "kafka.security" in line
    assert "sasl_tls" in line
    assert "hush-hush" not in line


def test_a_worker_that_waits_for_its_broker_ends_at_once(fleet: Fleet) -> None:
    """SIGTERM ends it with 0, though it never read anything; it had said once what it waits for."""

    async def run() -> int:
        worker = fleet.start(0)

        async def waits() -> bool:
            return bool(worker.said("broker_absent"))

        await until(waits, 30, "the line about the broker")
        return await fleet.end(0, within_s=15)

    assert asyncio.run(run()) == 0
    assert len(fleet.workers[0].said("broker_absent")) == 1
    assert fleet.noise() == []
