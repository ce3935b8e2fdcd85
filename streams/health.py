"""What `/healthz` and `/readyz` answer: whether a worker is worth keeping, and whether it does its part.

The worker's loop leaves signs of life; the HTTP thread reads them when somebody asks. Each is one value that is swapped
in whole, so there is no lock, and a loop that hangs can be told from outside.

*Alive* says that restarting the process would not help; it's the one definition, which the page, the heartbeat among
the metrics and `/healthz` share. Two loops must turn, once a second, whatever else is the matter: the worker's and the
one of the Kafka client's thread. What is published must be made anew, and config and history followed, as long as the
worker runs. While folds are open, the chunk loop must go on: records are asked for, what was fetched is folded, and
each stage ends its rounds of checkpoints. All of these may wait for a broker for as long as a record may wait to be
acknowledged, and past that the worker ends by itself: restarting workers because the broker is away would make an
outage longer, so only a silence beyond it is a hang. Recovery may take as long as it goes on. Where it doesn't, a
broker may be why: that is taken for granted as soon as the group doesn't answer or a partition has no leader. Waiting
for a broker at the start, or for partitions: alive. A worker that stops ends itself in time (`streams.worker`).

*Ready* says that the group shares the work with this worker and that its state was recovered. A worker that got no
partition is ready: it's a spare, and takes over when another one leaves; a rollout that waited for it to get some would
wait for ever. Every worker that comes or goes takes all partitions away for a moment: one that was ready stays ready
for `away_s`. It isn't any more past that, when it stops, and when the group hasn't answered it for a session.

What can't be told from inside: a process that is stopped (SIGSTOP), or that doesn't get the interpreter's lock, doesn't
answer at all. A probe's own timeout says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from streams.options import Timings

LOOP_LIMIT_S = 60.0
"""Silence (s) of the event loop from which it hangs: no fold, reading or opening of a ledger takes as long."""
BEYOND_SEND_S = 60.0
"""Silence (s) past the longest wait for an acknowledgement, from which what may wait for a broker hangs."""
RECOVERY_S = 30.0
"""What recovery may take (s) after a rebalance before a worker that was ready isn't any more."""


class Limits(NamedTuple):
    """Seconds of silence."""

    loop_s: float
    """Of an event loop."""
    chunks_s: float
    """Of what may wait for a broker."""
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
    client_turned_at: float | None
    """When the loop of the Kafka client's thread did; None where there is no such thread yet."""
    tasks: Mapping[str, float]
    """What must be done again and again as long as the worker runs, said as what is wrong where it isn't, and when it
    was done last."""
    recovered_at: float | None
    """When recovery went on last, or had a broker to wait for; None where nothing is being recovered."""
    rounds_at: float
    """When the stage that is furthest behind ended its last round of checkpoints."""
    fetched_at: float
    """When records were asked for last; counts while there are partitions to read."""
    folded_at: float
    """When a chunk was folded last, or none was there to fold: of the topic that is furthest behind in this."""
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
    silent_s: float = 0.0
    """Seconds since the sign of life that has been missing the longest; 0 where none is."""


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
        """Say whether all goes on that must; a bad answer tells the supervisor to start the process again.

        One hang may silence several things: all are told, as none of them says which was first.
        """
        signs, now = self._signs(), self._clock()
        silent = [(what, now - at) for what, at, limit_s in _watched(signs, self._limits) if now - at > limit_s]
        if not silent:
            return _good("alive")
        told = "; ".join(f"{what} for {silent_s:.0f} s" for what, silent_s in silent)
        return Answer(good=False, text=f"stuck: {told}", silent_s=max(silent_s for _, silent_s in silent))

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


def _watched(signs: Signs, limits: Limits) -> Iterator[tuple[str, float, float]]:
    """Yield what may not be silent: what is wrong where it is, its last sign, and for how long (s) that may be."""
    yield "the event loop has stood still", signs.turned_at, limits.loop_s
    if signs.stopping:
        return
    if signs.client_turned_at is not None:
        yield "the Kafka client's thread has stood still", signs.client_turned_at, limits.loop_s
    for what, at in signs.tasks.items():
        yield what, at, limits.chunks_s
    if signs.recovered_at is not None:
        yield "recovery has stood still, though the group answers,", signs.recovered_at, limits.chunks_s
    if signs.reading and signs.partitions:  # a spare asks for nothing
        yield "no records were asked for", max(signs.fetched_at, signs.since), limits.chunks_s
        yield "no chunk was folded", max(signs.folded_at, signs.since), limits.chunks_s
        yield "no checkpoint ended", max(signs.rounds_at, signs.since), limits.chunks_s


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
