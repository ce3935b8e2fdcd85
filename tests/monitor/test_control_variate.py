"""Prevalence by the census of what the detector named: formula, limits, where it gives way, and what it's worth."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
import oracles
import pytest
from cells import CONFIDENCES, Cell, cells, extremes
from hypothesis import given, settings
from hypothesis import strategies as st
from limit_coverage import LOWER, TWO_SIDED, floor
from named_traffic import GRID, Node, Said, say
from oracles import Document, Place

from monitor.estimators.control_variate import Named, beta_limits
from monitor.estimators.prevalence import prevalence
from monitor.estimators.sample import Moments, StratumSample


class Listed(NamedTuple):
    """A cell's documents with what the detector named, and how many such documents there are."""

    documents: list[Document]
    census: dict[Place, int]
    named: int

    @property
    def rows(self) -> tuple[StratumSample, ...]:
        """The true occurrences."""
        return tuple(oracles.rows(self.documents, self.census))

    def known(self) -> Named:
        """Return the census with both samples."""
        right = [d._replace(y=d.detected) for d in self.documents]
        unnamed = [d._replace(t=0, y=0 if d.detected else d.y) for d in self.documents]
        return Named(self.named, tuple(oracles.rows(right, self.census)), tuple(oracles.rows(unnamed, self.census)))


@st.composite
def listed(draw: st.DrawFn) -> Listed:
    """Draw a cell; a document with a found occurrence, and some without, is named."""
    sample, census = draw(cells())
    detected = [d._replace(detected=d.t + (draw(st.sampled_from((0, 0, 1, 5))) if d.flagged else 0)) for d in sample]
    looked = sum(d.detected > 0 for d in detected if d.labelled)
    return Listed(detected, census, max(looked + draw(st.sampled_from((-1, 0, 0, 1, 50, 90_000))), 0))


@settings(max_examples=150, deadline=None)
@given(cell=listed())
def test_limits_equal_the_oracle(cell: Listed) -> None:
    """Both rates to 1e-9 of the same formulas on lists of documents; those of weights alone where it gives way."""
    limits = prevalence(cell.rows, named=cell.known())
    if limits.documents is not None and limits.per_1000 is not None:
        documents, per_1000 = oracles.controlled_prevalence(*cell)

        assert pytest.approx(documents, rel=1e-9, abs=1e-9) == limits.documents
        assert pytest.approx(per_1000, rel=1e-9, abs=1e-9) == limits.per_1000
        assert limits.documents.lower < limits.documents.upper or limits.documents.estimate == 1


@settings(max_examples=200, deadline=None)
@given(
    strata=extremes(), confidence=st.sampled_from(CONFIDENCES), census=st.sampled_from((0, 1, 50, 10_000, 3 * 10**9))
)
def test_no_sample_ends_the_board(strata: list[StratumSample], confidence: float, census: int) -> None:
    """Whatever can be sampled gives finite limits in order, or none: never an exception, NaN or infinity."""
    limits = prevalence(strata, confidence, Named(census, tuple(strata), tuple(blank(strata))))
    if limits.documents is not None and limits.per_1000 is not None:
        assert 0 <= limits.documents.lower <= limits.documents.estimate <= limits.documents.upper <= 1
        assert 0 <= limits.per_1000.lower <= limits.per_1000.estimate <= limits.per_1000.upper < inf


def blank(strata: list[StratumSample]) -> list[StratumSample]:
    """Return the same samples without an occurrence."""
    return [row._replace(designs=tuple(design._replace(moments=Moments()) for design in row.designs)) for row in strata]


def _cell(named: int, right: int, unnamed: int) -> Cell:
    """Return 500 labelled of 10,000 documents: so many named, so many of them right, and missed ones."""
    place: Place = ("en", "both")
    rest = 500 - named - unnamed
    kinds = ((right, 1, 1, 1), (named - right, 0, 0, 1), (unnamed, 0, 1, 0), (rest, 0, 0, 0))
    sample = [Document(*place, 0.05, t, y, detected=d) for n, t, y, d in kinds for _ in range(n)]
    return sample, {place: 10_000}


def test_named_documents_count_as_many_as_there_are() -> None:
    """60 of 500 were drawn where 1,000 of 10,000 are named: 1,000, less a tenth, and 20 that weren't named."""
    cell = Listed(*_cell(60, 54, 1), 1_000)
    with_census, without = prevalence(cell.rows, named=cell.known()), prevalence(cell.rows)

    assert with_census.documents is not None
    assert without.documents is not None
    assert pytest.approx((0.092, 0.11)) == (with_census.documents.estimate, without.documents.estimate)
    assert with_census.documents.upper - with_census.documents.lower < (
        0.9 * (without.documents.upper - without.documents.lower)
    )


def test_occurrences_are_never_fewer_than_documents_that_hold_one() -> None:
    """Both are raised to the same census."""
    cell = Listed(*_cell(30, 30, 0), 1_000)
    limits = prevalence(cell.rows, named=cell.known())

    assert limits.documents is not None
    assert limits.per_1000 is not None
    assert pytest.approx(1_000 * limits.documents.estimate) == limits.per_1000.estimate == pytest.approx(100)


@pytest.mark.parametrize(("named", "right"), [(50, 50), (50, 0), (1, 1), (1, 0)])
def test_no_error_seen_and_nothing_but_errors_leave_a_width(named: int, right: int) -> None:
    """Residuals are all 0: the limits lie apart, on both sides of what they can be."""
    cell = Listed(*_cell(named, right, 0), 1_000)
    documents = prevalence(cell.rows, named=cell.known()).documents

    assert documents is not None
    assert documents.estimate == pytest.approx(0.1 if right else 0)
    assert documents.upper > documents.estimate + 0.005
    assert documents.lower < documents.estimate - 0.005 if right else documents.lower == 0


@pytest.mark.parametrize(("labelled", "census"), [(0, 1_000), (60, 59), (0, 0), (60, 10_001)])
def test_census_that_can_not_be_used_changes_nothing(labelled: int, census: int) -> None:
    """No named document is labelled, fewer are named than are, or more than there are at all: weights alone."""
    cell = Listed(*_cell(labelled, labelled, 3), census)

    assert prevalence(cell.rows) == prevalence(cell.rows, named=cell.known())


def test_counts_of_different_moments_change_nothing() -> None:
    """More documents hold the entity than are named: whoever counts one of the two is behind."""
    cell = Listed(*_cell(20, 20, 30), 1_000)
    behind = cell.known()._replace(unnamed=tuple(blank(list(cell.rows))))

    assert prevalence(cell.rows) == prevalence(cell.rows, named=behind)


def test_beta_limits_are_exact_in_the_corners() -> None:
    """None of n: upper limit 1 - (α/2)^(1/n); all of n: its mirror."""
    none, everything = beta_limits(0.0, 20.0), beta_limits(1.0, 20.0)

    assert (none.estimate, none.lower, everything.estimate, everything.upper) == (0.0, 0.0, 1.0, 1.0)
    assert pytest.approx(1 - 0.025 ** (1 / 20)) == none.upper
    assert pytest.approx(0.025 ** (1 / 20)) == everything.lower


def _held(node: Node, streams: int, seed: int) -> tuple[int, int, int, float, float]:
    """Return streams, those whose limits and lower limits hold the truth, and both mean widths."""
    said = say(node, streams, seed)
    above = sum(one.limits.lower <= one.truth for one in said)
    held = sum(one.limits.lower <= one.truth <= one.limits.upper for one in said)
    return len(said), held, above, _width(said, controlled=True), _width(said, controlled=False)


def _width(said: list[Said], *, controlled: bool) -> float:
    limits = [one.limits if controlled else one.by_weights for one in said]
    return sum(each.upper - each.lower for each in limits) / len(limits)


def _judge(streams: int) -> None:
    total = over = 0
    for seed, node in enumerate(GRID):
        n, held, above, width, by_weights = _held(node, streams, seed)
        total, over = total + n, over + held

        assert held / n >= floor(TWO_SIDED, n), node
        assert above / n >= floor(LOWER, n), node
        assert width <= by_weights * 1.05, node
    assert over / total >= TWO_SIDED


def test_limits_hold_the_prevalence_of_generated_traffic() -> None:
    """H2's floors: 40 streams a node, limits never wider than those of weights alone by more than a twentieth."""
    _judge(40)


@pytest.mark.parametrize("recall", [0.3, 0.95, 1.0])
@pytest.mark.parametrize("share", [0.5, 0.7, 0.93])
def test_limits_hold_where_most_documents_hold_the_entity(share: float, recall: float) -> None:
    """300 streams of a node, by the documents without it."""
    n, held, above, *_ = _held(Node(share, recall, 0.985, (0.1, 0.01)), 300, 3)

    assert held / n >= floor(TWO_SIDED, n)
    assert above / n >= floor(LOWER, n)


def test_entity_named_in_every_document_has_limits_close_below_all_of_them() -> None:
    """250 of 250, all read and all right: at least .979, where a Poisson count of 250 gives .879."""
    sample = [Document("es", "both", 1.0, 1, 1, detected=1)] * 250
    cell = Listed(sample, {("es", "both"): 250}, 250)
    documents = prevalence(cell.rows, named=cell.known()).documents

    assert documents is not None
    assert (documents.estimate, round(documents.lower, 3), documents.upper) == (1.0, 0.979, 1.0)


@pytest.mark.slow
def test_limits_hold_the_prevalence_of_much_generated_traffic() -> None:
    """1,000 streams a node."""
    _judge(1_000)


def test_narrower_limits_would_be_seen() -> None:
    """Limits of a confidence of .7 hold less often than .94."""
    held = [one.limits.lower <= one.truth <= one.limits.upper for one in say(GRID[0], 400, 5, confidence=0.7)]

    assert sum(held) / len(held) < TWO_SIDED


def test_census_pays_where_the_detector_is_good_and_costs_nothing_where_it_is_not() -> None:
    """Standard errors against those of weights alone: under .6 at recall .9 and precision .95, at most 1.05 at .3."""
    good, poor = Node(0.1, 0.9, 0.95, (0.1, 0.1)), Node(0.1, 0.3, 0.3, (0.1, 0.1))
    ratios = []
    for node in (good, poor):
        said = say(node, 400, 1)
        errors = [[getattr(one, which).estimate - one.truth for one in said] for which in ("limits", "by_weights")]
        ratios.append(float(np.std(errors[0]) / np.std(errors[1])))

    assert ratios[0] < 0.6
    assert 0.9 < ratios[1] < 1.05


def test_regression_on_detected_spans_does_not_pay_for_precision() -> None:
    """Of documents with 1 + Poisson(2) spans, each right with .8: the standard error is over .9 times the ratio's."""
    rng = np.random.default_rng(1)
    detected = 1 + rng.poisson(2, 5_000)
    right = rng.binomial(detected, 0.8)
    truth = right.sum() / detected.sum()
    by_ratio, by_regression = [], []
    for _ in range(1_500):
        drawn = rng.random(5_000) < 0.05
        d, c = detected[drawn], right[drawn]
        slope = np.cov(c, d)[0, 1] / d.var(ddof=1)
        by_ratio.append(c.sum() / d.sum())
        by_regression.append((c.mean() + slope * (detected.mean() - d.mean())) / detected.mean())
    errors = [float(np.sqrt(np.mean((np.array(said) - truth) ** 2))) for said in (by_regression, by_ratio)]

    assert 0.9 < errors[0] / errors[1] < 1.1
