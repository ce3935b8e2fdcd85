"""The ledger's tallies by draw day, kept in step with its rows; what's open the longest, what was labelled last."""

from __future__ import annotations

import heapq
from collections import Counter

from monitor.contribution import FoldName, contribution, open_task
from monitor.document import Document
from monitor.fold import Output
from monitor.tallies import Stage, published
from monitor.tally import Key, Tally, VersionKey


class DayTallies:
    """Sums by day; which days changed since the last checkpoint; open tasks in a heap a day and language.

    A heap forgets what no longer counts only when it comes to the top, so that a change costs O(log n).
    """

    def __init__(self, stage: Stage, partition: int) -> None:
        self._stage = stage
        self._partition = partition
        self._days: dict[int, Tally] = {}
        self._open: dict[tuple[int, str], list[tuple[float, str]]] = {}
        self._waiting: set[tuple[int, str, float, str]] = set()
        self._newest: dict[tuple[int, VersionKey], list[int]] = {}
        self._labelled: Counter[tuple[tuple[int, VersionKey], int]] = Counter()
        self._changed: set[int] = set()
        self._dropped: set[int] = set()
        self._limit = 0

    def clear(self) -> None:
        """Forget all sums, and publish every day anew at the next checkpoint."""
        self._changed |= set(self._days)
        self._days.clear()
        self._open.clear()
        self._waiting.clear()
        self._newest.clear()
        self._labelled.clear()

    def add(self, day: int, key: Key, times: int) -> None:
        """Count something on a day."""
        self._day(day).add(key, (times,))

    def add_all(self, doc_id: str, document: Document, fold: FoldName, iou: float) -> None:
        """Add what a document adds."""
        self._add_parts(document, fold, iou, 1)
        self._note_labelled(document, 1)
        for task in open_task(document):
            self._waiting.add((*task, doc_id))
            heapq.heappush(self._open.setdefault((task.day, task.language), []), (task.at, doc_id))

    def take_all(self, doc_id: str, document: Document, fold: FoldName, iou: float) -> None:
        """Take away what a document, as it was, had added."""
        self._add_parts(document, fold, iou, -1)
        self._note_labelled(document, -1)
        for task in open_task(document):
            self._waiting.discard((*task, doc_id))

    def _add_parts(self, document: Document, fold: FoldName, iou: float, sign: int) -> None:
        for part in contribution(document, fold, iou):
            if part.day >= self._limit:  # a document that was drawn again later may still name a day that is gone
                self._day(part.day).add(part.key, part.numbers, sign)

    def _note_labelled(self, document: Document, sign: int) -> None:
        """Note when a labelled document was drawn, by version, or that it no longer counts."""
        for text in document.texts:
            if text.truth is not None:
                for drawn in text.drawn:
                    place = (drawn.day, VersionKey(drawn.language, drawn.detector, drawn.version))
                    at_ms = int(drawn.at * 1000)
                    self._labelled[place, at_ms] += sign
                    if sign > 0:
                        heapq.heappush(self._newest.setdefault(place, []), -at_ms)

    def _day(self, day: int) -> Tally:
        self._changed.add(day)
        found = self._days.get(day)
        if found is None:
            found = self._days[day] = Tally()
        return found

    def drop_before(self, day: int) -> None:
        """Drop the days before this one, for good."""
        self._limit = max(self._limit, day)
        for old in [d for d in self._days if d < day]:
            del self._days[old]
            self._changed.discard(old)
            self._dropped.add(old)
        for place in [p for p in self._open if p[0] < day]:
            del self._open[place]
        for gone in [p for p in self._newest if p[0] < day]:
            del self._newest[gone]
        self._labelled = Counter({key: n for key, n in self._labelled.items() if n > 0 and key[0][0] >= day})
        self._waiting = {w for w in self._waiting if w[0] >= day}

    def publish(self, position: int) -> list[Output]:
        """Return the tallies of the days that changed, as of a position."""
        outputs = [published(self._stage, self._partition, str(day), position, None) for day in sorted(self._dropped)]
        for day in sorted(self._changed):
            tally = self._days.setdefault(day, Tally())
            tally.oldest = self._oldest(day)
            tally.seen = self._newest_labelled(day)
            outputs.append(published(self._stage, self._partition, str(day), position, tally))
        return outputs

    def _oldest(self, day: int) -> dict[str, float]:
        oldest: dict[str, float] = {}
        for (of_day, language), heap in self._open.items():
            if of_day != day:
                continue
            while heap and (day, language, *heap[0]) not in self._waiting:
                heapq.heappop(heap)
            if heap:
                oldest[language] = heap[0][0]
        return oldest

    def _newest_labelled(self, day: int) -> dict[VersionKey, tuple[int, int]]:
        newest: dict[VersionKey, tuple[int, int]] = {}
        for place, heap in self._newest.items():
            if place[0] != day:
                continue
            while heap and self._labelled[place, -heap[0]] <= 0:
                heapq.heappop(heap)
            if heap:
                newest[place[1]] = (-heap[0], -heap[0])
        return newest

    def settle(self, *, superseded: bool = False) -> None:
        """Note that what `publish` returned is durable; `superseded`: a higher position is out, so publish it again."""
        if not superseded:
            self._changed.clear()
        self._dropped.clear()
