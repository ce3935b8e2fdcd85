"""Limits of recall that hold at all times at once, so that they may be read any time, and acted on when they're seen.

Each r on a grid is tested twice by betting, with Z(r) = (t - r y)/π of each drawn document:

* r is too high: Π(1 - λ_j Z(r)), with λ_j = c_j π_min/((1 - r) y_max), as the alarm bets against its target;
* r is too low: Π(1 + μ_j Z(r)), with μ_j = c_j p_r/(r y_max), p_r the smallest rate of any document.

If recall is r, the mean over j of each product is a martingale with mean 1, and is ever 2/α with a chance of at most
α/2 (Ville's inequality). What is rejected by neither test is a confidence sequence at 1 - α.

Both λ_j Z(r) and μ_j Z(r) fall as r grows: what one test rejects as too high it also rejects at every higher r, and the
other way round. So the limits are the rejected grid points nearest to each other; the grid only rounds outwards.

Logarithms are whole numbers, as the alarm's: they add in any order and a correction leaves nothing behind.

The bets are .9 divided by 3 up to four times (at least 3/4 of the growth of the best bet between .9 and .011). The grid
has steps of .01 up to .9 and of .005 beyond, where targets are.

At all times means from one beginning on, with nothing let go: see `monitor.estimators.epochs` for what slides.

Assumptions: one recall throughout, of documents that count for at most `y_max` occurrences; floors fixed before the
draw. A document without a label enters the first test as all found, which can't lower the upper limit wrongly, and the
second not at all: as if it held nothing. (The worst it could be, `y_max` misses, would leave no lower limit to any
queue.) Misses take longer to label than hits, so read the lower limit on periods whose deadline has passed, and with
completeness beside it: missing labels must be missing at random.

The lower limit is slow wherever p_r is far below π_min: a hit raises it by p_r/π, since a single miss that wasn't drawn
may stand for so many.

Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86 (2024) 1-27;
J. Ville, Étude critique de la notion de collectif, Gauthier-Villars, 1939.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, log1p
from typing import NamedTuple

from monitor.estimators.e_detector import UNITS, Entry, Evidence, check, log_sum, shortfall, units

SHARES = tuple(0.9 / 3**k for k in range(5))
"""c_j, in (0, 1)."""
GRID = (*(k / 100 for k in range(1, 90)), *(k / 200 for k in range(180, 200)))
"""The r that are tested, in (0, 1), ascending."""
_POINTS = (0.0, *GRID, 1.0)
_J = len(SHARES)

NO_SEQUENCE = Evidence(0, (0,) * (2 * _J * len(GRID)))
"""What no documents add."""


class AnyTime(NamedTuple):
    """Limits that hold at all times at once; 0 <= lower < upper <= 1."""

    lower: float
    upper: float


def sequence_evidence_of(entry: Entry, y_max: int) -> Evidence:
    """Return what one document adds: per r of `GRID`, logarithms of the too-high tests, then of the too-low ones.

    Raises ValueError for an entry that can't be, or a `y_max` below 1.

    >>> from monitor.estimators.e_detector import Floors
    >>> sequence_evidence_of(Entry(0.1, Floors(0.1, 0.1), 0, 0), 1) == NO_SEQUENCE
    True
    """
    if not 1 <= y_max < inf:
        raise ValueError(f"y_max {y_max} is below 1")
    check(entry)
    if entry.y == 0:
        return NO_SEQUENCE
    return Evidence(int(entry.labelled), tuple(_logs(entry, y_max)))


def confidence_sequence(evidence: Evidence, confidence: float = 0.95) -> AnyTime | None:
    """Return the limits from all documents of a cell since the sequence began.

    Parameters: `evidence`, the sum over documents; `confidence` two-sided, in (0, 1).

    Returns None without a labelled document that holds the entity: no data gives no value. 0 or 1 where nothing is
    excluded on that side. Where recall itself changed (else at most once in 1/α) the tests together may leave no r;
    then the limits are the highest r that isn't too high and the lowest that isn't too low: it moved between them.

    >>> from monitor.estimators.e_detector import Floors
    >>> hit, miss = (sequence_evidence_of(Entry(1.0, Floors(1.0, 1.0), t, 1), 1) for t in (1, 0))
    >>> confidence_sequence(hit.times(90).plus(miss.times(10)))
    AnyTime(lower=0.7..., upper=0.9...)
    >>> confidence_sequence(NO_SEQUENCE) is None
    True
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not in (0, 1)")
    if len(evidence.logs) != len(NO_SEQUENCE.logs):
        raise ValueError(f"{len(evidence.logs)} logarithms are not of a sequence, which has {len(NO_SEQUENCE.logs)}")
    if not evidence.labelled:
        return None
    # the mean over j is 2/α where the sum is 2J/α
    bar = log(2 * _J / (1 - confidence))
    upper = min(_rejected(evidence, 0, bar), default=len(GRID) + 1)
    lower = max(_rejected(evidence, _J, bar), default=0)
    if lower >= upper:
        lower, upper = upper - 1, lower + 1
    return AnyTime(_POINTS[lower], _POINTS[upper])


def _logs(entry: Entry, y_max: int) -> Iterator[int]:
    y = min(entry.y, y_max)
    found = entry.t * (y / entry.y)
    scale = entry.floors.any / entry.probability
    for r in GRID:
        high = shortfall(entry, r, y_max)
        yield from [units(log1p(-c * high)) for c in SHARES]
        # (t - r y)/r, written so that it never grows with r, in floats too
        low = scale * ((found / r - y) / y_max)
        yield from [units(log1p(c * low)) if entry.labelled else 0 for c in SHARES]


def _rejected(evidence: Evidence, first: int, bar: float) -> list[int]:
    """Return the positions in `_POINTS` that a test rejects; `first` is where its bets stand among those of an r."""
    starts = range(first, len(evidence.logs), 2 * _J)
    wealth = [log_sum([one / UNITS for one in evidence.logs[at : at + _J]]) for at in starts]
    return [k for k, one in enumerate(wealth, 1) if one >= bar]
