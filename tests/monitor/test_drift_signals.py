"""The signals that are watched for drift: what a checkpoint of the census adds, day by day and across a restart."""

from __future__ import annotations

from math import nan
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.drift_signals import CensusCounts, Drift, Share, Signal, census_counts
from monitor.errors import StateError
from monitor.records import STRATA, Stratum
from monitor.tally import CensusKey, CountKey, FlaggedKey, Tally


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


def test_signals_are_shares_over_all_versions() -> None:
    """Flagged is what the detector flagged, by itself or with the net; a version's rows add to the same signal."""
    tally = Tally({CountKey("records", "decision"): (99,)})
    count(tally, "both", "PERSON", n=4)
    count(tally, "detector_only", "PERSON", version="3", n=3)
    count(tally, "loose_only", n=2)
    count(tally, "unflagged", n=1)
    count(tally, "unflagged", language="en", n=10)

    counts = census_counts(tally)

    expected = {
        Signal("flagged", "es"): Share(10, 7),
        Signal("loose_only", "es"): Share(10, 2),
        Signal("detector_only", "es"): Share(10, 3),
        Signal("entity", "es", "PERSON"): Share(10, 7),
        Signal("language", "es"): Share(20, 10),
        Signal("flagged", "en"): Share(10, 0),
        Signal("entity", "en", "PERSON"): Share(10, 0),
        Signal("flagged", "fr"): Share(0, 0),
    }
    assert expected == {signal: counts.share(signal) for signal in expected}


@settings(max_examples=30)
@given(
    documents=st.lists(
        st.tuples(st.sampled_from(STRATA), st.booleans(), st.sampled_from("ab"), st.sampled_from("12")), max_size=30
    ),
    cut=st.integers(0, 30),
)
def test_what_came_since_is_the_census_of_the_later_documents(
    documents: list[tuple[Stratum, bool, str, str]], cut: int
) -> None:
    """The difference of two checkpoints is what the documents between them count by themselves."""
    before, after, between = Tally(), Tally(), Tally()
    for i, (stratum, has_person, language, version) in enumerate(documents):
        for tally in [after, *([before] if i < cut else [between])]:
            count(tally, stratum, *["PERSON"] * has_person, language=language, version=version)

    since = census_counts(after).since(census_counts(before))

    assert since is not None
    expected = census_counts(between)
    signals = {*since.having, *(Signal("language", language) for language in "ab")}
    assert {s: expected.share(s) for s in signals} == {s: since.share(s) for s in signals}


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


def test_counts_that_do_not_fit_together_are_not_taken() -> None:
    """More documents with an entity than documents: part of the census is missing, and a share over 1 isn't one."""
    assert CensusCounts({"es": 3}, {Signal("entity", "es", "PERSON"): 4}).since(CensusCounts({}, {})) is None


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
        day, at_s = checkpoint // 10, float(checkpoint)
        assert through.take(day, tally, at_s=at_s) == restarted.take(day, tally, at_s=at_s)

    assert through.encode() == restarted.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        msgspec.msgpack.encode((2, [], [], [])),
        msgspec.msgpack.encode((1, [], [])),
        msgspec.msgpack.encode((1, [], [("es", -1)], [])),
        msgspec.msgpack.encode((1, [], [], [(("flagged", "es", ""), ([[2]], 0.0, 0, None))])),
        msgspec.msgpack.encode((1, [], [], [(("unheard", "es", ""), ([[]], 0.0, 0, None))])),
    ],
)
def test_bytes_that_are_no_state_are_refused(data: bytes) -> None:
    """A row of another version or a damaged one: an error that says what happens, never a wrong state."""
    with pytest.raises(StateError, match="begins anew"):
        Drift.decode(data)
