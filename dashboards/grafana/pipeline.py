"""*Pipeline*: whether the monitor runs, keeps up, loses nothing, and who does what."""

from __future__ import annotations

from dashboards.grafana.frame import Board
from dashboards.grafana.panels import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    SKY,
    Bounds,
    Column,
    Frame,
    Health,
    Panel,
    Query,
    figures,
    lines,
    rows,
)
from dashboards.grafana.queries import Queries, Ranked
from dashboards.promql import UP, Chosen, block
from dashboards.settings import Settings, seconds
from monitor import metrics as m

_CHANNELS = (
    ("decisions", BLUE),
    ("labels", ORANGE),
    ("labels_by_document", PINK),
    ("sampled", GREEN),
    ("tallies", SKY),
)
_STAGES = (("route", BLUE), ("ledger", ORANGE), ("board", GREEN))
_VERSION = ("detector", "version")
_LATE_S = 0.5
"""A chunk is at most 2,000 records (`kafka.chunk_records`): a stage that takes longer holds up the others."""


def pipeline(settings: Settings, queries: Queries) -> Board:
    """Return the dashboard."""
    return Board(
        "pipeline",
        "Pipeline",
        "Whether the monitor itself runs, reads as fast as records come, and loses none.",
        ("version",),
        (
            _workers_now(settings, queries),
            _board_now(settings, queries),
            _behind_now(settings, queries),
            _dead_letters_now(settings, queries),
            _throughput(settings, queries),
            _lag(settings, queries),
            _chunks(queries),
            _rebalances(settings, queries),
            _dead_letters(settings, queries),
            _workers(settings, queries),
        ),
        "6h",
    )


def _workers_now(settings: Settings, queries: Queries) -> Panel:
    down, all_down = settings.of("RecallwatchWorkerDown"), settings.of("RecallwatchMonitorDown")
    up = queries.recorded(UP)
    return figures(
        Frame(
            "Workers that don't answer",
            Health(
                "Workers that Prometheus knows and can't scrape, of all that it knows, and those that are ready.",
                "None.",
                f"One, while others answer: its partitions go to them. After {down.wait} `RecallwatchWorkerDown`.",
                f"All: after {all_down.wait} `RecallwatchMonitorDown` pages, and nobody sees what gets through.",
            ),
            6,
            4,
        ),
        [
            Query(f"count({up}) - sum({up})", "don't answer"),
            Query(f"count({up})", "known"),
            Query(f"sum({queries.own(m.READY)})", "ready"),
        ],
        Bounds(1, None),
    )


def _board_now(settings: Settings, queries: Queries) -> Panel:
    gap, knobs = settings.scrape.gap, settings.of("RecallwatchBoardMissing")
    newest = queries.recorded(queries.recording.newest)
    return figures(
        Frame(
            "Age of the readings",
            Health(
                "Time since the board computed readings, and the workers that take themselves for the board.",
                "Seconds, and 1 board.",
                "A minute or more: a board that moves, or has much to compute. Two boards for the length of a move.",
                f"More than {gap}: after {knobs.wait} `RecallwatchBoardMissing` pages: no alarm on recall can fire.",
            ),
            6,
            4,
        ),
        [
            Query(f"time() - max({newest})", "old", unit="s", decimals=0),
            Query(f"sum({queries.own(m.BOARD_OWNER)})", "boards", unit="short"),
        ],
        Bounds(60, seconds(gap)),
    )


def _time_behind(settings: Settings, queries: Queries) -> str:
    knobs = settings.of("RecallwatchConsumerLag")
    return block(
        """
        max(
          clamp_max(
              max by (channel, partition) (<lag>)
            /
              max by (channel, partition) (rate(<position>[<window>])),
            <longest>
          )
        )
        """,
        lag=queries.own(m.LAG),
        position=queries.own(m.POSITION),
        window=knobs.window("window"),
        longest=knobs.seconds("longest"),
    )


def _behind_now(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchConsumerLag")
    behind = knobs.window("behind")
    return figures(
        Frame(
            "Behind",
            Health(
                "Time that reading what waits takes at the present speed, of the partition that is worst, and the "
                "records that wait in all of them.",
                "Seconds.",
                f"A minute or more, up to {behind}.",
                f"More than {behind} for {knobs.wait}: `RecallwatchConsumerLag`. Nothing is lost before the topic's "
                "retention ends.",
            ),
            6,
            4,
        ),
        [
            Query(_time_behind(settings, queries), "behind", unit="s", decimals=1),
            Query(f"sum({queries.own(m.LAG)})", "records wait", unit="short", decimals=0),
        ],
        Bounds(60, seconds(behind)),
    )


def _dead_letters_now(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchDeadLetters")
    window = knobs.window("window")
    decisions, labels = (queries.happened(m.DEAD_LETTERS, (), window, channel=name) for name in ("decisions", "labels"))
    return figures(
        Frame(
            f"Dead letters in {window}",
            Health(
                "Records that couldn't be read, of decisions and of labels, beside the decisions that could.",
                "None.",
                f"Fewer than {knobs.number('decisions')} decisions, and no label.",
                f"{knobs.number('decisions')} decisions or {knobs.number('labels')} label: `RecallwatchDeadLetters`. "
                "Documents are outside every number, or somebody's work is lost.",
            ),
            6,
            4,
        ),
        [
            Query(decisions, "of decisions", decimals=0),
            Query(labels, "of labels", decimals=0),
            Query(queries.rose(m.DECISIONS, (), window), "decisions read", decimals=0),
        ],
        Bounds(1, float(knobs.number("decisions"))),
    )


def _throughput(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchNoDecisions")
    rate = queries.rate(m.DECISIONS, _VERSION, version=Chosen("version"))
    counted = f"-sum by (detector, version) ({queries.own(m.DECISIONS, version=Chosen('version'))} @ end())"
    ranked = [
        Query(queries.lowest(rate, Ranked(counted, place), _VERSION), "{{detector}} {{version}}", colour, "thin")
        for place, colour in ((1, ORANGE), (2, GREEN))
    ]
    return lines(
        Frame(
            "Decisions a second",
            Health(
                "Decisions that workers counted, all together, and of the two versions with most.",
                "As your traffic goes.",
                "A version that nobody rolled out, or one that should be gone.",
                f"0 for {knobs.window('window')}: `RecallwatchNoDecisions`.",
            ),
            12,
            8,
        ),
        [Query(queries.rate(m.DECISIONS), "all", BLUE), *ranked],
        "short",
        low=0,
    )


def _lag(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchConsumerLag")
    return lines(
        Frame(
            "Records that wait, by channel",
            Health(
                "Records between where workers read and the end of each topic.",
                "Near 0, or peaks that go away.",
                f"Grows for longer than {knobs.wait}.",
                f"Grows until reading it takes more than {knobs.window('behind')} (panel *Behind*).",
            ),
            12,
            8,
        ),
        [Query(f"sum({queries.own(m.LAG, channel=channel)})", channel, colour) for channel, colour in _CHANNELS],
        "short",
        low=0,
    )


def _chunks(queries: Queries) -> Panel:
    means = [
        Query(f"{queries.rate(m.CHUNK_SECONDS, stage=stage)}\n/ {queries.rate(m.CHUNKS, stage=stage)}", stage, colour)
        for stage, colour in _STAGES
    ]
    return lines(
        Frame(
            "Time that a chunk takes",
            Health(
                "Mean time of folding a chunk of records, by stage; and of making state durable. A chunk is as many "
                "records as one fetch gave, 2,000 at most.",
                f"Under {_LATE_S:g} s.",
                f"{_LATE_S:g} s or more: larger chunks under a backlog, or too little processor.",
                "Seconds: reading can't keep up, and lag grows.",
            ),
            8,
            7,
        ),
        [
            *means,
            Query(f"{queries.rate(m.CHECKPOINT_SECONDS)}\n/ {queries.rate(m.CHECKPOINTS)}", "checkpoint", GREY, "thin"),
            Query(queries.rate(m.CHUNKS), "chunks a second", style="listed", unit="short"),
        ],
        "s",
        low=0,
    )


def _rebalances(settings: Settings, queries: Queries) -> Panel:
    lost = settings.of("RecallwatchRecordsLost")
    rebuilt = settings.of("RecallwatchLedgerRebuilt")
    window = rebuilt.window("window")
    return lines(
        Frame(
            f"Rebalances, and what went wrong, in {window}",
            Health(
                f"In the {window} before each moment: how often a worker was dealt its partitions, positions that were "
                "sought again, records lost to retention, ledger partitions built anew, outputs that weren't checked.",
                "0; one for each worker at a rollout.",
                "Rebalances without a rollout: a worker comes and goes. Ledger partitions built anew: "
                "`RecallwatchLedgerRebuilt`.",
                f"Any record lost: `RecallwatchRecordsLost` after {lost.wait}. They're in no number.",
            ),
            8,
            7,
        ),
        [
            Query(queries.happened(m.REBALANCES, (), window), "rebalances", BLUE),
            Query(queries.happened(m.REWINDS, (), window), "positions sought again", GREY, "thin"),
            Query(queries.happened(m.LOST, (), window), "records lost", RED),
            Query(queries.happened(m.REBUILDS, (), window), "ledger built anew", ORANGE),
            Query(queries.happened(m.UNCHECKED, (), window), "outputs not checked", RED, "thin"),
        ],
        "short",
        low=0,
    )


def _dead_letters(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchDeadLetters")
    window, by = knobs.window("window"), ("channel", "reason")
    known = queries.latest(m.COUNTED_DEAD_LETTERS, by)
    return rows(
        Frame(
            "Dead letters, by reason",
            Health(
                "Records that no worker could read, over the longest window and lately, by what was wrong with them.",
                "No row.",
                "Old ones alone.",
                f"Any of labels, or {knobs.number('decisions')} decisions, in {window}: `RecallwatchDeadLetters`.",
            ),
            8,
            7,
        ),
        {"channel": "Channel", "reason": "Reason"},
        [
            Column("All", known),
            Column(f"In {window}", f"{queries.happened(m.DEAD_LETTERS, by, window)}\nand {known}"),
        ],
        "All",
        descending=True,
    )


def _workers(settings: Settings, queries: Queries) -> Panel:
    silent = settings.of("RecallwatchWorkerStalled").window("silent")
    by = ("instance",)

    def each(expr: str) -> str:
        return f"max by (instance) ({expr})"

    config = f"max by (instance, config) ({queries.own(m.CONFIG)})"
    yes_no = {"0": "no", "1": "yes"}
    return rows(
        Frame(
            "Workers",
            Health(
                "Each worker: whether it answers and is ready, which one is the board, its partitions, its last sign "
                "of life, its config, and whether it refuses the one on disk.",
                "All answer and are ready, one is the board, all have the same config.",
                "Two configs for longer than a minute; a worker without partitions (`RecallwatchWorkerIdle`).",
                f"No sign of life for {silent} (`RecallwatchWorkerStalled`); not ready (`RecallwatchWorkerNotReady`); "
                "a config is refused (`RecallwatchConfigRefused`).",
            ),
            24,
            6,
        ),
        {by[0]: "Worker", "config": "Config"},
        [
            Column("Answers", each(queries.recorded(UP)), words=yes_no, bounds=Bounds(None, 1, falling=True)),
            Column("Ready", each(queries.own(m.READY)), words=yes_no, bounds=Bounds(1, None, falling=True)),
            Column("Board", each(queries.own(m.BOARD_OWNER)), words=yes_no),
            Column("Partitions", each(queries.own(m.ASSIGNED))),
            Column("Sign of life", f"time() - {each(queries.own(m.HEARTBEAT))}", "s", 0, Bounds(None, seconds(silent))),
            Column("Up for", f"time() - {each(queries.own(m.STARTED))}", "s", 1),
            Column("Rebalances", each(queries.own(m.REBALANCES))),
            Column("Refuses config", each(queries.own(m.CONFIG_REFUSED)), words=yes_no, bounds=Bounds(1, None)),
            Column("Has", config, shown=False),
        ],
        "Worker",
    )
