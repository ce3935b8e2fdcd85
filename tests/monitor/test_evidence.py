"""Evidence that is kept by differences equals the evidence added up anew, whatever came in whatever order."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from monitor.estimators.confidence_sequence import NO_SEQUENCE, AnyTime, confidence_sequence, sequence_evidence_of
from monitor.estimators.e_detector import NOTHING, Entry, Floors, Target, evidence_of
from monitor.evidence import Cell, CellEvidence, EvidenceSums, Sequences, split
from monitor.readings import ANY
from monitor.tally import CountKey, EntryKey, Tally

FLOORS = Floors(0.5, 0.1)
TARGET = Target(0.9, 5)
sequence_of = cache(sequence_evidence_of)


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


LOOKS = st.tuples(st.sampled_from((None, 0, 1, 2, 3)), st.sampled_from((2, 5)), st.sampled_from((0.8, 0.95)))
"""From which period on, with which cap, at which confidence."""
CHANGES = st.one_of(st.tuples(st.integers(0, 2), ROWS), LOOKS)


@given(st.lists(CHANGES, max_size=12), LOOKS)
def test_sums_are_those_of_the_rows_that_are_held(
    changes: list[tuple[int, dict[EntryKey, int]] | tuple[int | None, int, float]],
    last: tuple[int | None, int, float],
) -> None:
    """Rows replace each other and go, looks begin elsewhere; what is left is what the last of each adds up to."""
    sums, sequences = EvidenceSums(), Sequences()
    held: dict[int, dict[EntryKey, int]] = {}
    for change in changes:
        if len(change) == 2:
            place, row = change
            sums.replace(held.get(place, {}), row)
            held[place] = row
        else:
            _look(sums, sequences, ANY, change)

    for language in ("a", "b", ANY):
        kept = [(k, n) for row in held.values() for k, n in row.items() if language in (ANY, k.language)]
        found = sums.cells.get(Cell("PERSON", language, "d", "1"), CellEvidence())
        for period in range(3):
            expected = NOTHING
            for key, n in kept:
                if key.period == period:
                    expected = expected.plus(evidence_of(entry_of(key), TARGET).times(n))
            assert expected == found.of_period(period, TARGET)
        start, y_max, confidence = last
        counted = [(key, n) for key, n in kept if start is None or key.period >= start]
        logs = NO_SEQUENCE
        for key, n in counted:
            logs = logs.plus(sequence_of(entry_of(key), y_max).times(n))
        assert confidence_sequence(logs, confidence) == _look(sums, sequences, language, last)
        assert min((key.period for key, _ in counted), default=None) == (found.first if kept else None)


def _look(
    sums: EvidenceSums, sequences: Sequences, language: str, asked: tuple[int | None, int, float]
) -> AnyTime | None:
    start, y_max, confidence = asked
    cell = Cell("PERSON", language, "d", "1")
    evidence = sums.cells.get(cell, CellEvidence())
    evidence.count_from(start)
    return sequences.read(cell, evidence, y_max, confidence)


def test_a_cell_without_a_document_is_let_go_and_one_before_its_epoch_is_not() -> None:
    """What a sequence no longer counts is the alarm's still."""
    sums = EvidenceSums()
    key = EntryKey("a", "d", "1", "PERSON", 0, 0.5, 0.5, 0.1, 1, 1, 1)
    sums.replace({}, {key: 2})
    for evidence in sums.cells.values():
        evidence.count_from(1)
    sums.forget(())

    assert {"a", ANY} == {cell.language for cell in sums.cells}
    assert [(e.first, e.counts.total()) for e in sums.cells.values()] == [(None, 0)] * 2
    sums.replace({key: 2}, {})
    sums.forget(())
    assert sums.cells == {}


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
