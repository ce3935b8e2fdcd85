"""The ledger's tallies by draw day, kept in step with its rows; what's open the longest, what was labelled last."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.contribution import Contributions, Part, Rule, contribution, open_task
from monitor.document import Document
from monitor.fold import Output
from monitor.smallest import Smallest
from monitor.tallies import Stage, published
from monitor.tally import Key, Tally, VersionKey


class DayTallies:
    """Sums by day; which days changed since the last checkpoint; when the open and the labelled were drawn."""

    def __init__(self, stage: Stage, partition: int) -> None:
        self._stage = stage
        self._partition = partition
        self._days: dict[int, Tally] = {}
        self._open: dict[tuple[int, str], Smallest] = {}
        self._labelled: dict[tuple[int, str, str, str], tuple[Smallest, Smallest]] = {}
        """When documents were drawn and their labels came, ms, by day, language, detector and version; negative, for
        the newest is asked for."""
        self._changed: set[int] = set()
        self._dropped: set[int] = set()
        self._limit = 0

    def clear(self) -> None:
        """Forget all sums, and publish every day anew at the next checkpoint."""
        self._changed |= set(self._days)
        self._days.clear()
        self._open.clear()
        self._labelled.clear()

    def add(self, day: int, key: Key, times: int) -> None:
        """Count something on a day."""
        self._day(day).add(key, (times,))

    def add_document(self, document: Document, rule: Rule) -> None:
        """Add what a document adds."""
        self._add_parts(contribution(document, rule), 1)
        self._note_times(document, 1)

    def take_document(self, document: Document, rule: Rule) -> None:
        """Take away what a document, as it was, had added."""
        self._add_parts(contribution(document, rule), -1)
        self._note_times(document, -1)

    def add_documents(self, documents: Iterable[Document], rule: Rule) -> None:
        """Add what many documents add."""
        together = Contributions(rule)
        for document in documents:
            together.add(document)
            self._note_times(document, 1)
        self._add_parts(together.parts(), 1)

    def _add_parts(self, parts: Iterable[Part], sign: int) -> None:
        for part in parts:
            if part.day >= self._limit:  # a document that was drawn again later may still name a day that is gone
                self._day(part.day).add(part.key, part.numbers, sign)

    def _note_times(self, document: Document, sign: int) -> None:
        """Note when the document was drawn, as long as it is open and once it is labelled; or that it no longer is."""
        for task in open_task(document):
            if task.day >= self._limit:
                self._note(self._open.setdefault((task.day, task.language), Smallest()), task.at, sign)
        for text in document.texts:
            truth = text.truth
            if truth is not None:
                came = -int(truth.at * 1000)
                for drawn in text.drawn:
                    if drawn.day >= self._limit:
                        place = (drawn.day, drawn.language, drawn.detector, drawn.version)
                        times = self._labelled.get(place)
                        if times is None:
                            times = self._labelled[place] = (Smallest(), Smallest())
                        self._note(times[0], -int(drawn.at * 1000), sign)
                        if came:  # rows of before it was noted have no time
                            self._note(times[1], came, sign)

    @staticmethod
    def _note(times: Smallest, at: float, sign: int) -> None:
        if sign > 0:
            times.add(at)
        else:
            times.take(at)

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
        for gone in [p for p in self._labelled if p[0] < day]:
            del self._labelled[gone]

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
        found = {language: times.smallest for (of_day, language), times in self._open.items() if of_day == day}
        return {language: at for language, at in found.items() if at is not None}

    def _newest_labelled(self, day: int) -> dict[VersionKey, tuple[int, int]]:
        newest: dict[VersionKey, tuple[int, int]] = {}
        for (of_day, *version), times in self._labelled.items():
            if of_day == day:
                drawn, came = (each.smallest for each in times)
                if drawn is not None:
                    newest[VersionKey(*version)] = (int(came or 0), -int(drawn))
        return newest

    def settle(self, *, superseded: bool = False) -> None:
        """Note that what `publish` returned is durable; `superseded`: a higher position is out, so publish it again."""
        if not superseded:
            self._changed.clear()
        self._dropped.clear()
