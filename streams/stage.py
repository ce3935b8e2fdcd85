"""A stage: one running fold for each assigned partition, fed with chunks, made durable by checkpoints.

Theory of operation. A chunk is folded in memory and what the fold gives back is sent without waiting. A checkpoint
takes, under the lock, everything that would make the folds durable as they are at that moment (`Taken`); the writing
(`streams.checkpoint`) goes on beside further folding. The folds are settled when taken, not when written: a write that
fails ends the worker and a seek drops the fold, so there is no fold that would have to take it back.

`epoch` names the seek that the running folds were opened for. Chunks of another epoch are skipped, and a checkpoint
that finds another one between two of its steps ends there: the folds it took from are gone, and their chunks are read
again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import structlog

from monitor.errors import ConfigError
from monitor.fold import Channel, Fold, Opener, Output
from streams.chunks import Chunk, Place
from streams.tables import Table

log = structlog.get_logger(__name__)

Prepare = Callable[[Fold], Sequence[Output] | None]
"""Called before a fold's first record and before it is taken; returns what to send, None where it changed nothing."""

FailurePoint = Callable[[str, str], None]
"""Called with the stage's name and one of `streams.checkpoint.STEPS`; tests raise or exit in it."""


class Port(Protocol):
    """What a stage needs of the app."""

    async def emit(self, output: Output) -> Awaitable[object]:
        """Hand a record to the producer; what comes back is done when the broker has acknowledged it."""
        ...

    def rewind(self, place: Place, offset: int) -> None:
        """Ask for `place` to be read again from `offset`."""
        ...

    def report(self, place: Place, offset: int) -> None:
        """Note that all below `offset` is durable."""
        ...


@dataclass(frozen=True, kw_only=True)
class StageSpec:
    """What a stage is; the running `Stage` is made of it when the app is built."""

    name: str
    inputs: tuple[Channel, ...]
    """Co-partitioned channels; one fold takes partition `n` of all of them."""
    opener: Opener
    table: str | None = None
    """Name of the table that keeps head and rows; None for a stage that keeps nothing."""
    from_start: bool = False
    """Read from the earliest offset whatever was committed: for a stage that keeps no position."""
    prepare: Prepare | None = None


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How often checkpoints are made.

    A fold is due `interval_s` after its last checkpoint, later where that one cost more than `bytes_per_s` allows, and
    never later than `longest_s`. Rows that were new don't count: they cost the same whenever they are written.
    """

    interval_s: float = 0.5
    bytes_per_s: float = 64 * 1024
    longest_s: float = 30.0


@dataclass(slots=True)
class Running:
    """A running fold and what it owes."""

    fold: Fold
    due: float
    starts: Mapping[Channel, int] = field(default_factory=dict)
    """Where reading began, which counts as long as the fold read nothing: a first chunk may be lost as any other."""
    folded: bool = False
    """Whether rows and head have changed."""
    opened: bool = True
    """Whether its first checkpoint, which publishes all tallies, is still to come."""
    prepared: bool = False
    """Whether `StageSpec.prepare` was called: before the first record, and at each checkpoint."""


class Taken(NamedTuple):
    """What makes one fold durable as it was when taken. `head` is None where neither rows nor head changed."""

    partition: int
    rows: Mapping[str, bytes | None]
    head: bytes | None
    tallies: Sequence[Output]
    positions: Mapping[Place, int]


@dataclass(slots=True)
class Stage:
    """A running stage.

    Parameters
    ----------
    spec
        What it is.
    topics
        The topic of each of its inputs.
    port
        The app.
    table
        Where head and rows are kept; None if and only if the spec names none.
    clock
        Seconds that never go back; paces checkpoints and decides nothing that is counted.

    """

    spec: StageSpec
    topics: Mapping[Channel, str]
    port: Port
    table: Table | None
    pace: Pace = field(default_factory=Pace)
    fail: FailurePoint = lambda _stage, _step: None
    leased: Callable[[], bool] = lambda: True
    """Whether no other worker can have our partitions; what isn't certain is neither folded nor put on record."""
    let_go: Callable[[Place, int], None] = lambda _place, _offset: None
    """Called with what is to be read again because a chunk came without a lease: that is no hole."""
    clock: Callable[[], float] = time.monotonic
    epoch: int = 0
    broken: bool = False
    """Whether an error left a fold half way; nothing of it may be written any more."""
    checkpoints: int = 0
    """Checkpoints that went through and had something to write."""
    checkpoint_s: float = 0.0
    """Seconds that they took, together."""
    chunks: int = 0
    """Chunks that were folded."""
    chunk_s: float = 0.0
    """Seconds that folding them took, together."""
    running: dict[int, Running] = field(default_factory=dict)
    sends: list[Awaitable[object]] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    # -- opening and dropping ----------------------------------------------------------------------------------------

    def drop(self) -> None:
        """Forget the running folds and whatever they did since their last checkpoint."""
        self.epoch = 0
        self.broken = False  # what was left half way is gone; an error, unlike a cancelled wait, ends the worker anyway
        self.running.clear()
        self.sends.clear()
        if self.table is not None:
            self.table.forget()

    def open(self, assigned: Collection[Place]) -> dict[Place, int | None]:
        """Open a fold for each assigned partition from its rows; return its positions, None where it read nothing.

        Raises
        ------
        StateError
            Where the rows can't be read.
        ConfigError
            Where partition `n` of one input came without partition `n` of another, or of the changelog.

        """
        needed = set(self.topics.values())
        if self.table is not None:
            needed.add(self.table.changelog_topic_name)
        positions: dict[Place, int | None] = {}
        for partition in sorted({p for topic, p in assigned if topic in needed}):
            for topic in needed:
                if Place(topic, partition) not in assigned:
                    raise ConfigError(f"topic {topic}", f"partition {partition} is missing: equal counts are needed")
            fold = self._open(partition)
            self.running[partition] = Running(fold, due=self.clock())
            for channel, topic in self.topics.items():
                positions[Place(topic, partition)] = fold.position(channel)
        return positions

    def _open(self, partition: int) -> Fold:
        if self.table is None:
            return self.spec.opener(partition, None, {})
        held = self.table.held(partition)
        return self.spec.opener(partition, held.head, held.rows)

    def begin(self, epoch: int, positions: Mapping[Place, int]) -> None:
        """Take chunks of `epoch` from now on; `positions` is where reading goes on."""
        self.epoch = epoch
        for partition, running in self.running.items():
            running.starts = {channel: positions[Place(topic, partition)] for channel, topic in self.topics.items()}

    # -- folding -----------------------------------------------------------------------------------------------------

    async def take(self, channel: Channel, partition: int, chunk: Chunk) -> None:
        """Fold a chunk, unless it belongs to an earlier seek, was folded before, or begins after a hole."""
        async with self.lock:
            running = self.running.get(partition)
            if running is None or chunk.epoch != self.epoch or self.broken:
                return
            position = running.fold.position(channel)
            if position is None:
                position = running.starts[channel]
            place = Place(self.topics[channel], partition)
            if not self.leased():
                self.let_go(place, position)
                return
            if not running.prepared:
                await self._prepare(running)
            if chunk.epoch != self.epoch or self.broken:
                return
            if chunk.base > position:
                log.info("hole", topic=place.topic, partition=partition, position=position, base=chunk.base)
                self.port.rewind(place, position)
            elif chunk.following > position:
                await self._fold(running, channel, chunk)

    async def _fold(self, running: Running, channel: Channel, chunk: Chunk) -> None:
        begun = self.clock()
        try:
            running.folded = True
            await self._send(running.fold.fold(channel, chunk.records, chunk.following))
        except BaseException:
            self.broken = True
            raise
        self.chunks += 1
        self.chunk_s += self.clock() - begun

    async def _send(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            self.sends.append(await self.port.emit(output))

    # -- taking ------------------------------------------------------------------------------------------------------

    async def take_due(self, *, everything: bool = False) -> tuple[list[Awaitable[object]], list[Taken]]:
        """Return the outstanding sends, and what makes the folds that are due durable (`everything`: all of them)."""
        async with self.lock:
            now = self.clock()
            due = {p: r for p, r in self.running.items() if everything or r.due <= now}
            taken = [await self._take(partition, running, now) for partition, running in due.items()]
            sends, self.sends = self.sends, []
            return sends, [one for one in taken if one is not None]

    async def _take(self, partition: int, running: Running, now: float) -> Taken | None:
        await self._prepare(running)
        try:
            return self._snapshot(partition, running, now)
        except BaseException:
            self.broken = True
            raise

    async def _prepare(self, running: Running) -> None:
        """Let what is new take effect; what goes out with it is on the broker before anything is folded under it."""
        if not self.leased():
            return
        running.prepared = True
        try:
            outputs = None if self.spec.prepare is None else self.spec.prepare(running.fold)
            if outputs is not None:
                running.folded = True
                for sent in [await self.port.emit(output) for output in outputs]:
                    await sent
        except BaseException:
            self.broken = True
            raise

    def _snapshot(self, partition: int, running: Running, now: float) -> Taken | None:
        if not running.folded and not running.opened:
            running.due = now + self.pace.interval_s
            return None
        keeps = running.folded and self.table is not None
        fold = running.fold
        taken = Taken(
            partition,
            dict(fold.rows()) if keeps else {},
            fold.head() if keeps else None,
            fold.tallies(),
            self._positions(partition, fold) if running.folded else {},
        )
        fold.settle()
        running.folded = running.opened = False
        pause = self._cost(taken) / self.pace.bytes_per_s
        running.due = now + max(self.pace.interval_s, min(pause, self.pace.longest_s))
        return taken

    def _positions(self, partition: int, fold: Fold) -> dict[Place, int]:
        found = {Place(topic, partition): fold.position(channel) for channel, topic in self.topics.items()}
        return {place: position for place, position in found.items() if position is not None}

    def _cost(self, taken: Taken) -> int:
        """Return the bytes that a later checkpoint would have saved."""
        held = self.table.held(taken.partition).rows if self.table is not None else {}
        rows = sum(len(value or b"") for row, value in taken.rows.items() if row in held)
        return rows + len(taken.head or b"") + sum(len(t.value or b"") for t in taken.tallies)
