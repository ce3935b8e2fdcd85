"""A plan in a terminal and as JSON: what more labels buy in each cell, the advised rates, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.advised_rates import AdvisedSampling, VarianceShare
from monitor.cells import Version
from monitor.config import Sampling
from monitor.estimators.planner import Price, Wait
from monitor.exposition import clean
from monitor.planning import BoardPlan, CellPlan
from monitor.readings import ANY
from monitor.records import STRATA
from streams.page.words import DASH, REASONS, number

_LITTLE = 0.95
MOST = 10
"""Cells without an interval that are named, for each reason."""
_Row = tuple[str | Text, ...]


def ordered(cells: Sequence[CellPlan]) -> list[CellPlan]:
    """Return cells with a target first; then as the other tables have them: all entities, then by the lower limit."""
    return sorted(cells, key=_needs_somebody_first)


def shown(cells: Sequence[CellPlan]) -> list[CellPlan]:
    """Return the cells that people look at: no roll-up over languages where there's one language alone."""
    languages = {(cell.sample.version, cell.sample.language) for cell in cells} if cells else set()
    several = {version for version, _ in languages if sum(v == version for v, _ in languages) != 2}
    return [cell for cell in ordered(cells) if cell.sample.language != ANY or cell.sample.version in several]


def _needs_somebody_first(cell: CellPlan) -> tuple[bool, bool, float, str, str]:
    lower = 2.0 if cell.read.lower is None else cell.read.lower
    return (cell.target is None, cell.sample.entity != ANY, lower, cell.sample.entity, cell.sample.language)


def print_plan(console: Console, plan: BoardPlan, *, advice_is_written: bool = False) -> None:
    """Print all of a plan; a table that would be empty is left out."""
    if not plan.cells:
        console.print("Nothing to plan: no decision was counted.")
        return
    for version in sorted({cell.sample.version for cell in plan.cells}):
        mine = [cell for cell in shown(plan.cells) if cell.sample.version == version]
        labelled = [cell for cell in mine if cell.with_entity]
        console.print()
        console.print(Text(_heading(version, plan.cells), style="bold"))
        for table in (_width_table(labelled, plan), _certified_table(labelled), _share_table(labelled)):
            if table.row_count:
                console.print(table)
        _print_never(console, labelled)
        _print_without(console, mine)
    if plan.advised is not None:
        console.print()
        console.print(_rate_table(plan.advised))
        for line in _settings(plan.advised.sampling):
            console.print(Text(f"  {line}"), soft_wrap=True)
        if _gains_nothing(plan.cells):
            console.print("There is little to gain: at the rates now about as few labels reach the width wanted.")
        if not advice_is_written:
            console.print("Nothing was changed: --write FILE puts these rates into a settings file.")


def _heading(version: Version, cells: Sequence[CellPlan]) -> str:
    """Return a version's name, and why it's here where the detector's newest traffic carries another."""
    mine = [cell.sample for cell in cells if cell.sample.version == version]
    name = clean(f"{version.detector} {version.version}")
    if any(sample.current for sample in mine):
        return name
    languages = ", ".join(sorted({clean(sample.language) for sample in mine if sample.language != ANY}))
    return f"{name}, the last in {languages}"


def _width_table(cells: Sequence[CellPlan], plan: BoardPlan) -> Table:
    width = f"± {plan.question.half_width:g}"
    title = f"Labels for {width} around recall, at {figure(plan.labels_per_day)} labels a day in all"
    numbers = ("labelled", "± now", "needs", "days", "window", "advised", "days", "fewer")
    rows: list[_Row] = []
    for cell in cells:
        now = (number(cell.half_width), *_wait(cell.to_half_width), _window(cell.to_half_width))
        fewer = DASH if cell.gain is None or cell.advised is None else f"{cell.gain.times_fewer:.1f} ×"
        rows.append((*_names(cell), f"{cell.labelled:,}", *now, *_wait(cell.advised), fewer))
    caption = (
        "needs, days: at the rates now, of the cell's languages and their part of the labels; window: days that hold "
        "so many labels; advised: in a window of their own at the advised rates; fewer: labels for the same width, of "
        "all languages"
    )
    return _table(title, ("entity", "lang"), numbers, rows, caption)


def _certified_table(cells: Sequence[CellPlan]) -> Table:
    numbers = ("certified", "wanted", "needs", "days", "window", ".01 costs", "random rate")
    rows: list[_Row] = []
    for cell in cells:
        if cell.certified is not None:
            wait = (*_wait(cell.to_certified), _window(cell.to_certified))
            rows.append(
                (*_names(cell), number(cell.certified), number(cell.certified_wanted), *wait, *_price(cell.price))
            )
    caption = (
        "certified: the share of documents with every occurrence found, at least; wanted: of documents too, though the "
        "figure may be a target's, which is of occurrences; .01 costs: more labels of unflagged documents in the same "
        "time, at the random rate beside it (never: not even if each is read)"
    )
    return _table(
        "Labels for certified recall, by document (a lower bound)", ("entity", "lang"), numbers, rows, caption
    )


def _share_table(cells: Sequence[CellPlan]) -> Table:
    rows: list[_Row] = []
    for cell in cells:
        if cell.gain is not None:
            shares = (_share([s for s in cell.gain.shares if s.stratum == stratum]) for stratum in STRATA)
            rows.append((*_names(cell), *shares))
    caption = "in percent; where the next label buys most, now → at the advised rates"
    return _table("Share of the variance, by stratum", ("entity", "lang"), STRATA, rows, caption)


def _share(shares: Sequence[VarianceShare]) -> str:
    if not shares:
        return DASH
    return f"{100 * sum(s.before for s in shares):.0f} → {100 * sum(s.after for s in shares):.0f}"


def _rate_table(advised: AdvisedSampling) -> Table:
    numbers = ("docs/day", "rate now", "advised", "labels/day", "advised")
    rows: list[_Row] = [
        (
            Text(clean(row.language)),
            row.stratum,
            figure(row.documents_per_day),
            *(f"{rate:.3g}" for rate in (row.rate_before, row.rate)),
            *(figure(labels) for labels in (row.labels_per_day_before, row.labels_per_day)),
        )
        for row in advised.strata
    ]
    costs = figure(advised.labels_per_day_before), figure(advised.labels_per_day)
    rows.append(("all", "", figure(sum(row.documents_per_day for row in advised.strata)), "", "", *costs))
    caption = f"rates: of being drawn at all, by either slice; for {_cells(len(advised.cells))}"
    return _table("Advised rates, and what they cost", ("lang", "stratum"), numbers, rows, caption)


def _gains_nothing(cells: Sequence[CellPlan]) -> bool:
    """Say whether the advised rates take about as many labels as those now, by the bounds themselves, in every cell.

    Labels of all languages: days at the same budget, as the advised rates may give a language more of it.
    """
    both = [(c.to_half_width, c.advised) for c in cells if c.to_half_width is not None and c.advised is not None]
    pairs = [
        (now, then.window_days)
        for wait, then in both
        if (now := wait.window_days) is not None and then.window_days is not None and wait.days
    ]
    return bool(pairs) and all(then > _LITTLE * now for now, then in pairs)


def _cells(count: int) -> str:
    return "one cell" if count == 1 else f"{count:,} cells together"


def _settings(sampling: Sampling) -> list[str]:
    """Return the advised rates as a settings file has them."""
    lines = [f"sampling.random_rate = {sampling.random_rate:g}"]
    lines += [f"sampling.loose_rate_by_stratum.{s} = {r:g}" for s, r in sampling.loose_rate_by_stratum.items()]
    for language, own in sampling.by_language.items():
        place = f"sampling.by_language.{clean(language)}"
        if own.random_rate is not None:
            lines.append(f"{place}.random_rate = {own.random_rate:g}")
        lines += [f"{place}.loose_rate_by_stratum.{s} = {r:g}" for s, r in own.loose_rate_by_stratum.items()]
    return lines


def _print_without(console: Console, cells: Sequence[CellPlan]) -> None:
    """Say of which cells nothing, or no interval, is known, and why."""
    for why in sorted({reason(cell) for cell in cells if cell.half_width is None}):
        names = [_name(cell) for cell in cells if reason(cell) == why]
        console.print(Text(f"No interval, {why}: {_listed(names)}"))


def _print_never(console: Console, cells: Sequence[CellPlan]) -> None:
    """Say why certified recall isn't reached with any number of labels."""
    low: list[str] = []
    other: list[str] = []
    for cell in cells:
        share = cell.caught_share
        if cell.to_certified is not None and cell.to_certified.labels is None and share is not None:
            names = low if share < cell.certified_wanted else other
            names.append(f"{_name(cell)} {number(share)}")
    if low:
        console.print(Text(f"Never certified, as recall by document is below what's wanted: {_listed(low)}"))
    if other:
        why = "as what isn't labelled counts as missed, and several rates as the worst of them; recall by document"
        console.print(Text(f"Never certified, {why}: {_listed(other)}"))


def _name(cell: CellPlan) -> str:
    return f"{clean(cell.sample.entity)}/{clean(cell.sample.language)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST:,} more" if len(names) > MOST else "")


def reason(cell: CellPlan) -> str:
    """Return why a cell has no interval, in words; nothing where it has one."""
    return "" if cell.read.reason is None else REASONS[cell.read.reason]


def _names(cell: CellPlan) -> tuple[Text, Text]:
    return Text(clean(cell.sample.entity)), Text(clean(cell.sample.language))


def _wait(wait: Wait | None) -> tuple[str, str]:
    if wait is None:
        return DASH, DASH
    if wait.labels is None or wait.days is None:
        return "never", DASH
    return ("reached", "0") if not wait.days else (f"{wait.labels:,}", f"{ceil(wait.days):,}")


def _window(wait: Wait | None) -> str:
    return DASH if wait is None or wait.window_days is None else f"{ceil(wait.window_days):,}"


def _price(price: Price | None) -> tuple[str, str]:
    if price is None:
        return DASH, DASH
    if price.labels is None or price.rate is None:
        return "never", DASH
    return f"{price.labels:,}", f"{price.rate:.3g}"


def figure(value: float | None) -> str:
    """Return a count or a rate a day: whole from ten on."""
    return DASH if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _table(title: str, names: Sequence[str], numbers: Sequence[str], rows: Sequence[_Row], caption: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in {"stratum", "lang"})
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    table.caption, table.caption_justify = caption, "left"
    return table


def plan_document(plan: BoardPlan) -> dict[str, object]:
    """Return a plan as plain data; what has no value is null, and `reason` says why."""
    return {
        "half_width": plan.question.half_width,
        "confidence": plan.question.confidence,
        "labels_per_day": plan.labels_per_day,
        "cells": [_cell_document(cell) for cell in ordered(plan.cells)],
        "advised": None if plan.advised is None else _advised_document(plan.advised),
    }


def _cell_document(cell: CellPlan) -> dict[str, object]:
    sample, read, gain = cell.sample, cell.read, cell.gain
    return {
        "entity": sample.entity,
        "language": sample.language,
        "detector": sample.version.detector,
        "version": sample.version.version,
        "current": sample.current,
        "reason": read.reason,
        "labelled": cell.labelled,
        "documents_with": cell.with_entity,
        "days": sample.days,
        "recall": read.estimate,
        "lower": read.lower,
        "upper": read.upper,
        "half_width": cell.half_width,
        "labels_per_day": cell.labels_per_day or None,
        "to_half_width": _optional(cell.to_half_width),
        "to_half_width_advised": _optional(cell.advised),
        "times_fewer": None if gain is None else gain.times_fewer,
        "variance_shares": [] if gain is None else [share._asdict() for share in gain.shares],
        "recall_by_document": cell.caught_share,
        "certified": cell.certified,
        "certified_wanted": cell.certified_wanted,
        "target": cell.target,
        "to_certified": _optional(cell.to_certified),
        "price_of_certified_01": _optional(cell.price),
    }


def _optional(found: Wait | Price | None) -> dict[str, object] | None:
    return None if found is None else found._asdict()


def _advised_document(advised: AdvisedSampling) -> dict[str, object]:
    rates: dict[str, object] = msgspec.to_builtins(advised.sampling)
    return {
        "sampling": {name: value for name, value in rates.items() if name != "key"},
        "labels_per_day": advised.labels_per_day,
        "labels_per_day_before": advised.labels_per_day_before,
        "strata": [row._asdict() for row in advised.strata],
        "serves": [{"entity": cell.entity, "language": cell.language} for cell in advised.cells],
    }
