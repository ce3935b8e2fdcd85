"""What the outputs of drawn documents add to the tallies: of what people labelled, how much can be read there.

Of each true occurrence it's asked whether one hidden stretch holds all of it. Neither who flagged it matters nor as
what: one that was missed and stands in the output is readable, one that was masked under another name is hidden, one
that was found, masked and stands elsewhere is readable. White space at a label's edges needs no trimming, as a hidden
stretch reaches over what is no letter or digit beside it.

The price is counted the other way round: of the graphemes that were masked, those in no label's span, of any entity.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from monitor.answers import Answer
from monitor.blanks import visible
from monitor.document_text import Text
from monitor.estimators.sample import Moments
from monitor.kept_coverage import KeptCoverage
from monitor.leaks.coverage import Coverage, Stretches
from monitor.output_keys import OutputDesignKey
from monitor.records import Stratum
from monitor.tally import ANY_ENTITY, CellKey, Key

Place = tuple[int, str, str, str, Stratum, float]
"""Day, language, detector, version, stratum, inclusion probability; plain, for making and hashing it is what costs."""
_moments = lru_cache(1 << 14)(Moments.of)


class OutputCells:
    """Gathers what any number of documents with an output add.

    Parameters
    ----------
    fold
        Folds an entity's name.
    ignores
        Says of an entity, as it is spelled, whether it is no secret: its occurrences count nowhere here.
    """

    def __init__(self, fold: Callable[[str], str], ignores: Callable[[str], bool]) -> None:
        self._fold = fold
        self._ignores = lru_cache(1 << 10)(ignores)
        self._designs: Counter[tuple[Place, bool]] = Counter()
        """By place, and whether it's labelled."""
        self._true: Counter[tuple[Place, str, int, int]] = Counter()
        """Labelled ones by place, entity: true occurrences, readable ones."""
        self._masked: Counter[tuple[Place, int, int]] = Counter()
        """Labelled ones by place: masked graphemes that were no personal data, all masked ones."""

    def add(self, place: Place, kept: KeptCoverage, text: Text, truth: Answer | None) -> None:
        """Take in a document that was drawn with an output, and what its text's label says, if there is one."""
        self._designs[place, truth is not None] += 1
        if truth is None:
            return
        fold, ignores, coverage = self._fold, self._ignores, kept.coverage()
        true = {(start, end, fold(entity)) for start, end, entity in truth.spans if not ignores(entity)}
        shown = readable(true, coverage.hidden)
        if true:
            by_entity = _by_entity(shown)
            for entity, y in _by_entity(true).items():
                self._true[place, entity, y, by_entity.get(entity, 0)] += 1
            self._true[place, ANY_ENTITY, len(true), len(shown)] += 1
        if coverage.masked:
            self._masked[place, *needless_of(coverage, text, truth)] += 1

    def parts(self) -> Iterator[tuple[int, Key, tuple[int, ...]]]:
        """Yield the rows to add by their day."""
        for (place, labelled), n in self._designs.items():
            yield place[0], OutputDesignKey(*place[1:]), (n, labelled * n)
        for (place, entity, y, shown), n in self._true.items():
            yield place[0], CellKey(*place[1:], entity, "hidden"), _times(_moments(y - shown, y), n)
            yield place[0], CellKey(*place[1:], entity, "readable"), _times(_moments(shown, shown), n)
        for (place, needless, masked), n in self._masked.items():
            yield place[0], CellKey(*place[1:], ANY_ENTITY, "needless"), _times(_moments(needless, masked), n)


def readable(true: set[tuple[int, int, str]], hidden: Stretches) -> list[tuple[int, int, str]]:
    """Return the spans that no hidden stretch holds whole.

    >>> readable({(0, 4, "PERSON"), (8, 15, "LOCATION")}, [(0, 5), (8, 12)])
    [(8, 15, 'LOCATION')]
    """
    ends = [end for _, end in hidden]
    shown = []
    for span in true:
        at = bisect_left(ends, span[1])
        if at == len(ends) or hidden[at][0] > span[0]:
            shown.append(span)
    return shown


def needless_of(coverage: Coverage, text: Text, truth: Answer) -> tuple[int, int]:
    """Return how many graphemes other than white space are masked and in no span of a label, and how many masked."""
    shown, inside = visible(text.blank), bytearray(text.length)
    for start, end in coverage.masked or ():
        inside[start:end] = shown[start:end]
    for at in coverage.joined:
        inside[at] = 0
    masked = inside.count(1)
    for start, end, _ in truth.spans:
        inside[start:end] = bytes(end - start)
    return inside.count(1), masked


def _by_entity(spans: Iterable[tuple[int, int, str]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, _, entity in spans:
        found[entity] = found.get(entity, 0) + 1
    return found


def _times(row: Moments, n: int) -> tuple[int, ...]:
    return row if n == 1 else tuple([n * number for number in row])
