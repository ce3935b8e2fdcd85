"""`/healthz` and `/readyz` of real workers: while they recover, hang, are frozen, are spare, or lose their broker."""

from __future__ import annotations

import asyncio
import html
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hung_worker import BLOCKED_S, LIMITS, SLOW_S
from workers import ROOT, Fleet, until
from workloads import decision, invented

from monitor.metrics import ASSIGNED, HEARTBEAT, READY
from streams.embedded import EmbeddedBroker

pytestmark = pytest.mark.broker

HANGING = (str(ROOT / "tests" / "hung_worker.py"),)


async def answers(fleet: Fleet, number: int, path: str, status: int, part: str, within_s: float = 30.0) -> None:
    """Wait until a worker answers so; `part` is what it says among other things."""
    seen: list[tuple[int, str]] = []

    async def does() -> bool:
        seen.append(await fleet.get(number, path))
        return seen[-1][0] == status and part in seen[-1][1]

    try:
        await until(does, within_s, f"/{path} says {status} {part}")
    except AssertionError as error:
        error.add_note(f"the last answer: {seen[-1]}")
        raise


async def stays_alive(fleet: Fleet, seconds: float) -> None:
    """Look for so long whether worker 0 is alive."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert (await fleet.get(0, "healthz")) == (200, "alive\n")
        await asyncio.sleep(0.1)


async def until_ready(fleet: Fleet, number: int) -> list[str]:
    """Return what a worker says until it's ready, each answer once; the last one is that it is."""
    said: list[str] = []

    async def ready() -> bool:
        status, text = await fleet.get(number, "readyz")
        if text and text not in said:
            said.append(text)
        assert status in {0, 200, 503}
        return status == 200

    await until(ready, 60, f"worker {number} ready", every_s=0.01)
    return said


def test_a_worker_is_not_ready_until_its_state_is_recovered(fleet: Fleet) -> None:
    """503 and what it waits for; 200 once it reads on where the state ends; alive all the time."""
    sent = [decision(document, "1.0", 0.2) for document in invented(400)]
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        fleet.start(0)
        await fleet.ready(0)
        await fleet.send("decisions", sent)

        async def counted() -> bool:
            return await fleet.decided(0) == len(sent)

        await until(counted, 60, "all decisions counted")
        assert await fleet.end(0) == 0
        again = fleet.start(0)
        said = await until_ready(fleet, 0)
        read = again.said("reading_from")
        assert said[0].startswith("not ready: waits for ")
        assert said[-1] == "ready: reads 5 partitions\n"
        assert [text for text in said[:-1] if not text.startswith("not ready: waits for ")] == []
        assert f"{fleet.topic('decisions')}/0@{len(sent)}" in str(read[-1]["positions"])
        assert (await fleet.get(0, "healthz")) == (200, "alive\n")
        assert await fleet.end(0) == 0

    asyncio.run(run())
    assert fleet.noise() == []


def test_a_spare_is_ready_and_takes_over(fleet: Fleet) -> None:
    """More workers than partitions: all are ready, so a rollout goes on; who was spare reads when the other ends."""
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        fleet.start(0)
        await answers(fleet, 0, "readyz", 200, "ready: reads 5 partitions", 60)
        fleet.start(1)
        await until_ready(fleet, 1)

        async def one_is_spare() -> bool:
            said = sorted([(await fleet.get(number, "readyz"))[1][:14] for number in (0, 1)])
            return said == ["ready: a spare", "ready: reads 5"]

        await until(one_is_spare, 60, "one of two is spare")

        async def both_export_it() -> bool:
            found = [await fleet.metrics(number) for number in (0, 1)]
            return sorted((m.get(READY.name), m.get(ASSIGNED.name)) for m in found) == [(1, 0), (1, 5)]

        await until(both_export_it, 10, "both are ready, one with partitions and one without")
        busy = 0 if (await fleet.get(0, "readyz"))[1].startswith("ready: reads") else 1
        assert await fleet.end(busy) == 0
        await answers(fleet, 1 - busy, "readyz", 200, "ready: reads 5 partitions", 60)
        assert await fleet.end(1 - busy) == 0

    asyncio.run(run())
    assert fleet.noise() == []


def test_a_loop_that_hangs_is_told_and_a_frozen_process_does_not_answer(fleet: Fleet) -> None:
    """A blocked event loop: 503 from the thread beside it, 200 when it turns again. SIGSTOP: no answer at all."""
    fleet.program = HANGING
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        process = fleet.start(0).process
        await fleet.ready(0)
        process.send_signal(signal.SIGUSR1)
        await answers(fleet, 0, "healthz", 503, "stuck: the event loop has stood still for ", BLOCKED_S)
        await answers(fleet, 0, "healthz", 200, "alive", BLOCKED_S)
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(fleet.get(0, "healthz"), 2.0)
        process.send_signal(signal.SIGCONT)
        await answers(fleet, 0, "healthz", 200, "alive")
        ending = asyncio.create_task(fleet.end(0))
        await answers(fleet, 0, "readyz", 503, "not ready: it stops", 5)
        assert await ending == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("checkpoints", "no checkpoint ended"),
        ("folding", "no chunk was folded"),
        ("publishing", "nothing was published"),
        ("following", "config and history were not followed"),
        ("client", "the Kafka client's thread has stood still"),
    ],
)
def test_a_part_that_hangs_is_told_everywhere(fleet: Fleet, part: str, said: str) -> None:
    """The event loop turns, so it isn't that; a restart is what helps. Page and metrics say what `/healthz` does."""
    fleet.program, fleet.environment = HANGING, {"HANGS_IN": part}
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        process = fleet.start(0).process
        await fleet.ready(0)
        assert (await fleet.get(0, "healthz")) == (200, "alive\n")
        assert "a restart" not in (await fleet.get(0, ""))[1]
        assert time.time() - (await fleet.metrics(0))[HEARTBEAT.name] < LIMITS.loop_s
        process.send_signal(signal.SIGUSR2)
        await fleet.send("decisions", [decision(document, "1.0", 0.2) for document in invented(10)])
        await answers(fleet, 0, "healthz", 503, f"{said} for ")
        assert time.time() - (await fleet.metrics(0))[HEARTBEAT.name] > LIMITS.loop_s
        page = html.unescape((await fleet.get(0, ""))[1])
        assert "This worker is stuck: " in page
        assert f"{said} for " in page
        process.kill()

    asyncio.run(run())


def test_a_recovery_that_hangs_is_told(fleet: Fleet) -> None:
    """The group answers, each partition has a leader, and still nothing is read."""
    fleet.program, fleet.environment = HANGING, {"HANGS_IN": "opening"}
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        process = fleet.start(0).process
        await answers(fleet, 0, "readyz", 503, "not ready: waits for the state of its partitions", 60)
        await answers(fleet, 0, "healthz", 503, "stuck: recovery has stood still, though the group answers, for ")
        process.kill()

    asyncio.run(run())


def test_a_backlog_and_a_recovery_are_no_hang(fleet: Fleet) -> None:
    """A worker that has its hands full for twice as long as silence may last: alive at every look."""
    fleet.program, fleet.environment = HANGING, {"HANGS_IN": "nothing"}
    fleet.settings += ("kafka.chunk_records=100",)
    assert fleet.run("topics").returncode == 0
    chunks = round(2 * LIMITS.chunks_s / SLOW_S)
    sent = [decision(document, "1.0", 0.2) for document in invented(100)] * chunks

    async def run() -> None:
        await fleet.send("decisions", sent)
        for count in (len(sent), 0):
            fleet.start(0)
            looks = 0

            async def all_counted(count: int = count) -> bool:
                nonlocal looks
                status, text = await fleet.get(0, "healthz")
                assert (status, text) in {(0, ""), (200, "alive\n")}
                looks += status == 200
                return looks > 20 and await fleet.decided(0) == count and (await fleet.get(0, "readyz"))[0] == 200

            await until(all_counted, 120, "the backlog is read", every_s=0.05)
            assert await fleet.end(0) == 0

    asyncio.run(run())
    assert fleet.noise() == []


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    """Give a broker that a test may end."""
    broker = EmbeddedBroker(port=0)
    broker.start()
    yield broker
    broker.stop()


@pytest.mark.usefixtures("embedded_server")
def test_a_recovery_that_waits_for_its_broker_is_no_hang(broker: EmbeddedBroker, tag: str, tmp_path: Path) -> None:
    """It stands still as one that hangs does; but the group doesn't answer, so a restart would help nobody."""
    settings = {"HANGS_IN": "opening"}
    fleet = Fleet(broker.server, tag, tmp_path, ("topics.partitions=1",), program=HANGING, environment=settings)
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        fleet.start(0)
        await answers(fleet, 0, "readyz", 503, "not ready: waits for the state of its partitions", 60)
        await asyncio.to_thread(broker.stop)
        await asyncio.sleep(fleet.tree.kafka.session_timeout_s + 1)  # until then the group may still have answered
        await stays_alive(fleet, 2 * LIMITS.chunks_s)

    try:
        asyncio.run(run())
    finally:
        fleet.kill()


@pytest.mark.usefixtures("embedded_server")
def test_a_worker_whose_broker_is_gone_is_alive_and_not_ready(broker: EmbeddedBroker, tag: str, tmp_path: Path) -> None:
    """Restarting it would help nobody; it says that the group doesn't answer once a session is over."""
    fleet = Fleet(broker.server, tag, tmp_path, ("topics.partitions=1",), program=HANGING)
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        fleet.start(0)
        await fleet.ready(0)
        await asyncio.to_thread(broker.stop)
        await answers(fleet, 0, "readyz", 503, "not ready: the group hasn't answered for a session")
        await stays_alive(fleet, 2 * LIMITS.chunks_s)

    try:
        asyncio.run(run())
    finally:
        fleet.kill()
