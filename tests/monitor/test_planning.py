"""A plan for the board: what labels would buy in each cell, and no number where nothing is known."""

from __future__ import annotations

from math import nan

import pytest

from monitor.advised_rates import Place
from monitor.cells import CellSample, Version
from monitor.config import Sampling
from monitor.estimators.certified import certified_recall
from monitor.estimators.planner import wait_for_certified, wait_for_half_width
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.planning import BoardPlan, Question, half_widths, labels_a_day, plan_board, planned_samples
from monitor.readings import ANY

OLD, NEW = Version("x", "1"), Version("x", "2")
HITS, MISSES = (Moments(*[n * one for one in Moments.of(t, 1)]) for n, t in ((112, 1), (6, 0)))
FOUR = Moments(*[4 * one for one in Moments.of(0, 1)])
FLAGGED = StratumSample("en", "both", 4_100, (Design(200 / 4_100, 200, 200, HITS.plus(MISSES)),))
BLIND = StratumSample("en", "unflagged", 380_000, (Design(200 / 380_000, 200, 200, FOUR),))
SAMPLING = Sampling(random_rate=200 / 380_000, loose_rate=0.0482)


def samples(*entities: str, version: Version = NEW, current: bool = True, days: int = 10) -> list[CellSample]:
    """Return a board of one language: some entities, all alike, and the roll-ups."""
    return [
        CellSample(entity, language, version, current, days, (FLAGGED, BLIND))
        for entity in (*entities, ANY)
        for language in ("en", ANY)
    ]


def current(entity: str, language: str, strata: tuple[StratumSample, ...]) -> CellSample:
    """Return a cell of the current version."""
    return CellSample(entity, language, NEW, current=True, days=10, strata=strata)


def planned(found: list[CellSample], question: Question = Question()) -> BoardPlan:  # noqa: B008  # it's frozen
    """Return the plan of some cells without targets."""
    return plan_board(found, SAMPLING, question, lambda _entity, _language: None)


def test_today_is_on_the_curve() -> None:
    """At the labels and rates of the sample the half-width is the reading's own."""
    read = population_recall((FLAGGED, BLIND))
    assert read.lower is not None
    assert read.upper is not None
    assert half_widths((FLAGGED, BLIND), [400]) == [pytest.approx((read.upper - read.lower) / 2)]


def test_four_times_the_labels_are_the_sample_four_times_over() -> None:
    """The curve is the bound itself, on sums so many times as large."""
    longer = [
        part._replace(
            census=4 * part.census,
            designs=(Design(d.probability, 4 * d.sampled, 4 * d.labelled, Moments(*[4 * m for m in d.moments])),),
        )
        for part in (FLAGGED, BLIND)
        for d in part.designs
    ]
    read = population_recall(longer)
    assert read.lower is not None
    assert read.upper is not None
    assert half_widths((FLAGGED, BLIND), [1_600]) == [pytest.approx((read.upper - read.lower) / 2)]


def test_a_miss_does_not_go_away_where_its_rate_is_lowered() -> None:
    """Expected sums aren't rounded: half a miss still is one, and the interval wider than without any."""
    one = Moments.of(0, 1)
    seen, none = (
        (FLAGGED, StratumSample("en", "unflagged", 100_000, (Design(0.01, 1_000, 1_000, moments),)))
        for moments in (one, Moments())
    )
    rates: dict[Place, float] = {("en", "both"): 200 / 4_100, ("en", "unflagged"): 0.003}
    (with_miss,), (without,) = half_widths(seen, [500], rates), half_widths(none, [500], rates)
    assert with_miss is not None
    assert without is not None
    assert with_miss > without


def test_no_label_has_no_half_width() -> None:
    """No data gives no number."""
    assert half_widths([FLAGGED._replace(designs=())], [100, 200]) == [None, None]


def test_each_number_is_its_estimators_own() -> None:
    """The plan asks them with the cell's own share of the labels a day."""
    (plan,) = [c for c in planned(samples("PERSON"), Question(0.1, 0.2, 60)).cells if c.sample.language == "en"][:1]
    strata = FLAGGED, BLIND
    certified = certified_recall(strata)
    assert certified is not None
    assert (plan.labelled, plan.with_entity, plan.labels_per_day) == (400, 122, 60)
    assert plan.to_half_width == wait_for_half_width(strata, 0.1, 60)
    assert plan.to_certified == wait_for_certified(strata, 0.2, 60)
    assert plan.certified == certified.lower


def test_advised_rates_take_fewer_labels() -> None:
    """The design of the specification, three times fewer at one rate for all; the curve bears the model out."""
    even = Sampling(random_rate=0.0026, loose_rate=0.0)
    found = plan_board(samples("PERSON"), even, Question(), lambda _entity, _language: None)
    cell = found.cells[0]
    assert cell.gain is not None
    assert cell.gain.times_fewer == pytest.approx(3.0, abs=0.1)
    assert cell.advised is not None
    assert cell.advised.labels is not None
    assert found.advised is not None
    rates = {(row.language, row.stratum): row.rate for row in found.advised.strata}
    below, above = half_widths((FLAGGED, BLIND), [cell.advised.labels, cell.advised.labels * 0.99], rates)
    assert below is not None
    assert above is not None
    assert below <= 0.05 < above


def test_days_at_advised_rates_are_of_what_they_draw() -> None:
    """The cell's languages get what the design gives them."""
    cell = planned(samples("PERSON"), Question(0.05, None, 80)).cells[0]
    assert cell.advised is not None
    assert cell.advised.labels is not None
    assert cell.advised.days == pytest.approx(cell.advised.labels / 80, rel=0.005)


def test_without_a_pace_it_is_what_was_labelled() -> None:
    """400 documents in ten days, in all versions; labels without any roll-up give none."""
    assert labels_a_day(samples("PERSON")) == 40
    assert labels_a_day([*samples("PERSON"), *samples("PERSON", version=OLD, current=False)]) == 80
    assert planned(samples("PERSON")).labels_per_day == 40
    assert labels_a_day([]) is None


def test_a_cell_of_one_language_gets_its_share_of_the_labels() -> None:
    """As many as now: two languages that are labelled alike get half each."""
    strata = FLAGGED, BLIND
    other = tuple(part._replace(language="es") for part in strata)
    board = [
        current("PERSON", "en", strata),
        current("PERSON", "es", other),
        current(ANY, ANY, (*strata, *other)),
    ]
    paces = {
        (c.sample.entity, c.sample.language): c.labels_per_day
        for c in planned(board, Question(labels_per_day=60)).cells
    }
    assert paces == {("PERSON", "en"): 30, ("PERSON", "es"): 30, (ANY, ANY): 60}


def test_only_chosen_cells_of_current_versions_are_planned() -> None:
    """The advice serves all of them, whatever is looked at."""
    board = [*samples("PERSON", "ID"), *samples("PERSON", "ID", version=OLD, current=False)]
    found = plan_board(board, SAMPLING, Question(), lambda _e, _l: None, lambda s: s.entity == "ID")
    assert {(c.sample.entity, c.sample.version) for c in found.cells} == {("ID", NEW)}
    assert found.advised is not None
    assert [(c.entity, c.language) for c in found.advised.cells] == [("ID", "en"), ("PERSON", "en")]


def test_a_language_has_a_version_of_its_own() -> None:
    """Where the newest version doesn't carry a language, the highest of those that do is planned; others aren't."""
    oldest = Version("x", "0.9")
    dutch = tuple(part._replace(language="nl") for part in (FLAGGED, BLIND))
    last, roll_up, before = (
        CellSample("PERSON", language, version, current=False, days=10, strata=dutch)
        for language, version in (("nl", OLD), (ANY, OLD), ("nl", oldest))
    )
    mixed = roll_up._replace(strata=(*dutch, FLAGGED, BLIND))
    newest = samples("PERSON")
    assert planned_samples([before, last, roll_up, *newest]) == [last, roll_up, *newest]
    assert planned_samples([last, mixed, *samples("ID", version=OLD, current=False), *newest]) == [last, *newest]
    other = last._replace(version=Version("y", "1"), current=True)
    assert planned_samples([other, last, *newest]) == [other, last, *newest]


def test_labels_a_day_of_an_earlier_version_go_to_its_successor() -> None:
    """At the rates now a language's labels are all of the version that reads it today."""
    english, spanish = (FLAGGED, BLIND), tuple(part._replace(language="es") for part in (FLAGGED, BLIND))
    board = [
        *samples("PERSON", version=OLD, current=False),
        current("PERSON", "en", english),
        current("PERSON", "es", spanish),
        current(ANY, ANY, (*english, *spanish)),
    ]
    found = planned(board, Question(labels_per_day=60)).cells
    assert [round(c.labels_per_day) for c in found] == [40, 20, 60]


def test_certified_recall_is_asked_for_as_the_target_says() -> None:
    """First the question, then the target, then what is usual."""

    def wanted(question: Question) -> dict[str, float]:
        targets = {"PERSON": 0.8}
        found = plan_board(samples("PERSON"), SAMPLING, question, lambda entity, _: targets.get(entity))
        return {c.sample.entity: c.certified_wanted for c in found.cells}

    assert wanted(Question()) == {"PERSON": 0.8, ANY: 0.9}
    assert wanted(Question(certified=0.3)) == {"PERSON": 0.3, ANY: 0.3}


def test_a_cell_without_a_label_has_a_reason_and_no_number() -> None:
    """Nothing is made up, on a board without any label as beside labelled cells."""
    empty = tuple(part._replace(designs=()) for part in (FLAGGED, BLIND))
    lone = current("ID", "nl", empty)
    for board in ([lone], [*samples("PERSON"), lone]):
        (plan,) = [c for c in planned(board).cells if c.sample == lone]
        assert (plan.read.reason, plan.half_width, plan.labelled) == ("no_label", None, 0)
        numbers = plan.to_half_width, plan.advised, plan.gain, plan.certified, plan.to_certified, plan.price
        assert numbers == (None,) * 6


def test_an_entity_that_nobody_saw_has_no_number_either() -> None:
    """Labels, and none with it."""
    strata = tuple(
        part._replace(designs=tuple([d._replace(moments=Moments()) for d in part.designs])) for part in (FLAGGED, BLIND)
    )
    board = [*samples("PERSON"), current("ID", "en", strata)]
    (plan,) = [c for c in planned(board).cells if c.sample.entity == "ID"]
    assert (plan.read.reason, plan.with_entity, plan.labelled) == ("no_truth", 0, 400)
    numbers = plan.to_half_width, plan.advised, plan.gain, plan.certified, plan.to_certified, plan.price
    assert numbers == (None,) * 6


def test_an_empty_board_has_an_empty_plan() -> None:
    """No cell, no pace, no advice."""
    assert planned([]) == BoardPlan(Question(), None, (), None)


@pytest.mark.parametrize(
    "question", [Question(0), Question(1), Question(nan), Question(0.1, 1), Question(0.1, None, -1)]
)
def test_a_question_out_of_range_is_refused(question: Question) -> None:
    """Before anything is worked out."""
    with pytest.raises(ValueError, match=r"in \(0, 1\)|above 0"):
        planned(samples("PERSON"), question)
