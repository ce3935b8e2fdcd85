"""The four stages in one process and one partition, without a broker: what one sends, the next one takes at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from monitor.board import Board
from monitor.errors import RecordError
from monitor.fold import Channel, Output
from monitor.intake import Intake
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.records import Record
from monitor.route import Change, Route

Timed = tuple[bytes, int]
"""A record's value and its time, ms since the epoch."""


class Stages:
    """ROUTE, INTAKE, LEDGER and BOARD of a replay.

    Parameters
    ----------
    plan
        In force from the first record on, until `adopt` says otherwise.
    windows_days
        See `Board`.
    flow
        Where what happens is counted, by name and labels, as a worker does for its own figures; None counts for nobody.
    """

    def __init__(
        self,
        plan: Plan,
        windows_days: Sequence[int | None] | None = None,
        flow: Counter[tuple[str, ...]] | None = None,
    ) -> None:
        topics = plan.config.topics
        inputs: dict[Channel, str] = {"sampled": topics.sampled, "labels_by_document": topics.labels_by_document}
        self.plan = plan
        self.board = Board(plan, windows_days)
        self.ledger = Ledger(0, plan, inputs, flow=flow)
        self._route = Route(topics.decisions, 0, [Change(0, plan)], flow=flow)
        self._intake = Intake(topics.labels, 0, plan, flow=flow)
        self._offsets: Counter[Channel] = Counter()

    def decide(self, values: Iterable[Timed]) -> list[Output]:
        """Take decisions; return what ROUTE and LEDGER sent: drawn documents, their tasks, dead letters."""
        sent = self._route.fold("decisions", self._records("decisions", values), self._offsets["decisions"])
        return [*sent, *self._pass_on("sampled", sent)]

    def label(self, values: Iterable[Timed]) -> list[Output]:
        """Take labels as annotation tools send them; return what INTAKE and LEDGER sent."""
        sent = self._intake.fold("labels", self._records("labels", values), self._offsets["labels"])
        return [*sent, *self._pass_on("labels_by_document", sent)]

    def refuse_label(self, error: RecordError) -> None:
        """Count a label that couldn't even be read out of its line."""
        self._intake.refuse("labels", self._offsets["labels"], error)

    def adopt(self, plan: Plan, at_s: float) -> None:
        """Take up another plan from the next record on; `at_s` is when, s since the epoch."""
        self.plan = plan
        self._route.adopt(plan, at_s)
        self._intake.adopt(plan)
        self.ledger.adopt(plan)
        self.board.adopt(plan)

    def publish(self) -> None:
        """Hand to the board what the stages counted."""
        for stage in (self._route, self._intake, self.ledger):
            for output in stage.tallies():
                self.board.take(output.key, output.value)
            stage.settle()

    def _pass_on(self, channel: Channel, outputs: Sequence[Output]) -> list[Output]:
        """Hand the outputs of one stage to the ledger."""
        mine = [(o.value, o.timestamp_ms or 0) for o in outputs if o.channel == channel and o.value is not None]
        return self.ledger.fold(channel, self._records(channel, mine), self._offsets[channel])

    def _records(self, channel: Channel, values: Iterable[Timed]) -> list[Record]:
        first = self._offsets[channel]
        records = [Record(offset, at_ms, value) for offset, (value, at_ms) in enumerate(values, start=first)]
        self._offsets[channel] += len(records)
        return records
