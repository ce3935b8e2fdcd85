"""Stories of what goes wrong on the way to Prometheus: no alert fires that shouldn't, and none is lost."""

from __future__ import annotations

from promtool import (
    PERSON,
    SECOND,
    VERSION,
    Recall,
    Series,
    Story,
    alarm,
    always,
    board,
    cell,
    gap,
    level,
    of,
    running,
    then,
    told,
    worker,
)

from monitor import metrics as m

CELL = PERSON | VERSION
GOOD = Recall()
WORSE = Recall(estimate=0.85, lower=0.81, upper=0.89, found=340, looked=0.86, looked_lower=0.82)
FELL = "RecallwatchRecallFell"
BELOW = "RecallwatchBelowTarget"
FELL_HERE = told(
    "PERSON in es (presidio 2): recall, the share that is found, is below its target of unknown; the alarm is on since "
    "unknown. Last 28d: recall isn't known. Last 7d: recall isn't known.",
    **CELL,
)
UNDER_TARGET = told(
    "PERSON in es (presidio 2): in documents that any tool flagged, recall is 86%, and its lower limit 82% is under "
    "the target of 95%. All documents of the last 28d: recall 85%, limits 81% to 89%; 340 of 400 labelled occurrences "
    "found.",
    **CELL,
    window="28d",
)
TWO_WORKERS = worker(60) | worker(60, SECOND)


def _leaving(values: str, leaves: int) -> str:
    return f"{values}x{leaves - 1} stale"


def _board_moves(leaves: int, comes: int, told_before: Series, told_after: Series) -> Series:
    """Return a board that leaves the first worker and comes to the second; values are those of each minute."""
    first = board(1) | told_before
    second = board(1, SECOND) | told_after
    left = {series: _leaving(values.removesuffix("x1"), leaves) for series, values in first.items()}
    come = {
        series: then(gap(comes), _from(comes, values.removesuffix("x1"), 60 - comes))
        for series, values in second.items()
    }
    return TWO_WORKERS | left | come


def _from(minute: int, values: str, steps: int) -> str:
    return f"{60 * minute}+60x{steps}" if values == "0+60" else f"{values}x{steps}"


def _interrupted(values: str, steps: int = 60, missing: int = 8) -> str:
    """Return the values of a series, minutes of which aren't scraped, half an hour after its beginning."""
    start, _, rest = values.partition("x")[0].partition("+")
    if not rest:
        return then(level(float(start), 28), gap(missing), always(float(start), steps - 28 - missing))
    step = float(rest)
    return then(
        f"{start}+{rest}x27", gap(missing), f"{float(start) + (28 + missing) * step:g}+{rest}x{steps - 28 - missing}"
    )


STORIES = [
    Story(
        "The board moves while the alarm is on, and nobody exports it for four minutes: it stays on, I'm not paged "
        "again",
        FELL,
        "22m",
        _board_moves(20, 24, alarm("1x1"), alarm("1x1", SECOND)),
        FELL_HERE,
    ),
    Story(
        "After the move the new board says that the alarm is on, and it's the same alert",
        FELL,
        "40m",
        _board_moves(20, 24, alarm("1x1"), alarm("1x1", SECOND)),
        FELL_HERE,
    ),
    Story(
        "The alarm goes on three minutes before the board moves: the wait goes on over the move, and I'm paged",
        FELL,
        "24m",
        _board_moves(20, 22, {}, alarm("1x1", SECOND)) | alarm("_x17 1x2 stale"),
        FELL_HERE,
    ),
    Story(
        "Two workers export the board for three minutes, the old one with numbers of an hour ago: no ticket for those",
        BELOW,
        "59m",
        _board_moves(23, 20, cell(WORSE, "{}x1"), cell(GOOD, "{}x1", instance=SECOND))
        | {of(m.COMPUTED): "0+60x19 1140x3 stale"},
    ),
    Story(
        "A worker that the group thinks dead goes on exporting an alarm that's over: the newer board says it's off",
        FELL,
        "59m",
        TWO_WORKERS
        | board(60)
        | board(60, SECOND)
        | alarm(always(1, 60))
        | alarm(always(0, 60), SECOND)
        | {of(m.COMPUTED): "0+60x2 120x57"},
        others=("RecallwatchTwoBoards",),
    ),
    Story(
        "A worker that the group thinks dead still says that all is well: the newer board's alarm pages me",
        FELL,
        "59m",
        TWO_WORKERS
        | board(60)
        | board(60, SECOND)
        | alarm(always(0, 60))
        | alarm(always(1, 60), SECOND)
        | {of(m.COMPUTED): "0+60x2 120x57"},
        FELL_HERE,
        others=("RecallwatchTwoBoards",),
    ),
    Story(
        "Two versions are in traffic and take turns as the newest: the ticket on one of them comes all the same",
        BELOW,
        "80m",
        running(100)
        | cell(WORSE, "{}x100")
        | {of(m.DETECTOR, **VERSION): " ".join(["1 stale stale _"] * 25)}
        | {of(m.DETECTOR, **VERSION | {"version": "3"}): " ".join(["stale 1 1 1"] * 25)},
        UNDER_TARGET,
    ),
    Story(
        "An entity with quotes and backslashes in its name falls: the page has its name and its figures",
        FELL,
        "10m",
        running(30)
        | cell(WORSE, "{}x30", entity='CLIENT "VIP" \\d+', language="pt-BR")
        | alarm(always(1, 30), entity='CLIENT "VIP" \\d+', language="pt-BR"),
        told(
            'CLIENT "VIP" \\d+ in pt-BR (presidio 2): recall, the share that is found, is below its target of 95%;'
            " the alarm is on since unknown. Last 28d: recall 85%, limits 81% to 89%; 340 of 400 labelled "
            "occurrences found. Last 7d: recall isn't known.",
            **CELL | {"entity": 'CLIENT "VIP" \\d+', "language": "pt-BR"},
        ),
    ),
    Story(
        "Every counter begins at 0 again, as the worker crashes each hour: decisions come, and nothing else happened",
        "RecallwatchNoDecisions",
        "3h",
        running(200)
        | {
            of(m.DECISIONS, **VERSION): then("0+6000x59", "0+6000x59", "0+6000x80"),
            of(m.DEAD_LETTERS, channel="decisions", reason="not_json"): then(level(3, 60), always(0, 140)),
            of(m.LOST, channel="decisions", partition="0"): then(level(700, 60), always(0, 140)),
        },
        every="5m",
    ),
    Story(
        "A worker rebuilt its ledger at each of two starts: the counter says 1 before and after, and it's told",
        "RecallwatchLedgerRebuilt",
        "3h",
        running(200)
        | {of(m.REBUILDS): always(1, 200), of(m.STARTED): then(level(-86_400, 170), gap(1), always(10_200, 30))},
        told(
            "1 partitions of the ledger were built again in 1h, 0 are expected; 8 are assigned to all workers. "
            "The numbers are right."
        ),
        every="5m",
    ),
    Story(
        "A restart makes a counter of unreadable labels begin again at 0, and two come: two are told, not minus five",
        "RecallwatchDeadLetters",
        "60m",
        running(70)
        | {of(m.DEAD_LETTERS, channel="labels", reason="bad_span"): then(level(7, 40), level(0, 5), always(2, 30))},
        told(
            "2 records of labels in 1h were unreadable (bad_span), allowed are fewer than 10 decisions or 1 label; "
            "360000 decisions were counted.",
            channel="labels",
            reason="bad_span",
        ),
    ),
    Story(
        "Prometheus restarts and scrapes nothing for eight minutes while the alarm is on: it's still on",
        FELL,
        "35m",
        {series: _interrupted(values) for series, values in (running(60) | alarm(always(1, 60))).items()},
        FELL_HERE,
    ),
    Story(
        "Nothing is scraped for eight minutes of an hour under the target: the ticket comes all the same",
        BELOW,
        "80m",
        {series: _interrupted(values, 100) for series, values in (running(100) | cell(WORSE, "{}x100")).items()},
        UNDER_TARGET,
    ),
    Story(
        "A gap of twenty minutes an hour ago, and a counter that has stood at 12,000 since last week: that's no news",
        "RecallwatchRecordsLost",
        "106m",
        {
            series: _interrupted(values, 140, 20)
            for series, values in (
                running(140) | {of(m.LOST, channel="decisions", partition="0"): always(12_000, 140)}
            ).items()
        },
    ),
    Story(
        "Records are lost while Prometheus is away: the counter is higher when it comes back, and it's told",
        "RecallwatchRecordsLost",
        "50m",
        {series: _interrupted(values) for series, values in running(60).items()}
        | {of(m.LOST, channel="decisions", partition="0"): then(level(0, 28), gap(8), always(700, 30))},
        told(
            "700 records of decisions in 1h are gone unread, 0 are allowed; 300000 decisions were counted.",
            channel="decisions",
        ),
    ),
]
