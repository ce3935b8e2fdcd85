"""Which stretches of a text were replaced by what, region by region, and whether the output is that text at all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from monitor.leaks.alignment import Replaced, Stretch, differences, merge_stretches, walk, walk_between_masks
from monitor.leaks.masks import mask_pieces
from monitor.leaks.remainders import find_remainder
from monitor.leaks.squeezed import squeeze
from monitor.records import Span

_LOST_SHARE = 0.01
"""Share of a text that may be other words without a flag, and still be that text with parts replaced: a redactor that
knows more than the detector does that, a translator much more."""
_LONGEST_SURROGATE = 10
"""Times as long as its value that another value may be; more is text that was put there."""
_HOPELESS_SHARE = 0.1
"""Share from which on what stands beside a mask says nothing: lines in another order, a summary."""


class Layout(NamedTuple):
    """How an output lies on its text."""

    aligned: bool
    readable: bool
    """Whether replacements are known well enough to be compared with their values."""
    replaced: list[Replaced]
    """In order; each around one or several flagged regions, or `stray`."""
    stray: list[Replaced]
    """Those that no flagged region touches."""
    exact: bool
    """Whether nothing but flagged regions was replaced."""


def lay_out(text: str, spans: Sequence[Span], redacted: str) -> Layout:
    """Return what was replaced by what; every region where the output fits exactly, else those that differ."""
    regions = merge_stretches([(span.start, span.end) for span in spans])
    exact = walk(text, regions, redacted)
    if exact is not None:
        return Layout(aligned=True, readable=True, replaced=exact, stray=[], exact=True)
    replaced: list[Replaced] = []
    stray: list[Replaced] = []
    lost = rewritten = 0
    unflagged = max(1, len(text) - sum(end - start for start, end in regions))
    gaps = walk_between_masks(text, redacted)
    for cluster, within in _clusters(differences(text, redacted) if gaps is None else gaps, regions):
        if within:
            parts = walk(text, within, redacted, cluster)
            replaced += [cluster] if parts is None else parts
            other, odd = (0, 0) if parts is not None else _judge_around(text, redacted, cluster, within)
        else:
            stray.append(cluster)
            other, odd = _judge(text, redacted, cluster)
        lost, rewritten = lost + other, rewritten + odd
        if lost + rewritten > _HOPELESS_SHARE * unflagged:
            return Layout(aligned=False, readable=False, replaced=[], stray=[], exact=False)
    return Layout(
        aligned=not rewritten and lost <= _LOST_SHARE * unflagged,
        readable=True,
        replaced=replaced,
        stray=stray,
        exact=False,
    )


def _clusters(gaps: Iterable[Replaced], regions: Sequence[Stretch]) -> Iterator[tuple[Replaced, list[Stretch]]]:
    """Yield gaps with the regions that they touch, what touches the same region as one, widened to hold them whole."""
    number = 0
    coming = iter(gaps)
    gap = next(coming, None)
    while gap is not None:
        start, end, output_start, output_end = gap
        gap = next(coming, None)
        while number < len(regions) and regions[number][1] < start:
            number += 1
        within: list[Stretch] = []
        if number < len(regions) and regions[number][0] < start:
            output_start -= start - regions[number][0]
            start = regions[number][0]
        while True:
            if number < len(regions) and regions[number][0] <= end:
                within.append(regions[number])
                if regions[number][1] > end:
                    output_end += regions[number][1] - end
                    end = regions[number][1]
                number += 1
            elif gap is not None and gap.start <= end:
                output_end = gap.output_end + max(0, end - gap.end)
                end = max(end, gap.end)
                gap = next(coming, None)
            else:
                break
        yield Replaced(start, end, output_start, output_end), within


def _judge(text: str, redacted: str, cluster: Replaced) -> tuple[int, int]:
    """Return how many characters became other words where nothing is flagged, and how many were written otherwise.

    A mask is neither, nor is something left out; white space left out at an end was trimmed.
    """
    ours = text[cluster.start : cluster.end]
    theirs = redacted[cluster.output_start : cluster.output_end]
    size = max(len(ours), len(theirs))
    said = any(map(str.isalnum, ours))
    if said and squeeze(ours) == squeeze(theirs):
        return 0, size
    if not theirs.strip() and said:
        return 0, 0
    if 2 * len("".join(_unmasked(theirs)).strip()) < len(theirs.strip()):
        return 0, 0  # a mask, which may be a digest glued to letters that look like it
    if said and any(map(str.isalnum, theirs)):
        return size, 0
    trimmed = not (ours + theirs).strip() and (cluster.end == len(text) or cluster.start == 0)
    return 0, 0 if trimmed else size


def _unmasked(written: str) -> list[str]:
    """Return what stands before, between and after the masks of a replacement."""
    edges = [0, *itertools.chain.from_iterable(mask_pieces(written)), len(written)]
    return [written[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _judge_around(text: str, redacted: str, cluster: Replaced, within: Sequence[Stretch]) -> tuple[int, int]:
    """Return how many unflagged letters went with a mask around regions, and how many were written otherwise.

    None went where what stands beside the mask is still the text's.
    """
    ours = text[cluster.start : cluster.end]
    theirs = redacted[cluster.output_start : cluster.output_end]
    around = sum(map(len, map(_letters, _around(text, cluster, within))))
    beside = _unmasked(theirs)
    rest = sum(map(len, map(_letters, beside)))
    if len(beside) == 1 and not around and rest <= _LONGEST_SURROGATE * len(ours):
        return 0, 0
    odd = sum(len(part) for part in beside if not _letters(part) and part not in ours)
    if not rest:
        return 0, odd
    pieces = find_remainder(ours, theirs, person=False, pieces=len(within) + 1).pieces
    shown = 0
    for piece in pieces:
        there = theirs[piece.output_start : piece.output_end]
        shown += len(_letters(there))
        odd += len(there) * (there != ours[piece.start : piece.end])
    return max(rest, around) if shown < rest else 0, odd


def _around(text: str, cluster: Replaced, within: Sequence[Stretch]) -> Iterator[str]:
    """Yield what a cluster holds beside its regions."""
    at = cluster.start
    for start, end in within:
        yield text[at:start]
        at = end
    yield text[at : cluster.end]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
