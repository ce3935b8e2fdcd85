"""What a detector and the second one, where the producer sends one, found of each other's spans in one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from monitor.estimators.captures import Captures
from monitor.matching import Extent, matched, unique
from monitor.names import UNLISTED
from monitor.records import Span
from monitor.tally import ANY_ENTITY


def captures_of(
    spans: Sequence[Span], entities: Sequence[str], second: Iterable[Span], name: Callable[[str], str], iou: float
) -> dict[str, Captures]:
    """Return what one document adds, by entity and for all of them; an entity that neither found isn't there.

    All of the second one's spans count, as they count for the net. Names beyond the bound on unknown ones never match:
    they share a name without being the same.

    Parameters: the detector's `spans` with the name that each is counted under beside it; the `second` detector's, of
    which `name` gives that name; `iou` in (0, 1], from which two spans are one.

    >>> captures_of([Span(0, 4, "PER")], ["PERSON"], [Span(0, 5, "PER"), Span(9, 12, "PER")], lambda _: "PERSON", 0.45)[
    ...     "PERSON"
    ... ][:3]
    (1, 2, 1)
    """
    first = unique([Extent(s.start, s.end, entity) for s, entity in zip(spans, entities, strict=True)])
    other = unique([Extent(s.start, s.end, name(s.entity)) for s in second])
    both = Counter(other[i].entity for i in matched(other, first, iou) if other[i].entity != UNLISTED)
    of_first, of_other = Counter(s.entity for s in first), Counter(s.entity for s in other)
    found = {e: Captures.of(of_first[e], of_other[e], both[e]) for e in sorted(of_first.keys() | of_other.keys())}
    if found:
        found[ANY_ENTITY] = Captures.of(len(first), len(other), both.total())
    return found
