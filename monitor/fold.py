"""What a stage's pure half offers to the shell that runs it.

A stage is a fold over the records of a partition that keeps its position in its own state. The shell reads chunks,
hands them to `fold`, and sends what comes back. Twice a second it makes a checkpoint: it awaits every outstanding send,
writes `rows` and awaits their acknowledgement, writes `head` and awaits that, publishes `tallies`, and reports the
positions. A fold that is dropped (rebalance, rewind) is opened again from its rows; whatever it had done since the last
checkpoint is then read again and done again, which every `Output` must survive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from monitor.records import Record

Channel = Literal[
    "decisions",
    "sampled",
    "annotation_tasks",
    "labels",
    "labels_by_document",
    "dead_letters",
    "tallies",
    "history",
]


class Output(NamedTuple):
    """A record to send; `key` decides the partition."""

    channel: Channel
    key: bytes
    value: bytes | None
    timestamp_ms: int | None = None
    """Event time to keep; None is the time of sending."""


class Fold(Protocol):
    """The running fold of one partition; one object a partition and stage, never shared."""

    def position(self, channel: Channel) -> int | None:
        """Return the offset to read next from this partition of `channel`; None where nothing was read yet."""
        ...

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Take records in offset order, skipping those below the position; `following` is the position after them."""
        ...

    def rows(self) -> Mapping[str, bytes | None]:
        """Return the rows changed since the last `settle`, to write before the head; None deletes."""
        ...

    def head(self) -> bytes:
        """Return the row that holds the positions, written once `rows` are acknowledged."""
        ...

    def tallies(self) -> list[Output]:
        """Return the tallies to publish, changed since the last checkpoint (all of them at the first)."""
        ...

    def settle(self) -> None:
        """Note that the last `rows`, `head` and `tallies` are durable."""
        ...


class Opener(Protocol):
    """Opens the fold of a partition from what its table holds: nothing at all for a new one."""

    def __call__(self, partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Fold:
        """Raise `StateError` where the rows can't be read by this version."""
        ...
