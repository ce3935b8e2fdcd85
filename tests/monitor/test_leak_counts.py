"""Whose leaks are whose, and the counts of outputs by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from monitor.census import CensusDay
from monitor.leak_counts import Leaking, find_leaking
from monitor.leaks.check import check
from monitor.leaks.findings import KINDS, Checked, Kind, Leak
from monitor.leaks.policy import EntityPolicy, Policy
from monitor.output_keys import OutputKey, RedactedKey
from monitor.records import STRATA, Span, Stratum
from monitor.tally import Tally

KEEPS_NOTHING = Policy()
STREET = "Woont Kerkhoflaan 14-bis, 3999 ZX Werkdam."


def found_of(*leaks: Leak, replaced: int = 99) -> Checked:
    """Return a check's findings."""
    return Checked(aligned=True, leaks=leaks, masked=(), replaced_spans=replaced)


def test_rest_beside_a_mask_is_its_spans() -> None:
    """What a fragment touches is what it belongs to, though the span itself is replaced whole."""
    span = Span(6, 20, "LOCATION")
    found = check(STREET, [span], "Woont <LOCATION>-bis, 3999 ZX Werkdam.", KEEPS_NOTHING)

    assert [leak.kind for leak in found.leaks] == ["edge_fragment"]
    assert find_leaking([span], found, KEEPS_NOTHING) == Leaking(1, {"LOCATION": 1})


def test_rest_beside_a_mask_is_no_neighbours() -> None:
    """A span of another entity that it touches has none of it; nor has one that doesn't touch it."""
    spans = [Span(0, 4, "PERSON"), Span(6, 10, "LOCATION"), Span(12, 15, "PERSON")]
    found = found_of(Leak("edge_fragment", "PERSON", 4, 6, 0, 2))

    assert find_leaking(spans, found, KEEPS_NOTHING) == Leaking(1, {"PERSON": 1})


def test_what_stands_in_place_is_no_neighbours() -> None:
    """A piece of a span is that of the span, and not of one that begins where it ends."""
    spans = [Span(0, 4, "PERSON"), Span(4, 8, "PERSON")]
    found = found_of(Leak("partial_mask", "PERSON", 2, 4, 0, 2))

    assert find_leaking(spans, found, KEEPS_NOTHING) == Leaking(1, {"PERSON": 1})


def test_span_inside_another_is_not_counted_beside_it() -> None:
    """What masks the outer one masks it, and a rest is that of the outer one."""
    spans = [Span(0, 11, "PERSON"), Span(0, 4, "PERSON")]
    found = found_of(Leak("partial_mask", "PERSON", 0, 4, 0, 4))

    assert find_leaking(spans, found, KEEPS_NOTHING) == Leaking(1, {"PERSON": 1})


def test_redactions_with_a_leak_are_no_more_than_redactions() -> None:
    """Of an output whose replacements can't be told apart there are none."""
    spans = [Span(0, 4, "PERSON")]
    found = found_of(Leak("survives_elsewhere", "PERSON", 0, 4, 9, 13), replaced=0)

    assert find_leaking(spans, found, KEEPS_NOTHING) == Leaking(0, {"PERSON": 1})


SPANS = st.lists(
    st.builds(
        lambda start, size, name: Span(start, start + size, name),
        st.integers(0, 9),
        st.integers(1, 5),
        st.sampled_from("PQR"),
    ),
    max_size=8,
)
LEAKS = st.lists(
    st.builds(
        lambda kind, name, start, size: Leak(kind, name, start, start + size, 0, 0),
        st.sampled_from(KINDS),
        st.sampled_from("PQRS"),
        st.integers(0, 12),
        st.integers(1, 4),
    ),
    max_size=6,
)


def one_by_one(spans: Sequence[Span], found: Checked, policy: Policy) -> Leaking:
    """Return whose leaks there are, every span beside every leak."""
    secret = [s for s in spans if not policy.of(s.entity).ignore]
    apart = {s for s in secret if not any(_holds(other, s) for other in secret)}
    leaking = {s for s in apart if any(_is_of(s, leak) for leak in found.leaks)}
    whole = {(leak.entity, leak.start, leak.end) for leak in found.leaks if leak.kind in ("untouched", "shifted_mask")}
    replaced = {s for s in leaking if (s.entity, s.start, s.end) not in whole}
    return Leaking(min(len(replaced), found.replaced_spans), Counter(s.entity for s in leaking))


def _holds(outer: Span, inner: Span) -> bool:
    return outer != inner and outer.start <= inner.start and inner.end <= outer.end


def _is_of(span: Span, leak: Leak) -> bool:
    reach = leak.kind in ("edge_fragment", "net_on_output")
    overlap = min(span.end, leak.end) - max(span.start, leak.start)
    return span.entity == leak.entity and overlap + reach > 0


@given(spans=SPANS, leaks=LEAKS, shown=st.lists(st.sampled_from(KINDS), max_size=8), replaced=st.integers(0, 9))
def test_search_says_what_every_span_beside_every_leak_says(
    spans: list[Span], leaks: list[Leak], shown: list[Kind], replaced: int
) -> None:
    """In any order, overlapping, some shown whole; of an entity that is ignored, or that no span has."""
    spans = list({(s.start, s.end): s for s in spans}.values())
    policy = Policy({"R": EntityPolicy(ignore=True)})
    whole = [Leak(kind, s.entity, s.start, s.end, 0, 0) for kind, s in zip(shown, spans, strict=False)]
    found = found_of(*leaks, *whole, replaced=replaced)

    assert one_by_one(spans, found, policy) == find_leaking(spans, found, policy)


@given(
    documents=st.lists(
        st.tuples(
            st.sampled_from(STRATA),
            st.lists(st.sampled_from("PQR"), max_size=4),
            st.lists(st.sampled_from("PQR"), max_size=3),
            st.booleans(),
        ),
        max_size=8,
    ),
    cut=st.integers(0, 8),
)
def test_counts_go_on_from_their_rows(documents: list[tuple[Stratum, list[str], list[str], bool]], cut: int) -> None:
    """Written and read back at any document: the same rows in the end, none of them of zeros."""
    through, restarted = CensusDay(), CensusDay()
    for number, (stratum, entities, leaking, aligned) in enumerate(documents):
        if number == cut:
            tally = restarted.tally()
            restarted = CensusDay.restore(Tally.decode(tally.encode()))
            assert tally == restarted.tally()
        leaks = tuple(Leak(KINDS[number % len(KINDS)], name, 0, 1, 0, 1) for name in leaking if name in entities)
        found = Checked(aligned=aligned, leaks=leaks, masked=((0, 3),), replaced_spans=len(entities))
        for day in (through, restarted):
            counts = day.group("es", "crf", "2").outputs
            counts.count(stratum, entities, found, 9)
            if leaks:
                counts.add_leaks(stratum, found, Leaking(1, Counter(leak.entity for leak in leaks)), str)

    assert through.tally() == restarted.tally()
    assert all(any(row) for row in through.tally().rows.values())
    outputs = sum(row[0] for key, row in through.tally().rows.items() if isinstance(key, OutputKey))
    assert outputs == len(documents)


def test_repeats_of_an_entity_are_one_document() -> None:
    """Of two documents with three spans, two documents."""
    day = CensusDay()
    counts = day.group("es", "crf", "2").outputs
    for entities in (["PERSON", "URL", "PERSON"], ["PERSON"]):
        counts.count("both", entities, found_of(replaced=len(entities)), 9)

    assert day.tally().rows[RedactedKey("es", "crf", "2", "PERSON")] == (2, 3, 0, 0)
