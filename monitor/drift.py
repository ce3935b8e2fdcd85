"""Drift of one signal, seen without labels: a share of documents that is no longer what it was.

The detector is ADWIN: a window over all values since the last change, cut in two at many places; where the means on
the two sides of a cut differ by more than chance allows, the share has changed and the window begins anew. With v the
variance of the n values of the window, n0 and n1 those before and after a cut, a cut is a change where

    |mean0 - mean1| > √(2 m v d) + 2/3 m d,   d = ln(2 ln(n) / delta),   m = 1/(n0 - 4) + 1/(n1 - 4)

with at least five values on either side. Cuts are tried between buckets, of which there are at most five of each size
1, 2, 4, …: memory and time grow with the logarithm of the window. Cuts are looked for after every 32nd value.

Why it is written here, where river has it: the values are 0 and 1, so a window is a handful of whole numbers (v is
p(1 - p), nothing else of a bucket is needed than its ones), which survive a restart exactly and can be checked one by
one when they're read back. river's detectors persist by pickle only: bytes out of a topic would then be code that the
board runs, and the format inside the pickle panics, past every `except Exception`, where a byte is missing. The tests
hold it against river's, value by value.

Assumption: values are independent. Spread evenly within a checkpoint they vary less than chance, which errs towards
silence. Changes within one checkpoint are seen as one between checkpoints.

Source: A. Bifet and R. Gavaldà, Learning from time-changing data with adaptive windowing, SIAM SDM 2007, 443-448
(ADWIN2); a window that begins anew after a change, a check each 32 values and the least length of 5 are river's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, isfinite, log, sqrt
from typing import Literal, NamedTuple

from monitor.errors import StateError

MOST_VALUES = 500
"""Values a signal and checkpoint at most: more documents than that are scaled down."""
_OF_A_SIZE = 5  # buckets
_EVERY = 32
_LEAST = 5
_LARGEST = 62  # rows: a window of 2^62 values would take longer than anybody waits


class Shift(NamedTuple):
    """A change of share that was found."""

    at_s: float
    """When it was seen: the time of the checkpoint, in seconds since the epoch."""
    direction: Literal["up", "down"]
    before: float
    """Share in the window before the place where the difference is clearest, in [0, 1]."""
    after: float
    """Share in the window after it."""


class DetectorState(NamedTuple):
    """A detector as plain numbers."""

    rows: tuple[tuple[int, ...], ...] = ((),)
    """Ones in each bucket, oldest first; buckets of row i hold 2^i values."""
    carry: float = 0.0
    """Ones that rounding owes, in [-1/2, 1/2]."""
    shifts: int = 0
    last: Shift | None = None


def interleave(size: int, ones: int) -> Iterator[int]:
    """Yield `size` values, `ones` of them 1, spread so evenly that runs of one length differ by one at most.

    Parameters: whole numbers, `0 <= ones <= size`.

    >>> list(interleave(7, 3))
    [0, 0, 1, 0, 1, 0, 1]
    """
    held = 0
    for reached in (place * ones // size for place in range(1, size + 1)):
        yield reached - held
        held = reached


class AdaptiveWindow:
    """The 0/1 values since the last change, as ones a bucket.

    >>> window = AdaptiveWindow()
    >>> found = [window.take(value, delta=0.002) for value in [0] * 64 + [1] * 64]
    >>> [(i, cut) for i, cut in enumerate(found) if cut]
    [(95, (0.0, 1.0))]
    """

    __slots__ = ("ones", "rows", "width")

    def __init__(self, rows: Sequence[Sequence[int]] = ((),)) -> None:
        self.rows = [list(row) for row in rows]
        self.width = sum(len(row) << i for i, row in enumerate(rows))
        self.ones = sum(map(sum, rows))

    def take(self, value: int, delta: float) -> tuple[float, float] | None:
        """Take one value; return the means before and after a change where there is one, and begin anew.

        `delta` in (0, 1): the chance, roughly, that one check of an unchanged share finds a change.
        """
        self._add(value)
        if self.width % _EVERY or not 0 < self.ones < self.width:
            return None
        cut = self._clearest_cut(delta)
        if cut is not None:
            self.rows, self.width, self.ones = [[]], 0, 0
        return cut

    def _add(self, value: int) -> None:
        self.width += 1
        self.ones += value
        rows = self.rows
        row = rows[0]
        row.append(value)
        i = 0
        while len(row) > _OF_A_SIZE:
            merged = row[0] + row[1]
            del row[:2]
            i += 1
            if i == len(rows):
                rows.append([])
            row = rows[i]
            row.append(merged)

    def _clearest_cut(self, delta: float) -> tuple[float, float] | None:
        """Return the means on both sides of the cut that is the furthest beyond chance; None where none is."""
        width, ones = self.width, self.ones
        share = ones / width
        odds = log(2 * log(width) / delta)
        spread = 2 * share * (1 - share) * odds
        m = 4 / (width - 2 * _LEAST + 2)
        least = sqrt(spread * m) + 2 / 3 * odds * m  # in the middle; most cuts are done with here
        clearest, found = 0.0, None
        n0 = ones0 = 0
        for i in range(len(self.rows) - 1, -1, -1):
            size = 1 << i
            for held in self.rows[i]:
                n0 += size
                ones0 += held
                n1 = width - n0
                if n0 < _LEAST or n1 < _LEAST:
                    continue
                before, after = ones0 / n0, (ones - ones0) / n1
                if abs(before - after) < least:
                    continue
                m = 1 / (n0 - _LEAST + 1) + 1 / (n1 - _LEAST + 1)
                beyond = abs(before - after) - sqrt(spread * m) - 2 / 3 * odds * m
                if beyond > clearest:
                    clearest, found = beyond, (before, after)
        return found


class SignalDetector:
    """One signal's window, and the last change found in it: latched, for a change is there for one value only.

    >>> detector = SignalDetector()
    >>> for checkpoint in range(20):
    ...     found = detector.take(100, 40 if checkpoint < 15 else 2, at_s=60.0 * checkpoint, delta=0.001)
    >>> detector.last
    Shift(at_s=900.0, direction='down', before=0.398..., after=0.020...)
    """

    def __init__(self) -> None:
        self._window = AdaptiveWindow()
        self._carry = 0.0
        self.shifts = 0
        """Changes found so far."""
        self.last: Shift | None = None
        """The last change found; it stays until another is."""

    @property
    def width(self) -> int:
        """Values since the last change, at most one a document."""
        return self._window.width

    @property
    def share(self) -> float | None:
        """Share since the last change; None before the first value."""
        return self._window.ones / self._window.width if self._window.width else None

    def take(self, documents: int, having: int, *, at_s: float, delta: float, most: int = MOST_VALUES) -> Shift | None:
        """Take one checkpoint's counts; return the change that they showed, the last one where there were several.

        Parameters: `documents` of the checkpoint and `having` of them that count for the signal, whole numbers,
        `0 <= having <= documents`; `at_s` the checkpoint's time; `delta` in (0, 1), the promise for all signals
        together divided by their number; `most` values that are taken, in [1, 500]. No documents are no news.

        Up to `most` documents are taken as they are. More are scaled down to as many values; what rounding leaves over
        is carried to the next checkpoint, so that a share of one in ten thousand isn't 0 for good.

        Raises ValueError for counts that can't be, a time that isn't finite, a delta out of range; the state is then
        what it was. (One NaN would silence the window for good, without an error.)
        """
        if not 0 <= having <= documents or documents % 1 or having % 1:
            raise ValueError(f"{having} of {documents} documents: whole numbers are allowed, 0 <= having <= documents")
        if not isfinite(at_s) or not 0 < delta < 1:
            raise ValueError(f"time {at_s}, delta {delta}: a finite time is allowed, and a delta in (0, 1)")
        found = None
        for value in self._values(documents, having, most):
            cut = self._window.take(value, delta)
            if cut is not None:
                before, after = cut
                self.shifts += 1
                self.last = found = Shift(at_s, "up" if after > before else "down", before, after)
        return found

    def _values(self, documents: int, having: int, most: int) -> Iterator[int]:
        if documents <= most:
            return interleave(documents, having)
        wanted = most * having / documents + self._carry
        ones = min(max(floor(wanted + 0.5), 0), most)
        self._carry = wanted - ones
        return interleave(most, ones)

    def snapshot(self) -> DetectorState:
        """Return the state as plain numbers."""
        return DetectorState(tuple(map(tuple, self._window.rows)), self._carry, self.shifts, self.last)

    @classmethod
    def restore(cls, state: DetectorState) -> SignalDetector:
        """Return the detector of `snapshot`, which goes on as the other would have.

        Raises
        ------
        StateError
            Numbers that no detector of this version leaves behind.
        """
        _check(state)
        detector = cls()
        detector._window = AdaptiveWindow(state.rows)
        detector._carry, detector.shifts, detector.last = state.carry, state.shifts, state.last
        return detector


def _check(state: DetectorState) -> None:
    rows = state.rows
    lengths = tuple(map(len, rows))
    fits = (
        0 < len(rows) <= _LARGEST
        and lengths == _lengths(sum(n << i for i, n in enumerate(lengths)))
        and all(0 <= ones <= 1 << i for i, row in enumerate(rows) for ones in row)
    )
    if not fits or not abs(state.carry) <= 0.5 or state.shifts < (state.last is not None):
        raise StateError("drift: numbers that no detector of this version leaves behind: it begins anew")
    last = state.last
    if last is not None and not (isfinite(last.at_s) and 0 <= last.before <= 1 and 0 <= last.after <= 1):
        raise StateError("drift: a change that no detector of this version finds: it begins anew")


def _lengths(width: int) -> tuple[int, ...]:
    """Return how many buckets of each size a window of so many values has: it follows from their number alone.

    >>> _lengths(12)
    (4, 4)
    """
    lengths = []
    while True:
        # the sixth bucket of a size, and every second one after it, merges the two oldest
        passed_on = max((width - _OF_A_SIZE + 1) // 2, 0)
        lengths.append(width - 2 * passed_on)
        width = passed_on
        if not width:
            return tuple(lengths)
