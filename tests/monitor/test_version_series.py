"""The series of versions: when each decided first and last."""

from __future__ import annotations

import boards
import msgspec

from monitor import metrics as m
from monitor.exposition import Sample, samples
from monitor.versions import Decided


def exported(*decided: Decided) -> set[Sample]:
    """Return the samples of these versions."""
    board = msgspec.structs.replace(boards.quiet_board(), decided=decided)
    wanted = {m.FIRST_DECISION, m.LAST_DECISION}
    found = [s for s in samples(board, boards.worker()) if s.metric in wanted]
    assert len({(s.metric, s.labels) for s in found}) == len(found)
    return set(found)


def test_version_is_exported_with_its_first_and_last_decision() -> None:
    """Of versions that nobody decided with there's no series."""
    assert exported() == set()
    assert exported(Decided("crf", "2", 10.0, 90.5)) == {
        Sample(m.FIRST_DECISION, ("crf", "2"), 10.0),
        Sample(m.LAST_DECISION, ("crf", "2"), 90.5),
    }


def test_versions_whose_names_become_equal_are_one() -> None:
    """From the first decision of either to the last one of either: a scraper takes no series twice."""
    twins = Decided("crf", "2\x00", 10.0, 90.0), Decided("crf", "2\\x00", 20.0, 95.0)
    assert exported(*twins) == {
        Sample(m.FIRST_DECISION, ("crf", "2\\x00"), 10.0),
        Sample(m.LAST_DECISION, ("crf", "2\\x00"), 95.0),
    }
