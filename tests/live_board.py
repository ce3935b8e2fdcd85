"""What workers would have left on a broker: the changelog of the ledger, and the tallies."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import structlog
from aiokafka import AIOKafkaProducer
from clusters import Cluster
from workers import Fleet

from monitor.changes import change_record
from monitor.fold import Output
from monitor.history import config_record
from monitor.plan import Plan
from monitor.readings import BoardSnapshot
from streams.topics import changelog

TEXT = "Anna met Bo in Gouda"
DAY_S = 86_400


@contextmanager
def logs_kept() -> Iterator[None]:
    """Leave logging as it was: a command that runs in this process sets it up for itself."""
    root, broker = logging.getLogger(), logging.getLogger("streams.broker")
    before = root.handlers[:], root.level, broker.level
    try:
        yield
    finally:
        root.handlers[:], root.level, broker.level = before
        structlog.reset_defaults()


def filled(plan: Plan, now: float) -> Cluster:
    """Return stages that counted forty documents of two days; of three names in each, one or two were found."""
    cluster = Cluster(plan)
    for number in range(40):
        doc_id, at_ms = f"doc {number}", int((now - (number < 20) * DAY_S) * 1000)
        spans = [{"start": 0, "end": 4, "entity": "PERSON"}, {"start": 15, "end": 17, "entity": "LOCATION"}]
        value = {"doc_id": doc_id, "lang": "en", "text": TEXT, "detector": "x", "version": "1"}
        decided = json.dumps({**value, "spans": spans[: 1 + number % 2]}).encode()
        cluster.produce("decisions", doc_id.encode(), decided, at_ms)
    for number in range(36):
        doc_id = f"doc {number}"
        true = [(0, 4, "PERSON"), (9, 11, "PERSON"), (15, 20, "LOCATION")]
        spans = [{"start": start, "end": end, "entity": entity} for start, end, entity in true]
        answer = json.dumps({"doc_id": doc_id, "annotator": "jo", "spans": spans}).encode()
        cluster.produce("labels", doc_id.encode(), answer, int(now * 1000))
    cluster.settle()
    return cluster


async def publish(fleet: Fleet, cluster: Cluster, history: Iterable[Output]) -> None:
    """Write what the stages hold to a broker's topics, an expired and a deleted row among it, and what is in force."""
    table = changelog(fleet.tag, "ledger")
    ledger = cluster.host("ledger")
    producer = AIOKafkaProducer(bootstrap_servers=fleet.server)
    await producer.start()
    try:
        some = next(iter(ledger.rows.values()))
        rows: list[tuple[str, bytes | None]] = [("deleted", some), *ledger.rows.items(), ("deleted", None)]
        for doc_id, row in [*rows, ("", ledger.head)]:
            await producer.send_and_wait(table, row, key=f"0/{doc_id}".encode(), partition=0)
        for record in history:
            await producer.send_and_wait(fleet.topic("history"), record.value, key=record.key, partition=0)
        for output in cluster.published:
            await producer.send_and_wait(fleet.topic("tallies"), output.value, key=output.key, partition=0)
    finally:
        await producer.stop()


def published(fleet: Fleet, *, recorded: bool = True) -> BoardSnapshot:
    """Make the topics, fill them, and return what a board says of them; `recorded`: with the config in force."""
    plan = Plan(fleet.tree)
    now = time.time()
    history = [config_record(plan, now), change_record("decisions", 0, 0, plan, now)] if recorded else []
    cluster = filled(plan, now)
    done = fleet.run("topics")
    assert done.returncode == 0, done.stderr
    asyncio.run(publish(fleet, cluster, history))
    return cluster.snapshot(now)
