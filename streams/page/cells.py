"""What one row of the page speaks of: a cell with its current and its previous version, and the state that sorts it.

`act`: recall is below its target, or below what the version before had, with both intervals saying so. `unproven`: the
interval holds the target. `unknown`: nothing can be told. `plain`: an interval and no target. `ok`: above the target.
Labels of misses come later than labels of hits, so an incomplete reading reads high: it can prove a fall, never a
success.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from monitor.exposition import clean
from monitor.readings import ANY, BoardSnapshot, Reading

State: TypeAlias = Literal["act", "unproven", "unknown", "plain", "ok"]
ORDER: tuple[State, ...] = ("act", "unproven", "unknown", "plain", "ok")
"""What needs somebody first."""

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
    if cell.reading.status == "expired" or previous is None or previous.status != "ok":
        return False
    if finds_nothing(cell.reading):
        upper = 0.0
    return upper is not None and previous.matched.lower is not None and upper < previous.matched.lower


NOT_ONE_OF = 5
"""True occurrences without a single find that call somebody, where no interval can be given."""


def finds_nothing(reading: Reading) -> bool:
    """Say whether several occurrences were labelled and none found, all where no tool looked: no interval says it."""
    return reading.matched.lower is None and reading.matched.found == 0 and reading.matched.true >= NOT_ONE_OF


def state(reading: Reading) -> State:
    """Return what a reading alone says; the certified lower limit stands in where there's no interval."""
    lower, upper, target = reading.matched.lower, reading.matched.upper, reading.target
    if target is not None and finds_nothing(reading) and reading.status != "expired":
        return "act"
    if lower is None and reading.certified is not None:
        lower, upper = reading.certified.lower, 1.0
    if reading.status == "expired" or lower is None or upper is None:
        return "unknown"
    if target is not None and upper < target:
        return "act"
    if reading.status == "incomplete":
        return "unknown"
    if target is None:
        return "plain"
    return "ok" if lower >= target else "unproven"


def _need(cell: Cell) -> tuple[bool, int, bool, float, str, str, str]:
    """Sort the roll-up of everything first, then by state; the largest fall or shortfall first, then by name."""
    r, before = cell.reading, cell.previous
    estimate = r.matched.estimate if r.matched.estimate is not None else 0.0
    wanted = before.matched.estimate if cell.fell and before is not None else r.target
    short = estimate - wanted if wanted is not None else 0.0
    rank = len(ORDER) if cell.idle else ORDER.index(cell.state)
    return not cell.whole, rank, cell.rolled_up, short, r.entity, r.language, r.detector
