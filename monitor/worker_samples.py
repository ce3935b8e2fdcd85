"""Samples of a worker's own figures: what it did since it started, and what it is."""

from __future__ import annotations

from collections.abc import Iterator

from monitor import metrics as m
from monitor.pipeline import Pipeline
from monitor.samples import Counts, Sample, added, clean, one


def flows(pipeline: Pipeline) -> Iterator[Sample]:
    """Return what it did since it started, and how far it has read."""
    counted: tuple[tuple[m.Metric, Counts], ...] = (
        (m.DECISIONS, pipeline.decisions.items()),
        (m.SAMPLED, pipeline.sampled.items()),
        (m.TASKS, pipeline.tasks.items()),
        (m.LABELS, pipeline.labels.items()),
        (m.DEAD_LETTERS, pipeline.dead_letters.items()),
        (m.QUARANTINED, pipeline.quarantined.items()),
        (m.UNCHECKED, [((), pipeline.unchecked)]),
        (m.TOMBSTONES, pipeline.tombstones.items()),
        (m.HOLES, pipeline.holes.items()),
        (m.REWINDS, pipeline.rewinds.items()),
        (m.LOST, pipeline.lost.items()),
        (m.REBUILDS, [((), pipeline.rebuilds)]),
        (m.REBALANCES, [((), pipeline.rebalances)]),
        (m.CHUNKS, pipeline.chunks.items()),
        (m.CHUNK_SECONDS, pipeline.chunk_s.items()),
        (m.CHECKPOINTS, [((), pipeline.checkpoints)]),
        (m.CHECKPOINT_SECONDS, [((), pipeline.checkpoint_s)]),
        (m.CONFIG_REFUSALS, [((), pipeline.config_refused)]),
        (m.POSITION, pipeline.positions.items()),
        (m.LAG, pipeline.lag.items()),
    )
    for metric, counts in counted:
        yield from added(metric, counts)


def worker(pipeline: Pipeline) -> Iterator[Sample]:
    """Return what it is: its build, the config in force, whether it may be relied on."""
    yield from one(m.BUILD, (clean(pipeline.build),), 1)
    yield from one(m.CONFIG, (clean(pipeline.config), clean(pipeline.net)), 1)
    yield from one(m.READY, (), pipeline.ready)
    yield from one(m.BOARD_OWNER, (), pipeline.is_board)
    yield from one(m.CONFIG_REFUSED, (), bool(pipeline.config_problem))
    yield from one(m.KEY_IS_DEFAULT, (), pipeline.key_is_default)
    yield from one(m.THINNING, (), pipeline.thinning)
    rates = {tuple(map(clean, key)): rate for key, rate in pipeline.rates.items()}
    yield from (Sample(m.RATE, key, rate) for key, rate in rates.items())
    yield from one(m.DEADLINE, (), pipeline.deadline_s)
    yield from one(m.ASSIGNED, (), pipeline.partitions_assigned)
    yield from one(m.STARTED, (), pipeline.started_at)
    yield from one(m.HEARTBEAT, (), pipeline.heartbeat_at)
    yield from one(m.CHECKPOINTED, (), pipeline.checkpoint_at)
