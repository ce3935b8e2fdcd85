"""Names that come from outside, kept bounded: a metric's labels and a tally's keys must not grow with what is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

UNLISTED = "UNLISTED"
"""What further names are counted under, once as many as the limit are kept apart."""


class BoundedNames:
    """So many distinct names, first come, first kept; others become `UNLISTED`, and so does a reserved one.

    Part of a stage's state: a restart keeps them, each with the last day that it was in use. A name that the window has
    left behind makes room, so that a new detector version is seen however many there were before it.

    >>> names = BoundedNames(1)
    >>> [names.admit(n, 5) for n in ("a", "b", "a")]
    ['a', 'UNLISTED', 'a']
    >>> names.forget(6)
    >>> names.admit("b", 6)
    'b'
    """

    __slots__ = ("_reserved", "held", "limit")

    def __init__(self, limit: int, held: Mapping[str, int] | None = None, reserved: str | None = None) -> None:
        self.limit = limit
        self.held = dict(held or {})
        self._reserved = reserved

    def admit(self, name: str, day: int) -> str:
        """Return the name where it's kept apart, else `UNLISTED`."""
        if name in self.held:
            return name
        if len(self.held) < self.limit and name != self._reserved:
            self.held[name] = day
            return name
        return UNLISTED

    def renew(self, names: Iterable[str], day: int) -> None:
        """Note that these names were in use on a day; days never go back."""
        self.held.update((name, day) for name in names if name in self.held)

    def forget(self, day: int) -> None:
        """Let go of names that weren't in use since before `day`."""
        self.held = {name: last for name, last in self.held.items() if last >= day}
