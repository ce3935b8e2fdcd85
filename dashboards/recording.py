"""Recording rules: what the newest board says, once, whoever exports it; and what happened, whatever a counter did.

*The board moves.* Its gauges come from the worker that is the board. While it moves, two workers export them, or none.
So each is taken from the worker that computed last, and that one's last word counts for `scrape.gap`: two at once give
one value, a short gap gives none away.

*A counter restarts.* `increase` can't see what a counter counted before its first scrape, and a rare event (a ledger
rebuilt at start) often is just that. So what stands on a counter whose process, or whose series, is younger than the
window counts in full, unless `increase` knows of more, from before a restart inside the window. A Prometheus that is
new tells once what the counters held before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dashboards.comparing import Comparing
from dashboards.promql import OneOf, Recorded, Wanted, block, listed, select
from dashboards.settings import Settings, seconds
from monitor import metrics as m
from monitor.metrics import Metric

_CELLS = (
    m.RECALL_ESTIMATE,
    m.RECALL_LOWER,
    m.RECALL_UPPER,
    m.FOUND,
    m.TRUE,
    m.LOOKED_ESTIMATE,
    m.LOOKED_LOWER,
    m.UNFLAGGED_WIDTH,
    m.HALVING_RATE,
    m.TARGET,
    m.COMPLETENESS,
    m.CENSUS,
    m.CELL_SAMPLED,
    m.LABELLED,
    m.CURRENT,
    m.STATUS,
)
_OUTPUTS = (
    m.REDACTIONS_ESTIMATE,
    m.REDACTIONS_LOWER,
    m.REDACTIONS_UPPER,
    m.LEAKING_REDACTIONS,
    m.REDACTIONS,
    m.LEAKING,
    m.LEAKING_ESTIMATE,
    m.LEAKING_LOWER,
    m.LEAKING_UPPER,
    m.UNALIGNED,
    m.LEAK_DOCUMENTS,
    m.OUTPUTS,
    m.OUTPUTS_LABELLED,
    m.DISCLOSURE_ESTIMATE,
    m.DISCLOSURE_LOWER,
    m.DISCLOSURE_UPPER,
    m.DISCLOSURE_CURRENT,
    m.READABLE,
    m.OUTPUT_TRUE,
)
_BEFORE = (m.RECALL_ESTIMATE, m.RECALL_LOWER, m.FOUND, m.TRUE, m.CENSUS, m.CELL_SAMPLED, m.CURRENT)
_BOARD = (
    m.ALARM_ON,
    m.ALARM_RESTATED,
    m.ALARM_SINCE,
    m.TWICE,
    m.KAPPA_ESTIMATE,
    m.KAPPA_LOWER,
    m.KAPPA_UPPER,
    m.DRIFT_SHARE,
    m.DRIFT_DOCUMENTS,
    m.DRIFT_BEFORE,
    m.DRIFT_AFTER,
    m.DRIFT_CHANGE,
    m.NEWEST_LABEL,
    m.QUEUE_OPEN,
    m.QUEUE_DONE,
    m.QUEUE_OLDEST,
    m.QUEUE_CAPACITY,
    m.UNSEEN_TARGETS,
    m.CELLS_WITHHELD,
    m.OUTPUT_CELLS_WITHHELD,
    m.TOLD,
    m.LAST_DECISION,
)
_LEVELS: dict[tuple[str, ...], str] = {
    (): "job",
    m.CELL: "cell",
    m.ALARM: "alarm",
    m.PAIR: "pair",
    m.SIGNAL: "signal",
    m.OUTPUT: "output",
    m.VERSION: "version",
    m.NEWEST_LABEL.labels: "version",
}
_EVERY_VERSION = (m.RECALL_ESTIMATE, m.RECALL_LOWER, m.FOUND, m.TRUE)
_BEFORE_LOOKS_BACK = "1h"
"""A gap that long, a window ago, hides nothing of the window before."""


class Recording:
    """All recording rules, by what they record.

    Parameters
    ----------
    settings
        Windows, and the labels of a worker.

    Examples
    --------
    >>> from dashboards.settings import read_settings
    >>> print(Recording(read_settings()).board(m.UNSEEN_TARGETS).expr)
    max without (instance, pod) (
      last_over_time(recallwatch_unseen_targets_cells[10m])
      and on (job, instance) instance:recallwatch_board_computed_timestamp_seconds:newest
    )
    """

    def __init__(self, settings: Settings) -> None:
        self._scrape = settings.scrape
        self._windows = settings.readings
        self.workers = listed(settings.scrape.worker_labels)
        """The labels that tell workers apart, as a grouping has them."""
        self.up = f'up{{job="{settings.scrape.job}"}}'
        """Prometheus's own word on each worker."""

    def rules(self) -> list[Recorded]:
        """Return all rules; one that another one reads stands before it."""
        return [
            self.newest,
            self.version,
            *(self.cell(metric) for metric in (*_CELLS, *_OUTPUTS)),
            *(self.before(metric) for metric in _BEFORE),
            *(self.board(metric) for metric in _BOARD),
            *(self.every_version(metric) for metric in _EVERY_VERSION),
            self.known_versions,
            self.random_share,
            *self.comparing.rules(),
        ]

    @cached_property
    def newest(self) -> Recorded:
        """The worker that is the board: of several, the one that computed last."""
        last = f"last_over_time({select(m.COMPUTED)}[{self._scrape.gap}])"
        return Recorded(
            f"instance:{m.COMPUTED.name}:newest",
            (),
            f"topk without ({self.workers}) (1, {last})",
            "While the board moves two workers export it, or none: the last word counts, for a while.",
        )

    @cached_property
    def version(self) -> Recorded:
        """The detector versions in traffic."""
        return self._recorded(
            f"version:{m.DETECTOR.name}:board",
            m.DETECTOR,
            self._latest(m.DETECTOR),
            "Versions that the newest traffic carries: an older one's readings are nobody's business at night.",
        )

    def board(self, metric: Metric) -> Recorded:
        """Return a series as the newest board has it, a worker's labels left out."""
        level = _LEVELS.get(metric.labels, "_".join(metric.labels))
        why = "As the newest board has it."
        return self._recorded(f"{level}:{metric.name}:board", metric, self._latest(metric), why)

    def cell(self, metric: Metric) -> Recorded:
        """Return a cell's series of a version in traffic, in the windows that alerts read; of recall, `matched`."""
        wanted: dict[str, Wanted] = {"reading": "matched"} if "reading" in metric.labels else {}
        wanted["window"] = OneOf(list(dict.fromkeys((self._windows.window, self._windows.fall_window))))
        dropped = ("reading",) if "reading" in metric.labels else ()
        expr = block(
            """
            <latest>
            and on (job, detector, version) <version>
            """,
            latest=self._latest(metric, dropped, **wanted),
            version=self.version.name,
        )
        labels = tuple(label for label in metric.labels if label not in dropped)
        return Recorded(
            f"{_LEVELS.get(metric.labels, 'cell')}:{metric.name}:board",
            labels,
            expr,
            "As the newest board has it, of versions in traffic.",
        )

    def before(self, metric: Metric) -> Recorded:
        """Return a cell's series as it was one window ago, so that the two windows share no document."""
        window = self._windows.fall_window
        now = select(self.cell(metric), window=window)
        return Recorded(
            f"cell:{metric.name}:before",
            self.cell(metric).labels,
            f"last_over_time({now}[{_BEFORE_LOOKS_BACK}] offset {window})",
            f"The window before: {window} ago, so that the two share no document.",
        )

    def every_version(self, metric: Metric) -> Recorded:
        """Return a cell's series of each version that there is, in the main window, where the cell has an alarm."""
        expr = block(
            """
            <latest>
            and on (job, entity, language, detector) <alarm>
            """,
            latest=self._latest(metric, ("reading",), reading="matched", window=self._windows.window),
            alarm=self.board(m.ALARM_ON).name,
        )
        why = "Of versions that are out of traffic too: what was known of the one before."
        return Recorded(f"cell:{metric.name}:every_version", m.CELL, expr, why)

    @cached_property
    def known_versions(self) -> Recorded:
        """When each version decided last, by the cells in which its recall is known."""
        last = self.board(m.LAST_DECISION)
        expr = block(
            """
              0 * <estimate>
            + ignoring (entity, language, window) group_left ()
              <last>
            """,
            estimate=self.every_version(m.RECALL_ESTIMATE).name,
            last=last.name,
        )
        why = "Which version came before another one goes by their last decisions: after a roll-back names mislead."
        return Recorded(f"cell:{m.LAST_DECISION.name}:every_version", m.CELL, expr, why)

    @cached_property
    def random_share(self) -> Recorded:
        """The share of documents that the random slice drew lately, all workers together."""
        window = self._windows.share_window
        expr = block(
            """
              sum without (<workers>, slice) (increase(<drawn>[<window>]))
            /
              (sum without (<workers>, detector, version) (increase(<decisions>[<window>])) > 0)
            """,
            workers=self.workers,
            drawn=select(m.SAMPLED, slice=OneOf(["random", "both"])),
            decisions=select(m.DECISIONS),
            window=window,
        )
        why = "The random rate as it comes out, thinning included: the rate itself is no series."
        return Recorded(f"job:{m.SAMPLED.name.removesuffix('_total')}:random_share{window}", (), expr, why)

    @property
    def comparing(self) -> Comparing:
        """What compares a window with the one before it, and an interval with its parts."""
        return Comparing(self.cell, self.before)

    def happened(self, metric: Metric, window: str, kept: Sequence[str] = (), **wanted: Wanted) -> str:
        """Return how much a counter of rare events rose in a window, summed over workers; nothing where it didn't.

        `kept` are the labels of the metric that stay.
        """
        return self.happened_in(select(metric, **wanted), metric, window, kept)

    def happened_in(self, series: str, metric: Metric, window: str, kept: Sequence[str] = ()) -> str:
        """Return the same of a selector of the metric's series."""
        dropped = [*self._scrape.worker_labels, *(label for label in metric.labels if label not in kept)]
        return block(
            """
            sum without (<dropped>) (
                increase(<series>[<window>]) > <series>
              or
                <series> > 0 and on (job, instance) time() - <started> < <seconds>
              or
                <series> > 0 unless last_over_time(<series>[<memory>] offset <window>)
              or
                increase(<series>[<window>]) > 0
            )
            """,
            dropped=listed(dropped),
            series=series,
            window=window,
            started=select(m.STARTED),
            seconds=str(seconds(window)),
            memory=self._scrape.memory,
        )

    def workers_up(self) -> str:
        """Return the number of workers that Prometheus can scrape; nothing where there is none."""
        return f"count without ({self.workers}) ({self.up} == 1)"

    def _latest(self, metric: Metric, dropped: Sequence[str] = (), **wanted: Wanted) -> str:
        return block(
            """
            max without (<dropped>) (
              last_over_time(<series>[<gap>])
              and on (job, instance) <newest>
            )
            """,
            dropped=listed([*self._scrape.worker_labels, *dropped]),
            series=select(metric, **wanted),
            gap=self._scrape.gap,
            newest=self.newest.name,
        )

    @staticmethod
    def _recorded(name: str, metric: Metric, expr: str, why: str) -> Recorded:
        return Recorded(name, metric.labels, expr, why)
