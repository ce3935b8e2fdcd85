"""Limits for how many of a known number of documents hold the entity: those of the side that fewer are on.

Documents with the entity are a weighted total of counts, taken as Poisson's, and so are documents without it. Either
has Fay and Feuer's limits over all strata at once, and as all documents are N, limits of one are limits of the other.
A Poisson count has variance k where a share of N has k(1 - k/N), so the side with more documents is far too wide: 234
of 250 have .820 to 1 by themselves, and .896 to .963 by the 16 without. The side is that of the smaller total, one for
all strata: N_h of a stratum is itself drawn from the traffic, and a side by stratum would take it as given.

Limits of either side hold; that a choice by the estimate does is measured. 96 nodes (prevalence .004 to 1; 30, 150 and
400 labels; all read, drawn at random, by strata with weights 1 to 20, and these with odds of the entity from .1 to 60
times those of the traffic), 2,000 streams each: both limits held .9615 of them in the worst node, one limit .976.

Rejected: limits stratum by stratum, summed by MOVER. Where a few documents are spread over strata the lower limit comes
too close: at a prevalence of .004, 150 documents in two strata, all read, it held .926 of 1,000 streams.

Assumptions: labels missing at random within a stratum; N is known.
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.estimators.fay_feuer import gamma_limits
from monitor.estimators.post_stratification import Weighted
from monitor.estimators.sample import Interval


def documents_with(rows: Sequence[Weighted], confidence: float = 0.95) -> Interval:
    """Return how many documents hold the entity, between the limits of the smaller side.

    Parameters: `rows` = `weigh(unite(strata))`. `confidence` is two-sided, in (0, 1). The limits may pass 0 and N.

    >>> from monitor.estimators.post_stratification import weigh
    >>> from monitor.estimators.sample import Design, Moments, StratumSample
    >>> whole = Design(1.0, 250, 250, Moments(*[250] * 14))
    >>> documents_with(weigh([StratumSample("en", "both", 250, (whole,))]))
    Interval(estimate=250.0, lower=246.3..., upper=250.0)
    """
    size = sum([row.represented for row in rows])
    having = _limits(rows, [(w, m.with_entity) for row in rows for w, _, m in row.parts], confidence)
    if not is_half(having.estimate, size):
        return having
    return other_side(size, _limits(rows, [part for row in rows for part in _without(row)], confidence))


def is_half(documents: float, size: float) -> bool:
    """Say whether so many are half of `size` or more; half but for rounding is half.

    >>> is_half(0.1 * 5 * 7, 7.0), is_half(3.49, 7.0)
    (True, False)
    """
    return 2 * documents >= size * (1 - 1e-9)


def other_side(size: float, without: Interval) -> Interval:
    """Return what's left of `size` documents, between limits: at most all of them are without, none at least.

    >>> other_side(10.0, Interval(1.0, 0.25, 5.5))
    Interval(estimate=9.0, lower=4.5, upper=9.75)
    """
    estimate = size - without.estimate
    # a control variate may find more than there are: the limit below them starts at N
    above = without.upper - without.estimate
    return Interval(estimate, min(estimate, size) - above, size - without.lower)


def _without(row: Weighted) -> list[tuple[float, int]]:
    """Return weight and number of labelled documents without the entity, by design."""
    designs = row.sample.designs
    scale = row.represented / sum([d.labelled / d.probability for d in designs])
    return [(scale / d.probability, d.labelled - d.moments.with_entity) for d in designs]


def _limits(rows: Sequence[Weighted], parts: Sequence[tuple[float, int]], confidence: float) -> Interval:
    total = sum([w * n for w, n in parts])
    variance = sum([w * w * n for w, n in parts])
    return gamma_limits(total, variance, max([row.largest for row in rows]), confidence)
