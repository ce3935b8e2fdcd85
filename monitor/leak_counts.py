"""What the census counts of redacted outputs: plain integers, turned into rows of a tally at checkpoints.

Most outputs show nothing, so what every one costs are a few additions and a pass over the names of its spans; whose
leaks are whose is worked out where there are any.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from monitor.leaks.findings import Checked, Kind
from monitor.leaks.policy import Policy
from monitor.output_keys import LeakKey, OutputKey, RedactedKey, RedactionsKey
from monitor.records import STRATA, Span, Stratum
from monitor.tally import Key

_BESIDE: frozenset[Kind] = frozenset(("edge_fragment", "net_on_output"))
"""What touches a mask, and so a span, without being of it."""
_SHOWN_WHOLE: frozenset[Kind] = frozenset(("untouched", "shifted_mask"))
"""As one of these all of a span may show: then nothing of it was replaced."""
_start, _end = attrgetter("start"), attrgetter("end")


class Leaking(NamedTuple):
    """The flagged spans of one document that its output shows something of."""

    redactions: int
    """Of them those of which something was replaced."""
    by_entity: Mapping[str, int]
    """All of them, by the entities' own names."""


def find_leaking(spans: Sequence[Span], found: Checked, policy: Policy) -> Leaking:
    """Return whose leaks a check found.

    A leak names a stretch and an entity: it is that of each span of this entity that it overlaps, or touches where it
    stands beside a mask. Spans inside others count with these, as they do for the check. Linear but for one sort.

    Parameters
    ----------
    spans
        What `found` was found of, under folded names, in any order.
    policy
        Whose ignored entities have no leaks.

    Examples
    --------
    >>> from monitor.leaks.check import check
    >>> spans = [Span(5, 12, "PERSON"), Span(16, 20, "PERSON")]
    >>> find_leaking(spans, check("I am Bo Smid, or Lars.", spans, "I am ** Smid, or Lars.", Policy()), Policy())
    Leaking(redactions=1, by_entity={'PERSON': 2})
    """
    apart = _outermost(spans, policy)
    marks = {entity: [0] * (len(own) + 1) for entity, own in apart.items()}
    shown: set[tuple[str, int, int]] = set()
    for leak in found.leaks:
        own = apart.get(leak.entity)
        if own is None:
            continue
        reach = leak.kind in _BESIDE
        marks[leak.entity][bisect_left(own, leak.start + (not reach), key=_end)] += 1
        marks[leak.entity][bisect_left(own, leak.end + reach, key=_start)] -= 1
        if leak.kind in _SHOWN_WHOLE:
            shown.add((leak.entity, leak.start, leak.end))
    leaking = {
        entity: [span for span, its in zip(own, accumulate(marks[entity]), strict=False) if its]
        for entity, own in apart.items()
    }
    replaced = sum((entity, s.start, s.end) not in shown for entity, own in leaking.items() for s in own)
    return Leaking(min(replaced, found.replaced_spans), {entity: len(own) for entity, own in leaking.items() if own})


def _outermost(spans: Sequence[Span], policy: Policy) -> dict[str, list[Span]]:
    """Return the spans by entity, in order, without those inside another: both starts and ends rise."""
    apart: dict[str, list[Span]] = {}
    reached = -1
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if span.end > reached and not policy.of(span.entity).ignore:
            apart.setdefault(span.entity, []).append(span)
            reached = span.end
    return apart


class LeakCounts:
    """Counts of the outputs of one language, detector and version."""

    __slots__ = ("_serial", "leaks", "redacted", "redactions", "strata")

    def __init__(self) -> None:
        self.strata: dict[Stratum, list[int]] = {stratum: [0] * 5 for stratum in STRATA}
        """Rows of `OutputRow`."""
        self.redactions = [0] * 5
        """The row of `RedactionsRow`."""
        self.redacted: dict[str, list[int]] = {}
        """By name: the row of `RedactedKey`, and the document that was counted last."""
        self.leaks: dict[tuple[str, Kind], list[int]] = {}
        """By name and kind: the row of `LeakKey`."""
        self._serial = 0

    def count(self, stratum: Stratum, entities: Sequence[str], found: Checked, length: int) -> None:
        """Count one document's output.

        Parameters: `entities` names each of its spans whose entity isn't ignored, repeats included; `length` of its
        text in code points.
        """
        row = self.strata[stratum]
        row[0] += 1
        if found.aligned:
            row[3] += sum([end - start for start, end in found.masked])
            row[4] += length
        else:
            row[1] += 1
        replaced = found.replaced_spans
        self.redactions[1] += replaced
        self.redactions[4] += replaced * replaced
        rows = self.redacted
        self._serial = serial = self._serial + 1
        for entity in entities:
            its = rows.get(entity) or self._row(entity)
            its[1] += 1
            if its[4] != serial:
                its[4] = serial
                its[0] += 1

    def add_leaks(self, stratum: Stratum, found: Checked, leaking: Leaking, name: Callable[[str], str]) -> None:
        """Add the leaks of a document that was counted; `name` gives the name that an entity is counted under."""
        self.strata[stratum][2] += 1
        t = leaking.redactions
        self.redactions[0] += t
        self.redactions[2] += t * t
        self.redactions[3] += t * found.replaced_spans
        for entity in {name(leak.entity) for leak in found.leaks}:
            self._row(entity)[2] += 1
        for entity, spans in leaking.by_entity.items():
            self._row(name(entity))[3] += spans
        kinds: dict[tuple[str, Kind], int] = {}
        for leak in found.leaks:
            key = name(leak.entity), leak.kind
            kinds[key] = kinds.get(key, 0) + 1
        for key, leaks in kinds.items():
            held = self.leaks.setdefault(key, [0, 0])
            held[0] += 1
            held[1] += leaks

    def _row(self, entity: str) -> list[int]:
        return self.redacted.setdefault(entity, [0, 0, 0, 0, 0])

    def rows(self, language: str, detector: str, version: str) -> Iterator[tuple[Key, tuple[int, ...]]]:
        """Yield the counts as rows of a tally; a row of zeros is no row."""
        group = language, detector, version
        for stratum, row in self.strata.items():
            if row[0]:
                yield OutputKey(*group, stratum), tuple(row)
        if self.redactions[1]:
            yield RedactionsKey(*group), tuple(self.redactions)
        for entity, row in self.redacted.items():
            yield RedactedKey(*group, entity), tuple(row[:4])
        for (entity, kind), row in self.leaks.items():
            yield LeakKey(*group, entity, kind), tuple(row)

    def restore(self, key: OutputKey | RedactionsKey | RedactedKey | LeakKey, row: tuple[int, ...]) -> None:
        """Take a row that `rows` gave."""
        if isinstance(key, OutputKey):
            self.strata[key.stratum] = [*row]
        elif isinstance(key, RedactionsKey):
            self.redactions = [*row]
        elif isinstance(key, RedactedKey):
            self.redacted[key.entity] = [*row, 0]
        else:
            self.leaks[key.entity, key.leak] = [*row]
