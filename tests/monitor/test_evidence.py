"""Evidence that is kept by differences equals the evidence added up anew, whatever came in whatever order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.estimators.confidence_sequence import NO_SEQUENCE, confidence_sequence, sequence_evidence_of
from monitor.estimators.e_detector import NOTHING, Entry, Floors, Target, evidence_of
from monitor.evidence import Cell, CellEvidence, EvidenceSums, Sequences, split
from monitor.readings import ANY
from monitor.tally import CountKey, EntryKey, Tally

FLOORS = Floors(0.5, 0.1)
TARGET = Target(0.9, 5)


@st.composite
def _keys(draw: st.DrawFn) -> EntryKey:
    y = draw(st.integers(1, 3))
    t = draw(st.integers(0, y))
    probability = draw(st.sampled_from((0.5, 1.0)))
    labelled = draw(st.integers(0, 1))
    language, period = draw(st.sampled_from("ab")), draw(st.integers(0, 2))
    return EntryKey(language, "d", "1", "PERSON", period, probability, *FLOORS, t if labelled else y, y, labelled)


ROWS = st.dictionaries(_keys(), st.integers(1, 4), max_size=5)


def entry_of(key: EntryKey) -> Entry:
    """Return what the estimators take."""
    return Entry(key.probability, Floors(key.floor_detected, key.floor_any), key.t, key.y, bool(key.labelled))


@given(st.lists(st.tuples(st.integers(0, 2), ROWS), max_size=8))
def test_sums_are_those_of_the_rows_that_are_held(taken: list[tuple[int, dict[EntryKey, int]]]) -> None:
    """Rows replace each other; what is left is what the last of each adds up to."""
    sums, sequences = EvidenceSums(), Sequences()
    held: dict[int, dict[EntryKey, int]] = {}
    for place, row in taken:
        sums.replace(held.get(place, {}), row)
        held[place] = row
        everywhere = Cell("PERSON", ANY, "d", "1")
        if everywhere in sums.cells:
            sequences.read(everywhere, sums.cells[everywhere], 5, 0.95)

    for language in ("a", "b", ANY):
        kept = [(k, n) for row in held.values() for k, n in row.items() if language in (ANY, k.language)]
        cell = Cell("PERSON", language, "d", "1")
        found = sums.cells.get(cell, CellEvidence())
        assert bool(kept) == (found.first is not None)
        logs = NO_SEQUENCE
        for period in range(3):
            expected = NOTHING
            for key, n in kept:
                if key.period == period:
                    expected = expected.plus(evidence_of(entry_of(key), TARGET).times(n))
                    logs = logs.plus(sequence_evidence_of(entry_of(key), 5).times(n))
            assert expected == found.of_period(period, TARGET)
        assert confidence_sequence(logs) == sequences.read(cell, found, 5, 0.95)


def test_document_with_an_impossible_design_is_left_out() -> None:
    """A rate below the smallest in force would let a factor turn negative; the others count."""
    sums = EvidenceSums()
    good = EntryKey("a", "d", "1", "PERSON", 0, 0.5, 0.5, 0.1, 1, 1, 1)
    sums.replace({}, {good: 2, good._replace(probability=0.2): 3})

    assert (sums.unusable, sum(sums.cells[Cell("PERSON", "a", "d", "1")].counts.values())) == (3, 2)


def test_entries_are_taken_out_of_a_tally() -> None:
    """No window adds them up."""
    key = EntryKey("a", "d", "1", "PERSON", 0, 0.5, 0.5, 0.1, 1, 1, 1)
    tally = Tally({key: (2,), CountKey("labels", "joined"): (1,)})

    assert {key: 2} == split(tally)
    assert {CountKey("labels", "joined"): (1,)} == tally.rows
