"""The people of a replay: what they saw, when they say so, and how much of it they get through in a day.

Of a task that is drawn at some moment the answer comes between A and B days later, A + (B - A) u. u is the keyed hash
of the task's id as a share in [0, 1), so a key gives the same people each time. Where the detector missed something
that the label holds, u is taken from the upper half, (1 + u)/2: what is hard for it takes people longer too.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from monitor.document import DAY_S, task_id, text_digest
from monitor.entities import Aliases
from monitor.errors import RecordError
from monitor.formats.corpus import read_label_line
from monitor.matching import Extent, matched, unique
from monitor.records import Label, Span
from monitor.sizes import Limits

_COPIES = (0, 1, 2)
"""0 is about the text and no copy in particular."""


class Truth:
    """What people saw, by document and text; held in memory, but for the texts.

    Parameters
    ----------
    limits
        How large a line may be.
    annotators
        Whose labels count; empty takes everybody's.
    """

    def __init__(self, limits: Limits, annotators: Sequence[str] = ()) -> None:
        self._limits = limits
        self._annotators = annotators
        self._labels: defaultdict[str, dict[tuple[str | None, str], Label]] = defaultdict(dict)
        """By document; there by the text's digest, None where it isn't known, and by annotator."""
        self.refused: Counter[str] = Counter()
        """Labels that can't be read, by reason."""
        self.not_chosen = 0
        self.seen: set[str] = set()
        """Who gave the labels, chosen or not."""

    def read(self, lines: Iterable[bytes]) -> int:
        """Take lines of labels, of a corpus or as wire records; return how many labels count."""
        count = 0
        for line in lines:
            try:
                read = read_label_line(line, self._limits)
            except RecordError as error:
                self.refused[error.reason] += 1
                continue
            digest = None if read.text is None else text_digest(read.text)
            count += sum(self._keep(digest, label) for label in read.labels)
        return count

    def _keep(self, digest: str | None, label: Label | RecordError) -> bool:
        if isinstance(label, RecordError):
            self.refused[label.reason] += 1
            return False
        self.seen.add(label.annotator)
        if self._annotators and label.annotator not in self._annotators:
            self.not_chosen += 1
            return False
        held = self._labels[label.doc_id].get((digest, label.annotator))
        if held is None or label.revision > held.revision:
            self._labels[label.doc_id][digest, label.annotator] = label
        return True

    def of(self, doc_id: str, text: str) -> list[Label]:
        """Return the labels of a document's text, at most one an annotator, in the order of their lines."""
        found = self._labels.get(doc_id)
        if not found:
            return []
        digest = text_digest(text)
        tasks = {"", *(task_id(doc_id, digest, "label", copy) for copy in _COPIES)}
        mine = {
            who: label for (of, who), label in found.items() if of == digest or (of is None and label.task_id in tasks)
        }
        return list(mine.values())


class _Waiting(NamedTuple):
    """An answer that takes its time; no two have the same task, so that labels are never compared."""

    due_s: float
    drawn_s: float
    task_id: str
    label: Label


class _Ready(NamedTuple):
    """An answer that can be given."""

    drawn_s: float
    task_id: str
    due_s: float
    label: Label


class AnswerQueue:
    """Answers between the draw of their tasks and the day that they are given on.

    Parameters
    ----------
    delay_days
        The least and the most days that an answer takes, `0 <= least <= most`.
    per_day
        Answers that people get through in a day, the oldest task first; None sets no bound.
    key
        Makes other people of the same ones.
    """

    def __init__(self, delay_days: tuple[float, float], per_day: int | None, key: str) -> None:
        self._delay_days = delay_days
        self._per_day = per_day
        self._hash = hashlib.blake2b(key=hashlib.blake2b(key.encode()).digest(), digest_size=8, person=b"delay")
        self._waiting: list[_Waiting] = []
        self._ready: list[_Ready] = []

    def ask(self, label: Label, drawn_s: float, *, missed: bool) -> None:
        """Have a task answered with a label that names it; `drawn_s` is when it was drawn, s since the epoch."""
        due_s = drawn_s + self._delay_of(label.task_id, missed=missed) * DAY_S
        heapq.heappush(self._waiting, _Waiting(due_s, drawn_s, label.task_id, label))

    def _delay_of(self, task_id: str, *, missed: bool) -> float:
        """Return the days that an answer takes."""
        least, most = self._delay_days
        state = self._hash.copy()
        state.update(task_id.encode())
        share = int.from_bytes(state.digest()) / (1 << 64)
        return least + (most - least) * ((1 + share) / 2 if missed else share)

    def answers(self, start_s: float, end_s: float) -> list[tuple[Label, float]]:
        """Return the answers of a day that begins and ends so, each with its time, in the order of time."""
        while self._waiting and self._waiting[0].due_s < end_s:
            due_s, drawn_s, task_id, label = heapq.heappop(self._waiting)
            heapq.heappush(self._ready, _Ready(drawn_s, task_id, due_s, label))
        count = len(self._ready) if self._per_day is None else min(self._per_day, len(self._ready))
        given = [heapq.heappop(self._ready) for _ in range(count)]
        return sorted(((g.label, max(g.due_s, start_s)) for g in given), key=lambda answer: answer[1])

    @property
    def open(self) -> int:
        """Tasks whose answer will come, and hasn't."""
        return len(self._waiting) + len(self._ready)


def has_miss(true: Iterable[Span], found: Iterable[Span], aliases: Aliases, iou: float) -> bool:
    """Return whether a labelled span has no detected one that matches it."""
    labelled, detected = (
        unique(Extent(span.start, span.end, aliases.fold(span.entity)) for span in spans) for spans in (true, found)
    )
    return len(matched(labelled, detected, iou)) < len(labelled)
