"""Numbers that come and go, and the smallest of them that is there.

A heap, and beside it the numbers in it that were taken away. Those are forgotten when they come to the top, and all at
once when they are the larger part; so a change costs O(log n), and what is held follows what is there. Numbers that
are taken away and come back at once, as a changed document's do, leave the heap alone.
"""

from __future__ import annotations

import heapq

_FEW = 64


class Smallest:
    """A multiset of numbers that knows its smallest.

    >>> times = Smallest()
    >>> for at in (3.0, 1.0, 2.0):
    ...     times.add(at)
    >>> times.take(1.0)
    >>> times.smallest
    2.0
    """

    __slots__ = ("_heap", "_taken", "_times_taken")

    def __init__(self) -> None:
        self._heap: list[float] = []
        self._taken: dict[float, int] = {}
        self._times_taken = 0

    def add(self, number: float) -> None:
        """Put a number in."""
        if number in self._taken:
            self._give_back(number)
        else:
            heapq.heappush(self._heap, number)

    def take(self, number: float) -> None:
        """Take away a number that was put in."""
        self._taken[number] = self._taken.get(number, 0) + 1
        self._times_taken += 1
        if self._times_taken > _FEW + len(self._heap) // 2:
            self._forget_taken()

    @property
    def smallest(self) -> float | None:
        """The smallest number; None where there is none."""
        while self._heap and self._heap[0] in self._taken:
            self._give_back(heapq.heappop(self._heap))
        return self._heap[0] if self._heap else None

    @property
    def held(self) -> int:
        """How many numbers take up room: those that are there, and those that went and weren't forgotten yet."""
        return len(self._heap)

    def _give_back(self, number: float) -> None:
        self._times_taken -= 1
        left = self._taken[number] - 1
        if left:
            self._taken[number] = left
        else:
            del self._taken[number]

    def _forget_taken(self) -> None:
        kept: list[float] = []
        for number in self._heap:
            if number in self._taken:
                self._give_back(number)
            else:
                kept.append(number)
        heapq.heapify(kept)
        self._heap = kept
