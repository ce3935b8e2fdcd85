"""deploy/compose.yaml without an engine: its Kafka settings, its commands and its health checks, as real processes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from brokers import free_port, missing_for_kafka, running_kafka
from compose import COMPOSE, WORKERS, compose, image_environment, image_healthcheck, kafka_properties
from workers import LOUD, ROOT, Fleet, Worker, until

pytestmark = [pytest.mark.broker, pytest.mark.kafka]

SERVICES = compose()["services"]
DECISION = {"lang": "en", "text": "Anna met Bo", "detector": "x", "version": "1", "spans": []}


class Stack:
    """The services of ours, as processes of this machine that write no file; only addresses and paths differ."""

    def __init__(self, server: str, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.ports = {name: str(free_port()) for name in WORKERS}
        (folder / "sampling_key").write_text("a key of the test\n")

    def command(self, name: str) -> list[str]:
        """Return what the entry point is given, with each mounted path where it really lies."""
        service = SERVICES[name]
        mounts = [mount.split(":")[:2] for mount in service["volumes"]]
        parts = list(service["command"])
        for here, there in mounts:
            parts = [part.replace(f"{there}/", f"{COMPOSE.parent / here}/") for part in parts]
        return [sys.executable, "-P", str(ROOT / "tests" / "unwriting_worker.py"), *parts]

    def environ(self, name: str) -> dict[str, str]:
        """Return the image's environment and the service's over it."""
        # measuring coverage would write a file
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("RECALLWATCH_", "COV"))}
        given: Mapping[str, str] = {**image_environment(), **SERVICES[name]["environment"]}
        moved = {
            "kafka:19092": self.server,
            "/run/secrets/": f"{self.folder}/",
            "0.0.0.0": "127.0.0.1",  # noqa: S104  # replaced
            "9464": self.ports.get(name, "0"),
        }
        put = {key: value for key, value in given.items() if key.startswith("RECALLWATCH_")}
        for old, new in moved.items():
            put = {key: value.replace(old, new) for key, value in put.items()}
        return {**kept, **put, "PYTHONPATH": str(ROOT)}

    def probe(self, name: str, command: list[str]) -> int:
        """Return the exit code of a health check of a worker."""
        here = [sys.executable, *(part.replace("9464", self.ports[name]) for part in command[1:])]
        return subprocess.run(here, env=self.environ(name), capture_output=True, check=False).returncode


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """Give Kafka with the settings of its service, on ports of this machine that are free."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    ports = {
        "@kafka:9093": "@127.0.0.1:{controller}",
        "kafka:19092": "127.0.0.1:{port}",
        "127.0.0.1:9092": f"127.0.0.1:{(outside := free_port())}",
        "://:19092": "://127.0.0.1:{port}",
        "://:9092": f"://127.0.0.1:{outside}",
        "://:9093": "://127.0.0.1:{controller}",
        "/var/lib/kafka/data": "{data}",
    }
    with running_kafka(tmp_path / "kafka", kafka_properties(SERVICES["kafka"]["environment"], ports)) as broker:
        yield Stack(broker.server, tmp_path)


def test_two_workers_of_the_file_share_a_kafka_of_the_file(stack: Stack) -> None:
    """Topics, both workers ready and scraped, decisions counted once, the health checks, an end within its time."""
    made = subprocess.run(
        stack.command("topics"), env=stack.environ("topics"), cwd="/", capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stderr) == (0, "")
    fleet = Fleet(stack.server, "", stack.folder)
    for number, name in enumerate(WORKERS):
        log = stack.folder / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                stack.command(name), env=stack.environ(name), cwd="/", stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        fleet.workers[number] = Worker(process, log)
        fleet.started.append(fleet.workers[number])
    checks = (SERVICES["worker-1"]["healthcheck"]["test"][1:], image_healthcheck())

    async def run() -> None:
        async def listens() -> bool:
            return bool(fleet.workers[0].url)

        await until(listens, 30, "the first worker listens")
        assert [stack.probe(WORKERS[0], check) for check in checks] == [1, 0]  # alive, and not ready yet
        await fleet.ready(0, 1, within_s=120)
        assert [stack.probe(name, check) for name in WORKERS for check in checks] == [0] * 4
        producer = AIOKafkaProducer(bootstrap_servers=stack.server)
        await producer.start()
        for number in range(200):
            name = f"d{number}"
            await producer.send("decisions", json.dumps({"doc_id": name, **DECISION}).encode(), key=name.encode())
        await producer.stop()

        async def all_counted() -> bool:
            return sum([await fleet.decided(number) for number in (0, 1)]) == 200

        await until(all_counted, 60, "200 decisions counted")
        shares = [await fleet.decided(number) for number in (0, 1)]
        assert min(shares) > 0
        answers = [[await fleet.get(number, path) for path in ("readyz", "metrics")] for number in (0, 1)]
        assert [[status for status, _ in worker] for worker in answers] == [[200, 200]] * 2
        begun = time.monotonic()
        assert await fleet.end_all() == [0, 0]
        assert time.monotonic() - begun < int(SERVICES["worker-1"]["stop_grace_period"].removesuffix("s"))

    try:
        asyncio.run(run())
    finally:
        fleet.kill()
    logs = "".join(worker.log.read_text() for worker in fleet.started)
    assert [word for word in LOUD if word in logs] == []
    assert "sampling_key_is_default" not in logs
