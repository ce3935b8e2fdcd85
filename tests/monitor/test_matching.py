"""A detected span is spent once, on the label that it fits best, whatever the order things come in."""

from __future__ import annotations

from fractions import Fraction

import matching_oracle as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.matching import Extent, masked, matched, unique

EXTENTS = st.builds(
    lambda start, length, entity: Extent(start, start + length, entity),
    st.integers(0, 25),
    st.integers(1, 14),
    st.sampled_from("AB"),
)
SPANS = st.lists(EXTENTS, max_size=9)
THRESHOLDS = st.sampled_from(["0.01", "0.2", "0.45", "0.5", "0.9", "1"])


@given(truth=SPANS, found=SPANS, iou=THRESHOLDS)
def test_matched_equals_the_oracle(truth: list[Extent], found: list[Extent], iou: str) -> None:
    """Every pair tried with exact fractions gives the same labels."""
    labels, spans = unique(truth), unique(found)

    assert oracle.matched(labels, spans, Fraction(iou)) == matched(labels, spans, float(iou))


@given(truth=SPANS, found=SPANS)
def test_masked_equals_the_oracle(truth: list[Extent], found: list[Extent]) -> None:
    """Every code point looked at gives the same labels."""
    assert oracle.masked(unique(truth), unique(found)) == masked(unique(truth), unique(found))


@given(truth=SPANS, found=SPANS, data=st.data())
def test_order_and_repetition_change_nothing(truth: list[Extent], found: list[Extent], data: st.DataObject) -> None:
    """Shuffled and said twice, the same labels are found."""
    labels = unique(truth)
    expected = {labels[i] for i in matched(labels, unique(found), 0.45)}
    again = unique(data.draw(st.permutations([*truth, *truth])))
    other = unique(data.draw(st.permutations([*found, *found])))

    assert expected == {again[i] for i in matched(again, other, 0.45)}


@given(truth=SPANS, found=SPANS)
def test_detection_is_spent_once(truth: list[Extent], found: list[Extent]) -> None:
    """No more labels are found than there are detections of their entity."""
    labels, spans = unique(truth), unique(found)
    hits = matched(labels, spans, 0.01)

    for entity in "AB":
        assert sum(labels[i].entity == entity for i in hits) <= sum(s.entity == entity for s in spans)


@pytest.mark.parametrize(("iou", "found"), [(0.5, 0), (0.45, 1), (0.01, 1)])
def test_one_blob_over_two_names(iou: float, found: int) -> None:
    """MAT-1: IoUs .478 and .435; at most one of the two names is found, never both."""
    labels = [Extent(0, 11, "PERSON"), Extent(13, 23, "PERSON")]
    blob = [Extent(0, 23, "PERSON")]

    assert found == len(matched(labels, blob, iou))
    assert [round(float(oracle.overlap(label, blob[0])), 6) for label in labels] == [0.478261, 0.434783]
    assert {0, 1} == masked(labels, blob)


def test_same_span_twice_on_both_sides_is_one_fact() -> None:
    """MAT-2: two recognisers that agree and a label imported twice give one hit of one."""
    twice = unique([Extent(5, 15, "PHONE_NUMBER"), Extent(5, 15, "PHONE_NUMBER")])

    assert [Extent(5, 15, "PHONE_NUMBER")] == twice
    assert {0} == matched(twice, twice, 0.5)


def test_best_overlap_goes_first() -> None:
    """The exact span is spent on its own label, and the sloppy one is left for the other."""
    labels = [Extent(0, 10, "A"), Extent(2, 10, "A")]
    spans = unique([Extent(2, 10, "A"), Extent(0, 8, "A")])

    assert {0, 1} == matched(labels, spans, 0.45)


def test_other_entity_is_masked_and_not_matched() -> None:
    """A name that was redacted as a place is safe, and was not recognised."""
    label, span = [Extent(0, 4, "PERSON")], [Extent(0, 4, "LOCATION")]

    assert (set(), {0}) == (matched(label, span, 0.45), masked(label, span))


def test_one_uncovered_code_point_leaves_the_label_readable() -> None:
    """Half a grapheme is enough to count as missed."""
    assert set() == masked([Extent(0, 5, "A")], [Extent(0, 4, "A"), Extent(5, 9, "A")])


def test_labels_beyond_what_the_detector_read_are_misses() -> None:
    """SAMP-3: a detector that stopped at character 1,800 found one of three."""
    labels = [Extent(10, 20, "PERSON"), Extent(2500, 2512, "PERSON"), Extent(4100, 4109, "PERSON")]

    assert {0} == matched(labels, [Extent(10, 20, "PERSON")], 0.5)


def test_nothing_found_and_nothing_there() -> None:
    """No spans, no labels, no error."""
    assert (set(), set()) == (matched([], [Extent(0, 1, "A")], 0.45), matched([Extent(0, 1, "A")], [], 0.45))
    assert (set(), set()) == (masked([], []), masked([Extent(0, 1, "A")], []))


def test_any_overlap_counts_where_next_to_none_is_asked() -> None:
    """The smallest share that a float can be is one."""
    assert matched([Extent(0, 9, "A")], [Extent(8, 20, "A")], 5e-324) == {0}
