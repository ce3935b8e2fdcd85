"""Exact bounds from independent thinning: of M documents m were seen, each with chance π; the largest and least M.

m ~ Binomial(M, π). Both bounds invert its exact tail, so that they hold at any size and for m = 0. Tails are taken from
the incomplete beta function in π itself: 1 - π would lose the digits of a small rate.

Source: C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
binomial, Biometrika 26 (1934) 404-413, solved for the number of trials instead of the chance.
"""

from __future__ import annotations

from collections.abc import Callable

from scipy.special import betainc, betaincc, btdtrib


def at_most(seen: int, rate: float, alpha: float, ceiling: int) -> int:
    """Return max{M <= ceiling : P(Bin(M, rate) <= seen) > alpha}, an upper bound with confidence 1 - alpha.

    Parameters: `0 <= seen <= ceiling` documents; `rate` in [0, 1], at most the chance of each of them to be seen (0
    leaves the ceiling); `0 < alpha < 1`.

    >>> at_most(0, 0.0005, 0.05, 10**9)
    5989
    """
    if not (0 <= seen <= ceiling and 0 <= rate <= 1 and 0 < alpha < 1):
        raise ValueError(f"{seen} of at most {ceiling} at rate {rate}")
    if rate in (0, 1):
        return seen if rate else ceiling

    def possible(size: int) -> bool:
        return size <= seen or float(betaincc(seen + 1, size - seen, rate)) > alpha

    if possible(ceiling):
        return ceiling
    return _last(possible, seen, ceiling, seen + float(btdtrib(seen + 1, 1 - alpha, rate)))


def at_least(seen: int, rate: float, alpha: float, ceiling: int) -> int:
    """Return min{T <= ceiling : P(Bin(T, rate) >= seen) > alpha}, a lower bound with confidence 1 - alpha.

    Parameters as for `at_most`, but `rate` in (0, 1] is at *least* the chance of each document to be seen.

    >>> at_least(100, 0.5, 0.005, 10**9)
    166
    """
    if not (0 <= seen <= ceiling and 0 < rate <= 1 and 0 < alpha < 1):
        raise ValueError(f"{seen} of at most {ceiling} at rate {rate}")
    if rate == 1 or seen == 0:
        return seen

    def impossible(size: int) -> bool:
        return size < seen or float(betainc(seen, size - seen + 1, rate)) <= alpha

    if impossible(ceiling):
        return ceiling
    return _last(impossible, seen - 1, ceiling, seen - 1 + float(btdtrib(seen, alpha, rate))) + 1


def _last(holds: Callable[[int], bool], low: int, high: int, root: float) -> int:
    """Return the last number for which `holds`, given that it holds at `low`, not at `high`, and changes once.

    `root` is where the change should be by inverting the tail in real numbers; only the tail itself is trusted.
    """
    step = 1
    here = int(root) if low < root < high else low
    while high - low > 1:
        if not low < here < high:
            here = (low + high) // 2
        if holds(here):
            low = here
            here += step
        else:
            high = here
            here -= step
        # gallop away from the root until the change is bracketed; from then on every jump is too long, and it halves
        step *= 4
    return low
