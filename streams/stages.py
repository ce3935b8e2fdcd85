"""All stages of a worker: which of them reads which topic, and what they do together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import structlog

from streams.checkpoint import checkpoint
from streams.chunks import Place
from streams.stage import Stage

log = structlog.get_logger(__name__)


class Progress(NamedTuple):
    """How far a partition was read. `lag` is None before the first fetch told where the partition ends."""

    stage: str
    topic: str
    partition: int
    position: int
    """The next offset to fold."""
    lag: int | None
    holes: int
    rewinds: int
    lost: int
    """Records that retention removed before they were read; since this worker got the partition."""


class Stages:
    """The stages of one worker, as the transport sees them (`streams.transport.Reading`)."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = stages
        self.by_topic: dict[str, Stage] = {}
        for stage in stages:
            for topic in stage.topics.values():
                if topic in self.by_topic:
                    raise ValueError(f"topic {topic} is read by stage {self.by_topic[topic].spec.name} already")
                self.by_topic[topic] = stage
        self.ready = False
        """Whether the folds are open, or there are none to open: false from a rebalance's begin to recovery's end."""
        self.since = time.monotonic()
        """Since when that is so, by `time.monotonic`."""
        self.read_before = False
        """Whether they ever were."""
        self.rebalances = 0
        """How often that began anew."""

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def drop(self) -> None:
        """Forget the running folds and whatever they did since their last checkpoint."""
        if self.ready:
            self.since = time.monotonic()
        self.ready = False
        for stage in self.stages:
            stage.drop()

    def open(self, places: Collection[Place]) -> dict[Place, int | None]:
        """Open folds for the assigned `places`; return where to read on, None where nothing was read."""
        positions: dict[Place, int | None] = {}
        for stage in self.stages:
            positions |= stage.open(places)
        return positions

    def begin(self, epoch: int, positions: Mapping[Place, int]) -> None:
        """Take chunks of `epoch` from now on; `positions` is where reading goes on."""
        for stage in self.stages:
            stage.begin(epoch, positions)
        self.since = time.monotonic()
        self.ready = self.read_before = True
        self.rebalances += 1

    def from_start(self, place: Place) -> bool:
        """Tell whether `place` is read from the earliest offset, whatever was committed."""
        return self.by_topic[place.topic].spec.from_start

    async def leave(self, within_s: float) -> bool:
        """Make a last checkpoint of every stage; return whether all were made within the time.

        What isn't durable by then is read again by whoever comes next.
        """
        return all(await asyncio.gather(*(_leave(stage, within_s) for stage in self.stages)))

    def positions(self) -> Iterator[tuple[Stage, Place, int]]:
        """Yield the next offset to fold of each open partition that has one."""
        for stage in self.stages:
            for partition, running in stage.running.items():
                for channel, topic in stage.topics.items():
                    position = running.fold.position(channel)
                    if position is not None:
                        yield stage, Place(topic, partition), position


async def _leave(stage: Stage, within_s: float) -> bool:
    try:
        await asyncio.wait_for(checkpoint(stage, everything=True), within_s)
    except TimeoutError:
        log.warning("last_checkpoint_timed_out", stage=stage.spec.name, within_s=within_s)
        return False
    return True


async def run_checkpoints(stage: Stage, alive: Callable[[], None] = lambda: None) -> None:
    """Make checkpoints for ever; `alive` is called after each round, so that a watcher sees the loop turn."""
    while True:
        await asyncio.sleep(stage.pace.interval_s)
        await checkpoint(stage)
        alive()
