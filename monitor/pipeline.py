"""What one worker says about itself: counts since it started, positions, and whether it may be relied on.

Process-local and never merged: these become Prometheus counters (`rate` survives a restart), whereas what the board
restores from topics becomes gauges. A dict's keys are label values in the order that `monitor.metrics` names them.
Keys that can be known beforehand are exported as 0 from the start (`monitor.metrics.KNOWN`), so that the first
event is an increase and not the birth of a series.
"""

from __future__ import annotations

import msgspec

Place = tuple[str, int]
"""Channel and partition."""


class Pipeline(msgspec.Struct, frozen=True):
    """One worker's own figures at one moment; `*_at` are seconds since the epoch, None where it hasn't happened."""

    started_at: float
    heartbeat_at: float | None = None
    """Last sign of life, idle or not: now, unless something hangs that only a restart mends (`streams.health`)."""
    build: str = ""
    """Version of the product."""

    ready: bool = False
    """Partitions assigned, state recovered and verified; of a spare, that other workers have all partitions."""
    unready_reason: str = ""
    """Why it isn't ready, in plain words."""
    is_board: bool = False
    """Whether this worker owns the tallies, and so exports readings and serves the page's numbers."""
    board_url: str = ""
    """Where the board's page is, as far as this worker knows; empty where it doesn't."""

    decisions: dict[tuple[str, str], int] = {}
    """Decisions counted, by (detector, version)."""
    sampled: dict[tuple[str], int] = {}
    """Documents drawn, by (slice,): `random`, `loose`, or `both` where both drew it; they add up."""
    tasks: dict[tuple[str], int] = {}
    """Tasks sent, by (kind,)."""
    labels: dict[tuple[str], int] = {}
    """Labels taken in, by (outcome,)."""
    dead_letters: dict[tuple[str, str], int] = {}
    """Records that couldn't be read, by (channel, reason)."""
    quarantined: dict[tuple[str], int] = {}
    """Spans set aside while their document stayed, by (reason,)."""
    unchecked: int = 0
    """Outputs that weren't checked because the check failed over them."""
    tombstones: dict[tuple[str], int] = {}
    """Null values, by (channel,)."""

    positions: dict[Place, int] = {}
    """Offset to read next, as the state has it."""
    lag: dict[Place, int] = {}
    """Records between the position and the end of the partition."""
    holes: dict[Place, int] = {}
    """Chunks dropped because they began beyond the position."""
    rewinds: dict[Place, int] = {}
    """Seeks back to the position."""
    lost: dict[Place, int] = {}
    """Records that retention removed before they were read."""
    rebuilds: int = 0
    """Partitions of the ledger that were built again from their topics."""
    rebalances: int = 0
    """How often this worker was dealt its partitions, its start included."""
    chunks: dict[tuple[str], int] = {}
    """Chunks folded, by (stage,)."""
    chunk_s: dict[tuple[str], float] = {}
    """Seconds spent folding them, all together, by (stage,)."""
    partitions_assigned: int = 0
    checkpoints: int = 0
    checkpoint_s: float = 0.0
    """Seconds spent in checkpoints, all together."""
    checkpoint_at: float | None = None

    config: str = ""
    """Config version in force."""
    net: str = ""
    """Net version in force."""
    config_refused: int = 0
    """Changed config files that were refused; the old one stayed in force."""
    config_problem: str = ""
    """What was wrong with the last one, while the file on disk still is not the config in force; else empty."""
    thinning: float = 1.0
    """Factor that this worker's sampling is thinned by, in (0, 1]."""
    rates: dict[tuple[str, str, str], float] = {}
    """Share of documents that a slice draws, thinning included, by (slice, language, stratum)."""
    deadline_s: float | None = None
    """Seconds from a draw after which its label counts as missing."""
    key_is_default: bool = False
    """Whether the sampling key is the published default: anybody can tell which documents will be looked at."""
