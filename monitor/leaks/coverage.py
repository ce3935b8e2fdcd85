"""What of a text its output doesn't show: stretches by which a label's spans are told hidden or readable later.

A drawn document's row keeps these and no words. They are worked out where the output was looked at, under the policy
in force there, and travel with the drawn document.

An output that isn't aligned has no places to compare. There a word is hidden where its letters, in one spelling, stand
nowhere in the output, inside a longer word or across two words neither. What stands there by chance, as `an` and `06`
mostly do, counts as readable: the disclosure rate may be too high for it, never too low. Of one that is aligned the
check's word is taken for what is masked, and of spans that touch or overlap it may miss a letter or two.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from monitor.leaks.alignment import merge_stretches
from monitor.leaks.findings import Checked
from monitor.leaks.percent import decode
from monitor.leaks.policy import Policy
from monitor.leaks.single_letters import forgive_letters
from monitor.leaks.squeezed import Letters, squeeze
from monitor.records import Span

Stretches = list[tuple[int, int]]
"""Half-open, in code points of the text, sorted, none touching another."""
_MOST = 20_000
"""Stretches, or joined code points, that a row has room for: twice the spans of the largest document."""
_LONGEST = 16
"""Letters by which a word is looked for; of a longer one the first so many."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, as good as random: what a hash takes a letter in by."""
_JOINERS = {0x200C, 0x200D, *range(0x1160, 0x1200), *range(0x1F3FB, 0x1F400)}
"""Zero-width joiners, second and third parts of Korean syllables, shades of emoji."""
_Hashes = npt.NDArray[np.uint64]


class Coverage(msgspec.Struct, array_like=True, frozen=True):
    """What an output shows nothing of."""

    hidden: Stretches
    """What nobody can read there: masked, or kept by policy; no leak. Reaches over what is no letter or digit beside
    it, so that a label's edges (a full stop, a blank) don't count, and over one letter there that says nothing."""
    masked: Stretches | None
    """What was replaced where it stood; None where the output isn't aligned, and nobody knows."""
    joined: list[int] = []
    """Code points in `masked` that begin no grapheme (combining marks)."""


def coverage_of(text: str, spans: Sequence[Span], redacted: str, found: Checked, policy: Policy) -> Coverage:
    """Return what an output shows nothing of.

    Assumption: `found` is what the check says of just these arguments.

    A flagged span without a leak is hidden whole: what stays of it stays by policy. One with a leak is hidden where it
    was masked. Of ignored entities only what was masked is, too. The source of a leak is readable wherever it was
    masked: it stands elsewhere. Time is linear in both texts and the spans.

    Of more stretches than a row has room for (20,000) those that come later count as readable, and what was masked as
    unknown; of more joined code points each counts as a grapheme.

    >>> found = Checked(aligned=True, leaks=(), masked=((5, 12),), replaced_spans=1)
    >>> coverage_of("I am Bo Smid.", [Span(5, 12, "PERSON")], "I am <PERSON>.", found, Policy())
    Coverage(hidden=[(3, 13)], masked=[(5, 12)], joined=[])
    """
    leaking = merge_stretches([(leak.start, leak.end) for leak in found.leaks])
    if not found.aligned:
        return Coverage(_widened(text, cut_out(_absent(text, redacted), leaking))[:_MOST], None)
    masked = merge_stretches(found.masked)
    kept = [
        (span.start, span.end)
        for span in spans
        if not _overlaps(leaking, span) and not (policy.entities and policy.of(span.entity).ignore)
    ]
    hidden = _widened(text, cut_out(merge_stretches([*masked, *kept]), leaking))
    hidden = forgive_letters(text, spans, hidden, leaking)[:_MOST]
    if len(masked) > _MOST:
        return Coverage(hidden, None)
    joined = _joined(text, masked)
    return Coverage(hidden, masked, joined if len(joined) <= _MOST else [])


def _overlaps(stretches: Stretches, span: Span) -> bool:
    at = bisect_left(stretches, (span.end, 0))
    return at > 0 and stretches[at - 1][1] > span.start


def cut_out(stretches: Iterable[tuple[int, int]], holes: Stretches) -> Stretches:
    """Return what is left of stretches without the holes; both in order, of neither two overlap.

    >>> cut_out([(0, 4), (6, 9)], [(2, 7)])
    [(0, 2), (7, 9)]
    """
    left: Stretches = []
    number = 0
    for low, end in stretches:
        start = low
        while number < len(holes) and holes[number][1] <= start:
            number += 1
        at = number
        while at < len(holes) and holes[at][0] < end:
            if holes[at][0] > start:
                left.append((start, holes[at][0]))
            start = holes[at][1]
            at += 1
        number = max(number, at - 1)  # the last hole may reach into the next stretch
        if start < end:
            left.append((start, end))
    return left


def _widened(text: str, stretches: Stretches) -> Stretches:
    """Return stretches over all beside them that is no letter or digit, joined where they meet."""
    wide: Stretches = []
    for low, high in stretches:
        start, end = low, high
        if wide and start <= wide[-1][1]:  # nothing between them is looked at twice
            start, reached = wide.pop()
            end = max(end, reached)
        while start and not text[start - 1].isalnum():
            start -= 1
        while end < len(text) and not text[end].isalnum():
            end += 1
        wide.append((start, end))
    return wide


def _joined(text: str, stretches: Stretches) -> list[int]:
    """Return the code points of stretches that belong to a grapheme that began before them."""
    return [
        at
        for start, end in stretches
        if not text[start:end].isascii()
        for at in range(start, end)
        if _is_joined(text, at)
    ]


def _is_joined(text: str, at: int) -> bool:
    character = text[at]
    if ord(character) in _JOINERS:
        return True
    kind = unicodedata.category(character)
    return kind[0] == "M" or (kind == "So" and at > 0 and text[at - 1] == "\u200d")


def _absent(text: str, redacted: str) -> Stretches:
    """Return the words of a text whose letters stand nowhere in an output, as stretches that don't overlap."""
    letters = Letters(text)
    begins = letters.word_begins()
    places = [*zip(begins, [*begins[1:], len(letters.text)], strict=True)] if begins else []
    words = {letters.text[first:last][:_LONGEST] for first, last in places}
    there = _standing(words, squeeze(redacted))
    decoded = decode(redacted)
    if decoded is not None:
        there |= _standing(words, squeeze(decoded.text))
    return merge_stretches(
        [letters.place(first, last) for first, last in places if letters.text[first:last][:_LONGEST] not in there]
    )


def _standing(words: set[str], letters: str) -> set[str]:
    """Return the words that stand in a text, told by hashes of all its pieces of as many letters.

    A search for each would take time quadratic in the length. Equal hashes of unequal letters are never seen but where
    somebody made them, and then something counts as readable.
    """
    by_length: defaultdict[int, list[str]] = defaultdict(list)
    for word in words:
        by_length[len(word)].append(word)
    codes = _codes(letters)
    pieces = np.zeros(len(codes) + 1, np.uint64)
    standing: set[str] = set()
    for length in range(1, min(max(by_length, default=0), len(codes)) + 1):
        pieces = pieces[:-1] * _FACTOR + codes[length - 1 :]
        its = by_length.get(length)
        if its is not None:
            hashes, there = _hashes(its, length), np.sort(pieces)  # np.isin takes twenty times as long
            found = there[np.minimum(np.searchsorted(there, hashes), len(there) - 1)] == hashes
            standing.update(word for word, stands in zip(its, found.tolist(), strict=True) if stands)
    return standing


def _hashes(words: Sequence[str], length: int) -> _Hashes:
    columns = _codes("".join(words)).reshape(len(words), length).T
    hashes = np.zeros(len(words), np.uint64)
    for column in columns:
        hashes = hashes * _FACTOR + column
    return hashes


def _codes(text: str) -> _Hashes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
