"""Which stretches of a text were replaced by what, region by region, and whether the output is that text at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from monitor.leaks.alignment import Replaced, Stretch, differences, merge_stretches, walk, walk_between_masks
from monitor.leaks.masks import mask_pieces
from monitor.leaks.remainders import find_remainder
from monitor.leaks.squeezed import squeeze
from monitor.records import Span

_LOST_SHARE = 0.01
"""Share of a text that may be other words without a flag, and still be that text with parts replaced: a redactor that
knows more than the detector does that, a translator much more."""
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
    gaps = walk_between_masks(text, redacted)
    for cluster, within in _clusters(differences(text, redacted) if gaps is None else gaps, regions):
        if within:
            parts = walk(text, within, redacted, cluster)
            replaced += [cluster] if parts is None else parts
            lost += 0 if parts is not None else _lost_around(text, redacted, cluster, within)
        else:
            stray.append(cluster)
            other, odd = _judge(text, redacted, cluster)
            lost, rewritten = lost + other, rewritten + odd
    unflagged = max(1, len(text) - sum(end - start for start, end in regions))
    return Layout(
        aligned=not rewritten and lost <= _LOST_SHARE * unflagged,
        readable=lost + rewritten <= _HOPELESS_SHARE * unflagged,
        replaced=replaced,
        stray=stray,
        exact=False,
    )


def _clusters(gaps: Sequence[Replaced], regions: Sequence[Stretch]) -> Iterator[tuple[Replaced, list[Stretch]]]:
    """Yield gaps with the regions that they touch, what touches the same region as one, widened to hold them whole."""
    number = 0
    at = 0
    while at < len(gaps):
        start, end, output_start, output_end = gaps[at]
        at += 1
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
            elif at < len(gaps) and gaps[at].start <= end:
                output_end = gaps[at].output_end + max(0, end - gaps[at].end)
                end = max(end, gaps[at].end)
                at += 1
            else:
                break
        yield Replaced(start, end, output_start, output_end), within


def _judge(text: str, redacted: str, cluster: Replaced) -> tuple[int, int]:
    """Return how many characters became other words, and how many were only written otherwise, where nothing is flagged.

    A mask is neither, nor is something left out; white space left out at an end was trimmed.
    """
    ours = text[cluster.start : cluster.end]
    theirs = redacted[cluster.output_start : cluster.output_end]
    said = any(map(str.isalnum, ours))
    if not theirs.strip() and said:
        return 0, 0
    if 2 * len(_unmasked(theirs).strip()) < len(theirs.strip()):  # a digest may be glued to letters that look like it
        return 0, 0
    if said and any(map(str.isalnum, theirs)) and squeeze(ours) != squeeze(theirs):
        return max(len(ours), len(theirs)), 0
    if not (ours + theirs).strip() and (cluster.end == len(text) or cluster.start == 0):
        return 0, 0
    return 0, max(len(ours), len(theirs))


def _unmasked(written: str) -> str:
    at, left = 0, []
    for start, end in mask_pieces(written):
        left.append(written[at:start])
        at = end
    return "".join((*left, written[at:]))


def _lost_around(text: str, redacted: str, cluster: Replaced, within: Sequence[Stretch]) -> int:
    """Return how many unflagged letters went with a mask around regions, if what stands there is more than mask."""
    ours = text[cluster.start : cluster.end]
    theirs = redacted[cluster.output_start : cluster.output_end]
    around = sum(map(len, map(_letters, _around(text, cluster, within))))
    rest = len(_letters(_unmasked(theirs)))
    if not rest or not around:
        return 0
    pieces = find_remainder(ours, theirs, person=False, pieces=len(within) + 1).pieces
    shown = sum(len(_letters(theirs[piece.output_start : piece.output_end])) for piece in pieces)
    return max(rest, around) if shown < rest else 0


def _around(text: str, cluster: Replaced, within: Sequence[Stretch]) -> Iterator[str]:
    """Yield what a cluster holds beside its regions."""
    at = cluster.start
    for start, end in within:
        yield text[at:start]
        at = end
    yield text[at : cluster.end]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
