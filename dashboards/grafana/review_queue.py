"""*Review queue*: whether people keep up, what waits, how it goes on, and what more readers would make of it."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import VariableOption

from dashboards.grafana.frame import Board
from dashboards.grafana.panels import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    Bounds,
    Column,
    Frame,
    Health,
    Panel,
    Query,
    bars,
    figures,
    lines,
    rows,
)
from dashboards.grafana.queries import DAY, Queries, share
from dashboards.promql import Chosen
from dashboards.settings import Settings, seconds
from monitor import metrics as m

_AHEAD = "1d"
_LOOKS_BACK = "6h"
_READERS = (1, 2, 3, 4, 6, 8)
_FULL, _BUSY = 1.0, 0.8
"""Utilisation that can't go on, and from which on a bad day leaves a backlog."""


def review_queue(settings: Settings, queries: Queries) -> Board:
    """Return the dashboard."""
    return Board(
        "review-queue",
        "Review queue",
        "Whether people keep up with what is drawn for them. Tasks a day are counted over the last 24 hours.",
        ("entity", "language", "window"),
        (
            _waiting(settings, queries),
            _oldest(settings, queries),
            _utilisation(settings, queries),
            _newest(settings, queries),
            _flow(queries),
            _backlog(settings, queries),
            _slices(settings, queries),
            _readers(queries),
            _languages(settings, queries),
            _kappa(settings, queries),
        ),
        "7d",
        [_per_reader()],
    )


def _per_reader() -> dashboard.CustomVariable:
    tasks = "100"
    return (
        dashboard.CustomVariable("per_annotator")
        .label("Tasks a day of one annotator")
        .values("50,100,150,200,300")
        .current(VariableOption(selected=True, text=tasks, value=tasks))
    )


def _open(queries: Queries) -> str:
    return queries.total(m.QUEUE_OPEN)


def _capacity(queries: Queries) -> str:
    return f"({queries.latest(m.QUEUE_CAPACITY)} > 0)"


def _waiting(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchQueueOverCapacity")
    days = knobs.number("days")
    return figures(
        Frame(
            "Days of work that wait",
            Health(
                "Open tasks, as days of work at the capacity that the config gives (`labels.capacity_per_day`).",
                "Under a day.",
                f"More than one day, up to {days}.",
                f"More than {days} days for {knobs.wait}: `RecallwatchQueueOverCapacity`. Sampling is thinned, where a "
                "capacity or a backlog is set; no number is biased by it.",
            ),
            6,
            4,
        ),
        [
            Query(share(_open(queries), _capacity(queries), "on () "), "days", decimals=1),
            Query(_open(queries), "open tasks"),
            Query(_capacity(queries), "capacity a day"),
        ],
        Bounds(1, float(days)),
    )


def _oldest(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchOldestTaskTooOld")
    oldest = knobs.window("oldest")
    return figures(
        Frame(
            "Oldest open task",
            Health(
                "Time since the oldest open task's document was drawn, beside the deadline of labels in force.",
                f"Under half of {oldest}.",
                f"Half of {oldest} or more.",
                f"More than {oldest}: its document counts as a missing label, and misses take longer to label than "
                "hits. `RecallwatchOldestTaskTooOld`.",
            ),
            6,
            4,
        ),
        [
            Query(f"time() - min({queries.latest(m.QUEUE_OLDEST, ('language',))})", "old", unit="s", decimals=1),
            Query(f"max({queries.own(m.DEADLINE)})", "deadline", unit="s", decimals=0),
            Query(_open(queries), "open tasks", unit="short"),
        ],
        Bounds(seconds(oldest) / 2, seconds(oldest)),
    )


def _utilisation(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchSamplingThinned")
    sent = queries.rose(m.TASKS)
    return figures(
        Frame(
            "Utilisation",
            Health(
                "Tasks sent in 24 hours, as a share of the capacity of a day; and the share of the sample that is "
                "drawn, 100 % where nothing is thinned.",
                f"Under {_BUSY:.0%}; 100 % of the sample is drawn.",
                f"{_BUSY:.0%} or more: a bad day leaves a backlog. Under 100 % of the sample is drawn "
                f"(`RecallwatchSamplingThinned`, a notice after {knobs.wait}): intervals get wider.",
                f"{_FULL:.0%} or more: the backlog grows for as long as it lasts.",
            ),
            6,
            4,
        ),
        [
            Query(share(sent, _capacity(queries), "on () "), "of capacity", unit="percentunit", decimals=0),
            Query(sent, "tasks sent", unit="short", decimals=0),
            Query(f"min({queries.own(m.THINNING)})", "of sample drawn", unit="percentunit", decimals=0),
        ],
        Bounds(_BUSY, _FULL),
    )


def _newest(settings: Settings, queries: Queries) -> Panel:
    idle = settings.of("RecallwatchAnnotatorsIdle").window("window")
    return figures(
        Frame(
            "Newest label",
            Health(
                "Time since the last label came, and how many came in 24 hours, of any outcome.",
                "Hours.",
                "A day or more: nobody read today.",
                f"More than {idle} while tasks wait: `RecallwatchAnnotatorsIdle`. Numbers go stale.",
            ),
            6,
            4,
        ),
        [
            Query(f"time() - max({queries.latest(m.NEWEST_LABEL, ('language',), version=None)})", "ago", unit="s"),
            Query(queries.rose(m.LABELS), "labels", unit="short", decimals=0),
        ],
        Bounds(seconds(DAY), seconds(idle)),
    )


def _flow(queries: Queries) -> Panel:
    return lines(
        Frame(
            "Tasks of a day: sent and answered",
            Health(
                "What came in the 24 hours before each moment: tasks sent, labels that joined a task, tasks skipped; "
                "beside the capacity.",
                "Answered follows sent, both below the capacity.",
                "Sent is above answered for days, or skipped grows: read what is skipped, it may be the hard ones.",
                "Answered goes to 0 while tasks are sent.",
            ),
            12,
            8,
        ),
        [
            Query(queries.rose(m.TASKS), "sent", BLUE),
            Query(queries.rose(m.LABELS, outcome="joined"), "answered", ORANGE),
            Query(queries.rose(m.LABELS, outcome="skipped"), "skipped", PINK),
            Query(queries.rose(m.TASKS, kind="adjudicate"), "sent to adjudicate", GREEN, "thin"),
            Query(_capacity(queries), "capacity", RED, "dashed"),
        ],
        "short",
        low=0,
    )


def _backlog(settings: Settings, queries: Queries) -> Panel:
    days = settings.of("RecallwatchQueueOverCapacity").number("days")
    waiting = queries.recorded(queries.recording.board(m.QUEUE_OPEN), language=Chosen("language"))
    ahead = f"clamp_min(sum(predict_linear({waiting}[{_LOOKS_BACK}], {seconds(_AHEAD)})), 0)"
    return lines(
        Frame(
            "Open tasks, and what they'd be a day later",
            Health(
                f"Open tasks, what they'd be a day later if the last {_LOOKS_BACK} went on, and the bound: {days} days "
                "of work.",
                "Both are under the bound.",
                "The forecast is above the bound.",
                "Open tasks are above the bound.",
            ),
            12,
            8,
        ),
        [
            Query(_open(queries), "open", BLUE),
            Query(ahead, f"a day later, as the last {_LOOKS_BACK} went", GREY, "thin"),
            Query(f"{days} * {_capacity(queries)}", f"{days} days of work", RED, "dashed"),
        ],
        "short",
        low=0,
    )


def _slices(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchRandomSliceStarved")
    drawn = queries.rose(m.SAMPLED, ("slice",))
    decisions = f"0 * {drawn}\n+ on () group_left () {queries.rose(m.DECISIONS)}"
    return rows(
        Frame(
            "By slice: drawn in 24 hours",
            Health(
                "Documents drawn by each slice (`both` drew what either would have), of all decisions of the day, and "
                "their share of the capacity. *Rate in force* is the largest of any language and stratum, thinning "
                "included.",
                f"The random slice draws {knobs.number('fewer')} or more.",
                "The loose slice takes nearly all of the capacity: what nobody flagged is hardly read.",
                f"The random slice draws fewer than {knobs.number('fewer')} of {knobs.number('min_decisions')} "
                "decisions: `RecallwatchRandomSliceStarved`.",
            ),
            12,
            6,
        ),
        {"slice": "Slice"},
        [
            Column("Rate in force", f"max by (slice) ({queries.own(m.RATE)})", "percentunit", 2),
            Column("Drawn", drawn),
            Column("Decisions", decisions),
            Column("Share", share(drawn, queries.rose(m.DECISIONS), "on () group_left () "), "percentunit", 2),
            Column("Of capacity", share(drawn, _capacity(queries), "on () group_left () "), "percentunit", 0),
        ],
        "Drawn",
        descending=True,
    )


def _readers(queries: Queries) -> Panel:
    sent = queries.rose(m.TASKS)
    shown = [
        Query(f"{sent}\n/ ({readers} * $per_annotator)", f"{readers} annotator{'s' if readers > 1 else ''}")
        for readers in _READERS
    ]
    return bars(
        Frame(
            "Utilisation of so many annotators, $per_annotator tasks a day each",
            Health(
                "Tasks sent in 24 hours (panel *Utilisation*), as a share of what so many annotators answer in a day; "
                "the variable says how many one answers.",
                f"The number of yours is under {_BUSY:.0%}.",
                f"{_BUSY:.0%} or more.",
                f"{_FULL:.0%} or more: they can't keep up. Lower the rates (`recallwatch plan`), or find readers.",
            ),
            12,
            6,
        ),
        shown,
        "percentunit",
        Bounds(_BUSY, _FULL),
        2,
    )


def _languages(settings: Settings, queries: Queries) -> Panel:
    by = ("language",)
    old = seconds(settings.of("RecallwatchOldestTaskTooOld").window("oldest"))
    idle = seconds(settings.of("RecallwatchAnnotatorsIdle").window("window"))
    newest = queries.latest(m.NEWEST_LABEL, by, version=None, language=Chosen("language", but="any"))
    return rows(
        Frame(
            "By language",
            Health(
                "Tasks of the longest window by language, the age of the oldest open one, and of the newest label of "
                "any version.",
                "The oldest is young, labels came today.",
                "One language is behind the others: its readers are fewer, or away.",
                "The oldest is past its deadline, or no label came for days.",
            ),
            12,
            7,
        ),
        {"language": "Language"},
        [
            Column("Sent", queries.latest(m.QUEUE_SENT, by)),
            Column("Answered", queries.latest(m.QUEUE_DONE, by)),
            Column("Skipped", queries.latest(m.QUEUE_SKIPPED, by)),
            Column("Open", queries.latest(m.QUEUE_OPEN, by)),
            Column("Oldest open", f"time() - {queries.latest(m.QUEUE_OLDEST, by)}", "s", 1, Bounds(old / 2, old)),
            Column("Newest label", f"time() - {newest}", "s", 1, Bounds(None, idle)),
        ],
        "Open",
        descending=True,
    )


def _kappa(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchKappaLow")
    below, least = knobs.number("below"), knobs.number("min_documents")
    by = ("entity", "language")
    return rows(
        Frame(
            "Whether two readers agree",
            Health(
                "Cohen's κ of two people who read the same documents blind, between its limits, and the documents that "
                "both read. It bounds what recall can mean: what people don't agree on, no detector can find.",
                f"κ is {below} or more.",
                f"κ is under {below}, with fewer than {least} documents.",
                f"κ is under {below}, with {least} documents or more: `RecallwatchKappaLow`, and the number is greyed.",
            ),
            12,
            7,
        ),
        {"entity": "Entity", "language": "Language"},
        [
            Column("κ", queries.latest(m.KAPPA_ESTIMATE, by), "short", 2, Bounds(float(below), None, falling=True)),
            Column("Lower", queries.latest(m.KAPPA_LOWER, by), "short", 2),
            Column("Upper", queries.latest(m.KAPPA_UPPER, by), "short", 2),
            Column("Read twice", queries.latest(m.TWICE, by)),
        ],
        "κ",
    )
