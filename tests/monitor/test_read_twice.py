"""What a pair of blind readings adds to the tallies, and what everything else doesn't."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import agreement_oracles as oracle
from drawn import WEEK_S, label, opened, sampled
from hypothesis import given
from hypothesis import strategies as st
from pairs import ANNA, UTRECHT, asked_twice, read_twice, say

from monitor.document import Document
from monitor.entities import Aliases
from monitor.estimators.captures import Captures
from monitor.matching import Extent
from monitor.read_twice import Load, load_of, parts_of
from monitor.records import Span
from monitor.span_agreement import IOU_UNIT, SpanCounts
from monitor.tally import ANY_ENTITY, AgreementKey, AgreementRow, Key, TwiceKey

FOLD: Callable[[str], str] = Aliases().fold
WORDS = "Anna Bo at Utrecht"
MARKED = st.lists(
    st.builds(
        lambda start, size, entity: Span(start, start + size, entity),
        st.integers(0, 10),
        st.integers(2, 6),
        st.sampled_from(["PERSON", "per", "LOCATION", "ODD"]),
    ),
    max_size=5,
)


def rows(document: Document, iou: float = 0.45) -> dict[Key, tuple[int, ...]]:
    """Return what a document adds, all of it on day 7."""
    parts = list(parts_of(document, FOLD, iou))
    assert {day for day, _, _ in parts} <= {7}
    found = {key: numbers for _, key, numbers in parts}
    assert len(found) == len(parts)
    return found


def test_pair_is_counted_once_under_the_probability_of_being_drawn_and_read_twice() -> None:
    """On the first draw's day, by language; entities folded; both, first only, second only."""
    document = read_twice((ANNA, Span(8, 15, "ODD")), (Span(0, 4, "per"), UTRECHT), 0.999, day=7, probability=0.25)
    document.draw(sampled(version="2", day=9), WEEK_S, 2)
    probability = 0.25 * 0.999
    found = rows(document)

    def row(both: int, first: int, second: int) -> tuple[int, ...]:
        marked = both + first, both + second, both
        spans = SpanCounts(*marked, both * IOU_UNIT)
        return AgreementRow(both, first, second, spans, Captures.of(*marked)).flat()

    everything = AgreementRow(1, 0, 0, SpanCounts(2, 2, 1, IOU_UNIT), Captures.of(2, 2, 1)).flat()
    assert {
        TwiceKey("nl", probability): (1,),
        AgreementKey("nl", probability, "PERSON"): row(1, 0, 0),
        AgreementKey("nl", probability, "ODD"): row(0, 1, 0),
        AgreementKey("nl", probability, "LOCATION"): row(0, 0, 1),
        AgreementKey("nl", probability, ANY_ENTITY): everything,
    } == found


def test_two_empty_readings_are_a_pair() -> None:
    """Both said that there's nothing."""
    assert {TwiceKey("nl", 1.0): (1,)} == rows(read_twice((), (), day=7))


def test_one_reader_adds_nothing() -> None:
    """One copy whoever answers it, one of two copies, or a second one skipped."""
    once = opened(day=7)
    once.answer(label(), 0)
    once.answer(label(annotator="bo"), 0)
    half = asked_twice(day=7)
    say(half, 1, "ann", ANNA)
    say(half, 2, "bo", status="skipped")

    assert (rows(once), rows(half)) == ({}, {})


def test_adjudication_never_enters() -> None:
    """Nor does what a reader says after it."""
    document = read_twice((ANNA,), (), day=7)
    before = rows(document)
    say(document, 0, "cem", UTRECHT, ANNA)
    say(document, 2, "bo", ANNA, revision=1)

    assert before == rows(document)


def test_edges_of_white_space_carry_no_opinion() -> None:
    """AGR-3: one to one, and overlapping whole."""
    first = (Span(9, 18, "PERSON"), Span(21, 27, "ADDRESS"))
    second = (Span(21, 27, "ADDRESS"), Span(9, 19, "PERSON"))
    found = rows(read_twice(first, second, text="Contact: Joris Tak , Laan 2", day=7))
    both = AgreementRow.of(found[AgreementKey("nl", 1.0, ANY_ENTITY)])

    assert SpanCounts(2, 2, 2, 2 * IOU_UNIT) == both.spans


@given(first=MARKED, second=MARKED, iou=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(1)]))
def test_rows_equal_the_oracle(first: list[Span], second: list[Span], iou: Fraction) -> None:
    """Pairs by the slow definition, on trimmed and folded spans, each once."""
    document = read_twice(tuple(first), tuple(second), text=WORDS, day=7)
    one, other = (sorted({_extent(span) for span in spans}) for spans in (first, second))
    pairs = oracle.paired(one, other, iou)
    found = rows(document, float(iou))

    for entity in {span.entity for span in (*one, *other)}:
        n, m = (sum(span.entity == entity for span in spans) for spans in (one, other))
        both = sum(span.entity == entity for span, _ in pairs)
        row = AgreementRow.of(found[AgreementKey("nl", 1.0, entity)])
        assert (row.both, row.first_only, row.second_only) == (bool(n and m), n > 0 == m, m > 0 == n)
        assert row.spans[:3] == (n, m, both)
        assert Captures.of(n, m, both) == row.captures


def _extent(span: Span) -> Extent:
    """Return a span trimmed and folded."""
    inside = WORDS[span.start : span.end]
    left = len(inside) - len(inside.lstrip())
    return Extent(span.start + left, span.start + len(inside.rstrip()), FOLD(span.entity))


def test_load_is_tasks_sent_done_and_skipped() -> None:
    """One for a text that one person reads, two for two people, a third for the adjudicator once it's sent."""
    once = opened()
    found = [load_of(once.texts[0])]
    once.answer(label(status="skipped"), 0)
    found.append(load_of(once.texts[0]))
    once.answer(label(annotator="bo"), 0)
    found.append(load_of(once.texts[0]))
    twice = asked_twice()
    for copy, who, fields in ((1, "ann", {}), (2, "bo", {"status": "skipped"}), (2, "cem", {})):
        found.append(load_of(twice.texts[0]))
        say(twice, copy, who, *[ANNA] * copy, **fields)
    assert found == [(1, 0, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0), (2, 1, 0), (2, 1, 1)]
    twice = read_twice((ANNA,), ())
    agreed = load_of(twice.texts[0])
    twice.adjudicate("a", 0.0)
    waiting = load_of(twice.texts[0])
    say(twice, 0, "cem")
    assert (Load(2, 2, 0), Load(3, 2, 0), Load(3, 3, 0)) == (agreed, waiting, load_of(twice.texts[0]))
