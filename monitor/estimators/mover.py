"""MOVER: limits of a sum, a product or a ratio from the limits of its parts, without assuming that they're symmetric.

The method of variance estimates recovery takes from each part the variance *at the limit that matters*: the squared
distance from its estimate to that limit. So a part with a long upper tail gives the result one, which a standard error
can't. The parts must be independent, or nearly.

Source: A. Donner and G. Y. Zou, Closed-form confidence intervals for functions of the normal mean and standard
deviation, Statistical Methods in Medical Research 21 (2012) 347-359.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, hypot, inf, log, sqrt

from monitor.estimators.sample import Interval


def total(parts: Iterable[Interval]) -> Interval:
    """Return the sum of independent parts; no part gives [0, 0].

    >>> total([Interval(4, 1, 8), Interval(6, 2, 9)])
    Interval(estimate=10, lower=5.0, upper=15.0)
    """
    known = list(parts)
    estimate = sum(part.estimate for part in known)
    below = hypot(*(part.estimate - part.lower for part in known))
    above = hypot(*(part.upper - part.estimate for part in known))
    return Interval(estimate, estimate - below, estimate + above)


def ratio(top: Interval, bottom: Interval) -> Interval:
    """Return top / bottom for independent totals; `bottom.estimate` must be above 0, `top` may be 0.

    The upper limit is infinite where the bottom's lower limit is 0, or too small for a float, and the top isn't known
    to be 0: that's what the formula tends to. Raises ValueError where the bottom's estimate is 0, or not a number.

    >>> ratio(Interval(0.0, 0.0, 3.0), Interval(10.0, 10.0, 10.0))
    Interval(estimate=0.0, lower=0.0, upper=0.3)
    >>> ratio(Interval(1.0, 0.5, 3.0), Interval(10.0, 0.0, 40.0))
    Interval(estimate=0.1, lower=0.0205..., upper=inf)
    """
    if not (bottom.estimate > 0 and bottom.lower >= 0):
        raise ValueError(f"a ratio over {bottom}")
    x, l, u = top  # noqa: E741  # the names of the paper's formula
    y, m, v = bottom
    product = x * y
    # max(…, 0): both radicands are at least 0, as l(2x - l) <= x²; rounding doesn't know
    lower = 0.0
    if x > 0:
        low = l * (2 * x - l)
        lower = low / (product + sqrt(max(product * product - low * v * (2 * y - v), 0.0)))
    high = m * (2 * y - m)
    reach = product + sqrt(max(product * product - u * (2 * x - u) * high, 0.0))
    upper = reach / high if high > 0 else inf if u > 0 else 0.0
    return Interval(x / y, min(lower, x / y), max(upper, x / y))


def product_of_shares(first: Interval, second: Interval) -> Interval:
    """Return the product of two independent shares on the log scale; limits stay in [0, 1].

    Where a share is 0, or their product is too small for a float, there is no log: the limits are then [0, the product
    of the upper limits]. A lower limit of 0 gives a lower limit of 0.

    >>> product_of_shares(Interval(0.5, 0.25, 1.0), Interval(1.0, 1.0, 1.0))
    Interval(estimate=0.5, lower=0.25, upper=1.0)
    """
    estimate = first.estimate * second.estimate
    if estimate == 0:
        return Interval(0.0, 0.0, first.upper * second.upper)
    below = hypot(*(_log_ratio(share.estimate, share.lower) for share in (first, second)))
    above = hypot(*(_log_ratio(share.upper, share.estimate) for share in (first, second)))
    # the upper limit in logs: exp(above) by itself is no float where an estimate is tiny
    upper = exp(min(log(estimate) + above, 0.0))
    return Interval(estimate, min(estimate * exp(-below), estimate), max(upper, estimate))


def _log_ratio(larger: float, smaller: float) -> float:
    return log(larger / smaller) if smaller else inf
