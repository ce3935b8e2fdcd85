"""What a document of the ledger adds to the tallies: a pure function of its row, so it can be taken away again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from monitor.document import Answer, Document, Drawn
from monitor.estimators.sample import Moments
from monitor.matching import Extent, masked, matched, unique
from monitor.tally import ANY_ENTITY, CellKey, CountKey, DesignKey, DesignRow, Key, MadeKey, QueueKey, Reading

FoldName = Callable[[str], str]


class Part(NamedTuple):
    """A row to add to the tally of a day."""

    day: int
    key: Key
    numbers: tuple[int, ...]


class OpenTask(NamedTuple):
    """A task that waits for its answer."""

    day: int
    language: str
    at: float


def contribution(document: Document, fold: FoldName, iou: float) -> Iterator[Part]:
    """Yield what the document adds, day by day: drawn documents to their draw day, outcomes to its first day.

    Parameters
    ----------
    fold
        Folds an entity's name; detected and labelled names go through the same one.
    iou
        Overlap from which a detected span counts as the labelled one, in (0, 1].
    """
    for text in document.texts:
        truth = text.truth
        skipped = truth is None and bool(text.answers)
        row = (1, int(truth is not None), int(skipped))
        yield Part(text.drawn[0].day, QueueKey(text.language), row)
        for place, drawn in enumerate(text.drawn):
            # the first version's task is the text's only one: its label serves the others too
            yield from _design(
                drawn, labelled=truth is not None, skipped=skipped, reused=truth is not None and place > 0
            )
            if truth is not None:
                yield from _cells(drawn, truth, fold, iou)
    day = document.texts[0].drawn[0].day if document.texts else document.day
    for outcome, times in document.outcomes.items():
        yield Part(day, CountKey("labels" if outcome != "repeat" else "documents", outcome), (times,))
        if outcome == "rejected":
            yield Part(day, CountKey("dead_letters", "labels_by_document/bad_span"), (times,))
    if document.early:
        yield Part(day, CountKey("labels", document.waiting), (len(document.early),))


def open_task(document: Document) -> Iterator[OpenTask]:
    """Yield the tasks of the document that nobody has answered or skipped."""
    for text in document.texts:
        if not text.answers:
            first = text.drawn[0]
            yield OpenTask(first.day, text.language, first.at)


def _design(drawn: Drawn, *, labelled: bool, skipped: bool, reused: bool) -> Iterator[Part]:
    key = DesignKey(drawn.language, drawn.detector, drawn.version, drawn.stratum, drawn.probability)
    waiting = not (labelled or skipped)
    yield Part(drawn.day, key, DesignRow(1, int(labelled), int(skipped), int(waiting), int(reused)))
    yield Part(drawn.day, MadeKey(drawn.detector, drawn.version, drawn.config, drawn.net), (1,))


def _cells(drawn: Drawn, truth: Answer, fold: FoldName, iou: float) -> Iterator[Part]:
    """Yield the moments of every entity that the label names, and of all of them together."""
    true = unique(Extent(start, end, fold(entity)) for start, end, entity in truth.spans)
    if not true:
        return
    found = unique(Extent(start, end, fold(entity)) for start, end, entity in drawn.spans)
    occurrences = Counter(extent.entity for extent in true)
    hits: dict[Reading, set[int]] = {"matched": matched(true, found, iou), "masked": masked(true, found)}
    for reading, indices in hits.items():
        caught = Counter(true[i].entity for i in indices)
        per_entity = [(entity, caught[entity], y) for entity, y in occurrences.items()]
        for entity, t, y in [*per_entity, (ANY_ENTITY, len(indices), len(true))]:
            key = CellKey(
                drawn.language, drawn.detector, drawn.version, drawn.stratum, drawn.probability, entity, reading
            )
            yield Part(drawn.day, key, Moments.of(t, y))
