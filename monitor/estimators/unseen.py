"""How much of an interval's width comes from documents that nobody flagged, and which random rate would halve it.

The factor g = F/(F + M) is uncertain through both totals. What M alone does to it, on the log scale, is the distance
ln(F + M's upper limit) - ln(F + M's lower limit). Drawing k times as many unflagged documents leaves the expected
total, divides its variance and its jump by k, and so narrows that distance by about 1/√k where misses were seen and by
about 1/k where none was: in between it's solved for, between k = 1 and the k that draws every document. A secant step
that leaves what is left of that bracket is replaced by its middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, log1p
from typing import NamedTuple

from monitor.estimators.fay_feuer import gamma_limits, known
from monitor.estimators.post_stratification import Weighted
from monitor.estimators.sample import Interval

_STEPS = 40
"""Steps at most; the curve is nearly straight in logs, so three secant steps are usual."""
_CLOSE = 2e-3
"""Relative error of the width at which the secant stops."""


class Unseen(NamedTuple):
    """M: the weighted total of true occurrences in unflagged documents, as its gamma limits need it."""

    total: float
    variance: float
    jump: float
    """0 where the total is known."""
    rate: float
    """The rate at which the unflagged documents were drawn, over all designs; 1 where there's none."""

    def limits(self, confidence: float, times: float = 1.0) -> Interval:
        """Return M between its limits, had `times` as many unflagged documents been drawn."""
        if not self.jump:
            return known(self.total)
        return gamma_limits(self.total, self.variance / times, self.jump / times, confidence)


def unseen_total(rows: Sequence[Weighted], occurrences: float) -> Unseen:
    """Return M from the unflagged among `rows`; `occurrences` is the size of a jump before its weight, > 0.

    Without unflagged documents M is 0, and known; so it is where all of them were drawn with π = 1 and labelled.
    """
    blind = [row for row in rows if not row.flagged]
    parts = [part for row in blind for part in row.parts]
    total = sum([w * m.y for w, _, m in parts])
    if all(row.whole for row in blind):
        return Unseen(total, 0.0, 0.0, 1.0)
    variance = sum([w * w * m.yy for w, _, m in parts])
    jump = max([row.largest for row in blind]) * occurrences
    designs = [d for row in blind for d in row.sample.designs]
    drawn = sum([d.sampled for d in designs])
    stood_for = sum([d.sampled / d.probability for d in designs])
    return Unseen(total, variance, jump, drawn / stood_for)


def halving_rate(unseen: Unseen, now: Interval, flagged_total: float, confidence: float = 0.95) -> float | None:
    """Return the random rate, at most 1, at which M's part of the log-width would be half of what it is.

    Parameters: `now` is M between its limits, `flagged_total` is F > 0. Labels are taken to be as complete as now.
    Returns None where M is known: there is nothing to halve. Exact to .5 %: it's advice, not a bound.

    >>> unseen = Unseen(0.0, 0.0, 2_000.0, 0.0005)
    >>> halving_rate(unseen, unseen.limits(0.95), 100_000.0)
    0.00101...
    """
    if not unseen.jump:
        return None

    def width(missed: Interval) -> float:
        return log1p((missed.upper - missed.lower) / (flagged_total + missed.lower))

    half = width(now) / 2
    if not unseen.total:
        # the upper limit goes as 1/k exactly: k = (e^width - 1)/(e^half - 1)
        return min(unseen.rate * (exp(half) + 1), 1.0)
    low, high = 0.0, -log(unseen.rate)

    def excess_at(log_times: float) -> float:
        # a width that rounds to nothing has no log
        return log(max(width(unseen.limits(confidence, exp(log_times))) / half, 1e-9))

    if not half or excess_at(high) >= 0:
        return 1.0
    before, excess_before, here = low, log(2), min(log(3), high)
    for _ in range(_STEPS):
        excess = excess_at(here)
        if abs(excess) < _CLOSE:
            break
        low, high = (here, high) if excess > 0 else (low, here)
        slope = (excess - excess_before) / (here - before) if here != before else 0.0
        before, excess_before = here, excess
        here = here - excess / slope if slope < 0 else high
        if not low < here < high:
            here = (low + high) / 2
    return min(unseen.rate * exp(here), 1.0)
