"""Detected spans without the white space at their edges, which carries no opinion: labels are read without it too.

Otherwise "Bo" beside a tool's "Bo   " would be a miss and a false alarm. White space stays where another span touches
it: between "Anna " and "Brandt" it's covered, and a label of both is masked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from monitor.records import Span
from monitor.salvage import LONGEST_BLANK


def bare_spans(spans: Sequence[Span], text: str) -> list[tuple[int, int, str]]:
    """Return start, end and entity of each span, in their order, at most `LONGEST_BLANK` blanks taken off an edge.

    Assumes that none is blank for its first `LONGEST_BLANK` characters, and that all lie in the text.

    >>> bare_spans([Span(0, 4, "PERSON")], "Bo  belt")
    [(0, 2, 'PERSON')]
    >>> bare_spans([Span(0, 5, "PERSON"), Span(5, 11, "PERSON")], "Anna Brandt")
    [(0, 5, 'PERSON'), (5, 11, 'PERSON')]
    """
    if not any(text[span.start].isspace() or text[span.end - 1].isspace() for span in spans):
        return [(span.start, span.end, span.entity) for span in spans]
    by_start = sorted((span.start, span.end) for span in spans)
    by_end = sorted((span.end, span.start) for span in spans)
    furthest = list(accumulate((end for _, end in by_start), max))
    nearest = list(accumulate((start for _, start in reversed(by_end)), min))[::-1]
    bare: list[tuple[int, int, str]] = []
    for span in spans:
        start, end = span.start, span.end
        before = bisect_left(by_start, (start,))
        if not before or furthest[before - 1] < start:
            piece = text[start : min(end, start + LONGEST_BLANK)]
            start += len(piece) - len(piece.lstrip())
        after = bisect_right(by_end, (end, len(text)))
        if after == len(by_end) or nearest[after] > end:
            piece = text[max(start, end - LONGEST_BLANK) : end]
            end -= len(piece) - len(piece.rstrip())
        bare.append((start, end, span.entity))
    return bare
