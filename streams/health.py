"""What `/healthz` and `/readyz` answer: whether a worker is worth keeping, and whether it does its part.

The worker's loop leaves signs of life; the HTTP thread reads them when somebody asks. Each is one value that is swapped
in whole, so there is no lock, and a loop that hangs can be told from outside.

*Alive* says that restarting the process would not help. Two things must turn. The event loop itself, once a second,
whatever else is the matter. And, while folds are open, the chunk loop: records are asked for, and each stage ends its
rounds of checkpoints. Both may wait for a broker for as long as a record may wait to be acknowledged, and past that the
worker ends by itself: restarting workers because the broker is away would make an outage longer, so only a silence
beyond it is a loop that hangs. Waiting for a broker at the start, for partitions, for recovery: alive.

*Ready* says that the group shares the work with this worker and that its state was recovered. A worker that got no
partition is ready: it's a spare, and takes over when another one leaves; a rollout that waited for it to get some would
wait for ever. Every worker that comes or goes takes all partitions away for a moment: one that was ready stays ready
for `away_s`. It isn't any more past that, when it stops, and when the group hasn't answered it for a session.

What can't be told from inside: a process that is stopped (SIGSTOP), or that doesn't get the interpreter's lock, doesn't
answer at all. A probe's own timeout says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from streams.options import Timings

LOOP_LIMIT_S = 60.0
"""Silence (s) of the event loop from which it hangs: no fold, reading or opening of a ledger takes as long."""
BEYOND_SEND_S = 60.0
"""Silence (s) of the chunk loop past the longest wait for an acknowledgement, from which it hangs."""
RECOVERY_S = 30.0
"""What recovery may take (s) after a rebalance before a worker that was ready isn't any more."""


class Limits(NamedTuple):
    """Seconds of silence."""

    loop_s: float
    chunks_s: float
    away_s: float
    """Without partitions, of a worker that had read before."""

    @classmethod
    def of(cls, timings: Timings) -> Limits:
        """Return the limits of a worker with these timings."""
        return cls(LOOP_LIMIT_S, timings.send_s + BEYOND_SEND_S, timings.rebalance_s + RECOVERY_S)


class Signs(NamedTuple):
    """A worker's signs of life at one moment; times in seconds, by one clock that never goes back."""

    turned_at: float
    """When the event loop turned last."""
    rounds_at: float
    """When the stage that is furthest behind ended its last round of checkpoints."""
    fetched_at: float
    """When records were asked for last; counts while there are partitions to read."""
    reading: bool
    """Whether partitions are assigned, state recovered and folds open; of a spare, whether it was given none."""
    since: float
    """Since when that is as it is."""
    read_before: bool
    """Whether folds were open before."""
    leased: bool
    """Whether the group answered within a session; counts while folds are open."""
    partitions: int
    waits_for: str
    """What it waits for before folds are open, in a few words."""
    stopping: bool


class Answer(NamedTuple):
    """An answer and its reason: a short line without anything of a document."""

    good: bool
    text: str


class Probes(Protocol):
    """Answers a supervisor's questions; called from the HTTP thread, so it must not block."""

    def alive(self) -> Answer:
        """Say whether the process is worth keeping."""
        ...

    def ready(self) -> Answer:
        """Say whether the worker does its part."""
        ...


class Health:
    """Judges what `signs` gives.

    Parameters
    ----------
    signs
        Gives the signs of life; called from the HTTP thread.
    limits
        How long is too long.
    clock
        Seconds that never go back, the clock of the signs.
    """

    def __init__(self, signs: Callable[[], Signs], limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._signs, self._limits, self._clock = signs, limits, clock

    def alive(self) -> Answer:
        """Say whether both loops turn; a bad answer tells the supervisor to start the process again."""
        signs, now, limits = self._signs(), self._clock(), self._limits
        silent = now - signs.turned_at
        if silent > limits.loop_s:
            return _bad(f"stuck: the event loop has stood still for {silent:.0f} s")
        if signs.reading and signs.partitions and not signs.stopping:  # a spare asks for nothing
            for what, at in (("no records were asked for", signs.fetched_at), ("no checkpoint ended", signs.rounds_at)):
                silent = now - max(at, signs.since)
                if silent > limits.chunks_s:
                    return _bad(f"stuck: {what} for {silent:.0f} s")
        return _good("alive")

    def ready(self) -> Answer:
        """Say whether partitions are assigned and state recovered, or why not."""
        signs = self._signs()
        if signs.stopping:
            return _bad("not ready: it stops")
        if signs.reading:
            return _reading(signs)
        gone = self._clock() - signs.since
        if not signs.read_before:
            return _bad(f"not ready: waits for {signs.waits_for}")
        if gone > self._limits.away_s:
            return _bad(f"not ready: has read nothing for {gone:.0f} s, waits for {signs.waits_for}")
        return _good(f"ready: the group has been sharing its partitions anew for {gone:.0f} s")


def _reading(signs: Signs) -> Answer:
    if not signs.leased:
        return _bad("not ready: the group hasn't answered for a session")
    if not signs.partitions:
        return _good("ready: a spare, other workers have all partitions")
    return _good(f"ready: reads {signs.partitions} partitions")


def _good(text: str) -> Answer:
    return Answer(good=True, text=text)


def _bad(text: str) -> Answer:
    return Answer(good=False, text=text)
