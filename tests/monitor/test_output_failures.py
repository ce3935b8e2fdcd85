"""An output over which the check fails: it's counted as not checked, it's in no share, and everything else goes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import pytest
from outputs import FLAGGED, LEFT, RIGHT, TAIL, TEXT, Redacted
from traffic import DAY_MS, FIRST_DAY

from monitor.board import Board
from monitor.config import Config, Sampling
from monitor.fold import Output
from monitor.leak_counts import find_leaking
from monitor.leaks.coverage import Coverage, coverage_of
from monitor.leaks.screen import examine
from monitor.origin import DrawnRecord
from monitor.output_keys import OutputKey, OutputRow
from monitor.plan import Plan
from monitor.readings_json import snapshot_document
from monitor.records import Record
from monitor.route import Change, Route
from monitor.tallies import read_value
from monitor.tally import CensusKey, CountKey, Key

PLAN = Plan(Config(sampling=Sampling(random_rate=1)))
DOCUMENTS = (Redacted("a", RIGHT), Redacted("b", TAIL), Redacted("c", RIGHT), Redacted("d", LEFT))


class Folded:
    """Four documents after ROUTE, and what it told."""

    def __init__(self, documents: Sequence[Redacted] = DOCUMENTS) -> None:
        self.told: list[tuple[int, int, str]] = []
        self.flow: Counter[tuple[str, ...]] = Counter()
        self.route = Route("decisions", 3, [Change(0, PLAN)], flow=self.flow, failed=self._tell)
        records = [Record(i, FIRST_DAY * DAY_MS + one.at_ms, one.value) for i, one in enumerate(documents)]
        self.sent: list[Output] = self.route.fold("decisions", records, len(documents))

    def _tell(self, partition: int, offset: int, error: Exception) -> None:
        self.told.append((partition, offset, type(error).__name__))

    def rows(self) -> dict[Key, tuple[int, ...]]:
        """Return what it counted."""
        (output,) = self.route.tallies()
        assert output.value is not None
        return read_value(output.value)[1].rows

    def drawn(self) -> list[DrawnRecord]:
        """Return the documents that it drew."""
        return [msgspec.json.decode(one.value or b"", type=DrawnRecord) for one in self.sent]


def fail_on(
    monkeypatch: pytest.MonkeyPatch, place: str, real: Callable[..., object], calls: set[int], error: BaseException
) -> None:
    """Have one inner function raise at its n-th calls, counted from 0."""
    called = iter(range(1000))

    def failing(*arguments: object) -> object:
        if next(called) in calls:
            raise error
        return real(*arguments)

    monkeypatch.setattr(f"monitor.output_check.{place}", failing)


def test_output_that_the_check_fails_over_is_in_no_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four documents the second one's output: four are counted and drawn, and three outputs."""
    fail_on(monkeypatch, "examine", examine, {1}, RecursionError(TEXT))
    folded = Folded()
    rows = folded.rows()

    assert rows[CensusKey("nl", "d", "1", "both")] == (4,)
    row = OutputRow(*rows[OutputKey("nl", "d", "1", "both")])
    assert (row.outputs, row.leaking, row.length) == (3, 1, 3 * len(TEXT))
    assert rows[CountKey("unchecked", "RecursionError")] == (1,)
    assert folded.flow["unchecked", "outputs"] == 1
    assert folded.told == [(3, 1, "RecursionError")]
    assert [one.coverage is None for one in folded.drawn()] == [False, True, False, False]
    assert [one.redacted for one in folded.drawn()] == [RIGHT, TAIL, RIGHT, LEFT]


def test_nothing_is_counted_of_an_output_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose leaks they are fails for the second document, which has one: it isn't counted as an output without."""
    fail_on(monkeypatch, "find_leaking", find_leaking, {0}, KeyError(TEXT))
    row = OutputRow(*Folded().rows()[OutputKey("nl", "d", "1", "both")])
    assert (row.outputs, row.leaking) == (3, 1)


def test_document_is_drawn_without_a_coverage_that_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was checked counts; the labels will say nothing of that output."""
    fail_on(monkeypatch, "coverage_of", coverage_of, {2}, IndexError(TEXT))
    folded = Folded()
    assert OutputRow(*folded.rows()[OutputKey("nl", "d", "1", "both")]).outputs == 4
    assert folded.told == [(3, 2, "IndexError")]
    assert [isinstance(one.coverage, Coverage) for one in folded.drawn()] == [True, True, False, True]


def test_board_says_how_many_were_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its readings, by class of exception; nothing of the text is anywhere in what ROUTE publishes."""
    fail_on(monkeypatch, "examine", examine, {0, 3}, ValueError(TEXT))
    folded = Folded()
    board = Board(PLAN)
    outputs = folded.route.tallies()
    board.fold("tallies", [Record(i, 0, one.value, one.key) for i, one in enumerate(outputs)], len(outputs))

    document = snapshot_document(board.snapshot(FIRST_DAY * DAY_MS / 1000 + 60))
    assert document["unchecked_outputs"] == [{"reason": "ValueError", "count": 2}]
    assert json.loads(json.dumps(document["outputs"]))[-1]["documents"]["of"] == 2
    assert all(span.encode() not in (one.value or b"") for one in outputs for span in _values())


def _values() -> list[str]:
    return [TEXT[span.start : span.end] for span in FLAGGED]


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), SystemExit(1)])
def test_what_ends_the_process_still_ends_it(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Memory that's gone and a request to end are no fault of a document."""
    fail_on(monkeypatch, "examine", examine, {0}, error)
    with pytest.raises(type(error)):
        Folded()
