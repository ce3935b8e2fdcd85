"""Variance of a ratio of weighted totals, documents as clusters, corrected for leverage.

R = Σ w t / Σ w y is not linear in its documents. To first order document i moves it by w e/Ŷ, with the residual
e = t - R y and Ŷ = Σ w y, so V = Σ (w e/Ŷ)²: survey practice, and too small where few documents hold most of Ŷ, since
each of them pulls R to itself and shrinks its own residual. The jackknife divides the residual by 1 - h, h = w y/Ŷ;
its series 1/(1-h)² = 1 + 2h + 3h² + … to the second order can be had from sums, without the documents.

The sums are taken in misses m = y - t where R > 1/2, e = (1-R) y - m: with nearly all found, t² - 2R t y + R²y² would
subtract numbers that agree in their first ten digits.

Source: C.-E. Särndal, B. Swensson and J. Wretman, Model Assisted Survey Sampling (1992), 5.6 and 11.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.estimators.post_stratification import Weighted
from monitor.estimators.sample import Moments


class Ratio(NamedTuple):
    """A weighted ratio with the sums that its interval needs."""

    share: float
    """Σ w t / Σ w y."""
    total: float
    """Ŷ = Σ w y > 0."""
    variance: float
    clusters: float
    """(Σ w y)²/Σ w²y²: how many documents of equal size would say as much."""


def ratio_of(rows: Sequence[Weighted], *, leverage: bool = True) -> Ratio | None:
    """Return found/true over `rows`; None where they hold no true occurrence.

    With `leverage=False` the variance is the plain linearised one, without R's factor n/(n-1).

    >>> from monitor.estimators.post_stratification import weigh
    >>> from monitor.estimators.sample import Design, Moments, StratumSample
    >>> seen = Design(1.0, 2, 2, Moments.of(1, 1).plus(Moments.of(0, 1)))
    >>> ratio_of(weigh([StratumSample("nl", "both", 2, (seen,))]), leverage=False)
    Ratio(share=0.5, total=2.0, variance=0.125, clusters=2.0)
    """
    parts = [part for row in rows for part in row.parts]
    total = found = missed = squares = 0.0
    for w, _, m in parts:
        total += w * m.y
        found += w * m.t
        missed += w * (m.y - m.t)
        squares += w * w * m.yy
    if not total:
        return None
    # t = y everywhere must give 1 exactly, and the share of the misses keeps its digits
    share = found / total if missed else 1.0
    residuals = _in_misses if found > missed else _in_found
    smaller = min(found, missed) / total
    variance = 0.0
    for w, _, m in parts:
        h = w / total
        ee, eey, eeyy = residuals(m, smaller)
        variance += h * h * (ee + h * (2 * eey + 3 * h * eeyy) if leverage else ee)
    return Ratio(share, total, max(variance, 0.0), total * total / squares)


def _in_found(m: Moments, r: float) -> tuple[float, float, float]:
    """Return Σe², Σe²y and Σe²y² with e = t - r y."""
    return (
        m.tt - r * (2 * m.ty - r * m.yy),
        m.tty - r * (2 * m.tyy - r * m.yyy),
        m.ttyy - r * (2 * m.tyyy - r * m.yyyy),
    )


def _in_misses(m: Moments, q: float) -> tuple[float, float, float]:
    """Return the same three with e = q y - (y - t), q the share of misses; differences of whole numbers are exact."""
    return (
        m.tt - 2 * m.ty + m.yy - q * (2 * (m.yy - m.ty) - q * m.yy),
        m.tty - 2 * m.tyy + m.yyy - q * (2 * (m.yyy - m.tyy) - q * m.yyy),
        m.ttyy - 2 * m.tyyy + m.yyyy - q * (2 * (m.yyyy - m.tyyy) - q * m.yyyy),
    )
