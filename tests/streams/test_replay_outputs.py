"""Redacted outputs through a replay, from lines of decisions to readings: counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import corpus_line as line_of
from commands import decision as decided
from commands import run, write
from replays import ANNA, BO, config, corpus_line, decision, replay, spans_of

from monitor.readings import BoardSnapshot, LeakCount, OutputReading

GOUDA = (15, 20, "LOCATION")
DECISIONS = (
    decision("missed", spans_of([ANNA]), redacted="<PERSON> met Bo in Gouda", ts="2026-03-01T10:00:00Z"),
    decision("untouched", spans_of([ANNA]), redacted="Anna met Bo in Gouda", ts="2026-03-02T10:00:00Z"),
    decision("masked", spans_of([ANNA, BO, GOUDA]), redacted="*** met *** in ***", ts="2026-03-03T10:00:00Z"),
    decision("without", spans_of([ANNA]), ts="2026-03-04T10:00:00Z"),
)
LABELS = (
    corpus_line("missed", [ANNA, BO]),
    corpus_line("untouched", [ANNA]),
    corpus_line("masked", [ANNA, BO]),
    corpus_line("without", [ANNA, BO]),
)


def english(snapshot: BoardSnapshot) -> OutputReading:
    """Return the reading of the one language."""
    (found,) = [r for r in snapshot.outputs if r.language == "en"]
    return found


def test_outputs_are_counted_and_labels_say_what_can_be_read() -> None:
    """One of three leaks; of five labelled spans one was missed and one left as it was; a city needed no mask."""
    found = english(replay(DECISIONS, LABELS))
    assert (found.documents.count, found.documents.of, found.unaligned) == (1, 3, 0)
    assert (found.redactions.count, found.redactions.of) == (0, 4)
    (person,) = [e for e in found.entities if e.entity == "PERSON"]
    assert person.kinds == (LeakCount("untouched", 1, 1),)
    assert (found.disclosure.readable, found.disclosure.true) == (2, 5)
    assert found.disclosure.per_1000.estimate == pytest.approx(2_000 / 3)
    assert (found.over_masking.needless, found.over_masking.masked) == (5, 15)
    assert (found.masked, found.length) == (15, 60)


def test_the_window_is_that_of_the_decisions_times() -> None:
    """Whatever the order of the lines; the readings of outputs have the days that the others have."""
    snapshot = replay(DECISIONS[::-1], LABELS)
    (window,) = {r.window for r in snapshot.outputs}
    assert (window.first, window.last) == ("2026-03-01", "2026-03-04")
    assert {window} == {r.window for r in snapshot.readings}


def test_nobody_looks_where_it_is_switched_off() -> None:
    """No reading, and not one that says there was no leak."""
    assert replay(DECISIONS, LABELS, tree=config(redaction={"check": False})).outputs == ()


def test_a_replay_by_days_prints_the_main_window_alone(tmp_path: Path) -> None:
    """Each language once, whatever windows there are."""
    spans = ({"start": 0, "end": 4, "entity": "PERSON"},)
    decisions = write(
        tmp_path / "d.jsonl", *(decided(f"d{i}", spans=spans, redacted="X met Bo in Gouda") for i in range(9))
    )
    labels = write(tmp_path / "l.jsonl", *(line_of(f"d{i}", spans=spans) for i in range(9)))
    words = ("replay", "--decisions", decisions, "--labels", labels, "--set", "sampling.random_rate=1", "--passes", "2")
    printed = run(*map(str, words)).stdout.splitlines()
    assert [line.split()[:3] for line in printed if " outputs " in line and line.startswith("en")] == [
        ["en", "outputs", "0/18"]
    ]
