"""The swap of a real detector for one that lost an entity, lived through by days: who is paged, when, and for what."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.config import read_config
from streams.replay_days import DayAlarm, DayReplay, Schedule
from streams.replay_traffic import Lines, Traffic

DATA = Path(os.environ.get("RECALLWATCH_TEST_DATA", "")) if os.environ.get("RECALLWATCH_TEST_DATA") else None
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        DATA is None or not DATA.is_dir(),
        reason="no labelled corpora: set RECALLWATCH_TEST_DATA to the folder that holds ground_truth.json",
    ),
]

BEFORE, AFTER = "crf_v2__meddocan_es_test.jsonl", "crf_v3__meddocan_es_test.jsonl"
CORPUS = "meddocan_es_test.jsonl"
PASSES = 20
SLACK = 0.05
"""Targets are this far below what the first version finds."""


def census(decisions: str) -> dict[str, float]:
    """Return recall by entity over all documents."""
    assert DATA is not None
    (entry,) = (
        entry
        for entry in json.loads((DATA / "ground_truth.json").read_text(encoding="utf-8"))
        if entry["decisions"] == decisions
    )
    return {cell["entity"]: cell["found_iou"] / cell["n_true"] for cell in entry["cells"]}


def targets() -> dict[str, float]:
    """Return the recall asked for, by entity; of one of which nothing is found there is none."""
    return {entity: recall - SLACK for entity, recall in census(BEFORE).items() if recall > SLACK}


def lived(key: str) -> DayReplay:
    """Return 20 days of each version, 250 documents a day, 60 labels a day that come late, misses later."""
    assert DATA is not None
    tree = read_config({"sampling": {"key": key}, "targets": targets()})
    run = DayReplay(tree, Schedule((1, 5), 60, advised=True))
    run.label(Lines([DATA / "corpora" / CORPUS]))
    sides = tuple(Lines([DATA / "decisions" / name]) for name in (BEFORE, AFTER))
    for _ in run.run(Traffic((sides[0], sides[1]), PASSES, 250)):
        pass
    assert run.swap_day == PASSES
    return run


def pages(run: DayReplay) -> list[DayAlarm]:
    """Return the alarms that say that recall fell."""
    return [alarm for alarm in run.alarms if alarm.cause == "recall_fell"]


def false_pages(run: DayReplay) -> Iterator[DayAlarm]:
    """Yield the alarms before the swap, and those of entities that are above their target after it."""
    after, asked = census(AFTER), targets()
    for alarm in pages(run):
        if alarm.day < PASSES or after[alarm.entity] >= asked[alarm.entity]:
            yield alarm


def mail_days(run: DayReplay) -> list[int]:
    """Return how many days after the swap the lost entity's alarms came."""
    return [alarm.day - PASSES for alarm in pages(run) if alarm.entity == "EMAIL_ADDRESS"]


@pytest.mark.parametrize("key", ["one", "two"])
def test_the_lost_entity_is_told_within_days_and_nothing_else_wrongly(key: str) -> None:
    """Mail addresses go from .99 to nothing; nobody is paged before, nor for what stays above its target."""
    run = lived(key)
    found = mail_days(run)
    assert found
    assert 0 <= min(found) <= 7
    assert list(false_pages(run)) == []


@pytest.mark.slow
def test_over_fifty_keys_one_page_at_most_is_false() -> None:
    """And in each of them the lost entity is told within days."""
    wrong: list[DayAlarm] = []
    for number in range(50):
        run = lived(f"key {number}")
        wrong += false_pages(run)
        assert 0 <= min(mail_days(run)) <= 7, number
    assert len(wrong) <= 1, wrong
