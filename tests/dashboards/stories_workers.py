"""Stories of the monitor itself."""

from __future__ import annotations

from promtool import BOARD, SECOND, Story, always, board, gap, level, of, running, then, told, worker

from dashboards.promql import UP
from monitor import metrics as m

DOWN = "RecallwatchMonitorDown"
WORKER = "RecallwatchWorkerDown"
NO_BOARD = "RecallwatchBoardMissing"
TWO = "RecallwatchTwoBoards"
STALLED = "RecallwatchWorkerStalled"
READY = "RecallwatchWorkerNotReady"
IDLE = "RecallwatchWorkerIdle"

OTHER = {"instance": SECOND}


def dead_from(minute: int, steps: int, instance: str = BOARD) -> dict[str, str]:
    """Return a worker, and board, that dies: its series end there, and Prometheus can't scrape it."""
    before = worker(minute - 1, instance) | board(minute - 1, instance)
    ended = {series: f"{values} stale" for series, values in before.items()}
    return ended | {of(UP, instance): then(level(1, minute), always(0, steps - minute))}


STORIES = [
    Story(
        "The only worker died at night: I'm paged ten minutes later, once, and not for what it can no longer say",
        DOWN,
        "35m",
        dead_from(20, 40),
        told("0 of 1 workers of recallwatch answer, 1 is the least. Nobody sees what the detector lets through."),
        others=(WORKER,),
    ),
    Story(
        "The deployment is gone and its targets with it: there's nothing left that could be 0, and I'm still paged",
        DOWN,
        "35m",
        {series: f"{values.replace('x40', 'x19')} stale" for series, values in running(40).items()},
        told("0 of 0 workers of recallwatch answer, 1 is the least. Nobody sees what the detector lets through."),
    ),
    Story(
        "A restart takes four minutes: nobody is paged",
        DOWN,
        "35m",
        running(40) | {of(UP): then(level(1, 20), level(0, 4), always(1, 20))},
    ),
    Story(
        "One of two workers is gone for a quarter of an hour: a ticket, as the other took over",
        WORKER,
        "40m",
        running(50) | {of(UP, SECOND): then(level(1, 20), always(0, 30))},
        told("worker-1:9464 can't be scraped (up is 0, must be 1). 1 of 2 workers of recallwatch answer.", **OTHER),
    ),
    Story(
        "One scrape of a worker fails: nobody is told",
        WORKER,
        "40m",
        running(50) | {of(UP, SECOND): then(level(1, 20), level(0, 1), always(1, 30))},
    ),
    Story(
        "Workers run and none is the board any more: I'm paged, as the pager's own alarm is silent now",
        NO_BOARD,
        "50m",
        worker(60) | {series: f"{values.replace('x60', 'x19')} stale" for series, values in board(60).items()},
        told(
            "1 workers answer and 0 have published readings in 10m, 1 has to; 0 take themselves for the board. The "
            "pager's alarm of recall is silent.",
        ),
    ),
    Story(
        "The board hangs: it still exports, but what it exports is an hour old",
        NO_BOARD,
        "50m",
        running(60) | {of(m.COMPUTED): then("0+60x20", always(1_200, 40))},
        told(
            "1 workers answer and 0 have published readings in 10m, 1 has to; 1 take themselves for the board. The "
            "pager's alarm of recall is silent.",
        ),
    ),
    Story(
        "The board moves to the other worker, with two minutes of nothing in between: nobody is paged",
        NO_BOARD,
        "50m",
        worker(60)
        | worker(60, SECOND)
        | {of(m.COMPUTED): "0+60x19 stale", of(m.COMPUTED, SECOND): then(gap(22), "1320+60x40")},
    ),
    Story(
        "A worker that the group thinks dead goes on as the board beside the new one: a ticket to restart it",
        TWO,
        "40m",
        running(50) | worker(50, SECOND) | board(50, SECOND),
        told(
            "2 workers export readings, 1 may. Alerts go by the one that computed last. 2 of 2 workers of recallwatch "
            "answer."
        ),
    ),
    Story(
        "For three minutes of a move two workers export readings: nobody is told",
        TWO,
        "40m",
        running(50)
        | worker(50, SECOND)
        | {of(m.BOARD_OWNER): then(level(1, 23), always(0, 27))}
        | {of(m.BOARD_OWNER, SECOND): then(level(0, 20), always(1, 30))},
    ),
    Story(
        "A worker answers but its loop has stood still for ten minutes: a ticket",
        STALLED,
        "40m",
        running(50) | worker(50, SECOND) | {of(m.HEARTBEAT, SECOND): then("0+60x20", always(1_200, 30))},
        told(
            "worker-1:9464 gave no sign of life for 20m 0s, more than 5m. 2 of 2 workers of recallwatch answer.",
            **OTHER,
        ),
    ),
    Story(
        "A rebalance holds the loop up for a minute: nobody is told",
        STALLED,
        "24m",
        running(50) | worker(50, SECOND) | {of(m.HEARTBEAT, SECOND): then("0+60x20", level(1_200, 1), "1320+60x30")},
    ),
    Story(
        "A worker recovers and recovers, for forty minutes: a ticket",
        READY,
        "40m",
        running(50) | worker(50, SECOND) | {of(m.READY, SECOND): always(0, 50)},
        told(
            "worker-1:9464 waits for its partitions or recovers their state (ready is 0, must be 1). 2 of 2 workers of "
            "recallwatch answer.",
            **OTHER,
        ),
    ),
    Story(
        "A new worker needs five minutes to recover its tables: that's what it takes",
        READY,
        "40m",
        running(50) | worker(50, SECOND) | {of(m.READY, SECOND): then(level(0, 5), always(1, 45))},
    ),
    Story(
        "Five workers for four partitions: an hour later a notice says that one has nothing to do",
        IDLE,
        "90m",
        running(100) | worker(100, SECOND) | {of(m.ASSIGNED, SECOND): always(0, 100)},
        told(
            "worker-1:9464 has 0 partitions, 1 is the least that is of use; 8 are assigned to all together. 2 of 2 "
            "workers of recallwatch answer.",
            **OTHER,
        ),
        every="5m",
    ),
    Story(
        "A worker that joins waits for its partitions: it isn't ready, so it isn't idle",
        IDLE,
        "25m",
        running(50) | worker(50, SECOND) | {of(m.ASSIGNED, SECOND): always(0, 50), of(m.READY, SECOND): always(0, 50)},
    ),
]
