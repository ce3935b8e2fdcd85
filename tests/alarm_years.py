"""Years of one cell, document by document in draw order, of known recall: when does an alarm page, and is it right.

Documents of each kind come as a Poisson process, so their drawn ones do too: a kind's number on a day is Poisson with
its traffic times its rate. Evidence is the product's own, worked out once for each kind and set of rates.

Looked at after every label is looked at after every document in draw order, all of these labelled: one whose label
isn't in can only lower the evidence, bet by bet.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.estimators.confidence_sequence import GRID, SHARES, sequence_evidence_of
from monitor.estimators.e_detector import (
    FRACTIONS,
    UNITS,
    Entry,
    Evidence,
    Floors,
    Period,
    Target,
    evidence_of,
    follow,
)

Ints = NDArray[np.int64]
DAYS = 365
CHANGES = 36
"""Of the rates, a year."""
BOTH, DETECTOR_ONLY, LOOSE_ONLY, UNFLAGGED = range(4)


class Rates(NamedTuple):
    """Rates as an operator sets them, and the factor by which a full queue thins them."""

    random: float
    loose: float
    thinning: float = 1.0

    def entry(self, stratum: int, t: int, y: int) -> Entry:
        """Return a labelled document of a stratum."""
        flagged = self.thinning * (1 - (1 - self.random) * (1 - self.loose))
        unflagged = self.thinning * self.random
        return Entry(unflagged if stratum == UNFLAGGED else flagged, Floors(flagged, unflagged), t, y)


RATES = [
    Rates(0.02, 0.1),
    *(Rates(*rates) for rates in product((0.2, 0.05, 0.01, 0.002), (0.3, 0.1, 0.02), (1.0, 0.4))),
]
"""The first where nothing changes."""


class Kind(NamedTuple):
    """Documents of one sort, and how many of them come a day."""

    stratum: int
    t: int
    y: int
    a_day: float


class Year(NamedTuple):
    """The documents with the entity that were drawn and labelled in a year: a place a document, in draw order."""

    day: Ints
    kind: Ints
    rates: Ints
    """By day: places in `RATES`."""


@cache
def kinds(recall: float, scale: float = 150.0) -> tuple[Kind, ...]:
    """Return traffic of exactly that recall, above .3: found alone and in threes, missed beside found ones and alone.

    `scale` is found occurrences a day in documents with no miss.
    """
    # of 1 + 1.4 m occurrences m are missed
    m = (1 - recall) / (1 - 1.4 * (1 - recall))
    mix = (
        (BOTH, 1, 1, 0.6),
        (DETECTOR_ONLY, 1, 1, 0.1),
        (BOTH, 3, 3, 0.1),
        (BOTH, 1, 2, 0.4 * m),
        (LOOSE_ONLY, 0, 1, 0.1 * m),
        (UNFLAGGED, 0, 1, 0.4 * m),
        (UNFLAGGED, 0, 2, 0.05 * m),
    )
    return tuple(Kind(*what, scale * share) for *what, share in mix)


@cache
def _probabilities() -> NDArray[np.float64]:
    return np.array([[rates.entry(*kind[:3]).probability for kind in kinds(0.9)] for rates in RATES])


@cache
def _traffic(recall: float, scale: float) -> NDArray[np.float64]:
    return np.array([kind.a_day for kind in kinds(recall, scale)])


def year(rng: np.random.Generator, recalls: list[float], *, scale: float = 150.0, changing: bool = True) -> Year:
    """Return a year (or as many days as there are recalls), each day at its recall; rates change 36 times a year."""
    days = len(recalls)
    rates = np.zeros(days, np.int64)
    if changing:
        changed = np.isin(np.arange(days), rng.choice(np.arange(1, days), CHANGES, replace=False)).cumsum()
        rates = rng.integers(len(RATES), size=CHANGES + 1)[changed]
    expected = np.array([_traffic(recall, scale) for recall in recalls]) * _probabilities()[rates]
    counts = rng.poisson(expected).ravel()
    place = np.repeat(np.arange(counts.size), counts)
    # in draw order: by day, within it at random
    place = place[np.lexsort((rng.random(place.size), place // expected.shape[1]))]
    return Year(place // expected.shape[1], place % expected.shape[1], rates)


@cache
def _alarm_logs(target: Target) -> Ints:
    return np.array([[evidence_of(rates.entry(*kind[:3]), target).logs for kind in kinds(0.9)] for rates in RATES])


@cache
def _sequence_logs(y_max: int) -> Ints:
    return np.array(
        [[sequence_evidence_of(rates.entry(*kind[:3]), y_max).logs for kind in kinds(0.9)] for rates in RATES]
    )


def evidence_by_look(one: Year, target: Target) -> Ints:
    """Return the evidence of each document's day up to and with that document: a row a document, a place a bet."""
    total = _alarm_logs(target)[one.rates[one.day], one.kind].cumsum(axis=0)
    before = np.concatenate([np.zeros((1, total.shape[1]), np.int64), total])[np.searchsorted(one.day, one.day)]
    return total - before


def periods(one: Year, looks: Ints) -> list[Period]:
    """Return what each whole day adds, as the product reads it."""
    ends = np.searchsorted(one.day, np.arange(one.rates.size), side="right")
    starts = np.searchsorted(one.day, np.arange(one.rates.size))
    nothing = (0,) * len(FRACTIONS)
    return [
        Period("1", Evidence(end - start, tuple(looks[end - 1].tolist()) if end > start else nothing))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def paged(one: Year, target: Target, promised: float) -> list[int]:
    """Return the days on which some look, or the day's end, crosses.

    Alarms after whole days are `follow`'s; a look within a day goes on from where the day before left them.
    """
    looks = evidence_by_look(one, target)
    alarms = follow(periods(one, looks), promised, hold=7)
    begun = np.full((len(alarms), len(FRACTIONS)), -log(len(FRACTIONS)))
    for day, alarm in enumerate(alarms[:-1], 1):
        if alarm.wealth:
            begun[day] = np.logaddexp(alarm.wealth, begun[day])
    crossed = _log_sums(begun[one.day] + looks / UNITS) >= log(promised)
    return sorted({*one.day[crossed].tolist(), *(day for day, alarm in enumerate(alarms) if alarm.state == "firing")})


def sequence_crossings(one: Year, recall: float, y_max: int, alpha: float) -> Ints:
    """Return the looks, by number of documents, at which either test of a confidence sequence rejects this recall."""
    first, bets = 2 * len(SHARES) * GRID.index(recall), len(SHARES)
    logs = _sequence_logs(y_max)[:, :, first : first + 2 * bets]
    total = logs[one.rates[one.day], one.kind].cumsum(axis=0) / UNITS
    high, low = (_log_sums(part) for part in (total[:, :bets], total[:, bets:]))
    return np.flatnonzero(np.maximum(high, low) >= log(2 * bets / alpha)) + 1


def sequence_evidence(one: Year, documents: int, y_max: int) -> Evidence:
    """Return the sum over the first so many documents, as the product adds it."""
    logs = _sequence_logs(y_max)[one.rates[one.day[:documents]], one.kind[:documents]]
    return Evidence(documents, tuple(logs.sum(axis=0).tolist()))


def _log_sums(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln Σ exp of each row."""
    largest = logs.max(axis=1)
    return largest + np.log(np.exp(logs - largest[:, None]).sum(axis=1))
