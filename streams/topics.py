"""The topics: what each must be, creating what is missing, refusing what is otherwise.

No topic is left to the broker's automatic creation, which knows neither partitions nor retention. `decisions` and
`labels` belong to the producer and to the annotation tool: only their partitions and cleanup policy are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from monitor.fold import Channel

Bound = Literal["exactly", "at least", "at most"]

BOUNDS: Mapping[str, Bound] = {
    "cleanup.policy": "exactly",
    "retention.ms": "at least",
    "max.message.bytes": "at least",
    "min.insync.replicas": "at least",
    "segment.ms": "at most",
    "min.cleanable.dirty.ratio": "at most",
}
"""How a topic that exists may differ: stricter settings of an operator's are no fault."""

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

COMPACTED: Mapping[str, str] = {
    "cleanup.policy": "compact",
    # a compacted row is rewritten twice a second: without these Kafka keeps a week of its versions
    "segment.ms": str(HOUR_MS),
    "min.cleanable.dirty.ratio": "0.1",
}


@dataclass(frozen=True, kw_only=True)
class TopicSpec:
    """What a topic must be. `settings` are Kafka's own names; on an existing topic those in `BOUNDS` are compared."""

    name: str
    partitions: int
    settings: Mapping[str, str] = field(default_factory=dict)
    replication: int = 1
    owned: bool = True
    """Whether it is ours; of others' topics only partitions and cleanup policy are compared."""

    def compared(self) -> dict[str, str]:
        """Return the settings that an existing topic must meet."""
        return {k: v for k, v in self.settings.items() if k in BOUNDS and (self.owned or k == "cleanup.policy")}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The counts and times that all topics follow from.

    `sampled`, `labels_by_document` and the changelog of whoever reads them have `sampled_partitions` each, so that one
    worker gets the same partition of all; a changelog always has the partitions of what its stage reads.
    """

    decisions_partitions: int = 4
    sampled_partitions: int = 4
    labels_partitions: int = 1
    replication: int = 1
    min_insync: int = 1
    retention_ms: int = 37 * DAY_MS
    """Of `sampled` and of both label topics: at least the longest window and the deadline of a label, since a ledger
    that is lost is rebuilt from them."""
    decisions_retention_ms: int = 7 * DAY_MS
    max_record_bytes: int = 8 << 20


def changelog(group: str, table: str) -> str:
    """Return the name that Faust gives to the changelog of a table.

    >>> changelog("recallwatch", "route")
    'recallwatch-route-changelog'
    """
    return f"{group}-{table}-changelog"


def topic_specs(
    topics: Mapping[Channel, str], layout: Layout, *, group: str, tables: Mapping[str, Channel]
) -> tuple[TopicSpec, ...]:
    """Return what every topic must be.

    Parameters
    ----------
    topics
        The name of each channel.
    layout
        Counts, retention, replication.
    group
        The consumer group, which names the changelogs.
    tables
        For each table one channel that its stage reads: the changelog has the same number of partitions.

    """
    counts = _partitions(layout)
    ours = {"min.insync.replicas": str(layout.min_insync), "max.message.bytes": str(layout.max_record_bytes)}
    specs = [
        TopicSpec(
            name=name,
            partitions=counts[channel],
            settings=_settings(channel, layout) | ({} if channel in _FOREIGN else ours),
            replication=layout.replication,
            owned=channel not in _FOREIGN,
        )
        for channel, name in topics.items()
    ]
    for table, channel in tables.items():
        specs.append(
            TopicSpec(
                name=changelog(group, table),
                partitions=counts[channel],
                settings={**COMPACTED, **ours},
                replication=layout.replication,
            )
        )
    return tuple(specs)


_FOREIGN: frozenset[Channel] = frozenset({"decisions", "labels"})


def _partitions(layout: Layout) -> dict[Channel, int]:
    return {
        "decisions": layout.decisions_partitions,
        "sampled": layout.sampled_partitions,
        "annotation_tasks": layout.sampled_partitions,
        "labels": layout.labels_partitions,
        "labels_by_document": layout.sampled_partitions,
        "dead_letters": 1,
        "tallies": 1,
        "history": 1,
    }


def _settings(channel: Channel, layout: Layout) -> dict[str, str]:
    if channel in {"tallies", "history"}:
        return dict(COMPACTED)
    kept = layout.decisions_retention_ms if channel == "decisions" else layout.retention_ms
    return {"cleanup.policy": "delete", "retention.ms": str(kept)}
