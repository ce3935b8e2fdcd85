"""The text of a scrape, written straight from the samples.

`prometheus_client` checks the name of every label of every sample anew, 28 µs each: for a board of 3,300 samples a
tenth of a second of the interpreter's lock, which under a full backlog becomes more than a second of waiting. Names
come from our own catalogue and values are clean (`monitor.exposition`), so a fraction of the time does. The library
still says which format a scraper asked for, and the tests hold its text and this one to be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from prometheus_client.exposition import choose_encoder
from prometheus_client.utils import floatToGoString

from monitor.exposition import Sample
from monitor.metrics import METRICS, Metric
from monitor.pipeline import Pipeline
from monitor.readings import BoardSnapshot

Published: TypeAlias = tuple[BoardSnapshot | None, Pipeline]
Source: TypeAlias = Callable[[], Published]
"""Gives the last published snapshot and the worker's own figures; called from the HTTP thread, so it must not block."""
SUFFIX = {"counter": "_total", "info": "_info", "gauge": ""}
"""What the formats add to a family's name."""
_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


class Format(NamedTuple):
    """What a scraper asked for."""

    content_type: str
    openmetrics: bool


def format_of(accept: str) -> Format:
    """Return the format for an Accept header; the plain one where it can't be read."""
    try:
        _, content_type = choose_encoder(accept)
    except (TypeError, ValueError):  # a version that is no number
        _, content_type = choose_encoder("")
    return Format(content_type, content_type.startswith("application/openmetrics-text"))


def write(samples: Iterable[Sample], *, openmetrics: bool) -> bytes:
    """Return the exposition: families in the order of the catalogue, samples in theirs; those without one left out."""
    lines: dict[str, list[str]] = {}
    written: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}  # a cell's labels come with each of its metrics
    for metric, labels, value in samples:
        found = lines.get(metric.name)
        if found is None:
            found = lines[metric.name] = [_head(metric, openmetrics=openmetrics)]
        key = (metric.labels, labels)
        named = written.get(key)
        if named is None:
            named = written[key] = _labels(*key)
        found.append(f"{metric.name}{named} {_number(value)}\n")
    text = "".join([line for metric in METRICS for line in lines.get(metric.name, ())])
    return (text + "# EOF\n" if openmetrics else text).encode()


def _labels(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    named = [f'{name}="{value.translate(_ESCAPED)}"' for name, value in sorted(zip(names, values, strict=True))]
    return "{" + ",".join(named) + "}" if named else ""


def _number(value: float) -> str:
    return str(floatToGoString(value))  # type: ignore[no-untyped-call]  # the library's one function without types


def _head(metric: Metric, *, openmetrics: bool) -> str:
    """Return the lines that describe a family; OpenMetrics leaves the suffix out, and names the unit."""
    if not openmetrics:
        text = metric.help.replace("\\", r"\\").replace("\n", r"\n")
        return (
            f"# HELP {metric.name} {text}\n# TYPE {metric.name} {'gauge' if metric.kind == 'info' else metric.kind}\n"
        )
    name = metric.name.removesuffix(SUFFIX[metric.kind])
    unit = f"# UNIT {name} {metric.unit}\n" if metric.unit and metric.kind != "info" else ""
    return f"# HELP {name} {metric.help.translate(_ESCAPED)}\n# TYPE {name} {metric.kind}\n{unit}"
