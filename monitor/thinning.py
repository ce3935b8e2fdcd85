"""THINNING: which share of the sample is drawn while the review queue is over its bounds, and when all of it is again.

Sampling is thinned by a factor q, π ← π·q, that is recorded and travels with each drawn document: estimates stay
unbiased whatever q does, so q may depend on the queue. It depends on counts alone: no document is left out because
it's old, long or hard.

The law has no memory but the q in force. q is on a grid, 2^(-k/2), for each q makes rows of its own in the tallies.
Either bound asks for a step k, and the larger one counts:

* *capacity*: d tasks a day would be sent at q = 1; the smallest k with d·q within the capacity. d comes from the census
  and the rates in force, so it doesn't depend on q: a law that looked at what was sent in the last day would still see
  the flood long after it had thinned it, and thin it again.
* *backlog*: ⌈8 log₂(open/bound)⌉, a step for each 9 % above the bound. It's proportional and doesn't add up over time:
  labels come days after their tasks, so a law that went on for as long as the queue is long would stop all sampling
  and let it flood again, in turns. Here q = (bound/open)⁴, and what is drawn meets what is answered at
  open = bound·(drawn/answered)^¼: 1.2 bounds where twice as much would be drawn as is answered, 1.8 at ten times.

q is lowered to what is needed, and raised to what would still be enough if either load grew by a tenth: between the two
it stays, so noise doesn't turn it up and down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from math import ceil, exp2, log2
from typing import NamedTuple, cast

from monitor.config import Labels
from monitor.history import ThinningRecord
from monitor.plan import Plan
from monitor.readings import ANY, BoardSnapshot, Queue
from monitor.records import Stratum

STEPS = 20
"""Steps of the grid below 1: q is never below 1/1024."""
ROOM = 1.1
"""What either load may grow by before q would have to be lowered again; without so much room it isn't raised."""
PAUSE_S = 180.0
"""The least between two changes, in seconds; each is a plan, and a history record a partition."""
DAY_S = 86_400
_SLOT_S = 900
_STEPS_A_DOUBLING = 8
_EPOCH = date(1970, 1, 1)

_Place = tuple[str, Stratum]
"""Language and stratum."""


class Load(NamedTuple):
    """What the law looks at."""

    demand: float
    """Tasks a day that would be sent at q = 1."""
    open: int
    """Tasks that wait for an answer now."""


def factor(step: int) -> float:
    """Return q of a step of the grid, 0 to `STEPS`.

    >>> factor(0), factor(2), factor(20) == 1 / 1024
    (1.0, 0.5, True)
    """
    return exp2(-step / 2)


def step_of(q: float) -> int:
    """Return the step of the grid next to q in (0, 1].

    >>> step_of(1.0), step_of(0.5), step_of(0.7), step_of(1e-9)
    (0, 2, 1, 20)
    """
    return min(max(round(-2 * log2(q)), 0), STEPS)


def needed_step(load: Load, labels: Labels, times: float = 1.0) -> int:
    """Return the smallest step at which both bounds hold for so many times the load, or the last one; 0 is no bound.

    >>> bounds = Labels(capacity_per_day=100, max_backlog=300)
    >>> [needed_step(load, bounds) for load in (Load(100, 300), Load(101, 0), Load(0, 301), Load(400, 600))]
    [0, 1, 1, 8]
    """
    capacity, most = labels.capacity_per_day, labels.max_backlog
    return min(max(_for_capacity(times * load.demand, capacity), _for_backlog(times * load.open, most)), STEPS)


def _for_capacity(demand: float, capacity: int) -> int:
    return ceil(2 * log2(demand / capacity)) if 0 < capacity < demand else 0


def _for_backlog(waiting: float, most: int) -> int:
    return ceil(_STEPS_A_DOUBLING * log2(waiting / most)) if 0 < most < waiting else 0


def next_step(step: int, load: Load, labels: Labels) -> int:
    """Return the step that follows `step`; the same one as long as it's enough and no larger than room asks for.

    >>> bounds = Labels(capacity_per_day=100)
    >>> next_step(0, Load(150, 0), bounds), next_step(2, Load(98, 0), bounds), next_step(2, Load(90, 0), bounds)
    (2, 1, 0)
    """
    return min(max(step, needed_step(load, labels)), needed_step(load, labels, ROOM))


class Arrivals:
    """Documents that came in the last day, by language and stratum, as far as they were watched.

    They are differences of the census of a window. A day that leaves the window takes documents with it, and that is no
    arrival; the few that came since the look before are missed then.
    """

    def __init__(self) -> None:
        self._last: Mapping[_Place, int] = {}
        self._slots: dict[int, Counter[_Place]] = {}
        self._window: int | None = None
        self._since: float | None = None

    def observe(self, now: float, window_days: int, census: Mapping[_Place, int]) -> None:
        """Take what the census of a window says at a moment (s since the epoch); of another window it's a new start."""
        self._since = now if self._since is None else self._since
        slot = int(now // _SLOT_S)
        if window_days == self._window:
            came = self._slots.setdefault(slot, Counter())
            for place, documents in census.items():
                came[place] += max(documents - self._last.get(place, 0), 0)
        self._window, self._last = window_days, census
        for gone in [held for held in self._slots if held <= slot - DAY_S // _SLOT_S]:
            del self._slots[gone]

    def whole(self, now: float) -> bool:
        """Say whether a day has been watched."""
        return self._since is not None and now - self._since >= DAY_S

    def counts(self) -> Counter[_Place]:
        """Return the documents of the day up to the last look."""
        total: Counter[_Place] = Counter()
        for came in self._slots.values():
            total.update(came)
        return total


class Regulator:
    """Decides on q, on the worker that is the board; a new one begins where the recorded q stands.

    Demand is that of the last day. A board that was opened less than a day ago takes the main window's mean day where
    that is more than it has watched itself.
    """

    def __init__(self) -> None:
        self._arrivals = Arrivals()

    def decide(
        self, snapshot: BoardSnapshot, plan: Plan, held: ThinningRecord | None, now: float
    ) -> ThinningRecord | None:
        """Return the change of q that is to be recorded, None where it stays.

        Parameters
        ----------
        snapshot
            What the board says; it must have caught up with its topic.
        plan
            Rates and bounds in force.
        held
            What was recorded last; None is q = 1.
        now
            Seconds since the epoch. Changes are `PAUSE_S` apart, but that without any bound q is 1 at once.
        """
        census = _census(snapshot)
        self._arrivals.observe(now, plan.config.readings.windows_days[0], census)
        labels = plan.config.labels
        step = 0 if held is None else step_of(held.q)
        bounded = bool(labels.capacity_per_day or labels.max_backlog)
        if bounded and held is not None and abs(now - held.at) < PAUSE_S:
            return None
        load = self._load(snapshot, plan, census, now)
        following = next_step(step, load, labels)
        if following == step:
            return None
        return ThinningRecord(
            q=factor(following),
            at=now,
            reason=_reason(step, following, load, labels),
            demand=round(load.demand, 1),
            open=load.open,
            capacity=labels.capacity_per_day,
            max_backlog=labels.max_backlog,
        )

    def _load(self, snapshot: BoardSnapshot, plan: Plan, census: Mapping[_Place, int], now: float) -> Load:
        windows = plan.config.readings.windows_days
        drawn = _drawn(self._arrivals.counts(), plan)
        if not self._arrivals.whole(now):
            drawn = max(drawn, _drawn(census, plan) / _days_covered(snapshot, windows[0], now))
        return Load(drawn * _tasks_a_draw(snapshot, max(windows)), _all_languages(snapshot).open)


def _census(snapshot: BoardSnapshot) -> Counter[_Place]:
    """Return the documents of the main window."""
    census: Counter[_Place] = Counter()
    for figure in snapshot.strata:
        language, _, _, stratum = figure.labels
        census[language, cast("Stratum", stratum)] += int(figure.value)
    return census


def _all_languages(snapshot: BoardSnapshot) -> Queue:
    return next((queue for queue in snapshot.queues if queue.language == ANY), Queue(ANY, 0, 0, 0, 0, None))


def _drawn(documents: Mapping[_Place, int], plan: Plan) -> float:
    """Return how many of these documents would be drawn at q = 1."""
    drawn = 0.0
    for place, n in documents.items():
        slices = plan.sampler.rates(*place).slices
        drawn += n * (slices.random + slices.loose - slices.random * slices.loose)
    return drawn


def _days_covered(snapshot: BoardSnapshot, days: int, now: float) -> float:
    """Return the days from the first document of the main window on; at least 1."""
    first = next((r.window.first for r in snapshot.readings if r.window.days == days), None)
    return 1.0 if first is None else max(now / DAY_S - (date.fromisoformat(first) - _EPOCH).days, 1.0)


def _tasks_a_draw(snapshot: BoardSnapshot, days: int) -> float:
    """Return the tasks sent for a drawn document: two people read it, or one task serves two versions; 1 at first."""
    everything = (ANY, ANY, None, days)
    of_versions = (r for r in snapshot.readings if (r.entity, r.language, r.stratum, r.window.days) == everything)
    sampled, tasks = sum(reading.sampled for reading in of_versions), _all_languages(snapshot).tasks
    return tasks / sampled if tasks and sampled else 1.0


def _reason(step: int, following: int, load: Load, labels: Labels) -> str:
    if not labels.capacity_per_day and not labels.max_backlog:
        return "no_bound"
    if following < step:
        return "room"
    over_capacity = _for_capacity(load.demand, labels.capacity_per_day) >= _for_backlog(load.open, labels.max_backlog)
    return "over_capacity" if over_capacity else "over_backlog"


def told(record: ThinningRecord) -> str:
    """Return a change in one line, with the numbers it was decided on.

    >>> told(ThinningRecord(0.5, 0.0, "over_capacity", 180.0, 40, 100, 0))
    'over_capacity: 0.5 of the sample is drawn; at all of it 180 tasks a day, capacity 100; 40 open, bound none'
    """
    capacity, most = (str(bound) if bound else "none" for bound in (record.capacity, record.max_backlog))
    share = f"{record.q:.3g} of the sample is drawn; at all of it {record.demand:.0f} tasks a day, capacity {capacity}"
    return f"{record.reason}: {share}; {record.open} open, bound {most}"
