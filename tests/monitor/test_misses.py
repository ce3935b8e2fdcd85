"""What is listed as missed is what the readings count as true and not as found, place by place, and no text."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from drawn import label, opened, sampled
from hypothesis import given
from hypothesis import strategies as st
from ledger_table import PLAN, Table, drawn, labelled, sums
from traffic import FIRST_DAY, SPANS

from monitor.document import Document
from monitor.entities import Aliases
from monitor.estimators.sample import Moments
from monitor.misses import Found, Miss, Misses, Place, Wanted, miss_document
from monitor.records import Span
from monitor.tally import ANY_ENTITY, CellKey

LONG = "Anna at Utrecht, Oslo"


def spans(extents: list[tuple[int, int, str]]) -> list[Span]:
    """Return spans as records hold them."""
    return [Span(*extent) for extent in extents]


def misses_of(document: Document, found: Found = "matched") -> Misses:
    """Return the misses of one document."""
    gathered = Misses(Aliases().fold, 0.45, found)
    gathered.add("a", document)
    return gathered


def one(detected: list[tuple[int, int, str]], true: tuple[int, int, str] = (0, 4, "PERSON")) -> list[Miss]:
    """Return the misses of a document with one true span."""
    document = opened(spans=spans(detected))
    document.answer(label(spans=spans([true])), 0.0)
    return misses_of(document).of(Wanted())


extents = st.lists(st.sampled_from(SPANS), max_size=5)


@given(st.lists(st.tuples(extents, st.none() | extents, st.sampled_from(["1", "2"])), max_size=6))
@pytest.mark.parametrize("found", ["matched", "masked"])
def test_misses_of_a_cell_are_its_true_less_its_found(
    found: Found, documents: list[tuple[list[tuple[int, int, str]], list[tuple[int, int, str]] | None, str]]
) -> None:
    """By entity, language, version and stratum, under both readings of found."""
    table = Table()
    for number, (detected, true, version) in enumerate(documents):
        name = f"d{number}"
        table.take("sampled", drawn(name, text=LONG, spans=spans(detected), version=version))
        if true is not None:
            table.take("labels_by_document", labelled(name, spans=spans(true)))
    gathered = Misses(PLAN.aliases.fold, PLAN.iou, found)
    for doc_id, document in table.ledger.documents():
        gathered.add(doc_id, document)
    expected: Counter[tuple[str, str, str, str]] = Counter()
    for key, row in sums(table.ledger).rows.items():
        if isinstance(key, CellKey) and key.reading == found:
            moments = Moments(*row)
            expected[key.entity, key.language, key.version, key.stratum] += moments.y - moments.t
    listed: Counter[tuple[str, str, str, str]] = Counter()
    for miss in gathered.of(Wanted()):
        place = miss.place
        for entity in (place.entity, ANY_ENTITY):
            listed[entity, place.language, place.version, place.stratum] += 1
    assert +listed == +expected


def test_what_is_partly_covered_says_how_far_and_by_what() -> None:
    """Overlapping detected spans are counted once, whatever their entity."""
    (miss,) = one([(0, 3, "LOCATION"), (2, 4, "per")], true=(0, 10, "PERSON"))
    assert (miss.covered, miss.length, miss.found_as) == (4, 10, ("LOCATION", "PERSON"))


def test_what_touches_a_span_covers_nothing() -> None:
    """Half-open: a span that ends where the miss begins isn't over it."""
    (miss,) = one([(4, 8, "PERSON")])
    assert (miss.covered, miss.found_as) == (0, ())


def test_what_is_wholly_covered_by_another_entity_is_a_miss_by_matching_alone() -> None:
    """Masked asks for less: nothing of it is left to read."""
    document = opened(spans=spans([(0, 8, "LOCATION")]))
    document.answer(label(spans=spans([(0, 4, "PERSON")])), 0.0)
    (miss,) = misses_of(document).of(Wanted())
    assert (miss.covered, miss.length) == (4, 4)
    assert misses_of(document, "masked").of(Wanted()) == []


def test_what_nobody_labelled_is_no_miss() -> None:
    """Neither an open document nor a skipped one; an empty answer has nothing to miss."""
    skipped, empty = opened(), opened()
    skipped.answer(label(status="skipped", spans=[]), 0.0)
    empty.answer(label(spans=[]), 0.0)
    for document in (opened(), skipped, empty):
        assert not misses_of(document).occurrences


def test_each_version_that_read_the_document_has_its_own_misses() -> None:
    """One label serves both."""
    document = opened()
    document.draw(sampled("a", version="2", spans=spans([(0, 5, "PERSON")])), 1.0, 1)
    document.answer(label(), 0.0)
    assert [miss.place.version for miss in misses_of(document).of(Wanted())] == ["1"]


def gathered_days() -> Misses:
    """Return a miss on each of three days, the middle one in another language and stratum, one without a day."""
    gathered = Misses(Aliases().fold, 0.45)
    for number, fields in enumerate(({}, {"lang": "es", "stratum": "unflagged"}, {}, {})):
        day = (FIRST_DAY + number) if number < 3 else 0
        document = opened(day=day, sampled_at=day * 86_400.0, **fields)
        document.answer(label(), 0.0)
        gathered.add(f"doc {number}", document)
    return gathered


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), ["doc 2", "doc 1", "doc 0", "doc 3"]),
        (Wanted(entity="PERSON", detector="d", version="1"), ["doc 2", "doc 1", "doc 0", "doc 3"]),
        (Wanted(entity="LOCATION"), []),
        (Wanted(language="es"), ["doc 1"]),
        (Wanted(stratum="both"), ["doc 2", "doc 0", "doc 3"]),
        (Wanted(since="2024-10-05"), ["doc 2", "doc 1"]),
        (Wanted(until="2024-10-05"), ["doc 1", "doc 0"]),
        (Wanted(since="2024-10-05", until="2024-10-05"), ["doc 1"]),
    ],
)
def test_misses_are_asked_for_by_place_and_come_newest_first(wanted: Wanted, expected: list[str]) -> None:
    """Days are inclusive; what has no day lies in no stretch of days, and counts go with the selection."""
    gathered = gathered_days()
    assert [miss.doc_id for miss in gathered.of(wanted)] == expected
    assert gathered.true(wanted).total() == len(expected)


def test_a_miss_is_told_by_places_and_names_alone() -> None:
    """JSON has no text, nor anything that a text could be in."""
    miss = Miss("a", 3, 7, 1, ("NRP",), Place("PERSON", "nl", "d", "1", "both", "2024-10-04"), 5.0)
    assert miss_document(miss) == {
        "doc_id": "a",
        "entity": "PERSON",
        "start": 3,
        "end": 7,
        "length": 4,
        "covered": 1,
        "covered_share": 0.25,
        "found_as": ["NRP"],
        "stratum": "both",
        "detector": "d",
        "version": "1",
        "language": "nl",
        "day": "2024-10-04",
    }
    assert msgspec.json.encode(miss_document(miss))
