"""Each replacement beside what it replaced: what stays of every flagged span, and whether its policy lets it."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from monitor.leaks.alignment import Replaced
from monitor.leaks.findings import Kind, Leak
from monitor.leaks.layout import Layout
from monitor.leaks.masks import PLAIN
from monitor.leaks.policy import EntityPolicy, Policy
from monitor.leaks.remainders import NOTHING, Piece, Remainder, find_remainder
from monitor.leaks.values import nature_of
from monitor.records import Span

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SLID = 16
"""Characters that a mask may lie beside its value without a character of more than one byte before it."""


class Edge(NamedTuple):
    """Where a mask ends with nothing of the value left: its rest may follow."""

    span: Span
    replaced: Replaced
    after: bool
    """At the end of the mask, or before it."""
    limit: int
    """Where the next mask begins, or the last one ended."""


class InPlace(NamedTuple):
    """What a look at all replacements gives."""

    leaks: tuple[Leak, ...]
    masked: tuple[tuple[int, int], ...]
    edges: tuple[Edge, ...]
    replaced_spans: int


NOWHERE = InPlace((), (), (), 0)


def look_in_place(
    text: str,
    spans: Sequence[Span],
    redacted: str,
    policy: Policy,
    layout: Layout,
    numbers: Sequence[int] | None = None,
) -> InPlace:
    """Return what every replacement shows of its value; `spans` in order of their starts and of their ends.

    With `numbers` only these replacements are looked at, and no span is untouched for that.
    """
    look = _Look(text, spans, redacted, policy, layout)
    for number in range(len(layout.replaced)) if numbers is None else numbers:
        look.compare(number)
    if numbers is None:
        look.add_strays()
        look.add_untouched()
    return InPlace(tuple(look.leaks), tuple(sorted(look.masked)), tuple(look.edges), look.replaced_spans)


class _Look:
    def __init__(self, text: str, spans: Sequence[Span], redacted: str, policy: Policy, layout: Layout) -> None:
        self._text = text
        self._spans = spans
        self._redacted = redacted
        self._policy = policy
        self._layout = layout
        self._starts = [span.start for span in spans]
        self._ends = [span.end for span in spans]
        self._seen: set[int] = set()
        self._beyond: int | None = None  # bytes of the text more than its characters
        self.leaks: list[Leak] = []
        self.masked: list[tuple[int, int]] = []
        self.edges: list[Edge] = []
        self.replaced_spans = 0

    def compare(self, number: int) -> None:
        """Compare a replacement with what it replaced."""
        replaced = self._layout.replaced[number]
        first, last = bisect_right(self._ends, replaced.start), bisect_left(self._starts, replaced.end)
        self._seen.update(range(first, last))
        spans = self._spans[first:last]
        remainder = self._remainder(replaced, spans)
        if spans and not remainder.pieces:
            if replaced.start < replaced.end:
                self.masked.append((replaced.start, replaced.end))
                self._note_edges(number, replaced, spans, self.masked[-1:])
            self.replaced_spans += len(spans)
            return
        pieces = [_moved(piece, replaced) for piece in remainder.pieces]
        masked = self._masked(replaced, pieces)
        self.masked += masked
        if not spans:
            return
        around = replaced.start < spans[0].start or replaced.end > spans[-1].end or self._swallows(spans, masked)
        begun, reached = [piece.start for piece in pieces], [piece.end for piece in pieces]
        for span in spans:
            touching = pieces[bisect_right(reached, span.start) : bisect_left(begun, span.end)]
            own = [piece for piece in (_within(piece, span) for piece in touching) if self._says(piece)]
            whole = bool(own) and not self._says_more(span, own)
            self.replaced_spans += not whole
            slid = around or (whole and remainder.masked and len(spans) == 1)
            kind: Kind = "shifted_mask" if slid else "untouched" if whole else "partial_mask"
            self._report(kind, span, own, whole=whole)
        self._note_edges(number, replaced, spans, masked)

    def _swallows(self, spans: Sequence[Span], masked: Sequence[tuple[int, int]]) -> bool:
        """Return whether letters or digits between spans were masked, too."""
        between = [(one.end, other.start) for one, other in itertools.pairwise(spans)]
        return any(
            any(map(str.isalnum, self._text[max(start, low) : min(end, high)]))
            for start, end in masked
            for low, high in between[max(0, bisect_left(between, (start, 0)) - 1) : bisect_left(between, (end, 0))]
        )

    def _remainder(self, replaced: Replaced, spans: Sequence[Span]) -> Remainder:
        value = self._text[replaced.start : replaced.end]
        written = self._redacted[replaced.output_start : replaced.output_end]
        if PLAIN.fullmatch(written) or self._policy.is_placeholder(written):
            return NOTHING
        exactly = len(spans) == 1 and (replaced.start, replaced.end) == (spans[0].start, spans[0].end)
        pieces = 1 if exactly else len(spans) + 1
        person = any(nature_of(span.entity) == "person" for span in spans)
        remainder = find_remainder(value, written, person=person, pieces=pieces)
        if remainder.pieces and not remainder.masked and spans and written != value:
            shown = sum(piece.end - piece.start for piece in remainder.pieces)
            if all(self._policy.of(span.entity).surrogate for span in spans) and shown < len(value.strip()):
                return NOTHING
        return remainder

    def _says(self, piece: Piece) -> bool:
        return any(map(str.isalnum, self._text[piece.start : piece.end]))

    def _says_more(self, span: Span, pieces: Sequence[Piece]) -> bool:
        """Return whether a span has a letter or digit outside its pieces."""
        at = span.start
        for piece in pieces:
            if any(map(str.isalnum, self._text[at : piece.start])):
                return True
            at = piece.end
        return any(map(str.isalnum, self._text[at : span.end]))

    def _masked(self, replaced: Replaced, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
        edges = [replaced.start, *(at for piece in pieces for at in (piece.start, piece.end)), replaced.end]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        return [(a, b) for a, b in gaps if a < b and (not pieces or any(map(str.isalnum, self._text[a:b])))]

    def _report(self, kind: Kind, span: Span, pieces: Sequence[Piece], *, whole: bool) -> None:
        """Add a leak for each piece that the policy doesn't let stay; one for all where the value is whole."""
        allowed = _allowed(self._text[span.start : span.end], self._policy.of(span.entity))
        left = [piece for piece in pieces if not self._is_allowed(piece, span.start, allowed)]
        if left and whole:
            left = [Piece(span.start, span.end, pieces[0].output_start, pieces[-1].output_end)]
        name = self._policy.name(span.entity)
        self.leaks += [Leak(kind, name, *piece) for piece in left]

    def _is_allowed(self, piece: Piece, start: int, allowed: frozenset[int]) -> bool:
        if not allowed:
            return False
        return all(at - start in allowed for at in range(piece.start, piece.end) if self._text[at].isalnum())

    def _note_edges(
        self, number: int, replaced: Replaced, spans: Sequence[Span], masked: Sequence[tuple[int, int]]
    ) -> None:
        if not masked:
            return
        others = self._layout.replaced
        if masked[-1][1] == replaced.end <= spans[-1].end:
            limit = others[number + 1].start if number + 1 < len(others) else len(self._text)
            self.edges.append(Edge(spans[-1], replaced, after=True, limit=limit))
        if masked[0][0] == replaced.start >= spans[0].start:
            limit = others[number - 1].end if number else 0
            self.edges.append(Edge(spans[0], replaced, after=False, limit=limit))

    def add_strays(self) -> None:
        """Add what was replaced where nothing is flagged."""
        self.masked += [(one.start, one.end) for one in self._layout.stray if one.start < one.end]

    def add_untouched(self) -> None:
        """Add the spans that nothing was replaced of: a mask that lies beside one, of no other span, has slid."""
        strays = [s for s in self._layout.stray if self._text[s.start : s.end].strip()]
        if len(self._seen) == len(self._spans):
            return
        cover = sorted([*self._layout.replaced, *self._layout.stray])
        starts = [one.start for one in cover]
        taken = 0
        for number, span in enumerate(self._spans):
            if number in self._seen or not any(map(str.isalnum, self._text[span.start : span.end])):
                continue
            before = bisect_right(starts, span.start) - 1
            by = cover[before].output_end - cover[before].end if before >= 0 else 0
            kind: Kind = "untouched"
            while taken < len(strays) and not self._may_be_of(strays[taken], span) and strays[taken].end < span.start:
                taken += 1
            if taken < len(strays) and self._may_be_of(strays[taken], span):
                kind = "shifted_mask"
                taken += 1
            whole = Piece(span.start, span.end, span.start + by, span.end + by)
            self._report(kind, span, [whole], whole=True)

    def _may_be_of(self, stray: Replaced, span: Span) -> bool:
        """Return whether a mask may be the span's own, slid by no more than an offset of another unit slides."""
        distance = max(stray.start - span.end, span.start - stray.end)
        if distance <= _SLID + span.end - span.start:
            return True
        if self._beyond is None:
            self._beyond = len(self._text.encode(errors="replace")) - len(self._text)
        return distance <= self._beyond + _SLID


def _moved(piece: Piece, replaced: Replaced) -> Piece:
    start, end, output_start, output_end = piece
    by, output_by = replaced.start, replaced.output_start
    return Piece(start + by, end + by, output_start + output_by, output_end + output_by)


def _within(piece: Piece, span: Span) -> Piece:
    """Return the part of a piece that lies in a span; where both sides don't run alike, all of its output."""
    start, end = max(piece.start, span.start), min(piece.end, span.end)
    if piece.end - piece.start != piece.output_end - piece.output_start:
        return Piece(start, end, piece.output_start, piece.output_end)
    by = piece.output_start - piece.start
    return Piece(start, end, start + by, end + by)


def _allowed(value: str, policy: EntityPolicy) -> frozenset[int]:
    """Return the places of a value's letters and digits that may stay."""
    places = [at for at, character in enumerate(value) if character.isalnum()]
    kept = {*places[: policy.keep_first], *(places[-policy.keep_last :] if policy.keep_last else ())}
    if "email_domain" in policy.keep and "@" in value:
        kept.update(range(value.rindex("@") + 1, len(value)))
    if "year" in policy.keep:
        kept.update(at for year in _YEAR.finditer(value) for at in range(*year.span()))
    return frozenset(kept)
