"""A worker: the Faust app with our four stages, the config it follows, the history it keeps, and what it shows."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping

import msgspec
import structlog

from monitor.board import Board
from monitor.config import Config
from monitor.fold import Channel
from monitor.history import History, board_record, thinning_output
from monitor.pipeline import Pipeline
from monitor.readings import BoardSnapshot
from monitor.thinning import Regulator, told
from streams.agents import TABLES, Stages
from streams.app import App
from streams.broker import Connection, Sasl
from streams.chunks import Place
from streams.health import Health, Limits
from streams.history_topic import HistoryReader
from streams.http import HttpServer
from streams.live_config import LiveConfig
from streams.options import EMBEDDED, AppOptions, Reading, Timings
from streams.published import pipeline
from streams.settings import Settings, tls_context
from streams.stage import Pace
from streams.topics import DAY_MS, HOUR_MS, Layout, TopicSpec, topic_specs

log = structlog.get_logger(__name__)

PUBLISH_EVERY_S = 1.0
"""What is shown is never older, however little changes and however much it costs, but under a backlog."""
PUBLISH_AGAIN_S = 0.2
"""The least between two publications; a label waits this long at most where readings are cheap to work out."""
PUBLISH_SHARE = 0.1
"""Of the loop's time, what publishing more often than once in `PUBLISH_EVERY_S` may take."""
BEHIND = 10_000
"""Records; a worker that has so many before it has no time for more publications than it must make."""
BEHIND_SHARE, BEHIND_EVERY_S = 0.02, 3.0
"""Of such a worker's time, what publishing may take, but for as old as what is shown may become then. Once a second
took a twentieth where one in a hundred is drawn: under a backlog every cell changes between two looks."""
HEARTBEAT_S = 3.0
"""At most; Kafka asks for a third of the session's timeout."""


def channel_topics(config: Config) -> dict[Channel, str]:
    """Return the name of each channel's topic."""
    topics = config.topics
    return {
        "decisions": topics.decisions,
        "sampled": topics.sampled,
        "annotation_tasks": topics.annotation_tasks,
        "labels": topics.labels,
        "labels_by_document": topics.labels_by_document,
        "dead_letters": topics.dead_letters,
        "tallies": topics.tallies,
        "history": topics.history,
    }


def connection(settings: Settings) -> Connection:
    """Return how to reach the broker."""
    kafka = settings.config.kafka
    sasl = None
    if settings.password is not None:
        sasl = Sasl(mechanism=kafka.mechanism, username=kafka.username, password=settings.password.reveal())
    servers = tuple(server.strip() for server in kafka.brokers.split(",") if server.strip())
    return Connection(servers=servers, ssl_context=tls_context(settings.config), sasl=sasl)


def declared_topics(config: Config) -> tuple[TopicSpec, ...]:
    """Return what every topic must be: drawn documents and labels stay for the longest window and its deadline."""
    topics = config.topics
    layout = Layout(
        decisions_partitions=topics.partitions,
        sampled_partitions=topics.partitions,
        labels_partitions=topics.labels_partitions,
        replication=topics.replication,
        min_insync=max(topics.replication - 1, 1),
        retention_ms=config.horizon_days * DAY_MS,
        decisions_retention_ms=topics.decisions_retention_hours * HOUR_MS,
    )
    return topic_specs(channel_topics(config), layout, group=config.kafka.group, tables=TABLES)


def app_options(settings: Settings, stages: Stages, *, embedded: bool) -> AppOptions:
    """Return what the Faust app is built from."""
    config = settings.config
    kafka = config.kafka
    timings = Timings(
        session_s=kafka.session_timeout_s,
        heartbeat_s=min(HEARTBEAT_S, kafka.session_timeout_s / 3),
        rebalance_s=kafka.rebalance_timeout_s,
    )
    return AppOptions(
        connection=connection(settings),
        group=kafka.group,
        topics=channel_topics(config),
        stages=stages.specs(),
        topic_specs=declared_topics(config),
        create_topics=embedded,
        timings=EMBEDDED if embedded else timings,
        reading=Reading(chunk_records=kafka.chunk_records, fetch_bytes=kafka.fetch_bytes, check_crcs=kafka.check_crcs),
        pace=Pace(interval_s=config.checkpoint.interval_s),
    )


def publishing_pause(cost_s: float, lag: int) -> float:
    """Return the seconds until readings are published again, which took `cost_s` to work out.

    Parameters
    ----------
    cost_s
        Seconds.
    lag
        Records that are still to be read, all partitions together.

    >>> publishing_pause(0.001, 0), publishing_pause(0.05, 0), publishing_pause(0.5, 0), publishing_pause(0.001, 10**6)
    (0.2, 0.5, 1.0, 1.0)
    >>> publishing_pause(0.04, 10**6)
    2.0
    """
    if lag > BEHIND:
        return min(max(PUBLISH_EVERY_S, cost_s / BEHIND_SHARE), BEHIND_EVERY_S)
    return min(max(PUBLISH_AGAIN_S, cost_s / PUBLISH_SHARE), PUBLISH_EVERY_S)


class LiveApp(App):
    """The app of a worker.

    Parameters
    ----------
    settings
        What was loaded at start.
    env
        The environment that was loaded with it.
    embedded
        Whether the broker is the embedded one: its group answers slowly, and missing topics are created.
    """

    def __init__(self, settings: Settings, env: Mapping[str, str] = os.environ, *, embedded: bool = False) -> None:
        self.live = LiveConfig(settings, env)
        self.history = History()
        topics = channel_topics(settings.config)
        self._channels = {topic: channel for channel, topic in topics.items()}
        self._duties = Stages(topics, self.live, self.history, time.time, self._end_of)
        self._started_at = time.time()
        self._reader = HistoryReader(connection(settings), topics["history"], self.history)
        self._snapshot: BoardSnapshot | None = None
        self._pipeline = Pipeline(started_at=self._started_at, unready_reason="starting")
        self._was_board = False
        self._opened_board: Board | None = None
        self._board_end: int | None = None
        self._regulator = Regulator()
        http = settings.config.http
        options = app_options(settings, self._duties, embedded=embedded)
        health = Health(self.signs, Limits.of(options.timings))
        self.http = HttpServer(http.host, http.port, self.published, health)
        super().__init__(options)

    def published(self) -> tuple[BoardSnapshot | None, Pipeline]:
        """Return what is shown; called from the HTTP thread."""
        return self._snapshot, self._pipeline

    async def on_first_start(self) -> None:
        """Read the history before any record: a fold must know the plans of its offsets."""
        self.http.start()
        log.info("page", url=self.http.url)
        await super().on_first_start()
        await self._reader.start()
        self._take_thinning()

    def _end_of(self, place: Place) -> int | None:
        return self._chunks.end(place)

    async def before_open(self) -> None:
        """Read the history to its end: the worker that had a partition before may have changed its plan just now."""
        await self._reader.catch_up()
        self._take_thinning()

    async def on_start(self) -> None:
        """Begin to follow config and history, and to publish."""
        await super().on_start()
        self.add_future(self._follow())
        self.add_future(self._publish())

    async def on_stop(self) -> None:
        """Close what is ours."""
        await super().on_stop()
        await self._reader.stop()
        await asyncio.to_thread(self.http.stop)

    async def _follow(self) -> None:
        while not self.should_stop:
            self.went_on("config and history were not followed")
            await self._reader.read()
            self._take_thinning()
            self.live.poll()

    def _take_thinning(self) -> None:
        """Sample by the factor that the board recorded last; 1 where it never did."""
        held = self.history.thinning
        self.live.thin(1.0 if held is None else held.q)

    async def _publish(self) -> None:
        while not self.should_stop:
            self.went_on("nothing was published")
            await self._announce_board()
            begun, read = time.monotonic(), self._tallies_read()
            self._show(time.time())
            await self._regulate(time.time())
            pause = publishing_pause(time.monotonic() - begun, sum(self._pipeline.lag.values()))
            await self.sleep(pause)
            await self._wait_for_tallies(read, begun + PUBLISH_EVERY_S)

    async def _wait_for_tallies(self, read: int | None, latest: float) -> None:
        """Wait until the board has read more than `read`, or until `latest` by `time.monotonic`."""
        while not self.should_stop and read == self._tallies_read() and time.monotonic() < latest:
            await self.sleep(PUBLISH_AGAIN_S / 2)

    def _tallies_read(self) -> int | None:
        """Return how far the board has read, None where it isn't here: as long as that stays, so do the readings."""
        board = self._duties.board
        return None if board is None or not self._is_board() else board.position("tallies")

    def _show(self, now: float) -> None:
        """Swap in what is true now."""
        board = self._duties.board if self._is_board() else None
        if board is not None and not self._has_caught_up(board):
            board = None  # what it holds so far is history, and part of it
        if board is not None:
            self._snapshot = self._with_bounds(board.snapshot(now, self.history.latest_changes()))
        else:
            self._snapshot = None
        checkpoints = sum(stage.checkpoints for stage in self.stages)
        last = self._pipeline
        self._pipeline = pipeline(
            started_at=self._started_at,
            flow=self._duties.flow,
            progress=self.progress(),
            assigned=self.partitions,
            channels=self._channels,
            live=self.live,
            ready=self.ready,
            is_board=board is not None,
            board_url="" if board is not None else self.history.board_url,
            checkpoints=checkpoints,
            checkpoint_s=sum(stage.checkpoint_s for stage in self.stages),
            checkpoint_at=now if checkpoints > last.checkpoints else last.checkpoint_at,
            rebalances=self.stages.rebalances,
            folded={stage.spec.name: (stage.chunks, stage.chunk_s) for stage in self.stages},
        )

    def _with_bounds(self, snapshot: BoardSnapshot) -> BoardSnapshot:
        """Put beside the queue what it's held to."""
        held, capacity = self.history.thinning, self.live.plan.config.labels.capacity_per_day
        return msgspec.structs.replace(
            snapshot, thinning=1.0 if held is None else held.q, capacity_per_day=capacity or None
        )

    async def _regulate(self, now: float) -> None:
        """Record another thinning factor where the review queue asks for one; every worker follows the history."""
        if self._snapshot is None or not self.ready or not self._leased():
            return
        decided = self._regulator.decide(self._snapshot, self.live.plan, self.history.thinning, now)
        if decided is None:
            return
        output = thinning_output(decided)
        sent = await self.emit(output)
        await sent
        self.history.take(output.key, output.value)  # before the reader comes to it: it's decided once
        log.info("thinning_changed", reason=told(decided))

    def _is_board(self) -> bool:
        return any(stage.spec.name == "board" and stage.running for stage in self.stages)

    def _has_caught_up(self, board: Board) -> bool:
        """Say whether a board has read all that stood on its topic soon after it was opened."""
        if board is not self._opened_board:
            self._opened_board, self._board_end = board, None
            self._regulator = Regulator()
        if self._board_end is None:
            self._board_end = self._end_of(Place(self.options.topics["tallies"], 0))
        return self._board_end is not None and (board.position("tallies") or 0) >= self._board_end

    async def _announce_board(self) -> None:
        """Tell the other workers where the board is, once it is here."""
        is_board = self.ready and self._is_board()
        if is_board and not self._was_board:
            sent = await self.emit(board_record(self.http.url, time.time()))
            await sent
        self._was_board = is_board
