"""Keys and rows of tallies that speak of redacted outputs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from monitor.leaks.findings import Kind
from monitor.records import Stratum


class OutputKey(NamedTuple):
    """Redacted outputs that ROUTE looked at: row `OutputRow`."""

    language: str
    detector: str
    version: str
    stratum: Stratum
    kind: Literal["output"] = "output"


class OutputRow(NamedTuple):
    """What a look at outputs found."""

    outputs: int = 0
    """Documents that carry one."""
    unaligned: int = 0
    """Of them those whose output isn't the text with parts replaced."""
    leaking: int = 0
    """Of them those with a leak, aligned or not."""
    masked: int = 0
    """Code points of the texts that aligned outputs don't show where they stood."""
    length: int = 0
    """Code points of the texts of aligned outputs."""


class RedactionsKey(NamedTuple):
    """Replaced spans, documents being the clusters: row `RedactionsRow`."""

    language: str
    detector: str
    version: str
    kind: Literal["redactions"] = "redactions"


class RedactionsRow(NamedTuple):
    """Sums over documents with y replaced spans, t of them with a leak."""

    t: int = 0
    y: int = 0
    tt: int = 0
    ty: int = 0
    yy: int = 0


class RedactedKey(NamedTuple):
    """An entity in documents with an output: row (documents, spans, documents with a leak of it, its leaking spans)."""

    language: str
    detector: str
    version: str
    entity: str
    kind: Literal["redacted"] = "redacted"


class LeakKey(NamedTuple):
    """Leaks of one kind: row (documents, leaks)."""

    language: str
    detector: str
    version: str
    entity: str
    leak: Kind
    kind: Literal["leak"] = "leak"


class OutputDesignKey(NamedTuple):
    """Drawn documents with an output: row (sampled, labelled)."""

    language: str
    detector: str
    version: str
    stratum: Stratum
    probability: float
    kind: Literal["output_design"] = "output_design"
