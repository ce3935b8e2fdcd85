"""What was missed: labelled spans that a detector's spans don't account for, each by its place in its document.

A miss is what `monitor.contribution` counts as true and not as found, document by document and version by version, so
the misses of a cell are its `true` less its `found`: same window, same version, same reading of found. Of the text
nothing is known here but offsets. Entity names are folded and never gathered under `UNLISTED`: who looks for a miss
wants its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

import msgspec

from monitor.document import Document, Drawn
from monitor.matching import Extent, masked, matched, unique
from monitor.records import Stratum

Found = Literal["matched", "masked"]
"""Which reading of found; see `monitor.matching`."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).date()


class Place(NamedTuple):
    """Where an occurrence counts: its cell, the version that should have found it, what flagged its document, when."""

    entity: str
    language: str
    detector: str
    version: str
    stratum: Stratum
    day: str | None
    """Day of drawing as an ISO date; None in a replay of decisions without a time."""


class Miss(msgspec.Struct, frozen=True):
    """One missed occurrence: `[start, end)` in code points of its document's text."""

    doc_id: str
    start: int
    end: int
    covered: int
    """Code points of it that lie inside detected spans, whatever their entity."""
    found_as: tuple[str, ...]
    """Entities of the detected spans that overlap it, sorted; empty where nothing does."""
    place: Place
    drawn_at: float
    """Event time, s since the epoch."""

    @property
    def length(self) -> int:
        """Code points."""
        return self.end - self.start


class Wanted(NamedTuple):
    """Which misses are asked for; an empty value asks for all. Days are ISO dates, both inclusive."""

    entity: str = ""
    """Folded."""
    language: str = ""
    detector: str = ""
    version: str = ""
    stratum: str = ""
    since: str = ""
    until: str = ""

    def takes(self, place: Place) -> bool:
        """Return whether an occurrence is asked for; one of no day is in no stretch of days."""
        if any(asked not in ("", held) for asked, held in zip(self[:5], place[:5], strict=True)):
            return False
        if place.day is None:
            return not (self.since or self.until)
        return self.since <= place.day and (not self.until or place.day <= self.until)


class Misses:
    """Gathers the misses of any number of documents, and how many occurrences there were.

    Parameters
    ----------
    fold
        Folds an entity's name; detected and labelled names go through the same one.
    iou
        Overlap from which a detected span counts as the labelled one, in (0, 1].
    found
        Which reading of found.
    """

    def __init__(self, fold: Callable[[str], str], iou: float, found: Found = "matched") -> None:
        self._fold = fold
        self._iou = iou
        self._found = found
        self._misses: list[Miss] = []
        self.occurrences: Counter[Place] = Counter()
        """True occurrences, found ones too."""

    def add(self, doc_id: str, document: Document) -> None:
        """Take a document of the ledger in; one without a label adds nothing."""
        for text in document.texts:
            if text.truth is not None:
                true = self._extents(text.truth.spans)
                for drawn in text.drawn:
                    self._compare(doc_id, true, drawn)

    def _compare(self, doc_id: str, true: Sequence[Extent], drawn: Drawn) -> None:
        detected = self._extents(drawn.spans)
        found = matched(true, detected, self._iou) if self._found == "matched" else masked(true, detected)
        for number, extent in enumerate(true):
            place = _place(extent.entity, drawn)
            self.occurrences[place] += 1
            if number not in found:
                over = [d for d in detected if d.start < extent.end and extent.start < d.end]
                names = tuple(sorted({d.entity for d in over}))
                covered = _covered(extent, over)
                self._misses.append(Miss(doc_id, extent.start, extent.end, covered, names, place, drawn.at))

    def _extents(self, spans: Iterable[tuple[int, int, str]]) -> list[Extent]:
        return unique(Extent(start, end, self._fold(entity)) for start, end, entity in spans)

    def of(self, wanted: Wanted) -> list[Miss]:
        """Return the misses asked for, newest first by when their documents were drawn."""
        found = [miss for miss in self._misses if wanted.takes(miss.place)]
        return sorted(found, key=lambda m: (-m.drawn_at, m.doc_id, m.place.detector, m.place.version, m.start, m.end))

    def true(self, wanted: Wanted) -> Counter[str]:
        """Return how many occurrences of each entity there were among what is asked for."""
        counts: Counter[str] = Counter()
        for place, times in self.occurrences.items():
            if wanted.takes(place):
                counts[place.entity] += times
        return counts


def _place(entity: str, drawn: Drawn) -> Place:
    day = (_EPOCH + timedelta(days=drawn.day)).isoformat() if drawn.day else None
    return Place(entity, drawn.language, drawn.detector, drawn.version, drawn.stratum, day)


def _covered(extent: Extent, over: Iterable[Extent]) -> int:
    """Return how many code points of a span lie inside spans that come sorted."""
    covered, reached = 0, extent.start
    for one in over:
        start, end = max(one.start, reached), min(one.end, extent.end)
        if end > start:
            covered += end - start
            reached = end
    return covered


def miss_document(miss: Miss) -> dict[str, object]:
    """Return a miss as JSON data: places and names, no text."""
    place = miss.place
    return {
        "doc_id": miss.doc_id,
        "entity": place.entity,
        "start": miss.start,
        "end": miss.end,
        "length": miss.length,
        "covered": miss.covered,
        "covered_share": miss.covered / miss.length,
        "found_as": list(miss.found_as),
        "stratum": place.stratum,
        "detector": place.detector,
        "version": place.version,
        "language": place.language,
        "day": place.day,
    }
