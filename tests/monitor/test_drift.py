"""The drift detector of one signal: what it finds, what it refuses, and that a restart changes nothing."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nan
from random import Random

import msgspec
import pytest
from drift_oracles import changes
from hypothesis import given, settings
from hypothesis import strategies as st
from river.drift import ADWIN

from monitor.drift import (
    MOST_VALUES,
    AdaptiveWindow,
    DetectorState,
    Shift,
    SignalDetector,
    interleave,
)
from monitor.errors import StateError


def stream(seed: int, length: int, most_changes: int = 4) -> list[int]:
    """Return 0/1 values whose share changes a few times."""
    random = Random(seed)  # noqa: S311  # seeded, not secret
    share, values = random.random() ** 2, []
    for _ in range(length):
        if random.random() < most_changes / length:
            share = random.random() ** 2
        values.append(int(random.random() < share))
    return values


def found(values: list[int], delta: float) -> list[int]:
    """Return the places at which the window finds a change."""
    window = AdaptiveWindow()
    return [place for place, value in enumerate(values) if window.take(value, delta)]


@pytest.mark.parametrize("delta", [0.3, 0.002, 1e-5])
def test_changes_are_found_where_river_finds_them(delta: float) -> None:
    """Value by value the same as river's ADWIN, on streams with changes."""
    seen = 0
    for seed in range(12):
        values = stream(seed, 1_500)
        adwin, expected = ADWIN(delta=delta), []
        for place, value in enumerate(values):
            adwin.update(value)
            if adwin.drift_detected:
                expected.append(place)
        assert expected == found(values, delta)
        seen += len(expected)
    assert seen >= 10


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), delta=st.sampled_from([0.5, 0.05, 0.001]))
def test_changes_are_those_of_the_formula(seed: int, delta: float) -> None:
    """The same places as where every value and bucket is kept and each cut's means are worked out anew."""
    values = stream(seed, 400)

    assert changes(values, delta) == found(values, delta)


@settings(max_examples=50)
@given(size=st.integers(0, 600), share=st.floats(0, 1))
def test_interleaved_ones_are_spread_evenly(size: int, share: float) -> None:
    """As many values and ones as asked for; runs of one length differ by one at most, whatever the length."""
    ones = round(size * share)
    values = list(interleave(size, ones))

    assert (size, ones) == (len(values), sum(values))
    assert set(values) <= {0, 1}
    for length in {1, 2, 7, max(size // 3, 1)}:
        runs = [sum(values[i : i + length]) for i in range(size - length + 1)]
        assert not runs or max(runs) - min(runs) <= 1


def test_order_of_interleaved_values_is_fixed() -> None:
    """The same counts give the same values, or a replayed checkpoint could differ."""
    assert list(interleave(5, 3)) == [0, 1, 0, 1, 1]
    assert list(interleave(2, 2)) == [1, 1]
    assert list(interleave(2, 0)) == [0, 0]
    assert list(interleave(0, 0)) == []


def test_lost_share_is_found_soon_and_latched_with_time_and_direction() -> None:
    """A share of .4 that goes to 0 is seen within 128 documents, and said until another change is found."""
    detector = SignalDetector()
    for minute in range(100):
        detector.take(5, 2, at_s=60.0 * minute, delta=1e-4)
    assert detector.last is None

    at = [60.0 * m for m in range(100, 200) if detector.take(5, 0, at_s=60.0 * m, delta=1e-4)]

    assert detector.last is not None
    assert [detector.last.at_s] == at
    assert at[0] - 6_000.0 <= 128 / 5 * 60
    assert detector.last.direction == "down"
    assert detector.last.before > 0.35
    assert detector.last.after < 0.1
    assert detector.shifts == 1


def steady(*shares: float) -> list[int]:
    """Return 1,000 values of each share, as even as can be (the recipe of the cases DRI-*)."""
    values, owed = [], 0.0
    for share in (share for share in shares for _ in range(1_000)):
        owed += share
        values.append(int(owed >= 1 - 1e-9))
        owed -= values[-1]
    return values


def test_undefined_value_is_refused_and_silences_nothing() -> None:
    """DRI-1: with a NaN and a None on the way the change is found at the same value as without, and both are told."""
    detector, refused, places = SignalDetector(), 0, []
    values: list[float | None] = [*steady(0.95, 0.5)]
    values[10:10] = [nan, None]
    place = 0
    for value in values:
        try:
            if detector.take(1, value, at_s=float(place), delta=0.002):  # type: ignore[arg-type]  # what is tested
                places.append(place)
            place += 1
        except (ValueError, TypeError):
            refused += 1

    assert (places, refused) == ([1_055], 2)
    assert detector.last is not None
    assert (detector.last.at_s, detector.last.direction) == (1_055.0, "down")


@pytest.mark.parametrize(("shares", "direction"), [((0.5, 0.95), "up"), ((0.95, 0.5), "down")])
def test_improvement_is_told_from_loss(shares: tuple[float, float], direction: str) -> None:
    """DRI-3: the same place either way, the direction says which; the shares on both sides stand beside it."""
    detector = SignalDetector()
    places = [place for place, value in enumerate(steady(*shares)) if detector.take(1, value, at_s=0.0, delta=0.002)]

    assert places == [1_055]
    assert detector.last is not None
    assert detector.last.direction == direction
    assert pytest.approx(shares, abs=0.06) == (detector.last.before, detector.last.after)


def test_rise_is_told_from_a_fall() -> None:
    """Improvement is a drift too: the mean after against the mean before says which."""
    detector = SignalDetector()
    for having, times in ((50, 20), (95, 20), (50, 20)):
        directions = {s.direction for _ in range(times) if (s := detector.take(100, having, at_s=1.0, delta=0.001))}
        assert directions == ({"up"} if having == 95 else {"down"} if detector.shifts > 1 else set())


@pytest.mark.parametrize("share", [0.004, 0.3, 0.97])
def test_unchanged_share_raises_no_signal(share: float) -> None:
    """3,000 documents one by one, and as many in checkpoints of random size, at the delta of sixty signals."""
    random = Random(7)  # noqa: S311  # seeded, not secret
    single, together = SignalDetector(), SignalDetector()
    for _ in range(3_000):
        single.take(1, int(random.random() < share), at_s=0.0, delta=0.002 / 60)
    for _ in range(60):
        documents = random.randint(0, 100)
        having = sum(random.random() < share for _ in range(documents))
        together.take(documents, having, at_s=0.0, delta=0.002 / 60)

    assert (single.shifts, together.shifts) == (0, 0)


def test_many_documents_are_scaled_down_without_losing_a_rare_share() -> None:
    """Three in 10,000 round to 0 of 500; what rounding leaves over comes with a later checkpoint."""
    detector = SignalDetector()
    for _ in range(40):
        detector.take(10_000, 3, at_s=0.0, delta=1e-6)

    assert detector.width == 40 * MOST_VALUES
    assert pytest.approx(3 / 10_000, rel=0.1) == detector.share


@settings(max_examples=20)
@given(counts=st.lists(st.tuples(st.integers(501, 10**7), st.floats(0, 1)), min_size=1, max_size=6))
def test_scaled_share_stays_within_half_a_value(counts: list[tuple[int, float]]) -> None:
    """Over any checkpoints the ones taken are what 500 values a checkpoint should hold, but for half a one."""
    detector = SignalDetector()
    wanted = 0.0
    for documents, share in counts:
        having = int(documents * share)
        detector.take(documents, having, at_s=0.0, delta=1e-300)
        wanted += MOST_VALUES * having / documents
        assert detector.share is not None
        assert abs(detector.share * detector.width - wanted) <= 0.5 + 1e-6


def test_no_documents_are_no_news() -> None:
    """An empty checkpoint leaves the state as it is, and a detector without a value has no share."""
    detector = SignalDetector()

    assert detector.take(0, 0, at_s=0.0, delta=0.1) is None
    assert (SignalDetector().snapshot(), None) == (detector.snapshot(), detector.share)


@pytest.mark.parametrize(
    ("documents", "having"),
    [(nan, 0), (5, nan), (-1, 0), (5, -1), (5, 6), (0, 1), (inf, 1), (2.5, 1), (5, 0.5), (nan, nan)],
)
def test_counts_that_cannot_be_are_refused_and_leave_the_state(documents: int, having: int) -> None:
    """One NaN would silence the window for good; the error says what is allowed, and the next change is still found."""
    detector = SignalDetector()
    detector.take(320, 160, at_s=0.0, delta=0.001)
    before = detector.snapshot()

    with pytest.raises(ValueError, match="0 <= having <= documents"):
        detector.take(documents, having, at_s=0.0, delta=0.001)

    assert before == detector.snapshot()
    assert detector.take(64, 0, at_s=1.0, delta=0.001)


@pytest.mark.parametrize(("at_s", "delta"), [(nan, 0.1), (inf, 0.1), (0.0, 0.0), (0.0, 1.0), (0.0, nan), (0.0, -1.0)])
def test_time_and_delta_that_cannot_be_are_refused(at_s: float, delta: float) -> None:
    """A change without a time couldn't be latched, a delta out of range finds everything or nothing."""
    detector = SignalDetector()

    with pytest.raises(ValueError, match="allowed"):
        detector.take(10, 5, at_s=at_s, delta=delta)

    assert SignalDetector().snapshot() == detector.snapshot()


def test_nothing_in_place_of_a_count_is_refused() -> None:
    """None isn't 0."""
    with pytest.raises(TypeError):
        SignalDetector().take(5, None, at_s=0.0, delta=0.1)  # type: ignore[arg-type]  # what is tested


@settings(max_examples=15)
@given(
    counts=st.lists(st.tuples(st.integers(0, 900), st.sampled_from([0.0, 0.002, 0.3, 0.9, 1.0])), max_size=12),
    restart=st.integers(0, 12),
)
def test_restored_detector_goes_on_as_the_other_would_have(counts: list[tuple[int, float]], restart: int) -> None:
    """Through msgpack and back at any checkpoint: the same changes, and in the end the same state exactly."""
    through, restarted = SignalDetector(), SignalDetector()
    for i, (documents, share) in enumerate(counts):
        if i == restart:
            packed = msgspec.msgpack.encode(restarted.snapshot())
            restarted = SignalDetector.restore(msgspec.msgpack.decode(packed, type=DetectorState))
        having = int(documents * share)
        expected = through.take(documents, having, at_s=float(i), delta=0.01)
        assert expected == restarted.take(documents, having, at_s=float(i), delta=0.01)

    assert through.snapshot() == restarted.snapshot()


@pytest.mark.parametrize(
    "state",
    [
        DetectorState(rows=()),
        DetectorState(rows=((0,) * 6,)),
        DetectorState(rows=((2,),)),
        DetectorState(rows=((-1,),)),
        DetectorState(rows=((0, 0, 0), (1,))),
        DetectorState(rows=((0, 0, 0, 0), ())),
        DetectorState(rows=((0,) * 4, (3,))),
        DetectorState(rows=((0,),) * 100),
        DetectorState(carry=nan),
        DetectorState(carry=0.6),
        DetectorState(shifts=-1),
        DetectorState(shifts=0, last=Shift(1.0, "up", 0.1, 0.2)),
        DetectorState(shifts=1, last=Shift(nan, "up", 0.1, 0.2)),
        DetectorState(shifts=1, last=Shift(1.0, "up", 0.1, nan)),
        DetectorState(shifts=1, last=Shift(1.0, "up", 0.1, 1.2)),
    ],
)
def test_state_that_no_detector_leaves_behind_is_refused(state: DetectorState) -> None:
    """A row that was damaged must not become a window that never or always finds something."""
    with pytest.raises(StateError, match="begins anew"):
        SignalDetector.restore(state)


def test_state_grows_with_the_logarithm_of_the_documents() -> None:
    """Ten thousand values are fewer than seventy numbers, and each row's buckets hold twice the last one's."""
    detector = SignalDetector()
    for _ in range(20):
        detector.take(500, 100, at_s=0.0, delta=1e-4)
    rows = detector.snapshot().rows

    assert sum(map(len, rows)) < 70
    assert sum(len(row) << i for i, row in enumerate(rows)) == detector.width == 10_000
    assert all(len(newer) <= 5 >= len(older) for newer, older in pairwise(rows))
