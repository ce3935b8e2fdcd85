"""What the panels ask: the newest board's series, filtered by the dashboard's variables.

The recorded series are for alerts: versions in traffic, two windows. A dashboard shows any version and any window, so
it asks for the exported series itself, of the worker that the recording rules take for the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dashboards.promql import Chosen, Named, Wanted, block, listed, select
from dashboards.recording import Recording
from monitor import metrics as m
from monitor.metrics import Metric

PLACE = ("entity", "language", "detector", "version")
"""What tells cells apart, once the window is chosen."""
DAY = "1d"
_CHOSEN = ("entity", "language", "version", "window")
_JOB = 'job="$job"'


class Ranked(NamedTuple):
    """A cell by its place in an order, as it is at the end of the time that is shown."""

    order: str
    place: int


class Queries:
    """Writes the queries.

    Parameters
    ----------
    recording
        The recording rules.

    Examples
    --------
    >>> from dashboards.settings import read_settings
    >>> print(Queries(Recording(read_settings())).latest(m.TARGET, ("entity",), language="any"))
    max by (entity) (
      recallwatch_recall_target_ratio{entity=~"$entity",version=~"$version",window=~"$window",language="any",job="$job"}
      and on (job, instance) instance:recallwatch_board_computed_timestamp_seconds:newest{job="$job"}
    )
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def own(self, metric: Metric, **wanted: Wanted) -> str:
        """Return the selector of what workers export of themselves."""
        return _of_job(select(metric, **wanted))

    def recorded(self, series: Named, **wanted: Wanted) -> str:
        """Return the selector of a recorded series."""
        return _of_job(select(series, **wanted))

    def latest(self, metric: Metric, by: Sequence[str] = (), *, at_end: bool = False, **wanted: Wanted | None) -> str:
        """Return a series as the newest board has it, by some of its labels.

        Parameters
        ----------
        by
            Labels that stay; of series that differ in others, the largest.
        at_end
            As it is at the end of the time that is shown, at every moment of it.
        wanted
            What is wanted of labels, in place of the dashboard's variables; None is all. Of readings it's `matched`.
        """
        given: dict[str, Wanted] = {
            label: Chosen(label) for label in _CHOSEN if label in metric.labels and label not in wanted
        }
        given |= {label: value for label, value in wanted.items() if value is not None}
        if "reading" in metric.labels:
            given.setdefault("reading", "matched")
        moment = " @ end()" if at_end else ""
        return block(
            """
            max by (<by>) (
              <series><moment>
              and on (job, instance) <newest><moment>
            )
            """,
            by=listed(by),
            series=_of_job(select(metric, **given)),
            newest=_of_job(self.recording.newest.name),
            moment=moment,
        )

    def each(self, metric: Metric, *, at_end: bool = False, **wanted: Wanted) -> str:
        """Return a cell's series of every version that is chosen, by what tells cells apart, and its status if any."""
        kept = [label for label in (*PLACE, "status") if label in metric.labels]
        return self.latest(metric, kept, at_end=at_end, **wanted)

    def cell(self, metric: Metric, *, at_end: bool = False, **wanted: Wanted) -> str:
        """Return the same of versions in traffic; of all that are chosen, where none of these is."""
        return block(
            """
            (
              <each>
              and on (detector, version) (<traffic> or on () <every>)
            )
            """,
            each=self.each(metric, at_end=at_end, **wanted),
            traffic=self.latest(m.DETECTOR, m.DETECTOR.labels, at_end=at_end),
            every=self.latest(m.CENSUS, m.DETECTOR.labels, at_end=at_end, entity=None, language=None, window=None),
        )

    def total(self, metric: Metric, by: Sequence[str] = (), **wanted: Wanted | None) -> str:
        """Return a series summed up to some of its labels, as the newest board has it."""
        latest = self.latest(metric, metric.labels, at_end=False, **wanted)
        return block("sum by (<by>) (\n  <latest>\n)", by=listed(by), latest=latest)

    def rose(self, metric: Metric, by: Sequence[str] = (), window: str = DAY, **wanted: Wanted) -> str:
        """Return how much workers' counters rose in a window, all together."""
        return f"sum by ({listed(by)}) (increase({self.own(metric, **wanted)}[{window}]))"

    def happened(self, metric: Metric, by: Sequence[str] = (), window: str = DAY, **wanted: Wanted) -> str:
        """Return the same of rare events, as the alerts count them: what a counter came with counts in full."""
        found = self.recording.happened_in(self.own(metric, **wanted), metric, window, by)
        return f"(sum by ({listed(by)}) ({found})\nor {self.rose(metric, by, window, **wanted)})"

    def rate(self, metric: Metric, by: Sequence[str] = (), **wanted: Wanted) -> str:
        """Return how fast workers' counters rise, a second, all together."""
        return f"sum by ({listed(by)}) (rate({self.own(metric, **wanted)}[$__rate_interval]))"

    def lowest(self, expr: str, ranked: Ranked, on: Sequence[str] = PLACE) -> str:
        """Return the one series of an expression that has a place in an order, the lowest being 1."""
        first = "bottomk(<place>, <order>)"
        rest = " unless on (<on>) bottomk(<before>, <order>)" if ranked.place > 1 else ""
        return block(
            f"<expr>\nand on (<on>) (\n  {first}{rest}\n)",
            expr=expr,
            on=listed(on),
            place=str(ranked.place),
            before=str(ranked.place - 1),
            order=ranked.order,
        )

    def before(self, expr: str, order: str, on: Sequence[str] = PLACE) -> str:
        """Return an expression of the same place and of the version that was in traffic before the first of an order.

        Of the other versions that is the one that decided last, before that one did: after a roll-back a version's name
        and when it was first seen say nothing of it.
        """
        return block(
            """
            <expr>
            and on (<place>) (
              <first>
            )
            and on (detector, version) topk(1,
                <last>
              < on (detector) group_left ()
                (<last> and on (detector, version) (<first>))
            )
            """,
            expr=expr,
            place=listed([label for label in on if label != "version"]),
            first=f"bottomk(1, {order})",
            last=self.latest(m.LAST_DECISION, m.VERSION, at_end=True),
        )

    def since(self) -> str:
        """Return when each version came into traffic; of one that was rolled back to, when it did so again.

        A version in traffic came when it decided first, or when the last other one of its detector stopped. One that
        isn't in traffic has its first decision alone.
        """
        first, last = (self.latest(metric, m.VERSION, version=None) for metric in (m.FIRST_DECISION, m.LAST_DECISION))
        return block(
            """
            (
              (
                  <came> > on (detector) group_left () <others>
                or
                  0 * <came> + on (detector) group_left () <others>
                or
                  <first>
              )
              and
                <chosen>
            )
            """,
            came=f"(\n{first}\nand {self.latest(m.DETECTOR, m.VERSION, version=None)}\n)",
            others=f"max by (detector) (\n{last}\nunless {self.latest(m.DETECTOR, m.VERSION, version=None)}\n)",
            first=first,
            chosen=self.latest(m.FIRST_DECISION, m.VERSION),
        )

    def margin(self, *, at_end: bool = False) -> str:
        """Return how far recall's lower limit is above its target; below 0 where it's under."""
        lower, target = (self.cell(metric, at_end=at_end) for metric in (m.RECALL_LOWER, m.TARGET))
        return f"(\n{lower}\n- {target}\n)"

    def worst(self) -> str:
        """Return the order of cells by that margin at the end; by their lower limit, where none has a target."""
        return f"(\n{self.margin(at_end=True)}\nor on () {self.cell(m.RECALL_LOWER, at_end=True)}\n)"


def share(part: str, whole: str, on: str = "") -> str:
    """Return the quotient of two expressions, nothing where the second is 0; `on` says how they're matched."""
    return f"({part})\n/ {on}(({whole}) > 0)"


def none_of(counted: str, whole: str) -> str:
    """Return a count that is 0 where nothing is counted out of a whole that is there, and nothing where that isn't."""
    return f"{counted}\nor 0 * {whole}"


def _of_job(selector: str) -> str:
    return f"{selector[:-1]},{_JOB}}}" if selector.endswith("}") else f"{selector}{{{_JOB}}}"
