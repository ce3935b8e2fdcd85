"""The fault suite's short form, and what it says."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from brokers import missing_for_kafka
from faults.drawing import AT_MOST, STAGE_STEPS, Kind, draw_faults
from faults.suite import run_faults
from faults.table import Outcome, Result, closing

SEED = 278
"""Of the short form: eight faults of many kinds, see below."""


def test_the_seed_alone_decides_the_faults() -> None:
    """The same seed gives the same list, longer ones begin as shorter ones do, another seed gives another list."""
    assert draw_faults(5, 50) == draw_faults(5, 50)
    assert draw_faults(5, 50)[:8] == draw_faults(5, 8)
    assert draw_faults(5, 50) != draw_faults(6, 50)


@pytest.mark.parametrize("seed", range(20))
def test_a_long_run_has_every_kind_of_fault_and_every_step(seed: int) -> None:
    """Each kind comes before any comes again, none too often; so do the steps between which a worker ends."""
    faults = draw_faults(seed, 50)
    kinds = Counter(fault.kind for fault in faults)
    assert set(kinds) == set(get_args(Kind))
    assert all(kinds[kind] <= most for kind, most in AT_MOST.items())
    assert len({fault.kind for fault in faults[: len(kinds)]}) == len(kinds)
    ends = [(fault.stage, fault.step) for fault in faults if fault.kind == "exit"]
    assert len(set(ends)) == min(len(ends), len(STAGE_STEPS))


def test_the_short_form_breaks_workers_broker_topics_and_records() -> None:
    """Its seed was looked for: another draw of eight may have nothing but restarts."""
    assert {fault.kind for fault in draw_faults(SEED, 8)} == {
        "kill",
        "exit",
        "zombie, config changed",
        "broker killed",
        "changelogs compacted",
        "record too large",
        "decisions again",
        "poison",
    }


def test_the_closing_line_says_what_differs() -> None:
    """A difference is a line of its own, and the last line counts them."""
    fault = Outcome(1, "kill", "worker 0", 5, 1.0, "started again")
    good = Result(7, [fault], 10, 5, 3, 2.0, 60.0, [])
    (only,) = closing(good)
    assert only.startswith("1 faults, seed 7: good: 0 lost, 0 counted twice; 10 decisions, 3 sampled, 5 labels;")
    assert only.endswith("readings equal after 2.0 s; 60 s in all")
    *lines, last = closing(Result(7, [fault], 10, 5, 3, None, 60.0, ["a", "b"]))
    assert lines == ["  DIFFERENT a", "  DIFFERENT b"]
    assert "2 DIFFERENCES" in last
    assert "readings equal never" in last


@pytest.mark.broker
@pytest.mark.kafka
def test_eight_faults_lose_nothing_and_count_nothing_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Workers and broker are broken eight times under traffic; topics and readings are those of a replay."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)

    def progress(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"faults: {text}\n")

    result = run_faults(tmp_path, SEED, draw_faults(SEED, 8), 2, progress)
    assert result.differences == []
    assert len(result.faults) == 8
    assert result.decisions > 0
    assert result.equal_after_s is not None
