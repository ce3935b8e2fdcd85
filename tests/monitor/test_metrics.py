"""The catalogue of metrics, and what becomes of a snapshot."""

from __future__ import annotations

import math
import re
from collections import Counter

import boards
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor import metrics as m
from monitor.exposition import UNKNOWN, Sample, clean, samples
from monitor.pipeline import Pipeline
from monitor.readings import ANY, BoardSnapshot, Tally


def of(metric: m.Metric, found: list[Sample]) -> dict[tuple[str, ...], float]:
    """Return a metric's samples."""
    return {s.labels: s.value for s in found if s.metric == metric}


@pytest.fixture
def busy() -> list[Sample]:
    """Return all samples of a busy board."""
    return list(samples(boards.busy_board(), boards.worker()))


@pytest.mark.parametrize("metric", m.METRICS, ids=lambda metric: metric.name)
def test_names_follow_the_convention(metric: m.Metric) -> None:
    """A name has the product's prefix, its unit, and the suffix of its kind; help is one sentence."""
    stem = metric.name.removesuffix("_total").removesuffix("_info")
    suffix = {"counter": "_total", "info": "_info", "gauge": ""}[metric.kind]
    assert re.fullmatch(r"recallwatch(_[a-z0-9]+)+", metric.name)
    assert metric.name == stem + suffix
    assert stem.endswith(metric.unit)
    assert metric.help.endswith(".")
    assert metric.help.count(". ") == 0


def test_no_two_families_share_a_name() -> None:
    """A gauge `x` beside a counter `x_total` is one family twice in OpenMetrics, and one scrape lost."""
    stems = Counter(metric.name.removesuffix("_total").removesuffix("_info") for metric in m.METRICS)
    assert dict.fromkeys(stems, 1) == stems


def test_estimate_and_limits_are_series_and_never_labels() -> None:
    """A sum over a label must mean something."""
    labels = {label for metric in m.METRICS for label in metric.labels}
    assert labels.isdisjoint({"estimate", "lower", "upper", "quantile", "le", "doc_id", "task_id", "annotator"})


def test_known_label_values_fit_their_metric() -> None:
    """Every series that starts at 0 has as many label values as its metric has labels."""
    assert all(len(values) == len(metric.labels) for metric, known in m.KNOWN.items() for values in known)


def test_every_metric_has_a_sample_on_a_busy_board(busy: list[Sample]) -> None:
    """Nothing in the catalogue is a name without a number."""
    assert {metric.name for metric in m.METRICS} == {s.metric.name for s in busy}


def test_a_reading_is_exported_as_it_was_published(busy: list[Sample]) -> None:
    """Estimate, limits, counts and target of a cell are those of its reading."""
    published = next(r for r in boards.busy_board().readings if r.entity == "PERSON" and r.language == "en")
    cell = ("PERSON", "en", "presidio", "2", "7d")
    assert published.matched.lower == of(m.RECALL_LOWER, busy)[*cell, "matched"]
    assert published.masked.upper == of(m.RECALL_UPPER, busy)[*cell, "masked"]
    assert of(m.FOUND, busy)[*cell, "matched"] == 118
    assert of(m.TARGET, busy)[cell] == 0.9
    assert of(m.NEWEST_DRAW, busy)[cell] == boards.NOW - 2 - 42


def test_strata_are_exported_for_current_versions_alone(busy: list[Sample]) -> None:
    """A cell's own series speak of the population; its strata have series of their own."""
    assert {labels[3] for labels in of(m.STRATUM_TRUE, busy)} == {"2"}
    assert all(len(labels) == len(m.SHARE) for labels in of(m.RECALL_ESTIMATE, busy))


def test_no_data_gives_no_sample() -> None:
    """A board without a label exports its counts and no share at all."""
    found = list(samples(boards.quiet_board(), boards.worker()))
    silent = (m.RECALL_ESTIMATE, m.RECALL_LOWER, m.N_EFF, m.CERTIFIED_LOWER, m.TARGET, m.LOOKED_LOWER)
    assert {s.metric.name for s in found}.isdisjoint({metric.name for metric in silent})
    assert of(m.QUEUE_OPEN, found) == {("any",): 12}


def test_a_new_worker_starts_its_known_counters_at_zero() -> None:
    """The first event is then an increase, which `rate` sees, and not the birth of a series."""
    found = list(samples(None, Pipeline(started_at=1.0)))
    assert of(m.SAMPLED, found) == {("random",): 0, ("loose",): 0, ("both",): 0}
    assert of(m.HEARTBEAT, found) == {}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_gives_no_sample(value: float) -> None:
    """NaN in a series would silence every alert on it."""
    board = msgspec.structs.replace(boards.quiet_board(), outcomes=(Tally(("joined",), value),), computed_at=value)
    found = list(samples(board, boards.worker()))
    assert of(m.COUNTED_LABELS, found) == of(m.COMPUTED, found) == {}


def test_a_worker_that_is_no_longer_the_board_exports_no_reading() -> None:
    """Two boards would be two truths."""
    found = list(samples(boards.busy_board(), boards.worker(is_board=False)))
    assert found == list(samples(None, boards.worker(is_board=False)))


def test_the_queue_adds_up_over_languages(busy: list[Sample]) -> None:
    """The total over all languages isn't exported beside them, else a sum would count each task twice."""
    assert sum(of(m.QUEUE_OPEN, busy).values()) == 91


def test_cells_beyond_the_bound_are_withheld_and_counted() -> None:
    """Roll-ups and current versions stay; the rest is a number."""
    old = [boards.reading(f"E{i}", "en", version="1") for i in range(m.MAX_CELLS)]
    new = [boards.reading(f"E{i}", "en") for i in range(20)]
    board = msgspec.structs.replace(boards.busy_board(), readings=(*old, *new, boards.reading(ANY, ANY)))
    found = list(samples(board, boards.worker()))
    cells = set(of(m.CENSUS, found))
    assert len(cells) == m.MAX_CELLS
    assert of(m.CELLS_WITHHELD, found) == {(): 21}
    assert {(ANY, ANY), ("E19", "en")} <= {cell[:2] for cell in cells if cell[3] == "2"}


def test_counts_whose_labels_become_equal_are_added_up() -> None:
    """None and the empty string are both unknown."""
    found = list(samples(None, Pipeline(started_at=1.0, labels={("",): 2, ("unknown",): 3})))
    assert of(m.LABELS, found)[(UNKNOWN,)] == 5


def test_long_values_that_begin_alike_stay_apart() -> None:
    """A value that is cut keeps a digest of what it was."""
    assert clean("x" * 10_240) != clean("x" * 10_241)
    assert len(clean("x" * 10_240)) == 129


def test_a_tally_of_another_shape_is_left_out() -> None:
    """One malformed row doesn't cost the others."""
    board = msgspec.structs.replace(boards.quiet_board(), outcomes=(Tally(("a", "b"), 1), Tally(("late",), 2)))
    assert of(m.COUNTED_LABELS, list(samples(board, boards.worker()))) == {("late",): 2}


ANYTHING = st.one_of(st.text(st.characters(exclude_categories=())), st.just("\ud83d"), st.just("a\n" * 5000))


def board_of(names: list[str]) -> BoardSnapshot:
    """Return a board whose every name is somebody's idea."""
    readings = [boards.reading(n, names[-1], detector=names[0], version=n) for n in names]
    readings += [msgspec.structs.replace(r, stratum="both") for r in readings]
    tallies = tuple(Tally((n,), 1) for n in names)
    pairs = tuple(Tally((n, names[0]), 1) for n in names)
    current = tuple((names[0], n) for n in names)
    return msgspec.structs.replace(
        boards.busy_board(),
        readings=tuple(readings),
        outcomes=tallies,
        dead_letters=pairs,
        quarantined=tallies,
        current_versions=current,
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(ANYTHING, min_size=1, max_size=4))
def test_no_value_of_a_label_can_break_a_scrape(names: list[str]) -> None:
    """Whatever producers call things: labels are printable and short, and no series comes twice."""
    worker = msgspec.structs.replace(boards.worker(), labels={(n,): 1 for n in names}, config=names[0])
    found = list(samples(board_of(names), worker))
    twice = [key for key, count in Counter((s.metric.name, s.labels) for s in found).items() if count > 1]
    assert twice == []
    assert all(len(s.labels) == len(s.metric.labels) for s in found)
    assert all(v.isprintable() and 0 < len(v) <= 129 for s in found for v in s.labels)
