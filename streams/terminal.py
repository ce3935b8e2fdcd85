"""Readings in a terminal: the table people know, the population table, and what was set aside. Plain when piped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.readings import ANY, BoardSnapshot, Reading, Tally, largest
from monitor.versions import version_key
from streams.output_tables import output_tables
from streams.page import words

MAX_KINDS = 10
"""Counts told of each thing, the largest: producers and annotators choose names, as many as they like."""
_STATUSES = words.STATUSES | {"no_truth": words.REASONS["no_truth"], "incomplete": "labels missing"}
"""The page's words, where a line that stands by itself needs no others."""
_UNDATED = frozenset({("Labels", "not_chosen"), ("Dead letters", "labels")})
"""What a replay by days counts as it reads, before any day: labels of nobody who was chosen, lines that are none."""
_LEFT = frozenset({"no_label", "no_truth", "no_interval"})
"""Statuses that the tables say by having no number."""


def print_snapshot(console: Console, snapshot: BoardSnapshot, windows_days: Sequence[int] = ()) -> None:
    """Print all readings of a snapshot, one block a detector version; counts are of the longest of the windows."""
    for detector, version in _versions(snapshot.readings):
        mine = [r for r in snapshot.readings if (r.detector, r.version) == (detector, version)]
        name = Text(f"{detector} {version}", style="bold")
        console.print()
        console.print(Text.assemble(name, f"   config {mine[0].config}   net {mine[0].net}"))
        for table in (population_table(mine), strata_table(mine), known_table(mine), agreement_table(mine)):
            if table.row_count:
                console.print(table)
        _print_statuses(console, mine)
        for table in output_tables([r for r in snapshot.outputs if (r.detector, r.version) == (detector, version)]):
            console.print(table)
    if not snapshot.readings:
        console.print("No decision could be read.")
    print_counts(console, snapshot, max(windows_days, default=None))


def _versions(readings: Iterable[Reading]) -> list[tuple[str, str]]:
    return sorted({(r.detector, r.version) for r in readings}, key=lambda v: (v[0], version_key(v[1])))


def population_table(readings: Sequence[Reading]) -> Table:
    """Return the population table: recall over all traffic, with its limits and what it rests on."""
    names, numbers = ("entity", "lang"), ("recall", "lower", "upper", "looked", "found/true", "labelled", "docs with")
    table = _table("Recall over all traffic, between its limits", names, numbers)
    for r in sorted((r for r in readings if r.stratum is None), key=_needs_somebody_first):
        share = r.matched
        if not share.true:
            continue
        looked = "–" if share.where_looked is None else _number(share.where_looked.estimate)
        evidence = (f"{share.found}/{share.true}", f"{r.labelled}/{r.sampled}", str(r.prevalence.documents.count))
        limits = (_number(share.estimate), _number(share.lower), _number(share.upper))
        table.add_row(Text(r.entity), Text(r.language), *limits, looked, *evidence)
    table.caption = "looked: recall in documents that any tool flagged; labelled: of the sampled documents"
    table.caption_justify = "left"
    return table


def strata_table(readings: Sequence[Reading]) -> Table:
    """Return the table people know: counts and Wilson limits within each stratum."""
    numbers = ("found/true", "recall", "lower", "upper", "labelled", "of")
    table = _table("Within each stratum (Wilson)", ("entity", "lang", "stratum"), numbers)
    rows = [r for r in readings if r.stratum is not None and r.language != ANY and r.matched.true]
    for r in sorted(rows, key=lambda r: (r.entity != ANY, r.entity, r.language)):
        share = r.matched
        limits = (_number(share.estimate), _number(share.lower), _number(share.upper))
        names = (Text(r.entity), Text(r.language), r.stratum)
        table.add_row(*names, f"{share.found}/{share.true}", *limits, str(r.labelled), str(r.census))
    return table


def known_table(readings: Sequence[Reading]) -> Table:
    """Return what else is known of each cell: limits that hold at every look, precision, the alarm."""
    numbers = ("any time", "precision", "right/detected", "alarm")
    table = _table("Read any time, and precision", ("entity", "lang"), numbers)
    for r in sorted((r for r in readings if r.stratum is None), key=_needs_somebody_first):
        precise = r.precision if r.precision is not None and r.precision.detected else None
        if not r.matched.true or (r.any_time, precise, r.alarm) == (None,) * 3:
            continue
        limits = "–" if r.any_time is None else f"{_number(r.any_time.lower)}–{_number(r.any_time.upper)}"
        right = "–" if precise is None else f"{precise.right}/{precise.detected}"
        share = _number(None if precise is None else precise.estimate)
        alarm = "–" if r.alarm is None else r.alarm.state or words.STATES["unknown"]
        table.add_row(Text(r.entity), Text(r.language), limits, share, right, alarm)
    if any(r.alarm is not None and r.alarm.state for r in readings):
        table.caption = (
            "alarm: firing, it crossed its bar on the last day that ended; held, on since it crossed on an earlier day "
            "(labels may tell so days later); quiet, off"
        )
        table.caption_justify = "left"
    return table


def agreement_table(readings: Sequence[Reading]) -> Table:
    """Return what two readers of the same documents say of each other, of the cells that either of them named."""
    numbers = ("κ", "lower", "upper", "read twice", "named", "span F1", "overlap", "both missed")
    table = _table("Two readers", ("entity", "lang"), numbers)
    for r in sorted((r for r in readings if r.stratum is None), key=_needs_somebody_first):
        a = r.agreement
        if a is not None and a.named:
            kappa = (_number(a.kappa), _number(a.lower), _number(a.upper), f"{a.documents:,}", f"{a.named:,}")
            spans = (_number(a.span_f1), _number(a.mean_iou), _number(a.missed_by_both))
            table.add_row(Text(r.entity), Text(r.language), *kappa, *spans)
    table.caption = (
        "κ: agreement by document beyond chance; none where both named the entity in all documents or in none. span "
        "F1, overlap: of one reader's spans against the other's. both missed: optimistic"
    )
    table.caption_justify = "left"
    return table


def _print_statuses(console: Console, readings: Iterable[Reading]) -> None:
    """Print which numbers of the tables aren't offered as they are, by the reason."""
    shown = sorted((r for r in readings if r.stratum is None and r.matched.true), key=_needs_somebody_first)
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for r in shown:
        if r.status != "ok" and r.status not in _LEFT:
            by_reason[_standing(r)].append(f"{r.entity}/{r.language}")
    found = [f"{reason}: {_cells(names, len(shown))}" for reason, names in by_reason.items()]
    if found:
        console.print(Text("With a mark: " + "; ".join(found)), style="dim", soft_wrap=False)


def _cells(names: Sequence[str], of: int) -> str:
    if len(names) == 1:
        return names[0]
    return f"all {of:,} cells" if len(names) == of else f"{len(names):,} of {of:,} cells ({', '.join(names)})"


def _standing(reading: Reading) -> str:
    return words.standing(reading) if reading.status == "marked" else _STATUSES.get(reading.status, "")


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Return an empty table; where it is too wide for the terminal, names are folded and numbers stay whole."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "stratum")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    return table


def print_counts(console: Console, snapshot: BoardSnapshot, days: int | None = None) -> None:
    """Print what became of labels and of records that couldn't be used, and what has no reading and why.

    `days`: of how many days counts are; None is of everything.
    """
    unread = sorted({f"{r.entity}/{r.language}: {_why(r)}" for r in snapshot.readings if _is_unread(r)})
    if unread:
        console.print(Text("\nNo number: " + "; ".join(unread)), style="dim", soft_wrap=False)
    span = "" if days is None else f", last {days:,} days"
    for name, tallies in (
        ("Documents", snapshot.documents),
        ("Labels", snapshot.outcomes),
        ("Dead letters", snapshot.dead_letters),
        ("Spans set aside", snapshot.quarantined),
        ("Outputs not checked", snapshot.unchecked),
        ("Spans of entities that the alias table doesn't know", snapshot.unknown_entities),
    ):
        undated = [] if days is None else [t for t in tallies if (name, t.labels[0]) in _UNDATED]
        for of, told in ((span, [t for t in tallies if t not in undated]), ("", undated)):
            if told:
                console.print(Text(f"{name}{of}: {_counts(told)}"))


def _counts(tallies: Sequence[Tally]) -> str:
    """Return counts in their own order, or the largest ones where they are many."""
    told, more = largest(tallies, MAX_KINDS)
    parts = [f"{'/'.join(t.labels)} {t.value:.0f}" for t in (told if more else tallies)]
    return ", ".join(parts) + (f" and {more} more" if more else "")


def _is_unread(r: Reading) -> bool:
    """Say whether a cell has no recall: it stands in the table with a dash, or isn't in it and sums up no others."""
    listed = r.matched.true > 0 or ANY not in {r.language, r.entity}
    return r.stratum is None and r.matched.estimate is None and listed


def _why(r: Reading) -> str:
    said = words.REASONS.get(r.matched.reason or "", _STATUSES["no_interval"])
    return said if r.status == "no_interval" else _standing(r)


def _needs_somebody_first(r: Reading) -> tuple[bool, float, str, str]:
    return (r.entity != ANY, 2.0 if r.matched.lower is None else r.matched.lower, r.entity, r.language)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
