"""Where commands print their tables."""

from __future__ import annotations

from rich.console import Console

PIPED_WIDTH = 100_000
"""Columns of what isn't a terminal."""


def table_console() -> Console:
    """Return where tables are printed: as wide as the terminal, and where there is none, wide enough for any row."""
    console = Console()
    if not console.is_terminal:
        console.width = PIPED_WIDTH  # a row is a line then, whatever COLUMNS says: it's read by grep and awk
    return console
