"""PromQL out of the product's own metrics: a name or a label that no metric has can't be written.

An expression is text. What isn't text here is a selector: it knows its metric, so it knows the labels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from textwrap import dedent, indent
from typing import NamedTuple, Protocol

from monitor.metrics import METRICS, Metric

UP = Metric("up", "gauge", "Whether Prometheus could scrape a target; Prometheus's own.", ("job",))


class Named(Protocol):
    """A metric, or a recorded series."""

    @property
    def name(self) -> str:
        """The name that is queried."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Its own labels, those of the scrape left out."""


class Recorded(NamedTuple):
    """A series that a recording rule makes: its name and labels, what makes it, and why it's made."""

    name: str
    labels: tuple[str, ...]
    expr: str
    why: str


class Not(NamedTuple):
    """A label's value that isn't wanted."""

    value: str


class OneOf(NamedTuple):
    """Values of a label, either of which is wanted."""

    values: Sequence[str]


class Chosen(NamedTuple):
    """A dashboard's variable, any of whose chosen values is wanted; `but` is one that isn't."""

    variable: str
    but: str = ""


Wanted = str | Not | OneOf | Chosen


def select(series: Named, /, **wanted: Wanted) -> str:
    r"""Return the selector of a series.

    Parameters: what is wanted of its labels; nothing is all.

    Raises
    ------
    ValueError
        No metric of the product, or no label of it.

    >>> from monitor.metrics import LAG
    >>> print(select(LAG), select(LAG, channel='a"b'))
    recallwatch_consumer_lag_records recallwatch_consumer_lag_records{channel="a\"b"}
    >>> print(select(LAG, channel=Not("labels"), partition=OneOf(["1", "2.5"])))
    recallwatch_consumer_lag_records{channel!="labels",partition=~"1|2\\.5"}
    >>> print(select(LAG, channel=Chosen("channel")))
    recallwatch_consumer_lag_records{channel=~"$channel"}
    """
    if isinstance(series, Metric) and series not in METRICS and series is not UP:
        raise ValueError(f"{series.name}: no metric of the product; monitor.metrics has {len(METRICS)}")
    if unknown := wanted.keys() - set(series.labels):
        raise ValueError(f"{series.name}: no label {', '.join(sorted(unknown))}; it has {', '.join(series.labels)}")
    matchers = ",".join(_matcher(label, value) for label, value in wanted.items())
    return f"{series.name}{{{matchers}}}" if matchers else series.name


def _matcher(label: str, value: Wanted) -> str:
    if isinstance(value, OneOf):
        either = "|".join(re.escape(one) for one in value.values)
        return f"{label}=~{quote(either)}"
    if isinstance(value, Chosen):
        but = f",{label}!={quote(value.but)}" if value.but else ""
        return f'{label}=~"${value.variable}"{but}'
    return f"{label}!={quote(value.value)}" if isinstance(value, Not) else f"{label}={quote(value)}"


def quote(value: str) -> str:
    r"""Return a PromQL string.

    >>> print(quote("é"), quote("two\nlines"))
    "é" "two\nlines"
    """
    return json.dumps(value, ensure_ascii=False)


def block(text: str, **parts: str) -> str:
    r"""Return an expression of several lines, written indented in the source, with its parts put in.

    A part of several lines is indented as the line that it stands in.

    >>> print(block('''
    ...     sum (
    ...       <what>
    ...     ) > 0
    ... ''', what="a\nor b"))
    sum (
      a
      or b
    ) > 0
    """
    lines = []
    for line in dedent(text).strip("\n").rstrip().splitlines():
        depth = " " * (len(line) - len(line.lstrip()))
        filled = re.sub(r"<(\w+)>", lambda found: parts[found[1]], line.strip())
        lines.append(indent(filled, depth))
    return "\n".join(lines)


def listed(labels: Sequence[str]) -> str:
    """Return labels as a grouping has them: `a, b`."""
    return ", ".join(labels)
