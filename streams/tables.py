"""A Faust table whose writes are awaited, and whose rows are bytes, kept by partition.

Faust's own table writes in the background, in the partition of the event that happens to be current, and keeps rows of
partitions that have moved to another worker. Here a write names its partition, `settled` waits until the broker has
acknowledged every write (or raises what went wrong with one), and every rebalance begins with no rows at all.

Keys in the changelog are `<partition>/<row>`; `<partition>/` itself is the head, the row that holds the positions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import faust
import structlog
from faust.tables.manager import TableManager
from faust.types import TP, EventT

from monitor.errors import StateError
from streams.chunks import Chunk

log = structlog.get_logger(__name__)

RECOVERY_BUFFER = 2
"""Chunks that Faust's recovery holds before it applies them; at 1 it reads the changelog on while the stages run."""


class Held(NamedTuple):
    """What the table holds of one partition: the head, None for a new one, and the rows, read-only and live."""

    head: bytes | None
    rows: Mapping[str, bytes]


class Table(faust.Table[str, bytes]):
    """A table of raw rows; its own mapping stays empty."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # faust's own arguments
        self._heads: dict[int, bytes] = {}
        self._rows: dict[int, dict[str, bytes]] = {}
        self._outstanding: list[Awaitable[object]] = []
        self._unreadable: str | None = None
        super().__init__(*args, **kwargs)

    def held(self, partition: int) -> Held:
        """Return what is held of `partition`; raises `StateError` where its changelog couldn't be read."""
        if self._unreadable is not None:
            raise StateError(f"{self._unreadable}: rebuild the partition by replay")
        rows = self._rows.setdefault(partition, {})
        return Held(self._heads.get(partition), MappingProxyType(rows))

    async def write(self, partition: int, row: str, value: bytes | None) -> None:
        """Write a row (the head where `row` is empty); None deletes. Durable once `settled` has returned."""
        key = f"{partition}/{row}".encode(errors="surrogateescape")
        sent = await self.app.producer.send(self.changelog_topic_name, key, value, partition, None, None)
        self._outstanding.append(sent)
        self._apply(partition, row, value)

    async def settled(self) -> None:
        """Wait until every write was acknowledged; raises the error of the first that wasn't."""
        outstanding, self._outstanding = self._outstanding, []
        for sent in outstanding:
            await sent

    def forget(self) -> None:
        """Let go of writes that nobody will wait for."""
        self._outstanding.clear()

    def _apply(self, partition: int, row: str, value: bytes | None) -> None:
        if not row:
            if value is None:
                self._heads.pop(partition, None)
            else:
                self._heads[partition] = value
        elif value is None:
            self._rows.get(partition, {}).pop(row, None)
        else:
            self._rows.setdefault(partition, {})[row] = value

    def apply_changelog_batch(self, batch: Iterable[EventT[Any]]) -> None:
        """Take what recovery read from the changelog, chunk by chunk."""
        for event in batch:
            # recovery passes events of a partition that was taken away on to the table of the event before
            if event.message.topic == self.changelog_topic_name:
                self._recover(event.message.partition, cast("Chunk", event.value))

    def _recover(self, partition: int, chunk: Chunk) -> None:
        prefix = f"{partition}/".encode()
        for record in chunk.records:
            if record.key is None or not record.key.startswith(prefix):
                # recovery would swallow an exception and go on without the row
                self._unreadable = f"{self.changelog_topic_name}/{partition}@{record.offset}: no row of this partition"
                log.error("changelog_unreadable", place=self._unreadable)
                continue
            self._apply(partition, record.key[len(prefix) :].decode(errors="surrogateescape"), record.value)

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """Drop every row, and have recovery read them all again.

        Rows of partitions that were lost would stay for ever, and of those that stay some may have been written without
        an acknowledgement: after a rebalance the rows are what the log says and nothing else. Chunks make that cheap.
        """
        self._heads.clear()
        self._rows.clear()
        self._outstanding.clear()
        self._unreadable = None
        cast("TableManager", self.app.tables).recovery.active_offsets.clear()
        await super().on_rebalance(assigned, revoked, newly_assigned, generation_id)
