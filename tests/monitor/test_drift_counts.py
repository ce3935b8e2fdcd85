"""What the census says of drift: counts by signal over all versions, and what came between two checkpoints."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.census import CensusDay
from monitor.drift_counts import CensusCounts, ShapeOf, Share, Signal, census_counts, unusual, usual_step
from monitor.output_keys import OutputKey, OutputRow
from monitor.records import STRATA, Span, Stratum
from monitor.tally import CensusKey, CountKey, FlaggedKey, ShapeKey, Tally


def count(tally: Tally, stratum: Stratum, *entities: str, language: str = "es", version: str = "2", n: int = 1) -> None:
    """Count documents as ROUTE does, each with a length of step 9."""
    tally.add(CensusKey(language, "crf", version, stratum), (n,))
    tally.add(ShapeKey(language, "crf", version, "length", 9), (n,))
    for entity in entities:
        tally.add(FlaggedKey(language, "crf", version, entity), (n, 2 * n))


def test_signals_are_shares_over_all_versions() -> None:
    """Flagged is what the detector flagged, by itself or with the net; a version's rows add to the same signal."""
    tally = Tally({CountKey("records", "decision"): (99,)})
    count(tally, "both", "PERSON", n=4)
    count(tally, "detector_only", "PERSON", version="3", n=3)
    count(tally, "loose_only", n=2)
    count(tally, "unflagged", n=1)
    count(tally, "unflagged", language="en", n=10)

    counts = census_counts(tally)

    expected = {
        Signal("flagged", "es"): Share(10, 7),
        Signal("loose_only", "es"): Share(10, 2),
        Signal("detector_only", "es"): Share(10, 3),
        Signal("entity", "es", "PERSON"): Share(10, 7),
        Signal("language", "es"): Share(20, 10),
        Signal("flagged", "en"): Share(10, 0),
        Signal("entity", "en", "PERSON"): Share(10, 0),
        Signal("flagged", "fr"): Share(0, 0),
    }
    assert expected == {signal: counts.share(signal) for signal in expected}


@settings(max_examples=30)
@given(
    documents=st.lists(
        st.tuples(st.sampled_from(STRATA), st.booleans(), st.sampled_from("ab"), st.sampled_from("12")), max_size=30
    ),
    cut=st.integers(0, 30),
)
def test_what_came_since_is_the_census_of_the_later_documents(
    documents: list[tuple[Stratum, bool, str, str]], cut: int
) -> None:
    """The difference of two checkpoints is what the documents between them count by themselves."""
    before, after, between = Tally(), Tally(), Tally()
    for i, (stratum, has_person, language, version) in enumerate(documents):
        for tally in [after, *([before] if i < cut else [between])]:
            count(tally, stratum, *["PERSON"] * has_person, language=language, version=version)

    since = census_counts(after).since(census_counts(before))

    assert since is not None
    expected = census_counts(between)
    signals = {*since.having, *(Signal("language", language) for language in "ab")}
    assert {s: expected.share(s) for s in signals} == {s: since.share(s) for s in signals}
    grown = {of: {step: n for step, n in steps.items() if n} for of, steps in since.shapes.items()}
    assert expected.shapes == {of: steps for of, steps in grown.items() if steps}


def test_leaks_are_a_share_of_the_documents_with_an_output() -> None:
    """Over all strata and versions; a document without an output says nothing of leaks."""
    tally = Tally()
    count(tally, "both", n=40)
    count(tally, "unflagged", language="en", n=40)
    tally.add(OutputKey("es", "crf", "2", "both"), OutputRow(outputs=8, leaking=3))
    tally.add(OutputKey("es", "crf", "3", "unflagged"), OutputRow(outputs=2, leaking=1, unaligned=1))

    counts = census_counts(tally)

    assert [counts.share(Signal("leaking", language)) for language in ("es", "en")] == [Share(10, 4), Share(0, 0)]
    grown = Tally(tally.rows)
    grown.add(OutputKey("es", "crf", "3", "both"), OutputRow(outputs=5, leaking=1))
    since = census_counts(grown).since(counts)
    assert since is not None
    assert since.share(Signal("leaking", "es")) == Share(5, 1)


def test_partitions_are_counted_together() -> None:
    """Several tallies count what their sum does."""
    first, second, both = Tally(), Tally(), Tally()
    count(first, "both", "PERSON", n=3)
    count(second, "detector_only", "PERSON", "URL", version="3", n=2)
    both.merge(first)
    both.merge(second)

    assert census_counts(both) == census_counts(first, second)


def test_counts_that_do_not_fit_together_are_none() -> None:
    """More documents with an entity than documents: part of the census is missing, and a share over 1 isn't one."""
    assert CensusCounts({"es": 3}, {Signal("entity", "es", "PERSON"): 4}).since(CensusCounts({}, {})) is None
    leaking = {Signal("leaking", "es"): 2}
    assert CensusCounts({"es": 3}, leaking, outputs={"es": 1}).since(CensusCounts({}, {})) is None
    assert CensusCounts({"es": 3}, leaking, outputs={"es": 2}).since(CensusCounts({}, {})) is not None


def test_route_counts_the_shape_of_documents() -> None:
    """Length in half doublings, spans in doublings, the first span's score in tenths; a restart keeps them."""
    day = CensusDay()
    group = day.group("es", "crf", "2")
    group.count_shape(100, [Span(0, 1, "URL", 0.9), Span(1, 2, "URL"), Span(2, 3, "URL", 0.5)])
    group.count_shape(120, [Span(0, 1, "URL", 1.0)])
    group.count_shape(100, [Span(0, 1, "URL")])
    group.count_shape(0, [])
    tally = day.tally()

    assert {
        ShapeOf("length", "es"): {0: 1, 14: 3},
        ShapeOf("spans", "es"): {0: 1, 1: 2, 2: 1},
        ShapeOf("score", "es"): {9: 1, 10: 1},
    } == census_counts(tally).shapes
    assert CensusDay.restore(tally).tally() == tally


SHAPES = {ShapeOf("length", "es"): {3: 2, 4: 1}}


@pytest.mark.parametrize(
    "behind",
    [
        CensusCounts({"es": 2}, {Signal("flagged", "es"): 2}, SHAPES),
        CensusCounts({"en": 9}, {Signal("flagged", "es"): 2}, SHAPES),
        CensusCounts({"es": 3}, {Signal("flagged", "es"): 1}, SHAPES),
        CensusCounts({"es": 3}, {}, SHAPES),
        CensusCounts({"es": 3}, {Signal("flagged", "es"): 2}, {}),
        CensusCounts({"es": 3}, {Signal("flagged", "es"): 2}, {ShapeOf("length", "es"): {3: 3}}),
        CensusCounts({"es": 3}, {Signal("flagged", "es"): 2}, {ShapeOf("length", "es"): {3: 1, 4: 2}}),
    ],
)
def test_counts_that_are_less_than_before_are_behind(behind: CensusCounts) -> None:
    """In whatever part; the same again is nothing new, and isn't behind."""
    before = CensusCounts({"es": 3}, {Signal("flagged", "es"): 2}, SHAPES)

    assert behind.since(before) is None
    same = before.since(before)
    assert same is not None
    assert set(same.documents.values()) == {0}


@pytest.mark.parametrize("outputs", [{}, {"es": 1}, {"en": 2}])
def test_fewer_outputs_than_before_are_behind(outputs: dict[str, int]) -> None:
    """Though there are as many documents."""
    before = CensusCounts({"es": 3}, {}, SHAPES, {"es": 2})

    assert CensusCounts({"es": 3}, {}, SHAPES, outputs).since(before) is None


@given(st.dictionaries(st.integers(0, 20), st.integers(1, 50), min_size=1))
def test_usual_step_is_the_median(steps: dict[int, int]) -> None:
    """That of the sorted documents, the lower one of two."""
    ordered = [step for step in sorted(steps) for _ in range(steps[step])]

    assert ordered[(len(ordered) - 1) // 2] == usual_step(steps)


@given(st.dictionaries(st.integers(0, 20), st.integers(1, 50), min_size=1))
def test_at_most_half_of_the_documents_are_unusual(steps: dict[int, int]) -> None:
    """On either side of the median."""
    for of in (ShapeOf("length", "es"), ShapeOf("score", "es")):
        documents, having = unusual(of, steps, usual_step(steps))
        assert 2 * having <= documents == sum(steps.values())
