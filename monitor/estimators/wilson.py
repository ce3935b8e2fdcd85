"""Wilson's interval for a share of counted occurrences: right within a stratum, wrong across strata.

It inverts the score test: the limits are the p at which |k/n - p| = z·√(p(1-p)/n). Where n is an *effective* number
that was itself estimated, z becomes a t-quantile and n may be any positive real number.

The limits are the roots of p²(1 + s) - p(2k/n + s) + (k/n)² = 0 with s = z²/n. Subtracting the square root cancels to
nothing where k/n is small and s large (few clusters: t reaches 12.7), so the lower limit is taken by the product of the
roots, (k/n)²/(1 + s): (k/n)² over the sum of which the upper limit is a (1 + s)th.

Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927) 209-212.
"""

from __future__ import annotations

from math import inf, sqrt

from scipy.special import ndtri

from monitor.estimators.sample import Interval


def wilson(found: float, true: float, confidence: float = 0.95) -> Interval | None:
    """Return the share found/true between its limits.

    Assumes that the `true` occurrences are independent and equally likely to be found and to be labelled.

    Parameters: `found` and `true` are counts, `0 <= found <= true`; an effective number needn't be whole.
    `confidence` is two-sided, in (0, 1).

    Returns None where `true` is 0: no data gives no value. A limit is exactly 0 where nothing
    was found, and 1 where everything was.

    Raises ValueError for counts that can't be: negative, more found than true, NaN or infinite.

    >>> wilson(84, 118)
    Interval(estimate=0.711864406779661, lower=0.6244..., upper=0.7858...)
    >>> wilson(0, 0) is None
    True
    """
    if not 0 <= found <= true < inf:
        raise ValueError(f"found {found} of {true}")
    if true == 0:
        return None
    return wilson_share(found / true, true, normal_quantile(confidence))


def wilson_share(share: float, n: float, quantile: float) -> Interval:
    """Return a share in [0, 1] between its limits, for an effective number `n` > 0 and any quantile >= 0.

    The quantile is the normal's for counts, Student's t where `n` was estimated from few clusters; 0, a confidence that
    rounds to none, gives no width.

    Raises ValueError for a share outside [0, 1], an `n` that isn't positive, a negative quantile, or what isn't finite.

    >>> wilson_share(1.0, 10.0, 2.262)
    Interval(estimate=1.0, lower=0.661..., upper=1.0)
    """
    if not (0 <= share <= 1 and 0 < n < inf and 0 <= quantile < inf):
        raise ValueError(f"share {share} of {n} at quantile {quantile}")
    s = quantile * quantile / n
    reach = share + s / 2 + sqrt(s * (share * (1 - share) + s / 4))
    # the quotient first: a share below 1e-154 has no square
    lower = share * (share / reach) if share else 0.0
    upper = reach / (1 + s) if reach < inf else 1.0
    # rounding leaves a limit 1e-16 past the share or past 1, or short of its corner
    return Interval(share, min(lower, share), max(min(upper, 1.0), share))


def normal_quantile(confidence: float) -> float:
    """Return z with P(|Z| <= z) = confidence, for a confidence in (0, 1).

    >>> normal_quantile(0.95)
    1.95996...
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence}")
    # by the tail, which keeps its digits where 0.5 + confidence / 2 would be 1
    return -float(ndtri((1 - confidence) / 2))
