"""ROUTE's running counts of one day: plain integers on the hot path, turned into a tally at checkpoints.

Every decision touches one `Group` (its language, detector and version) and adds whole numbers to it; no label string is
built and no tuple hashed per span beyond the entity's own name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import floor

from monitor.estimators.captures import Captures
from monitor.leak_counts import LeakCounts
from monitor.output_keys import LeakKey, OutputKey, RedactedKey, RedactionsKey
from monitor.records import STRATA, Span, Stratum
from monitor.tally import CensusKey, CountKey, FlaggedKey, SecondKey, Shape, ShapeKey, Tally, VersionKey

DECISIONS = CountKey("records", "decision")
"""Not counted one by one: it is the sum over the groups."""
SHAPED = 5
"""Of so many documents one has its shape counted: a share needs no more, and for all of them it costs a µs each. Which
one follows from its id, so that neither reading again nor partitions change a number."""
_SPANS = 128  # lengths are before it, up to 2^63 code points
_SCORES = 192
_STEPS = _SCORES + 11
_SHAPES: tuple[tuple[Shape, int, int], ...] = (
    ("length", 0, _SPANS),
    ("spans", _SPANS, _SCORES),
    ("score", _SCORES, _STEPS),
)
_FIRST = {shape: first for shape, first, _ in _SHAPES}


class Group:
    """Counts of one language, detector and version."""

    __slots__ = (
        "_serial",
        "detector",
        "documents",
        "entities",
        "first_ms",
        "fresh",
        "language",
        "last_ms",
        "outputs",
        "second",
        "shapes",
        "version",
    )

    def __init__(self, language: str, detector: str, version: str) -> None:
        self.language = language
        self.detector = detector
        self.version = version
        self.documents = dict.fromkeys(STRATA, 0)
        self.entities: dict[str, list[int]] = {}
        """By name: documents, spans, and the document that was counted last, which tells repeats without a set."""
        self.shapes = [0] * _STEPS
        """Documents by step of `ShapeKey`, one shape after the other."""
        self.second: dict[str, Captures] = {}
        """By entity, of the documents that a second detector read too."""
        self.outputs = LeakCounts()
        """Of the documents whose redacted output was looked at."""
        self._serial = 0
        self.first_ms = -1
        self.last_ms = -1
        self.fresh = 0
        """Documents counted since somebody set it back; part of no state."""

    def count(self, stratum: Stratum, entities: Sequence[str], timestamp_ms: int) -> None:
        """Count one document; `entities` names each of its spans, repeats included."""
        self.documents[stratum] += 1
        self.fresh += 1
        if timestamp_ms > self.last_ms:  # noqa: PLR1730  # max() is a call, and every decision passes here
            self.last_ms = timestamp_ms
        if timestamp_ms < self.first_ms or self.first_ms < 0:
            self.first_ms = timestamp_ms
        if not entities:
            return
        rows = self.entities
        self._serial = serial = self._serial + 1
        for entity in entities:
            row = rows.get(entity)
            if row is None:
                row = rows[entity] = [0, 0, 0]
            row[1] += 1
            if row[2] != serial:
                row[2] = serial
                row[0] += 1

    def add_second(self, captures: Mapping[str, Captures]) -> None:
        """Add what the detector and the second one found of each other's in a document."""
        for entity, its in captures.items():
            held = self.second.get(entity)
            self.second[entity] = its if held is None else held.plus(its)

    def count_shape(self, length: int, spans: Sequence[Span]) -> None:
        """Count the shape of one document: the code points of its text, its spans, the score of the first of them.

        One span stands for all: their mean takes as long as all that the census counts.
        """
        shapes = self.shapes
        shapes[(length * length).bit_length()] += 1
        shapes[len(spans).bit_length() + _SPANS] += 1
        if spans:
            score = spans[0].score
            if score is not None:
                shapes[floor(score * 10.0) + _SCORES] += 1

    def shape_rows(self) -> Iterator[tuple[ShapeKey, tuple[int]]]:
        """Yield the documents of each step that has any."""
        for shape, first, end in _SHAPES:
            for step, documents in enumerate(self.shapes[first:end]):
                if documents:
                    yield ShapeKey(self.language, self.detector, self.version, shape, step), (documents,)


class CensusDay:
    """Counts of one day in one partition."""

    __slots__ = ("counts", "groups")

    def __init__(self) -> None:
        self.groups: dict[tuple[str, str, str], Group] = {}
        self.counts: Counter[CountKey] = Counter()

    def group(self, language: str, detector: str, version: str) -> Group:
        """Return the group's counts, made where they're new."""
        key = (language, detector, version)
        found = self.groups.get(key)
        if found is None:
            found = self.groups[key] = Group(language, detector, version)
        return found

    def tally(self) -> Tally:
        """Return the counts as a tally."""
        tally = Tally({key: (n,) for key, n in self.counts.items() if n})
        decisions = sum(sum(g.documents.values()) for g in self.groups.values())
        if decisions:
            tally.rows[DECISIONS] = (decisions,)
        for g in self.groups.values():
            for stratum, documents in g.documents.items():
                if documents:
                    tally.rows[CensusKey(g.language, g.detector, g.version, stratum)] = (documents,)
            for entity, (documents, spans, _) in g.entities.items():
                tally.rows[FlaggedKey(g.language, g.detector, g.version, entity)] = (documents, spans)
            tally.rows.update(g.shape_rows())
            for entity, captures in g.second.items():
                tally.rows[SecondKey(g.language, g.detector, g.version, entity)] = captures
            tally.rows.update(g.outputs.rows(g.language, g.detector, g.version))
            if any(g.documents.values()):
                tally.note_seen(VersionKey(g.language, g.detector, g.version), g.first_ms, g.last_ms)
        return tally

    @classmethod
    def restore(cls, tally: Tally) -> CensusDay:
        """Return the counts of a tally that `tally` made."""
        day = cls()
        for key, row in tally.rows.items():
            if isinstance(key, CensusKey):
                day.group(*key[:3]).documents[key.stratum] = row[0]
            elif isinstance(key, FlaggedKey):
                day.group(*key[:3]).entities[key.entity] = [*row, 0]
            elif isinstance(key, SecondKey):
                day.group(*key[:3]).second[key.entity] = Captures(*row)
            elif isinstance(key, ShapeKey):
                day.group(*key[:3]).shapes[_FIRST[key.shape] + key.step] = row[0]
            elif isinstance(key, OutputKey | RedactionsKey | RedactedKey | LeakKey):
                day.group(*key[:3]).outputs.restore(key, row)
            elif isinstance(key, CountKey) and key != DECISIONS:
                day.counts[key] = row[0]
        for version, (first, last) in tally.seen.items():
            group = day.group(*version)
            group.first_ms, group.last_ms = first, last
        return day
