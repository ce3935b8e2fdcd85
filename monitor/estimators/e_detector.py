"""The alarm of one cell: an e-detector of recall below its target r0, that may be looked at after every label.

Of each drawn document, t of its y occurrences were found, and it was drawn with π. Z = (t - r0 y)/π has a mean of at
least 0 as long as recall is at least r0, whatever the rates are. So for a bet λ fixed before the draw, 1 - λZ has a
mean of at most 1: it is an e-value, and a product of them over documents hardly ever grows large. Bets
λ_j = c_j π_min/((1 - r0) y_max) with c_j in (0, 1) keep every factor positive. Once a period

    M_j ← (M_j + 1/J) · Π (1 - λ_j Z),

the page fires when Σ M_j >= A, and M starts from 0 again. Σ M_j less the number of periods falls in the mean while
recall holds its target, so the mean number of periods up to a false alarm is at least A (optional stopping).

Which bets. The bet that grows fastest is about (r0 - R)/E[Z²] per unit of y. With y_max = 20 and every document drawn
at one rate, it's past the largest that is allowed; with half of the misses in documents drawn 100 times more rarely,
it's a hundredth of that. Growth is nearly a parabola in λ: a bet off by a factor s reaches 2s - s² of the best. Halving
the bet seven times from .9 reaches down to .007 and leaves at least 8/9 of the growth in between, at a price of
ln 8 = 2.1 in log-evidence. (Grids with ratios 2, 3 and 4 and an even one were equal within noise; a single .5 took two
or three times as long where .9 or .05 was right.)

Exact sums. A period's ln Π is a sum over documents, partitions and workers, and sums of floats depend on their order.
So every document's logarithm is a whole number of 2⁻⁴⁰, rounded down and one less: at or below the true one, which
keeps the mean at most 1. Whole numbers add in any order, a correction takes away what was added, n equal documents are
n times one. It costs less than 2e-12 a document.

Draw order. A document counts in the period that it was *drawn* in: the order in which labels arrive depends on what's
in the documents. Until it has a label (and for good after its deadline) it enters as if all that was detected were
right and nothing else there. No label can give less evidence than that, bet by bet, so M of what's known so far is at
most M of what will be known. That makes it safe to look before all labels are in: what fires early would have fired.

Differs from the plain recursion in one place: 1/J isn't added in a period without a labelled occurrence. M is only
smaller for it; else A silent periods would be an alarm.

Source: J. Shin, A. Ramdas and A. Rinaldo, E-detectors: a nonparametric framework for sequential change detection, New
England Journal of Statistics in Data Science 2 (2023) 229-260; the bets are those of I. Waudby-Smith and A. Ramdas,
Estimating means of bounded random variables by betting, JRSS B 86 (2024) 1-27.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, floor, inf, log, log1p
from typing import Literal, NamedTuple

State = Literal["quiet", "firing", "held"]
"""`firing`: crossed in the last period. `held`: on, since it crossed less than `hold` periods ago. `quiet`: off."""

UNITS = 1 << 40
"""Log-evidence is counted in whole numbers of 1/UNITS."""
FRACTIONS = tuple(0.9 / 2**k for k in range(8))
"""c_j: the bets, as shares of the largest that can't turn a factor negative."""
_SLACK = 1 - 1e-9
"""Rates that were thinned in another order of multiplication differ in their last digit."""


class Floors(NamedTuple):
    """The smallest rates in force when a document was drawn, thinning included; 0 < any <= detected <= 1.

    They must hold for the whole cell, over its languages and strata: a bet that knew the document's own language or
    stratum would weigh them unequally, and the target would be one of another mixture.
    """

    detected: float
    """π_min: over documents that the detector flagged; whatever was found was in one of those."""
    any: float
    """Over all documents: the random rate p_r."""


class Entry(NamedTuple):
    """A drawn document, as one cell sees it. Plain numbers: equal ones can be counted and multiplied."""

    probability: float
    """π in (0, 1], thinning included, as designed: not post-stratified, which would depend on what came later."""
    floors: Floors
    t: int
    y: int
    labelled: bool = True

    @classmethod
    def unlabelled(cls, probability: float, floors: Floors, detected: int) -> Entry:
        """Return a document without a label, with `detected` >= 0 spans of the entity: all right, nothing else there.

        `detected` must be at least what can have been found. By matching, pairs are one to one, so the entity's spans
        are; by masking, a single span of any entity may cover many occurrences: pass y_max where there's any span.
        """
        return cls(probability, floors, detected, detected, labelled=False)


class Target(NamedTuple):
    """What a cell is held to: recall r0 in (0, 1), a document counting for at most y_max >= 1 occurrences.

    Of a document with y > y_max, t and y are scaled by y_max/y; the target is one of that recall. A smaller y_max bets
    more boldly. Evidence of different targets can't be added.
    """

    recall: float
    y_max: int


class Evidence(NamedTuple):
    """Log-evidence of a set of documents, as whole numbers that add in any order."""

    labelled: int
    """Labelled documents with the entity; without one there's no data."""
    logs: tuple[int, ...]
    """Σ ln(factor) per bet, in 1/UNITS."""

    def plus(self, other: Evidence) -> Evidence:
        """Return the evidence of two disjoint sets; ValueError where their bets differ in number."""
        return Evidence(self.labelled + other.labelled, tuple([a + b for a, b in _pairs(self, other)]))

    def minus(self, other: Evidence) -> Evidence:
        """Return what is left when some documents are taken away: exactly what they had added."""
        return Evidence(self.labelled - other.labelled, tuple([a - b for a, b in _pairs(self, other)]))

    def times(self, n: int) -> Evidence:
        """Return the evidence of `n` equal sets."""
        return Evidence(n * self.labelled, tuple([n * one for one in self.logs]))


def _pairs(one: Evidence, other: Evidence) -> Iterable[tuple[int, int]]:
    return zip(one.logs, other.logs, strict=True)


NOTHING = Evidence(0, (0,) * len(FRACTIONS))
"""What a period without documents adds."""


class Period(NamedTuple):
    """What was drawn of one detector version in one period of the alarm."""

    version: str
    evidence: Evidence


class Alarm(NamedTuple):
    """A cell's alarm after a period: what is published, and all that the next period needs."""

    promised: float
    """A > 1: periods, in the mean, up to a false alarm."""
    version: str | None = None
    labelled: int = 0
    """Labelled documents with the entity since this version began."""
    wealth: tuple[float, ...] = ()
    """ln M_j after the period; empty where M is 0, at the start and after firing."""
    evidence: float | None = None
    """ln Σ M_j, before M started from 0 again if it fired; fires at ln A. None: no label since the start or restart."""
    since_crossing: int | None = None
    """Periods since it last crossed; 0 in that period, None where this version never did."""
    since_on: int | None = None
    """Periods since it went on; None while it's off."""

    @property
    def state(self) -> State | None:
        """The alarm's state; None where this version has no label: not knowing isn't quiet."""
        if self.since_on is None:
            return "quiet" if self.labelled else None
        return "held" if self.since_crossing else "firing"

    @property
    def bar(self) -> float:
        """The evidence that it takes, ln A."""
        return log(self.promised)


def promised_periods(periods_per_year: float, cells: int, false_alarms_per_year: float) -> float:
    """Return A: with it all `cells` together raise at most so many false alarms a year, in the mean.

    Raises ValueError unless all are positive and finite, and A > 1: there's at most one alarm a period and cell.

    >>> promised_periods(365, 40, 1)
    14600.0
    """
    if not (0 < periods_per_year < inf and 0 < cells < inf and 0 < false_alarms_per_year < inf):
        raise ValueError(
            f"{periods_per_year} periods a year, {cells} cells, {false_alarms_per_year} false alarms a year"
        )
    promised = periods_per_year * cells / false_alarms_per_year
    if promised <= 1:
        raise ValueError(f"false alarms a year must be below periods a year times cells, {periods_per_year * cells}")
    return promised


def evidence_of(entry: Entry, target: Target) -> Evidence:
    """Return what one document adds to its period's evidence that recall is below the target.

    A document without the entity adds nothing. Raises ValueError for a target or an entry that can't be.

    A miss in a document drawn at .05 against 100 hits in documents drawn at .5, at a target of .9 and the boldest bet:

    >>> floors, target = Floors(0.5, 0.05), Target(0.9, 1)
    >>> miss, hit = (evidence_of(entry, target) for entry in (Entry(0.05, floors, 0, 1), Entry(0.5, floors, 1, 1)))
    >>> miss.logs[0] / UNITS, hit.logs[0] / UNITS  # ln 82, ln .1
    (4.406..., -2.302...)
    """
    if not (0 < target.recall < 1 and 1 <= target.y_max < inf):
        raise ValueError(f"target recall {target.recall} is not in (0, 1), or y_max {target.y_max} is below 1")
    check(entry)
    if entry.y == 0:
        return NOTHING
    stake = shortfall(entry, target.recall, target.y_max)
    return Evidence(int(entry.labelled), tuple([units(log1p(-c * stake)) for c in FRACTIONS]))


def shortfall(entry: Entry, recall: float, y_max: int) -> float:
    """Return λZ at c = 1: at most 1, and negative where the document speaks against that recall; y > 0.

    (t - r y)/(1 - r) is written y - (y - t)/(1 - r): it never grows with r, in floats too.
    """
    y = min(entry.y, y_max)
    missed = (entry.y - entry.t) * (y / entry.y)
    return entry.floors.detected / entry.probability * ((y - missed / (1 - recall)) / y_max)


def check(entry: Entry) -> None:
    """Raise ValueError for an entry that can't be; a rate below its floor would let a factor turn negative."""
    probability, (detected, lowest), t, y, _ = entry
    if not 0 <= t <= y:
        raise ValueError(f"found {t} of {y}")
    if not (0 < probability <= 1 and 0 < lowest <= detected <= 1):
        raise ValueError(
            f"probability {probability}, smallest {lowest}, detected {detected}: not 0 < any <= detected <= 1"
        )
    if y and probability < _SLACK * (detected if t else lowest):
        raise ValueError(f"probability {probability} is below the smallest in force, {detected if t else lowest}")


def units(logarithm: float) -> int:
    """Return a whole number of 1/UNITS that is below the logarithm by more than its error of rounding.

    >>> units(0.5) - UNITS // 2
    -1
    """
    return floor(logarithm * UNITS) - 1


def advance(alarm: Alarm, period: Period, hold: int) -> Alarm:
    """Return the alarm after one more period, `hold` >= 1 periods without a crossing turning it off.

    Another version than the last period's starts anew: off, with nothing known. Raises ValueError for a promise of at
    most one period, or `hold` below 1.
    """
    if not (1 < alarm.promised < inf and hold >= 1):
        raise ValueError(f"promised {alarm.promised} periods must be finite and above 1, hold {hold} at least 1")
    if period.version != alarm.version:
        alarm = Alarm(alarm.promised, period.version)
    wealth = _grown(alarm.wealth, period.evidence)
    evidence = log_sum(wealth) if wealth else None
    now = alarm._replace(labelled=alarm.labelled + period.evidence.labelled, evidence=evidence)
    if evidence is not None and evidence >= log(alarm.promised):
        return now._replace(wealth=(), since_crossing=0, since_on=_next(alarm.since_on, 0))
    since = _next(alarm.since_crossing, None)
    on = alarm.since_on is not None and since is not None and since < hold
    return now._replace(wealth=wealth, since_crossing=since, since_on=_next(alarm.since_on, None) if on else None)


def rest(alarm: Alarm, periods: int, hold: int) -> Alarm:
    """Return the alarm after `periods` >= 0 periods of its version in which nothing was drawn.

    As many times `advance` with no evidence, at once.

    >>> miss = evidence_of(Entry(1.0, Floors(1.0, 1.0), 0, 1), Target(0.9, 1))
    >>> fired = follow([Period("v1", miss), Period("v1", miss)], 10, hold=3)[-1]
    >>> [rest(fired, n, hold=3).state for n in (0, 1, 2, 3)]
    ['firing', 'held', 'held', 'quiet']
    """
    if periods < 0:
        raise ValueError(f"{periods} periods")
    if not periods or alarm.version is None:
        return alarm
    since = None if alarm.since_crossing is None else alarm.since_crossing + periods
    on = alarm.since_on is not None and since is not None and since < hold
    evidence = log_sum(alarm.wealth) if alarm.wealth else None
    since_on = None if alarm.since_on is None or not on else alarm.since_on + periods
    return alarm._replace(evidence=evidence, since_crossing=since, since_on=since_on)


def follow(periods: Iterable[Period], promised: float, hold: int) -> tuple[Alarm, ...]:
    """Return the alarm after each period, in the order of drawing; the same evidence gives the same floats.

    After a correction, follow all periods again: where the outcome differs, what was said is to be marked restated.
    Returns nothing for no periods.

    >>> miss, hit = (evidence_of(Entry(1.0, Floors(1.0, 1.0), t, 1), Target(0.9, 1)) for t in (0, 1))
    >>> [alarm.state for alarm in follow([Period("v1", e) for e in (hit, miss, miss, hit, hit)], 10, hold=2)]
    ['quiet', 'quiet', 'firing', 'held', 'quiet']
    """
    alarms: list[Alarm] = []
    alarm = Alarm(promised)
    for period in periods:
        alarm = advance(alarm, period, hold)
        alarms.append(alarm)
    return tuple(alarms)


def log_sum(logs: Iterable[float]) -> float:
    """Return ln Σ exp, for one or more finite logarithms of any size.

    >>> log_sum((1000.0, 1000.0)) - 1000
    0.693...
    """
    each = tuple(logs)
    largest = max(each)
    return largest + log(sum([exp(one - largest) for one in each]))


def _grown(wealth: tuple[float, ...], period: Evidence) -> tuple[float, ...]:
    """Return ln M_j after a period's factors; in logarithms, as a bad day's product passes the largest float."""
    if period.labelled:
        start = -log(len(period.logs))
        wealth = tuple([log_sum((one, start)) for one in wealth]) if wealth else (start,) * len(period.logs)
    return tuple([one + more / UNITS for one, more in zip(wealth, period.logs, strict=True)]) if wealth else ()


def _next(periods: int | None, otherwise: int | None) -> int | None:
    return otherwise if periods is None else periods + 1
