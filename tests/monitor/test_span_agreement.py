"""Two readings' spans, paired without a truth among them: the same whoever reads first, and sums that add exactly."""

from __future__ import annotations

from fractions import Fraction
from math import nan

import agreement_oracles as oracle
import matching_oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.matching import Extent, matched, unique
from monitor.span_agreement import IOU_UNIT, SpanCounts, SpansReadTwice, count_spans, paired, span_agreement

EXTENTS = st.builds(
    lambda start, length, entity: Extent(start, start + length, entity),
    st.integers(0, 25),
    st.integers(1, 14),
    st.sampled_from("AB"),
)
SPANS = st.lists(EXTENTS, max_size=9)
THRESHOLDS = st.sampled_from(["0.01", "0.2", "0.45", "0.5", "0.9", "1"])
DOCUMENTS = st.lists(st.tuples(st.sampled_from([1, 2, 20, 1900]), SPANS, SPANS), max_size=4)


@given(first=SPANS, second=SPANS, iou=THRESHOLDS)
def test_pairs_equal_the_oracle(first: list[Extent], second: list[Extent], iou: str) -> None:
    """Every pair tried with exact fractions, the best taken, over and over."""
    one, other = unique(first), unique(second)
    expected = oracle.paired(one, other, Fraction(iou))

    assert expected == [(one[i], other[j]) for i, j in paired(one, other, float(iou))]


@given(first=SPANS, second=SPANS, iou=THRESHOLDS)
def test_who_reads_first_does_not_matter(first: list[Extent], second: list[Extent], iou: str) -> None:
    """Ties included: the same spans are paired with the readings exchanged."""
    one, other = unique(first), unique(second)
    expected = {(one[i], other[j]) for i, j in paired(one, other, float(iou))}

    assert expected == {(one[i], other[j]) for j, i in paired(other, one, float(iou))}


@given(first=SPANS, second=SPANS)
def test_pairs_are_what_a_detector_would_be_credited_with(first: list[Extent], second: list[Extent]) -> None:
    """Where no overlaps tie, the spans of one reading that the other has are those that matching finds."""
    one, other = unique(first), unique(second)
    overlaps = [ratio for _, ratio in _overlaps(one, other)]
    if len(set(overlaps)) == len(overlaps):
        assert matched(one, other, 0.2) == {i for i, _ in paired(one, other, 0.2)}


def _overlaps(first: list[Extent], second: list[Extent]) -> list[tuple[str, Fraction]]:
    pairs = [(a, b) for a in first for b in second if a.entity == b.entity]
    return [
        (a.entity, Fraction(min(a.end, b.end) - max(a.start, b.start), max(a.end, b.end) - min(a.start, b.start)))
        for a, b in pairs
        if min(a.end, b.end) > max(a.start, b.start)
    ]


@given(documents=DOCUMENTS)
def test_weighted_figures_equal_the_oracle(documents: list[tuple[int, list[Extent], list[Extent]]]) -> None:
    """F1 and mean IoU over lists of pairs, each document with its weight, to 1e-9."""
    parts, marked, pairs = [], Fraction(0), []
    for weight, first, second in documents:
        counts = count_spans(first, second).get("A", SpanCounts())
        parts.append(SpansReadTwice(1 / weight, counts))
        one, other = ([span for span in unique(spans) if span.entity == "A"] for spans in (first, second))
        marked += weight * (len(one) + len(other))
        pairs += [(weight, matching_oracle.overlap(*pair)) for pair in oracle.paired(one, other, Fraction("0.45"))]
    found = span_agreement(parts)
    matches = sum(weight for weight, _ in pairs)

    assert (found.f1 is None) == (marked == 0)
    assert (found.mean_iou is None) == (not pairs)
    if found.f1 is not None:
        assert pytest.approx(float(2 * matches / marked), rel=1e-12) == found.f1
    if found.mean_iou is not None:
        assert pytest.approx(float(sum(w * iou for w, iou in pairs) / matches), rel=1e-9) == found.mean_iou


@given(documents=DOCUMENTS, data=st.data())
def test_any_split_in_any_order_gives_the_same_bits(
    documents: list[tuple[int, list[Extent], list[Extent]]], data: st.DataObject
) -> None:
    """Document by document, shuffled, or summed by probability: equal to the last bit."""
    parts = [SpansReadTwice(1 / w, count_spans(a, b).get("A", SpanCounts())) for w, a, b in documents]
    summed: dict[float, SpanCounts] = {}
    for probability, counts in parts:
        summed[probability] = summed.get(probability, SpanCounts()).plus(counts)

    expected = span_agreement(parts)
    assert expected == span_agreement(data.draw(st.permutations(parts)))
    assert expected == span_agreement([SpansReadTwice(*item) for item in summed.items()])


@given(spans=SPANS)
def test_readings_that_agree_have_exactly_one(spans: list[Extent]) -> None:
    """Both figures are 1.0 with the same spans, in another order or said twice."""
    for counts in count_spans(spans, [*reversed(spans), *spans]).values():
        assert span_agreement([SpansReadTwice(0.07, counts)])[:2] == (1.0, 1.0)


def test_order_of_the_spans_is_no_opinion() -> None:
    """AGR-3: the same two spans the other way round, one with a space more: .9 as they came, 1 when trimmed."""
    one = [Extent(9, 18, "PERSON"), Extent(21, 27, "ADDRESS")]
    untrimmed = [Extent(21, 27, "ADDRESS"), Extent(9, 19, "PERSON")]
    trimmed = [Extent(21, 27, "ADDRESS"), Extent(9, 18, "PERSON")]

    assert SpanCounts(1, 1, 1, round(0.9 * IOU_UNIT)) == count_spans(one, untrimmed)["PERSON"]
    assert SpanCounts(1, 1, 1, IOU_UNIT) == count_spans(one, trimmed)["PERSON"]


def test_one_long_address_does_not_outweigh_ten_names() -> None:
    """The mean is over pairs, not over characters."""
    names = [Extent(10 * i, 10 * i + 8, "A") for i in range(10)]
    long, half_of_it = Extent(1000, 2000, "A"), Extent(1000, 1500, "A")
    counts = count_spans([*names, long], [*names, half_of_it])["A"]

    assert pytest.approx(10.5 / 11, rel=1e-9) == span_agreement([SpansReadTwice(1.0, counts)]).mean_iou


def test_no_data_gives_no_value() -> None:
    """No document, or documents in which neither reader marked anything."""
    assert span_agreement([])[:2] == (None, None)
    assert span_agreement([SpansReadTwice(0.5, SpanCounts())])[:2] == (None, None)
    assert count_spans([], []) == {}


def test_spans_of_one_reader_only_are_an_agreement_of_nothing() -> None:
    """F1 is 0, and there's no pair whose overlap could be measured."""
    counts = count_spans([Extent(0, 4, "A")], [Extent(0, 4, "B")])

    assert {"A": SpanCounts(1, 0), "B": SpanCounts(0, 1)} == counts
    assert span_agreement([SpansReadTwice(0.5, counts["A"])])[:2] == (0.0, None)


@pytest.mark.parametrize("iou", [0.0, -0.1, 1.1, nan])
def test_overlap_threshold_outside_its_range_is_refused(iou: float) -> None:
    """At 0 spans that don't touch would be pairs."""
    with pytest.raises(ValueError, match="IoU"):
        count_spans([], [], iou)


@pytest.mark.parametrize("probability", [0.0, 1.1, nan])
def test_probability_outside_its_range_is_refused(probability: float) -> None:
    """No document is drawn with it."""
    with pytest.raises(ValueError, match="probability"):
        span_agreement([SpansReadTwice(probability, SpanCounts(1, 1))])


@pytest.mark.parametrize("counts", [SpanCounts(1, 2, 2, 1), SpanCounts(2, 2, 1, IOU_UNIT + 1), SpanCounts(-1, 0, -1)])
def test_counts_that_cannot_be_are_refused(counts: SpanCounts) -> None:
    """More pairs than spans, more overlap than pairs, or subtracted once too often."""
    with pytest.raises(ValueError, match="pairs"):
        span_agreement([SpansReadTwice(0.5, counts)])
