"""ROUTE: every decision once. Counted, put into a stratum, drawn or not.

The state of a partition is one row, `{next, plan, open day}`, written whole: any surviving row is a consistent prefix
of the log, whoever wrote it. Days never go back within a partition, so at most one is open; a day that is over is
sealed into a row of its own, written before the row that no longer holds it.

Which plan decides a record depends on its offset alone. A new plan is taken up at a checkpoint, from the offset the row
then names, and that change goes to the history topic; what is read again below it finds the older plan there.

Reading a chunk twice is harmless: the row is only ever replaced, drawing is a keyed hash, the ledger is put-if-absent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import msgspec

from monitor.census import SHAPED, CensusDay, Group
from monitor.changes import change_record
from monitor.dead_letters import dead_letter
from monitor.decoding import Quarantine, decode_decision, typed_decision
from monitor.entities import clean_name
from monitor.errors import RecordError, StateError, TooLarge
from monitor.fold import Channel, Output
from monitor.names import BoundedNames
from monitor.origin import DrawnRecord
from monitor.output_check import Looked, OutputCheck
from monitor.plan import Plan
from monitor.records import Decision, Record, Span, Stratum
from monitor.sampling import Draw
from monitor.second import captures_of
from monitor.spelling import Flagged, Spelling
from monitor.tallies import DAY_MS, Clock, latest_usable_ms, published, usable_ms
from monitor.tally import ANY_ENTITY, CountKey, Tally

_TOMBSTONES = CountKey("records", "tombstone")
_CACHED = 10_000
CheckFailed = Callable[[int, int, Exception], None]
_NEVER = 1 << 63
LARGEST_BYTES = 7 << 20
"""Of a drawn document; topics and producer take 8 MiB."""


class Change(NamedTuple):
    """From this offset on, records are decided under this plan."""

    offset: int
    plan: Plan


class _Head(msgspec.Struct, array_like=True, frozen=True):
    """The row of a partition."""

    format: int
    next: int | None
    day: int
    plan: str
    thinning: float
    languages: dict[str, int]
    versions: dict[str, int]
    entities: dict[str, int]
    """Names that are kept apart, with the last day of each."""
    tally: bytes


class Route:
    """The fold of one partition of decisions.

    Parameters
    ----------
    topic, partition
        Where the decisions come from; named in dead letters.
    changes
        The recorded plans of this partition in offset order, the last one being in force from its offset on; at least
        one. The first also decides what lies before it.
    head, rows
        What the table holds: nothing for a new partition.
    flow
        Process-local counts for metrics; what is read again is counted again there, and nowhere else.
    clock
        Seconds since the epoch. It dates no record: it tells only which times can't be meant, because they are more
        than a day ahead. None takes all times.
    failed
        Told where an output wasn't checked because the check failed: partition, offset, and what it raised.

    Raises
    ------
    StateError
        Rows of a format that this version can't read.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        changes: Sequence[Change],
        head: bytes | None = None,
        rows: Mapping[str, bytes] | None = None,
        flow: Counter[tuple[str, ...]] | None = None,
        clock: Clock | None = None,
        failed: CheckFailed | None = None,
    ) -> None:
        self.topic = topic
        self._clock, self._failed = clock, failed
        self.partition = partition
        self._changes = list(changes)
        self._flow = Counter() if flow is None else flow
        self._next: int | None = None
        self._day = 0
        self._open = CensusDay()
        self._sealed = {key: Tally.decode(row) for key, row in (rows or {}).items()}
        self._unwritten: dict[str, Tally | None] = {}
        self._unpublished = True
        limits = changes[-1].plan.config.limits
        self._languages = BoundedNames(limits.max_languages, reserved=ANY_ENTITY)  # the roll-up's own name
        self._versions = BoundedNames(limits.max_versions)
        self._entities = BoundedNames(limits.max_entities)
        self._groups: dict[tuple[str, str, str], Group] = {}
        if head is not None:
            self._restore(head)
        self._advance_plan(self._start)

    @property
    def _start(self) -> int:
        return self._next or 0

    def _restore(self, row: bytes) -> None:
        try:
            head: _Head | None = msgspec.msgpack.decode(row, type=_Head)
        except msgspec.DecodeError:
            head = None
        if head is None or head.format != 1:
            where = f"{self.topic}/{self.partition}"
            raise StateError(f"{where}: no row of this version: delete the census changelog and replay")
        self._next, self._day = head.next, head.day
        self._open = CensusDay.restore(Tally.decode(head.tally))
        self._languages.held, self._versions.held = head.languages, head.versions
        self._entities.held = head.entities

    # reading on

    def position(self, channel: Channel) -> int | None:  # noqa: ARG002  # ROUTE reads one channel
        """Return the offset to read next, or None where nothing was read yet."""
        return self._next

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Count the records and return what goes out: drawn documents and dead letters."""
        outputs: list[Output] = []
        position = self._start
        latest_ms = latest_usable_ms(self._clock)
        for offset, timestamp_ms, value, _key in records:
            if offset < position:
                continue
            position = offset + 1
            if offset >= self._plan_until:
                self._advance_plan(offset)
            at_ms = timestamp_ms if 0 <= timestamp_ms < latest_ms else usable_ms(timestamp_ms, self._day, latest_ms)
            if at_ms >= self._day_until_ms:
                self._seal(at_ms // DAY_MS)
            if value is None:
                self._open.counts[_TOMBSTONES] += 1
                self._flow["tombstones", channel] += 1
            else:
                self._take(channel, offset, at_ms, value, outputs)
        self._note_flow()
        self._next = max(position, following)
        return outputs

    def _take(self, channel: Channel, offset: int, at_ms: int, value: bytes, outputs: list[Output]) -> None:
        """Read a record: the fast path where it's flawless, else the one that sets aside what can't be used."""
        limits = self.plan.limits
        try:
            decision = typed_decision(value, limits)
            flagged = None if decision is None else self._spelling.read(decision)
            if decision is None or flagged is None:
                decision, quarantined = decode_decision(value, limits)
                flagged = self._spelling.read_usable(decision)
                self._note_aside(quarantined)
        except RecordError as error:
            outputs.append(self._refuse(channel, offset, error))
            return
        self._decide(decision, flagged, offset, at_ms, outputs)

    def _note_aside(self, quarantined: Sequence[Quarantine]) -> None:
        for set_aside in quarantined:
            self._open.counts[CountKey("quarantined", set_aside.reason)] += 1
            self._flow["quarantined", set_aside.reason] += 1

    def _note_unchecked(self, offset: int, error: Exception) -> None:
        self._open.counts[CountKey("unchecked", type(error).__name__)] += 1
        self._flow["unchecked", "outputs"] += 1
        if self._failed is not None:
            self._failed(self.partition, offset, error)

    def _note_flow(self) -> None:
        """Add what was counted since the last call to the process's own counts."""
        for group in self._open.groups.values():
            if group.fresh:
                self._flow["decisions", group.detector, group.version] += group.fresh
                group.fresh = 0

    def _refuse(self, channel: Channel, offset: int, error: RecordError) -> Output:
        """Count a record that can't be used, and return its dead letter."""
        self._open.counts[CountKey("dead_letters", f"{channel}/{error.reason}")] += 1
        self._flow["dead_letters", channel, error.reason] += 1
        return dead_letter(self.topic, self.partition, offset, error)

    def _decide(self, decision: Decision, flagged: Flagged, offset: int, at_ms: int, outputs: list[Output]) -> None:
        """Put the document into its stratum and group, count it and its output there, and draw it or not."""
        spans, entities = flagged
        plan = self.plan
        if decision.second or plan.net.catches(decision.text):
            stratum: Stratum = "both" if spans else "loose_only"
        else:
            stratum = "detector_only" if spans else "unflagged"
        group = self._groups.get((decision.lang, decision.detector, decision.version)) or self._group(decision)
        group.count(stratum, entities, at_ms)
        if not crc32(decision.doc_id.encode()) % SHAPED:
            group.count_shape(len(decision.text), spans)
        if decision.second is not None:
            group.add_second(captures_of(spans, entities, decision.second, self._spelling.counted, plan.iou))
        looked = self._output_check.look(decision, flagged, stratum, group.outputs, offset)
        drawn = plan.sampler.draw(decision.doc_id, group.language, stratum)
        if drawn is None:
            return
        data = _encode(self._sampled(decision, spans, group, stratum, drawn, (offset, at_ms), looked))
        if len(data) > LARGEST_BYTES:
            outputs.append(self._refuse("decisions", offset, TooLarge("$.text", "escaped, more than a topic takes")))
            return
        which = "both" if drawn.random and drawn.loose else "random" if drawn.random else "loose"
        self._open.counts[CountKey("sampled", which)] += 1
        self._flow["sampled", which] += 1
        outputs.append(Output("sampled", decision.doc_id.encode(), data))

    def _group(self, decision: Decision) -> Group:
        """Return the counts that a decision goes to, and remember them under the names as they were spelled."""
        if len(self._groups) >= _CACHED:
            self._groups.clear()
        language = self._languages.admit(clean_name(decision.lang).lower(), self._day)
        named = f"{clean_name(decision.detector)}\n{clean_name(decision.version)}"
        named = self._versions.admit(named, self._day)
        detector, _, version = named.partition("\n")
        group = self._open.group(language, detector, version or detector)
        self._groups[decision.lang, decision.detector, decision.version] = group
        return group

    def _sampled(  # the wire record gathers all that is known of a drawn document
        self,
        decision: Decision,
        spans: Sequence[Span],
        group: Group,
        stratum: Stratum,
        drawn: Draw,
        place: tuple[int, int],
        looked: Looked | None,
    ) -> DrawnRecord:
        offset, at_ms = place
        return DrawnRecord(
            doc_id=decision.doc_id,
            lang=group.language,
            text=decision.text,
            detector=group.detector,
            version=group.version,
            spans=list(spans),
            stratum=stratum,
            slices=drawn.rates.slices,
            probability=drawn.rates.probability,
            thinning=self.plan.thinning,
            config=self.plan.id,
            net=self.plan.net.version,
            sampled_at=at_ms / 1000,
            day=self._day,
            redacted=decision.redacted,
            second=decision.second,
            floors=self.plan.sampler.floors,
            origin=(self.partition, offset),
            coverage=self._output_check.coverage(looked, offset),
        )

    # days and plans

    def _seal(self, day: int) -> None:
        """Close the open day for good; drop sealed days that no window can reach."""
        self._note_flow()
        tally = self._open.tally()
        if tally.rows:
            self._sealed[str(self._day)] = self._unwritten[str(self._day)] = tally
        horizon = day - self.plan.horizon_days
        self._forget_names(horizon)
        self._open = CensusDay()
        self._begin(day)
        for old in [key for key in self._sealed if int(key) < horizon]:
            del self._sealed[old]
            self._unwritten[old] = None

    def _forget_names(self, horizon: int) -> None:
        """Make room for new names as the open day closes: those of days that are dropped go."""
        groups = self._open.groups.values()
        self._languages.renew((g.language for g in groups), self._day)
        self._versions.renew((f"{g.detector}\n{g.version}" for g in groups), self._day)
        self._entities.renew((entity for g in groups for entity in g.entities), self._day)
        for names in (self._languages, self._versions, self._entities):
            names.forget(horizon)

    def _begin(self, day: int) -> None:
        """Make `day` the open one, and forget what was remembered for speed."""
        self._day, self._day_until_ms = day, (day + 1) * DAY_MS
        self._groups.clear()
        self._spelling = Spelling(self.plan.aliases, self._entities, day)
        self._output_check = OutputCheck(self.plan, self._spelling, self._note_unchecked)

    def _advance_plan(self, offset: int) -> None:
        """Decide under the plan that is in force at `offset` from now on."""
        while len(self._changes) > 1 and self._changes[1].offset <= offset:
            del self._changes[0]
        self.plan = self._changes[0].plan
        self._plan_until = self._changes[1].offset if len(self._changes) > 1 else _NEVER
        limits = self.plan.config.limits
        self._languages.limit, self._versions.limit = limits.max_languages, limits.max_versions
        self._entities.limit = limits.max_entities
        self._begin(self._day)

    def adopt(self, plan: Plan, at_s: float, not_before: int = 0) -> list[Output]:
        """Take up another plan from the next record on; return the history record of it, or nothing if it's in force.

        Call it at a checkpoint, before `head`: the row that is written next then starts where the new plan does. After
        a recovery `not_before` is the partition's end as it was found: a worker that crashed may have decided and sent
        anything below it, and what is read again there must be decided under the plan of then.
        """
        last = self._changes[-1]
        if last.plan.id == plan.id and last.plan.thinning == plan.thinning:
            return []
        offset = max(self._start, last.offset, not_before)
        self._changes.append(Change(offset, plan))
        self._advance_plan(self._start)
        return [change_record(self.topic, self.partition, offset, plan, at_s)]

    # checkpoints

    def rows(self) -> Mapping[str, bytes | None]:
        """Return days sealed or dropped since the last checkpoint."""
        return {key: None if tally is None else tally.encode() for key, tally in self._unwritten.items()}

    def head(self) -> bytes:
        """Return the row of the partition: a consistent prefix of the log."""
        head = _Head(
            format=1,
            next=self._next,
            day=self._day,
            plan=self.plan.id,
            thinning=self.plan.thinning,
            languages=dict(sorted(self._languages.held.items())),
            versions=dict(sorted(self._versions.held.items())),
            entities=dict(sorted(self._entities.held.items())),
            tally=self._open.tally().encode(),
        )
        return msgspec.msgpack.encode(head)

    def tallies(self) -> list[Output]:
        """Return the open day's tally and those that were sealed; all days at the first checkpoint."""
        days: dict[str, Tally | None] = {**(self._sealed if self._unpublished else {}), **self._unwritten}
        days[str(self._day)] = self._open.tally()
        return [published("route", self.partition, day, self._start, tally) for day, tally in days.items()]

    def settle(self) -> None:
        """Note that what `rows` and `tallies` returned is durable."""
        self._unwritten.clear()
        self._unpublished = False


def _encode(sampled: DrawnRecord) -> bytes:
    """Return the record; where a topic wouldn't take it without what no estimate needs, then without its coverage."""
    data = msgspec.json.encode(sampled)
    if len(data) > LARGEST_BYTES:
        sampled = msgspec.structs.replace(sampled, redacted=None, second=None)
        data = msgspec.json.encode(sampled)
    if len(data) > LARGEST_BYTES and sampled.coverage is not None:
        data = msgspec.json.encode(msgspec.structs.replace(sampled, coverage=None))
    return data


class Held(NamedTuple):
    """Where a partition's row reads on, and the plan that is in force there."""

    next: int
    plan: str
    thinning: float


def held_in(head: bytes) -> Held | None:
    """Return where a row reads on and under which plan; None for a row of another format."""
    try:
        row = msgspec.msgpack.decode(head, type=_Head)
    except msgspec.DecodeError:
        return None
    return Held(row.next or 0, row.plan, row.thinning)
