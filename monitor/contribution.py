"""What documents of the ledger add to the tallies: a pure function of each row, so it can be taken away again.

Documents are condensed before anything is added: what many of them add alike is counted first and multiplied then. A
ledger that opens adds up a hundred thousand documents while everybody waits, and does it several times faster so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from monitor.document import Answer, Document, Drawn, Outcome
from monitor.estimators.sample import Moments
from monitor.matching import Extent, masked, matched, unique
from monitor.output_cells import OutputCells, Place
from monitor.read_twice import Load, load_of, parts_of
from monitor.tally import ANY_ENTITY, CellKey, CountKey, DesignKey, DesignRow, EntryKey, Key, MadeKey, QueueKey

FoldName = Callable[[str], str]


def no_entity(_: str) -> bool:
    """Return False: no entity may stay in outputs."""
    return False


class Rule(NamedTuple):
    """How documents are counted."""

    fold: FoldName
    """Folds an entity's name; detected and labelled names go through the same one."""
    iou: float
    """Overlap from which a detected span counts as the labelled one, in (0, 1]."""
    period_s: float = 86_400.0
    """Of the alarm, in seconds."""
    ignores: Callable[[str], bool] = no_entity
    """Says of an entity's own name whether it may stay in outputs, so that none of it is missed there."""


_Span = tuple[int, int, str]
_Floors = tuple[float, float]
_When = tuple[_Floors, int] | None
"""The smallest rates in force and the alarm's period; None where an older version drew the document."""
_FEW = 100
"""Pairs of spans that are compared one by one in less time than the matching of them begins in."""
_ONE_TASK = {
    (labelled, skipped): Load(1, int(labelled), int(skipped)) for labelled in (False, True) for skipped in (False, True)
}
"""About a text that one person reads, by whether it's labelled, and whether it was skipped."""
_moments = lru_cache(1 << 14)(Moments.of)


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


class Contributions:
    """What any number of documents add, day by day: drawn documents to their draw day, outcomes to its first day."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._texts: Counter[tuple[int, str, Load]] = Counter()
        """By day and language, with the tasks about each."""
        self._pairs: list[Part] = []
        """What two readers say of the texts that two people read; they are few."""
        self._drawn: Counter[tuple[Place, str, str, bool, bool, bool]] = Counter()
        """By place, config, net, and whether it's labelled, skipped, served by another version's label."""
        self._cells: Counter[tuple[Place, _When, str, int, int, int, int]] = Counter()
        """Labelled ones by place, time, entity: true occurrences, matched ones, masked ones, detected spans."""
        self._unlabelled: Counter[tuple[Place, _When, str, int]] = Counter()
        """By place, time, entity: detected spans."""
        self._counts: Counter[tuple[int, CountKey]] = Counter()
        self._outputs: OutputCells | None = None
        """Of documents with a redacted output."""

    def add(self, document: Document) -> None:
        """Take a document in."""
        read_twice = False
        for text in document.texts:
            truth = text.truth
            labelled, skipped = truth is not None, truth is None and bool(text.answers)
            settled = True
            if text.twice is not None:
                settled = text.settled
                self._texts[text.drawn[0].day, text.language, load_of(text)] += 1
                read_twice = True
            else:
                self._texts[text.drawn[0].day, text.language, _ONE_TASK[labelled, skipped]] += 1
            for number, drawn in enumerate(text.drawn):
                place = (drawn.day, drawn.language, drawn.detector, drawn.version, drawn.stratum, drawn.probability)
                # the first version's task is the text's only one: its label serves the others too
                self._drawn[place, drawn.config, drawn.net, labelled, skipped, labelled and number > 0] += 1
                self._add_cells(place, drawn, truth, settled=settled)
                if drawn.coverage is not None:
                    if self._outputs is None:
                        self._outputs = OutputCells(self._rule.fold, self._rule.ignores)
                    self._outputs.add(place, drawn.coverage, text, truth)
        if read_twice:
            self._pairs += [Part(*part) for part in parts_of(document, self._rule.fold, self._rule.iou)]
        self._add_outcomes(document)

    def _add_cells(self, place: Place, drawn: Drawn, truth: Answer | None, *, settled: bool) -> None:
        """Count what was found of every entity that the label names, what of the detected was right, and of all.

        Without a label that is settled the alarm takes all that's detected for right, and nothing else to be there.
        """
        floors, fold = drawn.floors, self._rule.fold
        when = None if floors is None else (floors, int(drawn.at // self._rule.period_s))
        found = {(start, end, fold(entity)) for start, end, entity in drawn.spans}
        detected = _by_entity(found)
        if truth is None or not settled:
            if when is not None and found:
                for entity, n in detected.items():
                    self._unlabelled[place, when, entity, n] += 1
                self._unlabelled[place, when, ANY_ENTITY, len(found)] += 1
            if truth is None:
                return
            when = None
        cells = self._cells
        true = {(start, end, fold(entity)) for start, end, entity in truth.spans}
        occurrences = _by_entity(true)
        if true <= found:
            by_matching = by_mask = occurrences
        else:
            by_matching, by_mask = _caught(true, found, self._rule.iou)
        for entity, y in occurrences.items():
            caught = by_matching.get(entity, 0), by_mask.get(entity, 0)
            cells[place, when, entity, y, *caught, detected.pop(entity, 0)] += 1
        for entity, n in detected.items():
            cells[place, when, entity, 0, 0, 0, n] += 1
        if true or found:
            caught = sum(by_matching.values()), sum(by_mask.values())
            cells[place, when, ANY_ENTITY, len(true), *caught, len(found)] += 1

    def _add_outcomes(self, document: Document) -> None:
        day = document.texts[0].drawn[0].day if document.texts else document.day
        for outcome, times in document.outcomes.items():
            self._counts[day, _outcome_key(outcome)] += times
            if outcome == "rejected":
                self._counts[day, CountKey("dead_letters", "labels_by_document/bad_span")] += times
        if document.early:
            self._counts[day, CountKey("labels", document.waiting)] += len(document.early)

    def parts(self) -> Iterator[Part]:
        """Yield what all of them add."""
        for (day, language, load), n in self._texts.items():
            yield Part(day, QueueKey(language), _times(load, n))
        yield from self._pairs
        for (place, config, net, labelled, skipped, reused), n in self._drawn.items():
            day, _, detector, version, _, _ = place
            waiting = not (labelled or skipped)
            row = DesignRow(n, labelled * n, skipped * n, waiting * n, reused * n)
            yield Part(day, DesignKey(*place[1:]), row)
            yield Part(day, MadeKey(detector, version, config, net), (n,))
        yield from self._cell_parts()
        for (day, key), n in self._counts.items():
            yield Part(day, key, (n,))
        if self._outputs is not None:
            yield from map(Part._make, self._outputs.parts())

    def _cell_parts(self) -> Iterator[Part]:
        for (place, when, entity, y, by_matching, by_mask, detected), n in self._cells.items():
            day = place[0]
            if y:
                yield Part(day, CellKey(*place[1:], entity, "matched"), _times(_moments(by_matching, y), n))
                yield Part(day, CellKey(*place[1:], entity, "masked"), _times(_moments(by_mask, y), n))
            if detected:
                yield Part(day, CellKey(*place[1:], entity, "right"), _times(_moments(by_matching, detected), n))
            else:
                yield Part(day, CellKey(*place[1:], entity, "unnamed"), _times(_moments(0, y), n))
            if y and when is not None:
                yield Part(day, _entry(place, when, entity, by_matching, y, labelled=True), (n,))
        for (place, when, entity, detected), n in self._unlabelled.items():
            if when is not None:
                yield Part(place[0], _entry(place, when, entity, detected, detected, labelled=False), (n,))


@cache
def _outcome_key(outcome: Outcome) -> CountKey:
    return CountKey("documents" if outcome == "repeat" else "labels", outcome)


def contribution(document: Document, rule: Rule) -> Iterator[Part]:
    """Yield what one document adds."""
    one = Contributions(rule)
    one.add(document)
    return one.parts()


def open_task(document: Document) -> Iterator[OpenTask]:
    """Yield the tasks of the document that nobody has answered or skipped."""
    for text in document.texts:
        if not text.answers or (text.twice is not None and load_of(text).open):
            first = text.drawn[0]
            yield OpenTask(first.day, text.language, first.at)


def _by_entity(spans: set[_Span]) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, _, entity in spans:
        found[entity] = found.get(entity, 0) + 1
    return found


def _entry(  # what the alarm sees of a document
    place: Place, when: tuple[_Floors, int], entity: str, t: int, y: int, *, labelled: bool
) -> EntryKey:
    _, language, detector, version, _, probability = place
    floors, period = when
    return EntryKey(language, detector, version, entity, period, probability, *floors, t, y, int(labelled))


def _caught(true: set[_Span], found: set[_Span], iou: float) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many spans of each entity were found, by matching and by masking.

    Identical spans are most of them, and are left out of the matching: no other pair overlaps so well, so it would
    pair them first; and each is masked by itself. What is left is mostly overlapped by nothing at all.
    """
    exact = true & found
    left = true - exact
    same = _by_entity(exact)
    if len(left) * len(found) <= _FEW and not any(s < end and start < e for s, e, _ in left for start, end, _ in found):
        return same, same
    by_matching, by_mask = Counter(same), Counter(same)
    rest = unique(map(Extent._make, left))
    by_matching.update([rest[i].entity for i in matched(rest, unique(map(Extent._make, found - exact)), iou)])
    by_mask.update([rest[i].entity for i in masked(rest, unique(map(Extent._make, found)))])
    return by_matching, by_mask


def _times(row: tuple[int, ...], n: int) -> tuple[int, ...]:
    return row if n == 1 else tuple([n * number for number in row])
