"""Weights: what each labelled document stands for, so that a stratum's weights add up to its census.

A labelled document of π stands for 1/π documents. Within (language, stratum) those numbers are scaled to the census
N_h: chance made the sample a little too large or small, and labels may be missing (taken as missing at random *within*
the stratum: completeness stands beside every reading). The weight of a document is scale/π.

Where a (language, stratum) has no label its census must go somewhere, or those documents would count as free of the
entity. It goes to the labelled rows that are most like it, in proportion to their own census, in this order:

1. a flagged stratum's, to the flagged strata of its language;
2. what still has no home is a language without a label of the kind (flagged, or unflagged). Where all such languages
   together hold at most a hundredth of the kind's documents, to the rows of that kind in the other languages;
3. else, or if there is no such row, the kind has no estimate, and `weigh` leaves those documents out; the estimators
   give a reason.

Why a hundredth. Rule 2 takes one language for another, which nothing in the sample supports: a large language that
nobody labelled would get an interval made of its neighbours' labels, and a detector that is blind in it would look
well. But with no such rule three documents of a language that came by once would take the headline from all the others.
At a hundredth a language must miss a hundred times as often as the others do, to double what was missed.

In proportion, not by throwing the documents into one post-stratum: there, a stratum with half of its labels in would
weigh half as much as its neighbours.

Source: D. Holt and T. M. F. Smith, Post stratification, JRSS A 142 (1979) 33-46.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from monitor.estimators.sample import Moments, StratumSample

POOLED_ONE_IN = 100
"""Languages without a label of a kind are pooled with the others up to one in so many of the kind's documents."""


class Weighted(NamedTuple):
    """One labelled (language, stratum) with its weights."""

    flagged: bool
    """Some tool flagged these documents."""
    sample: StratumSample
    parts: tuple[tuple[float, float, Moments], ...]
    """Weight, π and moments of each design that holds a document with the entity."""
    completeness: float
    """Labelled / sampled, in (0, 1]."""
    represented: float
    """Σ w: the census of this row, and its share of the rows that have no label."""
    largest: float
    """The largest weight that the design makes possible: 1 / (smallest π drawn with × completeness), and its share of
    the rows without labels. No label can change it: a miss that wasn't seen yet could weigh that much."""
    whole: bool
    """Every document was drawn with π = 1 and is labelled, and none stands for a row without labels: a census."""


def weigh(strata: Sequence[StratumSample]) -> tuple[Weighted, ...]:
    """Return the labelled rows of `unite(strata)`, weighted; empty where nothing is labelled.

    >>> from monitor.estimators.sample import Design
    >>> row, = weigh([StratumSample("nl", "both", 40, (Design(0.5, 18, 16, Moments.of(0, 1)),))])
    >>> row.parts[0][0], row.largest, row.represented
    (2.5, 2.25, 40.0)
    """
    labelled = [row.labelled for row in strata]
    represented = [float(row.census) if n else 0.0 for row, n in zip(strata, labelled, strict=True)]
    if not all(labelled):
        homeless = [row for row in strata if row.census and not row.labelled]
        homeless = [row for row in homeless if not _spread(row, strata, represented, _flagged_of_its_language)]
        for row in homeless:
            if not has_unlabelled(strata, flagged=is_flagged(row)):
                _spread(row, strata, represented, _same_kind)
    return tuple(_weighted(*part) for part in zip(strata, labelled, represented, strict=True) if part[1])


def weight_range(strata: Sequence[StratumSample]) -> tuple[float, float] | None:
    """Return the smallest and the largest designed weight 1/π over drawn documents; None where none was drawn.

    >>> from monitor.estimators.sample import Design
    >>> designs = Design(0.5, 3, 0, Moments()), Design(0.01, 1, 1, Moments()), Design(0.001, 0, 0, Moments())
    >>> weight_range([StratumSample("nl", "both", 40, designs)])
    (2.0, 100.0)
    """
    rates = [d.probability for row in strata for d in row.designs if d.sampled]
    return (1 / max(rates), 1 / min(rates)) if rates else None


def is_flagged(row: StratumSample) -> bool:
    """Tell whether any tool flagged the documents of this row."""
    return row.stratum != "unflagged"


def has_unlabelled(strata: Sequence[StratumSample], *, flagged: bool) -> bool:
    """Tell whether languages without a label of this kind hold more of its documents than may be pooled.

    So it is where there are such documents, and not one of them is labelled in any language. Exact at the limit: whole
    numbers are compared.

    >>> from monitor.estimators.sample import Design
    >>> labelled = StratumSample("nl", "unflagged", 990, (Design(0.5, 9, 9, Moments()),))
    >>> [has_unlabelled([labelled, StratumSample("fy", "unflagged", n, ())], flagged=False) for n in (10, 11)]
    [False, True]
    """
    rows = [row for row in strata if is_flagged(row) == flagged]
    labelled = {row.language for row in rows if row.labelled}
    without = sum([row.census for row in rows if row.language not in labelled])
    return without * POOLED_ONE_IN > sum([row.census for row in rows])


def size_of_jump(rows: Sequence[Weighted]) -> float:
    """Return Σy²/Σy over all labelled documents of the cell: occurrences in the document of a typical occurrence.

    A jump of a total of occurrences is one more document times its weight; documents hold several, and an occurrence
    tells of a document in proportion to how many it holds. 1 where nothing was seen. Unweighted: whole numbers.
    """
    moments = [m for row in rows for _, _, m in row.parts]
    y = sum([m.y for m in moments])
    return sum([m.yy for m in moments]) / y if y else 1.0


def _flagged_of_its_language(row: StratumSample, other: StratumSample) -> bool:
    return is_flagged(row) and is_flagged(other) and row.language == other.language


def _same_kind(row: StratumSample, other: StratumSample) -> bool:
    return is_flagged(row) == is_flagged(other)


def _spread(
    row: StratumSample,
    strata: Sequence[StratumSample],
    represented: list[float],
    alike: Callable[[StratumSample, StratumSample], bool],
) -> bool:
    """Give the row's documents to the labelled rows that are alike; tell whether there was one."""
    homes = [i for i, other in enumerate(strata) if other.labelled and alike(row, other)]
    size = sum(strata[i].census for i in homes)
    for i in homes:
        represented[i] += row.census * (strata[i].census / size)
    return bool(homes)


def _weighted(row: StratumSample, labelled: int, represented: float) -> Weighted:
    designs = row.designs
    scale = represented / sum([d.labelled / d.probability for d in designs])
    smallest = min([d.probability for d in designs if d.sampled])
    completeness = labelled / row.sampled
    return Weighted(
        is_flagged(row),
        row,
        tuple([(scale / d.probability, d.probability, d.moments) for d in designs if d.moments.with_entity]),
        completeness,
        represented,
        represented / row.census / (smallest * completeness),
        smallest == 1 and labelled == represented,
    )
