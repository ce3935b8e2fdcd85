"""Fay and Feuer's gamma limits for a weighted total of counts, honest where little or nothing was seen.

A weighted total y = Σ w k of Poisson counts k has variance v, estimated by Σ w²k². Its distribution is near a gamma
with that mean and variance, so the lower limit is a quantile of gamma(y, v). For the upper limit one more count could
have come: the gamma is moved by one *jump*, the largest step that the total can make, to mean y + jump and variance
v + jump². With y = 0 this leaves 3.69 jumps at 95 %, where a normal interval has no width at all.

Source: M. P. Fay and E. J. Feuer, Confidence intervals for directly standardized rates: a method based on the gamma
distribution, Statistics in Medicine 16 (1997) 791-801.
"""

from __future__ import annotations

from math import inf

from scipy.special import gammainccinv, gammaincinv

from monitor.estimators.sample import Interval


def gamma_limits(total: float, variance: float, jump: float, confidence: float = 0.95) -> Interval:
    """Return a weighted total between its limits.

    Parameters: `total` = Σ w k >= 0 and `variance` = Σ w²k² >= 0 (0 where the total is known), `jump` > 0 the
    largest step of the total in its own unit; `confidence` two-sided in (0, 1).

    Returns an interval with `0 <= lower <= total < upper`. Raises ValueError for what isn't finite or in range.

    >>> gamma_limits(0.0, 0.0, 1.0)
    Interval(estimate=0.0, lower=0.0, upper=3.6888...)
    """
    if not (0 <= total < inf and 0 <= variance < inf and 0 < jump < inf and 0 < confidence < 1):
        raise ValueError(f"total {total}, variance {variance}, jump {jump}, confidence {confidence}")
    tail = (1 - confidence) / 2
    lower = total
    if total > 0 and variance > 0:
        lower = variance / total * float(gammaincinv(total * total / variance, tail))
    mean = total + jump
    spread = variance + jump * jump
    upper = spread / mean * float(gammainccinv(mean * mean / spread, tail))
    # where one document holds nearly all of the total the gamma is so skewed that a quantile can pass its own mean
    return Interval(total, min(lower, total), max(upper, total))


def known(total: float) -> Interval:
    """Return a total that was counted on every document: no width.

    >>> known(3.0)
    Interval(estimate=3.0, lower=3.0, upper=3.0)
    """
    return Interval(total, total, total)
