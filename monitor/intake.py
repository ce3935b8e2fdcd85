"""INTAKE: labels as annotation tools send them, decoded, and sent on keyed by document.

Tools key and partition as they like, so a label is re-keyed by `doc_id` to a topic that is co-partitioned with the
drawn documents. A label that can't be read, or with one bad span, is a dead letter: a truth with a hole isn't one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from monitor.dead_letters import dead_letter
from monitor.decoding import decode_label
from monitor.errors import RecordError, StateError
from monitor.fold import Channel, Output
from monitor.origin import LabelRecord
from monitor.plan import Plan
from monitor.records import Label, Record
from monitor.tallies import DAY_MS, Clock, latest_usable_ms, published, usable_ms
from monitor.tally import CountKey, Tally


class _Head(msgspec.Struct, array_like=True, frozen=True):
    """The row of a partition."""

    format: int
    next: int | None
    counts: list[tuple[int, str, str, int]]
    """Day, name, detail, times."""


class Intake:
    """The fold of one partition of labels; its state is its position and what it counted.

    Raises
    ------
    StateError
        A head of a format that this version can't read.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        plan: Plan,
        head: bytes | None = None,
        flow: Counter[tuple[str, ...]] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._topic = topic
        self._clock = clock
        self._partition = partition
        self.plan = plan
        self._flow = Counter() if flow is None else flow
        self._next: int | None = None
        self._day = 0
        self._counts: Counter[tuple[int, CountKey]] = Counter()
        self._changed: set[int] = set()
        if head is not None:
            self._restore(head)

    def _restore(self, row: bytes) -> None:
        try:
            head: _Head | None = msgspec.msgpack.decode(row, type=_Head)
        except msgspec.DecodeError:
            head = None
        if head is None or head.format != 1:
            raise StateError(f"{self._topic}/{self._partition}: no row of this version: delete its changelog")
        self._next = head.next
        self._counts = Counter({(day, CountKey(name, detail)): n for day, name, detail, n in head.counts})
        self._changed = {day for day, _ in self._counts}
        self._day = max(self._changed, default=0)

    def position(self, channel: Channel) -> int | None:  # noqa: ARG002  # INTAKE reads one channel
        """Return the offset to read next, or None where nothing was read yet."""
        return self._next

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Return the labels re-keyed by document, at their own event time, and dead letters."""
        outputs: list[Output] = []
        position = self._next or 0
        latest_ms = latest_usable_ms(self._clock)
        for record in records:
            if record.offset >= position:
                position = record.offset + 1
                self._take(channel, record, outputs, latest_ms)
        self._next = max(position, following)
        return outputs

    def _take(self, channel: Channel, record: Record, outputs: list[Output], latest_ms: int) -> None:
        at_ms = usable_ms(record.timestamp_ms, self._day, latest_ms)
        self._advance(at_ms // DAY_MS)
        if record.value is None:
            self._count("tombstones", channel)
            self._flow["tombstones", channel] += 1
            return
        try:
            label = decode_label(record.value, self.plan.limits)
        except RecordError as error:
            outputs.append(self.refuse(channel, record.offset, error))
            return
        self._count("labels_read", "")
        value = msgspec.json.encode(self._with_origin(label, record.offset))
        outputs.append(Output("labels_by_document", label.doc_id.encode(), value, at_ms))

    def _with_origin(self, label: Label, offset: int) -> LabelRecord:
        return LabelRecord(**msgspec.structs.asdict(label), origin=(self._partition, offset))

    def refuse(self, channel: Channel, offset: int, error: RecordError) -> Output:
        """Count a label that can't be read, and return its dead letter."""
        self._count("dead_letters", f"{channel}/{error.reason}")
        self._flow["dead_letters", channel, error.reason] += 1
        return dead_letter(self._topic, self._partition, offset, error)

    def _advance(self, day: int) -> None:
        if day > self._day:
            self._day = day
            horizon = day - self.plan.horizon_days
            for key in [k for k in self._counts if k[0] < horizon]:
                del self._counts[key]
                self._changed.add(key[0])

    def _count(self, name: str, detail: str) -> None:
        self._counts[self._day, CountKey(name, detail)] += 1
        self._changed.add(self._day)

    def adopt(self, plan: Plan) -> None:
        """Take up another plan: its limits."""
        self.plan = plan

    def rows(self) -> Mapping[str, bytes | None]:
        """Return nothing: the head is the whole state."""
        return {}

    def head(self) -> bytes:
        """Return the position and the counts."""
        counts = sorted((day, key.name, key.detail, n) for (day, key), n in self._counts.items())
        return msgspec.msgpack.encode(_Head(1, self._next, counts))

    def tallies(self) -> list[Output]:
        """Return the days whose counts changed since the last checkpoint; all of them at the first."""
        outputs: list[Output] = []
        for day in sorted(self._changed):
            tally = Tally({key: (n,) for (of_day, key), n in self._counts.items() if of_day == day})
            empty = not tally.rows
            outputs.append(published("intake", self._partition, str(day), self._next or 0, None if empty else tally))
        return outputs

    def settle(self) -> None:
        """Note that what `head` and `tallies` returned is durable."""
        self._changed.clear()
