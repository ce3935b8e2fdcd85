"""The names that spans count under in the ledger: known ones folded, so many unknown ones, the rest as one."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.entities import Aliases
from monitor.names import UNLISTED, BoundedNames

_CACHED = 10_000


class CountedNames(dict[str, str]):
    """For each spelling the name that it counts under: annotators can't make names without end.

    Looked up span by span, so it's a dict that fills itself.

    Parameters
    ----------
    aliases
        Folds a spelling onto a name, and knows which names are known.
    limit
        The most unknown names that are kept apart, of those that were admitted.

    Examples
    --------
    >>> names = CountedNames(Aliases(), limit=1)
    >>> names.admit(["per", "Badge", "Ticket"])
    >>> names["per"], names["BADGE"], names["ticket"]
    ('PERSON', 'BADGE', 'UNLISTED')
    """

    def __init__(self, aliases: Aliases, limit: int) -> None:
        super().__init__()
        self._aliases = aliases
        self._kept = BoundedNames(limit)
        self._met: set[str] = set()

    def __missing__(self, spelled: str) -> str:
        if len(self) >= _CACHED:
            self.clear()
        name = self._aliases.fold(spelled)
        self[spelled] = name if self._aliases.known(name) or name in self._kept.held else UNLISTED
        return self[spelled]

    @property
    def full(self) -> bool:
        """Whether a name may have found no room, so that the order of admission told which."""
        return len(self._kept.held) >= self._kept.limit

    def admit(self, spelled: Iterable[str]) -> None:
        """Keep the unknown names among these apart, in their own order, as long as there is room.

        A name is never let go of: what was added under it is taken away under it.
        """
        new = set(spelled) - self._met
        if not new:
            return
        if len(self._met) >= _CACHED:
            self._met.clear()
        self._met |= new
        for name in sorted({name for name in map(self._aliases.fold, new) if not self._aliases.known(name)}):
            self._kept.admit(name, 0)
        self.clear()
