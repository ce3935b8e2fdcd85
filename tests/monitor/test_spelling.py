"""The hot loop over a decision's spans says what the slow ones say, of any spans."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.entities import Aliases
from monitor.names import BoundedNames
from monitor.records import Decision, Span
from monitor.salvage import keep_usable
from monitor.spelling import Flagged, Spelling

TEXT = "Anna \t moved to Utrecht"
NAMES = st.sampled_from(["PERSON", "per", "Person ", "city", "OWN_1", "OWN_2", "OWN_3", "", " ", "A\nB", "X" * 300])
SPANS = st.builds(
    Span,
    st.integers(-1, len(TEXT) + 1),
    st.integers(-1, len(TEXT) + 1),
    NAMES,
    st.none() | st.sampled_from([-0.1, 0.0, 0.3, 0.5, 1.0, 1.1]),
)


def spelling() -> Spelling:
    """Return one that keeps two unknown names apart."""
    return Spelling(Aliases(), BoundedNames(2), 5)


def decision(spans: list[Span], threshold: float | None = None) -> Decision:
    """Return a decision about `TEXT`."""
    return Decision("d-1", "nl", TEXT, "ours", "1", spans, threshold)


@given(st.lists(SPANS, max_size=6), st.sampled_from([None, 0.4]))
def test_one_pass_says_what_checking_one_by_one_says(spans: list[Span], threshold: float | None) -> None:
    """Flawless spans give what the slow way gives, in the same order; where one is flawed there is no answer."""
    kept, aside = keep_usable(spans, "$.spans", len(TEXT), TEXT)
    actual = spelling().read(decision(spans, threshold))
    if aside or kept != spans:
        assert actual is None
    else:
        assert actual is not None
        expected = spelling().read_usable(decision(spans, threshold))
        assert Flagged(list(expected.spans), expected.entities) == actual


def test_identical_spans_count_once_with_the_higher_score() -> None:
    """The same stretch under two spellings of one name is one decision; under another name it is another one."""
    spans = [Span(0, 4, "PERSON", 0.5), Span(16, 23, "city"), Span(0, 4, "per", 0.9), Span(0, 4, "city", 0.1)]
    actual = spelling().read(decision(spans))
    assert actual == Flagged([spans[2], spans[1], spans[3]], ["PERSON", "CITY", "CITY"])


def test_names_beyond_the_limit_are_counted_as_unlisted() -> None:
    """The first unknown names are kept apart, each once; a span under the threshold keeps none."""
    spans = [Span(n, n + 1, name, score) for n, (name, score) in enumerate([("A1", 0.1), ("A2", 0.9), ("A2", 0.9)])]
    more = [Span(16, 18, "A3", 0.9), Span(19, 20, "A4", 0.9)]
    actual = spelling().read(decision([*spans, *more], 0.4))
    assert actual is not None
    assert actual.entities == ["A2", "A2", "A3", "UNLISTED"]


@given(st.lists(SPANS, max_size=6))
def test_folded_spans_have_the_one_name_of_their_entity(spans: list[Span]) -> None:
    """Nothing else of them changes, whatever they are counted under."""
    flagged = spelling().read_usable(decision(keep_usable(spans, "$.spans", len(TEXT), TEXT)[0]))
    fold = Aliases().fold
    folded = spelling().folded(flagged)
    assert folded == [Span(s.start, s.end, fold(s.entity), s.score) for s in flagged.spans]
