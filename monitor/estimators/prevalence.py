"""Prevalence: how often the entity occurs in the traffic, whatever the detector found of it.

Documents with it, Σ w·1[y>0] / N, and occurrences per 1,000 documents, 1000 · Σ w y / N. Both are weighted totals with
gamma limits, of occurrences stratum by stratum, summed by MOVER; where nothing was seen there's still an upper limit.
Documents are a share of N: where half of them hold the entity or more, their limits are those of documents without it
(`estimators.smaller_side`). Where ROUTE counted in how many documents the detector named the entity, they stand for so
many (`estimators.control_variate`).

Assumptions: labels missing at random within a stratum. It speaks of the traffic that the window's documents came from,
as R_F does; so there's no finite-population factor, and 500 documents without the entity, all labelled, still leave
.0074, as do 500 that all hold it. (The alternative, a census of the window has no width, would call either certain.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.estimators import mover
from monitor.estimators.control_variate import Named, Totals, controlled_totals
from monitor.estimators.fay_feuer import gamma_limits
from monitor.estimators.post_stratification import Weighted, has_unlabelled, size_of_jump, weigh
from monitor.estimators.sample import Interval, StratumSample
from monitor.estimators.smaller_side import documents_with
from monitor.estimators.union import unite


class PrevalenceLimits(NamedTuple):
    """Both rates between their limits, with the unweighted counts that they rest on."""

    documents: Interval | None
    """Share of documents with the entity, in [0, 1]."""
    per_1000: Interval | None
    """Occurrences per 1,000 documents."""
    with_entity: int
    """Labelled documents with the entity."""
    occurrences: int
    """True occurrences in labelled documents."""


def prevalence(
    strata: Sequence[StratumSample], confidence: float = 0.95, named: Named | None = None
) -> PrevalenceLimits:
    """Return the prevalence of one cell's entity between its limits.

    Parameters: `strata`, disjoint rows of one cell in any order; a roll-up is just more rows. `confidence` is
    two-sided, in (0, 1). `named`, of the same strata, has the census of what the detector named; None where there is
    none that is whole.

    Returns None in place of either rate where nothing is labelled, or where there are flagged (unflagged) documents and
    none of them is, in languages that hold more than a hundredth of them: what they hold is unknown, not nothing, and
    not what other languages hold.

    >>> from monitor.estimators.sample import Design, Moments
    >>> empty = StratumSample("en", "unflagged", 500, (Design(1.0, 500, 500, Moments()),))
    >>> prevalence([empty]).documents
    Interval(estimate=0.0, lower=0.0, upper=0.0073...)
    """
    strata = unite(strata)
    rows = weigh(strata)
    moments = [m for row in rows for _, _, m in row.parts]
    with_entity = sum([m.with_entity for m in moments])
    occurrences = sum([m.y for m in moments])
    if not rows or has_unlabelled(strata, flagged=True) or has_unlabelled(strata, flagged=False):
        return PrevalenceLimits(None, None, with_entity, occurrences)
    size = sum([row.represented for row in rows])
    totals = None if named is None else controlled_totals(rows, named, confidence)
    if totals is None:
        totals = _weighted_totals(rows, confidence)
    documents, per_1000 = _per(size, totals.documents), _per(size / 1000, totals.occurrences)
    return PrevalenceLimits(
        Interval(*(min(limit, 1.0) for limit in documents)),
        per_1000,
        with_entity,
        occurrences,
    )


def _weighted_totals(rows: Sequence[Weighted], confidence: float) -> Totals:
    jump = size_of_jump(rows)
    return Totals(
        documents_with(rows, confidence),
        mover.total([_occurrences(row, jump, confidence) for row in rows]),
    )


def _occurrences(row: Weighted, jump: float, confidence: float) -> Interval:
    total = sum([w * m.y for w, _, m in row.parts])
    variance = sum([w * w * m.yy for w, _, m in row.parts])
    return gamma_limits(total, variance, row.largest * jump, confidence)


def _per(size: float, total: Interval) -> Interval:
    # MOVER subtracts: rounding may take a lower limit of 0 just below it
    return Interval(total.estimate / size, max(total.lower / size, 0.0), total.upper / size)
