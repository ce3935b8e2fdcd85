"""Samples of the metric series, their label values cleaned.

What has no value gives no sample: a comparison with NaN is false in PromQL, so an alert on a NaN can never fire, and
a 0 that stands for "we don't know" is a lie. Label values arrive from producers and annotators. One that a scraper
can't parse would cost the whole scrape, so each is cleaned first.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from monitor import metrics as m

UNKNOWN = "unknown"
"""Stands for None and for the empty string, which Prometheus would take for a label that isn't there."""
_LONGEST = 120

Counts = Iterable[tuple[Iterable[object], float]]
"""Label values and their count."""


class Sample(NamedTuple):
    """One sample: label values in the order of `metric.labels`, clean and never empty; a finite value."""

    metric: m.Metric
    labels: tuple[str, ...]
    value: float


def clean(value: object) -> str:
    r"""Return a label value that any scraper and any page can take: printable, 1 to 129 characters.

    What isn't printable (lone surrogates, control characters, direction marks) becomes its escape; what is long is cut
    and keeps a digest, so that two long values stay two.

    >>> clean(None), clean(""), clean("LINE\nBREAK"), clean("\ud83d"), clean("é"), len(clean("x" * 10_000))
    ('unknown', 'unknown', 'LINE\\nBREAK', '\\ud83d', 'é', 129)
    """
    if value is None or value == "":
        return UNKNOWN
    text = str(value)
    if len(text) > _LONGEST:
        digest = hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()
        text = f"{text[:_LONGEST]}…{digest}"
    if text.isprintable():
        return text
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return escaped if len(escaped) <= _LONGEST else clean(escaped)


def added(metric: m.Metric, counts: Counts) -> Iterator[Sample]:
    """Clean the labels of counts; those that become equal are added up, those of another number are dropped."""
    sums: dict[tuple[str, ...], float] = dict.fromkeys(m.KNOWN.get(metric, ()), 0)
    for labels, count in counts:
        if math.isfinite(count):
            key = tuple(map(clean, labels))
            sums[key] = sums.get(key, 0) + count
    return (Sample(metric, labels, value) for labels, value in sums.items() if len(labels) == len(metric.labels))


def one(metric: m.Metric, labels: tuple[str, ...], value: float | None) -> Iterator[Sample]:
    """Yield the sample of a value, unless it's None or not finite; `labels` are clean."""
    if value is not None and math.isfinite(value):
        yield Sample(metric, labels, value)
