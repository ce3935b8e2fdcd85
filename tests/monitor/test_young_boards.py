"""Boards with few labels: whatever a plan asks the bounds, even of a fraction of a document, they answer."""

from __future__ import annotations

import oracles
import pytest
from cells import Cell, cells, extremes
from hypothesis import given, settings

from monitor.advised_rates import Place
from monitor.cells import CellSample, Version
from monitor.config import Sampling
from monitor.estimators.certified import certified_recall
from monitor.estimators.planner import caught_share
from monitor.estimators.prevalence import prevalence
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.estimators.union import unite
from monitor.planning import Question, half_widths, plan_board
from monitor.readings import ANY
from monitor.tally import ANY_ENTITY

VERSION = Version("x", "1")
RARE = (
    StratumSample("en", "both", 8_000, (Design(0.05, 400, 400, Moments.of(1, 1).plus(Moments.of(0, 3))),)),
    StratumSample("en", "unflagged", 80_000, (Design(0.005, 400, 400, Moments()),)),
)
"""An entity that two labels of 800 hold."""
FEW = (1e-9, 0.001, 0.3, 1.0, 2.0, 60.0)
"""Labels that a trial design is worth."""


def _board(strata: tuple[StratumSample, ...]) -> list[CellSample]:
    """Return the board of one entity: each language, and the roll-ups."""
    languages = sorted({row.language for row in strata})
    places = [*[(language, [language]) for language in languages], (ANY, languages)]
    return [
        CellSample(entity, name, VERSION, current=True, days=1, strata=tuple([r for r in strata if r.language in own]))
        for name, own in places
        for entity in ("PERSON", ANY_ENTITY)
    ]


def _check(rows: list[StratumSample]) -> None:
    """Ask everything that a plan asks of one cell, in numbers that can be, or none."""
    strata = unite(rows)
    rates: dict[Place, float] = {(row.language, row.stratum): 0.01 for row in strata}
    for width in (*half_widths(strata, FEW), *half_widths(strata, FEW, rates)):
        assert width is None or 0 <= width <= 0.5
    recall, share = population_recall(strata), caught_share(strata)
    assert (recall.reason is None) == (recall.lower is not None)
    assert share is None or 0 <= share <= 1
    assert (share is None) == (certified_recall(strata) is None)
    documents = prevalence(strata).documents
    assert documents is None or 0 <= documents.lower <= documents.estimate <= documents.upper <= 1
    for pace in (None, 60.0):
        question = Question(0.3, labels_per_day=pace)
        plan = plan_board(_board(strata), Sampling(random_rate=0.1), question, lambda _entity, _language: None)
        for cell in plan.cells:
            for wait in (cell.to_half_width, cell.advised, cell.to_certified):
                assert wait is None or wait.days is None or wait.days >= 0


@settings(max_examples=40, deadline=None)
@given(cell=cells())
def test_few_labels_never_end_a_plan(cell: Cell) -> None:
    """A handful of documents, some of them unlabelled: numbers, or none with a reason."""
    _check(oracles.rows(*cell))


@settings(max_examples=30, deadline=None)
@given(cell=extremes())
def test_no_sample_ends_a_plan(cell: list[StratumSample]) -> None:
    """The same at the ends of every range."""
    _check(cell)


@pytest.mark.parametrize("labels", FEW)
def test_a_fraction_of_a_document_has_a_wide_interval(labels: float) -> None:
    """So few that the lower limit of the flagged total is 0: recall may be anything, and that's no error."""
    (width,) = half_widths(RARE, [labels])
    assert width is not None
    assert 0.4 < width <= 0.5


def test_a_rare_entity_has_a_plan() -> None:
    """The advised rates are tried from two labels on, which are worth hardly any occurrence here."""
    plan = plan_board(_board(RARE), Sampling(), Question(labels_per_day=60), lambda _entity, _language: None)
    waits = [cell.advised for cell in plan.cells]
    assert len(waits) == 4
    assert all(wait is not None and wait.labels is not None and wait.labels > 800 for wait in waits)


def test_caught_share_is_weighted() -> None:
    """One caught document that stands for four, and a missed one that stands for one."""
    rows = [
        StratumSample("en", "both", 4, (Design(0.25, 1, 1, Moments.of(2, 2)),)),
        StratumSample("nl", "both", 1, (Design(1.0, 1, 1, Moments.of(1, 2)),)),
    ]
    assert caught_share(rows) == 0.8
    assert caught_share(rows[:0]) is None
