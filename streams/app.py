"""The Faust app: what is passed to Faust, and how stages, tables and topics are wired to it.

Faust keeps group membership, rebalancing, recovery of the tables and backpressure. Reading, positions and commits are
ours (`streams.transport`), and so is everything about state (`streams.stage`).
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast

import faust
import structlog
from faust.streams import Stream
from faust.tables.manager import TableManager
from faust.types import AppT, EventT, Message, StreamT, TransportT
from yarl import URL

from monitor.fold import Channel, Output
from streams.broker import wait_for_broker
from streams.chunks import Chunk, Place
from streams.client_thread import TURN_S, ConsumerThread
from streams.declare import ensure
from streams.health import Signs
from streams.options import AppOptions
from streams.stage import Stage, StageSpec
from streams.stages import Progress, Stages, run_checkpoints
from streams.tables import RECOVERY_BUFFER, Table
from streams.transport import ChunkConsumer, Transport

log = structlog.get_logger(__name__)

_STATE = "the state of its partitions"


class ChunkSchema(faust.Schema[Any, Any]):
    """Hands a chunk on as it is: decoding is the stages' own, a record at a time."""

    def compile(self, app: AppT, **_kwargs: Any) -> Any:  # noqa: ANN401  # faust's signature
        """Return the decoder that Faust calls for each event."""

        async def decode(message: Message, *, propagate: bool = False) -> EventT[Any]:  # noqa: ARG001  # faust's
            return app.create_event(None, message.value, message.headers, message)

        return decode


class App(faust.App):
    """A worker's Faust app; also the port of its stages (`streams.stage.Port`)."""

    def __init__(self, options: AppOptions) -> None:
        self.options = options
        self.chunk_records = options.reading.chunk_records
        self.leave_s = options.timings.leave_s
        self.left: Callable[[bool], None] = lambda _reached: None
        """Called once the last checkpoint of a worker that ends was tried, with whether the broker took it."""
        self._beats = {spec.name: time.monotonic() for spec in options.stages}
        self._turned_at = time.monotonic()
        self._went_on: Mapping[str, float] = {}
        self._folded_at: dict[str, float] = {}
        self._recovered = 0, self._turned_at
        self._waits_for = "the broker"
        super().__init__(options.group, **_settings(options))
        self.stages = Stages([self._stage(spec) for spec in options.stages])
        if not self.tables.data:
            # without one Faust changes to an assignor that doesn't co-partition, and a group can't hold both
            raise ValueError("an app needs a stage with a table")
        for stage in self.stages:
            for channel in stage.spec.inputs:
                self._read(stage, channel)
        self.on_partitions_assigned.connect(self._begin_recovery)
        self.on_partitions_revoked.connect(self._leave)
        self.on_before_shutdown.connect(self._leave)

    # -- wiring ------------------------------------------------------------------------------------------------------

    def _stage(self, spec: StageSpec) -> Stage:
        table = None
        if spec.table is not None:
            table = cast(
                "Table",
                self.Table(
                    spec.table,
                    schema=ChunkSchema(),
                    key_type=bytes,
                    value_type=bytes,
                    recovery_buffer_size=RECOVERY_BUFFER,
                ),
            )
        return Stage(
            spec=spec,
            topics={channel: self.options.topics[channel] for channel in spec.inputs},
            port=self,
            table=table,
            pace=self.options.pace,
            fail=self.options.fail,
            leased=self._leased,
            let_go=self._let_go,
        )

    def _leased(self) -> bool:
        return self._chunks.leased

    def _let_go(self, place: Place, offset: int) -> None:
        self._chunks.let_go(place, offset)

    def _read(self, stage: Stage, channel: Channel) -> None:
        """Feed a stage from a channel; the acknowledgement only tells Faust that nobody holds the event any more."""

        async def read(stream: StreamT[Any]) -> None:
            async for event in cast("Stream[Any]", stream).noack().events():
                await self.take(stage, channel, event.message)
                event.ack()
                self._folded_at[event.message.topic] = time.monotonic()

        topic = self.topic(stage.topics[channel], schema=ChunkSchema())
        self.agent(topic, name=f"{stage.spec.name}-{channel}", concurrency=1)(read)

    async def take(self, stage: Stage, channel: Channel, message: Message) -> None:
        """Have a stage fold a chunk."""
        await stage.take(channel, message.partition, cast("Chunk", message.value))

    def _new_transport(self) -> TransportT:
        return Transport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> TransportT:
        return Transport(self.conf.broker_producer, self)

    def _create_directories(self) -> None:
        """Do nothing: the state is in memory and in the changelogs, and the working directory may be read-only."""

    # -- life --------------------------------------------------------------------------------------------------------

    async def on_first_start(self) -> None:
        """Wait for a broker and see to the topics before any service of Faust's connects."""
        self.add_future(self._turn())
        await wait_for_broker(self.options.connection)
        self._waits_for = "its topics"
        await ensure(self.options.connection, self.options.topic_specs, create=self.options.create_topics)
        self._waits_for = "partitions"
        await super().on_first_start()

    async def _turn(self) -> None:
        """Note that the loop turns, whatever waits on it, and what has nothing to do or can't be expected to."""
        while True:
            self._turned_at = now = time.monotonic()
            if self.stages.ready:
                self._recovered = self._recovered[0], now
                self._note_idle(now)
            elif self._waits_for == _STATE:
                self._note_recovery(now)
            await asyncio.sleep(TURN_S)

    def _note_idle(self, now: float) -> None:
        """Note which topics have no chunk in hand; one of before the last rebalance isn't going to be folded."""
        generation = self.consumer_generation_id
        waiting = {message.topic for message in self._chunks.unacked if message.generation_id == generation}
        self._folded_at |= dict.fromkeys(self.stages.by_topic.keys() - waiting, now)

    def _note_recovery(self, now: float) -> None:
        """Note that rows were recovered since the last look, or that a broker is what recovery waits for."""
        read = self.recovered_offsets
        if read != self._recovered[0] or not (self._chunks.leased and self._client.led):
            self._recovered = read, now

    @property
    def recovered_offsets(self) -> int:
        """What grows as rows are recovered: the sum of the changelogs' offsets; 0 for one not asked for."""
        recovery = cast("TableManager", self.tables).recovery
        return sum(offset or 0 for offset in recovery.active_offsets.values())

    async def before_open(self) -> None:
        """Do nothing: the folds are opened from their rows alone, unless a worker says otherwise."""

    async def on_start(self) -> None:
        """Begin with the checkpoints; tasks of our own, since Faust's timers end before the last checkpoint."""
        await super().on_start()
        for stage in self.stages:
            self.add_future(run_checkpoints(stage, partial(self._beat, stage.spec.name)))

    def went_on(self, what: str) -> None:
        """Note that a task which must go on does; `what` says what is wrong where it doesn't."""
        self._went_on = {**self._went_on, what: time.monotonic()}  # swapped in whole: it's read by another thread

    def _beat(self, stage: str) -> None:
        self._beats[stage] = time.monotonic()

    @property
    def beat_at(self) -> float:
        """When the stage that is furthest behind ended its last round of checkpoints, by `time.monotonic`."""
        return min(self._beats.values())

    async def _begin_recovery(self, *_args: Any, **_kwargs: Any) -> None:  # noqa: ANN401  # a signal's arguments
        self._recovered = 0, time.monotonic()
        self._waits_for = _STATE
        if self.unassigned:  # a spare: Faust recovers nothing for it, so it's as far as it will be
            self.stages.begin(0, {})

    async def _leave(self, *_args: Any, **_kwargs: Any) -> None:  # noqa: ANN401  # a signal's arguments
        """Make a last checkpoint and commit before partitions are taken away, or the worker ends."""
        self._waits_for = "partitions"
        if self.crash_reason is None:
            within_s, reached = self.options.timings.leave_s, True
            if self.stages.ready:
                reached = await self.stages.leave(within_s) and await self._commit(within_s)
            if self.should_stop:
                self.left(reached)
        self.stages.drop()

    async def _commit(self, within_s: float) -> bool:
        try:
            await asyncio.wait_for(self._chunks.force_commit(), within_s)
        except TimeoutError:
            log.warning("last_commit_timed_out", within_s=within_s)
            return False
        return True

    # -- the port of the stages --------------------------------------------------------------------------------------

    async def emit(self, output: Output) -> Awaitable[object]:
        """Hand a record to the producer; what comes back is done when the broker has acknowledged it."""
        topic = self.options.topics[output.channel]
        at_s = None if output.timestamp_ms is None else output.timestamp_ms / 1000
        return await self.producer.send(topic, output.key, output.value, None, at_s, None)

    def rewind(self, place: Place, offset: int) -> None:
        """Ask for `place` to be read again from `offset`."""
        self._chunks.cursors.report_hole(place, offset)

    def report(self, place: Place, offset: int) -> None:
        """Note that all below `offset` is durable."""
        self._chunks.report(place, offset)

    # -- figures -----------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether the state was recovered and partitions are being read; of a spare, that it was given none."""
        return self.stages.ready

    def signs(self) -> Signs:
        """Return the signs of life; called from any thread, at any time."""
        reading = self.stages.ready  # before that there may be no consumer, and asking for it would make one
        return Signs(
            turned_at=self._turned_at,
            client_turned_at=None if self._consumer is None else self._client.turned_at,
            tasks=self._went_on,
            recovered_at=self._recovered[1] if self._waits_for == _STATE and not reading else None,
            rounds_at=self.beat_at,
            fetched_at=self._chunks.fetched_at if reading else self._turned_at,
            folded_at=min(tuple(self._folded_at.values()), default=self._turned_at),
            reading=reading,
            since=self.stages.since,
            read_before=self.stages.read_before,
            leased=reading and self._chunks.leased,
            partitions=self.partitions,
            waits_for=self._waits_for,
            stopping=self.should_stop,
        )

    @property
    def partitions(self) -> int:
        """How many partitions are read here, changelogs left out."""
        return sum(len(stage.running) * len(stage.topics) for stage in self.stages)

    def progress(self) -> tuple[Progress, ...]:
        """Return how far each partition was read; call it on the worker's loop and pass the tuple on."""
        return tuple(self._progress(stage, place, position) for stage, place, position in self.stages.positions())

    def _progress(self, stage: Stage, place: Place, position: int) -> Progress:
        end = self._chunks.end(place)
        cursor = self._chunks.cursors.get(place)
        lag = None if end is None else max(0, end - position)
        counts = (0, 0, 0) if cursor is None else (cursor.holes, cursor.rewinds, cursor.lost)
        return Progress(stage.spec.name, *place, position, lag, *counts)

    @property
    def _chunks(self) -> ChunkConsumer:
        return cast("ChunkConsumer", self.consumer)

    @property
    def _client(self) -> ConsumerThread:
        return self._chunks._thread  # noqa: SLF001  # the transport shows no other sign of its life


def _settings(options: AppOptions) -> Mapping[str, Any]:
    """Return Faust's settings. `env={}`: Faust lets variables such as APP_VERSION override what the code says."""
    return {
        "env": {},
        "version": 1,
        "broker": _urls(options.connection.servers),
        "broker_credentials": options.connection.credentials(),
        "ssl_context": options.connection.ssl_context,
        "broker_client_id": options.connection.client_id,
        "canonical_url": URL(f"http://{_instance(options)}"),
        "consumer_group_instance_id": options.instance if options.static_member else None,
        "store": "memory://",
        "Table": Table,
        "agent_supervisor": "mode.CrashingSupervisor",
        "processing_guarantee": "at_least_once",
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "table_standby_replicas": 0,
        "web_enabled": False,
        "worker_redirect_stdouts": False,
        "consumer_auto_offset_reset": "earliest",
        **_timings(options),
        **_throughput(options),
    }


def _timings(options: AppOptions) -> Mapping[str, Any]:
    timings = options.timings
    return {
        "broker_session_timeout": timings.session_s,
        "broker_heartbeat_interval": timings.heartbeat_s,
        "broker_rebalance_timeout": timings.rebalance_s,
        "broker_request_timeout": max(timings.request_s, timings.session_s),
        "broker_commit_interval": timings.commit_s,
        # a worker without partitions doesn't poll, and past this time it would leave the group and never come back
        "broker_max_poll_interval": 24 * 3600.0,
        "producer_request_timeout": timings.send_s,
        "stream_wait_empty": True,
        "stream_recovery_delay": 0.0,
    }


def _throughput(options: AppOptions) -> Mapping[str, Any]:
    reading, sending = options.reading, options.sending
    return {
        "stream_buffer_maxsize": reading.buffered_chunks,
        "consumer_max_fetch_size": reading.fetch_bytes,
        "broker_check_crcs": reading.check_crcs,
        "producer_acks": -1,
        "producer_linger": sending.linger_s,
        "producer_max_batch_size": sending.batch_bytes,
        "producer_max_request_size": sending.request_bytes,
        "producer_compression_type": sending.compression,
    }


def _urls(servers: Iterable[str]) -> list[URL]:
    return [URL(f"kafka://{server}") for server in servers]


def _instance(options: AppOptions) -> str:
    """Return a name that is this worker's alone: Faust's assignor keys its maps by it."""
    return options.instance or f"{socket.gethostname()}-{os.getpid()}"
