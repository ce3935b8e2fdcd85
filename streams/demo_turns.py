"""When the demo's versions change: by the clock, or when somebody who watches presses Enter."""

from __future__ import annotations

import asyncio
import os

from monitor.errors import SourceError

_READ_BYTES = 4096


class Turns:
    """Gives the moments at which it's the next version's turn, one after the other.

    Needs a running loop.

    Parameters
    ----------
    hand
        The descriptor that Enter is read from, a terminal's or a pipe's; None goes by the clock. Once it's at its end,
        nothing changes any more.

    Raises
    ------
    SourceError
        Nobody can press Enter there: it's a file, or closed.
    """

    def __init__(self, hand: int | None = None) -> None:
        self._hand = hand
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Event()
        if hand is not None:
            try:
                self._loop.add_reader(hand, self._read, hand)
            except OSError:
                raise SourceError("--by-hand needs a terminal, or a pipe that Enter comes from") from None

    def next(self, after_s: float) -> asyncio.Event:
        """Return the event that is set at the next turn: Enter from now on, or so many seconds from now."""
        self._turn = turn = asyncio.Event()
        if self._hand is None:
            self._loop.call_later(after_s, turn.set)
        return turn

    def _read(self, hand: int) -> None:
        if os.read(hand, _READ_BYTES):
            self._turn.set()
        else:
            self._loop.remove_reader(hand)
