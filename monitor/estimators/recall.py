"""Population recall: of all true occurrences in the traffic, what share did the detector find.

R = Σ w t / Σ w y over all labelled documents. One miss among documents that nobody flagged stands for thousands, and
most such misses aren't in the sample; no variance estimated from the sample knows of them (R's `svyratio` covered the
truth in as few as 17 % of draws). So the interval is *factored*, R = R_F · g:

* R_F, recall where any tool looked: the flagged strata. Wilson with an effective n = R_F(1-R_F)/V, V corrected for
  leverage, and Student's t at the effective number of clusters. No finite-population factor: R_F stands alone too.
* g = F/(F + M): the share of the true occurrences whose document any tool flagged. F and M are weighted totals of true
  occurrences in the flagged and the unflagged strata, with gamma limits; "no miss seen" still has an upper limit.

Limits of M/F by MOVER for a ratio, of R_F · g by MOVER on the log scale.

Assumptions. A document's inclusion probability is known; labels are missing at random within a stratum; nothing is
found in an unflagged document, by definition of the stratum (what a row says was found there is not counted).
The size of a jump is a mean over the labelled documents, not a bound.

Choices where the method's description leaves one open: with labels missing, F's variance factor is 1 - π·completeness
(with 1 - π a half-labelled census would have no width); a total has no width only if each of its documents was drawn
with π = 1 and is labelled. Where the unflagged documents have no label, in any language or in languages that hold more
than a hundredth of them, there's no estimate either: R_F is an upper bound of it, never the headline.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Literal, NamedTuple

from scipy.special import stdtrit

from monitor.estimators import mover
from monitor.estimators.fay_feuer import gamma_limits, known
from monitor.estimators.linearisation import Ratio, ratio_of
from monitor.estimators.post_stratification import Weighted, has_unlabelled, size_of_jump, weigh
from monitor.estimators.sample import Interval, StratumSample
from monitor.estimators.union import unite
from monitor.estimators.unseen import halving_rate, unseen_total
from monitor.estimators.wilson import wilson_share

Reason = Literal["no_label", "no_truth", "flagged_unlabelled", "unflagged_unlabelled", "no_truth_where_looked"]
"""`no_label`: nothing labelled. `no_truth`: labels, but none with the entity. `flagged_unlabelled`,
`unflagged_unlabelled`: there are such documents, and no label of one in languages that hold more than a hundredth of
them. `no_truth_where_looked`: true occurrences in unflagged documents only."""


class PopulationRecall(NamedTuple):
    """Recall over the traffic; what has no value is None, and `reason` says why."""

    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    where_looked: Interval | None = None
    """R_F: recall in documents that any tool flagged; never the headline."""
    n_eff: float | None = None
    """Independent occurrences that would say as much about R_F."""
    unflagged_width_share: float | None = None
    """1 - (width without/width)², in [0, 1]: by how much the squared log-width would shrink if M were known."""
    halving_random_rate: float | None = None
    """The random rate at which the part of the log-width that M alone makes would be half as wide."""
    reason: Reason | None = None


def population_recall(strata: Sequence[StratumSample], confidence: float = 0.95) -> PopulationRecall:
    """Return the recall of one cell between its factored limits.

    Parameters: `strata`, disjoint rows of one cell in any order; a roll-up is just more rows. `confidence` is
    two-sided, in (0, 1).

    Returns `0 <= lower <= estimate <= upper <= 1`. Without true occurrences in flagged documents there is no interval.
    The reason is None exactly where there is one.

    >>> from monitor.estimators.sample import Design, Moments
    >>> hits, misses = Moments(112, 0, *[112] * 12), Moments(6, 6, 0, 0, 6, 0, 0, 6, 0, 0, 6, 0, 0, 6)
    >>> flagged = Design(200 / 4_100, 200, 200, hits.plus(misses))
    >>> blind = Design(200 / 380_000, 200, 200, Moments(4, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4))
    >>> cell = StratumSample("en", "both", 4_100, (flagged,)), StratumSample("en", "unflagged", 380_000, (blind,))
    >>> population_recall(cell)[:3]
    (0.2291..., 0.1025..., 0.5132...)
    """
    strata = unite(strata)
    rows = weigh(strata)
    if not rows:
        return PopulationRecall(reason="no_label")
    if not any(row.parts for row in rows):
        return PopulationRecall(reason="no_truth")
    if has_unlabelled(strata, flagged=True):
        return PopulationRecall(reason="flagged_unlabelled")
    flagged = [row for row in rows if row.flagged]
    looked = ratio_of(flagged)
    if looked is None:
        return PopulationRecall(estimate=0.0, reason="no_truth_where_looked")
    n_eff = _effective_number(flagged, looked)
    quantile = -float(stdtrit(max(looked.clusters - 1, 1.0), (1 - confidence) / 2))
    where_looked = wilson_share(looked.share, n_eff, quantile)
    if has_unlabelled(strata, flagged=False):
        return PopulationRecall(where_looked=where_looked, n_eff=n_eff, reason="unflagged_unlabelled")
    return _factored(rows, where_looked, n_eff, confidence)


def _effective_number(flagged: Sequence[Weighted], looked: Ratio) -> float:
    """Return n_eff of R_F, at most the labelled occurrences, and at most the clusters where V knows too little."""
    moments = [m for row in flagged for _, _, m in row.parts]
    most = float(sum([m.y for m in moments]))
    if sum([m.with_miss for m in moments]) < 5 or looked.variance <= 1e-12:
        # else one miss, whose V is tiny, would give a higher lower limit than none
        most = min(most, looked.clusters)
    if looked.variance <= 1e-12:
        return most
    return min(looked.share * (1 - looked.share) / looked.variance, most)


def _factored(rows: Sequence[Weighted], where_looked: Interval, n_eff: float, confidence: float) -> PopulationRecall:
    occurrences = size_of_jump(rows)
    unseen = unseen_total(rows, occurrences)
    missed = unseen.limits(confidence)
    total = _flagged_total(rows, occurrences, confidence)
    recall = mover.product_of_shares(where_looked, _reached(missed, total))
    had_it_been_known = mover.product_of_shares(where_looked, _reached(known(missed.estimate), total))
    return PopulationRecall(
        *recall,
        where_looked,
        n_eff,
        _width_share(recall, had_it_been_known),
        halving_rate(unseen, missed, total.estimate, confidence),
    )


def _flagged_total(rows: Sequence[Weighted], occurrences: float, confidence: float) -> Interval:
    """Return F between its gamma limits; its finite population shows, as it's often sampled at a high rate."""
    flagged = [row for row in rows if row.flagged]
    total = sum([w * m.y for row in flagged for w, _, m in row.parts])
    if all(row.whole for row in flagged):
        return known(total)
    variance = sum([(1 - p * row.completeness) * w * w * m.yy for row in flagged for w, p, m in row.parts])
    return gamma_limits(total, variance, max([row.largest for row in flagged]) * occurrences, confidence)


def _reached(missed: Interval, flagged: Interval) -> Interval:
    """Return g = 1/(1 + M/F) between its limits."""
    ratio = mover.ratio(missed, flagged)
    return Interval(1 / (1 + ratio.estimate), 1 / (1 + ratio.upper), 1 / (1 + ratio.lower))


def _width_share(recall: Interval, had_it_been_known: Interval) -> float | None:
    if recall.lower == 0 or had_it_been_known.lower == 0:
        return None
    width = log(recall.upper) - log(recall.lower)
    without = log(had_it_been_known.upper) - log(had_it_been_known.lower)
    return min(max(1 - (without / width) ** 2, 0.0), 1.0) if width else 0.0
