"""Stories of the pipeline: lag, what retention took, the ledger, the config."""

from __future__ import annotations

from promtool import SECOND, Story, always, gap, level, of, running, then, told, worker

from monitor import metrics as m

LAGS = "RecallwatchConsumerLag"
LOST = "RecallwatchRecordsLost"
REBUILT = "RecallwatchLedgerRebuilt"
REFUSED = "RecallwatchConfigRefused"
PLACE = {"channel": "decisions", "partition": "0"}
LAG = of(m.LAG, **PLACE)
POSITION = of(m.POSITION, **PLACE)
GONE = of(m.LOST, **PLACE)
REBUILDS = of(m.REBUILDS)

STORIES = [
    Story(
        "One partition stands still and the rest of the topic is read: a ticket within half an hour",
        LAGS,
        "40m",
        running(50)
        | {of(m.LAG, channel="decisions", partition="1"): then(level(0, 10), "0+6000x40")}
        | {of(m.POSITION, channel="decisions", partition="1"): always(5_000, 50)},
        told(
            "The worst partition of decisions is 7d 0h 0m 0s behind at its present speed, more than 10m (7d is "
            "said of anything longer, such as of one that stands still); 180003 records wait in all partitions "
            "and channels.",
            channel="decisions",
        ),
    ),
    Story(
        "Traffic is twice what the workers read, so the lag grows and grows: a ticket",
        LAGS,
        "60m",
        running(70) | {LAG: "0+6000x70"},
        told(
            "The worst partition of decisions is 1h 0m 0s behind at its present speed, more than 10m (7d is said "
            "of anything longer, such as of one that stands still); 360000 records wait in all partitions and "
            "channels.",
            channel="decisions",
        ),
    ),
    Story(
        "A hundred thousand records wait, and at today's speed that's a minute: no ticket",
        LAGS,
        "40m",
        running(50) | {LAG: always(100_000, 50), POSITION: "0+100000x50"},
    ),
    Story(
        "Five minutes of standing still while the group rebalances: no ticket",
        LAGS,
        "60m",
        running(70) | {LAG: then(level(3, 30), "6000+6000x5", always(3, 40))},
    ),
    Story(
        "Labels come a few a day; three that wait for a minute are no lag",
        LAGS,
        "40m",
        running(50)
        | {of(m.LAG, channel="labels", partition="0"): then(level(0, 20), level(3, 1), always(0, 30))}
        | {of(m.POSITION, channel="labels", partition="0"): always(900, 50)},
    ),
    Story(
        "The monitor was down for the weekend and retention was shorter: the new worker's counter begins with what is "
        "gone",
        LOST,
        "40m",
        running(50) | worker(50, SECOND) | {of(m.LOST, SECOND, **PLACE): then(gap(20), always(12_000, 30))},
        told(
            "12000 records of decisions in 1h are gone unread, 0 are allowed; 480000 decisions were counted.",
            channel="decisions",
        ),
    ),
    Story(
        "Retention overtakes a worker that is behind: the counter rises, and I get a ticket",
        LOST,
        "40m",
        running(50) | {GONE: then(level(0, 20), always(700, 30))},
        told(
            "700 records of decisions in 1h are gone unread, 0 are allowed; 240000 decisions were counted.",
            channel="decisions",
        ),
    ),
    Story(
        "Records were lost last week and are written down: the counter still says so, and nobody is told again",
        LOST,
        "3h",
        running(200) | {GONE: always(12_000, 200)},
        every="5m",
    ),
    Story(
        "A worker started with a ledger that didn't add up, and built it again before its first scrape: a notice",
        REBUILT,
        "30m",
        running(40) | {REBUILDS: then(gap(10), always(2, 30)), of(m.STARTED): then(gap(10), always(570, 30))},
        told(
            "2 partitions of the ledger were built again in 1h, 0 are expected; 8 are assigned to all workers. "
            "The numbers are right."
        ),
    ),
    Story(
        "The ledger was rebuilt at a start two days ago: it's told no longer",
        REBUILT,
        "3h",
        running(200) | {REBUILDS: always(2, 200), of(m.STARTED): always(-172_800, 200)},
        every="5m",
    ),
    Story(
        "Somebody's edit of the config doesn't parse on either worker: a ticket, while the old one stays in force",
        REFUSED,
        "20m",
        running(30)
        | worker(30, SECOND)
        | {of(m.CONFIG_REFUSED): always(1, 30), of(m.CONFIG_REFUSED, SECOND): always(1, 30)},
        told("2 of 2 workers refuse the file, 0 may; they go on with the config before it."),
    ),
    Story(
        "An editor saved half a file and a minute later the whole: no ticket",
        REFUSED,
        "20m",
        running(30) | {of(m.CONFIG_REFUSED): then(level(0, 8), level(1, 2), always(0, 20))},
    ),
]
