"""Lines of decisions and labels, and what a replay of them says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from monitor.config import Config, read_config
from monitor.readings import ANY, BoardSnapshot, Reading, Tally
from streams.replay import Replay
from streams.replay_days import DayReplay, Schedule
from streams.replay_traffic import Traffic

TEXT = "Anna met Bo in Gouda"
Extent = tuple[int, int, str]
ANNA: Extent = (0, 4, "PERSON")
BO: Extent = (9, 11, "PERSON")


def spans_of(extents: Iterable[Extent]) -> list[dict[str, object]]:
    """Return spans as records hold them."""
    return [{"start": start, "end": end, "entity": entity} for start, end, entity in extents]


def decision(doc_id: str = "a", spans: Sequence[object] = (), **fields: object) -> bytes:
    """Return a line of decisions."""
    made = {"doc_id": doc_id, "lang": "en", "text": TEXT, "detector": "x", "version": "1", "spans": list(spans)}
    return json.dumps(made | fields).encode()


def corpus_line(doc_id: str = "a", spans: Iterable[Extent] = (), annotator: str = "jo", **fields: object) -> bytes:
    """Return a line of a corpus, read by one annotator."""
    labels = [{**span, "annotator": annotator} for span in spans_of(spans)]
    return json.dumps({"doc_id": doc_id, "text": TEXT, "labels": labels, "annotators": [annotator]} | fields).encode()


def label(doc_id: str = "a", spans: Iterable[Extent] = (), annotator: str = "jo", **fields: object) -> bytes:
    """Return a label record of our own."""
    return json.dumps({"doc_id": doc_id, "annotator": annotator, "spans": spans_of(spans)} | fields).encode()


def config(**sections: object) -> Config:
    """Return a config under which every document is drawn, unless it says otherwise."""
    return read_config({"sampling": {"random_rate": 1.0}, **sections})


def replay(
    decisions: Iterable[bytes], labels: Iterable[bytes] = (), annotators: Sequence[str] = (), tree: Config | None = None
) -> BoardSnapshot:
    """Return the readings of these lines."""
    run = Replay(config() if tree is None else tree, annotators)
    run.decide(decisions)
    run.label(labels)
    return run.snapshot()


def cell(snapshot: BoardSnapshot, entity: str = ANY, language: str = ANY, version: str | None = None) -> Reading:
    """Return the one population reading of a cell."""
    key = (entity, language, None)
    (found,) = (
        r
        for r in snapshot.readings
        if (r.entity, r.language, r.stratum) == key and (version is None or r.version == version)
    )
    return found


def counts(tallies: Iterable[Tally]) -> dict[str, float]:
    """Return counts by their labels, joined."""
    return {"/".join(tally.labels): tally.value for tally in tallies}


def found_of_true(snapshot: BoardSnapshot, entity: str = ANY) -> tuple[int, int]:
    """Return how many were found of how many true ones."""
    share = cell(snapshot, entity).matched
    return share.found, share.true


def replay_days(
    sides: tuple[Iterable[bytes], Iterable[bytes]],
    labels: Iterable[bytes] = (),
    schedule: Schedule | None = None,
    tree: Config | None = None,
    annotators: Sequence[str] = (),
    **traffic: int,
) -> DayReplay:
    """Return a replay by days of these lines, after its last day."""
    run = DayReplay(config() if tree is None else tree, schedule or Schedule(), annotators)
    run.label(labels)
    for _ in run.run(Traffic(sides, **traffic)):
        pass
    return run
