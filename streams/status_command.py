"""`recallwatch status`: the page's first lines in a terminal, off the live board."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.exposition import clean
from monitor.readings import ANY, BoardSnapshot, DriftSignal, OutputReading, Queue, Reading
from monitor.readings_json import output_document, reading_document
from streams.cli_options import config_options, read_settings
from streams.console import table_console
from streams.live_snapshot import read_snapshot
from streams.page import outputs, words
from streams.page.cells import Cell, Selection, cells
from streams.replay_options import quiet_logs

SHOWN = 12
"""Cells in the table: what needs somebody comes first, and the page has the rest."""


@click.command()
@config_options
@click.option("--all", "everything", is_flag=True, help="Every cell, not only those with a target or the worst.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(
    *,
    config_path: Path | None,
    overrides: Sequence[str],
    everything: bool,
    as_json: bool,
) -> None:
    """Show how things stand.

    The page's first lines: which cells need somebody, recall between its limits, the alarm, how old and how complete
    the numbers are, and the load of the queue; targets and windows are those in force. It ends with 0 wherever the
    board can be read, whatever that says.
    """
    quiet_logs()
    settings = read_settings(config_path, overrides)
    now = time.time()
    snapshot = read_snapshot(settings, now).snapshot
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(status_document(snapshot, now)), indent=1).decode())
        sys.stdout.write("\n")
    else:
        print_status(table_console(), snapshot, now, everything=everything)


def status_document(snapshot: BoardSnapshot, now: float) -> dict[str, object]:
    """Return all that the command shows, and every cell, as JSON data."""
    found, _ = cells(snapshot, Selection())
    return {
        "headline": words.headline(found, snapshot.queues, now),
        "rest": words.rest(found),
        "unseen_targets": list(snapshot.unseen_targets),
        "cells": [{"state": c.state, "word": words.word(c), **reading_document(c.reading)} for c in found],
        "outputs": [output_document(r) for r in _of_window(found, snapshot)],
        "queues": [msgspec.to_builtins(queue) for queue in snapshot.queues],
        "thinning": snapshot.thinning,
        "capacity_per_day": snapshot.capacity_per_day,
        "drift": [msgspec.to_builtins(signal) for signal in snapshot.drift],
        "current_versions": [{"detector": d, "version": v} for d, v in snapshot.current_versions],
    }


def print_status(console: Console, snapshot: BoardSnapshot, now: float, *, everything: bool = False) -> None:
    """Print the page's first lines."""
    found, _ = cells(snapshot, Selection())
    if not found:
        console.print("No decision has been counted yet.")
        return
    console.print(Text(words.headline(found, snapshot.queues, now), style="bold"))
    for line in (words.rest(found), words.unseen(snapshot)):
        if line:
            console.print(Text(line))
    console.print(Text(_when(found)))
    shown = found if everything else _first(found)
    console.print()
    console.print(_table(shown, several=len({c.reading.detector for c in found}) > 1))
    if len(shown) < len(found):
        console.print(f"{len(found) - len(shown)} more: --all")
    console.print()
    load = _queue(snapshot.queues, now), words.thinning(snapshot)
    for line in (*_outputs(found, snapshot), words.waiting_alarms(found, now), *load, _drift(snapshot.drift, now)):
        if line:
            console.print(Text(line))


def _first(found: Sequence[Cell]) -> list[Cell]:
    """Return the cells with a target, or where there's none the first ones, which are the worst."""
    asked = [c for c in found if c.reading.target is not None or c.state == "act"]
    return asked or list(found[:SHOWN])


def _when(found: Sequence[Cell]) -> str:
    versions = dict.fromkeys(f"{clean(c.reading.detector)} {clean(c.reading.version)}" for c in found)
    window = found[0].reading.window
    days = f", {window.first} to {window.last}" if window.first else ""
    return f"{', '.join(versions)}{days}"


def _table(shown: Sequence[Cell], *, several: bool) -> Table:
    """Return the cells, one a line; where it is too wide for the terminal, names are folded and numbers stay whole."""
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    table.add_column("state", no_wrap=True)
    table.add_column("cell", overflow="fold")
    for name in ("recall", "limits", "found/true", "full", "newest"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("alarm", no_wrap=True)
    for c in shown:
        r = c.reading
        table.add_row(
            _state(c),
            Text(f"{clean(r.entity)}/{clean(r.language)}" + (f" {clean(r.detector)}" if several else "")),
            words.number(r.matched.estimate),
            words.between(r.matched) or words.DASH,
            f"{r.matched.found}/{r.matched.true}",
            words.percent(r.completeness).replace(" ", ""),
            words.age(r.age_s),
            _alarm(r),
            style="bold" if c.state == "act" else "dim" if c.state == "unknown" else "",
        )
    return table


def _state(c: Cell) -> str:
    """Return the page's word for a row, shortened where the column of alarms says the rest."""
    return "stale" if c.reading.status == "stale" else words.word(c).removeprefix("alarm: ")


def _alarm(r: Reading) -> str:
    """Return the alarm's state; what has no alarm has none to tell."""
    if r.alarm is None:
        return words.DASH
    return r.alarm.state or words.STATES["unknown"]


def _queue(queues: Sequence[Queue], now: float) -> str:
    queue = next((q for q in queues if q.language == ANY), None)
    if queue is None or not queue.tasks:
        return "Queue: no task has been sent."
    return f"Queue: {words.waiting(queue, now)}; {queue.done:,} of {queue.tasks:,} answered, {queue.skipped:,} skipped."


def _outputs(found: Sequence[Cell], snapshot: BoardSnapshot) -> list[str]:
    """Return what the redacted outputs of each version shown say, all languages together."""
    shown = {(c.reading.detector, c.reading.version) for c in found}
    told = [r for r in _of_window(found, snapshot) if (r.detector, r.version) in shown and r.language == ANY]
    return [f"Outputs: {outputs.sentence(r)}" for r in told]


def _of_window(found: Sequence[Cell], snapshot: BoardSnapshot) -> list[OutputReading]:
    """Return the outputs' readings of the window that the cells are of."""
    days = {c.reading.window.days for c in found}
    return [r for r in snapshot.outputs if r.window.days in days]


def _drift(signals: Sequence[DriftSignal], now: float) -> str:
    """Return the signals of the detector's output that changed, the newest first."""
    changed = sorted((s for s in signals if s.at is not None), key=lambda s: -(s.at or 0.0))
    if not signals:
        return ""
    if not changed:
        return f"Drift: none of {len(signals)} shares watched has changed."
    told = [
        f"{s.signal.replace('_', ' ')} {'/'.join(clean(n) for n in (s.entity, s.language) if n)} "
        f"{s.direction or 'changed'} {words.age(now - (s.at or now))} ago"
        for s in changed[:3]
    ]
    more = f"; and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f"Drift: {'; '.join(told)}{more}."
