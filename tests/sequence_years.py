"""Years of one cell at a constant recall, whose old days are let go: is the truth ever outside of what a look reads.

Documents go the product's own way: a day's row comes, the row that is no longer kept is dropped, and a look reads the
counts since its epoch began. The truth is outside where a test of the sequence rejects it, which needs one point of the
grid's more than a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import log
from typing import NamedTuple

import numpy as np

from monitor.estimators.confidence_sequence import GRID, SHARES, AnyTime, sequence_evidence_of
from monitor.estimators.e_detector import UNITS, Entry, Floors
from monitor.estimators.epochs import DAY_S, EVERYTHING, Epoch, epoch_of
from monitor.evidence import Cell, CellEvidence, EvidenceSums, Sequences
from monitor.readings import ANY
from monitor.tally import EntryKey

DAYS = 365
FLOORS = Floors(0.5, 0.5)
_FIRST_DAY = 20_000
_CELL = Cell("PERSON", ANY, "d", "1")
Beginning = Callable[[int, int], Epoch]
"""Of the sequence that a look reads, by its day and how many are kept."""


class Traffic(NamedTuple):
    """What is drawn of a cell, with probability one half."""

    recall: float
    """One of the grid."""
    a_day: int
    """Labelled documents, an occurrence each."""
    kept_days: int


def sliding(_day: int, _kept_days: int) -> Epoch:
    """Read all that is kept, as if it were one sequence: what isn't right."""
    return EVERYTHING


def looks(
    rng: np.random.Generator, traffic: Traffic, beginning: Beginning = epoch_of, days: int = DAYS
) -> Iterator[tuple[Epoch, CellEvidence]]:
    """Yield what each evening's look reads, from the first day that anything is drawn on."""
    sums = EvidenceSums()
    rows: dict[int, dict[EntryKey, int]] = {}
    first = _FIRST_DAY + int(rng.integers(traffic.kept_days))
    for day in range(first, first + days):
        found = int(rng.binomial(traffic.a_day, traffic.recall))
        hit = EntryKey("en", "d", "1", "PERSON", day, 0.5, *FLOORS, 1, 1, 1)
        rows[day] = {hit: found, hit._replace(t=0): traffic.a_day - found}
        sums.replace({}, rows[day])
        sums.replace(rows.pop(day - traffic.kept_days, {}), {})
        epoch, evidence = beginning(day, traffic.kept_days), sums.cells[_CELL]
        evidence.count_from(epoch.first_period(DAY_S))
        yield epoch, evidence


def is_outside(evidence: CellEvidence, recall: float, confidence: float) -> bool:
    """Say whether a sequence at this confidence rejects a recall."""
    logs = sum(n * _logs_at(entry, GRID.index(recall)) for entry, n in evidence.counts.items())
    if isinstance(logs, int):
        return False
    high, low = np.logaddexp.reduce(logs.reshape(2, -1) / UNITS, axis=1)
    return bool(max(high, low) >= log(2 * len(SHARES) / (1 - confidence)))


@cache
def _logs_at(entry: Entry, place: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    bets = 2 * len(SHARES)
    return np.array(sequence_evidence_of(entry, 1).logs[place * bets : (place + 1) * bets], np.int64)


def share_outside(years: int, seed: int, traffic: Traffic, confidence: float, beginning: Beginning = epoch_of) -> float:
    """Return the share of years in which a look, one an evening, ever leaves the truth out."""
    rng = np.random.default_rng(seed)
    outside = 0
    for _ in range(years):
        outside += any(
            is_outside(evidence, traffic.recall, epoch.level(confidence))
            for epoch, evidence in looks(rng, traffic, beginning)
        )
    return outside / years


def limits(
    rng: np.random.Generator, traffic: Traffic, recall: float, confidence: float, days: int = DAYS
) -> Iterator[tuple[bool, AnyTime | None]]:
    """Yield whether some recall is outside, and the limits that the product reads on the same evening."""
    sequences = Sequences()
    for epoch, evidence in looks(rng, traffic, days=days):
        level = epoch.level(confidence)
        yield is_outside(evidence, recall, level), sequences.read(_CELL, evidence, 1, level)
