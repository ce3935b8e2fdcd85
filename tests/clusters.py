"""A cluster in memory: the stages over logs that only grow, with every way to stop between two steps of a checkpoint.

What a table holds is what was written to it last, by whoever wrote it. A crash drops a fold and opens another one from
the table. A zombie is a fold that was taken for dead and still writes its checkpoint over that of its successor.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from monitor.board import Board
from monitor.changes import ChangeRecord
from monitor.fold import Channel, Fold, Output
from monitor.intake import Intake
from monitor.ledger import Ledger
from monitor.merged import MergedRows
from monitor.plan import Plan
from monitor.readings import ANY, BoardSnapshot
from monitor.records import DeadLetter, Record, Task
from monitor.route import Change, Route
from monitor.tallies import read_key
from monitor.tally import EntryKey, Tally

INPUTS: dict[str, tuple[Channel, ...]] = {
    "route": ("decisions",),
    "intake": ("labels",),
    "ledger": ("sampled", "labels_by_document"),
}
STEPS = ("nothing", "half_of_rows", "rows", "head", "tallies")
"""How much of a checkpoint is durable when a worker stops; the last is all of it."""


class Host:
    """The partition of a stage: its table, and the fold that runs on it."""

    def __init__(self, cluster: Cluster, stage: str, partition: int) -> None:
        self.cluster = cluster
        self.stage = stage
        self.partition = partition
        self.head: bytes | None = None
        self.rows: dict[str, bytes] = {}
        self.zombie: Fold | None = None
        self.rebuilds = 0
        self.known_end = 0
        self.running = self._open()

    def _open(self) -> Fold:
        cluster = self.cluster
        if self.stage == "route":
            self.known_end = len(cluster.logs["decisions", self.partition])
            changes = cluster.changes_of(self.partition)
            return Route("decisions", self.partition, changes, self.head, dict(self.rows))
        if self.stage == "intake":
            return Intake("labels", self.partition, cluster.plan, self.head)
        topics: dict[Channel, str] = {"sampled": "sampled", "labels_by_document": "labels-by-document"}
        ledger = Ledger(self.partition, cluster.plan, topics, self.head, dict(self.rows))
        self.rebuilds += ledger.rebuilt
        return ledger

    def read(self, channel: Channel, count: int, again: int = 0) -> bool:
        """Read on, the last `again` records of before once more; say whether there was anything new."""
        log = self.cluster.logs[channel, self.partition]
        position = self.running.position(channel) or 0
        following = min(position + count, len(log))
        self.cluster.send(self.running.fold(channel, log[max(position - again, 0) : following], following))
        return following > position

    def checkpoint(self, until: str = "tallies") -> None:
        """Make a checkpoint; one that ends early ends the worker, and another one goes on from the table."""
        self._write(self.running, until)
        if until != "tallies":
            self.crash()

    def crash(self) -> None:
        """Drop the fold and open another one from the table."""
        self.running = self._open()

    def presume_dead(self) -> None:
        """Let another fold take over from the table, while this one lives on."""
        self.zombie = self.running
        self.crash()

    def wake_zombie(self, until: str) -> None:
        """Let the fold that was taken for dead make its checkpoint."""
        if self.zombie is not None:
            self._write(self.zombie, until)
            self.zombie = None

    def _write(self, fold: Fold, until: str) -> None:
        rows, head, tallies = list(fold.rows().items()), fold.head(), fold.tallies()
        fold.settle()
        step = STEPS.index(until)
        kept = (0, len(rows) // 2, len(rows), len(rows), len(rows))[step]
        for key, row in rows[:kept]:
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = row
        if step >= STEPS.index("head"):
            self.head = head
        if step >= STEPS.index("tallies"):
            self.cluster.send(tallies)


class Cluster:
    """Some partitions of every topic, and a host for each stage of each of them."""

    def __init__(self, plan: Plan, partitions: int = 1, recorded: Iterable[tuple[int, Change]] = ()) -> None:
        self.plan = plan
        self.first_plan = plan
        self.partitions = partitions
        self.plans: dict[tuple[str, float], Plan] = {(plan.id, plan.thinning): plan}
        self.history: dict[tuple[int, int], Plan] = {(p, change.offset): change.plan for p, change in recorded}
        self.logs: defaultdict[tuple[str, int], list[Record]] = defaultdict(list)
        self.published: list[Output] = []
        self.tasks: Counter[str] = Counter()
        self.dead: list[DeadLetter] = []
        self.hosts = [Host(self, stage, p) for stage in INPUTS for p in range(partitions)]

    def host(self, stage: str, partition: int = 0) -> Host:
        """Return the host of a stage's partition."""
        return next(h for h in self.hosts if (h.stage, h.partition) == (stage, partition % self.partitions))

    def changes_of(self, partition: int) -> list[Change]:
        """Return what the history topic says of a partition of decisions."""
        changes = [Change(offset, plan) for (p, offset), plan in sorted(self.history.items(), key=lambda c: c[0])]
        mine = [c for c, (p, _) in zip(changes, sorted(self.history), strict=True) if p == partition]
        return [Change(0, self.first_plan), *mine]

    def produce(self, channel: Channel, key: bytes, value: bytes | None, timestamp_ms: int) -> None:
        """Append a record to the partition of its key."""
        log = self.logs[channel, zlib.crc32(key) % self.partitions]
        log.append(Record(len(log), timestamp_ms, value, key))

    def send(self, outputs: Sequence[Output]) -> None:
        """Do with outputs what a broker does."""
        for output in outputs:
            if output.channel == "tallies":
                self.published.append(output)
            elif output.channel == "annotation_tasks":
                self.tasks[msgspec.json.decode(output.value or b"", type=Task).task_id] += 1
            elif output.channel == "dead_letters":
                self.dead.append(msgspec.json.decode(output.value or b"", type=DeadLetter))
            elif output.channel == "history":
                change = msgspec.json.decode(output.value or b"", type=ChangeRecord)
                self.history[change.partition, change.offset] = self.plans[change.config, change.thinning]
            else:
                self.produce(output.channel, output.key, output.value, output.timestamp_ms or 0)

    def adopt(self, plan: Plan) -> None:
        """Take up another plan on every worker, as at a checkpoint."""
        self.plan = plan
        self.plans[plan.id, plan.thinning] = plan
        for host in self.hosts:
            if isinstance(host.running, Route):
                self.send(host.running.adopt(plan, 0.0, host.known_end))
            elif isinstance(host.running, (Ledger, Intake)):
                host.running.adopt(plan)

    def settle(self) -> None:
        """Read everything to its end and make every checkpoint."""
        moved = True
        while moved:
            moved = False
            for host in self.hosts:
                for channel in INPUTS[host.stage]:
                    moved |= host.read(channel, 1000)
        for host in self.hosts:
            host.checkpoint()

    def sums(self, first_day: int = 0) -> Tally:
        """Return what was published of days from `first_day` on: sums, first and last sightings, oldest open tasks."""
        merged = MergedRows([None])
        queue = [output for output in self.published if read_key(output.key).day >= first_day]
        for output in queue:
            queue += merged.take(output.key, output.value)
        total = Tally()
        total.merge(merged.windows[0].sums)
        for cell, evidence in merged.evidence.cells.items():
            for period, entries in evidence.entries.items() if cell.language != ANY else ():
                for entry, times in entries.items():
                    numbers = (period, entry.probability, *entry.floors, entry.t, entry.y, int(entry.labelled))
                    key = EntryKey(cell.language, cell.detector, cell.version, cell.entity, *numbers)
                    total.add(key, (times,))
        total.merge(merged.extremes(merged.windows[0], "route"))
        total.merge(merged.extremes(merged.windows[0], "ledger"))
        return total

    def snapshot(self, now: float | None = None) -> BoardSnapshot:
        """Return the readings of a board that starts from the compacted topic: the last row of each key."""
        board = Board(self.plan, [None])
        queue = list(self.published)
        held = MergedRows([None])
        for output in queue:
            queue += held.take(output.key, output.value)
        for output in {o.key: o for o in queue}.values():
            board.take(output.key, output.value)
        return board.snapshot(now)
