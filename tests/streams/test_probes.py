"""`/healthz` and `/readyz` of real workers: while they recover, hang, are frozen, are spare, or lose their broker."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hung_worker import BLOCKED_S
from workers import ROOT, Fleet, until
from workloads import decision, invented

from monitor.metrics import ASSIGNED, READY
from streams.embedded import EmbeddedBroker

pytestmark = pytest.mark.broker

HANGING = (str(ROOT / "tests" / "hung_worker.py"),)


async def answers(fleet: Fleet, number: int, path: str, status: int, start: str, within_s: float = 30.0) -> None:
    """Wait until a worker answers so."""
    seen: list[tuple[int, str]] = []

    async def does() -> bool:
        seen.append(await fleet.get(number, path))
        return seen[-1][0] == status and seen[-1][1].startswith(start)

    try:
        await until(does, within_s, f"/{path} says {status} {start}")
    except AssertionError as error:
        error.add_note(f"the last answer: {seen[-1]}")
        raise


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


def test_a_chunk_loop_that_hangs_is_told(fleet: Fleet) -> None:
    """The event loop turns, so it isn't that; nothing is folded any more, and a restart is what helps."""
    fleet.program = HANGING
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        process = fleet.start(0).process
        await fleet.ready(0)
        process.send_signal(signal.SIGUSR2)
        await answers(fleet, 0, "healthz", 503, "stuck: no checkpoint ended for ")
        process.kill()

    asyncio.run(run())


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    """Give a broker that a test may end."""
    broker = EmbeddedBroker(port=0)
    broker.start()
    yield broker
    broker.stop()


@pytest.mark.usefixtures("embedded_server")
def test_a_worker_whose_broker_is_gone_is_alive_and_not_ready(broker: EmbeddedBroker, tag: str, tmp_path: Path) -> None:
    """Restarting it would help nobody; it says that the group doesn't answer once a session is over."""
    fleet = Fleet(broker.server, tag, tmp_path, ("topics.partitions=1",))
    assert fleet.run("topics").returncode == 0

    async def run() -> None:
        fleet.start(0)
        await fleet.ready(0)
        await asyncio.to_thread(broker.stop)
        await answers(fleet, 0, "readyz", 503, "not ready: the group hasn't answered for a session")
        assert (await fleet.get(0, "healthz")) == (200, "alive\n")

    try:
        asyncio.run(run())
    finally:
        fleet.kill()
