"""Whether two readings of a text mark the same spans, and how well their boundaries agree.

Spans of one entity are paired one to one, best overlap first, as a detector's are with labels (`monitor.matching`).
One rule differs: neither reading is the truth, so ties go to the pair whose earlier span, then whose later span, comes
first, whoever marked which. Who reads first can't change a number. F1 = 2m/(n₁+n₂) of m pairs among n₁ and n₂ spans;
the boundary agreement is the mean IoU of the pairs. Text that nobody marked enters neither: 99 % of it is nothing.

The sums are whole numbers, so that they add, subtract and merge exactly. An IoU is kept in units of 2^-32, rounded once
a pair (1.2e-10, which leaves nine digits of a mean) before anything is added. Sums of shared and of united characters
would be whole numbers too, but their quotient isn't the mean: one long address would outweigh ten names. A row's number
stays under 2^63 up to two thousand million pairs.

Spans come with white space trimmed off their edges, their entities folded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from monitor.matching import (
    Extent,
    _overlapping,  # the same candidates, so that the two pairings can't drift apart
    unique,
)

IOU_UNIT = 1 << 32
"""An IoU of 1 in `SpanCounts.iou`."""


class SpanCounts(NamedTuple):
    """Spans of one entity in any number of doubly read documents; whole numbers."""

    first: int = 0
    """Spans of the first reading."""
    second: int = 0
    matched: int = 0
    """Pairs."""
    iou: int = 0
    """Sum over the pairs, in units of 2^-32."""

    def plus(self, other: SpanCounts) -> SpanCounts:
        """Return the counts of two disjoint sets of documents."""
        return SpanCounts(*(a + b for a, b in zip(self, other, strict=True)))


class SpansReadTwice(NamedTuple):
    """The spans in the documents with one inclusion probability that have two blind readings."""

    probability: float
    counts: SpanCounts


class SpanAgreement(NamedTuple):
    """How two readings' spans agree, weighted by design, beside the unweighted counts."""

    f1: float | None
    """In [0, 1]; None where nobody marked a span."""
    mean_iou: float | None
    """Of matched spans, in [the threshold, 1]; None where none is matched."""
    counts: SpanCounts


def paired(first: Sequence[Extent], second: Sequence[Extent], iou: float) -> list[tuple[int, int]]:
    """Return the indices of the spans that one-to-one, best-first pairing puts together.

    Both must come from `unique`; `iou` in (0, 1] is the least overlap of a pair. With the readings exchanged the same
    spans are paired.

    >>> paired([Extent(0, 10, "A")], [Extent(0, 8, "A"), Extent(1, 10, "A")], 0.45)
    [(0, 1)]
    """
    candidates = sorted(
        (ratio, min(first[i], second[j]), max(first[i], second[j]), i, j)
        for ratio, _, _, i, j in _overlapping(first, second, iou)
    )
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, _, i, j in candidates:
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return list(pairs.items())


def count_spans(first: Iterable[Extent], second: Iterable[Extent], iou: float = 0.45) -> dict[str, SpanCounts]:
    """Return what two readings of one document add, by entity; an entity that neither marked isn't there.

    Parameters: spans in any order, identical ones once or more; `iou` as for `paired`.

    >>> count_spans([Extent(0, 4, "A"), Extent(9, 12, "B")], [Extent(0, 8, "A")])
    {'A': SpanCounts(first=1, second=1, matched=1, iou=2147483648), 'B': SpanCounts(first=1, ...)}
    """
    if not 0 < iou <= 1:
        raise ValueError(f"IoU {iou} isn't in (0, 1]")
    one, other = unique(first), unique(second)
    marked, marked_too = Counter(span.entity for span in one), Counter(span.entity for span in other)
    matched: Counter[str] = Counter()
    overlap: Counter[str] = Counter()
    for i, j in paired(one, other, iou):
        entity = one[i].entity
        matched[entity] += 1
        overlap[entity] += _in_units(one[i], other[j])
    return {
        entity: SpanCounts(marked[entity], marked_too[entity], matched[entity], overlap[entity])
        for entity in sorted(marked | marked_too)
    }


def span_agreement(parts: Iterable[SpansReadTwice]) -> SpanAgreement:
    """Return F1 and mean IoU of one entity's spans, weighted by 1/π.

    Parameters: `parts`, disjoint in documents, in any order; several of one probability add. Raises ValueError for a
    probability outside (0, 1] or counts that can't be.

    >>> span_agreement([SpansReadTwice(0.5, SpanCounts(4, 6, 4, 3 << 32))])[:2]
    (0.8, 0.75)
    >>> span_agreement([])[:2]
    (None, None)
    """
    found: dict[float, SpanCounts] = {}
    for probability, counts in parts:
        _check(probability, counts)
        found[probability] = found.get(probability, SpanCounts()).plus(counts)
    rates = sorted(found)
    # relative to the heaviest: neither figure has a scale
    weighted = [(rates[0] / p, found[p]) for p in rates]
    marked = sum([w * (c.first + c.second) for w, c in weighted])
    matched = sum([w * c.matched for w, c in weighted])
    overlap = sum([w * c.iou for w, c in weighted])
    total = SpanCounts(*(sum(column) for column in zip(SpanCounts(), *found.values(), strict=True)))
    return SpanAgreement(
        2 * matched / marked if marked else None,
        min(overlap / matched / IOU_UNIT, 1.0) if matched else None,
        total,
    )


def _in_units(a: Extent, b: Extent) -> int:
    """Return the IoU in units of 2^-32, rounded half up, without a float."""
    shared = min(a.end, b.end) - max(a.start, b.start)
    united = max(a.end, b.end) - min(a.start, b.start)
    return (2 * shared * IOU_UNIT + united) // (2 * united)


def _check(probability: float, counts: SpanCounts) -> None:
    if not 0 < probability <= 1:
        raise ValueError(f"inclusion probability {probability} isn't in (0, 1]")
    first, second, matched, iou = counts
    if not (0 <= matched <= min(first, second) and 0 <= iou <= matched * IOU_UNIT):
        raise ValueError(f"{matched} pairs of {first} and {second} spans, overlapping by {iou}")
