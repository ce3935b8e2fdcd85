"""Weights add up to the census, rows may come split and in any order, and documents without labels find a home."""

from __future__ import annotations

import oracles
import pytest
from cells import Cell, cells, split
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.post_stratification import has_unlabelled, weigh
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.estimators.union import unite

ONE_MISS = Moments.of(0, 1)


def _row(language: str, stratum: str, census: int, labelled: int, *, sampled: int | None = None) -> StratumSample:
    moments = ONE_MISS if labelled else Moments()
    design = Design(0.5, labelled if sampled is None else sampled, labelled, moments)
    return StratumSample(language, stratum, census, (design,))  # type: ignore[arg-type]  # a literal from the test


def _weights(*rows: StratumSample) -> list[float]:
    return [row.parts[0][0] for row in weigh(unite(rows))]


@settings(max_examples=60, deadline=None)
@given(cell=cells())
def test_weights_equal_the_oracle(cell: Cell) -> None:
    """Weight, largest weight and what each row stands for, document by document."""
    expected = {
        (one.document.place, one.document.probability): (one.weight, one.largest)
        for one in oracles.weigh(*cell)
        if one.document.y
    }
    actual = {
        ((row.sample.language, row.sample.stratum), probability): (weight, row.largest)
        for row in weigh(unite(oracles.rows(*cell)))
        for weight, probability, _ in row.parts
    }

    assert expected.keys() == actual.keys()
    for place, weights in expected.items():
        assert pytest.approx(weights, rel=1e-9) == actual[place]


def test_weights_of_a_stratum_add_up_to_its_census() -> None:
    """Chance drew 40 of 100 at π = .5: each stands for 2.5, not for 2."""
    assert _weights(_row("en", "both", 100, 40)) == [2.5]


def test_missing_labels_are_carried_by_those_that_are_in() -> None:
    """Half of the labels are missing: the others weigh twice as much."""
    assert _weights(_row("en", "both", 100, 20, sampled=40)) == [5.0]


def test_flagged_stratum_without_a_label_is_pooled_with_the_flagged_ones_of_its_language() -> None:
    """Its 30 documents are shared in proportion to the census; other languages and the unflagged don't change."""
    rows = (
        _row("en", "both", 100, 50),
        _row("en", "detector_only", 30, 0),
        _row("en", "loose_only", 200, 50),
        _row("en", "unflagged", 1000, 50),
        _row("es", "both", 100, 50),
    )

    assert pytest.approx([110 / 50, 220 / 50, 20.0, 2.0]) == _weights(*rows)


def test_pooling_does_not_mix_completeness() -> None:
    """One stratum has a fifth of its labels in: it keeps its census when another's documents are shared out."""
    rows = (
        _row("en", "both", 100, 10, sampled=50),
        _row("en", "loose_only", 100, 50),
        _row("en", "detector_only", 20, 0),
    )

    assert pytest.approx([11.0, 2.2]) == _weights(*rows)


def test_small_language_without_labels_is_pooled_with_the_same_kind_of_the_others() -> None:
    """In a roll-up, a few unlabelled documents are like those elsewhere, flagged like flagged, the others likewise."""
    rows = (
        _row("en", "both", 990, 50),
        _row("en", "unflagged", 9900, 50),
        _row("es", "loose_only", 10, 0),
        _row("es", "unflagged", 100, 0),
    )

    assert pytest.approx([1000 / 50, 10_000 / 50]) == _weights(*rows)


def test_large_language_without_labels_is_not_made_of_its_neighbours() -> None:
    """Above a hundredth of a kind, nobody's labels stand for it: the weights of the others don't change."""
    rows = (
        _row("en", "both", 990, 50),
        _row("en", "unflagged", 9900, 50),
        _row("es", "loose_only", 10, 0),
        _row("es", "unflagged", 101, 0),
    )

    assert pytest.approx([1000 / 50, 9900 / 50]) == _weights(*rows)


@pytest.mark.parametrize("stratum", ["both", "unflagged"])
@pytest.mark.parametrize("thousands", [1, 29, 57, 999_999])
def test_languages_without_labels_may_hold_a_hundredth_together(stratum: str, thousands: int) -> None:
    """Exactly a hundredth is still pooled, one document more isn't, at any size and however many languages share it."""

    def told(more: int) -> bool:
        rows = (
            _row("en", stratum, 990 * thousands, 5),
            _row("es", stratum, 4 * thousands + more, 0),
            _row("fy", stratum, 6 * thousands, 0),
        )
        return has_unlabelled(rows, flagged=stratum != "unflagged")

    assert (told(0), told(1)) == (False, True)


def test_kinds_are_judged_apart() -> None:
    """A language whose flagged documents are labelled is still unknown where nobody looked."""
    rows = (
        _row("en", "both", 100, 50),
        _row("en", "unflagged", 100, 50),
        _row("es", "both", 100, 50),
        _row("es", "unflagged", 100, 0),
    )

    assert (has_unlabelled(rows, flagged=True), has_unlabelled(rows, flagged=False)) == (False, True)


@settings(max_examples=60, deadline=None)
@given(cell=cells(), flagged=st.booleans())
def test_what_is_unlabelled_equals_the_oracle(cell: Cell, flagged: bool) -> None:  # noqa: FBT001  # drawn
    """Language by language, over lists of documents."""
    expected = oracles.unlabelled(*cell, flagged=flagged)

    assert expected == has_unlabelled(unite(oracles.rows(*cell)), flagged=flagged)


def test_kind_without_any_label_is_left_out_and_told() -> None:
    """Nothing can stand for them: the estimators give a reason instead of a number."""
    rows = unite([_row("en", "both", 100, 50), _row("en", "unflagged", 500, 0)])

    assert [row.sample.stratum for row in weigh(rows)] == ["both"]
    assert has_unlabelled(rows, flagged=False)
    assert not has_unlabelled(rows, flagged=True)


@settings(max_examples=60, deadline=None)
@given(cell=cells(), seed=st.integers(0, 99))
def test_split_and_shuffled_rows_unite_to_the_same_sample(cell: Cell, seed: int) -> None:
    """Each document in a row of its own, in any order, the census beside: bit for bit one sample."""
    assert unite(oracles.rows(*cell)) == unite(split(cell, seed))


def test_census_behind_its_sample_is_raised_to_it() -> None:
    """Two stages count; every drawn document was routed, so there are at least as many."""
    assert unite([_row("en", "both", 3, 5)])[0].census == 5


@pytest.mark.parametrize(
    "design",
    [
        Design(0.0, 1, 1, Moments()),
        Design(1.1, 1, 1, Moments()),
        Design(float("nan"), 1, 1, Moments()),
        Design(0.5, 1, 2, Moments()),
        Design(0.5, 1, 0, ONE_MISS),
        Design(0.5, 1, -1, Moments()),
    ],
)
def test_impossible_designs_are_refused(design: Design) -> None:
    """A rate of 0 could not have drawn it; labels can't outnumber tasks."""
    with pytest.raises(ValueError, match=r"sampled|probability"):
        unite([StratumSample("en", "both", 10, (design,))])
