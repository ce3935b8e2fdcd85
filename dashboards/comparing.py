"""Series that compare: a window with the one before it, and an interval's width with what makes it.

*Did it fall?* Two windows that share no document have two estimates, R before and r now, each between limits. By
chance the difference reaches √((R − its lower limit)² + (r's upper limit − r)²): MOVER's limit of a difference (Zou
and Donner 2008), which needs no assumption but the intervals' own.

*Is the interval wide because of what nobody looked at?* On the log scale the squares of both parts' widths add up to
the whole's. So the part of what no tool flagged is √(whole² − looked²); for the target to be shown it may be
√(allowed² − looked²), `allowed` being the distance from the estimate to the target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dashboards.promql import Recorded
from monitor import metrics as m
from monitor.metrics import Metric

_Series = Callable[[Metric], Recorded]


class Comparing(NamedTuple):
    """Compares, given how a cell's series is recorded now and one window ago."""

    now: _Series
    before: _Series

    def rules(self) -> list[Recorded]:
        """Return all of them."""
        return [
            self.share,
            self.share_before,
            self.fall,
            self.fall_by_chance,
            self.whole_width,
            self.looked_width,
            self.allowed_width,
        ]

    @property
    def share(self) -> Recorded:
        """The share of documents that is sampled."""
        expr = f"{self.now(m.CELL_SAMPLED).name} / {self.now(m.CENSUS).name}"
        return _cell("sampled_share:board", expr, "Share of the documents that is sampled: the design, as it came out.")

    @property
    def share_before(self) -> Recorded:
        """The same a window ago."""
        expr = f"{self.before(m.CELL_SAMPLED).name} / {self.before(m.CENSUS).name}"
        return _cell("sampled_share:before", expr, "The same, the window before.")

    @property
    def fall(self) -> Recorded:
        """How far the estimate fell."""
        expr = f"{self.before(m.RECALL_ESTIMATE).name} - {self.now(m.RECALL_ESTIMATE).name}"
        return _cell("recall_fall:before", expr, "How far the estimate fell against the window before.")

    @property
    def fall_by_chance(self) -> Recorded:
        """How far it may fall by chance."""
        below = f"({self.before(m.RECALL_ESTIMATE).name} - {self.before(m.RECALL_LOWER).name}) ^ 2"
        above = f"({self.now(m.RECALL_UPPER).name} - {self.now(m.RECALL_ESTIMATE).name}) ^ 2"
        return _cell(
            "recall_fall_by_chance:before",
            f"sqrt(\n    {below}\n  +\n    {above}\n)",
            "How far it may fall by chance: MOVER's limit of the difference of two estimates between limits.",
        )

    @property
    def whole_width(self) -> Recorded:
        """From the estimate down to the lower limit, on the log scale."""
        expr = f"ln({self.now(m.RECALL_ESTIMATE).name} / {self.now(m.RECALL_LOWER).name})"
        return _cell("log_width:whole", expr, "From recall's estimate down to its lower limit, on the log scale.")

    @property
    def looked_width(self) -> Recorded:
        """The same where any tool looked."""
        expr = f"ln({self.now(m.LOOKED_ESTIMATE).name} / {self.now(m.LOOKED_LOWER).name})"
        return _cell("log_width:looked", expr, "The part of it that comes from documents that any tool flagged.")

    @property
    def allowed_width(self) -> Recorded:
        """From the estimate down to the target."""
        expr = f"ln(({self.now(m.RECALL_ESTIMATE).name} > {self.now(m.TARGET).name}) / {self.now(m.TARGET).name})"
        return _cell(
            "log_width:allowed", expr, "What the whole may be for the target to be shown; none below the target."
        )


def _cell(name: str, expr: str, why: str) -> Recorded:
    return Recorded(f"cell:recallwatch_{name}", m.CELL, expr, why)
