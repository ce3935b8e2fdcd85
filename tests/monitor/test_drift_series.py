"""The series of drift: what a board exports of its signals."""

from __future__ import annotations

import boards
import msgspec

from monitor import metrics as m
from monitor.exposition import Sample, samples
from monitor.readings import DriftSignal

FOUND = DriftSignal("entity", "es", "URL", 0.25, 900, 2, 1_000.0, "down", 0.5, 0.2)
QUIET = DriftSignal("flagged", "es", "", 0.75, 900, 0)


def exported(*signals: DriftSignal) -> set[Sample]:
    """Return the samples of these signals."""
    board = msgspec.structs.replace(boards.quiet_board(), drift=signals)
    return {s for s in samples(board, boards.worker()) if s.metric.name.startswith("recallwatch_drift_")}


def test_signal_is_exported_with_its_last_change() -> None:
    """Share, changes, when, from what to what; one that never changed has no before; one of no entity is of any."""
    assert exported(FOUND, QUIET) == {
        Sample(m.DRIFT_SHARE, ("entity", "es", "URL"), 0.25),
        Sample(m.DRIFT_DOCUMENTS, ("entity", "es", "URL"), 900),
        Sample(m.DRIFT_FOUND, ("entity", "es", "URL"), 2),
        Sample(m.DRIFT_BEFORE, ("entity", "es", "URL"), 0.5),
        Sample(m.DRIFT_AFTER, ("entity", "es", "URL"), 0.2),
        Sample(m.DRIFT_CHANGE, ("entity", "es", "URL", "down"), 1_000.0),
        Sample(m.DRIFT_SHARE, ("flagged", "es", "any"), 0.75),
        Sample(m.DRIFT_DOCUMENTS, ("flagged", "es", "any"), 900),
        Sample(m.DRIFT_FOUND, ("flagged", "es", "any"), 0),
    }


def test_share_of_nothing_is_no_sample() -> None:
    """Right after a change there is none: not 0, which would be a share."""
    none = msgspec.structs.replace(QUIET, share=None)
    counts = {
        Sample(m.DRIFT_DOCUMENTS, ("flagged", "es", "any"), 900),
        Sample(m.DRIFT_FOUND, ("flagged", "es", "any"), 0),
    }
    assert exported(none) == counts


def test_names_that_become_equal_are_exported_once() -> None:
    """A scraper drops the whole scrape where a series comes twice."""
    twin = msgspec.structs.replace(FOUND, entity="UR\x00L", shifts=1)
    same = msgspec.structs.replace(twin, entity="UR\\x00L")
    found = [sample.metric for sample in exported(twin, same)]
    assert len(found) == len(set(found)) == 6
