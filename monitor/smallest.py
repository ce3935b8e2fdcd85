"""Numbers that come and go, and the smallest of them that is there.

A heap of the smallest ones, and the others packed beside it: a ledger holds two for each label, and a number of eight
bytes takes forty in a heap. Where the heap has grown, its larger half is packed; where it's empty, the smallest of the
packed make the next one, so many of them that a change costs O(log n) over time.

Beside them stand those of the numbers that were taken away. They are forgotten when they come to the top, and all at
once when they are the larger part, so that what is held follows what is there. Numbers that are taken away and come
back at once, as a changed document's do, leave all else alone.
"""

from __future__ import annotations

import heapq
from array import array

_FEW = 64
_LEAST = 16
_SHARE = 16
"""A heap begins with `_LEAST` numbers and one in so many of the packed ones; twice as large it's halved."""


class Smallest:
    """A multiset of numbers that knows its smallest; of whole ones those below 2⁵³.

    >>> times = Smallest()
    >>> for at in (3.0, 1.0, 2.0):
    ...     times.add(at)
    >>> times.take(1.0)
    >>> times.smallest
    2.0
    """

    __slots__ = ("_heap", "_largest", "_packed", "_taken", "_times_taken")

    def __init__(self) -> None:
        self._heap: list[float] = []
        self._packed: array[float] | None = None
        """None of them smaller than one in the heap; None as long as there were none, as of most days and languages."""
        self._largest = float("inf")
        """What is larger is packed."""
        self._taken: dict[float, int] = {}
        self._times_taken = 0

    def add(self, number: float) -> None:
        """Put a number in."""
        if number in self._taken:
            self._give_back(number)
        elif number > self._largest and self._packed is not None:
            self._packed.append(number)
        else:
            heapq.heappush(self._heap, number)
            if len(self._heap) > 2 * self._most:
                self._pack()

    def take(self, number: float) -> None:
        """Take away a number that was put in."""
        self._taken[number] = self._taken.get(number, 0) + 1
        self._times_taken += 1
        if self._times_taken > _FEW + self.held // 2:
            self._forget_taken()

    @property
    def smallest(self) -> float | None:
        """The smallest number; None where there is none."""
        while True:
            while self._heap and self._heap[0] in self._taken:
                self._give_back(heapq.heappop(self._heap))
            if self._heap or not self._packed:
                return self._heap[0] if self._heap else None
            self._unpack()

    @property
    def held(self) -> int:
        """How many numbers take up room: those that are there, and those that went and weren't forgotten yet."""
        return len(self._heap) + (0 if self._packed is None else len(self._packed))

    @property
    def _most(self) -> int:
        """As many as the heap begins with, and is left with."""
        return _LEAST + (0 if self._packed is None else len(self._packed) // _SHARE)

    def _pack(self) -> None:
        """Leave the smaller half in the heap, and pack the other."""
        self._heap.sort()  # a sorted list is a heap
        kept = self._most
        if self._packed is None:
            self._packed = array("d")
        self._packed.extend(self._heap[kept:])
        del self._heap[kept:]
        self._largest = self._heap[-1]

    def _unpack(self) -> None:
        """Take the smallest of the packed into the empty heap."""
        numbers, most = sorted(self._packed or ()), self._most
        self._heap, self._packed = numbers[:most], array("d", numbers[most:])
        self._largest = self._heap[-1]

    def _give_back(self, number: float) -> None:
        self._times_taken -= 1
        left = self._taken[number] - 1
        if left:
            self._taken[number] = left
        else:
            del self._taken[number]

    def _forget_taken(self) -> None:
        self._heap = [number for number in self._heap if self._stays(number)]
        heapq.heapify(self._heap)
        if self._packed is not None:
            self._packed = array("d", (number for number in self._packed if self._stays(number)))

    def _stays(self, number: float) -> bool:
        """Say whether a number that is held wasn't taken away; if it was, once less from now on."""
        if number in self._taken:
            self._give_back(number)
            return False
        return True
