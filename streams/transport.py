"""A Faust transport that delivers chunks and reads on where the stages' own state says.

Theory of operation. Faust's consumer thread fetches; `ChunkConsumer.getmany` cuts what came into chunks and hands each
on as one Faust event. Once the tables have recovered (and at no other time) Faust calls `perform_seek`: the running
folds are dropped, opened again from their rows, and every partition is placed where its fold's position says. Until
then no record of a stage's topic is delivered. Faust's acknowledgements mean nothing here: a stage reports the
positions that its last checkpoint made durable, and those are committed, for lag tools alone.

Changelogs come as chunks too, placed by Faust's recovery (`seek_wait`).

What goes wrong otherwise, as seen on Apache Kafka 4.1 with workers killed and restarted: records that were fetched
before a seek are delivered after it; what a fetch returned while the flow was stopped is never fetched again; commits
pass unacknowledged records. Each has its line below.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, cast

import structlog
from aiokafka.errors import KafkaError
from aiokafka.structs import TopicPartition
from faust.transport.drivers import aiokafka as driver
from faust.types import TP, ConsumerMessage, Message
from faust.types.transports import ConsumerT, TPorTopicSet, TransportT
from mode.utils.futures import notify

from monitor.records import Record
from streams.chunks import Chunk, Cursors, Place
from streams.client_thread import ConsumerThread

log = structlog.get_logger(__name__)

IDLE_S = 0.02
"""Pause while every partition is back-pressured (Faust's own is a second, which starves a worker of one partition), or
while nobody knows whose they are."""


class Reading(Protocol):
    """The stages, as the transport sees them."""

    def drop(self) -> None:
        """Forget the running folds and whatever they did since their last checkpoint."""
        ...

    def open(self, places: Collection[Place]) -> Mapping[Place, int | None]:
        """Open folds for the assigned `places` from their rows; return where to read on, None where nothing was."""
        ...

    def begin(self, epoch: int, positions: Mapping[Place, int]) -> None:
        """Take chunks of `epoch` from now on, and of no other; `positions` is where reading goes on."""
        ...

    def from_start(self, place: Place) -> bool:
        """Tell whether a place without a position is read from the earliest offset, whatever was committed."""
        ...


class Host(Protocol):
    """What an app must have for this transport."""

    stages: Reading
    chunk_records: int
    leave_s: float

    async def before_open(self) -> None:
        """Prepare what the opening of folds needs and can't wait for."""
        ...


class ChunkConsumer(driver.Consumer):
    """The consumer of an app that is a `Host`."""

    _thread: ConsumerThread

    def __init__(self, transport: TransportT, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # faust's own
        self._host = host = cast("Host", transport.app)
        self.stages = host.stages
        self.cursors = Cursors(host.chunk_records)
        self._fetching = self._lapse_noted = False
        self.fetched_at = time.monotonic()
        """When records were asked for last, by `time.monotonic`: the sign of life of Faust's fetching loop."""
        self._reported: dict[TP, int] = {}
        self._committed_at: dict[TP, int] = {}
        self._behind: set[TP] = set()
        self._placed: set[TP] = set()
        """Partitions of our stages, changelogs left out."""
        super().__init__(transport, *args, **kwargs)

    def _new_consumer_thread(self) -> ConsumerThread:
        return ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    # -- positions ---------------------------------------------------------------------------------------------------

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Deliver nothing more; then Faust empties its queues and the app makes its last checkpoint."""
        self.cursors.lift()
        await super().on_partitions_revoked(revoked)

    async def perform_seek(self) -> None:
        """Drop the running folds, open them from the recovered rows, and read on at their positions."""
        stages = self.stages
        stages.drop()
        await self._host.before_open()
        assigned = {Place(*tp) for tp in self.assignment()}
        self.cursors.keep(assigned)
        self.cursors.lift()  # Faust has let the partitions go on already, from wherever the client thinks
        try:
            wanted = stages.open(assigned)
            positions = await self._resolve(wanted)
        except BaseException:  # another rebalance came: the call that follows it opens what is ours then
            stages.drop()
            raise
        self.cursors.place(positions)
        self._behind.clear()
        self._placed = {TP(*place) for place in positions}
        # whoever had a partition before may have ended between its state and its commit
        self._reported = {TP(*place): position for place, position in wanted.items() if position is not None}
        self._committed_at.clear()
        stages.begin(self.cursors.epoch, positions)
        log.info("reading_from", positions=[f"{t}/{p}@{offset}" for (t, p), offset in sorted(positions.items())])

    async def _resolve(self, wanted: Mapping[Place, int | None]) -> dict[Place, int]:
        """Return where to read on: the state's position, else the committed offset, else the earliest."""
        if not wanted:
            return {}
        tps = [TopicPartition(*place) for place in wanted]
        earliest = {Place(*tp): offset for tp, offset in (await self.earliest_offsets(*tps)).items()}
        asks = [place for place, at in wanted.items() if at is None and not self.stages.from_start(place)]
        committed = await self._thread.committed(asks)
        positions = {}
        for place, position in wanted.items():
            if position is None:
                positions[place] = max(committed.get(place) or 0, earliest[place])
                continue
            positions[place] = position
            if 0 < position < earliest[place]:  # 0 asks for all that is left, and was promised nothing
                self.cursors.place({place: position})
                self._note_lost(place, position, earliest[place])
        return positions

    async def _look_for_lost(self, fetched: Iterable[tuple[TP, Sequence[Record]]]) -> bool:
        """Tell retention from compaction where records don't begin at the cursor; False where nobody can say now.

        The client itself goes on at the earliest offset without a word.
        """
        gaps: dict[TP, tuple[int, int]] = {}
        for tp, records in fetched:
            cursor = self.cursors.get(Place(*tp))
            if cursor is not None and tp in self._placed and records[0].offset > cursor.following:
                gaps[tp] = cursor.following, records[0].offset
        if not gaps:
            return True
        try:
            earliest = await self.earliest_offsets(*(TopicPartition(*tp) for tp in gaps))
        except KafkaError:
            return False
        for tp, offset in earliest.items():
            position, in_hand = gaps[TP(*tp)]
            if offset > position:  # retention may have gone further since the fetch: what is in hand isn't lost
                self._note_lost(Place(*tp), position, min(offset, in_hand))
        return True

    def _note_lost(self, place: Place, position: int, earliest: int) -> None:
        """Count and log records that the topic's retention removed before they were read."""
        cursor = self.cursors.get(place)
        if cursor is None or cursor.lose(position, earliest):
            topic, partition = place
            log.error("records_lost", topic=topic, partition=partition, position=position, earliest=earliest)

    async def seek_wait(self, partitions: Mapping[TP, int]) -> None:
        """Place changelog partitions: Faust's recovery calls this."""
        await super().seek_wait(partitions)
        self.cursors.place({Place(*tp): offset for tp, offset in partitions.items()})

    def report(self, place: Place, offset: int) -> None:
        """Note that all below `offset` is durable in the state, to be committed."""
        self._reported[TP(*place)] = offset

    async def force_commit(self, topics: TPorTopicSet | None = None, start_new_transaction: bool = True) -> bool:  # noqa: ARG002, FBT001, FBT002  # faust's
        """Commit what the stages reported; everything it stands for was acknowledged before."""
        if not self._reported:  # also before the client was started
            return False
        assigned = self.assignment()
        due = {
            tp: offset
            for tp, offset in self._reported.items()
            if tp in assigned and offset != self._committed_at.get(tp)
        }
        if not due or not await self._thread.commit(due):
            return False
        self._committed_at.update(due)
        self.app.monitor.on_tp_commit(due)
        return True

    def ack(self, message: Message) -> bool:
        """Let go of a message. Faust waits for this on a rebalance; it moves no position."""
        self._unacked_messages.discard(message)
        notify(self._waiting_for_ack)
        return True

    async def wait_empty(self) -> None:
        """Wait until every chunk in hand was folded, but not for ever: without a broker a fold's sends find no room.

        Faust commits here again and again, which waits for a broker that is away; the app commits when all is durable.
        """
        end = time.monotonic() + self._host.leave_s
        while self._unacked_messages and not self.should_stop and time.monotonic() < end:
            await self._wait_for_ack(timeout=1)
            self._clean_unacked_messages()

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Do nothing: no position comes from acknowledged offsets, and the interval tree costs more than decoding."""

    async def verify_all_partitions_active(self) -> None:
        """Do nothing: the stock check knows nothing of chunks and calls healthy partitions stalled."""

    # -- reading -----------------------------------------------------------------------------------------------------

    @property
    def leased(self) -> bool:
        """Whether no other worker can have our partitions at this moment."""
        lease = self._thread.lease
        return lease is not None and lease.held

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, ConsumerMessage]]:  # noqa: ASYNC109  # faust's signature
        """Yield what one fetch returned, as chunks; what isn't delivered is fetched again."""
        self.fetched_at = time.monotonic()
        if not self.flow_active:
            await self.wait(self.can_resume_flow)  # type: ignore[arg-type]  # mode's type leaves out asyncio's Event
        if self.should_stop:
            return
        await self._seek_client()
        epoch, generation = self.cursors.epoch, self.app.consumer_generation_id
        waiting = {TP(*tp): records for tp, records in (await self._fetch(timeout)).items() if records}
        try:
            if not await self._look_for_lost(waiting.items()):
                return
            for tp in list(waiting):
                while tp in waiting and self._may_deliver(tp, epoch, generation):
                    chunk, rest = self.cursors.cut(Place(*tp), waiting.pop(tp))
                    if rest:
                        waiting[tp] = rest
                    if chunk is None:
                        self._note_behind(tp)
                        break
                    # a chunk that was rewound to ends below the one before, and Faust would drop it
                    self._read_offset[tp] = None
                    yield tp, _message(tp, chunk, generation)
        finally:
            self.cursors.undelivered(Place(*tp) for tp in waiting)

    def _may_deliver(self, tp: TP, epoch: int, generation: int) -> bool:
        """Tell whether a fetch begun in `epoch` still stands: no seek since, no rebalance, flow not stopped."""
        cursor = self.cursors.get(Place(*tp))
        return (
            cursor is not None
            and cursor.seek_to is None
            and epoch == self.cursors.epoch
            and generation == self.app.consumer_generation_id
            and self.flow_active
            and self.leased
            and not self.should_stop
        )

    async def _fetch(self, timeout: float) -> Mapping[TP, Sequence[Record]]:  # noqa: ASYNC109  # faust's
        """Return what the client has; nothing where a partition was taken away meanwhile."""
        # a copy: the client's thread reads it while this one changes it, and takes an empty set for "all"
        active = set(self._get_active_partitions())
        if active and not self.leased:
            self._note_lapse()
        if not active or not self.leased:
            await asyncio.sleep(IDLE_S)
            return {}
        self._lapse_noted = False
        self._fetching = True
        fetched = await self._getmany(active_partitions=active, timeout=timeout)
        self._fetching = False
        return fetched

    def let_go(self, place: Place, offset: int) -> None:
        """Read `place` again from `offset`: a stage left what came from there, the lease having lapsed."""
        self._note_lapse()
        self.cursors.let_go(place, offset)

    def _note_lapse(self) -> None:
        """Log, once a lapse, that this worker stands still until the group answers it."""
        if self._thread.lease is not None and not self._lapse_noted:
            self._lapse_noted = True
            log.warning("lease_lapsed", within_s=self._thread.lease.session_s, reason="the group doesn't answer")

    async def _seek_client(self) -> None:
        """Place the client where the cursors want it, between two fetches."""
        if self._fetching or self._thread.cut_off:  # what the last fetch took out of the client is unknown
            self._fetching = self._thread.cut_off = False
            self.cursors.undelivered_all()
        due = self.cursors.take_seeks()
        if due:
            self._fetching = True  # cancelled here, the client may be anywhere
            await self._thread.seek_places(due)
            self._fetching = False

    def _note_behind(self, tp: TP) -> None:
        """Log, once a seek, that the topic gives only offsets that were read before: it was made anew or cut short."""
        if tp not in self._behind:
            self._behind.add(tp)
            log.error("topic_behind_state", topic=tp.topic, partition=tp.partition)

    # -- figures -----------------------------------------------------------------------------------------------------

    def end(self, place: Place) -> int | None:
        """Return the offset after the last record on the broker, as the last fetch told; None before the first."""
        try:
            end: int | None = self.highwater(TopicPartition(*place))
        except (KafkaError, KeyError, AttributeError):  # not ours (any more), or the client isn't up yet
            return None
        return end


class Transport(driver.Transport):
    """Faust's Kafka transport with our consumer; the app makes it itself, so no URL scheme is registered."""

    Consumer: ClassVar[type[ConsumerT]] = ChunkConsumer


def _message(tp: TP, chunk: Chunk, generation: int) -> ConsumerMessage:
    last = chunk.records[-1]
    return ConsumerMessage(
        topic=tp.topic,
        partition=tp.partition,
        offset=last.offset,
        timestamp=last.timestamp_ms / 1000.0,
        timestamp_type=0,
        headers=[],
        key=None,
        value=cast("bytes", chunk),  # opaque to Faust: the schema of our topics hands it on undecoded
        checksum=None,
        tp=tp,
        generation_id=generation,
    )
