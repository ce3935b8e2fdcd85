"""Prevalence: a weighted total with an upper limit where nothing was seen."""

from __future__ import annotations

from math import inf

import oracles
import pytest
from cells import CONFIDENCES, Cell, cells, extremes
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.prevalence import PrevalenceLimits, prevalence
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.estimators.wilson import wilson
from monitor.records import Stratum


@pytest.mark.parametrize("census", [500, 1_000_000])
def test_none_in_five_hundred_documents_still_has_an_upper_limit(census: int) -> None:
    """Prevalence 0 is a value, with at most .0074 (Wilson: .0077) above it; recall of the entity is no value at all."""
    cell = [StratumSample("en", "unflagged", census, (Design(500 / census, 500, 500, Moments()),))]
    documents = prevalence(cell).documents
    counted = wilson(0, 500)

    assert documents is not None
    assert counted is not None
    assert (documents.estimate, documents.lower, round(documents.upper, 4)) == (0.0, 0.0, 0.0074)
    assert documents.upper < counted.upper
    assert (population_recall(cell).estimate, population_recall(cell).reason) == (None, "no_truth")


def test_weights_bring_the_enriched_strata_back() -> None:
    """80 + 4 of 1,000 drawn at .1 and 2 of 9,000 at .01: 1,040 of 10,000 documents."""
    cell = [
        StratumSample("en", "both", 1000, (Design(0.1, 100, 100, Moments(84, 4, 80, *[84] * 11)),)),
        StratumSample("en", "unflagged", 9000, (Design(0.01, 90, 90, Moments(2, 2, 0, *[2] * 11)),)),
    ]
    limits = prevalence(cell)

    assert limits.documents is not None
    assert limits.per_1000 is not None
    assert pytest.approx((0.104, 104.0)) == (limits.documents.estimate, limits.per_1000.estimate)
    assert (limits.with_entity, limits.occurrences) == (86, 86)


@pytest.mark.parametrize(
    ("having", "lower", "upper"), [(250, 0.9852, 1.0), (234, 0.8961, 0.9634), (16, 0.0366, 0.1039), (0, 0.0, 0.0148)]
)
def test_limits_mirror_those_of_documents_without_the_entity(having: int, lower: float, upper: float) -> None:
    """All of 250, all read, is as sure as none of them; where 16 lack it, not all documents hold it."""
    moments = Moments(*[having] * len(Moments()))
    documents = prevalence([StratumSample("es", "both", 250, (Design(1.0, 250, 250, moments),))]).documents

    assert documents is not None
    assert (having / 250, lower, upper) == (documents.estimate, round(documents.lower, 4), round(documents.upper, 4))


def test_share_of_documents_is_at_most_one() -> None:
    """Every document has the entity: the upper limit isn't 1.7."""
    limits = prevalence([StratumSample("en", "both", 10, (Design(1.0, 5, 5, Moments(5, 0, *[5] * 12)),))])

    assert limits.documents is not None
    assert (limits.documents.estimate, limits.documents.upper) == (1.0, 1.0)


@pytest.mark.parametrize(
    "cell",
    [
        [],
        [StratumSample("en", "unflagged", 100, ())],
        [
            StratumSample("en", "unflagged", 100, ()),
            StratumSample("en", "both", 10, (Design(1.0, 5, 5, Moments()),)),
        ],
    ],
)
def test_no_label_of_a_kind_gives_no_value(cell: list[StratumSample]) -> None:
    """What unlabelled documents hold is unknown, not nothing."""
    assert PrevalenceLimits(None, None, 0, 0) == prevalence(cell)


@pytest.mark.parametrize("stratum", ["both", "unflagged"])
@pytest.mark.parametrize(("documents", "known"), [(10, True), (11, False)])
def test_large_language_without_labels_gives_no_value(stratum: Stratum, documents: int, *, known: bool) -> None:
    """Ten of 1,000 are pooled with the others; more are unknown."""
    labelled = StratumSample("en", stratum, 990, (Design(0.1, 99, 99, Moments.of(0, 1)),))
    limits = prevalence([labelled, StratumSample("nl", stratum, documents, ())])

    assert (known, known) == (limits.documents is not None, limits.per_1000 is not None)


@settings(max_examples=60, deadline=None)
@given(cell=cells())
def test_no_value_where_a_kind_is_unlabelled(cell: Cell) -> None:
    """There is a value where something is labelled, and neither kind is unknown to the oracle."""
    unknown = any(oracles.unlabelled(*cell, flagged=kind) for kind in (True, False))
    expected = any(one.labelled for one in cell[0]) and not unknown

    assert expected == (prevalence(oracles.rows(*cell)).documents is not None)


@settings(max_examples=300, deadline=None)
@given(cell=extremes(), confidence=st.sampled_from(CONFIDENCES))
def test_no_sample_ends_the_board(cell: list[StratumSample], confidence: float) -> None:
    """Whatever can be sampled gives finite limits in order, or none: never an exception, NaN or infinity."""
    limits = prevalence(cell, confidence)
    if limits.documents is not None and limits.per_1000 is not None:
        assert 0 <= limits.documents.lower <= limits.documents.estimate <= limits.documents.upper <= 1
        assert 0 <= limits.per_1000.lower <= limits.per_1000.estimate <= limits.per_1000.upper < inf


@settings(max_examples=60, deadline=None)
@given(cell=cells())
def test_limits_equal_the_oracle(cell: Cell) -> None:
    """Both rates to 1e-9 of the same formulas on lists of documents, ordered and never negative."""
    limits = prevalence(oracles.rows(*cell))
    if limits.documents is not None and limits.per_1000 is not None:
        documents, per_1000 = oracles.prevalence(*cell)

        assert pytest.approx(documents, rel=1e-9, abs=1e-9) == limits.documents
        assert pytest.approx(per_1000, rel=1e-9, abs=1e-9) == limits.per_1000
        assert 0 <= limits.documents.lower <= limits.documents.estimate <= limits.documents.upper <= 1
        assert 0 <= limits.per_1000.lower <= limits.per_1000.estimate < limits.per_1000.upper
