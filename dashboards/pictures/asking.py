"""What Prometheus answers to a query, now or over time."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from monitor.errors import SourceError

TIMEOUT_S = 30.0


class Span(NamedTuple):
    """A stretch of time, seconds since the epoch, and how far its samples are apart."""

    start: float
    end: float
    step: float


class Series(msgspec.Struct, frozen=True):
    """One series of an answer: its labels, and its samples as time and text."""

    metric: dict[str, str]
    values: list[tuple[float, str]] = []
    value: tuple[float, str] | None = None

    def samples(self) -> list[tuple[float, float]]:
        """Return the samples, times and values."""
        found = self.values if self.value is None else [self.value]
        return [(at, float(text)) for at, text in found]


class _Data(msgspec.Struct, frozen=True):
    result: list[Series]


class _Answer(msgspec.Struct, frozen=True):
    data: _Data


class _Labels(msgspec.Struct, frozen=True):
    data: list[str]


class Prometheus:
    """Asks a Prometheus by its HTTP API.

    Parameters
    ----------
    url
        Such as `http://127.0.0.1:9090`.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def now(self, expr: str, at: float) -> list[Series]:
        """Return what an expression gives at a moment; SourceError where it's refused, or nobody answers."""
        body = self._get("query", {"query": expr, "time": f"{at:.3f}"})
        return msgspec.json.decode(body, type=_Answer).data.result

    def over(self, expr: str, span: Span) -> list[Series]:
        """Return what an expression gives over time; SourceError as above."""
        times = {"start": f"{span.start:.3f}", "end": f"{span.end:.3f}", "step": f"{span.step:g}"}
        return msgspec.json.decode(self._get("query_range", {"query": expr, **times}), type=_Answer).data.result

    def label_values(self, label: str, selector: str) -> list[str]:
        """Return the values that a label has in a selector's series; SourceError as above."""
        return msgspec.json.decode(self._get(f"label/{label}/values", {"match[]": selector}), type=_Labels).data

    def _get(self, path: str, parameters: Mapping[str, str]) -> bytes:
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310  # the operator's own address
                body: bytes = answer.read()
                return body
        except urllib.error.HTTPError as error:
            raise SourceError(f"Prometheus refuses {parameters}: {error.read().decode(errors='replace')}") from error
        except OSError as error:
            raise SourceError(f"no Prometheus at {self.url}: {error}") from error
