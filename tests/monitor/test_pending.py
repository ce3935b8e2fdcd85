"""The band that pending labels make, and completeness by stratum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import drift_oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import Document, Place, rows

from monitor.estimators.pending import Completeness, PendingBand, completeness, pending_band
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import STRATA

PLACES: list[Place] = [("en", stratum) for stratum in STRATA] + [("nl", "both"), ("nl", "unflagged")]


@st.composite
def samples(draw: st.DrawFn) -> tuple[list[Document], dict[Place, int]]:
    """Draw the documents of a cell, labelled or not, and the census."""
    documents = []
    for place in draw(st.lists(st.sampled_from(PLACES), min_size=1, unique=True)):
        for _ in range(draw(st.integers(1, 6))):
            true = draw(st.integers(0, 3))
            found = draw(st.integers(0, true)) if place[1] != "unflagged" else 0
            rate = draw(st.sampled_from([0.5, 0.1, 0.02]))
            documents.append(Document(*place, rate, found, true, labelled=draw(st.booleans())))
    return documents, {place: 50 * n for place, n in Counter(one.place for one in documents).items()}


def cell(pending: int = 0, blind_pending: int = 0) -> list[StratumSample]:
    """Return 80 found and 20 missed where looked and 10 missed elsewhere, labelled, and so many pending documents."""
    looked = Moments(100, 20, 80, 80, 100, 80, 80, 100, 80, 80, 100, 80, 80, 100)
    missed = Moments(10, 10, 0, 0, 10, 0, 0, 10, 0, 0, 10, 0, 0, 10)
    return [
        StratumSample("en", "both", 1_000, (Design(0.1, 100 + pending, 100, looked),)),
        StratumSample("en", "unflagged", 1_000, (Design(0.1, 100 + blind_pending, 100, missed),)),
    ]


def test_band_is_worked_out_by_hand() -> None:
    """Half of the flagged sample pending: 40 of the 80 per cent found are known, and 50 per cent may be found yet."""
    band = pending_band(cell(pending=100))

    assert band is not None
    assert band == pytest.approx((400 / 1_100, 800 / 1_100, 900 / 1_100, 100))


def test_pending_unflagged_documents_can_only_hold_nothing() -> None:
    """What they hold is missed by definition; at best they hold nothing, and half of those misses is no more."""
    band = pending_band(cell(blind_pending=100))

    assert band is not None
    assert band == pytest.approx((800 / 1_100, 800 / 1_100, 800 / 1_050, 100))


def test_band_has_no_width_when_every_label_is_in() -> None:
    """Both ends are the estimate exactly."""
    band = pending_band(cell())

    assert band is not None
    assert band.all_missed == band.as_labelled == band.all_found
    assert band.pending == 0


def test_more_pending_documents_make_a_wider_band() -> None:
    """One end falls and the other rises with each label that is missing."""
    bands = [pending_band(cell(pending, pending)) for pending in (0, 5, 20, 100, 1_000)]

    assert None not in bands
    ends = [(band.all_missed, -band.all_found) for band in bands if band]
    assert sorted(ends, reverse=True) == ends
    assert len(set(ends)) == 5


@given(samples())
def test_band_is_that_of_the_documents_one_by_one(sample: tuple[list[Document], Mapping[Place, int]]) -> None:
    """Each pending document found or missed, holding what its stratum's labelled ones hold on average."""
    documents, census = sample
    strata = rows(documents, census)
    band = pending_band(strata)
    recall = population_recall(strata)

    assert (recall.estimate is None) == (band is None)
    if band is not None:
        expected = drift_oracles.pending_band(documents, census)
        assert pytest.approx(expected, rel=1e-9, abs=1e-12) == (band.all_missed, band.all_found)
        assert pytest.approx(recall.estimate, rel=1e-9) == band.as_labelled
        assert 0 <= band.all_missed <= band.as_labelled <= band.all_found <= 1
        assert sum(not one.labelled for one in documents) == band.pending


@given(samples())
def test_order_and_splitting_of_rows_change_nothing(sample: tuple[list[Document], Mapping[Place, int]]) -> None:
    """Partitions and workers can't change a band in its last bit."""
    documents, census = sample
    half = len(documents) // 2
    parts = rows(documents[half:], dict.fromkeys(census, 0)) + rows(documents[:half], census)

    assert pending_band(rows(documents, census)) == pending_band(parts)


def test_stratum_without_a_label_is_wholly_pending() -> None:
    """Half of the flagged documents in a stratum that was drawn from and has no label: half of all isn't known."""
    labelled, blind = cell()
    waiting = StratumSample("en", "loose_only", 1_000, (Design(0.1, 30, 0, Moments()),))

    band = pending_band([labelled, waiting, blind])

    assert band is not None
    assert band == pytest.approx((800 / 2_100, 1_600 / 2_100, 1_800 / 2_100, 30))


def test_stratum_that_was_not_drawn_from_is_not_pending() -> None:
    """No task, no pending label: it is taken as its neighbours, as population recall does."""
    labelled, blind = cell()

    band = pending_band([labelled, StratumSample("en", "loose_only", 7, ()), blind])

    assert band is not None
    assert band.all_missed == band.as_labelled == band.all_found


@pytest.mark.parametrize(
    "strata",
    [
        [],
        [StratumSample("en", "both", 9, ())],
        [StratumSample("en", "both", 9, (Design(0.5, 4, 0, Moments()),))],
        [StratumSample("en", "both", 9, (Design(0.5, 4, 4, Moments()),))],
        [cell()[0], StratumSample("en", "unflagged", 900, (Design(0.5, 4, 0, Moments()),))],
        [cell()[1], StratumSample("en", "both", 900, (Design(0.5, 4, 0, Moments()),))],
    ],
)
def test_no_data_gives_no_band(strata: list[StratumSample]) -> None:
    """Nothing labelled, no truth, or a kind of documents that nobody has labelled: None, never 0."""
    assert pending_band(strata) is None


def test_nothing_found_and_nothing_else_known_is_a_band_at_zero() -> None:
    """The only occurrence stands in an unflagged document: recall is 0 whatever the pending ones say."""
    flagged = StratumSample("en", "both", 20, (Design(0.5, 10, 5, Moments()),))

    assert pending_band([flagged, cell()[1]]) == PendingBand(0.0, 0.0, 0.0, 5)


def test_unlabelled_language_leaves_a_recall_of_zero_its_band() -> None:
    """As population recall has it: nothing is there to be found where looked, whatever nobody has looked at."""
    flagged = StratumSample("en", "both", 20, (Design(0.5, 10, 10, Moments()),))
    unseen = StratumSample("nl", "unflagged", 900, (Design(0.5, 4, 0, Moments()),))

    assert pending_band([flagged, cell()[1], unseen]) == PendingBand(0.0, 0.0, 0.0, 4)


def test_completeness_counts_what_is_missing_for_whatever_reason() -> None:
    """Languages together, by stratum in their own order; skipped tasks are in `sampled` and not in `labelled`."""
    found = completeness([cell(blind_pending=300)[1], cell(pending=100)[0], StratumSample("nl", "both", 5, ())])

    assert found == (Completeness("both", 200, 100), Completeness("unflagged", 400, 100))
    assert [(one.pending, one.ratio) for one in found] == [(100, 0.5), (300, 0.25)]


def test_completeness_of_nothing_drawn_has_no_value() -> None:
    """0 of 0 isn't complete, nor incomplete."""
    assert [one.ratio for one in completeness([StratumSample("nl", "both", 5, ())])] == [None]
    assert completeness([]) == ()


def test_designs_that_cannot_be_are_refused() -> None:
    """More labelled than drawn is double counting upstream."""
    with pytest.raises(ValueError, match="labelled"):
        pending_band([StratumSample("en", "both", 9, (Design(0.5, 4, 5, Moments()),))])
