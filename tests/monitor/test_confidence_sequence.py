"""Limits that may be read any time: they hold at all times at once, add in any order, and need data."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, reduce
from math import nan

import pytest
from alarm_oracles import Kind, drawn, exponential, factor, factor_too_low, histories, rejected
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.confidence_sequence import (
    GRID,
    NO_SEQUENCE,
    SHARES,
    AnyTime,
    confidence_sequence,
    sequence_evidence_of,
)
from monitor.estimators.e_detector import Entry, Evidence, Floors

ONE = Floors(1.0, 1.0)
FLOORS = Floors(0.5, 0.25)
RECALL = 0.75
EVEN = [
    Kind(Fraction(1, 2), 0.5, 1, 1),
    Kind(Fraction(1, 6), 0.25, 0, 1),
    Kind(Fraction(1, 3), 0.25, 0, 0),
]
"""Traffic with a recall of 3/4."""


@cache
def _of(entry: Entry) -> Evidence:
    return sequence_evidence_of(entry, 2)


def _sum(entries: list[Entry]) -> Evidence:
    return reduce(Evidence.plus, map(_of, entries), NO_SEQUENCE)


_KINDS = [
    Entry(0.5, FLOORS, 1, 1),
    Entry(1.0, FLOORS, 2, 2),
    Entry(0.5, FLOORS, 1, 4),
    Entry(0.25, FLOORS, 0, 1),
    Entry(0.25, FLOORS, 0, 0),
    Entry.unlabelled(0.5, FLOORS, 3),
]
_SAMPLES = st.lists(st.sampled_from(_KINDS), max_size=25)


def test_both_tests_are_fair_at_the_true_recall() -> None:
    """At the true r, every bet of either test has a factor whose mean is 1, and ours is lower by the rounding."""
    at = 2 * len(SHARES) * GRID.index(RECALL)

    for first, test in ((at, factor), (at + len(SHARES), factor_too_low)):
        for j, c in enumerate(SHARES):
            exact = ours = Fraction(0)
            for entry, p in drawn(EVEN, FLOORS).items():
                exact += p * (test(entry, RECALL, 2, c) if entry else 1)
                ours += p * (Fraction(exponential(_of(entry).logs[first + j])) if entry else 1)
            assert exact == 1
            assert 1 - 4e-12 < ours <= 1


def test_true_recall_is_rarely_ever_outside() -> None:
    """Over every history of seven documents, looked at after each: at most α of them ever leave the truth out."""
    chances = drawn(EVEN, FLOORS)
    shut_out = Fraction(0)
    for chance, history in histories(7, lambda _: chances):
        shut_out += chance * _ever_outside(history)
    assert 0 < shut_out <= Fraction(6, 10)


@cache
def _ever_outside(history: tuple[Entry | None, ...]) -> bool:
    if not history:
        return False
    limits = _limits(tuple(sorted(entry for entry in history if entry)))
    outside = limits is not None and not limits.lower < RECALL < limits.upper
    return outside or _ever_outside(history[:-1])


@cache
def _limits(entries: tuple[Entry, ...]) -> AnyTime | None:
    return confidence_sequence(_sum(list(entries)), 0.4)


@settings(max_examples=25)
@given(entries=_SAMPLES, confidence=st.sampled_from([0.3, 0.8, 0.95]))
def test_limits_are_those_of_the_products(entries: list[Entry], confidence: float) -> None:
    """The nearest grid points that the products in fractions reject."""
    limits = confidence_sequence(_sum(entries), confidence)
    too_high, too_low = rejected(entries, GRID, 2, SHARES, 1 - confidence)

    if not any(one.labelled and one.y for one in entries):
        assert limits is None
        return
    assert limits is not None
    upper, lower = min(too_high, default=1.0), max(too_low, default=0.0)
    if lower >= upper:
        assert AnyTime(max([0.0, *set(GRID) - set(too_high)]), min([1.0, *set(GRID) - set(too_low)])) == limits
    else:
        assert AnyTime(lower, upper) == limits
    assert too_high == [r for r in GRID if r >= upper]
    assert too_low == [r for r in GRID if r <= lower]


@given(entries=_SAMPLES, data=st.data())
def test_sequence_adds_alike_in_any_order(entries: list[Entry], data: st.DataObject) -> None:
    """The same whole numbers, and nothing left of what was taken away."""
    shuffled = data.draw(st.permutations(entries))

    assert _sum(entries) == _sum(shuffled)
    assert _sum(entries) == _sum(entries).plus(_of(_KINDS[3])).minus(_of(_KINDS[3]))


@pytest.mark.parametrize("entries", [[], [_KINDS[4]], [_KINDS[5]] * 9])
def test_no_data_gives_no_limits(entries: list[Entry]) -> None:
    """No document, none with the entity, none with a label."""
    assert confidence_sequence(_sum(entries)) is None


def test_unlabelled_document_speaks_against_no_recall() -> None:
    """It can lower the evidence that r is too high, and is silent on whether r is too low."""
    logs = _of(_KINDS[5]).logs

    too_high = [one for k, one in enumerate(logs) if k % (2 * len(SHARES)) < len(SHARES)]
    too_low = [one for k, one in enumerate(logs) if k % (2 * len(SHARES)) >= len(SHARES)]
    assert max(too_high) < 0
    assert {0} == set(too_low)


@pytest.mark.parametrize(("hits", "misses"), [(900, 100), (950, 50), (400, 600), (1000, 0), (100, 900)])
def test_limits_enclose_the_share_and_narrow_with_more(hits: int, misses: int) -> None:
    """1,000 occurrences of documents that all were read; ten times as many say more."""
    sums = [_hits(hits * n).plus(_misses(misses * n)) for n in (1, 10)]
    few, many = map(confidence_sequence, sums)

    assert few is not None
    assert many is not None
    assert few.lower <= many.lower < many.upper <= few.upper
    assert few.lower <= hits / 1000 <= few.upper
    assert many.upper - many.lower < few.upper - few.lower < 0.13


def _hits(n: int) -> Evidence:
    return sequence_evidence_of(Entry(1.0, ONE, 1, 1), 1).times(n)


def _misses(n: int) -> Evidence:
    return sequence_evidence_of(Entry(1.0, ONE, 0, 1), 1).times(n)


def test_first_label_excludes_little() -> None:
    """One hit leaves all but the lowest recalls, one miss all but the highest."""
    hit, miss = confidence_sequence(_hits(1)), confidence_sequence(_misses(1))

    assert hit is not None
    assert miss is not None
    assert hit.lower < 0.05
    assert hit.upper == 1
    assert miss.lower == 0
    assert miss.upper > 0.95


def test_higher_confidence_is_wider() -> None:
    """80 % is inside 99 %."""
    evidence = _hits(90).plus(_misses(10))
    narrow, wide = confidence_sequence(evidence, 0.8), confidence_sequence(evidence, 0.99)

    assert narrow is not None
    assert wide is not None
    assert wide.lower < narrow.lower < 0.9 < narrow.upper < wide.upper


def test_changed_recall_gives_the_span_it_moved_in() -> None:
    """All found, then at a lower random rate all missed: no r is left by both tests, and that's no zero width."""
    found, missed = [Entry(1.0, ONE, 1, 1)] * 60, [Entry(1.0, Floors(1.0, 0.001), 0, 1)] * 150
    limits = confidence_sequence(_sum(found + missed), 0.8)
    too_high, too_low = (set(each) for each in rejected(found + missed, GRID, 2, SHARES, 0.2))

    assert too_high | too_low == set(GRID)
    assert too_high & too_low
    assert AnyTime(max(set(GRID) - too_high), min({*GRID, 1.0} - too_low)) == limits


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, nan])
def test_confidence_is_a_share(confidence: float) -> None:
    """95 is not .95."""
    with pytest.raises(ValueError, match="confidence"):
        confidence_sequence(NO_SEQUENCE, confidence)


def test_alarm_evidence_is_no_sequence() -> None:
    """Eight logarithms of one target aren't those of every r."""
    with pytest.raises(ValueError, match="8 logarithms"):
        confidence_sequence(Evidence(1, (0,) * 8))


@pytest.mark.parametrize(
    ("entry", "y_max"),
    [(Entry(1.0, ONE, 1, 1), 0), (Entry(1.0, ONE, 2, 1), 1), (Entry(1.0, Floors(0.0, 0.0), 1, 1), 1)],
)
def test_impossible_documents_are_refused_by_the_sequence(entry: Entry, y_max: int) -> None:
    """The same documents that the alarm refuses."""
    with pytest.raises(ValueError, match=r"y_max|found|smallest"):
        sequence_evidence_of(entry, y_max)
