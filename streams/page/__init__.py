"""The page: one table, a row a cell, what needs somebody first."""

from __future__ import annotations

from streams.page.cells import Selection
from streams.page.drawing import POLICY, render

__all__ = ["POLICY", "Selection", "render"]
