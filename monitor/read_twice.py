"""What texts that two people read add to the tallies: who named what, which spans agree, what each found again.

A pair counts on the day of its text's first draw, under the probability of being drawn by that version times that of
being read twice. Its two readings are as they were read blind; what an adjudicator made of them isn't in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from monitor.answers import ADJUDICATION, Answer, reading
from monitor.document import Document, Text
from monitor.estimators.captures import Captures
from monitor.matching import Extent
from monitor.span_agreement import SpanCounts, count_spans
from monitor.tally import ANY_ENTITY, AgreementKey, AgreementRow, Key, TwiceKey


class Load(NamedTuple):
    """Tasks about a text: sent = done + skipped + open."""

    sent: int
    done: int
    skipped: int

    @property
    def open(self) -> int:
        """Tasks that nobody has answered or skipped."""
        return self.sent - self.done - self.skipped


def parts_of(document: Document, fold: Callable[[str], str], iou: float) -> Iterator[tuple[int, Key, tuple[int, ...]]]:
    """Yield the rows to add by their day; nothing for a document whose texts one person reads.

    Parameters: `fold` folds an entity's name, `iou` in (0, 1] is the overlap from which two spans are the same one.
    """
    for text in document.texts:
        if text.twice is not None and (pair := text.pair) is not None:
            first = text.drawn[0]
            design = text.language, first.probability * text.twice.share
            yield first.day, TwiceKey(*design), (1,)
            for entity, counts in _compared(text, pair, fold, iou).items():
                yield first.day, AgreementKey(*design, entity), _row(counts).flat()


def load_of(text: Text) -> Load:
    """Return the tasks about a text, and what became of them."""
    if text.twice is None:
        labelled = text.truth is not None
        return Load(1, int(labelled), int(not labelled and bool(text.answers)))
    copies = (1, 2) if text.twice.adjudication_due is None else (1, 2, ADJUDICATION)
    done = [reading(text.answers, copy) is not None for copy in copies]
    touched = [any(abs(answer.copy) == copy for answer in text.answers) for copy in copies]
    return Load(len(copies), sum(done), sum(t and not d for t, d in zip(touched, done, strict=True)))


def _compared(text: Text, pair: tuple[Answer, Answer], fold: Callable[[str], str], iou: float) -> dict[str, SpanCounts]:
    """Return how a pair's spans agree, by entity and over all of them; empty where neither marked anything."""
    first, second = ([Extent(s, e, fold(entity)) for s, e, entity in text.trimmed(answer)] for answer in pair)
    found = count_spans(first, second, iou)
    if found:
        found[ANY_ENTITY] = SpanCounts(*(sum(column) for column in zip(*found.values(), strict=True)))
    return found


def _row(counts: SpanCounts) -> AgreementRow:
    first, second, matched, _ = counts
    named, named_too = first > 0, second > 0
    return AgreementRow(
        both=int(named and named_too),
        first_only=int(named and not named_too),
        second_only=int(named_too and not named),
        spans=counts,
        captures=Captures.of(first, second, matched),
    )
