"""The scrape: what a registry exposes, and that nothing in it can break.

`RECALLWATCH_WRITE_GOLDEN=1 pytest tests/streams/test_exporter.py` writes `exposition.txt` anew; review it as a diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import boards
import msgspec
import pytest
from exporter_oracle import Exporter, register
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse

from monitor.pipeline import Pipeline
from monitor.readings import ANY, BoardSnapshot, Tally
from streams.scraping import Published, Source

GOLDEN = Path(__file__).with_name("exposition.txt")


def source(snapshot: BoardSnapshot | None, pipeline: Pipeline) -> Source:
    """Return a source that never changes."""
    return lambda: (snapshot, pipeline)


def small_board() -> BoardSnapshot:
    """Return a board of three cells, one of them with its strata."""
    kept = [r for r in boards.busy_board().readings if r.window.days == 7]
    wanted = {(ANY, ANY), ("PERSON", "en"), ("NATIONAL_ID", "es"), ("MEDICAL_RECORD", "nl")}
    cells = (r for r in kept if (r.entity, r.language) in wanted)
    readings = tuple(r for r in cells if r.stratum is None or r.entity == "PERSON")
    return msgspec.structs.replace(boards.busy_board(), readings=readings)


def test_the_exposition_is_the_golden_one() -> None:
    """Names, help, types, labels and numbers, reviewed as a whole."""
    text = generate_latest(register(source(small_board(), boards.worker()))).decode()
    if os.environ.get("RECALLWATCH_WRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_a_scrape_reads_once_and_changes_nothing() -> None:
    """Two scrapes of the same state are the same bytes, and registering reads nothing."""
    reads: list[Published] = []

    def reading() -> Published:
        reads.append((boards.busy_board(), boards.worker()))
        return reads[-1]

    registry = register(reading)
    assert reads == []
    assert generate_latest(registry) == generate_latest(registry)
    assert len(reads) == 2


def test_there_are_no_created_series() -> None:
    """They would double the counters and tell nothing."""
    registry = register(source(boards.busy_board(), boards.worker()))
    assert b"_created" not in generate_latest(registry) + generate_openmetrics(registry)


def test_openmetrics_parses_and_ends() -> None:
    """The strict parser knows each family once, with its unit."""
    text = generate_openmetrics(register(source(boards.busy_board(), boards.worker()))).decode()
    families = {family.name: family for family in parse_openmetrics(text)}
    assert families["recallwatch_recall_lower_ratio"].unit == "ratio"
    assert families["recallwatch_decisions"].type == "counter"
    assert families["recallwatch_config"].type == "info"


@pytest.mark.parametrize("encode", [generate_latest, generate_openmetrics])
def test_a_registry_that_holds_something_else_takes_the_exporter_too(encode: type) -> None:
    """The registry is the caller's."""
    registry = CollectorRegistry()
    registry.register(Exporter(source(None, boards.worker())))
    assert b"recallwatch_ready 1.0" in encode(registry)


def test_met_3_two_monitors_in_one_process_do_not_meet() -> None:
    """Each has a registry of its own: no exception, and each counts its own decision."""
    one = {("presidio", "1"): 1}
    registries = [register(source(None, Pipeline(started_at=0, decisions=one))) for _ in range(2)]
    labels = {"detector": "presidio", "version": "1"}
    counted = [registry.get_sample_value("recallwatch_decisions_total", labels) for registry in registries]
    assert counted == [1, 1]


MET_1 = ['PER"SON', "C:\\", "LINE\nBREAK", None, "\ud83d", "", "é", "a" * 10_240, "\x00", "\r", "\u202e", "{}=,#", "\\"]


def named(value: str) -> Source:
    """Return a source that has the value wherever a producer can put one."""
    board = msgspec.structs.replace(
        boards.quiet_board(),
        readings=(boards.reading(value, value, detector=value, version=value), boards.reading(ANY, ANY)),
        outcomes=(Tally((value,), 1),),
        dead_letters=(Tally((value, value), 1),),
        current_versions=((value, value),),
    )
    pipeline = msgspec.structs.replace(boards.worker(), labels={(value,): 1}, build=value, config=value)
    return source(board, pipeline)


def entities(text: str) -> set[str]:
    """Return the entities that a parsed scrape names."""
    return {s.labels["entity"] for f in parse(text) for s in f.samples if "entity" in s.labels}


@pytest.mark.parametrize("value", MET_1, ids=lambda value: ascii(value)[:20])
def test_met_1_no_label_value_breaks_the_scrape(value: str) -> None:
    """Whatever a producer calls an entity, the scrape parses in both formats and the other series are there."""
    registry = register(named(value))
    text = generate_latest(registry).decode()
    assert list(parse_openmetrics(generate_openmetrics(registry).decode()))
    assert ANY in entities(text)
    assert len(entities(text)) == 2
    assert "None" not in entities(text)


@pytest.mark.parametrize(("value", "label"), [(None, "unknown"), ("", "unknown"), ("é", "é"), ("\ud83d", "\\ud83d")])
def test_met_1_what_a_label_becomes(value: str, label: str) -> None:
    """No value is `unknown`, a lone surrogate is its escape, and a letter stays a letter."""
    assert entities(generate_latest(register(named(value))).decode()) == {label, ANY}


@settings(max_examples=30, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_text_at_all_parses(value: str) -> None:
    """The kind of MET-1: any code points in any label."""
    registry = register(named(value))
    assert ANY in entities(generate_latest(registry).decode())
    assert list(parse_openmetrics(generate_openmetrics(registry).decode()))


def test_another_version_is_no_change_of_rates() -> None:
    """Both are told of the roll-up, and on-call has something to do about one of them alone."""
    board = boards.busy_board()
    event = msgspec.structs.replace(board.alarms[0], entity=ANY, language=ANY, cause="design_changed", changed="rates")
    causes = []
    for changed in ("rates", "version"):
        told = msgspec.structs.replace(board, alarms=(msgspec.structs.replace(event, changed=changed),))
        text = generate_latest(register(source(told, boards.worker()))).decode()
        series = [line for line in text.splitlines() if line.startswith("recallwatch_told_timestamp_seconds{")]
        causes += [line.partition('cause="')[2].partition('"')[0] for line in series]
    assert causes == ["design_changed", "version_changed"]
