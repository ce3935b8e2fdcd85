"""Readings in a terminal: the table people know, the population table, and what was set aside. Plain when piped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.readings import ANY, BoardSnapshot, Reading, Tally, largest
from monitor.versions import version_key
from streams.page import words
from streams.page.cells import Selection, cells

MAX_KINDS = 10
"""Counts told of each thing, the largest: producers and annotators choose names, as many as they like."""
_STATUSES = words.STATUSES | {"no_truth": words.REASONS["no_truth"], "incomplete": "labels missing"}
"""The page's words, where a line that stands by itself needs no others."""
_LEFT = frozenset({"no_label", "no_truth", "no_interval"})
"""Statuses that the tables say by having no number."""


def print_snapshot(console: Console, snapshot: BoardSnapshot) -> None:
    """Print all readings of a snapshot, one block a detector version."""
    for detector, version in _versions(snapshot.readings):
        mine = [r for r in snapshot.readings if (r.detector, r.version) == (detector, version)]
        name = Text(f"{detector} {version}", style="bold")
        console.print()
        console.print(Text.assemble(name, f"   config {mine[0].config}   net {mine[0].net}"))
        for table in (population_table(mine), strata_table(mine), known_table(mine)):
            if table.row_count:
                console.print(table)
        _print_statuses(console, mine)
    if not snapshot.readings:
        console.print("No decision could be read.")
    print_counts(console, snapshot)


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
    """Return what else is known of each cell: limits that hold at every look, precision, two readers' agreement."""
    numbers = ("any time", "precision", "right/detected", "κ", "alarm")
    table = _table("Read any time, precision, two readers", ("entity", "lang"), numbers)
    for r in sorted((r for r in readings if r.stratum is None), key=_needs_somebody_first):
        precise = r.precision if r.precision is not None and r.precision.detected else None
        if not r.matched.true or (r.any_time, precise, r.agreement, r.alarm) == (None,) * 4:
            continue
        limits = "–" if r.any_time is None else f"{_number(r.any_time.lower)}–{_number(r.any_time.upper)}"
        right = "–" if precise is None else f"{precise.right}/{precise.detected}"
        share = _number(None if precise is None else precise.estimate)
        kappa = _number(None if r.agreement is None else r.agreement.kappa)
        alarm = "–" if r.alarm is None else r.alarm.state or words.STATES["unknown"]
        table.add_row(Text(r.entity), Text(r.language), limits, share, right, kappa, alarm)
    return table


def swap_table(snapshot: BoardSnapshot) -> Table:
    """Return recall of each detector's version before beside the current one's, over the longest window that's kept.

    Cells with a target, or all where there's none; those without a truth of both versions are left out.
    """
    longest = max((r.window.days or 0 for r in snapshot.readings), default=0)
    readings = tuple(r for r in snapshot.readings if (r.window.days or 0) == longest)
    found, _ = cells(msgspec.structs.replace(snapshot, readings=readings), Selection())
    asked = [c for c in found if c.reading.target is not None] or found
    title = f"Before and after, last {longest:,} days"
    table = _table(title, ("entity", "lang"), ("before", "limits", "after", "limits", "target"))
    for c in asked:
        if c.earlier and c.earlier[0].matched.true and c.reading.matched.true:
            table.add_row(*_before_and_after(c.reading, c.earlier[0]))
    return table


def _before_and_after(after: Reading, before: Reading) -> tuple[Text | str, ...]:
    shares = before.matched, after.matched
    numbers = [text for m in shares for text in (_number(m.estimate), words.between(m) or words.DASH)]
    return Text(after.entity), Text(after.language), *numbers, _number(after.target)


def _print_statuses(console: Console, readings: Iterable[Reading]) -> None:
    """Print which numbers of the tables aren't offered as they are, and why."""
    told = (r for r in readings if r.stratum is None and r.matched.true and r.status != "ok" and r.status not in _LEFT)
    found = [f"{r.entity}/{r.language}: {_standing(r)}" for r in sorted(told, key=_needs_somebody_first)]
    if found:
        console.print(Text("With a mark: " + "; ".join(found)), style="dim", soft_wrap=False)


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


def print_counts(console: Console, snapshot: BoardSnapshot) -> None:
    """Print what became of labels and of records that couldn't be used, and what has no reading and why."""
    unread = sorted({f"{r.entity}/{r.language}: {_why(r)}" for r in snapshot.readings if _is_unread(r)})
    if unread:
        console.print(Text("\nNo number: " + "; ".join(unread)), style="dim", soft_wrap=False)
    for name, tallies in (
        ("Documents", snapshot.documents),
        ("Labels", snapshot.outcomes),
        ("Dead letters", snapshot.dead_letters),
        ("Spans set aside", snapshot.quarantined),
        ("Spans of entities that the alias table doesn't know", snapshot.unknown_entities),
    ):
        if tallies:
            console.print(Text(f"{name}: {_counts(tallies)}"))


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
