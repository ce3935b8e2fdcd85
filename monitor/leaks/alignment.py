"""How an output and its text lie on one another: which stretches were replaced, and by what.

Where nothing but flagged stretches was replaced, the parts between them stand in the output in order and unchanged:
one walk from each to the next finds that (`walk`), and each replacement is known exactly. A mask that slid, grew or
swallowed its neighbour damages these parts, but what the output has between its masks is still the text's, in order:
a second walk finds that (`walk_between_masks`). Replacements that don't look like masks leave one more way, to compare
both sides word by word (`differences`): equal words are passed, and where they differ the nearest place at which four
tokens agree again is looked for, in a window that grows fourfold until one is found, so that all of it takes time
linear in both lengths. (`difflib` is quadratic; the longest common subsequence would prefer a word here and there to
the stretches that a redactor makes.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from monitor.leaks.masks import DIGESTS, mask_at, wide_mask_pieces

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_AGREEING = 4
"""Tokens that agree where words do so again: two words with what is between them. One word comes back by chance."""
_FIRST_WINDOW = 32
_SHORT = 8
"""Characters of a part between two values that may well stand inside a replacement, too."""


class Replaced(NamedTuple):
    """A stretch of the text and what stands in its place in the output; either may be empty."""

    start: int
    end: int
    output_start: int
    output_end: int


Stretch = tuple[int, int]


def merge_stretches(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches in order, those that overlap or touch as one.

    >>> merge_stretches([(4, 6), (0, 2), (5, 9), (9, 10)])
    [(0, 2), (4, 10)]
    """
    merged: list[Stretch] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def walk(text: str, regions: Sequence[Stretch], redacted: str, within: Replaced | None = None) -> list[Replaced] | None:
    """Return what stands in place of each region, one for each; None where what lies between them isn't there in order.

    `regions` are stretches of the text in order that don't touch; `within` confines both sides.
    """
    low, high, at, output_end = within or Replaced(0, len(text), 0, len(redacted))
    if not regions:
        return [] if text[low:high] == redacted[at:output_end] else None
    first = regions[0][0]
    if not redacted.startswith(text[low:first], at, output_end):
        return None
    at += first - low
    found: list[Replaced] = []
    last = len(regions) - 1
    for number, (start, end) in enumerate(regions):
        if number == last:
            stop = output_end - (high - end)
            if stop < at or redacted[stop:output_end] != text[end:high]:
                return None
        else:
            following = text[end : regions[number + 1][0]]
            stop = _find_end(text[start:end], following, redacted, at, output_end)
            if stop < 0:
                return None
        found.append(Replaced(start, end, at, stop))
        if number < last:
            at = stop + regions[number + 1][0] - end
    return found


def _find_end(value: str, following: str, redacted: str, at: int, output_end: int) -> int:
    """Return where a replacement ends that something known follows, or -1.

    The first place where that stands may be inside the replacement if it's as short as a space.
    """
    if len(following) < _SHORT:
        same = at + len(value)
        if redacted.startswith(following, same, output_end) and _is_like(value, redacted[at:same]):
            return same
        masked = mask_at(redacted, at)
        if masked > at and redacted.startswith(following, masked, output_end):
            return masked
    return redacted.find(following, at, output_end)


def _is_like(value: str, written: str) -> bool:
    """Return whether what was written has the value's length and separators: the value, or a mask of its shape."""
    return value == written or (
        len(value) == len(written) and all(a.isalnum() or a == b for a, b in zip(value, written, strict=True))
    )


def walk_between_masks(text: str, redacted: str) -> list[Replaced] | None:
    """Return what the output's masks stand for, as what lies between them is found in the text in order; None if not.

    A mask that the text itself has stands for itself, and is left out.
    """
    found: list[Replaced] = []
    at = output_at = 0
    masks = wide_mask_pieces(redacted)
    if not masks:
        return None
    for (start, end), following in zip(masks, [*(start for start, _ in masks[1:]), len(redacted)], strict=True):
        if not found and at == 0 and output_at == 0:
            if not text.startswith(redacted[:start]):
                return None
            at = output_at = start
        between = redacted[end:following]
        if following < len(redacted):
            there = text.find(between, at) if between else at
        else:
            there = len(text) - len(between) if text.endswith(between) else -1
        if there < at:
            return None
        if text[at:there] != redacted[output_at:end]:
            found.append(Replaced(at, there, output_at, end))
        at, output_at = there + len(between), following
    return [_narrowed(text, redacted, one) for one in found]


def _narrowed(text: str, redacted: str, one: Replaced) -> Replaced:
    """Return a replacement by a digest without the letters before and after it that it can't have: it has a length."""
    size = one.output_end - one.output_start
    exact = next((n for n in DIGESTS if n <= size), size)
    if exact == size or not redacted[one.output_start : one.output_end].isalnum():
        return one
    ours, theirs = text[one.start : one.end], redacted[one.output_start : one.output_end]
    before = min(_common(ours, theirs), size - exact)
    after = min(_common(ours[before:][::-1], theirs[before:][::-1]), size - exact - before)
    return Replaced(one.start + before, one.end - after, one.output_start + before, one.output_end - after)


def differences(text: str, redacted: str) -> Iterator[Replaced]:
    """Yield where both sides differ, in order, all between being equal."""
    head = _common(text, redacted)
    tail = _common(text[head:][::-1], redacted[head:][::-1])
    ours, theirs = text[head : len(text) - tail], redacted[head : len(redacted) - tail]
    for gap in _token_gaps(_TOKENS.findall(ours), _TOKENS.findall(theirs)):
        one, other = ours[gap.start : gap.end], theirs[gap.output_start : gap.output_end]
        before = _common(one, other)
        after = _common(one[before:][::-1], other[before:][::-1])
        low, high, output_low, output_high = (head + at for at in gap)
        yield Replaced(low + before, high - after, output_low + before, output_high - after)


def _common(one: str, other: str) -> int:
    """Return how many characters both begin with: halving, as slices are compared at memory speed."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low + 1 < high:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _token_gaps(ours: list[str], theirs: list[str]) -> Iterator[Replaced]:
    """Yield where two lists of tokens differ, in characters of each."""
    i = j = at = output_at = 0
    while i < len(ours) or j < len(theirs):
        if i < len(ours) and j < len(theirs) and ours[i] == theirs[j]:
            at += len(ours[i])
            output_at += len(theirs[j])
            i, j = i + 1, j + 1
            continue
        ahead, output_ahead = _agree_again(ours, theirs, i, j)
        size = sum(map(len, ours[i : i + ahead]))
        output_size = sum(map(len, theirs[j : j + output_ahead]))
        yield Replaced(at, at + size, output_at, output_at + output_size)
        at, output_at = at + size, output_at + output_size
        i, j = i + ahead, j + output_ahead


def _agree_again(ours: list[str], theirs: list[str], i: int, j: int) -> tuple[int, int]:
    """Return how many tokens to pass on either side until both agree again; all that is left where they never do."""
    left, output_left = len(ours) - i, len(theirs) - j
    window = _FIRST_WINDOW
    while True:
        seen: dict[tuple[str, ...], int] = {}
        for b in range(min(window, output_left - _AGREEING + 1)):
            seen.setdefault(tuple(theirs[j + b : j + b + _AGREEING]), b)
        best = (left, output_left)
        for a in range(min(window, left - _AGREEING + 1)):
            if a >= sum(best):
                break
            tokens = tuple(ours[i + a : i + a + _AGREEING])
            b = seen.get(tokens, -1)
            if b >= 0 and a + b < sum(best) and any(map(str.isalnum, tokens)):
                best = (a, b)
        if best != (left, output_left) or window >= max(left, output_left):
            return best
        window *= 4
