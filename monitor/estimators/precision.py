"""Precision: of what the detector flagged, what share was right; in the traffic, and at a prevalence not seen yet.

**From labels.** With d detected spans in a document, c of them right, precision is Σ w c / Σ w d: recall where any tool
looked with the roles exchanged (detected for true, right for found), and its interval is made by the same function, so
the two can't drift apart. Detected spans are in documents that the detector flagged and nowhere else. So the other
strata are left out *before* weighting: else the documents of a stratum without a label would be given to one in which
nothing is ever detected, and would count for nothing.

ROUTE's census of the detected spans D and of their documents X has no use here: Σ w c / Σ w d is the ratio estimator
with d as its variate already. Measured as in `monitor.estimators.control_variate`: a regression on d and 1[d>0] changes
the standard error to .96 times (median of 130 cells; under .9 in 18 % of them, above 1 in 11 %, 1.31 where few spans
are labelled), and Σ w c / D makes it 1.65 times, as it throws away what numerator and denominator share.

**At a prevalence.** A rate on an evaluation set, where every second document has the entity, isn't the rate in traffic
where one in a hundred has it. Of documents at prevalence π a detector with recall r and false-positive rate f flags
π r + (1-π) f, and π r of them rightly (Bayes): precision is their quotient. Recall and f stay as they are only if
the documents *with* the entity, and those without, are alike in both places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Literal, NamedTuple

from monitor.estimators.recall import Reason as RecallReason
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Interval, StratumSample
from monitor.records import Stratum

DETECTED: tuple[Stratum, ...] = ("both", "detector_only")
"""Strata of the documents in which the detector flagged anything."""

Reason = Literal["no_label", "nothing_detected", "detected_unlabelled"]
"""`no_label`: no document that the detector flagged is labelled. `nothing_detected`: some are, none with a detected
span of the entity. `detected_unlabelled`: languages that hold more than a hundredth of them have no label of one."""

_REASONS: Mapping[RecallReason | None, Reason | None] = {
    None: None,
    "no_label": "no_label",
    "no_truth": "nothing_detected",
    "flagged_unlabelled": "detected_unlabelled",
}


class Precision(NamedTuple):
    """Precision over the traffic, with the unweighted counts that it rests on."""

    limits: Interval | None
    """None where `reason` says why."""
    n_eff: float | None
    """Independent detected spans that would say as much."""
    right: int
    """Right spans among the detected ones, in labelled documents."""
    detected: int
    """Detected spans in labelled documents."""
    documents: int
    """Labelled documents with a detected span."""
    reason: Reason | None


class AtPrevalence(NamedTuple):
    """What is flagged at a prevalence, as shares of all documents; precision is the quotient of the two."""

    precision: float | None
    """None where nothing is flagged."""
    right: float
    """π r: flagged, and with the entity."""
    flagged: float
    """π r + (1-π) f."""


class Reviews(NamedTuple):
    """A day's flagged documents against what people can read; expected numbers."""

    per_day: float
    right_per_day: float
    short_per_day: float
    """Documents above capacity; 0 where it suffices."""


def precision(strata: Sequence[StratumSample], confidence: float = 0.95) -> Precision:
    """Return the precision of the detector in one cell, as a design-weighted ratio of totals between its limits.

    Assumptions: as for R_F in `monitor.estimators.recall`; a labelled document shows each detected span right or wrong.

    Parameters: `strata`, disjoint rows of one cell in any order, whose moments hold t = right and y = detected spans
    (`Moments.of(right, detected)`); a roll-up is just more rows. Strata without detected spans are left out by itself.
    `confidence` is two-sided, in (0, 1).

    Returns limits of None where there are no data, with the reason.

    >>> from monitor.estimators.sample import Design, Moments
    >>> right, wrong = Moments(90, 0, *[90] * 12), Moments(10, 10, 0, 0, 10, 0, 0, 10, 0, 0, 10, 0, 0, 10)
    >>> precision([StratumSample("en", "both", 4_000, (Design(0.05, 200, 200, right.plus(wrong)),))])[:2]
    (Interval(estimate=0.9, lower=0.8236..., upper=0.9454...), 98.01...)
    """
    detected = [row for row in strata if row.stratum in DETECTED]
    moments = [design.moments for row in detected for design in row.designs]
    looked = population_recall(detected, confidence)
    return Precision(
        looked.where_looked,
        looked.n_eff,
        sum([m.t for m in moments]),
        sum([m.y for m in moments]),
        sum([m.with_entity for m in moments]),
        _REASONS[looked.reason],
    )


def precision_at(prevalence: float, recall: float, false_positive_rate: float) -> AtPrevalence:
    """Return precision where a share `prevalence` of the documents has the entity.

    Assumptions: recall and false-positive rate are the same as where they were measured; both are of documents.

    Parameters, all in [0, 1]: `recall` r, the share of documents with the entity that are flagged;
    `false_positive_rate` f, the share of documents without it that are.

    Returns a precision of None where nothing is flagged. Raises ValueError for what isn't a share.

    One detector, r = .8 and f = .01, where every second document has the entity and where one in a hundred has:

    >>> precision_at(0.5, 0.8, 0.01).precision, precision_at(0.01, 0.8, 0.01).precision
    (0.98765..., 0.44692...)

    Source: Bayes; T. Bayes, An essay towards solving a problem in the doctrine of chances, Phil. Trans. 53 (1763).
    """
    if not all(0 <= share <= 1 for share in (prevalence, recall, false_positive_rate)):
        raise ValueError(
            f"prevalence {prevalence}, recall {recall}, false-positive rate {false_positive_rate}: "
            "each is a share in [0, 1]"
        )
    right = prevalence * recall
    flagged = right + (1 - prevalence) * false_positive_rate
    return AtPrevalence(right / flagged if flagged else None, right, flagged)


def false_positive_rate(prevalence: float, recall: float, measured: float) -> float:
    """Return f of a detector whose precision was `measured` on documents of a known prevalence: `precision_at` solved.

    Parameters: `prevalence` in (0, 1), `recall` r in [0, 1], `measured` precision in (0, 1].

    Raises ValueError for what is out of range, and where no f <= 1 gives that precision.

    >>> false_positive_rate(0.5, 0.8, 80 / 81)
    0.01...
    """
    if not (0 < prevalence < 1 and 0 <= recall <= 1 and 0 < measured <= 1):
        raise ValueError(
            f"prevalence {prevalence} in (0, 1), recall {recall} in [0, 1], precision {measured} in (0, 1]"
        )
    rate = prevalence * recall * (1 - measured) / (measured * (1 - prevalence))
    if rate > 1:
        raise ValueError(f"precision {measured} is below what flagging every document gives")
    return rate


def reviews(at: AtPrevalence, documents_per_day: float, capacity_per_day: float) -> Reviews:
    """Return how many documents a day are flagged for review, and how many of them nobody has time for.

    Parameters: `documents_per_day` and `capacity_per_day`, finite and >= 0. Raises ValueError for others.

    r = .8 and f = .01 at 1 % of 10,000 documents a day: 179 to read, 80 of them right, 79 more than can be read.

    >>> reviews(precision_at(0.01, 0.8, 0.01), 10_000, 100)
    Reviews(per_day=179.0, right_per_day=80.0, short_per_day=79.0)
    """
    if not (0 <= documents_per_day < inf and 0 <= capacity_per_day < inf):
        raise ValueError(f"{documents_per_day} documents a day, capacity {capacity_per_day}: finite and at least 0")
    per_day = documents_per_day * at.flagged
    return Reviews(per_day, documents_per_day * at.right, max(per_day - capacity_per_day, 0.0))
