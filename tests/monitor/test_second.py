"""A second detector beside the first: what each found of the other's, from ROUTE's count to the reading."""

from __future__ import annotations

import json
from fractions import Fraction

import matching_oracle
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from traffic import CONFIG, DAY_MS, FIRST_DAY

from monitor.board import Board
from monitor.config import LimitsConfig, Sampling
from monitor.matching import Extent, unique
from monitor.plan import Plan
from monitor.records import Record, Span
from monitor.route import Change, Route
from monitor.second import captures_of

PLAN = Plan(msgspec.structs.replace(CONFIG, sampling=Sampling(random_rate=1)))
SPANS = st.lists(
    st.builds(
        lambda start, size, entity: Span(start, start + size, entity),
        st.integers(0, 6),
        st.integers(1, 4),
        st.sampled_from(["A", "B"]),
    ),
    max_size=5,
    unique=True,
)


@given(SPANS, SPANS)
def test_recaptures_are_those_of_the_matching(first: list[Span], second: list[Span]) -> None:
    """By entity, and over all of them."""
    found = captures_of(first, [s.entity for s in first], second, str, 0.45)
    one, other = (unique(Extent(s.start, s.end, s.entity) for s in spans) for spans in (first, second))
    hits = matching_oracle.matched(other, one, Fraction("0.45"))
    for entity in {s.entity for s in (*one, *other)} | ({"any"} if one or other else set()):
        counts = (
            sum(entity in (s.entity, "any") for s in one),
            sum(entity in (s.entity, "any") for s in other),
            sum(entity in (other[i].entity, "any") for i in hits),
        )
        assert counts == found.pop(entity)[:3]
    assert found == {}


def board_of(route: Route) -> Board:
    """Return a board of what a partition counted."""
    board = Board(PLAN, [None])
    for output in route.tallies():
        board.take(output.key, output.value)
    return board


def decision(number: int, **fields: object) -> Record:
    """Return a decision on a text of two names."""
    document = {"doc_id": f"d{number}", "lang": "nl", "text": "Anna and Bram", "detector": "d", "version": "1"}
    return Record(number, FIRST_DAY * DAY_MS, json.dumps(document | fields).encode())


def test_reading_has_the_optimistic_recall_of_the_documents_that_both_read() -> None:
    """Twenty of thirty finds of the second; documents of the first alone say nothing, and a restart changes nothing."""
    anna, bram = ({"start": s, "end": e, "entity": "PER"} for s, e in ((0, 4), (9, 13)))
    both = [decision(n, spans=[anna], second=[anna]) for n in range(10)]
    half = [decision(n, spans=[bram], second=[anna, bram]) for n in range(10, 20)]
    alone = [decision(n, spans=[anna]) for n in range(20, 25)]
    records = [*both, *half, *alone]
    route = Route("decisions", 0, [Change(0, PLAN)])
    route.fold("decisions", records[:15], 15)
    route = Route("decisions", 0, [Change(0, PLAN)], route.head())
    route.fold("decisions", records, 25)
    readings = {(r.entity, r.language): r.optimistic for r in board_of(route).snapshot(None).readings if not r.stratum}

    for cell in (("PERSON", "nl"), ("PERSON", "any"), ("any", "any")):
        found = readings[cell]
        assert found is not None
        assert (found.found, found.second, found.estimate) == (20, 30, pytest.approx(2 / 3))
        assert found.lower < found.estimate < found.upper


def test_no_second_detector_gives_no_optimistic_recall() -> None:
    """Neither does one that found nothing."""
    for second in (None, []):
        route = Route("decisions", 0, [Change(0, PLAN)])
        route.fold("decisions", [decision(0, spans=[{"start": 0, "end": 4, "entity": "PER"}], second=second)], 1)
        assert {r.optimistic for r in board_of(route).snapshot(None).readings} == {None}


def test_unknown_names_beyond_the_bound_are_not_the_same() -> None:
    """They're counted under one name, which makes no match of two."""
    limits = LimitsConfig(max_entities=1)
    plan = Plan(msgspec.structs.replace(CONFIG, sampling=Sampling(random_rate=1), limits=limits))
    route = Route("decisions", 0, [Change(0, plan)])
    spans = [{"start": 0, "end": 4, "entity": "KEPT"}, {"start": 9, "end": 13, "entity": "FOO"}]
    route.fold("decisions", [decision(0, spans=spans, second=[{"start": 9, "end": 13, "entity": "BAR"}])], 1)
    found = {(r.entity, r.language): r.optimistic for r in board_of(route).snapshot(None).readings if not r.stratum}
    unlisted = found["UNLISTED", "nl"]

    assert unlisted is not None
    assert (unlisted.found, unlisted.second) == (0, 1)
