"""What two independent searches both missed, from what each found of the other's: capture and recapture.

Of the n₂ occurrences that the second found, the first found m too: r₁ = m/n₂ is its recall, if the second's finds are
to the first no easier than any others. Likewise r₂ = m/n₁; both missed (1 - r₁)(1 - r₂) of all there was, and in all
there were n₁n₂/m.

OPTIMISTIC. That "if" fails in one direction: what is hard for one search is hard for the other, they then overlap more
than independent ones would, and both recalls read too high. So it is with two detectors, above all when they learnt
from the same text; less with two people who read blind. The gap between this recall and one from labels is the
blindness that the two share. It's a figure to stand beside the estimate, never in its place. What one of them marks
wrongly errs the other way: it counts among n₂, and nobody could have found it.

r₁ is a ratio over documents, weighted by design: linearised variance V = Σ (w (b - r₁ y)/Ŷ)² with b found by both and
y by the second in a document, Ŷ = Σ w y; limits by Wilson with n_eff = r₁(1-r₁)/V, at most the occurrences y, and
Student's quantile at n_c - 1, n_c = (Σ w y)²/Σ w²y². With misses in fewer than five documents V knows too little, and
n_eff is at most n_c. There's no correction for leverage as in the recall from labels: what these limits leave out,
shared blindness, is far larger.

With few recaptures n₁n₂/m is biased, upwards, without limit at m = 0. From m = 7 on the bias is small; below, it's
Chapman's (n₁+1)(n₂+1)/(m+1) - 1, unbiased where n₁ + n₂ is at least the number there is. It's for counts, not for
weighted sums: for two detectors, which run on every document.

Sources: G. A. F. Seber, The Estimation of Animal Abundance (1982), 3.1. D. G. Chapman, Some properties of the
hypergeometric distribution with applications to zoological sample censuses (1951). D. S. Robson and H. A. Regier,
Sample size in Petersen mark-recapture experiments, Trans. Am. Fisheries Society 93 (1964) 215-226, for the 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scipy.special import stdtrit

from monitor.estimators.captures import Captures
from monitor.estimators.sample import Interval
from monitor.estimators.wilson import wilson_share

ENOUGH_RECAPTURES = 7
"""From so many occurrences that both found the Lincoln-Petersen total needs no correction."""
_FEW_DOCUMENTS = 5


class SearchedTwice(NamedTuple):
    """The documents with one inclusion probability that both searched; 1 where they search every document."""

    probability: float
    captures: Captures


class Recapture(NamedTuple):
    """What two searches say about each other, each share between its limits; optimistic, as the module says."""

    first: Interval | None
    """Recall of the first, m/n₂; None where the second found nothing."""
    second: Interval | None
    missed_by_both: Interval | None
    """Share of all there was; None where either recall is. Its limits hold both recalls' at once (Bonferroni)."""
    n_eff: tuple[float | None, float | None]
    """Independent occurrences that would say as much about either recall."""
    captures: Captures
    """Unweighted sums."""


class DetectorRecall(NamedTuple):
    """Lincoln-Petersen recall of the first of two detectors. Optimistic: they share blindness."""

    recall: Interval
    total: float
    """Occurrences there were, by the same estimate."""
    corrected: bool
    """Chapman's correction was taken: fewer than seven occurrences were found by both."""
    n_eff: float


def recapture(parts: Iterable[SearchedTwice], confidence: float = 0.95) -> Recapture:
    """Return what two searches found of each other's finds and what both missed, weighted by 1/π.

    Assumes that they search independently; where they don't, all of it is optimistic.

    Parameters: `parts`, disjoint in documents, in any order; several of one probability add. `confidence` is two-sided,
    in (0, 1). Raises ValueError for a probability outside (0, 1], sums that can't be, or a confidence that is none.

    >>> found = recapture([SearchedTwice(1.0, Captures(80, 60, 48, 12, 32, 48, 48, 48, 80, 60))])
    >>> found.first, found.missed_by_both
    (Interval(estimate=0.8, lower=0.67..., upper=0.88...), Interval(estimate=0.07..., lower=0.03..., upper=0.17...))
    """
    tail = _tail(confidence)
    weighted = _weigh(parts)
    exchanged = [(w, c.exchanged()) for w, c in weighted]
    one, other = _recall(weighted), _recall(exchanged)
    missed = None
    if one and other:
        r1, r2 = _limits(one, tail / 2), _limits(other, tail / 2)
        missed = Interval(*((1 - a) * (1 - b) for a, b in ((r1[0], r2[0]), (r1[2], r2[2]), (r1[1], r2[1]))))
    return Recapture(
        _limits(one, tail) if one else None,
        _limits(other, tail) if other else None,
        missed,
        (one.n_eff if one else None, other.n_eff if other else None),
        Captures(*(sum(column) for column in zip(Captures(), *(c for _, c in weighted), strict=True))),
    )


def lincoln_petersen(captures: Captures, confidence: float = 0.95) -> DetectorRecall | None:
    """Return the OPTIMISTIC recall of the first of two detectors that ran on every document.

    Assumes that the detectors miss independently, which they don't: what both are blind to isn't in it. To be published
    as "optimistic", beside the recall from labels; the gap is what they share.

    Parameters: `captures` summed over all documents, unweighted; `confidence` two-sided, in (0, 1).

    Returns None where the second found nothing: there's nothing to recapture. Limits are those of m/n₂, widened to the
    estimate where Chapman's correction moved it out. Raises ValueError as `recapture` does.

    >>> seen = Captures.of(3, 4, 2).plus(Captures.of(1, 1, 1))
    >>> lincoln_petersen(seen)
    DetectorRecall(recall=Interval(estimate=0.615..., ...), total=6.5, corrected=True, n_eff=...)
    """
    tail = _tail(confidence)
    weighted = _weigh([SearchedTwice(1.0, captures)])
    found = _recall(weighted)
    if found is None:
        return None
    recall = _limits(found, tail)
    first, second, both = captures[:3]
    if both >= ENOUGH_RECAPTURES:
        return DetectorRecall(recall, first * second / both, corrected=False, n_eff=found.n_eff)
    total = chapman_total(first, second, both)
    estimate = first / total
    widened = Interval(estimate, min(recall.lower, estimate), max(recall.upper, estimate))
    return DetectorRecall(widened, total, corrected=True, n_eff=found.n_eff)


def chapman_total(first: int, second: int, both: int) -> float:
    """Return Chapman's estimate of how many there were, finite where nothing was recaptured.

    Raises ValueError where both found more than one of them did.

    >>> chapman_total(9, 5, 4)
    11.0
    """
    if not 0 <= both <= min(first, second):
        raise ValueError(f"both found {both}, one found {first}, the other {second}")
    return (first + 1) * (second + 1) / (both + 1) - 1


class _Ratio(NamedTuple):
    share: float
    n_eff: float
    clusters: float


def _recall(weighted: Sequence[tuple[float, Captures]]) -> _Ratio | None:
    """Return the first's recall among what the second found, with what its limits need."""
    total = sum([w * c.second for w, c in weighted])
    if not total:
        return None
    misses = sum([w * (c.second - c.both) for w, c in weighted])
    share = sum([w * c.both for w, c in weighted]) / total if misses else 1.0
    variance = squares = 0.0
    for w, c in weighted:
        scale = w / total
        variance += scale * scale * _residuals(c, share, misses / total)
        squares += scale * scale * c.yy2
    most = float(sum(c.second for _, c in weighted))
    if sum(c.missed_by_first for _, c in weighted) < _FEW_DOCUMENTS or variance <= 1e-12:
        most = min(most, 1 / squares)
    return _Ratio(share, min(share * (1 - share) / variance, most) if variance > 1e-12 else most, 1 / squares)


def _residuals(c: Captures, share: float, missed: float) -> float:
    """Return Σ (b - r y)², in misses where they are the fewer: squares that nearly cancel lose their digits."""
    if share > missed:
        return c.bb - 2 * c.b2 + c.yy2 - missed * (2 * (c.yy2 - c.b2) - missed * c.yy2)
    return c.bb - share * (2 * c.b2 - share * c.yy2)


def _limits(recall: _Ratio, tail: float) -> Interval:
    return wilson_share(recall.share, recall.n_eff, -float(stdtrit(max(recall.clusters - 1, 1.0), tail)))


def _tail(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} isn't in (0, 1)")
    return (1 - confidence) / 2


def _weigh(parts: Iterable[SearchedTwice]) -> list[tuple[float, Captures]]:
    """Return the sums of each probability with its weight, relative to the heaviest: no figure here has a scale."""
    found: dict[float, Captures] = {}
    for probability, captures in parts:
        if not 0 < probability <= 1:
            raise ValueError(f"inclusion probability {probability} isn't in (0, 1]")
        if min(captures) < 0 or captures.both > min(captures.first, captures.second):
            raise ValueError(f"captures that can't be: {tuple(captures)}")
        found[probability] = found.get(probability, Captures()).plus(captures)
    rates = sorted(found)
    return [(rates[0] / p, found[p]) for p in rates]
