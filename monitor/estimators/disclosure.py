"""Disclosure: personal data that can still be read in redacted outputs, whether it was missed or leaks.

With y true occurrences in a document and r of them readable in its output: occurrences in 1,000 documents with an
output, 1000 · Σ w r / N; documents with any, Σ w·1[r>0] / N; and of all true occurrences the share that can be read,
Σ w r / Σ w y. N is the census of the outputs, by stratum.

* Documents as in `estimators.prevalence`, readable occurrences being the entity.
* Occurrences in 1,000 documents likewise: weighted totals with gamma limits, stratum by stratum, summed by MOVER. But
  into the size of a jump goes half a document more, which shows all of a typical document's true occurrences. Where
  most outputs show one at most, and one in three hundred was never redacted, these few hold what counts and are mostly
  not in the sample. In the worst of seven nodes (8 occurrences a document, 1,600 labels, 600 streams) both limits held
  .75 without that half, and .998 with it, 1.4 times as high; in all of them .975 with it. Where nothing readable was
  seen it alone says how large what wasn't may be.
* The share is what `estimators.recall` leaves, hidden occurrences being the found ones.

Assumptions: those of `estimators.recall`. What outputs hide in documents that no tool flagged doesn't count as hidden
in the share, which may be too high for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.estimators import mover
from monitor.estimators.fay_feuer import gamma_limits
from monitor.estimators.post_stratification import Weighted, size_of_jump, weigh
from monitor.estimators.prevalence import prevalence
from monitor.estimators.recall import Reason, population_recall
from monitor.estimators.sample import Interval, StratumSample
from monitor.estimators.union import unite

_MORE = 0.5
"""Documents that a jump's size reckons with besides those seen."""


class DisclosureLimits(NamedTuple):
    """What outputs show between limits, with the unweighted counts that it rests on."""

    documents: Interval | None
    """Share of the documents with an output that show anything true, in [0, 1]."""
    per_1000: Interval | None
    """The disclosure rate: true occurrences that can be read, in 1,000 documents with an output."""
    share: Interval | None
    """Of the true occurrences, those that can be read; None where `reason` says why."""
    showing: int
    """Labelled documents whose output shows any."""
    readable: int
    """True occurrences that can be read, in labelled documents."""
    true: int
    reason: Reason | None


def disclosure(
    readable: Sequence[StratumSample], hidden: Sequence[StratumSample], confidence: float = 0.95
) -> DisclosureLimits:
    """Return what outputs show of one cell's entity, between limits.

    Parameters: disjoint rows of one cell in any order, of the documents with an output alone; the moments of `readable`
    hold r twice (`Moments.of(r, r)`), those of `hidden` what is hidden of what's true (`Moments.of(y - r, y)`).
    `confidence` is two-sided, in (0, 1).

    Returns None in place of both rates where `prevalence` does: without a label, or without one of a kind.

    Three hundred labelled outputs of 6,000, none of which shows anything of the two true occurrences in every third:

    >>> from monitor.estimators.sample import Design, Moments
    >>> two = Moments(*[100 * n for n in Moments.of(2, 2)])
    >>> shown, covered = (StratumSample("en", "both", 6_000, (Design(0.05, 300, 300, m),)) for m in (Moments(), two))
    >>> disclosure([shown], [covered])[1:3]
    (Interval(estimate=0.0, lower=0.0, upper=24.5...), Interval(estimate=0.0, lower=0.0, upper=0.03...))
    """
    found = prevalence(readable, confidence)
    looked = population_recall(hidden, confidence)
    share = None
    if looked.estimate is not None and looked.lower is not None and looked.upper is not None:
        share = Interval(1 - looked.estimate, 1 - looked.upper, 1 - looked.lower)
    return DisclosureLimits(
        found.documents,
        None if found.per_1000 is None else _per_1000(weigh(unite(readable)), weigh(unite(hidden)), confidence),
        share,
        found.with_entity,
        found.occurrences,
        sum([design.moments.y for row in hidden for design in row.designs]),
        looked.reason,
    )


def _per_1000(rows: Sequence[Weighted], true: Sequence[Weighted], confidence: float) -> Interval:
    jump = _size_of_jump(rows, size_of_jump(true))
    size = sum([row.represented for row in rows]) / 1000
    total = mover.total([_readable(row, jump, confidence) for row in rows])
    # MOVER subtracts: rounding may take a lower limit of 0 just below it
    return Interval(total.estimate / size, max(total.lower / size, 0.0), total.upper / size)


def _size_of_jump(rows: Sequence[Weighted], typical: float) -> float:
    """Return Σr²/Σr of the labelled documents and a part of another one that shows `typical` occurrences."""
    moments = [m for row in rows for _, _, m in row.parts]
    squares, occurrences = sum([m.yy for m in moments]), sum([m.y for m in moments])
    return (squares + _MORE * typical * typical) / (occurrences + _MORE * typical)


def _readable(row: Weighted, jump: float, confidence: float) -> Interval:
    total = sum([w * m.y for w, _, m in row.parts])
    variance = sum([w * w * m.yy for w, _, m in row.parts])
    return gamma_limits(total, variance, row.largest * jump, confidence)
