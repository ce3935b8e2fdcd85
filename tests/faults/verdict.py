"""What is true after the faults: topics, ledger and readings against a replay of the topics' own records.

The replay trusts the recorded history to say which plan decided which offset. Whether history is right is seen from
what the workers sent: each record of `sampled` must be, byte by byte, what the replay draws at its origin. What needs
no replay at all is counted from the records as they were sent: how many can be read, how many can't.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from faults.flow import census
from workers import Fleet
from workloads import differences

from monitor.ledger_rows import document_of
from monitor.origin import DrawnRecord, LabelRecord, Origin
from monitor.plan import Plan
from monitor.readings import BoardSnapshot, Tally
from monitor.records import Record
from monitor.route import Change, Route
from streams.topics import changelog

NO_LABEL = {"late", "repeat"}
"""Outcomes that a label has beside another one, or that documents have."""


class Verdict(NamedTuple):
    """How much there was, and what is wrong with it."""

    decisions: int
    labels: int
    sampled: int
    differences: list[str]


async def judge_topics(fleet: Fleet, board: BoardSnapshot, good: Mapping[str, set[bytes]]) -> Verdict:
    """Find whatever was lost, counted twice, or decided otherwise than on record; a line each."""
    topics = fleet.tree.topics
    decided = await fleet.by_partition("decisions", topics.partitions)
    labelled = await fleet.by_partition("labels", topics.labels_partitions)
    drawn = await draw_again(fleet, decided)
    found = [
        *_counts_of_decisions(board, good["decisions"], decided),
        *_counts_of_labels(board, good["labels"], labelled),
    ]
    found += differences({"drawn": len(drawn)}, {"drawn": _sum(board.drawn)}, "board")
    found += await _sampled(fleet, drawn)
    found += await _labels(fleet, good["labels"], labelled)
    found += await _ledger(fleet, drawn)
    return Verdict(sum(map(len, decided.values())), sum(map(len, labelled.values())), len(drawn), found)


async def draw_again(fleet: Fleet, decided: Mapping[int, list[Record]]) -> dict[Origin, bytes]:
    """Return each drawn document as it must stand in `sampled`, by partition and offset of its decision."""
    topic, plan, history = fleet.tree.topics.decisions, Plan(fleet.tree), await fleet.history()
    drawn: dict[Origin, bytes] = {}
    for partition, records in decided.items():
        plans = [(c.offset, history.plan(c.config, c.thinning, plan)) for c in history.of(topic, partition)]
        route = Route(topic, partition, [Change(offset, then) for offset, then in plans])
        for output in route.fold("decisions", records, len(records)):
            if output.channel == "sampled" and output.value is not None:
                drawn[msgspec.json.decode(output.value, type=DrawnRecord).origin or (0, 0)] = output.value
    return drawn


def _counts_of_decisions(board: BoardSnapshot, good: set[bytes], decided: Mapping[int, list[Record]]) -> Iterator[str]:
    """Compare the census with what stands in the topic: every decision once, every bad record once."""
    sent = census(good, (record.value for records in decided.values() for record in records))
    counted = {"good": _sum(board.strata), "bad": _sum(board.dead_letters, "decisions")}
    yield from differences({name: sent[name] for name in counted}, counted, "decisions")


def _counts_of_labels(board: BoardSnapshot, good: set[bytes], labelled: Mapping[int, list[Record]]) -> Iterator[str]:
    """Compare outcomes with what stands in the topic: every label has one, and one alone."""
    sent = census(good, (record.value for records in labelled.values() for record in records))
    outcomes = sum(figure.value for figure in board.outcomes if figure.labels[0] not in NO_LABEL)
    counted = {"good": int(outcomes), "bad": _sum(board.dead_letters, "labels")}
    yield from differences({name: sent[name] for name in counted}, counted, "labels")


def _sum(figures: Iterable[Tally], first: str | None = None) -> int:
    return int(sum(figure.value for figure in figures if first is None or figure.labels[0] == first))


async def _sampled(fleet: Fleet, drawn: Mapping[Origin, bytes]) -> list[str]:
    """Look for documents that are missing in `sampled`, weren't drawn, or stand there in two ways."""
    found: defaultdict[Origin, set[bytes]] = defaultdict(set)
    for record in await fleet.read("sampled", fleet.tree.topics.partitions):
        found[msgspec.json.decode(record.value, type=DrawnRecord).origin or (0, 0)].add(record.value)
    lines = [f"sampled: {_of(origin)} is missing" for origin in drawn.keys() - found.keys()]
    lines += [f"sampled: {_of(origin)} wasn't drawn" for origin in found.keys() - drawn.keys()]
    return lines + [
        f"sampled: {_of(origin)} otherwise than replayed: {_plans({drawn[origin]})}, is {_plans(values)}"
        for origin, values in found.items()
        if origin in drawn and values != {drawn[origin]}
    ]


def _plans(values: Iterable[bytes]) -> str:
    """Return under which configs records were decided."""
    read = [msgspec.json.decode(value, type=DrawnRecord) for value in values]
    return " and ".join(sorted(f"{record.config} π={record.probability:.3f}" for record in read))


def _of(origin: Origin) -> str:
    return f"the decision at {origin[0]}@{origin[1]}"


async def _labels(fleet: Fleet, good: set[bytes], labelled: Mapping[int, list[Record]]) -> list[str]:
    """Look for labels that were never sent on, or that never came."""
    sent = {(p, record.offset) for p, records in labelled.items() for record in records if record.value in good}
    found: Counter[Origin] = Counter()
    for record in await fleet.read("labels_by_document", fleet.tree.topics.partitions):
        found[msgspec.json.decode(record.value, type=LabelRecord).origin or (-1, -1)] += 1
    lines = [f"labels_by_document: the label at {p}@{offset} is missing" for p, offset in sorted(sent - found.keys())]
    return lines + [f"labels_by_document: {p}@{offset} is no label" for p, offset in found.keys() - sent]


async def _ledger(fleet: Fleet, drawn: Mapping[Origin, bytes]) -> list[str]:
    """Look for documents that the ledger's rows lack, hold twice, or hold without their having been drawn."""
    rows: dict[str, bytes | None] = {}
    for record in await fleet.read_topic(changelog(fleet.tree.kafka.group, "ledger"), fleet.tree.topics.partitions):
        rows[(record.key or b"").decode(errors="surrogateescape").partition("/")[2]] = record.value
    held: Counter[tuple[str, str]] = Counter()
    for doc_id, row in rows.items():
        if doc_id and row is not None:
            document = document_of(row)
            held.update((doc_id, one.version) for text in document.texts for one in text.drawn)
    expected = {(d.doc_id, d.version) for d in (msgspec.json.decode(v, type=DrawnRecord) for v in drawn.values())}
    lines = [f"ledger: a document read by version {v} is missing: {doc_id}" for doc_id, v in expected - held.keys()]
    lines += [f"ledger: {doc_id} was never drawn by version {v}" for doc_id, v in held.keys() - expected]
    return lines + [f"ledger: {doc_id} is there {times} times" for (doc_id, _), times in held.items() if times > 1]
