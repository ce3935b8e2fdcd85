"""What a worker is built from: frozen, complete, and passed down; nothing is read from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from monitor.fold import Channel
from streams.broker import Connection
from streams.stage import FailurePoint, Pace, StageSpec
from streams.topics import TopicSpec


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Seconds between the worker and the broker."""

    session_s: float = 60.0
    """A worker that is silent for so long is taken for dead, and its partitions go to others."""
    heartbeat_s: float = 3.0
    rebalance_s: float = 60.0
    """How long the others wait for a worker to come back from its chunk when the group changes."""
    request_s: float = 90.0
    """At least `session_s`."""
    send_s: float = 300.0
    """A record that the broker didn't acknowledge for so long ends the worker; shorter outages are waited out."""
    leave_s: float = 10.0
    """The last checkpoint of a stage, on SIGTERM and when partitions move; below `rebalance_s`."""
    commit_s: float = 2.0


EMBEDDED = Timings(session_s=3.0, heartbeat_s=0.5, rebalance_s=6.0, request_s=30.0, leave_s=5.0, commit_s=1.0)
"""For the embedded broker, which answers whoever joins a group after half the session timeout."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How chunks are fetched."""

    chunk_records: int = 2000
    """The most records in a chunk: a fold isn't interrupted, so this bounds how long the loop stands still."""
    fetch_bytes: int = 4 << 20
    """The most bytes of a partition in one answer of the broker. Each chunk takes 1.5 ms beside its records: with
    records of 5 KB, 2 MiB was measured to cost 4 % more CPU and 7 % of the rate, 1 MiB an eighth more CPU again."""
    check_crcs: bool = False
    """librdkafka's default; TCP has checksums, and so does the broker when it writes."""
    buffered_chunks: int = 8
    """Chunks that wait for a stage before its partitions are no longer fetched: of four partitions, the answer that is
    being folded and the next one; each may hold `fetch_bytes`."""


@dataclass(frozen=True, kw_only=True)
class Sending:
    """How records are sent."""

    linger_s: float = 0.005
    """How long a batch waits for company; a checkpoint waits up to four times for one."""
    batch_bytes: int = 128 * 1024
    request_bytes: int = 8 << 20
    """The most bytes of one record: above `limits.max_text_bytes`, escaped, with its spans."""
    compression: Literal["gzip", "snappy", "lz4", "zstd"] | None = None


@dataclass(frozen=True, kw_only=True)
class AppOptions:
    """A worker."""

    connection: Connection
    group: str
    """The consumer group; it also names the changelogs, so another name begins with no state."""
    topics: Mapping[Channel, str]
    stages: tuple[StageSpec, ...]
    topic_specs: tuple[TopicSpec, ...] = ()
    """Checked before the worker starts."""
    create_topics: bool = False
    """Whether what is missing of `topic_specs` is created; otherwise it's an error."""
    timings: Timings = field(default_factory=Timings)
    reading: Reading = field(default_factory=Reading)
    sending: Sending = field(default_factory=Sending)
    pace: Pace = field(default_factory=Pace)
    instance: str | None = None
    """A name that no other worker of the group has; None: host and process. Where it stays the same across restarts
    set `static_member`."""
    static_member: bool = False
    """Whether the broker waits for `instance` to come back within `session_s` instead of moving its partitions."""
    fail: FailurePoint = lambda _stage, _step: None
    """For tests alone."""
