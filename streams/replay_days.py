"""Replay by days: traffic, people and mornings on a simulated clock, the stages and the board as they are.

A day holds its documents' times evenly; then come the answers that are given on it; then, at its last second, the board
is looked at: readings, alarms, and what of the detector's output changed. A live board looks for that after each 50
documents; here a change shows in the evening, and documents in the order of a corpus change along it, so a day that
isn't a whole reading shows that too. Nothing reads the clock on the wall, so the same files, settings and key always
give the same. Windows, deadlines and horizon are the config's own, unlike those of `Replay`, which reads everything as
one window.

Where rates are advised, they are set in the morning, before the day's first document, from the board as it was the
evening before: no rate follows labels of what it draws. Sampling isn't thinned: that follows a queue within
minutes, by what came in quarters of an hour, and by one look a day it would thin what was long over. What people can't
get through stays open; advised rates ask for no more than they can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

import msgspec

from monitor.alarm_readings import AlarmEvent, Cause
from monitor.cells import CellSample
from monitor.config import Config, Sampling
from monitor.document import DAY_S, Document
from monitor.fold import Output
from monitor.plan import Plan
from monitor.readings import BoardSnapshot, DriftSignal, Tally
from monitor.records import Label, Sampled, Task
from streams.replay_labels import AnswerQueue, Truth, has_miss
from streams.replay_rates import AdvisedRates
from streams.replay_stages import Stages
from streams.replay_traffic import Batch, Traffic, renamed

FIRST_DAY = 20_000
"""Day 0, in days since the epoch: 2024-10-04."""
_DRAWN = msgspec.json.Decoder(Sampled)
_TASK = msgspec.json.Decoder(Task)


class Schedule(NamedTuple):
    """How people work in a replay by days."""

    delay_days: tuple[float, float] = (0.0, 0.0)
    """See `AnswerQueue`."""
    labels_per_day: int | None = None
    """At least 1; None sets no bound."""
    advised: bool = False
    """Whether rates follow labels; needs `labels_per_day`."""


class DayAlarm(NamedTuple):
    """Something that somebody was told of."""

    entity: str
    language: str
    day: int
    """In whose evening it was told, from 0; of another version the day it came. `on_since` and `fired_at` of a reading
    are earlier: when the day ended on which the documents were drawn whose labels told it."""
    cause: Cause
    evidence: float | None
    """Natural logarithm; of an alarm that went on, as it crossed its bar."""
    detector: str
    version: str
    """Of which version it's told, also where that is what changed."""
    changed: Literal["rates", "version"] | None
    """See `AlarmEvent`."""
    windows_days: tuple[int | None, ...] = ()
    """Of which lengths the window is whose number lapsed."""


class DayShift(NamedTuple):
    """A share of the detector's output that changed."""

    signal: str
    entity: str
    language: str
    """Both empty where the share is of all."""
    direction: Literal["up", "down"]
    day: int
    """In whose evening it showed, from 0."""


class DayReplay:
    """The four stages in one process, people, and a clock.

    Parameters
    ----------
    config
        Settings; the rates are those of the first day, unless they are advised.
    schedule
        How people work.
    annotators
        Whose labels count; empty takes everybody's. The first one's answers a document's task, the second one's the
        copy of it; a task that nobody's label answers stays open.

    Raises
    ------
    ValueError
        Advised rates without a number of labels.
    """

    def __init__(self, config: Config, schedule: Schedule = Schedule(), annotators: Sequence[str] = ()) -> None:  # noqa: B008  # a NamedTuple never changes
        if schedule.advised and not schedule.labels_per_day:
            raise ValueError("advised rates need labels_per_day")
        self._stages = Stages(Plan(config))
        self._truth = Truth(self._stages.plan.limits, annotators)
        self._queue = AnswerQueue(schedule.delay_days, schedule.labels_per_day, config.sampling.key)
        self._rates = AdvisedRates(schedule.labels_per_day or 1, config.labels) if schedule.advised else None
        self._now_s: int = FIRST_DAY * DAY_S
        self._told: AlarmEvent | None = None
        self._evening: BoardSnapshot | None = None
        self._shifts: Counter[tuple[str, str, str]] = Counter()
        self.swap_day: int | None = None
        """The day of the next version's first document."""
        self.before_swap: BoardSnapshot | None = None
        """The board as it was the evening before that day; None where there was none."""
        self.alarms: list[DayAlarm] = []
        """What was told so far, oldest first."""
        self.shifts: list[DayShift] = []
        """What of the detector's output changed so far, oldest first."""

    def label(self, lines: Iterable[bytes]) -> int:
        """Take lines of labels, which people will give in answer to tasks; return how many labels they hold."""
        return self._truth.read(lines)

    @property
    def seen(self) -> set[str]:
        """Who gave the labels, chosen or not."""
        return self._truth.seen

    def run(self, traffic: Traffic) -> Iterator[int]:
        """Live through the days, and yield each when it's over."""
        for day, batches in groupby(traffic.batches(), key=lambda batch: batch.day):
            self._live(day, batches)
            yield day

    def _live(self, day: int, batches: Iterable[Batch]) -> None:
        start_s = (FIRST_DAY + day) * DAY_S
        for batch in batches:
            if self._rates is not None and batch.place == 0:
                self._set_rates(self._rates, day, batch)
            if batch.swapped and self.swap_day is None:
                self.swap_day, self.before_swap = day, self._evening
            self._decide(start_s, batch)
        given = self._queue.answers(start_s, start_s + DAY_S)
        self._stages.label([(msgspec.json.encode(label), int(at_s * 1000)) for label, at_s in given])
        self._stages.publish()
        self._now_s = start_s + DAY_S - 1
        self._stages.board.watch(self._now_s * 1000)
        found = self._stages.board.snapshot(self._now_s)
        self._note_alarms(found.alarms)
        self._note_shifts(day, found.drift)
        self._evening = found if self.swap_day is None else None

    def _set_rates(self, rates: AdvisedRates, day: int, batch: Batch) -> None:
        """Put the morning's rates in force."""
        start_s = (FIRST_DAY + day) * DAY_S
        plan = self._stages.plan
        if day == 0:
            lines = [renamed(line, batch.suffix) for line in batch.lines]
            sampling: Sampling | None = rates.first(plan, lines, batch.of)
        else:
            sampling = rates.next(plan, self._stages.board.samples(start_s))
        if sampling is not None:
            self._stages.adopt(Plan(msgspec.structs.replace(plan.config, sampling=sampling)), start_s)

    def _decide(self, start_s: int, batch: Batch) -> None:
        step_ms = DAY_S * 1000 / batch.of
        values = [
            (renamed(line, batch.suffix), start_s * 1000 + int((batch.place + i) * step_ms))
            for i, line in enumerate(batch.lines)
        ]
        self._ask(self._stages.decide(values), batch.suffix)

    def _ask(self, outputs: Iterable[Output], suffix: str) -> None:
        """Give the tasks to those who know their answers."""
        drawn: dict[str, Sampled] = {}
        for output in outputs:
            if output.value is None:
                continue
            if output.channel == "sampled":
                sampled = _DRAWN.decode(output.value)
                drawn.setdefault(sampled.doc_id, sampled)
            elif output.channel == "annotation_tasks":
                task = _TASK.decode(output.value)
                labels = self._truth.of(task.doc_id.removesuffix(suffix), task.text)
                if task.kind == "label" and len(labels) >= task.copy:
                    self._answer(task, labels[task.copy - 1], drawn[task.doc_id])

    def _answer(self, task: Task, label: Label, sampled: Sampled) -> None:
        plan = self._stages.plan
        missed = has_miss(label.spans, sampled.spans, plan.aliases, plan.iou)
        answer = msgspec.structs.replace(label, doc_id=task.doc_id, task_id=task.task_id)
        self._queue.ask(answer, sampled.sampled_at, missed=missed)

    def _note_alarms(self, events: Sequence[AlarmEvent]) -> None:
        today = self._now_s // DAY_S - FIRST_DAY
        # the board remembers the newest alone, so their number says nothing
        new = events if self._told is None or self._told not in events else events[events.index(self._told) + 1 :]
        for event in new:
            day = min(max(event.at // DAY_S - FIRST_DAY, 0), today)
            what = event.cause, event.evidence, event.detector, event.version, event.changed, event.windows_days
            self.alarms.append(DayAlarm(event.entity, event.language, int(day), *what))
        self._told = events[-1] if events else None

    def _note_shifts(self, day: int, signals: Iterable[DriftSignal]) -> None:
        for found in signals:
            name = found.signal, found.entity, found.language
            if found.shifts > self._shifts[name] and found.direction is not None:
                self.shifts.append(DayShift(*name, found.direction, day))
            self._shifts[name] = found.shifts

    # what it comes to

    def snapshot(self) -> BoardSnapshot:
        """Return the readings at the end of the last day."""
        found = self._stages.board.snapshot(self._now_s)
        refused = [Tally(("labels", reason), n) for reason, n in sorted(self._truth.refused.items())]
        left_out = [Tally(("not_chosen",), self._truth.not_chosen)] if self._truth.not_chosen else []
        return msgspec.structs.replace(
            found, dead_letters=(*found.dead_letters, *refused), outcomes=(*found.outcomes, *left_out)
        )

    def samples(self) -> list[CellSample]:
        """Return the sample of every cell at the end of the last day, over the longest window."""
        return self._stages.board.samples(self._now_s)

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Yield every drawn document that is kept, with its id."""
        return self._stages.ledger.documents()
