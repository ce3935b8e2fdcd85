"""Stories of the review queue and the people behind it."""

from __future__ import annotations

from promtool import BOARD, SECOND, Story, always, level, of, running, then, told, worker

from monitor import metrics as m

OVER = "RecallwatchQueueOverCapacity"
THINNED = "RecallwatchSamplingThinned"
OLD = "RecallwatchOldestTaskTooOld"
IDLE = "RecallwatchAnnotatorsIdle"
SPANISH = {"language": "es"}
JOINED = of(m.LABELS, outcome="joined")
OLDEST = of(m.QUEUE_OLDEST, **SPANISH)

STORIES = [
    Story(
        "The queue holds five days of work: a ticket, before labels are late",
        OVER,
        "2h",
        running(150) | {of(m.QUEUE_OPEN, **SPANISH): always(500, 150), of(m.QUEUE_CAPACITY): always(100, 150)},
        told("500 open tasks are 5.00 days of work, more than 3, at the configured capacity of 100 a day."),
        every="10m",
    ),
    Story(
        "Two languages share the readers: their tasks count together",
        OVER,
        "2h",
        running(150)
        | {of(m.QUEUE_OPEN, **SPANISH): always(200, 150), of(m.QUEUE_OPEN, language="de"): always(150, 150)}
        | {of(m.QUEUE_CAPACITY): always(100, 150)},
        told("350 open tasks are 3.50 days of work, more than 3, at the configured capacity of 100 a day."),
        every="10m",
    ),
    Story(
        "Five hundred tasks, but nobody said how many people can read: nothing to be over",
        OVER,
        "2h",
        running(150) | {of(m.QUEUE_OPEN, **SPANISH): always(500, 150)},
        every="10m",
    ),
    Story(
        "A morning's flood is read within the hour: no ticket",
        OVER,
        "2h",
        running(150)
        | {of(m.QUEUE_OPEN, **SPANISH): then(level(500, 40), always(100, 110)), of(m.QUEUE_CAPACITY): always(100, 150)},
        every="10m",
    ),
    Story(
        "Only half of the sample is drawn since this morning: a notice in the evening",
        THINNED,
        "7h",
        running(100, 5) | {of(m.THINNING): always(0.5, 100)},
        told("50% of the sample that the rates ask for is drawn, of 100 %; 0.5% of all documents are drawn at random."),
        step="5m",
        every="30m",
    ),
    Story(
        "Sampling was thinned over lunch: nobody needs to know",
        THINNED,
        "7h",
        running(100, 5) | {of(m.THINNING): then(level(1, 20), level(0.5, 20), always(1, 60))},
        step="5m",
        every="30m",
    ),
    Story(
        "A Spanish task has waited for eight days: its label counts as missing now, so I get a ticket",
        OLD,
        "8d",
        running(400, 30) | {OLDEST: always(0, 400), JOINED: "0+30x400"},
        told(
            "The oldest open task in es is of a document of 8d 0h 0m 0s ago, more than 7d; 40 tasks are open, 900"
            " were answered. The deadline in force is 7d 0h 0m 0s.",
            **SPANISH,
        ),
        step="30m",
        every="2h",
    ),
    Story(
        "The oldest task is three days old and people read: all is well",
        OLD,
        "3d",
        running(150, 30) | {OLDEST: always(0, 150)},
        step="30m",
        every="2h",
    ),
    Story(
        "Forty tasks wait and no label has come since Thursday: on Sunday night I get a ticket",
        IDLE,
        "70h",
        running(150, 30) | {OLDEST: always(0, 150), JOINED: always(120, 150)},
        told("40 tasks are open and 0 labels came in 66h; 900 were answered before."),
        step="30m",
        every="2h",
    ),
    Story(
        "It's Sunday and nobody has read since Friday evening: that's a weekend",
        IDLE,
        "70h",
        running(150, 30) | {OLDEST: always(0, 150), JOINED: then("0+10x20", always(200, 130))},
        step="30m",
        every="2h",
    ),
    Story(
        "The queue was empty until an hour ago, so no label could come: nobody is idle",
        IDLE,
        "70h",
        running(150, 30) | {OLDEST: "0+1800x150", JOINED: always(120, 150)},
        step="30m",
        every="2h",
    ),
    Story(
        "The other worker takes the labels in, and it restarts now and then: somebody reads",
        IDLE,
        "70h",
        running(150, 30)
        | worker(150, SECOND, 30)
        | {
            OLDEST: always(0, 150),
            JOINED: always(0, 150),
            of(m.LABELS, SECOND, outcome="joined"): then("0+1x60", "0+1x60", "0+1x30"),
        },
        step="30m",
        every="2h",
    ),
    Story(
        "One label came just before the worker restarted, and none was scraped: the counter that begins at one counts",
        IDLE,
        "70h",
        running(150, 30)
        | {OLDEST: always(0, 150), JOINED: then("_x20", always(1, 130)), of(m.STARTED, BOARD): always(36_000, 150)},
        step="30m",
        every="2h",
    ),
]
