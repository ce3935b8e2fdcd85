"""What all panels are drawn with: inks, and a card with a size in inches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from dashboards.pictures.asking import Series
from dashboards.pictures.files import Target, Thresholds

# The page's colours (streams/page/style.css)
INK, MID, SOFT, HAIR = "#1b1b1a", "#6c6c69", "#b9b9b4", "#e4e4e0"
Answers = Sequence[tuple[Target, list[Series]]]


class Card(NamedTuple):
    """A panel's inside, and its size in inches; its axes run from 0 to 1 where nothing else is said."""

    axes: Axes
    width: float
    height: float

    def blank(self) -> None:
        """Take away ticks and frame."""
        self.axes.set_xlim(0, 1)
        self.axes.set_ylim(0, 1)
        self.axes.axis("off")


def coloured(value: float, thresholds: Thresholds) -> str:
    """Return the colour of a value: of the last step that it has reached."""
    reached = [step.color for step in thresholds.steps if step.value is None or value >= step.value]
    return INK if not reached or reached[-1] == "text" else reached[-1]
