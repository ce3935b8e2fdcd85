"""The text of `/metrics`: to the byte what the client library writes of the same samples, in both formats."""

from __future__ import annotations

import boards
import pytest
from exporter_oracle import register
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from monitor.exposition import samples
from monitor.pipeline import Pipeline
from monitor.readings import BoardSnapshot
from streams.scraping import format_of, write


def both(snapshot: BoardSnapshot | None, pipeline: Pipeline) -> list[tuple[bytes, bytes]]:
    """Return the library's text and ours, for each format."""
    registry = register(lambda: (snapshot, pipeline))
    return [
        (generate_latest(registry), write(samples(snapshot, pipeline), openmetrics=False)),
        (generate_openmetrics(registry), write(samples(snapshot, pipeline), openmetrics=True)),
    ]


def test_a_busy_board_reads_as_the_library_writes_it() -> None:
    """Counters, gauges, infos, units, labels and numbers of every size."""
    for expected, actual in both(boards.busy_board(), boards.worker()):
        assert actual.decode() == expected.decode()


def test_a_worker_that_has_just_started_reads_as_the_library_writes_it() -> None:
    """No board, hardly a sample."""
    for expected, actual in both(None, Pipeline(started_at=0.0)):
        assert actual == expected


@given(st.text(max_size=12), st.integers(0, 10**18))
def test_any_label_and_any_count_reads_as_the_library_writes_it(name: str, count: int) -> None:
    """Quotes, backslashes, line ends, other scripts, lone surrogates; counts beyond what a double holds exactly."""
    pipeline = Pipeline(started_at=0.5, decisions={(name, '1 "\\\n'): count})
    for expected, actual in both(None, pipeline):
        assert actual == expected


@pytest.mark.parametrize(
    ("accept", "openmetrics"),
    [
        ("", False),
        ("text/plain;version=0.0.4", False),
        ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3", True),
        ("application/openmetrics-text;version=one", False),
        ("*/*", False),
    ],
)
def test_the_format_is_the_one_asked_for(accept: str, openmetrics: bool) -> None:  # noqa: FBT001  # a case of the table
    """What can't be read as a format is answered in the plain one, and the content type says which it is."""
    found = format_of(accept)
    assert found.openmetrics == openmetrics
    assert found.content_type.startswith("application/openmetrics-text" if openmetrics else "text/plain")
