"""What two searches of the same documents found of each other's, as whole numbers that add.

On its own, since tallies are made of it and ROUTE has no use for what estimates need.
"""

from __future__ import annotations

from typing import NamedTuple


class Captures(NamedTuple):
    """Unweighted sums over documents of what two searches found of one entity; whole numbers, which add exactly."""

    first: int = 0
    """Occurrences that the first found."""
    second: int = 0
    both: int = 0
    missed_by_first: int = 0
    """Documents of which the first missed something that the second found."""
    missed_by_second: int = 0
    bb: int = 0
    b1: int = 0
    """Σ both · first, as b2 is Σ both · second."""
    b2: int = 0
    yy1: int = 0
    """Σ first², as yy2 is Σ second²."""
    yy2: int = 0

    @classmethod
    def of(cls, first: int, second: int, both: int) -> Captures:
        """Return one document's sums. Raises ValueError where both found more than one of them did.

        >>> Captures.of(3, 2, 2)[:5], Captures.of(3, 2, 2).b1
        ((3, 2, 2, 0, 1), 6)
        """
        if not 0 <= both <= min(first, second):
            raise ValueError(f"both found {both}, one found {first}, the other {second}")
        missed = int(second > both), int(first > both)
        squares = both * both, both * first, both * second, first * first, second * second
        return cls(first, second, both, *missed, *squares)

    def plus(self, other: Captures) -> Captures:
        """Return the sums of two disjoint sets of documents."""
        return Captures(*(a + b for a, b in zip(self, other, strict=True)))

    def exchanged(self) -> Captures:
        """Return the same with the second search as the first."""
        first, second, both, by_first, by_second, bb, b1, b2, yy1, yy2 = self
        return Captures(second, first, both, by_second, by_first, bb, b2, b1, yy2, yy1)
