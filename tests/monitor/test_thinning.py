"""The law of thinning: both bounds hold, q doesn't flap, and what comes and goes in the queue settles."""

from __future__ import annotations

from functools import cache

import boards
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.config import Labels, read_config
from monitor.history import ThinningRecord
from monitor.plan import Plan
from monitor.readings import ANY, BoardSnapshot, Queue, Tally, Window
from monitor.records import Stratum
from monitor.thinning import (
    DAY_S,
    PAUSE_S,
    ROOM,
    STEPS,
    Arrivals,
    Load,
    Regulator,
    factor,
    needed_step,
    next_step,
    step_of,
)

STEP = st.integers(0, STEPS)
LOADS = st.builds(Load, st.floats(0, 1e7), st.integers(0, 1_000_000))
BOUNDS = st.builds(Labels, capacity_per_day=st.integers(0, 10_000), max_backlog=st.integers(0, 10_000))
START = 20_000 * DAY_S
"""Midnight of a day."""


@cache
def plan(thinning: float = 1.0, **labels: int) -> Plan:
    """Return a plan that draws a tenth of the unflagged documents and a half of the others."""
    sampling = {"random_rate": 0.1, "loose_rate": 4 / 9, "key": "k"}
    return Plan(read_config({"sampling": sampling, "labels": labels}), thinning)


def board(
    documents: int, *, open_: int = 0, first: str = "2024-10-04", tasks: int = 0, sampled: int = 0
) -> BoardSnapshot:
    """Return a board that counted unflagged documents in its main window; 2024-10-04 is the day of `START`."""
    cell = msgspec.structs.replace(boards.reading(ANY, ANY), sampled=sampled)
    return msgspec.structs.replace(
        boards.quiet_board(),
        readings=tuple(msgspec.structs.replace(cell, window=Window(days, first, first)) for days in (7, 28)),
        strata=(Tally(("en", "d", "1", "unflagged"), documents),),
        queues=(Queue("en", 0, 0, 7, 0, None), Queue(ANY, tasks, 0, open_, 0, None)),
    )


# -- the law ---------------------------------------------------------------------------------------------------------


def test_the_grid_goes_from_one_to_a_1024th() -> None:
    """Each step is its own, and q never leaves (0, 1]."""
    assert [step_of(factor(step)) for step in range(STEPS + 1)] == list(range(STEPS + 1))
    assert (factor(0), factor(STEPS)) == (1.0, 1 / 1024)


@given(STEP, LOADS, BOUNDS)
def test_the_law_keeps_to_the_grid_and_to_the_capacity(step: int, load: Load, bounds: Labels) -> None:
    """As far as the last step reaches."""
    after = next_step(step, load, bounds)
    assert 0 <= after <= STEPS
    if bounds.capacity_per_day and after < STEPS:
        assert load.demand * factor(after) <= bounds.capacity_per_day * (1 + 1e-9)
    if bounds.max_backlog and load.open > bounds.max_backlog:
        assert after > 0


@given(STEP, LOADS, BOUNDS)
def test_nothing_changes_twice_for_one_load(step: int, load: Load, bounds: Labels) -> None:
    """What the law asks for it leaves as it is."""
    after = next_step(step, load, bounds)
    assert next_step(after, load, bounds) == after


@given(STEP, LOADS, BOUNDS, st.lists(st.floats(0.96, 1.04), min_size=1, max_size=40))
def test_noise_never_turns_it_back(step: int, load: Load, bounds: Labels, noise: list[float]) -> None:
    """Loads that stay within a tenth of each other lower it, or raise it, and never do both."""
    taken = [step]
    for times in noise:
        noisy = Load(load.demand * times, round(load.open * times) if load.open > 100 else load.open)
        taken.append(next_step(taken[-1], noisy, bounds))
    assert taken in (sorted(taken), sorted(taken, reverse=True))


@pytest.mark.parametrize(
    ("load", "bounds", "expected"),
    [
        (Load(1000, 1000), Labels(), 1.0),
        (Load(400, 1000), Labels(capacity_per_day=100), 0.25),
        (Load(1e9, 0), Labels(capacity_per_day=1), 1 / 1024),
        (Load(1e9, 200), Labels(max_backlog=100), 1 / 16),
        (Load(400, 200), Labels(capacity_per_day=100, max_backlog=100), 1 / 16),
        (Load(400, 100), Labels(capacity_per_day=100, max_backlog=100), 0.25),
        (Load(100, 100), Labels(capacity_per_day=100, max_backlog=100), 1.0),
    ],
)
def test_each_bound_counts_by_itself(load: Load, bounds: Labels, expected: float) -> None:
    """The stricter one decides; 0 is no bound; at a bound nothing is thinned."""
    assert factor(next_step(0, load, bounds)) == expected


def test_it_is_raised_only_where_there_is_room() -> None:
    """A load that would call for the lower q as soon as it grew by a tenth leaves it."""
    bounds = Labels(capacity_per_day=100, max_backlog=50)
    assert next_step(2, Load(200, 0), bounds) == 2
    assert next_step(2, Load(141 / ROOM, 0), bounds) == 1
    assert next_step(1, Load(0, 50), bounds) == 1
    assert next_step(1, Load(0, 45), bounds) == 0
    assert needed_step(Load(0, 50), bounds) == 0


# -- the regulator ---------------------------------------------------------------------------------------------------


class Controlled:
    """A queue under the regulator: documents come, people answer, q is decided on every ten minutes."""

    def __init__(self, **labels: int) -> None:
        self.labels = labels
        self.regulator = Regulator()
        self.held: ThinningRecord | None = None
        self.now = float(START)
        self.counted = 0
        self.sent = 0.0
        self.waiting = 0.0
        self.changes: list[ThinningRecord] = []

    @property
    def q(self) -> float:
        """The factor in force."""
        return 1.0 if self.held is None else self.held.q

    def run(self, days: float, drawn_a_day: float, answered_a_day: float) -> float:
        """Let some days pass; return how many tasks were sent in the last one."""
        before = self.sent
        for tick in range(round(days * 144)):
            if tick == round((days - 1) * 144):
                before = self.sent
            self.counted += round(drawn_a_day / 144 * 10)
            came = self.q * drawn_a_day / 144
            self.sent += came
            self.waiting = max(self.waiting + came - answered_a_day / 144, 0.0)
            self.now += 600
            self.decide()
        return self.sent - before

    def decide(self) -> None:
        """Look at the queue."""
        found = self.regulator.decide(
            board(self.counted, open_=round(self.waiting)), plan(self.q, **self.labels), self.held, self.now
        )
        if found is not None:
            self.held = found
            self.changes.append(found)


def test_a_flood_is_thinned_to_the_capacity_and_taken_in_again_when_it_is_over() -> None:
    """Four times the capacity: a quarter is drawn from the second day on; a day after the flood all is drawn."""
    queue = Controlled(capacity_per_day=144)
    assert queue.run(2, 72, 1000) == pytest.approx(72)
    assert queue.changes == []
    thinned = queue.run(3, 4 * 144, 1000)
    assert thinned == pytest.approx(144)
    assert queue.q == 0.25
    assert len(queue.changes) <= 6
    queue.run(2, 72, 1000)
    assert queue.q == 1.0
    assert {change.reason for change in queue.changes} == {"over_capacity", "room"}
    assert len(queue.changes) <= 12


def test_a_backlog_settles_above_its_bound_and_sampling_goes_on() -> None:
    """A law that lowered q for as long as the queue is long would be at its floor after an hour or two."""
    queue = Controlled(max_backlog=100)
    queue.run(10, 4 * 144, 144)
    levels = {change.q for change in queue.changes[-4:]}
    assert 100 < queue.waiting < 160
    assert queue.run(2, 4 * 144, 144) == pytest.approx(144, rel=0.3)
    assert min(levels) > 1 / 8
    queue.run(2, 72, 400)
    assert (queue.q, queue.changes[-1].reason) == (1.0, "room")


def test_changes_keep_their_distance() -> None:
    """However fast the queue grows, q waits for the last change to show."""
    queue = Controlled(max_backlog=10)
    queue.waiting = 12
    queue.decide()
    first = queue.q
    queue.waiting = 100
    queue.now += PAUSE_S - 1
    queue.decide()
    assert queue.q == first < 1
    queue.now += 1
    queue.decide()
    assert queue.q < first


def test_without_bounds_all_is_drawn_again_at_once() -> None:
    """An operator who sets both to 0 waits for nothing."""
    queue = Controlled(max_backlog=10)
    queue.waiting = 100
    queue.decide()
    assert queue.q < 1
    queue.labels = {}
    queue.now += 1
    queue.decide()
    assert (queue.q, queue.changes[-1].reason) == (1.0, "no_bound")


def test_another_worker_goes_on_from_the_recorded_factor() -> None:
    """The same load asks for nothing new."""
    queue = Controlled(capacity_per_day=144)
    queue.run(2, 4 * 144, 1000)
    held, queue.regulator = queue.held, Regulator()
    queue.now += PAUSE_S
    queue.decide()
    assert queue.held is held


def test_a_change_of_a_clock_that_is_ahead_holds_nothing_up() -> None:
    """Only what was decided just now is waited for."""
    ahead = ThinningRecord(0.5, START + DAY_S / 2, "over_backlog", 0.0, 12, 0, 10)
    decided = Regulator().decide(board(0, open_=100), plan(0.5, max_backlog=10), ahead, float(START))
    assert decided is not None


def test_a_board_that_was_opened_just_now_takes_the_mean_day() -> None:
    """It has watched nothing yet; to raise q for that would be to flood the queue at each restart."""
    now = START + 3.5 * DAY_S
    decided = Regulator().decide(board(14_000), plan(capacity_per_day=100), None, now)
    assert decided is not None
    assert (decided.demand, decided.q) == (400.0, 0.25)


def test_demand_does_not_depend_on_the_factor_in_force() -> None:
    """Else what was thinned would look like room."""
    bounds = {"capacity_per_day": 100}
    held = ThinningRecord(0.25, START - 3600.0, "over_capacity", 400.0, 0, 100, 0)
    assert Regulator().decide(board(4000), plan(0.25, **bounds), held, START + 3600.0) is None


def test_what_is_read_twice_counts_twice() -> None:
    """Capacity is of tasks, and a document that two people read is two."""
    now = START + 3600.0
    decided = Regulator().decide(board(2000, tasks=80, sampled=40), plan(capacity_per_day=100), None, now)
    assert decided is not None
    assert decided.demand == 400.0


def test_a_flagged_document_counts_by_its_own_rate() -> None:
    """Demand is what the design would draw."""
    snapshot = msgspec.structs.replace(
        board(0), strata=(Tally(("en", "d", "1", "unflagged"), 1000), Tally(("en", "d", "1", "both"), 1000))
    )
    decided = Regulator().decide(snapshot, plan(capacity_per_day=100), None, START + 3600.0)
    assert decided is not None
    assert decided.demand == 600.0


def test_an_empty_board_changes_nothing() -> None:
    """No data is no load."""
    empty = BoardSnapshot(0.0, (), (), (), (), (), (), (), ())
    assert Regulator().decide(empty, plan(capacity_per_day=1, max_backlog=1), None, 0.0) is None


def test_a_day_that_leaves_the_window_is_no_arrival() -> None:
    """Nor is what a longer window holds; what came is forgotten after a day."""
    arrivals = Arrivals()
    here: tuple[str, Stratum] = ("en", "unflagged")
    for hour, (days, documents) in enumerate([(7, 1000), (7, 1100), (7, 400), (7, 410), (28, 9000), (28, 9005)]):
        arrivals.observe(START + hour * 3600.0, days, {here: documents})
    assert arrivals.counts() == {here: 115}
    arrivals.observe(START + 30 * 3600.0, 28, {here: 9005})
    assert arrivals.counts() == {here: 0}
