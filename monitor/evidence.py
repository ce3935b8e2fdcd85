"""What drawn documents say of each cell's recall, added up as they come.

For the alarm it's kept by period, for the any-time limits over all since their sequence began.

A published row replaces an older one of the same stage, partition and day, and most of it is the same. So differences
are added: all sums are of whole numbers, and come out as if they were added up anew. Every entry goes to its language's
cell and to the one of all languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.estimators.confidence_sequence import NO_SEQUENCE, AnyTime, confidence_sequence, sequence_evidence_of
from monitor.estimators.e_detector import NOTHING, Entry, Evidence, Floors, Target, evidence_of
from monitor.readings import ANY
from monitor.tally import EntryKey, Tally

Entries = Mapping[EntryKey, int]
"""Equal documents of a row."""
_Logs = npt.NDArray[np.int64]
_evidence = lru_cache(1 << 14)(evidence_of)


class Cell(NamedTuple):
    """One entity and language (both may be `any`) of one detector version."""

    entity: str
    language: str
    detector: str
    version: str


class CellEvidence:
    """One cell's documents: by period for the alarm; for the any-time limits all together, from some period on."""

    def __init__(self) -> None:
        self.entries: dict[int, Counter[Entry]] = {}
        self.changed_from: int | None = None
        """The earliest period that changed since somebody set it back."""
        self.corrected = False
        """Whether a labelled document was taken back since somebody set it back, other than with its whole row."""
        self.revision = 0
        """How often anything changed."""
        self.counted_from: int | None = None
        """The first period of `counts`; None is all."""
        self.counts: Counter[Entry] = Counter()

    def add(self, period: int, entry: Entry, times: int) -> None:
        """Add or take away equal documents."""
        its = self.entries.get(period)
        if its is None:
            its = self.entries[period] = Counter()
        _add(its, entry, times)
        if self._is_counted(period):
            _add(self.counts, entry, times)
        if not its:
            del self.entries[period]
        self.changed_from = period if self.changed_from is None else min(self.changed_from, period)
        self.revision += 1

    def count_from(self, period: int | None) -> None:
        """Let the counts begin with a period, None with the first; they are added up anew where it's another one."""
        if period == self.counted_from:
            return
        self.counted_from = period
        self.counts = Counter()
        for its in filter(self._is_counted, self.entries):
            self.counts.update(self.entries[its])
        self.revision += 1

    def _is_counted(self, period: int) -> bool:
        return self.counted_from is None or period >= self.counted_from

    @property
    def first(self) -> int | None:
        """The earliest period of the counts that holds a document."""
        first = min(self.entries, default=None)
        if first is None or self._is_counted(first):
            return first
        return min(filter(self._is_counted, self.entries), default=None)

    def of_period(self, period: int, target: Target) -> Evidence:
        """Return a period's evidence that recall is below the target."""
        total = NOTHING
        for entry, times in self.entries.get(period, {}).items():
            total = total.plus(_evidence(entry, target).times(times))
        return total


class EvidenceSums:
    """All cells' evidence, kept in step with the published rows."""

    def __init__(self) -> None:
        self.cells: dict[Cell, CellEvidence] = {}
        self.unusable = 0
        """Documents of which the design can't be, left out."""

    def replace(self, old: Entries, new: Entries) -> None:
        """Take the entries of a row that came in the place of another."""
        for key, times in _differences(old, new):
            entry = Entry(key.probability, Floors(key.floor_detected, key.floor_any), key.t, key.y, bool(key.labelled))
            if not _usable(entry):
                self.unusable += times
                continue
            for language in (key.language, ANY):
                cell = Cell(key.entity, language, key.detector, key.version)
                found = self.cells.get(cell)
                if found is None:
                    found = self.cells[cell] = CellEvidence()
                found.add(key.period, entry, times)
                found.corrected |= bool(new) and entry.labelled and times < 0

    def forget(self, kept: Container[tuple[str, str]]) -> None:
        """Let go of cells without a document whose detector and version aren't among these."""
        for cell in [c for c, its in self.cells.items() if not its.entries and c[2:] not in kept]:
            del self.cells[cell]


def _add(counts: Counter[Entry], entry: Entry, times: int) -> None:
    counts[entry] += times
    if not counts[entry]:
        del counts[entry]


def split(tally: Tally) -> Entries:
    """Take the entries out of a tally and return them: no window adds them up."""
    entries = {key: row[0] for key, row in tally.rows.items() if isinstance(key, EntryKey)}
    for key in entries:
        del tally.rows[key]
    return entries


def _differences(old: Entries, new: Entries) -> Iterator[tuple[EntryKey, int]]:
    for key, count in new.items():
        times = count - old.get(key, 0)
        if times:
            yield key, times
    for key, count in old.items():
        if key not in new:
            yield key, -count


@lru_cache(1 << 14)
def _usable(entry: Entry) -> bool:
    """Say whether an entry is one that the estimators take: rows are read from a topic."""
    try:
        evidence_of(entry, Target(0.5, 1))
    except ValueError:
        return False
    return True


class _Sequence(NamedTuple):
    """A cell's logarithms, and the documents that they are of."""

    revision: int
    counts: Counter[Entry]
    logs: _Logs
    labelled: int
    confidence: float
    limits: AnyTime | None


class Sequences:
    """The any-time limits of cells, each kept until its documents change.

    A cell's logarithms are kept too, and differences are added to them: there are over a thousand of them. Where the
    sequence begins anew, what no longer counts is taken away as whole as it was added.
    """

    def __init__(self) -> None:
        self._kept: dict[Cell, _Sequence] = {}
        self._y_max = 0

    def read(self, cell: Cell, evidence: CellEvidence, y_max: int, confidence: float) -> AnyTime | None:
        """Return the limits of a cell's counts; None without a labelled document that holds the entity.

        Parameters: `confidence`, of this sequence alone (`Epoch.level`).
        """
        if y_max != self._y_max:
            self._kept.clear()
            self._y_max = y_max
        held = self._kept.get(cell)
        if held is not None and (held.revision, held.confidence) == (evidence.revision, confidence):
            return held.limits
        counts, labelled = (Counter[Entry](), 0) if held is None else (held.counts, held.labelled)
        logs = np.zeros(len(NO_SEQUENCE.logs), np.int64) if held is None else held.logs.copy()
        for entry in counts.keys() | evidence.counts.keys():
            times = evidence.counts[entry] - counts[entry]
            if times and entry.y:
                logs += times * _logs_of(entry, y_max)
                labelled += times * entry.labelled
        limits = confidence_sequence(Evidence(labelled, tuple(logs.tolist())), confidence)
        self._kept[cell] = _Sequence(evidence.revision, evidence.counts.copy(), logs, labelled, confidence, limits)
        return limits

    def forget(self, kept: Container[tuple[str, str]]) -> None:
        """Let go of cells whose detector and version aren't among these."""
        for cell in [c for c in self._kept if c[2:] not in kept]:
            del self._kept[cell]


@lru_cache(1 << 11)
def _logs_of(entry: Entry, y_max: int) -> _Logs:
    return np.array(sequence_evidence_of(entry, y_max).logs, np.int64)
