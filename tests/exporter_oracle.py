"""What `/metrics` says by the client library's own way: an oracle for `streams.scraping`."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from monitor.exposition import Sample, samples
from monitor.metrics import METRICS, Metric
from streams.scraping import SUFFIX, Source


class Exporter(Collector):
    """Gives the samples of `monitor.exposition` to a registry, one family a metric, in the order of the catalogue.

    Parameters
    ----------
    source
        Read once a scrape.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def describe(self) -> Iterator[Family]:
        """Return the families without samples: registering must not read the source."""
        return (_family(metric) for metric in METRICS)

    def collect(self) -> Iterator[Family]:
        """Return the families that have samples. No `_created` series: they'd double the scrape and tell nothing."""
        by_metric: dict[Metric, list[Sample]] = {}
        for sample in samples(*self._source()):
            by_metric.setdefault(sample.metric, []).append(sample)
        return (_family(metric, by_metric[metric]) for metric in METRICS if metric in by_metric)


def register(source: Source) -> CollectorRegistry:
    """Return a registry of its own that holds nothing but an exporter of `source`."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Exporter(source))
    return registry


def _family(metric: Metric, found: list[Sample] | None = None) -> Family:
    """Return the family, named without the suffix that the formats add to counters and infos."""
    unit = "" if metric.kind == "info" else metric.unit
    family = Family(metric.name.removesuffix(SUFFIX[metric.kind]), metric.help, metric.kind, unit)
    for sample in found or ():
        labels = dict(zip(metric.labels, sample.labels, strict=True))
        family.add_sample(metric.name, labels, sample.value)
    return family
