"""What labels that aren't in could still change: the band between "all pending are found" and "all are missed".

Misses take longer to label than hits, so a reading of the labels that are in is too high: .926 was measured for a true
.900. Every estimate takes missing labels as missing at random within a stratum, and an interval doesn't know better.
The band says what that assumption is worth. A drawn document without a label is pending, whether its task is open,
overdue or skipped: a skipped task is a missing label, not an empty one.

A stratum stands for Y true occurrences, T of them found: population recall's own sums. A drawn document stands for 1/π
documents, pending or not, so the share c = (Σ 1/π over labelled documents) / (Σ 1/π over drawn ones) of both is known,
the rest pending. How many occurrences the pending documents hold is taken from the labelled ones of their stratum: the
tallies don't say what the detector found in documents without a label. What the band varies is how many of those were
found:

* all missed: Σ c T / Σ Y;
* all found: (Σ c T + (1 - c) Y) / Σ Y over the flagged strata. In an unflagged document nothing can be found, by
  definition; there the best case is that the pending ones hold nothing, and its Y is c Y.

Documents of a stratum that was drawn from and has no label stand with the strata that population recall pools them
with, wholly pending. With every label in, both ends are population recall's estimate.

It isn't a confidence interval, it stands beside one: it varies who was found, not how many there are. Pending documents
that hold more than the labelled ones could move recall beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.estimators.post_stratification import Weighted, has_unlabelled, weigh
from monitor.estimators.sample import StratumSample
from monitor.estimators.union import unite
from monitor.records import STRATA, Stratum


class Completeness(NamedTuple):
    """How much of a stratum's sample is labelled."""

    stratum: Stratum
    sampled: int
    labelled: int

    @property
    def pending(self) -> int:
        """Drawn documents without a label: open, overdue or skipped."""
        return self.sampled - self.labelled

    @property
    def ratio(self) -> float | None:
        """Labelled / sampled, in [0, 1]; None where none was drawn."""
        return self.labelled / self.sampled if self.sampled else None


class PendingBand(NamedTuple):
    """Recall if the pending labels say the worst and the best; `0 <= all_missed <= as_labelled <= all_found <= 1`."""

    all_missed: float
    as_labelled: float
    """Population recall's estimate: pending documents are like the labelled ones of their stratum."""
    all_found: float
    pending: int
    """Drawn documents without a label."""


def completeness(strata: Sequence[StratumSample]) -> tuple[Completeness, ...]:
    """Return labelled / sampled by stratum, languages together; strata that aren't given are left out.

    Raises ValueError for a design that can't be.

    >>> from monitor.estimators.sample import Design, Moments
    >>> rows = [StratumSample(language, "both", 90, (Design(0.1, 9, 6, Moments()),)) for language in ("en", "nl")]
    >>> [(row.stratum, row.pending, row.ratio) for row in completeness(rows)]
    [('both', 6, 0.666...)]
    """
    united = unite(strata)
    found = []
    for stratum in STRATA:
        rows = [row for row in united if row.stratum == stratum]
        if rows:
            found.append(Completeness(stratum, sum(row.sampled for row in rows), sum(row.labelled for row in rows)))
    return tuple(found)


def pending_band(strata: Sequence[StratumSample]) -> PendingBand | None:
    """Return the band of one cell's recall that its pending documents make.

    Parameters: `strata`, disjoint rows of one cell in any order; a roll-up is just more rows.

    Returns None where population recall has no estimate: nothing labelled, no true occurrence in a labelled document,
    or no label for more flagged (unflagged) documents than may be pooled. Raises ValueError for a design that can't be.

    >>> from monitor.estimators.sample import Design, Moments
    >>> flagged = Design(1.0, 100, 80, Moments.of(1, 1).plus(Moments.of(0, 1)))
    >>> blind = Design(1.0, 10, 10, Moments())
    >>> cell = StratumSample("en", "both", 100, (flagged,)), StratumSample("en", "unflagged", 10, (blind,))
    >>> pending_band(cell)
    PendingBand(all_missed=0.4, as_labelled=0.5, all_found=0.6, pending=20)
    """
    strata = unite(strata)
    rows = weigh(strata)
    true = sum([_occurrences(row) for row in rows])
    if not true or has_unlabelled(strata, flagged=True):
        return None
    if has_unlabelled(strata, flagged=False) and any(_occurrences(row) for row in rows if row.flagged):
        return None  # else recall is 0 whatever nobody has looked at
    # what a row stands for if the strata that are wholly pending are taken out: the difference is theirs
    known = {row.sample: row for row in weigh([row for row in strata if row.labelled or not row.sampled])}
    shares = [_share_known(row, known[row.sample]) for row in rows]
    found = sum([_found(row) for row in rows])
    found_known = sum([_found(row) * share for row, share in zip(rows, shares, strict=True)])
    open_flagged = sum([_occurrences(r) * (1 - s) for r, s in zip(rows, shares, strict=True) if r.flagged])
    open_unflagged = sum([_occurrences(r) * (1 - s) for r, s in zip(rows, shares, strict=True) if not r.flagged])
    estimate = found / true
    best = (found_known + open_flagged) / (true - open_unflagged)
    pending = sum(row.sampled - row.labelled for row in strata)
    # rounding must not take an end past the estimate
    return PendingBand(min(found_known / true, estimate), estimate, min(max(best, estimate), 1.0), pending)


def _share_known(row: Weighted, known: Weighted) -> float:
    """Return the share of the documents that a row stands for which its labels stand for by themselves, in (0, 1]."""
    drawn = sum([d.sampled / d.probability for d in row.sample.designs])
    labelled = sum([d.labelled / d.probability for d in row.sample.designs])
    return min(labelled / drawn * (known.represented / row.represented), 1.0)


def _occurrences(row: Weighted) -> float:
    return sum([w * m.y for w, _, m in row.parts])


def _found(row: Weighted) -> float:
    """Return the weighted number found: none in an unflagged document, by definition of the stratum."""
    return sum([w * m.t for w, _, m in row.parts]) if row.flagged else 0.0
