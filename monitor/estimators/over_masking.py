"""Over-masking: of what redacted outputs mask, the share that people say was no personal data. The price of recall.

With y masked graphemes in a labelled document, t of them in no label's span: Σ w t / Σ w y. That is precision turned
round, wrong for right and masked graphemes for detected spans, and made by the same functions, for documents that the
detector flagged anything in. What was masked in others, where a redactor knows more than its detector, is left out.

What is needless comes in lumps: a sentence, a page. Where the sample holds single words and no lump yet, its variance
knows of none, and the upper limit held .76 of 300 streams (a needless word in 500, a needless sentence in one document
of 300, 300 labels). So into the variance goes half a document more, of the effective size, that is needless whole. It
takes the effective number no lower than the effective clusters, and there the limit held all streams, 1.1 times as
high. A lower limit may still be somewhat high where one or two lumps are all there is (.937 in the worst node of 24).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from scipy.special import stdtrit

from monitor.estimators.linearisation import ratio_of
from monitor.estimators.post_stratification import weigh
from monitor.estimators.precision import DETECTED, precision
from monitor.estimators.precision import Reason as PrecisionReason
from monitor.estimators.sample import Interval, StratumSample
from monitor.estimators.union import unite
from monitor.estimators.wilson import wilson_share

_MORE = 0.5
"""Documents, needless whole, that the variance reckons with besides those seen."""
Reason = Literal["no_label", "nothing_masked", "detected_unlabelled"]
"""`no_label`: no document that the detector flagged is labelled. `nothing_masked`: some are, with nothing masked.
`detected_unlabelled`: languages that hold more than a hundredth of them have no label of one."""
_REASONS: Mapping[PrecisionReason | None, Reason | None] = {
    None: None,
    "no_label": "no_label",
    "nothing_detected": "nothing_masked",
    "detected_unlabelled": "detected_unlabelled",
}


class OverMaskingLimits(NamedTuple):
    """The needless share of what is masked, with the unweighted counts that it rests on."""

    limits: Interval | None
    """None where `reason` says why."""
    n_eff: float | None
    """Independent graphemes that would say as much."""
    needless: int
    """Graphemes of labelled documents."""
    masked: int
    documents: int
    """Labelled documents with anything masked."""
    reason: Reason | None


def over_masking(strata: Sequence[StratumSample], confidence: float = 0.95) -> OverMaskingLimits:
    """Return which share of the masked graphemes was no personal data, between limits.

    Assumptions: as for R_F in `monitor.estimators.recall`.

    Parameters: `strata`, disjoint rows in any order, of the documents with an aligned output, whose moments hold t =
    needless and y = masked graphemes (`Moments.of(needless, masked)`). `confidence` is two-sided, in (0, 1).

    Returns limits of None where there are no data, with the reason.

    >>> from monitor.estimators.sample import Design, Moments
    >>> one, rest = Moments.of(30, 40), Moments(*[99 * n for n in Moments.of(0, 40)])
    >>> over_masking([StratumSample("en", "both", 2_000, (Design(0.05, 100, 100, one.plus(rest)),))])[:2]
    (Interval(estimate=0.0075, lower=0.0010..., upper=0.0512...), 100.0)
    """
    found = precision(strata, confidence)
    counts = found.right, found.detected, found.documents
    looked = ratio_of(weigh(unite([row for row in strata if row.stratum in DETECTED])))
    if found.limits is None or found.n_eff is None or looked is None:
        return OverMaskingLimits(None, None, *counts, _REASONS[found.reason])
    n_eff, share = found.n_eff, looked.share
    variance = looked.variance + _MORE * ((1 - share) / looked.clusters) ** 2
    if variance:
        n_eff = min(n_eff, max(looked.clusters, share * (1 - share) / variance))
    quantile = -float(stdtrit(max(looked.clusters - 1, 1.0), (1 - confidence) / 2))
    return OverMaskingLimits(wilson_share(share, n_eff, quantile), n_eff, *counts, None)
