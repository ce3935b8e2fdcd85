"""The product and its outside world on a simulated clock: traffic by the hour, people in office hours, and scrapes.

The stages, the board and what is exported are the product's own; the detector is made to be good or bad. One worker
runs, in one partition. The clock begins at the epoch, on a Monday by decree.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

import msgspec

from monitor.config import Config
from monitor.exposition import Sample, samples
from monitor.pipeline import Pipeline
from monitor.plan import Plan
from monitor.records import Decision, Span, Task
from streams.annotators import Annotators
from streams.detector import redact
from streams.documents import documents
from streams.replay_stages import Stages

HOUR_S, DAY_S = 3_600, 86_400
SEED = 7
OFFICE = range(9, 17)
"""Hours of a weekday, in which people read and most traffic comes."""
PER_HOUR, PER_QUIET_HOUR = 120, 20
"""Documents; in the second hours of the night and of the weekend."""
_TASK = msgspec.json.Decoder(Task)


class Read(NamedTuple):
    """A document as a detector decides on it, and what it really holds."""

    decision: Decision
    truth: list[Span]


class Makes(NamedTuple):
    """A detector that is as good as one says: of the spans that there are it misses this share, in [0, 1].

    What it finds is masked, and so is all else that isn't of the entities that are watched.
    """

    version: str
    missed: float

    def pool(self, size: int, languages: Container[str], entities: Container[str]) -> list[Read]:
        """Return its decisions on so many documents in some languages; entities that aren't watched are in none."""
        random = Random(f"{SEED} {self.version}")  # noqa: S311  # seeded, not secret
        chosen = (document for document in documents(SEED) if document.lang in languages)
        reads = []
        for document in islice(chosen, size):
            truth = [span for span in document.labels if span.entity in entities]
            missed = {span for span in truth if random.random() < self.missed}
            found = [Span(s.start, s.end, s.entity, 0.9) for s in truth if s not in missed]
            redacted = redact(document.text, [span for span in document.labels if span not in missed])
            decision = Decision(
                document.doc_id, document.lang, document.text, "made", self.version, found, redacted=redacted
            )
            reads.append(Read(decision, truth))
        return reads


class Installation:
    """A worker that runs well, and those it works for.

    Parameters
    ----------
    config
        In force all the time.
    reads
        What comes is drawn from these, each time as a new document; may be replaced by another version's.
    """

    def __init__(self, config: Config, reads: Sequence[Read]) -> None:
        self.reads = reads
        self._flow: Counter[tuple[str, ...]] = Counter()
        self._stages = Stages(Plan(config), flow=self._flow)
        self._truth: dict[str, list[Span]] = {}
        self._people = Annotators(SEED, self._truth)
        self._due: list[tuple[float, str, Task]] = []
        self._random = Random(SEED)  # noqa: S311  # the same
        self._sent = self._answered = 0
        self._started_at = 0.0
        self._now = 0.0

    def live(self, seconds: int) -> None:
        """Let time pass: decisions come, people answer what is due, and the board takes it in."""
        start, self._now = self._now, self._now + seconds
        self._decide(start, seconds)
        self._answer()
        self._stages.publish()
        self._stages.board.watch(int(self._now * 1000))

    def restart(self) -> None:
        """Start the worker again: its own figures begin at 0, and what it knows is as before."""
        self._flow.clear()
        self._started_at = self._now

    def scrape(self) -> Iterator[Sample]:
        """Return what the product exports now."""
        return samples(self._stages.board.snapshot(self._now), self._figures())

    def _figures(self) -> Pipeline:
        return Pipeline(
            started_at=self._started_at,
            heartbeat_at=self._now,
            ready=True,
            is_board=True,
            decisions={(k[1], k[2]): n for k, n in self._flow.items() if k[0] == "decisions"},
            sampled=self._counted("sampled"),
            tasks=self._counted("tasks"),
            labels=self._counted("labels"),
            dead_letters={(k[1], k[2]): n for k, n in self._flow.items() if k[0] == "dead_letters"},
            quarantined=self._counted("quarantined"),
            positions={("decisions", 0): self._sent, ("labels", 0): self._answered},
            lag={("decisions", 0): 0, ("labels", 0): 0},
            lost={("decisions", 0): 0, ("labels", 0): 0},
            partitions_assigned=4,
            checkpoint_at=self._now,
        )

    def _counted(self, name: str) -> dict[tuple[str], int]:
        return {(k[1],): n for k, n in self._flow.items() if k[0] == name}

    def _decide(self, start: float, seconds: int) -> None:
        """Send what comes in that time, at even distances, and ask for what is drawn of it."""
        share = PER_HOUR if _in_office(start) else PER_QUIET_HOUR
        number = round(share * seconds / HOUR_S)
        values = []
        for place in range(number):
            read = self._random.choice(self.reads)
            doc_id = f"{read.decision.doc_id}#{self._sent}"
            self._sent += 1
            self._truth[doc_id] = read.truth
            value = msgspec.json.encode(msgspec.structs.replace(read.decision, doc_id=doc_id))
            values.append((value, int(1000 * (start + seconds * place / number))))
        for output in self._stages.decide(values):
            if output.channel == "annotation_tasks" and output.value is not None:
                task = _TASK.decode(output.value)
                due = _office_time(start + self._random.uniform(0, DAY_S))
                heapq.heappush(self._due, (due, task.task_id, task))

    def _answer(self) -> None:
        answers = []
        while self._due and self._due[0][0] < self._now:
            due, _, task = heapq.heappop(self._due)
            answers.append((msgspec.json.encode(self._people.answer(task)), int(1000 * due)))
        self._answered += len(answers)
        self._stages.label(answers)


def _in_office(at: float) -> bool:
    return at // DAY_S % 7 < 5 and at % DAY_S // HOUR_S in OFFICE


def _office_time(at: float) -> float:
    """Return when somebody comes to what is to be done at a moment: then, or in the first hours of the next office day.

    >>> [_office_time(hours * HOUR_S) / HOUR_S for hours in (10, 5 * 24 + 3)]
    [10.0, 177.5]
    """
    if _in_office(at):
        return at
    day = at // DAY_S
    if at % DAY_S >= OFFICE.stop * HOUR_S or day % 7 >= 5:
        day += 1
    while day % 7 >= 5:
        day += 1
    # those of a night are spread over the morning
    return day * DAY_S + OFFICE.start * HOUR_S + at % DAY_S / DAY_S * 4 * HOUR_S
