"""White space at the edges of spans carries no opinion, on either side (AGR-3), and costs no coverage."""

from __future__ import annotations

import pytest
from drawn import label, opened
from hypothesis import given
from hypothesis import strategies as st

from monitor.bare_spans import bare_spans
from monitor.contribution import Rule, contribution
from monitor.document import Document
from monitor.entities import Aliases
from monitor.records import Span
from monitor.tally import CellKey

TEXTS = st.text("ab ", min_size=1, max_size=12).filter(str.strip)
BLANKS = [" ", "   ", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", " \u00a0\t"]


def found(document: Document, iou: float = 1.0) -> dict[str, tuple[int, int]]:
    """Return found of true under both readings, and right of detected."""
    parts = contribution(document, Rule(Aliases().fold, iou))
    cells = [(key.reading, n) for _, key, n in parts if isinstance(key, CellKey) and key.entity == "PERSON"]
    return {reading: (numbers[3], numbers[4]) for reading, numbers in cells}


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("whose", ["label", "detector", "both"])
def test_white_space_at_an_edge_makes_no_miss(blank: str, whose: str) -> None:
    """At an overlap of 1, before and behind: one occurrence, found and masked, and one detected span, right."""
    text = f"x{blank}Bo{blank}x"
    start = 1 + len(blank)
    plain, wide = Span(start, start + 2, "PERSON"), Span(1, start + 2 + len(blank), "PERSON")
    document = opened(text=text, spans=[plain if whose == "label" else wide])
    document.answer(label(spans=[plain if whose == "detector" else wide]), 0)

    assert found(document) == {"matched": (1, 1), "masked": (1, 1), "right": (1, 1)}


def test_one_name_with_and_without_its_blank_is_one_name() -> None:
    """On either side: collapsed once trimmed, as identical spans are."""
    twice = [Span(0, 2, "PERSON"), Span(0, 3, "PERSON")]
    document = opened(text="Bo belt", spans=twice)
    document.answer(label(spans=twice), 0)

    assert found(document) == {"matched": (1, 1), "masked": (1, 1), "right": (1, 1)}


def test_a_blank_between_two_spans_stays_covered() -> None:
    """The detector masked all of "Anna Brandt", in two pieces."""
    document = opened(text="Anna Brandt", spans=[Span(0, 5, "PERSON"), Span(5, 11, "PERSON")])
    document.answer(label(spans=[Span(0, 11, "PERSON")]), 0)

    assert found(document, 0.45)["masked"] == (1, 1)


@st.composite
def spans_in(draw: st.DrawFn) -> tuple[str, list[Span]]:
    """Return a text and spans of it that aren't blank."""
    text = draw(TEXTS)
    edges = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    usable = edges.filter(lambda pair: text[pair[0] : pair[1]].strip())
    return text, [Span(start, end, "PERSON") for start, end in draw(st.lists(usable, max_size=5))]


@given(spans_in())
def test_spans_keep_what_can_be_seen_and_cover_no_less_of_it(drawn: tuple[str, list[Span]]) -> None:
    """Each loses blanks alone; whatever stretch from letter to letter was covered is covered."""
    text, spans = drawn
    bare = bare_spans(spans, text)
    before, after = (
        {at for start, end, *_ in edges for at in range(start, end)}
        for edges in ([(span.start, span.end) for span in spans], bare)
    )
    letters = [at for at, letter in enumerate(text) if letter != " "]

    assert [text[s.start : s.end].strip() for s in spans] == [text[start:end].strip() for start, end, _ in bare]
    for first in letters:
        for last in letters:
            stretch = set(range(first, last + 1))
            assert not stretch <= before or stretch <= after
