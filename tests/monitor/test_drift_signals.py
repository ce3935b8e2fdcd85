"""The signals that are watched for drift: what a checkpoint of the census adds, day by day and across a restart."""

from __future__ import annotations

from math import nan
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.drift_counts import Signal
from monitor.drift_signals import USUAL_FROM, Drift
from monitor.errors import StateError
from monitor.output_keys import OutputKey, OutputRow
from monitor.records import Stratum
from monitor.tally import CensusKey, FlaggedKey, Shape, ShapeKey, Tally


def count(tally: Tally, stratum: Stratum, *entities: str, language: str = "es", version: str = "2", n: int = 1) -> None:
    """Count documents as ROUTE does."""
    tally.add(CensusKey(language, "crf", version, stratum), (n,))
    for entity in entities:
        tally.add(FlaggedKey(language, "crf", version, entity), (n, 2 * n))


def filled(drift: Drift, checkpoints: int = 12) -> Tally:
    """Feed a day on which nothing changes, 30 documents a checkpoint, and return its census so far."""
    tally = Tally()
    for minute in range(checkpoints):
        count(tally, "both", "PERSON", "EMAIL_ADDRESS", n=20)
        count(tally, "loose_only", n=5)
        count(tally, "detector_only", "PERSON", n=5)
        assert drift.take(1, tally, at_s=60.0 * minute) == []
    return tally


def test_lost_entity_is_seen_with_time_and_direction_and_others_are_not() -> None:
    """A version that flags no more e-mail addresses moves that one signal, whatever the version is called."""
    drift = Drift()
    tally = filled(drift)
    seen = []
    for minute in range(12, 18):
        count(tally, "both", "PERSON", version="3", n=20)
        count(tally, "loose_only", version="3", n=5)
        count(tally, "detector_only", "PERSON", version="3", n=5)
        seen += drift.take(1, tally, at_s=60.0 * minute)

    (signal, shift), *more = seen
    assert more == []
    assert (signal, shift.direction) == (Signal("entity", "es", "EMAIL_ADDRESS"), "down")
    assert 720.0 <= shift.at_s <= 840.0
    assert shift == drift.detectors[signal].last


def test_delta_is_shared_by_all_signals() -> None:
    """A change that one signal alone would show is not enough among very many."""

    def seen(entities: int) -> int:
        drift, tally = Drift(delta=0.3), Tally()
        names = [f"KIND_{i}" for i in range(entities)]
        for minute in range(20):
            count(tally, "detector_only" if minute < 10 else "unflagged", *names, n=3)
            count(tally, "detector_only", *names, n=7)
            drift.take(1, tally, at_s=float(minute))
        return drift.detectors[Signal("flagged", "es")].shifts

    assert (seen(0), seen(1_000)) == (1, 0)


def test_new_day_begins_its_own_count() -> None:
    """Yesterday's census still grows while today's begins, lower or higher than yesterday's: each by its own."""
    drift, yesterday, today = Drift(), Tally(), Tally()
    count(yesterday, "both", n=30)
    drift.take(1, yesterday, at_s=0.0)
    count(today, "both", n=40)
    drift.take(2, today, at_s=1.0)
    count(yesterday, "both", n=5)
    drift.take(1, yesterday, at_s=2.0)
    count(today, "loose_only", n=6)
    drift.take(2, today, at_s=3.0)

    detector = drift.detectors[Signal("flagged", "es")]
    assert (detector.width, drift.behind) == (30 + 40 + 5 + 6, 0)
    assert detector.share == 75 / 81


def test_day_that_is_long_over_is_left_out() -> None:
    """What was counted of it isn't known any more, so it could only be added a second time."""
    drift, tally = Drift(), Tally()
    count(tally, "both", n=30)
    for day in (1, 2, 3, 4):
        drift.take(day, tally, at_s=0.0)
    before = drift.encode()
    count(tally, "both", n=30)

    assert drift.take(1, tally, at_s=1.0) == []
    assert before == drift.encode()


def test_board_that_has_not_caught_up_adds_nothing_twice() -> None:
    """After a restart partitions come back one by one: what is behind the count waits until it's past it."""
    drift, first, second = Drift(), Tally(), Tally()
    count(first, "both", "PERSON", n=30)
    count(second, "loose_only", n=20)
    whole = Tally()
    whole.merge(first)
    whole.merge(second)
    drift.take(1, whole, at_s=0.0)

    again = Drift.decode(drift.encode())
    again.take(1, second, at_s=1.0)
    assert again.behind == 1
    again.take(1, whole, at_s=2.0)
    count(whole, "both", n=4)
    again.take(1, whole, at_s=3.0)

    assert (again.behind, again.detectors[Signal("flagged", "es")].width) == (0, 54)


def test_entity_that_is_new_is_preceded_by_the_documents_without_it() -> None:
    """A version that begins to flag something is a change too, though nobody watched for it."""
    drift = Drift()
    tally = filled(drift)
    seen = []
    for minute in range(12, 20):
        count(tally, "both", "PERSON", "EMAIL_ADDRESS", n=20)
        count(tally, "loose_only", n=5)
        count(tally, "detector_only", "PERSON", "TAX_ID", n=5)
        seen += [(signal.entity, shift.direction) for signal, shift in drift.take(1, tally, at_s=60.0 * minute)]

    assert seen == [("TAX_ID", "up")]


def test_entity_that_is_absent_counts_as_absent_on_a_new_day() -> None:
    """A day whose census doesn't name the entity at all is so many documents without it."""
    drift = Drift()
    filled(drift)
    today = Tally()
    count(today, "both", "PERSON", n=100)
    seen = {(signal.entity or signal.name, shift.direction) for signal, shift in drift.take(2, today, at_s=9e3)}

    assert ("EMAIL_ADDRESS", "down") in seen


def test_signals_beyond_the_most_are_left_out_and_counted() -> None:
    """Names come from outside; four signals a language come first, then entities."""
    drift, tally = Drift(most_signals=6), Tally()
    count(tally, "both", *(f"KIND_{i}" for i in range(10)), n=9)
    drift.take(1, tally, at_s=0.0)

    assert (len(drift.detectors), drift.left_out) == (6, 8)


def test_no_documents_are_no_news() -> None:
    """A checkpoint without a new document, and one without any, leave the state as it is."""
    drift = Drift()
    assert drift.take(1, Tally(), at_s=0.0) == []
    assert drift.detectors == {}
    tally = filled(drift)
    before = drift.encode()

    assert drift.take(1, tally, at_s=1e6) == []
    assert before == drift.encode()


def test_time_that_is_none_is_refused_and_leaves_the_state() -> None:
    """The census of that checkpoint comes with the next one."""
    drift = Drift()
    tally = filled(drift)
    before = drift.encode()
    count(tally, "both", n=9)

    with pytest.raises(ValueError, match="finite"):
        drift.take(1, tally, at_s=nan)

    assert before == drift.encode()


def test_census_that_was_counted_anew_is_gone_on_from() -> None:
    """What it holds was counted before; what comes on top is new."""
    drift, tally = Drift(), Tally()
    count(tally, "both", n=30)
    drift.take(1, tally, at_s=0.0)
    fewer = Tally()
    count(fewer, "loose_only", n=10)
    drift.take(1, fewer, at_s=1.0)
    drift.rebase(1, fewer)
    count(fewer, "loose_only", n=10)
    drift.take(1, fewer, at_s=2.0)

    detector = drift.detectors[Signal("flagged", "es")]
    assert (drift.behind, detector.width, detector.share) == (0, 40, 30 / 40)


def shape(tally: Tally, steps: dict[int, int], name: Shape = "length", version: str = "2") -> None:
    """Count documents with their steps as ROUTE does."""
    for step, n in steps.items():
        tally.add(ShapeKey("es", "crf", version, name, step), (n,))
    count(tally, "both", n=sum(steps.values()), version=version)


@pytest.mark.parametrize(
    ("name", "signal", "later"),
    [("length", "longer", {9: 50}), ("spans", "many_spans", {9: 50}), ("score", "low_score", {2: 50})],
)
def test_usual_is_the_median_of_the_first_documents(name: Shape, signal: str, later: dict[int, int]) -> None:
    """It's fixed from 200 documents on: those beyond it are a share, and a change of the share is found."""
    drift, tally, found = Drift(), Tally(), []
    for checkpoint in range(16):
        shape(tally, {3: 20, 5: 20, 8: 10} if checkpoint < 12 else later, name)
        found += drift.take(1, tally, at_s=float(checkpoint))
        if checkpoint == USUAL_FROM // 50 - 1:
            assert not [s for s in drift.detectors if s.name == signal]
        if checkpoint == 11:
            (detector,) = [d for s, d in drift.detectors.items() if s.name == signal]
            assert (detector.width, detector.share) == (400, 0.4 if name == "score" else 0.2)

    assert [(s.name, shift.direction, shift.at_s) for s, shift in found] == [(signal, "up", 12.0)]


def test_documents_without_a_score_are_no_documents_of_its_share() -> None:
    """A detector that gives none moves nothing."""
    drift, tally = Drift(), Tally()
    for checkpoint in range(20):
        if checkpoint < 10:
            shape(tally, {3: 20, 5: 30}, "score")
        else:
            count(tally, "both", n=50, version="3")
        assert drift.take(1, tally, at_s=float(checkpoint)) == []

    assert drift.detectors[Signal("low_score", "es")].width == 300


def leaks(tally: Tally, outputs: int, leaking: int, version: str = "2") -> None:
    """Count documents, and as many with an output as are said, as ROUTE does."""
    count(tally, "both", n=60, version=version)
    tally.add(OutputKey("es", "crf", version, "both"), OutputRow(outputs=outputs, leaking=leaking))


def test_redactor_that_begins_to_leak_is_seen() -> None:
    """With time and direction, and no other signal moves; its share is of the documents with an output."""
    drift, tally, seen = Drift(), Tally(), []
    for minute in range(16):
        leaks(tally, 40, 2 if minute < 10 else 16, version="2" if minute < 10 else "3")
        seen += drift.take(1, tally, at_s=60.0 * minute)
        if minute == 9:
            assert drift.detectors[Signal("leaking", "es")].share == 2 / 40

    assert [(signal, shift.direction) for signal, shift in seen] == [(Signal("leaking", "es"), "up")]
    assert 600.0 <= seen[0][1].at_s <= 720.0


def test_outputs_that_come_later_begin_a_signal_of_their_own() -> None:
    """Documents that carried none weren't without a leak: that most outputs leak from the first one on is no change."""
    drift, tally = Drift(), Tally()
    for minute in range(20):
        leaks(tally, *((0, 0) if minute < 10 else (40, 30)))
        assert drift.take(1, tally, at_s=60.0 * minute) == []
        assert (Signal("leaking", "es") in drift.detectors) == (minute >= 10)

    detector = drift.detectors[Signal("leaking", "es")]
    assert (detector.width, detector.share) == (400, 0.75)


def test_state_of_before_outputs_were_counted_is_read_on() -> None:
    """An older version wrote no outputs of a day: those that come are new, and nothing else is counted twice."""
    drift = Drift()
    tally = filled(drift)
    parts = list(msgspec.msgpack.decode(drift.encode()))
    parts[2] = [day[:4] for day in parts[2]]
    read = Drift.decode(msgspec.msgpack.encode(parts))
    leaks(tally, 40, 2)
    drift.take(1, tally, at_s=9e3)
    read.take(1, tally, at_s=9e3)

    assert drift.encode() == read.encode()
    assert read.detectors[Signal("leaking", "es")].width == 40


def test_values_of_a_checkpoint_are_fewer_where_there_are_more_signals() -> None:
    """What a checkpoint costs has a bound as long as there are no more than 400 signals."""
    drift, tally = Drift(), Tally()
    count(tally, "both", *(f"KIND_{i}" for i in range(196)), n=10_000)
    drift.take(1, tally, at_s=0.0)

    assert (len(drift.detectors), drift.values) == (200, 20_000)
    assert {detector.width for detector in drift.detectors.values()} == {100}


@pytest.mark.parametrize(("delta", "most"), [(0.0, 10), (1.0, 10), (nan, 10), (0.01, 0)])
def test_promise_and_limit_out_of_range_are_refused(delta: float, most: int) -> None:
    """Both errors say what is allowed."""
    with pytest.raises(ValueError, match="allowed"):
        Drift(delta, most)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), restart=st.integers(0, 20))
def test_restored_state_goes_on_as_the_other_would_have(seed: int, restart: int) -> None:
    """At any checkpoint, over two days and a change: the same signals, and in the end the same bytes."""
    random = Random(seed)  # noqa: S311  # seeded, not secret
    through, restarted = Drift(delta=0.1), Drift(delta=0.1)
    for checkpoint in range(20):
        if checkpoint == restart:
            restarted = Drift.decode(restarted.encode(), delta=0.1)
        if checkpoint % 10 == 0:
            tally = Tally()
        for _ in range(8):
            flagged = random.random() < (0.9 if checkpoint < 12 else 0.1)
            count(tally, "both" if flagged else "unflagged", *["PERSON"] * flagged, language=random.choice("ab"))
        shape(tally, {random.randint(0, 4): 30})
        leaks(tally, random.randint(0, 60), 0)
        day, at_s = checkpoint // 10, float(checkpoint)
        assert through.take(day, tally, at_s=at_s) == restarted.take(day, tally, at_s=at_s)

    assert through.encode() == restarted.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        msgspec.msgpack.encode([]),
        msgspec.msgpack.encode(("1", [], [], [], [], [], [])),
        msgspec.msgpack.encode((1, [], [])),
        msgspec.msgpack.encode((1, [], [], [("es", -1)], [], [], [])),
        msgspec.msgpack.encode((1, [], [], [], [], [(("weight", "es"), 1)], [])),
        msgspec.msgpack.encode((1, [], [(1, [], [(0, 3)], [])], [], [], [], [])),
        msgspec.msgpack.encode((1, [("flagged", "es", "")], [], [], [], [], [(0, ([[2]], 0.0, 0, None))])),
        msgspec.msgpack.encode((1, [("flagged", "es", "")], [], [], [], [], [(1, ([[]], 0.0, 0, None))])),
        msgspec.msgpack.encode((1, [("unheard", "es", "")], [], [], [], [], [(0, ([[]], 0.0, 0, None))])),
    ],
)
def test_bytes_that_are_no_state_are_refused(data: bytes) -> None:
    """A damaged row: an error that says what happens, never a wrong state."""
    with pytest.raises(StateError, match="begins anew"):
        Drift.decode(data)


def test_state_of_another_version_is_refused() -> None:
    """It's told from a damaged one, whatever else it holds."""
    with pytest.raises(StateError, match="format 2; this version reads 1: it begins anew"):
        Drift.decode(msgspec.msgpack.encode((2, "anything")))
