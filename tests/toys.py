"""Toy folds and a worker of them, for the delivery tests.

`python toys.py JSON` runs a worker; JSON holds `servers`, `tag`, and optionally `die` (the chance that a failure point
ends the process), `seed`, `fail_at` (the step at which it ends for certain), `request_bytes` (the largest record).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from monitor.fold import Channel, Fold, Output
from monitor.records import Record
from streams.app import App
from streams.broker import Connection
from streams.options import EMBEDDED, AppOptions, Reading, Sending, Timings
from streams.stage import StageSpec
from streams.topics import Layout, TopicSpec, topic_specs
from streams.worker import run_worker

PARTITIONS = 4
TABLES: Mapping[str, Channel] = {"count": "decisions", "keep": "sampled", "intake": "labels"}


def digest(document: str) -> int:
    """Return a number that no two documents share, for sums that show each of them."""
    return int.from_bytes(hashlib.blake2b(document.encode(), digest_size=6).digest())


def drawn(document: str) -> bool:
    """Tell whether a document is one of the tenth that is forwarded."""
    return digest(document) % 10 == 0


class CountState(TypedDict):
    """The head of a `CountFold`."""

    following: int | None
    count: int
    total: int


class CountFold:
    """Counts what it reads, forwards a tenth to `sampled`, publishes its count as a tally."""

    def __init__(self, partition: int, head: bytes | None) -> None:
        self.partition = partition
        self.state: CountState = json.loads(head) if head else {"following": None, "count": 0, "total": 0}

    def position(self, channel: Channel) -> int | None:
        """Return the offset to read next."""
        assert channel == "decisions"
        return self.state["following"]

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Count, and give back the drawn ones."""
        assert channel == "decisions"
        outputs = []
        for record in records:
            if record.offset < (self.state["following"] or 0):
                continue
            document = json.loads(record.value or b"{}")["doc_id"]
            self.state["count"] += 1
            self.state["total"] += digest(document)
            if drawn(document):
                outputs.append(Output("sampled", document.encode(), record.value))
        self.state["following"] = following
        return outputs

    def rows(self) -> Mapping[str, bytes | None]:
        """Return nothing: the head is all."""
        return {}

    def head(self) -> bytes:
        """Return position and counts as one row."""
        return json.dumps(self.state).encode()

    def tallies(self) -> list[Output]:
        """Publish the count with its position."""
        tally = {"partition": self.partition, **self.state}
        return [Output("tallies", f"count/{self.partition}".encode(), json.dumps(tally).encode())]

    def settle(self) -> None:
        """Do nothing."""


class KeepFold:
    """Keeps a row for each sampled document and each label, put if absent."""

    def __init__(self, head: bytes | None, rows: Mapping[str, bytes]) -> None:
        self.positions: dict[str, int] = json.loads(head) if head else {}
        self.held = rows
        self.changed: dict[str, bytes | None] = {}

    def position(self, channel: Channel) -> int | None:
        """Return the offset to read next."""
        return self.positions.get(channel)

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Add a row for each record that has none."""
        for record in records:
            row = f"{channel}:{json.loads(record.value or b'{}')['doc_id']}"
            if record.offset >= self.positions.get(channel, 0) and row not in self.held:
                self.changed[row] = record.value
        self.positions[channel] = following
        return []

    def rows(self) -> Mapping[str, bytes | None]:
        """Return the new rows."""
        return self.changed

    def head(self) -> bytes:
        """Return both positions."""
        return json.dumps(self.positions).encode()

    def tallies(self) -> list[Output]:
        """Return none."""
        return []

    def settle(self) -> None:
        """Begin a new set of changes."""
        self.changed = {}


class IntakeFold:
    """Re-keys labels by document; keeps positions alone."""

    def __init__(self, head: bytes | None) -> None:
        self.following: int | None = json.loads(head) if head else None

    def position(self, channel: Channel) -> int | None:
        """Return the offset to read next."""
        assert channel == "labels"
        return self.following

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Send each label on under its document's key."""
        assert channel == "labels"
        fresh = [r for r in records if r.offset >= (self.following or 0)]
        self.following = following
        keyed = [(json.loads(r.value or b"{}")["doc_id"].encode(), r.value) for r in fresh]
        return [Output("labels_by_document", key, value) for key, value in keyed]

    def rows(self) -> Mapping[str, bytes | None]:
        """Return nothing: the head is all."""
        return {}

    def head(self) -> bytes:
        """Return the position."""
        return json.dumps(self.following).encode()

    def tallies(self) -> list[Output]:
        """Return none."""
        return []

    def settle(self) -> None:
        """Do nothing."""


class BoardFold:
    """Sums the highest tally of each key, and shows the sum in `history`, which serves as its page here."""

    def __init__(self) -> None:
        self.following: int | None = None
        self.best: dict[int, tuple[int, int]] = {}
        """For each partition the highest position and the count there."""

    def position(self, channel: Channel) -> int | None:
        """Return the offset to read next."""
        assert channel == "tallies"
        return self.following

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Keep the highest tally of each partition."""
        assert channel == "tallies"
        for record in records:
            tally = json.loads(record.value or b"{}")
            at = (tally["following"] or 0, tally["count"])
            self.best[tally["partition"]] = max(at, self.best.get(tally["partition"], (0, 0)))
        self.following = following
        return []

    def rows(self) -> Mapping[str, bytes | None]:
        """Return nothing."""
        return {}

    def head(self) -> bytes:
        """Never called: this stage has no table."""
        raise AssertionError

    def tallies(self) -> list[Output]:
        """Show the sum."""
        return [Output("history", b"board", json.dumps(sum(count for _, count in self.best.values())).encode())]

    def settle(self) -> None:
        """Do nothing."""


def _open_count(partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Fold:
    assert not rows
    return CountFold(partition, head)


def _open_keep(_partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Fold:
    return KeepFold(head, rows)


def _open_intake(_partition: int, head: bytes | None, _rows: Mapping[str, bytes]) -> Fold:
    return IntakeFold(head)


def _open_board(_partition: int, _head: bytes | None, _rows: Mapping[str, bytes]) -> Fold:
    return BoardFold()


STAGES = (
    StageSpec(name="count", inputs=("decisions",), opener=_open_count, table="count"),
    StageSpec(name="keep", inputs=("sampled", "labels_by_document"), opener=_open_keep, table="keep"),
    StageSpec(name="intake", inputs=("labels",), opener=_open_intake, table="intake"),
    StageSpec(name="board", inputs=("tallies",), opener=_open_board, from_start=True),
)


def channel_topics(tag: str) -> dict[Channel, str]:
    """Return topic names that no other test uses."""
    channels: tuple[Channel, ...] = ("decisions", "sampled", "labels", "labels_by_document", "tallies", "history")
    return {channel: f"{tag}-{channel}" for channel in channels}


def specs(tag: str) -> tuple[TopicSpec, ...]:
    """Return what the toy's topics must be."""
    layout = Layout(decisions_partitions=PARTITIONS, sampled_partitions=PARTITIONS, labels_partitions=3)
    return topic_specs(channel_topics(tag), layout, group=tag, tables=TABLES)


def options(servers: Sequence[str], tag: str, *, embedded: bool = False) -> AppOptions:
    """Return a worker with short times."""
    quick = Timings(session_s=3.0, heartbeat_s=0.5, rebalance_s=8.0, request_s=20.0, leave_s=5.0, commit_s=0.5)
    return AppOptions(
        connection=Connection(servers=tuple(servers)),
        group=tag,
        topics=channel_topics(tag),
        stages=STAGES,
        topic_specs=specs(tag),
        create_topics=True,
        timings=EMBEDDED if embedded else quick,
        reading=Reading(chunk_records=200),
        sending=Sending(),
    )


def main(arguments: Mapping[str, object]) -> int:
    """Run a worker."""
    chance = random.Random(str(arguments.get("seed", os.getpid())))  # noqa: S311  # draws when to die, no secret
    die = float(str(arguments.get("die", 0)))

    def fail(stage: str, step: str) -> None:
        if chance.random() < die or arguments.get("fail_at") == f"{stage}:{step}":
            os._exit(9)

    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    servers = str(arguments["servers"]).split(",")
    embedded = bool(arguments.get("embedded"))
    sending = Sending(request_bytes=int(str(arguments.get("request_bytes", 1 << 20))))
    given = options(servers, str(arguments["tag"]), embedded=embedded)
    return run_worker(App(replace(given, fail=fail, sending=sending)))


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
