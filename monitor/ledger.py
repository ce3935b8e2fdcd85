"""LEDGER: one row a drawn document, and what all rows together add up to.

Two inputs, co-partitioned by document: `sampled` and `labels_by_document`. Rows are idempotent one by one: each holds
the offsets of the last records it took, so reading on from any older position changes nothing twice. The tallies are
the sum of `contribution` over the rows; a row that changes is taken away as it was and added as it is.

The head holds both positions, and the count and an additive checksum of the rows *as of those positions*. Rows may be
newer than the head (a crash between the two writes); such a row is *ahead*: it knows it, by its offsets, and carries
the hash that the head counts for it, until a head has read past it. At recovery the sum must come out. If it doesn't,
somebody wrote an old row over a newer one (a worker that was presumed dead), nobody knows which, and the partition is
built again from its two topics. So it is where the table is an older version's, or a row can't be read.

Rows expire with the window, by the days of the records and never by the clock on the wall. A row that has expired
leaves the checksum with the head that names the new limit, and is deleted after that head is durable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from monitor.contribution import Rule
from monitor.counted_names import CountedNames
from monitor.day_tallies import DayTallies
from monitor.dead_letters import dead_letter
from monitor.decoding import decode_label
from monitor.document import DAY_S, Document
from monitor.errors import BadSpan, NotJson, RecordError, TooLarge
from monitor.fold import Channel, Output
from monitor.ledger_rows import (
    FORMAT,
    NO_HEAD,
    Head,
    cover_of,
    covered_row,
    document_of,
    hash_of,
    is_ahead,
    new_row,
    read_head,
    read_row,
)
from monitor.names import UNLISTED
from monitor.origin import DrawnRecord, origin_of
from monitor.plan import Plan
from monitor.records import Record, Task
from monitor.tallies import DAY_MS, usable_ms
from monitor.tally import CountKey

_DRAWN = msgspec.json.Decoder(DrawnRecord)
_MASK = (1 << 64) - 1
_EXPIRED = "expired"
"""Of a drawn document that comes from a partition of decisions as far behind the others as the window is long."""


class _UnreadableRow(Exception):
    """A row of the table is none of this version."""


class Ledger:
    """The fold of one partition of drawn documents and their labels.

    Parameters
    ----------
    partition
        Its number, the same in both topics.
    plan
        Names, overlap, deadline and copies in force; unlike ROUTE's it may change at any moment, since everything
        is derived from rows.
    topics
        Names of the two topics, for dead letters, by channel.
    head, rows
        What the table holds: nothing for a new partition.
    flow
        Process-local counts for metrics.

    Raises
    ------
    StateError
        A head of a later format, or bytes that are none.
    """

    def __init__(
        self,
        partition: int,
        plan: Plan,
        topics: Mapping[Channel, str],
        head: bytes | None = None,
        rows: Mapping[str, bytes] | None = None,
        flow: Counter[tuple[str, ...]] | None = None,
    ) -> None:
        self._partition = partition
        self.plan = plan
        self._topics = topics
        self._flow = Counter() if flow is None else flow
        self._next: dict[Channel, int | None] = {"sampled": None, "labels_by_document": None}
        self._day = self._limit_day = 0
        self._dead: Counter[tuple[int, str]] = Counter()
        self._rows: dict[str, bytes] = {}
        """As the table holds them, the very same bytes: its cover, then the body."""
        self._covered: dict[str, int] = {}
        """What the last head counts for a row where that isn't the row's own hash; 0 for nothing."""
        self._total = self._count = 0
        """Sum and number of what the last head counts for the rows that are here."""
        self._ahead: set[str] = set()
        self._dirty: set[str] = set()
        self._expired: dict[str, int] = {}
        """Rows that expired since the durable head, with what it counts for them."""
        self._deletable: set[str] = set()
        self._on_day: dict[int, list[str]] = {}
        """Documents by the last day they were drawn; one that was drawn again later stands under both days."""
        self._names = CountedNames(plan.aliases, plan.config.limits.max_entities)
        self.rebuilt = False
        self._rebuilt_to = 0
        self._days = DayTallies("ledger", partition)
        self._restore(NO_HEAD if head is None else read_head(head, partition), rows or {})

    # recovery

    def _restore(self, head: Head, rows: Mapping[str, bytes]) -> None:
        """Take over the rows, or none of them."""
        named: set[str] = set()
        if head.format != FORMAT or not self._take_over(head, rows, named):
            self._rebuild(rows, max(head.rebuilt_to, (head.sampled_next or 0) + (head.labels_next or 0)))
            return
        self._rebuilt_to = head.rebuilt_to
        self._next = {"sampled": head.sampled_next, "labels_by_document": head.labels_next}
        self._day, self._limit_day = head.day, head.limit_day
        self._dead = Counter({(day, reason): times for day, reason, times in head.dead})
        if self._names.full or UNLISTED in map(self._names.__getitem__, named):
            self._tally_all(named)  # what a name counted under may have depended on the order of the rows
        else:
            self._tally_dead()

    def _take_over(self, head: Head, rows: Mapping[str, bytes], named: set[str]) -> bool:
        """Tell whether every row can be read and the sum comes out; they are added up on the way, each read once."""
        self._days.drop_before(head.limit_day)
        try:
            taken_over = self._taken_over(head, rows, named)
            self._days.add_documents(taken_over, self._rule)
        except (_UnreadableRow, IndexError, ValueError, ArithmeticError):
            return False  # the others: of a damaged row that still decodes, before the sum could tell
        return (self._total & _MASK, self._count) == (head.checksum, head.count)

    def _taken_over(self, head: Head, rows: Mapping[str, bytes], named: set[str]) -> Iterator[Document]:
        """Yield the documents that haven't expired, each one noted; raises `_UnreadableRow`."""
        for key, row in rows.items():
            document = read_row(row)
            if document is None:
                raise _UnreadableRow
            if document.day < head.limit_day:
                self._deletable.add(key)
                continue
            if is_ahead(document, head.sampled_next, head.labels_next):
                self._ahead.add(key)
                covered = self._covered[key] = cover_of(row)
            else:
                covered = hash_of(key, row)
            self._count_in(covered)
            self._rows[key] = row
            self._on_day.setdefault(document.day, []).append(key)
            its = document.named
            if not its <= named:
                named |= its
                self._names.admit(its)
            yield document

    def _rebuild(self, rows: Mapping[str, bytes], reached: int) -> None:
        """Forget the rows and read both topics again from their start.

        The board holds on to what was published at the position that had been `reached`, so until then every day is
        published again and again.
        """
        self.rebuilt = True
        self._rebuilt_to = reached
        self._days = DayTallies("ledger", self._partition)
        self._names = CountedNames(self.plan.aliases, self.plan.config.limits.max_entities)
        self._flow["rebuilds", "ledger"] += 1
        self._rows.clear()
        self._covered.clear()
        self._total = self._count = 0
        self._ahead.clear()
        self._on_day.clear()
        self._deletable = set(rows)
        self._next = {"sampled": 0, "labels_by_document": 0}

    def _tally_all(self, named: Iterable[str]) -> None:
        self._days.clear()
        self._names = CountedNames(self.plan.aliases, self.plan.config.limits.max_entities)
        self._names.admit(named)
        self._days.add_documents(map(document_of, self._rows.values()), self._rule)
        self._tally_dead()

    def _tally_dead(self) -> None:
        for (day, reason), times in self._dead.items():
            self._days.add(day, _count_key(reason), times)

    @property
    def _rule(self) -> Rule:
        return Rule(self._names.__getitem__, self.plan.iou, self.plan.config.alarm.period, self.plan.ignores)

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Yield every document that is kept, with its id."""
        return ((doc_id, document_of(row)) for doc_id, row in self._rows.items())

    # reading on

    def position(self, channel: Channel) -> int | None:
        """Return the offset to read next of either topic, or None where nothing was read yet."""
        return self._next[channel]

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Take drawn documents or labels and return what goes out: tasks and dead letters."""
        outputs: list[Output] = []
        position = self._next[channel] or 0
        for record in records:
            if record.offset >= position:
                position = record.offset + 1
                if record.value is not None:
                    self._take(channel, record, record.value, outputs)
        self._next[channel] = max(position, following)
        return outputs

    def _take(self, channel: Channel, record: Record, value: bytes, outputs: list[Output]) -> None:
        try:
            if channel == "sampled":
                self._draw(record, value, outputs)
            else:
                self._answer(record, value, outputs)
        except RecordError as error:
            self._flow["dead_letters", channel, error.reason] += 1
            outputs.append(dead_letter(self._topics[channel], self._partition, record.offset, error))

    def _draw(self, record: Record, value: bytes, outputs: list[Output]) -> None:
        try:
            sampled = _DRAWN.decode(value)
        except (msgspec.DecodeError, RecursionError):
            self._count_dead(record, f"sampled/{NotJson.reason}")
            raise NotJson from None
        self._advance(sampled.day)
        if sampled.day < self._limit_day:  # of a partition of decisions that lags behind the others by the whole window
            self._dead[self._limit_day, _EXPIRED] += 1
            self._days.add(self._limit_day, _count_key(_EXPIRED), 1)
            return
        document, before = self._open(sampled.doc_id, sampled.day)
        if record.offset <= document.sampled_offset:
            return
        if before is not None:
            self._days.take_document(document, self._rule)
        labels = self.plan.config.labels
        tasks = document.draw(sampled, labels.deadline_days * DAY_S, labels.copies, labels.copied_share)
        document.sampled_offset = record.offset
        self._keep(sampled.doc_id, document, before)
        self._send(tasks, outputs)

    def _send(self, tasks: Iterable[Task], outputs: list[Output]) -> None:
        for task in tasks:
            self._flow["tasks", task.kind] += 1
            outputs.append(Output("annotation_tasks", task.doc_id.encode(), msgspec.json.encode(task)))

    def _answer(self, record: Record, value: bytes, outputs: list[Output]) -> None:
        try:
            label = decode_label(value, self.plan.limits)
        except RecordError as error:
            self._count_dead(record, f"labels_by_document/{error.reason}")
            raise
        at_ms = usable_ms(record.timestamp_ms, self._day)
        document, before = self._open(label.doc_id, max(at_ms // DAY_MS, self._limit_day))
        if record.offset <= document.labels_offset:
            return
        if before is not None:
            self._days.take_document(document, self._rule)
        document.labels_offset = record.offset
        try:
            outcome = document.answer(label, at_ms / 1000, origin_of(value))
            if outcome is not None:
                self._flow["labels", outcome] += 1
            due_at = at_ms / 1000 + self.plan.config.labels.deadline_days * DAY_S
            self._send(document.adjudicate(label.doc_id, due_at), outputs)
        except (BadSpan, TooLarge):
            self._flow["labels", "rejected"] += 1
            raise
        finally:
            self._keep(label.doc_id, document, before)

    def _count_dead(self, record: Record, reason: str) -> None:
        day = max(usable_ms(record.timestamp_ms, self._day) // DAY_MS, self._limit_day)
        self._dead[day, reason] += 1
        self._days.add(day, _count_key(reason), 1)

    # rows

    def _open(self, doc_id: str, day: int) -> tuple[Document, int | None]:
        """Return a document and the day it stands under, None for a new one."""
        row = self._rows.get(doc_id)
        if row is None:
            return Document(day), None
        document = document_of(row)
        return document, document.day

    def _keep(self, doc_id: str, document: Document, before: int | None) -> None:
        if doc_id not in self._covered:
            self._covered[doc_id] = self._last_cover(doc_id)
        if document.day != before:
            self._on_day.setdefault(document.day, []).append(doc_id)
        self._rows[doc_id] = new_row(document)
        self._dirty.add(doc_id)
        self._deletable.discard(doc_id)
        self._names.admit(document.named)
        self._days.add_document(document, self._rule)

    def _last_cover(self, doc_id: str) -> int:
        """Return what the last head counts for a document that is about to change."""
        row = self._rows.get(doc_id)
        if row is not None:
            return hash_of(doc_id, row)
        covered = self._expired.pop(doc_id, 0)
        self._count_in(covered)
        return covered

    def _count_in(self, covered: int, sign: int = 1) -> None:
        self._total += sign * covered
        self._count += sign * (covered != 0)

    def _advance(self, day: int) -> None:
        """Move on to a later day and let go of what no window can reach any more."""
        if day <= self._day:
            return
        self._day = day
        self._limit_day = max(self._limit_day, day - self.plan.horizon_days)
        for old in [d for d in self._on_day if d < self._limit_day]:
            for doc_id in self._on_day.pop(old):
                row = self._rows.get(doc_id)
                if row is not None and document_of(row).day < self._limit_day:
                    self._expire(doc_id, row)
        for dead in [key for key in self._dead if key[0] < self._limit_day]:
            del self._dead[dead]
        self._days.drop_before(self._limit_day)

    def _expire(self, doc_id: str, row: bytes) -> None:
        self._days.take_document(document_of(row), self._rule)
        del self._rows[doc_id]
        covered = self._covered.pop(doc_id, None)
        self._expired[doc_id] = covered = hash_of(doc_id, row) if covered is None else covered
        self._count_in(covered, -1)
        self._dirty.discard(doc_id)
        self._ahead.discard(doc_id)

    def adopt(self, plan: Plan) -> None:
        """Take up another plan; what the rows add up to is worked out anew where it can differ."""
        before, self.plan = self.plan, plan
        if before.counting != plan.counting:
            self._tally_all({name for _, document in self.documents() for name in document.named})

    # checkpoints

    def rows(self) -> Mapping[str, bytes | None]:
        """Return documents that changed, and None for those that expired before the last head."""
        written: dict[str, bytes | None] = dict.fromkeys(self._deletable)
        for doc_id in self._dirty:
            row = self._rows[doc_id]
            covered = self._covered.get(doc_id)
            covered = hash_of(doc_id, row) if covered is None else covered
            # the table keeps these bytes too: they are there once
            written[doc_id] = self._rows[doc_id] = covered_row(covered, row)
        return written

    def head(self) -> bytes:
        """Return positions, count and checksum, of every row as it is now; one still ahead counts as it did."""
        nexts = self._next["sampled"], self._next["labels_by_document"]
        self._ahead = {d for d in self._ahead if is_ahead(document_of(self._rows[d]), *nexts)}
        # a new dict: one that held a million keys is looked through as if it still did, a millisecond a checkpoint
        held, self._covered = self._covered, {d: c for d, c in self._covered.items() if d in self._ahead}
        for doc_id in held.keys() - self._covered.keys():
            self._count_in(held[doc_id], -1)
            self._count_in(hash_of(doc_id, self._rows[doc_id]))
        dead = sorted((day, reason, times) for (day, reason), times in self._dead.items())
        total = self._total & _MASK
        head = Head(FORMAT, *nexts, self._day, self._limit_day, self._count, total, dead, self._rebuilt_to)
        return msgspec.msgpack.encode(head)

    def tallies(self) -> list[Output]:
        """Return the days that changed since the last checkpoint; all of them at the first."""
        return self._days.publish(self._position)

    @property
    def _position(self) -> int:
        return (self._next["sampled"] or 0) + (self._next["labels_by_document"] or 0)

    def settle(self) -> None:
        """Note that rows, head and tallies are durable: what had expired by then can be deleted next time."""
        self._dirty.clear()
        self._deletable, self._expired = set(self._expired), {}
        self._days.settle(superseded=self._position < self._rebuilt_to)


def _count_key(reason: str) -> CountKey:
    return CountKey("documents" if reason == _EXPIRED else "dead_letters", reason)
