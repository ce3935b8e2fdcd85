"""*Leaks and drift*: what outputs still show, what kind of it, and what changed in what the detector puts out."""

from __future__ import annotations

from collections.abc import Sequence

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
    figures,
    lines,
    rows,
)
from dashboards.grafana.queries import Queries, Ranked, none_of, share
from dashboards.settings import Knobs, Settings
from monitor import metrics as m
from monitor.metrics import Metric
from monitor.records import STRATA

_PLACE = ("language", "detector", "version")
_NAMED = "{{language}} {{version}}"
_TITLES = {"language": "Language", "detector": "", "version": "Version"}
_STRATUM_COLOURS = (GREY, ORANGE, GREEN, PINK)
_MOST = 12
"""Rows of leaks by kind."""


def leaks_and_drift(settings: Settings, queries: Queries) -> Board:
    """Return the dashboard."""
    return Board(
        "leaks-and-drift",
        "Leaks and drift",
        "What redacted outputs still show, by a look at every output and by what people can read in the drawn ones; "
        "and what changed in what the detector puts out.",
        ("entity", "language", "version", "window"),
        (
            _redactions_now(settings, queries),
            _outputs_now(settings, queries),
            _readable_now(settings, queries),
            _changed_now(settings, queries),
            _redactions(settings, queries),
            _readable(settings, queries),
            _outputs(settings, queries),
            _kinds(queries),
            _signals(settings, queries),
            _flagged_by(queries),
        ),
        "14d",
    )


def _in_traffic(queries: Queries, metric: Metric, **wanted: str) -> str:
    """Return a sum over the versions in traffic, all languages together."""
    latest = queries.latest(metric, ("detector", "version"), at_end=False, language="any", **wanted)
    return f"sum(\n{latest}\nand on (detector, version) {queries.latest(m.DETECTOR, ('detector', 'version'))}\n)"


def _redactions_now(settings: Settings, queries: Queries) -> Panel:
    return _leaking_now(
        settings.of("RecallwatchRedactionsLeak"),
        ("Redactions that leak", "redactions"),
        "Of the spans that outputs replace, those of which something is still there; versions in traffic, all "
        "languages.",
        [_in_traffic(queries, metric) for metric in (m.LEAKING_REDACTIONS, m.REDACTIONS)],
        decimals=2,
    )


def _outputs_now(settings: Settings, queries: Queries) -> Panel:
    return _leaking_now(
        settings.of("RecallwatchOutputsLeak"),
        ("Outputs with a leak", "outputs"),
        "Of the redacted outputs, those that show anything that was flagged; versions in traffic, all languages. A "
        "redactor that masks nothing shows here, and makes no redactions at all.",
        [_in_traffic(queries, metric) for metric in (m.LEAKING, m.OUTPUTS)],
        decimals=1,
    )


def _leaking_now(knobs: Knobs, names: tuple[str, str], about: str, counts: Sequence[str], *, decimals: int) -> Panel:
    """Return a share that an alert has a bound for, `counts` being how many leak and of how many."""
    allowed = float(knobs.number("allowed"))
    leaking, counted = counts
    return figures(
        Frame(
            names[0],
            Health(
                about,
                f"Under {allowed / 2:.{decimals - 1}%}.",
                f"Up to {allowed:.0%}.",
                f"The lower limit is above {allowed:.0%} for {knobs.wait}: `{knobs.name}`.",
            ),
            6,
            4,
        ),
        [
            Query(share(leaking, counted), "leak", unit="percentunit", decimals=decimals),
            Query(leaking, "leaking", unit="short"),
            Query(counted, names[1], unit="short"),
        ],
        Bounds(allowed / 2, allowed),
    )


def _readable_now(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchDisclosureHigh")
    allowed = float(knobs.number("allowed"))
    estimate, readable, true = (
        _in_traffic(queries, metric, entity="any") for metric in (m.DISCLOSURE_ESTIMATE, m.READABLE, m.OUTPUT_TRUE)
    )
    return figures(
        Frame(
            "Readable in 1,000 outputs",
            Health(
                "Personal data that people can still read in 1,000 outputs, missed or leaking alike, by the labels of "
                "drawn documents; beside it the labelled occurrences it rests on.",
                f"Under {allowed / 2:g}.",
                f"Up to {allowed:g}.",
                f"The lower limit is above {allowed:g} for {knobs.wait}: `RecallwatchDisclosureHigh`.",
            ),
            6,
            4,
        ),
        [
            Query(estimate, "in 1,000", unit="short", decimals=1),
            Query(readable, "readable", unit="short", decimals=0),
            Query(true, "true, labelled", unit="short", decimals=0),
        ],
        Bounds(allowed / 2, allowed),
    )


def _changed_now(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchDriftDetected")
    lasts = knobs.window("lasts")
    when = queries.latest(m.DRIFT_CHANGE, m.SIGNAL)
    watched = f"count({queries.latest(m.DRIFT_FOUND, m.SIGNAL)})"
    return figures(
        Frame(
            f"Signals that changed in {lasts}",
            Health(
                "Shares of the traffic that are watched (flagged, by entity, by what flagged it, leaking) and of which "
                "a change was found. It needs no label, and isn't yet a loss.",
                "None.",
                "One, at a marker: another version or other traffic.",
                f"Any for {knobs.wait}: `RecallwatchDriftDetected`. `loose_only` up is the best sign of lost recall "
                "that there is without labels.",
            ),
            6,
            4,
        ),
        [
            Query(none_of(f"count(time() - {when} < {knobs.seconds('lasts')})", watched), "changed"),
            Query(watched, "signals watched"),
        ],
        Bounds(1, None),
    )


def _redactions(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchRedactionsLeak")
    allowed = knobs.number("allowed")
    order = f"-{queries.cell(m.REDACTIONS_LOWER, at_end=True)}"
    estimate, upper, lower, leaking, counted = (
        queries.lowest(queries.each(metric), Ranked(order, 1), _PLACE)
        for metric in (
            m.REDACTIONS_ESTIMATE,
            m.REDACTIONS_UPPER,
            m.REDACTIONS_LOWER,
            m.LEAKING_REDACTIONS,
            m.REDACTIONS,
        )
    )
    return lines(
        Frame(
            "Redactions that leak, of the language with most",
            Health(
                "The share of redactions with a leak between the limits of the rate behind it, of the version in "
                "traffic; the same of the version that was in traffic before it, which after a roll-back is the newer "
                "one; and what is allowed.",
                "The upper limit is under the line.",
                "The line lies between the limits.",
                f"The lower limit is above the line for {knobs.wait}: `RecallwatchRedactionsLeak`.",
            ),
            12,
            8,
        ),
        [
            Query(estimate, f"leak, {_NAMED}", BLUE),
            Query(upper, "upper limit", BLUE, "upper"),
            Query(lower, "lower limit", BLUE, "lower"),
            Query(f"vector({allowed})", "allowed", RED, "dashed"),
            Query(
                queries.before(queries.each(m.REDACTIONS_ESTIMATE), order, _PLACE),
                "in traffic before, {{version}}",
                GREY,
                "thin",
            ),
            Query(leaking, "leaking", style="listed", unit="short"),
            Query(counted, "redactions", style="listed", unit="short"),
        ],
        "percentunit",
        low=0,
    )


def _readable(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchDisclosureHigh")
    order = f"-{queries.cell(m.DISCLOSURE_LOWER, at_end=True, entity='any')}"
    every = queries.latest(m.DISCLOSURE_ESTIMATE, _PLACE, entity="any")
    estimate, upper, lower, readable, true = (
        queries.lowest(queries.latest(metric, _PLACE, entity="any"), Ranked(order, 1), _PLACE)
        for metric in (
            m.DISCLOSURE_ESTIMATE,
            m.DISCLOSURE_UPPER,
            m.DISCLOSURE_LOWER,
            m.READABLE,
            m.OUTPUT_TRUE,
        )
    )
    return lines(
        Frame(
            "Readable in 1,000 outputs, of the language with most",
            Health(
                "Occurrences that people can read in 1,000 outputs, between limits, of the version in traffic; the "
                "same of the version that was in traffic before it, which after a roll-back is the newer one; and what "
                "is allowed.",
                "The upper limit is under the line.",
                "The line lies between the limits.",
                f"The lower limit is above the line for {knobs.wait}: `RecallwatchDisclosureHigh`.",
            ),
            12,
            8,
        ),
        [
            Query(estimate, f"readable, {_NAMED}", BLUE),
            Query(upper, "upper limit", BLUE, "upper"),
            Query(lower, "lower limit", BLUE, "lower"),
            Query(f"vector({knobs.number('allowed')})", "allowed", RED, "dashed"),
            Query(queries.before(every, order, _PLACE), "in traffic before, {{version}}", GREY, "thin"),
            Query(readable, "readable", style="listed"),
            Query(true, "labelled occurrences", style="listed"),
        ],
        "short",
        low=0,
    )


def _outputs(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchOutputsLeak")
    other = settings.of("RecallwatchOutputsUnaligned")
    return rows(
        Frame(
            "Outputs, by language and version",
            Health(
                "Leaking outputs of all outputs, with the limits of the rate behind them; outputs that aren't the text "
                "with parts replaced; and over-masking: of what drawn outputs mask, the share that people call "
                "needless, in characters.",
                f"Lower limit under {float(knobs.number('allowed')):.0%}, hardly any unaligned.",
                "Over-masking rises: the detector flags what is no personal data.",
                f"Lower limit above {float(knobs.number('allowed')):.0%} (`RecallwatchOutputsLeak`), or unaligned "
                f"above {float(other.number('allowed')):.0%} (`RecallwatchOutputsUnaligned`).",
            ),
            24,
            6,
        ),
        _TITLES,
        [
            Column("Lower", queries.each(m.LEAKING_LOWER), "percentunit", 2),
            Column("Leak", queries.each(m.LEAKING_ESTIMATE), "percentunit", 2),
            Column("Upper", queries.each(m.LEAKING_UPPER), "percentunit", 2),
            Column("Leaking", queries.each(m.LEAKING)),
            Column("Outputs", queries.each(m.OUTPUTS)),
            Column("Unaligned", queries.each(m.UNALIGNED)),
            Column("Over-masking, lower", queries.each(m.OVER_MASKING_LOWER), "percentunit", 1),
            Column("Over-masking", queries.each(m.OVER_MASKING_ESTIMATE), "percentunit", 1),
            Column("Over-masking, upper", queries.each(m.OVER_MASKING_UPPER), "percentunit", 1),
            Column("Needless", queries.each(m.NEEDLESS)),
            Column("Masked", queries.each(m.MASKED_GRAPHEMES)),
            Column("Labelled outputs", queries.each(m.OUTPUTS_LABELLED)),
        ],
        "Leak",
        descending=True,
    )


def _kinds(queries: Queries) -> Panel:
    by = ("entity", "kind")
    # of all languages together: the roll-up counts a document once
    documents = f"topk({_MOST}, {queries.latest(m.LEAK_DOCUMENTS, by, language='any')})"
    leaks = queries.latest(m.LEAKS, by, language="any")
    flagged = queries.latest(m.ENTITY_DOCUMENTS, ("entity",), language="any")
    return rows(
        Frame(
            f"Leaks by kind, the {_MOST} most",
            Health(
                "Documents with a leak of that entity in that way, how many leaks, and the documents with an output in "
                "which the entity was flagged; all languages.",
                "None, or single ones.",
                "One kind stands out: one cause, mostly in the redactor.",
                "One kind in nearly every document of an entity.",
            ),
            8,
            8,
        ),
        {"entity": "Entity", "kind": "Kind"},
        [
            Column("Documents", documents),
            Column("Leaks", f"{leaks}\nand {documents}"),
            Column("Of documents", f"0 * {documents}\n+ on (entity) group_left () {flagged}"),
        ],
        "Documents",
        descending=True,
    )


def _signals(settings: Settings, queries: Queries) -> Panel:
    knobs = settings.of("RecallwatchDriftDetected")
    when = queries.latest(m.DRIFT_CHANGE, (*m.SIGNAL, "direction"))
    return rows(
        Frame(
            "Drift: signals, the newest change first",
            Health(
                "Each watched share of the traffic since its last change and before it (empty: none was found), the "
                "documents looked at since, the changes so far, and how long ago the last one was found and which way "
                "it went.",
                "No change, or an old one.",
                "One changed with the traffic: ask whoever sends it.",
                f"One changed in the last {knobs.window('lasts')}, above all `loose_only` up or an entity down: read a "
                "dozen of the newest documents.",
            ),
            9,
            8,
        ),
        {"signal": "Signal", "language": "Language", "entity": "Entity", "direction": "Went"},
        [
            Column("Before", queries.latest(m.DRIFT_BEFORE, m.SIGNAL), "percentunit", 2),
            Column("Share", queries.latest(m.DRIFT_SHARE, m.SIGNAL), "percentunit", 2),
            Column("Documents", queries.latest(m.DRIFT_DOCUMENTS, m.SIGNAL)),
            Column("Changes", queries.latest(m.DRIFT_FOUND, m.SIGNAL)),
            Column("Last change", f"time() - {when}", "s", 1, Bounds(None, None)),
        ],
        "Last change",
    )


def _flagged_by(queries: Queries) -> Panel:
    everything = queries.total(m.STRATA_DOCUMENTS)
    parts = [
        Query(share(queries.total(m.STRATA_DOCUMENTS, stratum=stratum), everything), stratum, colour)
        for stratum, colour in zip(STRATA, _STRATUM_COLOURS, strict=True)
        if stratum != "unflagged"
    ]
    return lines(
        Frame(
            "Documents by what flagged them",
            Health(
                "Of the documents of the main window, those that net and detector flagged, the net alone, the detector "
                "alone; the rest nothing flagged.",
                "Level lines.",
                "A line moves over days: other traffic.",
                "`loose_only` steps up at a marker: the detector no longer sees what the net does.",
            ),
            7,
            8,
        ),
        [*parts, Query(everything, "documents", style="listed", unit="short")],
        "percentunit",
        low=0,
    )
