"""The sign-off as a page to print: drawn from the report's own data and nothing else."""

from __future__ import annotations

from streams.report.drawing import render
from streams.report.sentences import state

__all__ = ["render", "state"]
