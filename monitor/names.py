"""Names that come from outside, kept bounded: a metric's labels and a tally's keys must not grow with what is sent."""

from __future__ import annotations

from collections.abc import Iterable

UNLISTED = "UNLISTED"
"""What further names are counted under, once as many as the limit are kept apart."""


class BoundedNames:
    """The first so many distinct names; later ones become `UNLISTED`. Part of a stage's state: a restart keeps them.

    >>> names = BoundedNames(1)
    >>> [names.admit(n) for n in ("a", "b", "a")]
    ['a', 'UNLISTED', 'a']
    """

    __slots__ = ("_limit", "held")

    def __init__(self, limit: int, held: Iterable[str] = ()) -> None:
        self._limit = limit
        self.held = set(held)

    def admit(self, name: str) -> str:
        """Return the name where it's kept apart, else `UNLISTED`."""
        if name in self.held:
            return name
        if len(self.held) < self._limit:
            self.held.add(name)
            return name
        return UNLISTED
