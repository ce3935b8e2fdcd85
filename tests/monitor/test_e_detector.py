"""The alarm: its e-values by enumeration, sums that leave no residue, and when it goes on and off."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import exp, isfinite, log

import pytest
from alarm_oracles import Kind, crossings, decimal, drawn, exponential, factor, histories, sums
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.e_detector import (
    FRACTIONS,
    NOTHING,
    UNITS,
    Entry,
    Evidence,
    Floors,
    Period,
    Target,
    advance,
    evidence_of,
    follow,
)

R0 = 0.75
TARGET = Target(R0, 2)
ONE = Floors(1.0, 1.0)
RATES = ((0.5, 0.25, 0.125), (1.0, 0.5, 0.0625), (0.25, 0.25, 0.25))
"""Rates that an operator may set: of two flagged strata and of the unflagged one."""


def _kinds(rates: tuple[float, float, float], missed: Fraction) -> list[Kind]:
    """Return a traffic in which `missed` of all documents are unflagged ones with an occurrence."""
    both, detector, unflagged = rates
    return [
        Kind(Fraction(3, 10), both, 2, 2),
        Kind(Fraction(1, 20), detector, 1, 2),
        Kind(Fraction(1, 40), both, 2, 4),  # scaled to 1 of 2
        Kind(missed, unflagged, 0, 1),
        Kind(1 - Fraction(3, 8) - missed, unflagged, 0, 0),
    ]


# Σ share·(t - r0 y) = .6·1/4 - .05·1/2 - .025·1/2 - missed·3/4 with what counts of y at most 2
AT_TARGET = (Fraction(6, 40) - Fraction(1, 40) - Fraction(1, 80)) / Fraction(3, 4)


def _floors(rates: tuple[float, float, float]) -> Floors:
    return Floors(min(rates[:2]), min(rates))


def _evidence(entry: Entry | None) -> Evidence:
    return NOTHING if entry is None else evidence_of(entry, TARGET)


def _total(entries: Sequence[Entry], target: Target) -> Evidence:
    return reduce(Evidence.plus, [evidence_of(one, target) for one in entries], NOTHING)


_RATES = st.tuples(st.floats(1e-6, 1), st.floats(1e-6, 1), st.floats(1e-6, 1)).map(sorted)


@st.composite
def _entries(draw: st.DrawFn) -> Entry:
    lowest, detected, probability = draw(_RATES)
    t, missed = draw(st.integers(0, 30)), draw(st.integers(0, 30))
    return Entry(probability, Floors(detected, lowest), t, t + missed)


_TARGETS = st.builds(Target, st.floats(0.01, 0.999), st.integers(1, 40))


@pytest.mark.parametrize("rates", RATES)
def test_factor_is_fair_at_the_target(rates: tuple[float, float, float]) -> None:
    """At R = r0 exactly the true factor has a mean of 1 and ours one that is lower by the rounding, for every bet."""
    outcomes = drawn(_kinds(rates, AT_TARGET), _floors(rates))

    for j, c in enumerate(FRACTIONS):
        exact = sum(p * (factor(entry, R0, 2, c) if entry else 1) for entry, p in outcomes.items())
        ours = sum(decimal(p) * exponential(_evidence(entry).logs[j]) for entry, p in outcomes.items())
        assert exact == 1
        assert 1 - 2e-12 < ours <= 1


@pytest.mark.parametrize("rates", RATES)
def test_factor_shrinks_above_the_target_and_grows_below(rates: tuple[float, float, float]) -> None:
    """Recall above r0 lowers the mean factor of every bet; well below it some bet grows."""
    above, below = (drawn(_kinds(rates, AT_TARGET * times), _floors(rates)) for times in (Fraction(1, 2), 2))

    means = [
        [
            sum(decimal(p) * exponential(_evidence(entry).logs[j]) for entry, p in outcomes.items())
            for j in range(len(FRACTIONS))
        ]
        for outcomes in (above, below)
    ]
    assert max(means[0]) < 1 < max(means[1])


def test_rates_that_follow_what_was_seen_leave_the_evidence_fair() -> None:
    """An operator who sets the rates by the last label gains nothing: over every history, E Σ M <= E periods."""

    def following(before: tuple[Entry | None, ...]) -> dict[Entry | None, Fraction]:
        last = before[-1] if before else None
        rates = RATES[0] if last is None else RATES[1] if last.t < last.y else RATES[2]
        return drawn(_kinds(rates, AT_TARGET), _floors(rates))

    mean = periods = Fraction(0)
    for chance, history in histories(3, following):
        alarm = follow([Period("v1", _evidence(entry)) for entry in history], 1e9, hold=1)[-1]
        mean += chance * Fraction(exp(alarm.evidence) if alarm.evidence is not None else 0)
        periods += chance * sum(entry is not None and entry.y > 0 for entry in history)
    assert mean <= periods * (1 + Fraction(1, 10**12))
    assert mean > periods * Fraction(9, 10)


def test_evidence_at_the_alarm_is_paid_for_by_waiting() -> None:
    """E Σ M at the first alarm is at most the mean periods up to it, of which "at least A" follows."""

    def following(_: tuple[Entry | None, ...]) -> dict[Entry | None, Fraction]:
        return drawn(_kinds(RATES[0], AT_TARGET), _floors(RATES[0]))

    mean = periods = fired = Fraction(0)
    for chance, history in histories(4, following):
        alarms = follow([Period("v1", _evidence(entry)) for entry in history], 2, hold=9)
        stop = next((k for k, alarm in enumerate(alarms) if alarm.state == "firing"), 3)
        evidence = alarms[stop].evidence
        mean += chance * Fraction(exp(evidence) if evidence is not None else 0)
        periods += chance * (stop + 1)
        fired += chance * (alarms[stop].state == "firing")
    assert mean <= periods
    assert fired > Fraction(1, 100)


@given(entry=_entries(), target=_TARGETS)
def test_logarithms_are_just_below_the_true_ones(entry: Entry, target: Target) -> None:
    """For any document, rates and target: at most the fraction's logarithm, at least 2e-12 below it."""
    evidence = evidence_of(entry, target)

    for units, c in zip(evidence.logs, FRACTIONS, strict=True):
        exact = decimal(factor(entry, target.recall, target.y_max, c))
        if entry.y == 0:
            assert units == 0
            assert exact == 1
        else:
            assert exponential(units) < exact < exponential(units + 3)


@given(entries=st.lists(_entries(), max_size=12), data=st.data())
def test_evidence_adds_alike_in_any_order(entries: list[Entry], data: st.DataObject) -> None:
    """Whichever worker adds which document when: the same whole numbers."""
    shuffled = data.draw(st.permutations(entries))
    cut = data.draw(st.integers(0, len(entries)))

    assert _total(entries, TARGET) == _total(shuffled[:cut], TARGET).plus(_total(shuffled[cut:], TARGET))


@given(entries=st.lists(_entries(), min_size=1, max_size=8), other=_entries())
def test_correction_leaves_no_residue(entries: list[Entry], other: Entry) -> None:
    """A label replaced and put back, 1,000 equal ones added and taken away: nothing is left."""
    before, old, new = _total(entries, TARGET), evidence_of(entries[0], TARGET), evidence_of(other, TARGET)

    assert _total([other, *entries[1:]], TARGET) == before.minus(old).plus(new)
    assert before == before.minus(old).plus(new).minus(new).plus(old)
    assert before == before.plus(new.times(1000)).minus(new.times(999)).minus(new)


def test_evidence_of_other_bets_is_not_added() -> None:
    """A vector of another length is of another grid."""
    with pytest.raises(ValueError, match="zip"):
        NOTHING.plus(Evidence(0, (0,)))


def test_large_document_counts_as_the_largest_that_counts() -> None:
    """30 of 40 with y_max = 4 is 3 of 4; with y_max = 40 it counts in full and the bet is a tenth."""
    large, small = (evidence_of(Entry(0.5, Floors(0.5, 0.1), t, y), Target(0.9, 4)) for t, y in ((30, 40), (3, 4)))

    assert small == large
    assert small == evidence_of(Entry(0.5, Floors(0.5, 0.1), 30, 40), Target(0.9, 40))
    assert small != evidence_of(Entry(0.5, Floors(0.5, 0.1), 3, 4), Target(0.9, 40))


@given(entry=_entries(), target=_TARGETS)
def test_no_factor_turns_negative(entry: Entry, target: Target) -> None:
    """Found documents at the smallest rate, far more occurrences than count, targets near 1: at most 1 - c is lost."""
    logs = evidence_of(entry, target).logs

    assert all(units >= log(1 - c) * UNITS - 3 for units, c in zip(logs, FRACTIONS, strict=True))


@given(entry=_entries(), more=st.integers(0, 30), target=_TARGETS)
def test_no_label_gives_less_evidence_than_its_deadline(entry: Entry, more: int, target: Target) -> None:
    """Of at least as many detected spans as were found: whatever the label says, waiting for it raised no evidence."""
    waiting = Entry.unlabelled(entry.probability, entry.floors, entry.t + more)
    evidence = evidence_of(waiting, target)

    assert all(a <= b for a, b in zip(evidence.logs, evidence_of(entry, target).logs, strict=True))
    assert all(units <= 0 for units in evidence.logs)
    assert evidence.labelled == 0


_DAYS = st.lists(st.lists(_entries(), max_size=4), max_size=8)


@settings(max_examples=50)
@given(days=_DAYS, data=st.data())
def test_alarm_on_what_is_known_never_runs_ahead(days: list[list[Entry]], data: st.DataObject) -> None:
    """With any labels missing, the first alarm comes no sooner and evidence up to it is no higher."""
    known = [
        [one if data.draw(st.booleans()) else Entry.unlabelled(one.probability, one.floors, one.t) for one in day]
        for day in days
    ]
    partial, full = (
        follow([Period("v1", _total(day, TARGET)) for day in each], 1e300, hold=1) for each in (known, days)
    )

    for early, late in zip(partial, full, strict=True):
        assert early.evidence is None or (late.evidence is not None and early.evidence <= late.evidence + 1e-9)


@settings(max_examples=50)
@given(days=_DAYS)
def test_evidence_equals_the_recursion_in_fractions(days: list[list[Entry]]) -> None:
    """Σ M_j to 1e-9, over days with and without documents."""
    alarms = follow([Period("v1", _total(day, TARGET)) for day in days], 1e300, hold=1)

    for alarm, exact in zip(alarms, sums(days, R0, 2, FRACTIONS), strict=True):
        if alarm.evidence is None:
            assert exact == 0
        else:
            assert pytest.approx(float(decimal(exact).ln()), abs=1e-9) == alarm.evidence


@settings(max_examples=50)
@given(pattern=st.lists(st.integers(0, 3), max_size=10), promised=st.sampled_from([1.5, 7.0, 100.0]))
def test_alarm_fires_and_starts_again_as_the_oracle(pattern: list[int], promised: float) -> None:
    """The days on which it crosses, each restart from nothing, are those of the plain recursion."""
    days = [[Entry(1.0, ONE, 0, 1)] * (misses % 3) + [Entry(1.0, ONE, 1, 1)] for misses in pattern]
    alarms = follow([Period("v1", _total(day, TARGET)) for day in days], promised, hold=3)

    assert crossings(days, R0, 2, FRACTIONS, promised) == [
        k for k, alarm in enumerate(alarms) if alarm.state == "firing"
    ]


MISSES = evidence_of(Entry(1.0, ONE, 0, 1), Target(0.9, 1)).times(8)
HITS = evidence_of(Entry(1.0, ONE, 1, 1), Target(0.9, 1)).times(50)


def _states(periods: Sequence[Period], hold: int) -> list[str | None]:
    return [alarm.state for alarm in follow(periods, 14_600, hold)]


def test_alarm_is_on_while_it_keeps_crossing_and_held_for_a_while() -> None:
    """Two crossings, then `hold` periods without one: held for hold - 1 of them, then off."""
    periods = [Period("v1", e) for e in (HITS, MISSES, MISSES, HITS, HITS, HITS, HITS)]

    assert _states(periods, hold=3) == ["quiet", "firing", "firing", "held", "held", "quiet", "quiet"]
    assert _states(periods, hold=1) == ["quiet", "firing", "firing", "quiet", "quiet", "quiet", "quiet"]


def test_alarm_counts_periods_since_it_went_on_and_since_it_crossed() -> None:
    """Held and crossing again is one alarm; off and crossing again is another."""
    periods = [Period("v1", e) for e in (MISSES, HITS, MISSES, HITS, HITS, MISSES)]
    alarms = follow(periods, 14_600, hold=2)

    assert [alarm.since_on for alarm in alarms] == [0, 1, 2, 3, None, 0]
    assert [alarm.since_crossing for alarm in alarms] == [0, 1, 0, 1, 2, 0]


def test_firing_shows_what_it_fired_on_and_starts_from_nothing() -> None:
    """Evidence at least ln A in the period of the crossing; the next one knows nothing of it."""
    fired, after = follow([Period("v1", MISSES), Period("v1", HITS)], 14_600, hold=3)

    assert fired.evidence is not None
    assert fired.evidence >= log(14_600)
    assert fired.wealth == ()
    assert after.evidence == follow([Period("v1", HITS)], 14_600, hold=3)[0].evidence


def test_other_version_starts_quiet_and_anew() -> None:
    """A version change turns the alarm off, and what the old one missed is no evidence against the new one."""
    old = follow([Period("v1", MISSES)], 14_600, hold=5)
    both = follow([Period("v1", MISSES), Period("v2", HITS)], 14_600, hold=5)

    assert old[0].state == "firing"
    assert both[1] == follow([Period("v2", HITS)], 14_600, hold=5)[0]
    assert (both[1].state, both[1].since_crossing) == ("quiet", None)


def test_no_data_gives_no_evidence_and_no_state() -> None:
    """No period, periods without a document, documents without a label: not quiet, not known."""
    waiting = evidence_of(Entry.unlabelled(1.0, ONE, 3), TARGET)
    alarms = follow([Period("v1", NOTHING), Period("v1", waiting)], 14_600, hold=1)

    assert follow([], 14_600, hold=1) == ()
    assert [(alarm.state, alarm.evidence) for alarm in alarms] == [(None, None), (None, None)]


def test_silence_is_no_alarm() -> None:
    """A hundred periods without a label leave the evidence where it was, at a promise of fifty."""
    alarms = follow([Period("v1", HITS)] + [Period("v1", NOTHING)] * 100, 50, hold=1)

    assert alarms[0].evidence == alarms[-1].evidence
    assert {"quiet"} == {alarm.state for alarm in alarms}


def test_alarm_goes_on_from_its_snapshot() -> None:
    """Following all periods and following on from the alarm after any of them give the same."""
    periods = [Period("v1", e) for e in (HITS, MISSES, NOTHING, HITS, MISSES)] + [Period("v2", HITS)]
    alarms = follow(periods, 14_600, hold=2)

    for k, alarm in enumerate(alarms[:-1]):
        assert alarms[k + 1] == advance(alarm, periods[k + 1], hold=2)


def test_correction_rebuilds_the_alarm_that_would_have_been() -> None:
    """Eight labels corrected to found: the alarm of that day is gone, to the last digit."""
    miss, hit = (evidence_of(Entry(1.0, ONE, t, 1), Target(0.9, 1)) for t in (0, 1))
    corrected = reduce(lambda evidence, _: evidence.minus(miss).plus(hit), range(8), MISSES)

    assert follow([Period("v1", hit.times(8))], 14_600, hold=2) == follow([Period("v1", corrected)], 14_600, hold=2)


def test_a_day_past_the_largest_float_is_evidence() -> None:
    """100,000 heavy misses in a day: the product has no float, its logarithm does."""
    evidence = evidence_of(Entry(1e-6, Floors(1.0, 1e-6), 0, 1), TARGET).times(100_000)
    (alarm,) = follow([Period("v1", evidence)], 14_600, hold=1)

    assert alarm.evidence is not None
    assert isfinite(alarm.evidence)
    assert alarm.evidence > 1e6


def test_fall_of_recall_is_seen_within_days() -> None:
    """21 occurrences a day at a target of .9: silent for 60 days at .95, firing by the 8th day at two thirds."""
    hit, miss = (evidence_of(Entry(0.5, Floors(0.5, 0.5), t, 1), Target(0.9, 1)) for t in (1, 0))
    good, bad = hit.times(20).plus(miss), hit.times(14).plus(miss.times(7))
    states = _states([Period("v1", good)] * 60 + [Period("v1", bad)] * 8, hold=3)

    assert states[:60] == ["quiet"] * 60
    assert "firing" in states[60:]
