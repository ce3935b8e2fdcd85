"""The table that a bench prints: each figure beside its reference, the bar, and whether it is met; notes below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.rows import Row
from rich.console import Console
from rich.table import Table

WIDTH = 100
"""Where the output is no terminal."""
_SIGN = {">=": "≥", "<=": "≤"}


def figure(value: float | None) -> str:
    """Return three digits of a number; all of those before the point.

    >>> figure(24187.3), figure(3.14159), figure(0.0042), figure(0), figure(None)
    ('24,187', '3.14', '0.0042', '0', '')
    """
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def verdict(row: Row) -> str:
    """Return whether the bar is met, or by how much it isn't; a dash where there is none.

    >>> verdict(Row(name="n", unit="s", value=12, reference=None, ratio=12, bar=10, sense="<="))
    'missed by 20 %'
    """
    if row.ok is None or row.bar is None:
        return "–"
    if row.ok:
        return "met"
    if not row.bar:
        return "missed"
    return f"missed by {abs(row.ratio - row.bar) / abs(row.bar):.0%}".replace("%", " %")


def bar(row: Row) -> str:
    """Return what the ratio must be.

    >>> bar(Row(name="n", unit="s", value=12, reference=None, ratio=12, bar=10, sense="<="))
    '≤ 10'
    """
    return "" if row.bar is None else f"{_SIGN[row.sense]} {figure(row.bar)}"


def said(row: Row) -> str:
    """Return a row as one line of progress."""
    beside = "" if row.reference is None else f", {row.compared_with or 'reference'} {figure(row.reference)}"
    asked = "" if row.bar is None else f" ({bar(row)}: {verdict(row)})"
    return f"{row.name}: {figure(row.value)} {row.unit}{beside}, ratio {figure(row.ratio)}{asked}"


def table(rows: Sequence[Row]) -> Table:
    """Return the rows as a table; what has a note carries its number."""
    found = Table(box=None, pad_edge=False, header_style="bold")
    found.add_column("measured")
    for name in ("here", "reference", "ratio", "bar"):
        found.add_column(name, justify="right", no_wrap=True)
    found.add_column("", no_wrap=True)
    number = 0
    for row in rows:
        number += bool(row.note)
        mark = f" [{number}]" if row.note else ""
        beside = f"\n  against {row.compared_with}" if row.compared_with else ""
        found.add_row(
            f"{row.name}, {row.unit}{mark}{beside}".replace("[", r"\["),
            figure(row.value),
            figure(row.reference),
            "" if row.reference is None else figure(row.ratio),
            bar(row),
            verdict(row),
            style="bold" if row.ok is False else "",
        )
    return found


def show(rows: Sequence[Row], machine: Mapping[str, object], console: Console) -> None:
    """Print table, notes and what it was measured on."""
    console.print(table(rows))
    console.print()
    notes = [row.note for row in rows if row.note]
    for number, note in enumerate(notes, start=1):
        console.print(f"[{number}] {note}", markup=False, highlight=False)
    bars = [row.ok for row in rows if row.ok is not None]
    counted = f"{sum(bars)} of {len(bars)} bars met" if bars else "no bar"
    facts = ", ".join(f"{name} {value}" for name, value in machine.items())
    console.print(f"{counted}; {facts}", markup=False, highlight=False)


def console() -> Console:
    """Return a console on stdout: as wide as the terminal, or `WIDTH` and plain where there is none."""
    there = Console()
    return there if there.is_terminal else Console(width=WIDTH, no_color=True)
