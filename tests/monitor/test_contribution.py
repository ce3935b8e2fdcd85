"""What a document adds is a function of its row: designs, cells, queue, and what became of its labels."""

from __future__ import annotations

from collections import Counter

from drawn import WEEK_S, label, opened, sampled
from hypothesis import given
from hypothesis import strategies as st

from monitor.contribution import OpenTask, Rule, contribution, open_task
from monitor.document import Document
from monitor.entities import Aliases
from monitor.estimators.sample import Moments
from monitor.matching import Extent, masked, matched, unique
from monitor.records import Span, Stratum
from monitor.tally import CellKey, CountKey, DesignKey, EntryKey, Key, MadeKey, QueueKey

FOLD = Aliases().fold
DESIGN = DesignKey("nl", "d", "1", "both", 1.0)
CELL: tuple[str, str, str, Stratum, float] = ("nl", "d", "1", "both", 1.0)

SPAN = st.builds(
    lambda start, size, entity: Span(start, start + size, entity),
    st.integers(0, 4),
    st.integers(1, 5),
    st.sampled_from(["PERSON", "LOCATION"]),
).filter(lambda span: not {" "} & {*"Anna at Utrecht"[span.start], "Anna at Utrecht"[span.end - 1]})


def rows(document: Document, iou: float = 0.45) -> dict[tuple[int, Key], tuple[int, ...]]:
    """Return the parts by day and key; a key that comes twice adds up."""
    total: dict[tuple[int, Key], tuple[int, ...]] = {}
    for day, key, numbers in contribution(document, Rule(FOLD, iou)):
        held = total.get((day, key), (0,) * len(numbers))
        total[day, key] = tuple(a + b for a, b in zip(held, numbers, strict=True))
    return total


def test_open_document_is_drawn_and_waits() -> None:
    """No label: design and queue say one open, and no cell has a number."""
    document = opened(day=7)
    found = rows(document)

    assert {
        (7, DESIGN): (1, 0, 0, 1, 0),
        (7, QueueKey("nl")): (1, 0, 0),
        (7, MadeKey("d", "1", "c", "n")): (1,),
    } == found
    assert [OpenTask(7, "nl", 1000.0)] == list(open_task(document))


def test_labelled_document_adds_moments_under_both_readings() -> None:
    """One of two names matched; both are masked by spans of other entities; the roll-up sums over entities."""
    document = opened(spans=[Span(0, 4, "PERSON"), Span(8, 15, "ADDRESS")], day=7)
    document.answer(label(spans=[Span(0, 4, "per"), Span(8, 15, "GPE"), Span(0, 4, "PERSON")]), 0)
    found = rows(document)

    assert found[7, DESIGN] == (1, 1, 0, 0, 0)
    assert {
        ("PERSON", "matched"): Moments.of(1, 1),
        ("LOCATION", "matched"): Moments.of(0, 1),
        ("any", "matched"): Moments.of(1, 2),
        ("PERSON", "masked"): Moments.of(1, 1),
        ("LOCATION", "masked"): Moments.of(1, 1),
        ("any", "masked"): Moments.of(2, 2),
        ("PERSON", "right"): Moments.of(1, 1),
        ("ADDRESS", "right"): Moments.of(0, 1),
        ("any", "right"): Moments.of(1, 2),
        ("LOCATION", "unnamed"): Moments.of(0, 1),
    } == {(k.entity, k.reading): n for (_, k), n in found.items() if isinstance(k, CellKey)}
    assert list(open_task(document)) == []


def test_empty_answer_counts_the_document_and_no_cell() -> None:
    """A person looked and saw nothing, which is an answer: what was detected is wrong."""
    document = opened(spans=[Span(0, 4, "PERSON")])
    document.answer(label(spans=[]), 0)
    found = rows(document)

    assert found[0, DESIGN] == (1, 1, 0, 0, 0)
    wrong = {(k.entity, k.reading): n for (_, k), n in found.items() if isinstance(k, CellKey)}
    assert {("PERSON", "right"): Moments.of(0, 1), ("any", "right"): Moments.of(0, 1)} == wrong


def test_document_enters_the_alarm_at_once_as_if_all_that_was_detected_were_right() -> None:
    """Its label replaces that, on its draw day and in its period; one that nobody knows the rates of doesn't enter."""

    def entries(document: Document) -> dict[tuple[str, int, int, int, int], tuple[int, ...]]:
        found = rows(document)
        return {(k.entity, k.period, k.t, k.y, k.labelled): n for (_, k), n in found.items() if isinstance(k, EntryKey)}

    spans = [Span(0, 4, "PERSON"), Span(8, 15, "GPE")]
    document = opened(spans=spans, day=7, floors=(0.5, 0.1))
    at = int(1000.0 // 86_400)
    assert {
        ("PERSON", at, 1, 1, 0): (1,),
        ("LOCATION", at, 1, 1, 0): (1,),
        ("any", at, 2, 2, 0): (1,),
    } == entries(document)
    document.answer(label(spans=[Span(0, 4, "PERSON"), Span(5, 7, "PERSON")]), 0)
    assert {("PERSON", at, 1, 2, 1): (1,), ("any", at, 1, 2, 1): (1,)} == entries(document)
    assert entries(opened(spans=spans, day=7)) == {}


def test_skipped_document_is_missing_and_not_empty() -> None:
    """It's neither labelled nor open."""
    document = opened()
    document.answer(label(status="skipped"), 0)
    found = rows(document)

    assert (found[0, DESIGN], found[0, QueueKey("nl")]) == ((1, 0, 1, 0, 0), (1, 0, 1))


def test_label_serves_the_next_version_on_its_own_day() -> None:
    """Counted as reused there, whether the label came before the second version or after it; one task in all."""
    for answered_first in (True, False):
        document = opened(day=7)
        if answered_first:
            document.answer(label(spans=[Span(0, 4, "PERSON")]), 0)
        document.draw(sampled(version="2", day=9, spans=[Span(0, 4, "PERSON")]), WEEK_S, 1)
        if not answered_first:
            document.answer(label(spans=[Span(0, 4, "PERSON")]), 0)
        found = rows(document)

        assert found[7, DESIGN] == (1, 1, 0, 0, 0)
        assert found[9, DESIGN._replace(version="2")] == (1, 1, 0, 0, 1)
        assert Moments.of(0, 1) == found[7, CellKey(*CELL, "PERSON", "matched")]
        assert Moments.of(1, 1) == found[9, CellKey("nl", "d", "2", "both", 1.0, "PERSON", "matched")]
        assert [(day, n) for (day, k), n in found.items() if isinstance(k, QueueKey)] == [(7, (1, 1, 0))]


def test_overlap_that_counts_is_configured() -> None:
    """IoU .67 counts at .45 and not at .9."""
    document = opened(spans=[Span(0, 4, "PERSON")])
    document.answer(label(spans=[Span(0, 6, "PERSON")]), 0)
    key = 0, CellKey(*CELL, "PERSON", "matched")

    assert (Moments.of(1, 1), Moments.of(0, 1)) == (rows(document)[key], rows(document, 0.9)[key])


def test_outcomes_are_counted_on_the_first_day() -> None:
    """What became of labels; a label with a bad span is a dead letter too."""
    document = opened(day=7)
    document.answer(label(), 0)
    document.count("rejected")
    document.count("repeat")
    document.answer(label(task_id="of nobody"), 0)
    counts = Counter({(k.name, k.detail): n[0] for (day, k), n in rows(document).items() if isinstance(k, CountKey)})

    assert counts == {
        ("labels", "joined"): 1,
        ("labels", "rejected"): 1,
        ("labels", "other_task"): 1,
        ("documents", "repeat"): 1,
        ("dead_letters", "labels_by_document/bad_span"): 1,
    }


def test_label_without_a_document_is_an_orphan_and_nothing_else() -> None:
    """It's pending, not a miss."""
    document = Document(7)
    document.answer(label(), 0)

    assert {(7, CountKey("labels", "orphan")): (1,)} == rows(document)


@given(st.lists(SPAN, max_size=6), st.lists(SPAN, max_size=6), st.sampled_from([0.2, 0.45, 1.0]))
def test_identical_spans_are_counted_as_the_matching_counts_them(
    true: list[Span], found: list[Span], iou: float
) -> None:
    """They're left out of the matching, which would pair them first."""
    document = opened(spans=found, day=7)
    document.answer(label(spans=true), 0)
    truth, detected = (unique(Extent(s.start, s.end, s.entity) for s in spans) for spans in (true, found))
    expected = {}
    for reading, hits in (("matched", matched(truth, detected, iou)), ("masked", masked(truth, detected))):
        for entity in {extent.entity for extent in truth}:
            caught = sum(truth[i].entity == entity for i in hits)
            expected[entity, reading] = Moments.of(caught, sum(extent.entity == entity for extent in truth))
        if truth:
            expected["any", reading] = Moments.of(len(hits), len(truth))
        for entity in {extent.entity for extent in detected}:
            caught = sum(truth[i].entity == entity for i in matched(truth, detected, iou))
            expected[entity, "right"] = Moments.of(caught, sum(extent.entity == entity for extent in detected))
    if detected:
        expected["any", "right"] = Moments.of(len(matched(truth, detected, iou)), len(detected))
    for entity in {extent.entity for extent in truth} | ({"any"} if truth else set()):
        if (entity, "right") not in expected:
            expected[entity, "unnamed"] = Moments.of(0, expected[entity, "matched"].y)
    rows_found = {(k.entity, k.reading): n for (_, k), n in rows(document, iou).items() if isinstance(k, CellKey)}

    assert expected == rows_found
