"""What the census says of drift: documents by signal, and what came since a checkpoint.

A signal goes by language, over all detectors and versions: a change of version is an annotation beside a signal, not
its end. Of the documents of a language: the share that the detector flagged, that it flagged with an entity, that the
net only flagged (the best label-free sign of lost recall), that the detector only flagged; that are longer, or have
more spans, than is usual; of those whose first span has a score, the share whose score is under the usual; of those
with a redacted output, the share whose output leaks. Of all documents, each language's own share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from monitor.output_keys import OutputKey, OutputRow
from monitor.records import Stratum
from monitor.tally import CensusKey, FlaggedKey, Shape, ShapeKey, Tally

SignalName = Literal[
    "flagged", "loose_only", "detector_only", "entity", "language", "longer", "many_spans", "low_score", "leaking"
]


class Signal(NamedTuple):
    """One share that is watched."""

    name: SignalName
    language: str
    entity: str = ""
    """Empty but for the signal `entity`."""


class Share(NamedTuple):
    """Whole numbers of documents, `0 <= having <= documents`."""

    documents: int
    having: int


class ShapeOf(NamedTuple):
    """A shape of a language's documents."""

    shape: Shape
    language: str


Steps: TypeAlias = Mapping[int, int]
"""Documents by step of `monitor.tally.ShapeKey`."""
_K = TypeVar("_K", bound=Hashable)
_OF_A_SHAPE: Mapping[Shape, SignalName] = {"length": "longer", "spans": "many_spans", "score": "low_score"}
_SHAPED = frozenset(_OF_A_SHAPE.values())
_OF_A_STRATUM: Mapping[Stratum, tuple[SignalName, ...]] = {
    "both": ("flagged",),
    "loose_only": ("loose_only",),
    "detector_only": ("flagged", "detector_only"),
    "unflagged": (),
}


class CensusCounts(NamedTuple):
    """What the census counted, over all detectors and versions."""

    documents: Mapping[str, int]
    """By language."""
    having: Mapping[Signal, int]
    """Documents of a signal's language that count for it; the share of a language is in `documents`."""
    shapes: Mapping[ShapeOf, Steps] = {}
    outputs: Mapping[str, int] = {}
    """Documents with an output that was looked at, by language: those that `leaking` is a share of."""

    def since(self, before: CensusCounts) -> CensusCounts | None:
        """Return what came after `before`; None where a count is behind it, or where the parts don't fit the whole."""
        documents = _difference(self.documents, before.documents)
        having = _difference(self.having, before.having)
        outputs = _difference(self.outputs, before.outputs)
        shapes = {of: _difference(steps, before.shapes.get(of, {})) for of, steps in self.shapes.items()}
        grown = {of: steps for of, steps in shapes.items() if steps is not None}
        if documents is None or having is None or outputs is None:
            return None
        if len(grown) < len(shapes) or before.shapes.keys() - shapes.keys():
            return None
        step = CensusCounts(documents, having, grown, outputs)
        if any(n > step._within(signal) for signal, n in having.items()):
            return None
        return step

    def _within(self, signal: Signal) -> int:
        return (self.outputs if signal.name == "leaking" else self.documents).get(signal.language, 0)

    def share(self, signal: Signal) -> Share:
        """Return the counts of one signal; 0 of 0 where nothing was counted, and of one about a shape.

        >>> CensusCounts({"es": 3, "en": 1}, {}).share(Signal("language", "es"))
        Share(documents=4, having=3)
        """
        if signal.name in _SHAPED:
            return Share(0, 0)
        within = self._within(signal)
        if signal.name == "language":
            return Share(sum(self.documents.values()), within)
        return Share(within, self.having.get(signal, 0))


def _difference(now: Mapping[_K, int], before: Mapping[_K, int]) -> dict[_K, int] | None:
    """Return what grew by how much; None where something is less than it was, or gone."""
    grown = {key: n - before.get(key, 0) for key, n in now.items()}
    return None if before.keys() - grown.keys() or any(n < 0 for n in grown.values()) else grown


def census_counts(*tallies: Tally) -> CensusCounts:
    """Return what the census of tallies counted by language and signal; rows of other kinds are left alone.

    >>> rows = {CensusKey("es", "crf", "2", "both"): (8,), CensusKey("es", "crf", "3", "loose_only"): (2,)}
    >>> counts = census_counts(Tally(rows))
    >>> counts.share(Signal("flagged", "es")), counts.share(Signal("loose_only", "es"))
    (Share(documents=10, having=8), Share(documents=10, having=2))
    """
    documents: Counter[str] = Counter()
    having: Counter[Signal] = Counter()
    shapes: dict[ShapeOf, Counter[int]] = {}
    outputs: Counter[str] = Counter()
    for tally in tallies:
        for key, row in tally.rows.items():
            if isinstance(key, CensusKey):
                documents[key.language] += row[0]
                for name in _OF_A_STRATUM[key.stratum]:
                    having[Signal(name, key.language)] += row[0]
            elif isinstance(key, FlaggedKey):
                having[Signal("entity", key.language, key.entity)] += row[0]
            elif isinstance(key, ShapeKey):
                shapes.setdefault(ShapeOf(key.shape, key.language), Counter())[key.step] += row[0]
            elif isinstance(key, OutputKey):
                outputs[key.language] += row[0]
                having[Signal("leaking", key.language)] += OutputRow(*row).leaking
    steps = {of: dict(counts) for of, counts in shapes.items()}
    return CensusCounts(dict(documents), dict(having), steps, dict(outputs))


def signal_of(of: ShapeOf) -> Signal:
    """Return the signal that watches a shape.

    >>> signal_of(ShapeOf("score", "es"))
    Signal(name='low_score', language='es', entity='')
    """
    return Signal(_OF_A_SHAPE[of.shape], of.language)


def usual_step(steps: Steps) -> int:
    """Return the step of the median document; raises ValueError where there is none.

    >>> usual_step({3: 4, 5: 1, 4: 2})
    3
    """
    documents, below = sum(steps.values()), 0
    for step in sorted(steps):
        below += steps[step]
        if 2 * below >= documents:
            return step
    raise ValueError("no documents have no median")


def unusual(of: ShapeOf, steps: Steps, usual: int) -> Share:
    """Return how many documents are beyond the usual step, of a score below it.

    >>> unusual(ShapeOf("length", "es"), {3: 4, 4: 2}, 3), unusual(ShapeOf("score", "es"), {3: 4, 4: 2}, 3)
    (Share(documents=6, having=2), Share(documents=6, having=0))
    """
    having = sum(n for step, n in steps.items() if (step < usual if of.shape == "score" else step > usual))
    return Share(sum(steps.values()), having)
