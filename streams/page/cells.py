"""What one row of the page speaks of: a cell with its current and its previous version, and the state that sorts it.

`act`: the cell's alarm is on, or recall is below its target, or below what the version before had, with both intervals
saying so. `unproven`: the interval holds the target. `unknown`: nothing can be told, or what can be is of another day,
or two readers agree too little. `plain`: an interval and no target. `ok`: above the target.
Labels of misses come later than labels of hits, so an incomplete reading reads high: it can prove a fall, never a
success.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from monitor.exposition import clean
from monitor.readings import ANY, CURRENT, BoardSnapshot, Reading, Status

State: TypeAlias = Literal["act", "unproven", "unknown", "plain", "ok"]
ORDER: tuple[State, ...] = ("act", "unproven", "unknown", "plain", "ok")
"""What needs somebody first."""
VOID: frozenset[Status] = frozenset({"expired", "stale", "greyed"})
"""Statuses of a number that is neither a proof of today's fall nor of today's success."""

Version: TypeAlias = tuple[str, str]
"""Detector and version."""


class Cell(NamedTuple):
    """A row: population readings of one cell and detector, newest version first, and the current one's strata."""

    reading: Reading
    earlier: tuple[Reading, ...]
    strata: tuple[Reading, ...]
    others: tuple[Reading, ...]
    """The current version's readings over other windows."""
    state: State
    fell: bool
    """Whether the interval lies wholly below the previous version's."""

    @property
    def alarmed(self) -> bool:
        """Whether the alarm that recall fell is on: it was proved, and it holds for a while."""
        return is_on(self.reading)

    @property
    def current(self) -> bool:
        """Whether its number may be offered as the state of today."""
        return self.reading.status in CURRENT

    @property
    def previous(self) -> Reading | None:
        """The version before, if it has an interval to compare with."""
        return next((r for r in self.earlier if r.matched.lower is not None), None)

    @property
    def idle(self) -> bool:
        """Whether nobody has met the entity and nobody asks a recall of it, so that the row needs nobody."""
        return self.state == "unknown" and self.reading.target is None and self.reading.status == "no_truth"

    @property
    def rolled_up(self) -> bool:
        """Whether the row sums up other rows."""
        return ANY in (self.reading.entity, self.reading.language)

    @property
    def whole(self) -> bool:
        """Whether the row sums up all of them."""
        return self.reading.entity == ANY == self.reading.language


class Selection(NamedTuple):
    """What the reader asked to see, in clean names; empty strings are everything. `version` is `detector version`."""

    entity: str = ""
    language: str = ""
    version: str = ""

    def takes(self, reading: Reading) -> bool:
        """Return whether a row of this reading is asked for."""
        return self.entity in ("", clean(reading.entity)) and self.language in ("", clean(reading.language))


def versions(snapshot: BoardSnapshot) -> list[Version]:
    """Return the detector versions that have readings, by detector, the current one first, then by newest draw."""
    newest: dict[Version, tuple[str, float]] = {}
    for r in snapshot.readings:
        seen = (r.window.last or "", -(r.age_s if r.age_s is not None else float("inf")))
        key = (r.detector, r.version)
        newest[key] = max(seen, newest.get(key, seen))
    current = set(snapshot.current_versions)
    found = sorted(newest, key=lambda v: (v in current, newest[v]), reverse=True)
    return sorted(found, key=lambda v: v[0])


def cells(snapshot: BoardSnapshot, selection: Selection) -> tuple[list[Cell], list[Reading]]:
    """Return the rows, what needs somebody first, and the population readings of cells that only had their day.

    The version shown is the current one of each detector, or the one asked for; versions older than it stay behind it.
    The first window that the board lists is the one on the page.
    """
    order = versions(snapshot)
    asked = [v for v in order if clean(" ".join(v)) == selection.version]
    shown = asked or list({detector: (detector, version) for detector, version in reversed(order)}.values())
    window = next((r.window.days for r in snapshot.readings), None)
    found: list[Cell] = []
    past: list[Reading] = []
    for key, readings in _grouped(r for r in snapshot.readings if selection.takes(r)).items():
        mine = next((v for v in shown if v[0] == key[2]), None)
        if mine is not None:
            older = order[order.index(mine) + 1 :]
            cell = _cell(readings, mine, older, window)
            if cell is not None:
                found.append(cell)
            else:
                past += _population(readings, older, window)[:1]
    return sorted(found, key=_need), past


def _grouped(readings: Iterable[Reading]) -> Mapping[tuple[str, str, str], list[Reading]]:
    groups: dict[tuple[str, str, str], list[Reading]] = {}
    for r in readings:
        groups.setdefault((r.entity, r.language, r.detector), []).append(r)
    return groups


def _population(readings: Iterable[Reading], wanted: list[Version], window: int | None) -> list[Reading]:
    """Return population readings over the page's window, in the order of the versions wanted."""
    by_version = {r.version: r for r in readings if r.stratum is None and r.window.days == window}
    return [by_version[version] for _, version in wanted if version in by_version]


def _cell(readings: list[Reading], mine: Version, older: list[Version], window: int | None) -> Cell | None:
    own = [r for r in readings if r.version == mine[1]]
    reading = next((r for r in own if r.stratum is None and r.window.days == window), None)
    if reading is None:
        return None
    earlier = tuple(_population(readings, [v for v in older if v[0] == mine[0]], window))
    strata = tuple(r for r in own if r.stratum is not None and r.window.days == window)
    others = tuple(r for r in own if r.stratum is None and r.window.days != window)
    cell = Cell(reading, earlier, strata, others, "unknown", fell=False)
    fell = _fell(cell)
    return cell._replace(fell=fell, state="act" if fell else state(reading))


def _fell(cell: Cell) -> bool:
    upper, previous = cell.reading.matched.upper, cell.previous
    lower = None if previous is None else _proven(previous)
    if cell.reading.status in VOID or lower is None:
        return False
    if finds_nothing(cell.reading):
        upper = 0.0
    return upper is not None and upper < lower


def _proven(previous: Reading) -> float | None:
    """Return what recall was at least with the version before, or None where nothing is proved by its labels.

    It gets no more labels once it's replaced, so it may be stale; those that never came are then all taken for missed.
    """
    lower, pending = previous.matched.lower, previous.pending
    if previous.status == "stale" and lower is not None and pending is not None:
        return min(lower, pending.all_missed)
    return lower if previous.status in CURRENT or previous.status == "stale" else None


def is_on(reading: Reading) -> bool:
    """Say whether a reading's alarm is on, crossing now or held from before."""
    return reading.alarm is not None and reading.alarm.state in ("firing", "held")


NOT_ONE_OF = 5
"""True occurrences without a single find that call somebody, where no interval can be given."""


def finds_nothing(reading: Reading) -> bool:
    """Say whether several occurrences were labelled and none found, all where no tool looked: no interval says it."""
    return reading.matched.lower is None and reading.matched.found == 0 and reading.matched.true >= NOT_ONE_OF


def state(reading: Reading) -> State:
    """Return what a reading alone says; an alarm that's on needs no number beside it."""
    if is_on(reading):
        return "act"
    return "unknown" if reading.status in VOID else _judged(reading)


def _judged(reading: Reading) -> State:
    """Return what a number says; the certified lower limit stands in where there's no interval."""
    lower, upper, target = reading.matched.lower, reading.matched.upper, reading.target
    if lower is None and reading.certified is not None:
        lower, upper = reading.certified.lower, 1.0
    if target is not None and (finds_nothing(reading) or (upper is not None and upper < target)):
        return "act"
    if lower is None or reading.status == "incomplete":
        return "unknown"
    if target is None:
        return "plain"
    return "ok" if lower >= target else "unproven"


def _need(cell: Cell) -> tuple[bool, int, bool, bool, float, str, str, str]:
    """Sort the roll-up of everything first, then by state; alarms and the largest fall first, then by name."""
    r, before = cell.reading, cell.previous
    estimate = r.matched.estimate if r.matched.estimate is not None else 0.0
    wanted = before.matched.estimate if cell.fell and before is not None else r.target
    short = estimate - wanted if wanted is not None else 0.0
    rank = len(ORDER) if cell.idle else ORDER.index(cell.state)
    return not cell.whole, rank, not cell.alarmed, cell.rolled_up, short, r.entity, r.language, r.detector
