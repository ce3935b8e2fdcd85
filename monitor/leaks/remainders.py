"""What of a value its own replacement still shows, letter by letter.

* Beside a mask or placeholder: what stands before the first one is compared with the value's beginning, what stands
  after the last with its end, and what stands between with anything in order. A mask that keeps the value's length is
  compared place by place.
* Without one the value was cut, or another value was put in its place, which shares some letters with it by chance. A
  cut value is a beginning, an end or a part of the value. Of a surrogate it counts what is too much for chance: most
  letters at their ends, or one name of several.
* In brackets a counter, a digest and a label say nothing. The value itself does, and one of its names beside a label.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from monitor.leaks.masks import BRACKETED, DIGESTS, PLAIN, is_surely_masked, mask_pieces
from monitor.leaks.squeezed import squeeze, trace
from monitor.leaks.words import PARTICLES, TITLES

_BY_CHANCE = 4
"""Letters and digits at the ends of a surrogate that may be the value's: `+31 6`, a year, a bank's code."""
_BY_CHANCE_SHARE = 0.6
"""Share of the value's letters from which on so many are no chance: a date's day and month, but not its year."""
_WEIGHTY = 5
"""Letters of a value that, all in a row, aren't met by chance inside a replacement."""
_TOKEN = 4
"""Letters of a name that may stand alone for it."""
_HEX = re.compile("[0-9a-f]+|[0-9A-F]+")
_LONGEST_CUT = 2000
"""Characters of an output, or of its value, that pieces are looked for in: each is searched in all of the value."""
_WINDOW = 20_000
"""Letters of a value in which what stands between two masks is looked for."""

Places = list[tuple[int, int]]


class Piece(NamedTuple):
    """A stretch of a value, and where it stands in what was written instead."""

    start: int
    end: int
    output_start: int
    output_end: int


class Remainder(NamedTuple):
    """What a replacement shows of its value."""

    pieces: tuple[Piece, ...]
    masked: bool
    """Whether a mask or placeholder stands there too."""


NOTHING = Remainder((), masked=True)


def find_remainder(value: str, written: str, *, person: bool, pieces: int = 1) -> Remainder:
    """Return what of a value is left in what was written in its place.

    `person`: its words are names; `pieces`: how many a value may be cut into, where several were masked as one.

    >>> value = "06-24 11 87 03"
    >>> [p[:2] for p in find_remainder(value, "06-24 11 87 **", person=False).pieces]
    [(0, 11)]
    >>> find_remainder(value, "[[PHONE_NUMBER_03]]", person=False).pieces
    ()
    """
    if written == value:
        return Remainder((Piece(0, len(value), 0, len(written)),), masked=False)
    if not written or PLAIN.fullmatch(written) or not squeeze(value):
        return NOTHING
    masks = mask_pieces(written) if len(written) != len(value) or is_surely_masked(written) else []
    ours, theirs = trace(value), trace(written)
    digest = None if (found := _whole(ours, theirs, written)) else _beside_digest(value, written)
    if digest is not None:
        return Remainder(digest, masked=True)
    if masks:
        found = found or _beside_masks(value, written, ours, masks, person=person)
    elif not found:
        apart = pieces > 1 and len(value) <= _LONGEST_CUT
        found = _cut(ours, theirs) or (_cut_apart(value, written, pieces) if apart else ())
        found = found or _alike(value, written, person=person)
    return Remainder(found, masked=bool(masks))


def _beside_masks(
    value: str, written: str, ours: tuple[str, Places], masks: list[tuple[int, int]], *, person: bool
) -> tuple[Piece, ...]:
    """Return what stands inside placeholders of a value, or else beside masks."""
    if inside := _in_brackets(value, written, masks, person=person):
        return inside
    if len(written) == len(value) and not BRACKETED.search(written):
        return _in_place(value, written, masks)
    return _beside(value, ours, written, masks)


def _beside_digest(value: str, written: str) -> tuple[Piece, ...] | None:
    """Return what stands glued to a hex digest, whose length tells where it begins; None where there's no digest."""
    before = _common(value, written)
    after = _common(value[::-1], written[::-1])
    for size in DIGESTS:
        extra = len(written) - size
        head, tail = min(before, extra), min(after, extra)
        if 0 <= extra <= before + after and _HEX.fullmatch(written[head : len(written) - extra + head]):
            # a digest that begins as the value does may leave either end open: both are told
            ends = (Piece(0, head, 0, head), Piece(len(value) - tail, len(value), len(written) - tail, len(written)))
            return tuple(piece for piece in ends if squeeze(value[piece.start : piece.end]))
    return None


def _piece(ours: Places, low: int, high: int, theirs: Places, output_low: int, output_high: int) -> Piece:
    return Piece(ours[low][0], ours[high - 1][1], theirs[output_low][0], theirs[output_high - 1][1])


def _whole(ours: tuple[str, Places], theirs: tuple[str, Places], written: str) -> tuple[Piece, ...]:
    """Return the value as a whole where it's there, in any spelling."""
    letters, places = ours
    at = theirs[0].find(letters)
    if at < 0:
        return ()
    end = at + len(letters)
    start, stop = theirs[1][at][0], theirs[1][end - 1][1]
    if len(letters) < _WEIGHTY and (written[start - 1 : start].isalnum() or written[stop : stop + 1].isalnum()):
        return ()
    if len(letters) < _WEIGHTY and BRACKETED.search(written) and len(letters) < len(theirs[0]):
        return ()
    return (_piece(places, 0, len(letters), theirs[1], at, end),)


def _cut(ours: tuple[str, Places], theirs: tuple[str, Places]) -> tuple[Piece, ...]:
    """Return all that was written where it's a beginning, an end or a longer part of the value."""
    letters, written = ours[0], theirs[0]
    if not written:
        return ()
    if letters.startswith(written):
        at = 0
    elif letters.endswith(written):
        at = len(letters) - len(written)
    else:
        at = letters.find(written) if len(written) >= _TOKEN else -1
    return (_piece(ours[1], at, at + len(written), theirs[1], 0, len(written)),) if at >= 0 else ()


def _cut_apart(value: str, written: str, most: int) -> tuple[Piece, ...]:
    """Return all that was written where it's a few pieces of the value in order.

    The first is its beginning or the last its end: several values were cut at wrong places, and what stood between them
    went, too.
    """
    pieces: list[Piece] = []
    at = reached = 0
    while at < min(len(written), _LONGEST_CUT):
        size = 1
        found = value.find(written[at : at + size], reached)
        while found >= 0 and at + size < len(written):
            longer = value.find(written[at : at + size + 1], found)
            if longer < 0:
                break
            found, size = longer, size + 1
        if found < 0 or (size < 2 and len(written) > 1) or len(pieces) == most:
            return ()
        pieces.append(Piece(found, found + size, at, at + size))
        at, reached = at + size, found + size
    if not pieces or at < len(written) or (pieces[0].start > 0 and reached < len(value)):
        return ()
    return tuple(pieces)


def _alike(value: str, written: str, *, person: bool) -> tuple[Piece, ...]:
    """Return what a surrogate shares with the value beyond chance."""
    if "@" in value:  # half of all made-up addresses are at example.org: the local parts are compared
        value, written = value.rpartition("@")[0], written.rpartition("@")[0] or written
    (letters, places), (other, output_places) = trace(value), trace(written)
    head = _common(letters, other)
    tail = min(_common(letters[::-1], other[::-1]), len(letters) - head, len(other) - head)
    if head + tail > _BY_CHANCE and head + tail >= math.ceil(_BY_CHANCE_SHARE * len(letters)):
        pieces = [_piece(places, 0, head, output_places, 0, head)] if head else []
        if tail:
            ours, theirs = len(letters), len(other)
            pieces.append(_piece(places, ours - tail, ours, output_places, theirs - tail, theirs))
        return tuple(pieces)
    return _shared_names(value, written) if person else ()


def _shared_names(value: str, written: str) -> tuple[Piece, ...]:
    theirs = {squeeze(word): (start, end) for word, start, end in _split(written)}
    return tuple(
        Piece(start, end, *theirs[name])
        for word, start, end in _split(value)
        if len(name := squeeze(word)) >= _TOKEN and name in theirs and name not in PARTICLES and name not in TITLES
    )


def _split(text: str) -> list[tuple[str, int, int]]:
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        found.append((word, at, at + len(word)))
        at += len(word)
    return found


def _in_brackets(value: str, written: str, masks: list[tuple[int, int]], *, person: bool) -> tuple[Piece, ...]:
    """Return what brackets hold of a value: all of it, or one of its names beside a label (`[NAME: Jansen]`)."""
    pieces: list[Piece] = []
    for start, end in masks:
        if written[start : start + 1] not in {"<", "[", "{", "«", "⟦"}:
            continue
        inside = written[start:end].strip("<>[]{}«»⟦⟧")
        at = written.index(inside, start)
        if inside == value and not value.isupper():
            pieces.append(Piece(0, len(value), at, at + len(inside)))
        elif person and len(words := inside.replace(":", " ").replace("=", " ").split()) > 1:
            for word, low, high in _split(value):
                if len(word) >= _TOKEN and not word.isupper() and word in words[1:]:
                    there = written.index(word, at)
                    pieces.append(Piece(low, high, there, there + len(word)))
    return tuple(pieces)


def _in_place(value: str, written: str, masks: list[tuple[int, int]]) -> tuple[Piece, ...]:
    """Return the stretches that a mask of the value's own length leaves as they were."""
    hidden = {at for start, end in masks for at in range(start, end)}
    pieces: list[Piece] = []
    start = last = -1
    for at, (ours, theirs) in enumerate(zip(value, written, strict=True)):
        if at in hidden or ours != theirs:
            if start >= 0:
                pieces.append(Piece(start, last + 1, start, last + 1))
            start = -1
        elif ours.isalnum():
            start, last = (at if start < 0 else start), at
    if start >= 0:
        pieces.append(Piece(start, last + 1, start, last + 1))
    return tuple(pieces)


def _beside(value: str, ours: tuple[str, Places], written: str, masks: list[tuple[int, int]]) -> tuple[Piece, ...]:
    """Return what stands before, between and after masks of any length, where it's the value's."""
    letters, places = ours
    edges = [0, *(at for mask in masks for at in mask), len(written)]
    pieces: list[Piece] = []
    reached = 0
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        other, there = trace(written[start:end])
        if not other:
            continue
        first, last = start == 0, end == len(written)
        if len(other) == 1 and (first or last):  # one letter is met by chance, but not with what stands around it
            first, last = first and value.startswith(written[:end]), last and value.endswith(written[start:])
        low = _locate(letters, other, reached, first=first, last=last)
        if low < 0:
            continue
        shown = [(start + a, start + b) for a, b in there]
        pieces.append(_piece(places, low, low + len(other), shown, 0, len(other)))
        reached = low + len(other)
    return tuple(pieces)


def _locate(letters: str, other: str, reached: int, *, first: bool, last: bool) -> int:
    """Return where letters beside a mask stand in the value, or -1."""
    if first and letters.startswith(other):
        return 0
    if last and letters.endswith(other) and len(letters) - len(other) >= reached:
        return len(letters) - len(other)
    return letters.find(other, reached, reached + _WINDOW) if len(other) >= 2 else -1


def _common(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
