"""*Recall board*: which cells need somebody, how far recall is known in each, since which version, and from what."""

from __future__ import annotations

from dashboards.grafana.frame import Board
from dashboards.grafana.panels import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALETTE,
    RED,
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
from dashboards.grafana.queries import Queries, Ranked, none_of, share
from dashboards.promql import Chosen
from dashboards.settings import Settings
from monitor import metrics as m

_WORST = 4
_CELL = {"entity": "Entity", "language": "Language", "detector": "", "version": "Version", "status": "Status"}
_NAMED = "{{entity}} {{language}} {{version}}"


def recall_board(settings: Settings, queries: Queries) -> Board:
    """Return the dashboard."""
    return Board(
        "recall-board",
        "Recall board",
        "Of the personal data that was really there, the share that the detector found, between its limits; the cell "
        "that needs somebody first is on top.",
        ("entity", "language", "version", "window"),
        (
            _alarms(settings, queries),
            _below(settings, queries),
            _unknown(settings, queries),
            _unseen(settings, queries),
            _cells(settings, queries),
            _between_limits(queries),
            _margins(settings, queries),
            _evidence(queries),
            _strata(queries),
            _versions(settings, queries),
        ),
        "14d",
    )


def _alarms(settings: Settings, queries: Queries) -> Panel:
    fell = settings.of("RecallwatchRecallFell")
    on = queries.cell(m.ALARM_ON)
    return figures(
        Frame(
            "Recall fell: alarms on",
            Health(
                "Cells whose alarm is on, of the cells that have one. The alarm weighs every label and keeps its "
                "promise of false alarms, so one that is on is most likely real.",
                "None is on.",
                "Evidence gathers (panel *Evidence of the alarms*).",
                f"One is on: after {fell.wait} `RecallwatchRecallFell` pages.",
            ),
            6,
            4,
        ),
        [Query(f"sum({on})", "on"), Query(f"count({on})", "cells with an alarm")],
        Bounds(None, 1),
    )


def _judged(queries: Queries, least: str) -> str:
    """Return the cells whose lower limit where any tool looked is under the target: 1 with enough labels, else 0."""
    true, lower, target, current = (queries.cell(one) for one in (m.TRUE, m.LOOKED_LOWER, m.TARGET, m.CURRENT))
    return f"(\n({true} >= bool {least})\nand ({lower}\n< {target})\nand {current} == 1\n)"


def _below(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchBelowTarget")
    least, target = knobs.number("min_true"), queries.cell(m.TARGET)
    below = f"count(\n{_judged(queries, least)} == 1\n)"
    return figures(
        Frame(
            "Below target where tools looked",
            Health(
                "Cells whose lower limit of recall *where any tool looked* is under the target, though people labelled "
                f"{least} occurrences or more and the number is that of today: those with a *YES* in the table below, "
                "whatever *Limit − target* is over all documents. Of the cells that have a target.",
                "None.",
                f"One or more, for less than {knobs.wait}.",
                f"One or more for {knobs.wait}: `RecallwatchBelowTarget` opens a ticket.",
            ),
            6,
            4,
        ),
        [Query(none_of(below, f"count({target})"), "below"), Query(f"count({target})", "cells with a target")],
        Bounds(1, None),
    )


def _unknown(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchRecallUnknown")
    target = queries.cell(m.TARGET)
    lapsed = f"count(\n{queries.cell(m.CURRENT)} == 0\nand {target}\n)"
    return figures(
        Frame(
            "Not known",
            Health(
                "Cells with a target whose number may not be taken for the state of today: no label, labels that are "
                "late or old, or readers who don't agree.",
                "None. A new version or target begins without a number.",
                f"One or more, for less than {knobs.wait}.",
                f"For {knobs.wait}: `RecallwatchRecallUnknown` opens a ticket. Nothing would say so if recall fell.",
            ),
            6,
            4,
        ),
        [Query(none_of(lapsed, f"count({target})"), "not known"), Query(f"count({target})", "cells with a target")],
        Bounds(1, None),
    )


def _unseen(settings: Settings, queries: Queries) -> Panel:
    unseen, withheld = settings.of("RecallwatchTargetUnseen"), settings.of("RecallwatchCellsWithheld")
    return figures(
        Frame(
            "Not on this board",
            Health(
                "Targets of cells in which nothing was flagged or labelled, and cells that the bound on series keeps "
                "from being exported; of all cells of the window.",
                "None of either.",
                f"One or more: a notice after {unseen.wait} (`RecallwatchTargetUnseen`) or {withheld.wait} "
                "(`RecallwatchCellsWithheld`).",
                "Cells with a target are withheld: what isn't here can't alert.",
            ),
            6,
            4,
        ),
        [
            Query(queries.latest(m.UNSEEN_TARGETS), "targets unseen"),
            Query(queries.latest(m.CELLS_WITHHELD), "cells withheld"),
            Query(f"count({queries.cell(m.CENSUS)})", "cells shown"),
        ],
        Bounds(1, None),
    )


def _cells(settings: Settings, queries: Queries) -> Panel:
    kappa = settings.of("RecallwatchKappaLow").number("below")
    true = settings.of("RecallwatchBelowTarget").number("min_true")
    return rows(
        Frame(
            "Cells, the one furthest under its target first",
            Health(
                "Of versions in traffic, recall between its limits, its target, and what it rests on: found of true "
                "occurrences, in so many labelled documents. *Limit − target* is in points, over all documents; "
                "without a target it's empty. *Below target* counts in the figure above: the lower limit *where any "
                f"tool looked* is under the target with {true} true occurrences or more; with fewer it's *few labels*. "
                "*Unseen's part*: of the interval's width, what comes from documents that no tool flagged; *halving "
                "rate*: the random rate that would halve that part.",
                "Limit − target is 0 or more, below target is empty, status `ok`.",
                "*few labels*; limit − target under 0 and below target empty: too little of what no tool flagged is "
                "read. `marked`: readers agree too little to stand without a mark.",
                "Below target is *YES*, or a status other than `ok` and `marked`: recall isn't known (`greyed`: κ "
                f"under {kappa}).",
            ),
            24,
            11,
        ),
        _CELL,
        [
            Column(
                "Below target", _judged(queries, true), bounds=Bounds(None, 1), words={"0": "few labels", "1": "YES"}
            ),
            Column("Limit − target", queries.margin(), "percentunit", 1),
            Column("Lower", queries.cell(m.RECALL_LOWER), "percentunit", 1),
            Column("Recall", queries.cell(m.RECALL_ESTIMATE), "percentunit", 1),
            Column("Upper", queries.cell(m.RECALL_UPPER), "percentunit", 1),
            Column("Target", queries.cell(m.TARGET), "percentunit", 1),
            Column("Found", queries.cell(m.FOUND)),
            Column("True", queries.cell(m.TRUE)),
            Column("Labelled docs", queries.cell(m.LABELLED)),
            Column("Complete", queries.cell(m.COMPLETENESS), "percentunit", 0),
            Column("Newest doc", f"time() - {queries.cell(m.NEWEST_DRAW)}", "s", 0),
            Column("Unseen's part", queries.cell(m.UNFLAGGED_WIDTH), "percentunit", 0),
            Column("Halving rate", queries.cell(m.HALVING_RATE), "percentunit", 2),
            Column("Alarm", queries.cell(m.ALARM_ON), words={"0": "off", "1": "ON"}, bounds=Bounds(None, 1)),
            Column("Is", queries.cell(m.STATUS), shown=False),
        ],
        "Limit − target",
    )


def _between_limits(queries: Queries) -> Panel:
    worst = Ranked(queries.worst(), 1)
    before = queries.before(queries.each(m.RECALL_ESTIMATE), worst.order)
    now, upper, lower, target, found, true = (
        queries.lowest(queries.each(metric), worst)
        for metric in (m.RECALL_ESTIMATE, m.RECALL_UPPER, m.RECALL_LOWER, m.TARGET, m.FOUND, m.TRUE)
    )
    return lines(
        Frame(
            "The cell on top: recall between its limits",
            Health(
                "Of the cells chosen the one furthest under its target: recall, its limits and the target, and the "
                "same cell of the version that was in traffic before it, which after a roll-back is the newer one. "
                "Found and true occurrences stand in the legend. Markers are versions and changes of config.",
                "The lower limit is above the target.",
                "The target lies between the limits: it's neither met nor missed, for all that is known.",
                "The upper limit is under the target; or recall steps down at a marker.",
            ),
            12,
            9,
        ),
        [
            Query(now, f"recall of {_NAMED}", BLUE),
            Query(upper, "upper limit", BLUE, "upper"),
            Query(lower, "lower limit", BLUE, "lower"),
            Query(target, "target", RED, "dashed"),
            Query(before, "in traffic before, {{version}}", GREY, "thin"),
            Query(found, "found", style="listed", unit="short"),
            Query(true, "true", style="listed", unit="short"),
        ],
        "percentunit",
        high=1,
    )


def _margins(settings: Settings, queries: Queries) -> Panel:
    fell = settings.of("RecallwatchLowerLimitFell")
    order, zero = queries.worst(), "vector(0)"
    shown = [
        Query(queries.lowest(queries.margin(), Ranked(order, place)), _NAMED, PALETTE[place - 1])
        for place in range(1, _WORST + 1)
    ]
    return lines(
        Frame(
            f"The {_WORST} cells furthest under: lower limit − target",
            Health(
                "How far recall's lower limit is above its target, for those on top of the table, which has what they "
                "rest on. At 0 the target is just shown to be met.",
                "Above 0, or level.",
                "Under 0 and level: few labels, or little of what no tool flagged is read.",
                f"Falling by {100 * float(fell.number('min_drop')):g} points or more at an unchanged design: "
                "`RecallwatchLowerLimitFell` opens a ticket.",
            ),
            12,
            9,
        ),
        [*shown, Query(zero, "target", RED, "dashed")],
        "percentunit",
    )


def _evidence(queries: Queries) -> Panel:
    ratio = share(queries.cell(m.ALARM_EVIDENCE), queries.cell(m.ALARM_BAR))
    order = f"-({share(queries.cell(m.ALARM_EVIDENCE, at_end=True), queries.cell(m.ALARM_BAR, at_end=True))})"
    seen = queries.lowest(queries.cell(m.ALARM_LABELLED), Ranked(order, 1))
    shown = [
        Query(queries.lowest(ratio, Ranked(order, place)), _NAMED, colour)
        for place, colour in ((1, BLUE), (2, ORANGE), (3, GREEN))
    ]
    return lines(
        Frame(
            "Evidence of the alarms, of their bar",
            Health(
                "Log-evidence that recall is below its target, divided by what it takes to page; the three nearest.",
                "Under half of the bar, or falling.",
                "Over half and rising for days: look at the cell before it pages.",
                "At the bar: the alarm goes on, and stays on for as many periods as `alarm.hold` says.",
            ),
            8,
            8,
        ),
        [
            *shown,
            Query("vector(1)", "the bar", RED, "dashed"),
            Query(seen, "labelled documents of the nearest", style="listed", unit="short"),
        ],
        "percentunit",
        low=0,
    )


def _strata(queries: Queries) -> Panel:
    single = {label: Chosen(label, but="any") for label in ("entity", "language")}
    counted = queries.total(m.STRATA_DOCUMENTS, ("stratum",))
    return rows(
        Frame(
            "What flagged them: documents, and occurrences found",
            Health(
                "Documents of the traffic by what flagged them (`both`, the net alone, the detector alone, nothing), "
                "and the found and true occurrences of the labelled ones, of the entities and languages chosen; the "
                "roll-ups `any` are left out.",
                "Nearly all occurrences are in documents that both flagged.",
                "True occurrences appear where nothing flagged: the net has a hole.",
                "`loose_only` grows: the net sees what the detector no longer does.",
            ),
            8,
            8,
        ),
        {"stratum": "Flagged by"},
        [
            Column("Documents", counted),
            Column(
                "Share", share(counted, queries.total(m.STRATA_DOCUMENTS), "on () group_left () "), "percentunit", 2
            ),
            Column("Found", queries.total(m.STRATUM_FOUND, ("stratum",), **single)),
            Column("True", queries.total(m.STRATUM_TRUE, ("stratum",), **single)),
        ],
        "Documents",
        descending=True,
    )


def _versions(settings: Settings, queries: Queries) -> Panel:
    told = settings.of("RecallwatchDetectorChanged")
    version = ("detector", "version")
    last = queries.latest(m.LAST_DECISION, version)
    return rows(
        Frame(
            "Versions: since when, and on how much they stand",
            Health(
                "Each detector version, the one that decided last first: whether the newest traffic carries it, since "
                "when (after a roll-back: again since when), how long ago it decided last, and the documents and "
                "labels of the window. Numbers of one say nothing about another.",
                "One version of each detector is in traffic, with labels.",
                f"A new one has no labels yet; `RecallwatchDetectorChanged` tells it for {told.window('window')}.",
                "One that nobody rolled out.",
            ),
            8,
            8,
        ),
        {"detector": "Detector", "version": "Version"},
        [
            Column("In traffic", queries.latest(m.DETECTOR, version), words={"1": "yes"}),
            Column("Since", f"{queries.since()}\n* 1000", "dateTimeAsIso", None),
            Column("Decided last", f"time() - {last}", "s", 0),
            Column("Documents", queries.latest(m.CENSUS, version, entity="any", language="any")),
            Column("Labelled", queries.latest(m.LABELLED, version, entity="any", language="any")),
        ],
        "Decided last",
    )
