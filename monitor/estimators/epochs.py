"""Where the sequence begins that a look reads, once old days are let go; and what share of α it is read at.

A confidence sequence holds at all times at once from one beginning on. Where the oldest day goes as a new one comes,
every day is another beginning, and over all of these nothing holds: with 35 days kept and 15 labels a day, the truth is
outside at some time in 9 % of years at 1 - α = .95.

So the beginnings are fixed beforehand: the days, counted from the epoch of Unix, that are multiples of L, a fifth of
the K days that are kept. A look reads the sequence of the oldest beginning that isn't gone: it holds more than K - L
days, at most K. The looks of any 366 days read at most m = ceil(365/L) + 1 sequences, each at 1 - α/m. So with a chance
of at most α any of them is ever wrong (union bound), whichever looks are taken, and whenever.

Why a fifth. A smaller L keeps more of the days, and α is shared by more sequences. With K = 35 and 15 labels a day it's
narrower than a half with the last beginning but one (L + 1 to 2L days): at a recall of .8 limits are .168 apart for
.178 in the mean and .175 for .207 on the worst day of the L, at .95 .107 for .116 and .115 for .141.

Assumptions: how much is kept doesn't change within the year; a change is another set of beginnings, with an α of its
own. A document's time is at most a day ahead of the clock that looks: a later one would let go of days too early.

Rejected: one beginning a day, whose m would be as large as the year has days.

Source: the bound is Boole's; H. Robbins, Statistical methods related to the law of the iterated logarithm, Ann. Math.
Stat. 41 (1970) 1397-1409, is where limits at all times at once come from.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

DAY_S = 86_400
_MORE_DAYS = 365
"""Of a year, beyond its first."""


class Epoch(NamedTuple):
    """A sequence's beginning."""

    first_day: int | None
    """Since the epoch of Unix; what was drawn on an earlier one doesn't count. None: everything counts."""
    sequences: int
    """m, that the looks of a year read at most; at least 1."""

    def level(self, confidence: float) -> float:
        """Return what this sequence is read at, so that all looks of a year are right together at `confidence`.

        >>> Epoch(0, 5).level(0.95)
        0.99
        """
        return 1 - (1 - confidence) / self.sequences

    def first_period(self, period_s: float) -> int | None:
        """Return the first period that counts, of `period_s` > 0 s each: it starts when the epoch does, or later.

        >>> [Epoch(3, 5).first_period(period_s) for period_s in (86_400.0, 43_200.0, 7 * 86_400.0)]
        [3, 6, 1]
        """
        return None if self.first_day is None else ceil(self.first_day * DAY_S / period_s)


EVERYTHING = Epoch(None, 1)
"""Where nothing is let go."""


def epoch_of(day: int, kept_days: int) -> Epoch:
    """Return the epoch of a look.

    Parameters: `day` of the look, since the epoch of Unix; `kept_days` K, at least 2, that are there with it, itself
    among them.

    Raises ValueError for fewer days.

    >>> [epoch_of(day, 10) for day in (19, 20, 21, 22)]
    [Epoch(first_day=10, sequences=184), Epoch(first_day=12, ...), Epoch(first_day=12, ...), Epoch(first_day=14, ...)]
    """
    if kept_days < 2:
        raise ValueError(f"{kept_days} days hold no epoch: at least 2 must be kept")
    length = max(kept_days // 5, 1)
    oldest = day - kept_days + 1
    return Epoch(-(-oldest // length) * length, ceil(_MORE_DAYS / length) + 1)
