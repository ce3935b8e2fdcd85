"""The four stages of a worker: how each fold is opened, and what takes effect at its checkpoints.

ROUTE and LEDGER keep a table, INTAKE a head alone, BOARD its drift detectors and what somebody was told: all else it
reads anew from the start of the tallies. A change of config is taken up under the stage's lock, at a checkpoint or
before a partition's first record: its record is in the history before anything is decided under it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import structlog

from monitor.board import Board
from monitor.changes import change_record
from monitor.errors import StateError
from monitor.fold import Channel, Fold, Output
from monitor.history import History, config_record
from monitor.intake import Intake
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.route import Change, Held, Route, held_in
from streams.chunks import Place
from streams.live_config import LiveConfig
from streams.stage import StageSpec

log = structlog.get_logger(__name__)

TABLES: Mapping[str, Channel] = {"route": "decisions", "intake": "labels", "ledger": "sampled", "board": "tallies"}
"""Each table, with a channel that its stage reads: their partitions are the same in number."""


class Stages:
    """Opens the folds of a worker and keeps them on the config in force.

    Parameters
    ----------
    topics
        The name of each channel.
    live
        The config in force.
    history
        What was in force before, by offset.
    now
        Clock, seconds since the epoch: dates changes, decides no count.
    end
        Where a partition ended when it was last fetched; None before that.
    """

    def __init__(
        self,
        topics: Mapping[Channel, str],
        live: LiveConfig,
        history: History,
        now: Callable[[], float],
        end: Callable[[Place], int | None],
    ) -> None:
        self._topics = topics
        self._live = live
        self._history = history
        self._now = now
        self._end = end
        self.flow: Counter[tuple[str, ...]] = Counter()
        """Process-local counts, by name and labels."""
        self.board: Board | None = None
        """The last board that was opened here; whether it still runs, the app knows."""
        self._ends: dict[int, int] = {}
        """Where each partition of decisions ended soon after its fold was opened."""
        self._told_unchecked: set[type[Exception]] = set()
        self._unrecorded: dict[int, int] = {}
        """From which offset the plan in force decides in a partition without being recorded there."""

    def specs(self) -> tuple[StageSpec, ...]:
        """Return the stages, as the app builds them."""
        return (
            StageSpec(
                name="route", inputs=("decisions",), opener=self._open_route, table="route", prepare=self._prepare
            ),
            StageSpec(
                name="intake", inputs=("labels",), opener=self._open_intake, table="intake", prepare=self._prepare
            ),
            StageSpec(
                name="ledger",
                inputs=("sampled", "labels_by_document"),
                opener=self._open_ledger,
                table="ledger",
                prepare=self._prepare,
            ),
            StageSpec(
                name="board",
                inputs=("tallies",),
                opener=self._open_board,
                table="board",
                from_start=True,
                prepare=self._prepare,
            ),
        )

    # opening

    def _open_route(self, partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Route:
        topic = self._topics["decisions"]
        self._ends.pop(partition, None)
        self._unrecorded.pop(partition, None)
        changes = self._changes(topic, partition, head)
        return Route(topic, partition, changes, head, rows, self.flow, self._now, self._tell_unchecked)

    def _tell_unchecked(self, partition: int, offset: int, error: Exception) -> None:
        """Log the first of each kind of exception that the check of outputs raises: the count says how many."""
        kind = type(error)
        if kind not in self._told_unchecked:
            self._told_unchecked.add(kind)
            topic = self._topics["decisions"]
            log.error("output_not_checked", topic=topic, partition=partition, offset=offset, exc_info=error)

    def _changes(self, topic: str, partition: int, head: bytes | None) -> list[Change]:
        """Return the plans from the row's position on: the row's own, then those recorded at it and past it.

        Without a row they are those recorded from the start: whoever had the partition before may have ended before its
        first checkpoint.
        """
        current = self._live.plan
        recorded = self._history.of(topic, partition)
        held = None if head is None else held_in(head)
        if held is None and recorded:
            held = Held(0, recorded[0].config, recorded[0].thinning)
        if held is None:
            self._unrecorded[partition] = 0
            return [Change(0, current)]
        try:
            own = self._history.plan(held.plan, held.thinning, current)
        except StateError as error:
            log.warning(
                "config_not_recorded",
                topic=topic,
                partition=partition,
                offset=held.next,
                config=held.plan,
                reason=str(error),
            )
            self._unrecorded[partition] = held.next
            return [Change(held.next, current)]
        changes = [Change(0, own)]
        for later in recorded:
            # at the position too: a worker may end between the record of a change and the row that begins under it
            if later.offset >= held.next:
                try:
                    plan = self._history.plan(later.config, later.thinning, current)
                except StateError as error:
                    raise StateError(f"{topic}/{partition}@{later.offset}: {error}") from None
                changes.append(Change(later.offset, plan))
        return changes

    def _open_intake(self, partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Intake:  # noqa: ARG002
        return Intake(self._topics["labels"], partition, self._live.plan, head, self.flow, self._now)

    def _open_ledger(self, partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Ledger:
        ledger = Ledger(partition, self._live.plan, self._topics, head, rows, self.flow)
        if ledger.rebuilt:
            log.error(
                "ledger_rebuilt",
                partition=partition,
                reason="rows of an older version, or not those that the head vouches for",
            )
        return ledger

    def _open_board(self, partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Board:  # noqa: ARG002
        self.board = Board(self._live.plan, rows=rows)
        if self.board.drift.begun_anew:
            log.warning("drift_begun_anew", partition=partition, reason=self.board.drift.begun_anew)
        if self.board.notices.begun_anew:
            log.warning("told_begun_anew", partition=partition, reason=self.board.notices.begun_anew)
        return self.board

    # checkpoints

    def _prepare(self, fold: Fold) -> Sequence[Output] | None:
        """Take up the config in force; return what to record, None where nothing changed.

        What somebody was told is a change too: it's told when the board is looked at, whether a record came or not.
        """
        plan = self._live.plan
        if isinstance(fold, Route):
            return self._prepare_route(fold, plan)
        if isinstance(fold, Ledger | Intake | Board) and fold.plan is not plan:
            fold.adopt(plan)
            return []
        return [] if isinstance(fold, Board) and fold.notices.changed else None

    def _prepare_route(self, fold: Route, plan: Plan) -> Sequence[Output] | None:
        outputs: list[Output] = []
        offset = self._unrecorded.pop(fold.partition, None)
        if offset is not None:
            outputs.append(change_record(fold.topic, fold.partition, offset, fold.plan, self._now()))
        end = self._known_end(fold)
        if end is not None:
            outputs += fold.adopt(plan, self._now(), end)
        if outputs:
            new = {p.id: p for p in (fold.plan, plan) if p.id not in self._history.configs}
            outputs[:0] = [config_record(each, self._now()) for each in new.values()]
        for output in outputs:
            self._history.take(output.key, output.value)
        return outputs or None

    def _known_end(self, fold: Route) -> int | None:
        """Return where the fold's partition ended once it was opened, None as long as nobody knows.

        Below it another worker may have decided and sent anything under the plan of then.
        """
        if fold.partition not in self._ends:
            end = self._end(Place(fold.topic, fold.partition))
            if end is None:
                return None
            self._ends[fold.partition] = end
        return self._ends[fold.partition]
