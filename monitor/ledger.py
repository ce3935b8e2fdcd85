"""LEDGER: one row a drawn document, and what all rows together add up to.

Two inputs, co-partitioned by document: `sampled` and `labels_by_document`. Rows are idempotent one by one: each holds
the offsets of the last records it took, so reading on from any older position changes nothing twice. The tallies are
the sum of `contribution` over the rows; a row that changes is taken away as it was and added as it is.

The head holds both positions, and the count and an additive checksum of the rows *as of those positions*. Rows may be
newer than the head (a crash between the two writes); such a row is *ahead*: it knows it, by its offsets, and carries
the hash that the head counts for it, until a head has read past it. At recovery the sum must come out. If it doesn't,
somebody wrote an old row over a newer one (a worker that was presumed dead), nobody knows which, and the partition is
built again from its two topics.

Rows expire with the window, by the days of the records and never by the clock on the wall. A row that has expired
leaves the checksum with the head that names the new limit, and is deleted after that head is durable.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from monitor.day_tallies import DayTallies
from monitor.dead_letters import dead_letter
from monitor.decoding import decode_label
from monitor.document import DAY_S, Document
from monitor.errors import BadSpan, NotJson, RecordError, StateError, TooLarge
from monitor.fold import Channel, Output
from monitor.names import UNLISTED, BoundedNames
from monitor.origin import DrawnRecord, origin_of
from monitor.plan import Plan
from monitor.records import Record
from monitor.tallies import DAY_MS, usable_ms
from monitor.tally import CountKey

_DRAWN = msgspec.json.Decoder(DrawnRecord)
_ROW = msgspec.msgpack.Decoder(Document)
_MASK = (1 << 64) - 1
_EXPIRED = "expired"
"""Of a drawn document that comes from a partition of decisions as far behind the others as the window is long."""


class _Head(msgspec.Struct, array_like=True, frozen=True):
    """The row of a partition's positions."""

    format: int
    sampled_next: int | None
    labels_next: int | None
    day: int
    limit_day: int
    """Rows whose last day is before this one have expired."""
    count: int
    checksum: int
    dead: list[tuple[int, str, int]]
    """Records that left no row, being unreadable or expired: day, reason, times."""
    rebuilt_to: int = 0
    """The position that was reached before the last rebuild."""


_NO_HEAD = _Head(1, None, None, 0, 0, 0, 0, [])
"""What a partition begins with: rows of a first checkpoint that was cut short are ahead of it."""


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
        A head of a format that this version can't read.
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
        self._bodies: dict[str, bytes] = {}
        self._covered: dict[str, int] = {}
        """What the durable head counts for each row; 0 for nothing."""
        self._ahead: set[str] = set()
        self._dirty: set[str] = set()
        self._expired: dict[str, int] = {}
        """Rows that expired since the durable head, with what it counts for them."""
        self._deletable: set[str] = set()
        self._last_day: dict[int, set[str]] = {}
        self._names = BoundedNames(plan.config.limits.max_entities)
        self.rebuilt = False
        self._rebuilt_to = 0
        self._restore(_NO_HEAD if head is None else _read_head(head, partition), rows or {})
        self._days = DayTallies("ledger", partition)
        self._days.drop_before(self._limit_day)
        self._tally_all()

    # recovery

    def _restore(self, head: _Head, rows: Mapping[str, bytes]) -> None:
        total = count = 0
        for key, row in rows.items():
            body = row[8:]
            document = _read_row(body, self._partition)
            if document.day < head.limit_day:
                self._deletable.add(key)
                continue
            ahead = _is_ahead(document, head.sampled_next, head.labels_next)
            if ahead:
                self._ahead.add(key)
            covered = int.from_bytes(row[:8]) if ahead else _hash(key, body)
            total, count = total + covered, count + (covered != 0)
            self._covered[key] = covered
            self._bodies[key] = body
            self._last_day.setdefault(document.day, set()).add(key)
        if (total & _MASK, count) != (head.checksum, head.count):
            self._rebuild(rows, max(head.rebuilt_to, (head.sampled_next or 0) + (head.labels_next or 0)))
            return
        self._rebuilt_to = head.rebuilt_to
        self._next = {"sampled": head.sampled_next, "labels_by_document": head.labels_next}
        self._day, self._limit_day = head.day, head.limit_day
        self._dead = Counter({(day, reason): times for day, reason, times in head.dead})

    def _rebuild(self, rows: Mapping[str, bytes], reached: int) -> None:
        """Forget the rows and read both topics again from their start.

        The board holds on to what was published at the position that had been `reached`, so until then every day is
        published again and again.
        """
        self.rebuilt = True
        self._rebuilt_to = reached
        self._flow["rebuilds", "ledger"] += 1
        self._bodies.clear()
        self._covered.clear()
        self._ahead.clear()
        self._last_day.clear()
        self._deletable = set(rows)
        self._next = {"sampled": 0, "labels_by_document": 0}

    def _tally_all(self) -> None:
        self._days.clear()
        self._names = BoundedNames(self.plan.config.limits.max_entities)
        for name in sorted({name for body in self._bodies.values() for name in self._unknown_names(_ROW.decode(body))}):
            self._names.admit(name, 0)
        for key, body in self._bodies.items():
            self._days.add_all(key, _ROW.decode(body), self._fold, self.plan.iou)
        for (day, reason), times in self._dead.items():
            self._days.add(day, _count_key(reason), times)

    def _unknown_names(self, document: Document) -> set[str]:
        """Return the names in a document's answers that the alias table doesn't know."""
        fold, known = self.plan.aliases.fold, self.plan.aliases.known
        spelled = {entity for text in document.texts for answer in text.answers for _, _, entity in answer.spans}
        return {name for name in map(fold, spelled) if not known(name)}

    def _fold(self, entity: str) -> str:
        """Return the name that a labelled or a detected span counts under: annotators can't make names without end."""
        name = self.plan.aliases.fold(entity)
        return name if self.plan.aliases.known(name) or name in self._names.held else UNLISTED

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
                self._answer(record, value)
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
        document, is_new = self._open(sampled.doc_id, sampled.day)
        if record.offset <= document.sampled_offset:
            return
        if not is_new:
            self._days.take_all(sampled.doc_id, document, self._fold, self.plan.iou)
        labels = self.plan.config.labels
        task = document.draw(sampled, labels.deadline_days * DAY_S, labels.copies)
        document.sampled_offset = record.offset
        self._keep(sampled.doc_id, document)
        if task is not None:
            self._flow["tasks",] += 1
            outputs.append(Output("annotation_tasks", task.doc_id.encode(), msgspec.json.encode(task)))

    def _answer(self, record: Record, value: bytes) -> None:
        try:
            label = decode_label(value, self.plan.limits)
        except RecordError as error:
            self._count_dead(record, f"labels_by_document/{error.reason}")
            raise
        at_ms = usable_ms(record.timestamp_ms, self._day)
        document, is_new = self._open(label.doc_id, max(at_ms // DAY_MS, self._limit_day))
        if record.offset <= document.labels_offset:
            return
        if not is_new:
            self._days.take_all(label.doc_id, document, self._fold, self.plan.iou)
        document.labels_offset = record.offset
        try:
            outcome = document.answer(label, at_ms / 1000, origin_of(value))
            if outcome is not None:
                self._flow["labels", outcome] += 1
        except (BadSpan, TooLarge):
            self._flow["labels", "rejected"] += 1
            raise
        finally:
            self._keep(label.doc_id, document)

    def _count_dead(self, record: Record, reason: str) -> None:
        day = max(usable_ms(record.timestamp_ms, self._day) // DAY_MS, self._limit_day)
        self._dead[day, reason] += 1
        self._days.add(day, _count_key(reason), 1)

    # rows

    def _open(self, doc_id: str, day: int) -> tuple[Document, bool]:
        body = self._bodies.get(doc_id)
        return (Document(day), True) if body is None else (_ROW.decode(body), False)

    def _keep(self, doc_id: str, document: Document) -> None:
        body = self._bodies.get(doc_id)
        if body is not None:
            self._last_day[_ROW.decode(body).day].discard(doc_id)
        self._last_day.setdefault(document.day, set()).add(doc_id)
        self._bodies[doc_id] = msgspec.msgpack.encode(document)
        self._covered.setdefault(doc_id, self._expired.pop(doc_id, 0))
        self._dirty.add(doc_id)
        self._deletable.discard(doc_id)
        for name in sorted(self._unknown_names(document)):
            self._names.admit(name, 0)  # never let go of before all rows are read anew: what was added is taken away
        self._days.add_all(doc_id, document, self._fold, self.plan.iou)

    def _advance(self, day: int) -> None:
        """Move on to a later day and let go of what no window can reach any more."""
        if day <= self._day:
            return
        self._day = day
        self._limit_day = max(self._limit_day, day - self.plan.horizon_days)
        for old in [d for d in self._last_day if d < self._limit_day]:
            for doc_id in self._last_day.pop(old):
                self._days.take_all(doc_id, _ROW.decode(self._bodies.pop(doc_id)), self._fold, self.plan.iou)
                self._expired[doc_id] = self._covered.pop(doc_id)
                self._dirty.discard(doc_id)
                self._ahead.discard(doc_id)
        for dead in [key for key in self._dead if key[0] < self._limit_day]:
            del self._dead[dead]
        self._days.drop_before(self._limit_day)

    def adopt(self, plan: Plan) -> None:
        """Take up another plan; what the rows add up to is worked out anew where it can differ."""
        before, self.plan = self.plan, plan
        same_names = (before.config.entities, before.config.limits) == (plan.config.entities, plan.config.limits)
        if not (same_names and before.iou == plan.iou):
            self._tally_all()

    # checkpoints

    def rows(self) -> Mapping[str, bytes | None]:
        """Return documents that changed, and None for those that expired before the last head."""
        written: dict[str, bytes | None] = dict.fromkeys(self._deletable)
        for doc_id in self._dirty:
            written[doc_id] = self._covered[doc_id].to_bytes(8) + self._bodies[doc_id]
        return written

    def head(self) -> bytes:
        """Return positions, count and checksum, of every row as it is now; one still ahead counts as it did."""
        nexts = self._next["sampled"], self._next["labels_by_document"]
        ahead = {d for d in self._ahead if _is_ahead(_ROW.decode(self._bodies[d]), *nexts)}
        for doc_id in (self._dirty | self._ahead) - ahead:
            self._covered[doc_id] = _hash(doc_id, self._bodies[doc_id])
        self._ahead = ahead
        counted = [covered for covered in self._covered.values() if covered]
        dead = sorted((day, reason, times) for (day, reason), times in self._dead.items())
        head = _Head(1, *nexts, self._day, self._limit_day, len(counted), sum(counted) & _MASK, dead, self._rebuilt_to)
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


def _read_head(row: bytes, partition: int) -> _Head:
    try:
        head: _Head | None = msgspec.msgpack.decode(row, type=_Head)
    except msgspec.DecodeError:
        head = None
    if head is None or head.format != 1:
        raise StateError(f"ledger/{partition}: no head of this version: delete the ledger changelog")
    return head


def _read_row(body: bytes, partition: int) -> Document:
    try:
        return _ROW.decode(body)
    except msgspec.DecodeError:
        raise StateError(f"ledger/{partition}: no row of this version: delete the ledger changelog") from None


def _is_ahead(document: Document, sampled_next: int | None, labels_next: int | None) -> bool:
    """Say whether a row has taken a record that lies at or beyond these positions."""
    return document.sampled_offset >= (sampled_next or 0) or document.labels_offset >= (labels_next or 0)


def _hash(key: str, body: bytes) -> int:
    """Return 64 bits of a row's hash, never 0: that stands for a row that no head counts yet."""
    return int.from_bytes(hashlib.blake2b(body, key=key.encode()[:64], digest_size=8).digest()) or 1
