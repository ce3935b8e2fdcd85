"""What two searches both missed, from what each found of the other's; and two detectors' recall, optimistic."""

from __future__ import annotations

from math import nan

import agreement_oracles as oracle
import pytest
from agreement_oracles import Searched
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from monitor.estimators.capture_recapture import (
    Captures,
    SearchedTwice,
    chapman_total,
    lincoln_petersen,
    recapture,
)

FOUND = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)).map(
    lambda n: (n[0], n[1], min(n))  # both found no more than either
)
DOCUMENTS = st.lists(st.builds(lambda w, found: Searched(w, *found), st.sampled_from([1, 2, 20, 1900]), FOUND))


def _parts(documents: list[Searched]) -> list[SearchedTwice]:
    return [SearchedTwice(1 / one.weight, Captures.of(one.first, one.second, one.both)) for one in documents]


def _sum(documents: list[Searched]) -> Captures:
    total = Captures()
    for one in documents:
        total = total.plus(Captures.of(one.first, one.second, one.both))
    return total


@given(documents=DOCUMENTS)
def test_recalls_equal_the_oracle(documents: list[Searched]) -> None:
    """Ratios, linearised variances, effective numbers and Wilson's limits over lists of documents."""
    found = recapture(_parts(documents))
    exchanged = [one._replace(first=one.second, second=one.first) for one in documents]

    for expected, actual in (
        (oracle.recapture(documents), found.first),
        (oracle.recapture(exchanged), found.second),
        (oracle.missed_by_both(documents), found.missed_by_both),
    ):
        assert (expected is None) == (actual is None)
        if expected is not None and actual is not None:
            assert pytest.approx(expected, rel=1e-9, abs=1e-9) == tuple(actual)


@given(documents=DOCUMENTS, data=st.data())
def test_any_split_in_any_order_gives_the_same_bits(documents: list[Searched], data: st.DataObject) -> None:
    """Document by document, shuffled, or summed by probability: equal to the last bit."""
    parts = _parts(documents)
    summed: dict[float, Captures] = {}
    for probability, captures in parts:
        summed[probability] = summed.get(probability, Captures()).plus(captures)

    expected = recapture(parts)
    assert expected == recapture(data.draw(st.permutations(parts)))
    assert expected == recapture([SearchedTwice(*item) for item in summed.items()])


@given(documents=DOCUMENTS, confidence=st.sampled_from([1e-9, 0.5, 0.95, 1 - 2**-53]))
def test_limits_stay_in_order(documents: list[Searched], confidence: float) -> None:
    """0 <= lower <= estimate <= upper <= 1 for every share and confidence."""
    found = recapture(_parts(documents), confidence)

    for share in (found.first, found.second, found.missed_by_both):
        assert share is None or 0 <= share.lower <= share.estimate <= share.upper <= 1


def test_independent_searches_give_the_truth() -> None:
    """100 there were, found with .8 and .6: 48 by both, 8 by neither."""
    counts = [(1, 1, 1)] * 48 + [(1, 0, 0)] * 32 + [(0, 1, 0)] * 12
    found = recapture(_parts([Searched(1, *count) for count in counts]))

    assert found.first is not None
    assert found.second is not None
    assert found.missed_by_both is not None
    assert pytest.approx((0.8, 0.6, 0.08)) == (
        found.first.estimate,
        found.second.estimate,
        found.missed_by_both.estimate,
    )


def test_shared_blindness_reads_too_high() -> None:
    """Of 100, both find the same 50 easy ones and none of the others: a recall of 1 for a true one of .5."""
    seen = lincoln_petersen(_sum([Searched(1, 1, 1, 1)] * 50))

    assert seen is not None
    assert (seen.recall.estimate, seen.total) == (1.0, 50.0)


def test_design_weights_count() -> None:
    """What the first missed in an unflagged document weighs as much as it stands for."""
    found = recapture([SearchedTwice(1.0, Captures.of(9, 9, 9)), SearchedTwice(1 / 9, Captures.of(0, 1, 0))])

    assert found.first is not None
    assert pytest.approx(0.5) == found.first.estimate


def test_clustered_misses_widen_the_limits() -> None:
    """Ten misses in ten documents say more than ten in one."""
    spread = _parts([Searched(1, 9, 10, 9)] * 10 + [Searched(1, 10, 10, 10)] * 10)
    clustered = _parts([Searched(1, 5, 10, 5)] * 2 + [Searched(1, 10, 10, 10)] * 18)
    one, other = recapture(spread).first, recapture(clustered).first

    assert one is not None
    assert other is not None
    assert one.estimate == other.estimate == 0.95
    assert one.upper - one.lower < other.upper - other.lower


def test_nothing_to_recapture_gives_no_value() -> None:
    """What the second didn't find can't tell what the first finds."""
    nothing = recapture([])
    one_sided = recapture([SearchedTwice(1.0, Captures.of(3, 0, 0))])

    assert (nothing.first, nothing.second, nothing.missed_by_both, nothing.n_eff) == (None, None, None, (None, None))
    assert (one_sided.first, one_sided.missed_by_both) == (None, None)
    assert one_sided.second is not None
    assert one_sided.second.estimate == 0.0
    assert lincoln_petersen(Captures()) is None
    assert lincoln_petersen(Captures.of(3, 0, 0)) is None


@given(documents=DOCUMENTS)
def test_detectors_recall_is_the_first_over_all_there_were(documents: list[Searched]) -> None:
    """Lincoln-Petersen from seven recaptures on, Chapman below; never fewer than were found, limits in order."""
    captures = _sum(documents)
    seen = lincoln_petersen(captures)

    assert (seen is None) == (captures.second == 0)
    if seen is not None:
        assert pytest.approx(captures.first / seen.total) == seen.recall.estimate
        assert seen.total >= captures.first + captures.second - captures.both - 1e-9
        assert 0 <= seen.recall.lower <= seen.recall.estimate <= seen.recall.upper <= 1
        assert seen.corrected == (captures.both < 7)


@pytest.mark.parametrize(
    ("first", "second", "both", "total"), [(9, 5, 4, 11.0), (5, 9, 4, 11.0), (3, 4, 0, 19.0), (0, 0, 0, 0.0)]
)
def test_chapman_by_hand(first: int, second: int, both: int, total: float) -> None:
    """(n₁+1)(n₂+1)/(m+1) - 1, finite where nothing was recaptured."""
    assert total == chapman_total(first, second, both)


def test_chapman_is_unbiased() -> None:
    """Over every way in which 6 and 7 of 10 can overlap, hypergeometric, the mean is 10."""
    mean = sum(hypergeom.pmf(m, 10, 6, 7) * chapman_total(6, 7, m) for m in range(3, 7))

    assert pytest.approx(10.0) == mean


def test_searches_exchanged_twice_are_the_same() -> None:
    """And once gives what the other would count."""
    captures = Captures.of(5, 3, 2).plus(Captures.of(1, 4, 1))

    assert captures.exchanged().exchanged() == captures
    assert captures.exchanged() == Captures.of(3, 5, 2).plus(Captures.of(4, 1, 1))


@pytest.mark.parametrize("counts", [(1, 2, 2), (2, 1, 2), (1, 1, -1)])
def test_impossible_captures_are_refused(counts: tuple[int, int, int]) -> None:
    """Both can't have found more than one of them."""
    with pytest.raises(ValueError, match="both found"):
        Captures.of(*counts)
    with pytest.raises(ValueError, match="both found"):
        chapman_total(*counts)
    with pytest.raises(ValueError, match="captures"):
        recapture([SearchedTwice(0.5, Captures(*counts))])


@pytest.mark.parametrize("probability", [0.0, 1.1, nan])
def test_probability_outside_its_range_is_refused(probability: float) -> None:
    """No document is drawn with it."""
    with pytest.raises(ValueError, match="probability"):
        recapture([SearchedTwice(probability, Captures.of(1, 1, 1))])


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, nan])
def test_confidence_is_a_probability(confidence: float) -> None:
    """95 is not .95."""
    with pytest.raises(ValueError, match="confidence"):
        lincoln_petersen(Captures.of(1, 1, 1), confidence)
