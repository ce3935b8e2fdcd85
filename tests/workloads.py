"""Traffic for the product on a broker, with everything in it; and the same input through `replay`, to compare with."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Self

import msgspec
from aiokafka import AIOKafkaConsumer, TopicPartition
from workers import Fleet, until

from monitor.board import Board
from monitor.config import Config
from monitor.fold import Channel, Output
from monitor.intake import Intake
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.readings import AnyTimeLimits, BoardSnapshot, Reading, Window
from monitor.records import Record, Sampled, Task
from monitor.route import Change, Route
from streams.documents import LabelledDocument, documents
from streams.replay import Replay

Keyed = tuple[str, bytes | None]
SEED = 7
EARLY = 7
BAD_DECISIONS: tuple[bytes | None, ...] = (
    b"",
    b"{",
    b"[1]",
    b"\xff\xfe",
    None,
    b'{"doc_id": "", "lang": "en", "text": "", "detector": "d", "version": "1", "spans": []}',
    b'{"doc_id": "x", "lang": "en", "text": 5, "detector": "d", "version": "1", "spans": []}',
    b'{"doc_id": "x", "lang": "en", "text": "t", "detector": "d", "version": "1"}',
    b'{"doc_id": "x", "lang": "en", "text": "\\ud800", "detector": "d", "version": "1", "spans": []}',
    b"[" * 10_000,
)
BAD_LABELS: tuple[bytes | None, ...] = (
    b"",
    b"{",
    b"7",
    None,
    b'{"doc_id": "x", "spans": []}',
    b'{"doc_id": "x", "annotator": "ann", "spans": [{"start": 4, "end": 2, "entity": "PERSON"}]}',
    b'{"doc_id": "x", "annotator": "ann", "spans": "none"}',
)
BAD_SPANS: tuple[dict[str, object], ...] = (
    {"start": 5, "end": 2, "entity": "PERSON"},
    {"start": -4, "end": 2, "entity": "PERSON"},
    {"start": 0, "end": 10_000_000, "entity": "PERSON"},
    {"start": "a", "end": 2, "entity": "PERSON"},
    {"start": 0, "end": 3},
)


def number_of(name: str, purpose: str) -> int:
    """Return a large number that is the same for the same name and purpose."""
    return int.from_bytes(hashlib.blake2b(f"{purpose} {name}".encode(), digest_size=6).digest())


# -- decisions -------------------------------------------------------------------------------------------------------


def decision(document: LabelledDocument, version: str, missed: float) -> Keyed:
    """Return a made-up decision: a share of what is there is missed, some is set off by a letter, some is invented."""
    name = document.doc_id
    spans: list[dict[str, object]] = []
    for place, span in enumerate(document.labels):
        draw = number_of(f"{name} {place}", f"detect {version}") % 1000
        if draw >= 1000 * missed:
            spans.append({"start": span.start + draw % 2, "end": span.end, "entity": span.entity, "score": 0.9})
    draw = number_of(name, "noise") % 40
    if draw < len(BAD_SPANS):
        spans.append(BAD_SPANS[draw])
    elif draw < 10:
        spans.append({"start": 0, "end": 3, "entity": "PERSON"})
    value = {"doc_id": name, "lang": document.lang, "text": document.text, "detector": "made-up", "version": version}
    return name, json.dumps({**value, "spans": spans}).encode()


def decisions(found: Sequence[LabelledDocument]) -> list[Keyed]:
    """Return decisions of two versions; some are sent twice, some documents are read by both, some records are bad."""
    half = len(found) // 2
    sent: list[Keyed] = []
    for number, document in enumerate(found):
        version, missed = ("1.0", 0.2) if number < half else ("1.1", 0.5)
        sent.append(decision(document, version, missed))
        if number % 25 == 0:
            sent.append(sent[-1])
        if number >= half and number % 4 == 0:
            sent.append(decision(found[number - half], "1.1", 0.5))
        if number % 10 == 0:
            sent.append((f"bad {number}", BAD_DECISIONS[number // 10 % len(BAD_DECISIONS)]))
    return sent


# -- labels ----------------------------------------------------------------------------------------------------------


def label(document: LabelledDocument, annotator: str, task: str = "", **fields: object) -> Keyed:
    """Return what an annotator saw, keyed by who it was, as tools do."""
    spans = [{"start": s.start, "end": s.end, "entity": s.entity} for s in document.labels]
    value = {"doc_id": document.doc_id, "annotator": annotator, "task_id": task, "spans": spans, **fields}
    return annotator, json.dumps(value).encode()


def comes_early(document: LabelledDocument) -> bool:
    """Tell whether somebody labels the document before anybody asks."""
    return number_of(document.doc_id, "answer") % 20 == EARLY


def unasked(found: Sequence[LabelledDocument]) -> list[Keyed]:
    """Return labels that answer no task: of documents still to come, of none that was drawn, and bad ones."""
    sent: list[Keyed] = []
    for number, document in enumerate(found):
        if comes_early(document):
            sent.append(label(document, "early"))
        if number % 100 == 0:
            sent.append(label(document._replace(doc_id=f"nobody asked {number}"), "ann"))
            sent.append(("tool", BAD_LABELS[number // 100 % len(BAD_LABELS)]))
    return sent


def answers(document: LabelledDocument, task: Task) -> list[Keyed]:
    """Return the answers to a task: mostly one, now and then none, a skip, a repeat, a revision, a bad one first.

    Only one person's answers to a document differ from each other, and a person's labels have one key: which of two
    people was first isn't the same after a crash, which of one person's answers was, is.
    """
    name, given = ("ann", "ben", "cem")[number_of(document.doc_id, "who") % 3], task.task_id
    good = label(document, name, given)
    beyond = {"start": 0, "end": len(document.text) + 1, "entity": "PERSON"}
    skip = label(document, name, given, spans=[], status="skipped")
    again = label(document, name, given, revision=1)
    variants = {
        0: [skip],
        1: [good, good],
        2: [label(document, name, given, spans=[]), again],
        3: [good, label(document, "second", given)],
        4: [label(document, name, given, spans=list(BAD_SPANS[:1])), good],
        5: [label(document, name, given, spans=[beyond]), good],
        6: [skip, again],
        EARLY: [],
        8: [],
        9: [label(document, name, "a task of another tool"), good],
    }
    return variants.get(number_of(document.doc_id, "answer") % 20, [good])


class People:
    """Answer annotation tasks as they come; what they sent is kept, in order."""

    def __init__(self, fleet: Fleet, found: Sequence[LabelledDocument]) -> None:
        self._fleet = fleet
        self._known = {document.doc_id: document for document in found}
        self._work: asyncio.Task[None] | None = None
        self.tasks: set[str] = set()
        self.documents: set[str] = set()
        """Of which a task was read."""
        self.sent: list[Keyed] = []

    def know(self, found: Sequence[LabelledDocument]) -> None:
        """Take in more documents, before a task about one of them comes."""
        self._known.update({document.doc_id: document for document in found})

    async def asked_about(self, documents: set[str], within_s: float = 60.0) -> None:
        """Wait until there was a task about each of these."""

        async def all_asked() -> bool:
            assert self._work is not None
            if self._work.done():
                self._work.result()
            return documents <= self.documents

        await until(all_asked, within_s, "a task about each document that was drawn")

    async def __aenter__(self) -> Self:
        self._work = asyncio.create_task(self._answer_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work

    async def _answer_all(self) -> None:
        server, partitions = self._fleet.server_for_tests, self._fleet.tree.topics.partitions
        consumer = AIOKafkaConsumer(bootstrap_servers=server, auto_offset_reset="earliest")
        producer = self._fleet.producer()
        await consumer.start()
        await producer.start()
        try:
            topic = self._fleet.topic("annotation_tasks")
            consumer.assign([TopicPartition(topic, number) for number in range(partitions)])
            await consumer.seek_to_beginning()
            async for record in consumer:
                task = msgspec.json.decode(record.value, type=Task)
                if task.task_id not in self.tasks:
                    self.tasks.add(task.task_id)
                    self.documents.add(task.doc_id)
                    for key, value in answers(self._known[task.doc_id], task):
                        await producer.send(self._fleet.topic("labels"), value, key=key.encode())
                        self.sent.append((key, value))
        finally:
            await consumer.stop()
            await producer.stop()


# -- comparing -------------------------------------------------------------------------------------------------------


def comparable(snapshot: BoardSnapshot) -> dict[str, object]:
    """Return all of a snapshot that doesn't depend on when the records came: no ages, windows, times of changes.

    Of a worker's windows the first one is taken; everything lies in it.
    """
    days = snapshot.readings[0].window.days if snapshot.readings else None
    return {
        "readings": {_cell(r): _timeless(r) for r in snapshot.readings if r.window.days == days},
        "queues": {q.language: msgspec.structs.replace(q, oldest_draw=None) for q in snapshot.queues},
        **{
            name: {figure.labels: figure.value for figure in getattr(snapshot, name)}
            for name in ("strata", "outcomes", "dead_letters", "quarantined", "drawn")
        },
    }


def _cell(reading: Reading) -> tuple[str, ...]:
    return (reading.entity, reading.language, reading.detector, reading.version, reading.stratum or "")


def _timeless(reading: Reading) -> Reading:
    """Return a reading without what hangs on the clock; a file has no clock, and so no periods of the alarm.

    A file's any-time limits are those of a single sequence, so what they rest on is compared.
    """
    limits = reading.any_time
    still: dict[str, object] = {"window": Window(None, None, None), "age_s": None, "label_age_s": None, "alarm": None}
    still["any_time"] = None if limits is None else AnyTimeLimits(0.0, 1.0, limits.labelled, None, limits.y_max)
    return msgspec.structs.replace(reading, **still)


def differences(expected: Mapping[str, object], actual: Mapping[str, object], at: str = "") -> list[str]:
    """Return where two comparable snapshots differ, a line each."""
    found: list[str] = []
    for key in sorted({*expected, *actual}, key=str):
        one, other = expected.get(key), actual.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += differences(one, other, f"{at}/{key}")
        elif one != other:
            found.append(f"{at}/{key}: expected {one}, is {other}")
    return found


def replayed(config: Config, decided: Sequence[Keyed], labelled: Sequence[Keyed]) -> BoardSnapshot:
    """Return what `recallwatch replay` says of the same input."""
    run = Replay(config)
    run.decide(value for _, value in decided if value is not None)
    run.label(value for _, value in labelled if value is not None)
    return run.snapshot()


async def wait_for_readings(fleet: Fleet, expected: Mapping[str, object], within_s: float) -> list[str]:
    """Return the differences that are left when the board says what is expected, or when the time is over."""
    left: list[str] = ["no board"]
    end = asyncio.get_running_loop().time() + within_s
    while left and asyncio.get_running_loop().time() < end:
        board = await fleet.board()
        left = ["no board"] if board is None else differences(expected, comparable(board))
        if left:
            await asyncio.sleep(0.5)
    return left


def drawn(config: Config, decided: Sequence[Keyed]) -> set[tuple[str, str]]:
    """Return document and version of every decision that the config draws."""
    route = Route("decisions", 0, [Change(0, Plan(config))])
    records = [Record(offset, 0, value) for offset, (_, value) in enumerate(decided)]
    outputs = route.fold("decisions", records, len(records))
    found = [msgspec.json.decode(o.value or b"", type=Sampled) for o in outputs if o.channel == "sampled"]
    return {(document.doc_id, document.version) for document in found}


async def replayed_by_history(fleet: Fleet) -> BoardSnapshot:
    """Return what the topics' own records come to where each partition is decided under its recorded changes."""
    topics, plan, history = fleet.tree.topics, Plan(fleet.tree), await fleet.history()
    ledger = Ledger(0, plan, {"sampled": topics.sampled, "labels_by_document": topics.labels_by_document})
    board = Board(plan, [None])
    folds: list[Route | Intake | Ledger] = [ledger]
    for partition, records in (await fleet.by_partition("decisions", topics.partitions)).items():
        changes: list[Change] = []
        for recorded in history.of(topics.decisions, partition):
            then = history.plan(recorded.config, recorded.thinning, plan)
            changes.append(Change(recorded.offset, then))
        route = Route(topics.decisions, partition, changes)
        folds.append(route)
        _hand_on("sampled", route.fold("decisions", records, len(records)), ledger)
    for partition, records in (await fleet.by_partition("labels", topics.labels_partitions)).items():
        intake = Intake(topics.labels, partition, plan)
        folds.append(intake)
        _hand_on("labels_by_document", intake.fold("labels", records, len(records)), ledger)
    for fold in folds:
        for output in fold.tallies():
            board.take(output.key, output.value)
    return board.snapshot(None)


def _hand_on(channel: Channel, outputs: Sequence[Output], ledger: Ledger) -> None:
    first = ledger.position(channel) or 0
    wanted = [output for output in outputs if output.channel == channel]
    records = [Record(first + n, output.timestamp_ms or 0, output.value) for n, output in enumerate(wanted)]
    ledger.fold(channel, records, first + len(records))


def invented(number: int, *, start: int = 0) -> list[LabelledDocument]:
    """Return generated documents."""
    return list(documents(SEED, number, start=start))


def parts(sent: Sequence[Keyed], number: int) -> list[Sequence[Keyed]]:
    """Return `sent` in so many parts of about the same length, in order."""
    size = -(-len(sent) // number)
    return [sent[start : start + size] for start in range(0, len(sent), size)]
