"""Found or missed: which labelled spans a detector's spans account for. Two readings, both kept.

*Matched*: same entity, one to one, IoU of at least the configured share, best overlap first; ties go to the lower
start, then the lower end, of the labelled span and then of the detected one. A detected span is spent once, so one
blob over two names can't be credited twice. *Masked*: every grapheme of the labelled span lies inside detected spans
of any entity. A grapheme is covered when all its code points are, so covering the span's code points is the same and
needs no text.

Both cost O(n log n) for spans that overlap few others, which is what text holds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """A span as matching sees it: `[start, end)` in code points, and the folded name of its entity."""

    start: int
    end: int
    entity: str


def unique(extents: Iterable[Extent]) -> list[Extent]:
    """Return the extents sorted, identical ones once: two recognisers that agree are one fact."""
    return sorted(set(extents))


def matched(truth: Sequence[Extent], found: Sequence[Extent], iou: float) -> set[int]:
    """Return the indices of `truth` that one-to-one, best-first matching pairs with a span of `found`.

    Both must come from `unique`.

    >>> a, b = Extent(0, 11, "PERSON"), Extent(13, 23, "PERSON")
    >>> matched([a, b], [Extent(0, 23, "PERSON")], 0.45)
    {0}
    """
    candidates = sorted(_overlapping(truth, found, iou))
    used_truth: set[int] = set()
    used_found: set[int] = set()
    for _, _, _, i, j in candidates:
        if i not in used_truth and j not in used_found:
            used_truth.add(i)
            used_found.add(j)
    return used_truth


def _overlapping(
    truth: Sequence[Extent], found: Sequence[Extent], iou: float
) -> Iterable[tuple[float, int, int, int, int]]:
    """Yield (−IoU, start, end, i, j) of every pair of one entity at or over the threshold."""
    by_entity: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for j, f in enumerate(found):
        by_entity[f.entity].append((f.start, f.end, j))
    longest = {entity: max(end - start for start, end, _ in spans) for entity, spans in by_entity.items()}
    for i, t in enumerate(truth):
        spans = by_entity.get(t.entity)
        if spans is None:
            continue
        size = t.end - t.start
        # IoU >= x needs a span at most 1/x as long, so one that starts further left can't reach
        reach = min(longest[t.entity], size / iou + 1)
        for start, end, j in spans[bisect_left(spans, (t.start - reach,)) :]:
            if start >= t.end:
                break
            shared = min(end, t.end) - max(start, t.start)
            if shared > 0 and (ratio := shared / (size + end - start - shared)) >= iou:
                yield -ratio, t.start, t.end, i, j


def masked(truth: Sequence[Extent], found: Sequence[Extent]) -> set[int]:
    """Return the indices of `truth` whose every code point some span of `found` covers, whatever its entity.

    >>> masked([Extent(0, 8, "PERSON")], [Extent(0, 4, "PERSON"), Extent(4, 9, "LOCATION")])
    {0}
    """
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted((f.start, f.end) for f in found):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    covered: set[int] = set()
    for i, t in enumerate(truth):
        block = bisect_left(ends, t.end)
        if block < len(starts) and starts[block] <= t.start:
            covered.add(i)
    return covered
