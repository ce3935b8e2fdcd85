"""The sign-off as data: what was measured in one window, with everything that must stand beside it, and a hash over it.

A pure function of a board's snapshot, so that the same snapshot gives the same report and the same hash. The hash is
SHA-256 over the report's canonical JSON: keys sorted, no white space, ASCII, numbers as Python writes them. Any Python
can work it out from the file, this product not needed:
`sha256(json.dumps(document["report"], sort_keys=True, separators=(",", ":")).encode())`. It shows a change, and no
author: whoever can write the file can write a hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple, get_args

import msgspec

from monitor.estimators.agreement import FEWEST_N_EFF, GREYED_BELOW, MARKED_BELOW
from monitor.in_force import InForce
from monitor.readings import ANY, BoardSnapshot, Change, Reading, Window
from monitor.readings_json import counts_document, output_document, reading_document
from monitor.records import STRATA
from monitor.tallies import Stage, published
from monitor.versions import version_key

FORMAT = 1
Content = dict[str, object]
_EPOCH = date(1970, 1, 1)
_LATEST = datetime.max.replace(tzinfo=UTC).timestamp()


class Made(NamedTuple):
    """How a report was made."""

    product_version: str
    as_of: str
    """ISO date of the day that it speaks of at last."""
    source: Literal["live", "replay"]


class Statement(msgspec.Struct, frozen=True):
    """What somebody signs of a cell, or why nobody can."""

    signable: bool
    text: str
    why_not: str | None = None
    says_little: str | None = None
    """Why its interval is too wide, or rests on too few occurrences, for anybody to put a name to it."""
    notes: tuple[str, ...] = ()


class ReportCell(NamedTuple):
    """A cell of one version: the population's reading, and its strata."""

    reading: Reading
    strata: tuple[Reading, ...]
    current: bool
    """Whether the newest traffic carries this version."""


def report_cells(snapshot: BoardSnapshot, days: int | None) -> list[ReportCell]:
    """Return the cells of a window: current versions before earlier ones, roll-ups before what they roll up."""
    current = set(snapshot.current_versions)
    strata: dict[tuple[str, str, str, str], list[Reading]] = {}
    population: list[Reading] = []
    for r in snapshot.readings:
        if r.window.days == days:
            if r.stratum is None:
                population.append(r)
            else:
                strata.setdefault(_key(r), []).append(r)
    found = [ReportCell(r, tuple(strata.get(_key(r), ())), (r.detector, r.version) in current) for r in population]
    found.sort(key=lambda c: (c.reading.entity != ANY, c.reading.entity, c.reading.language != ANY, c.reading.language))
    found.sort(key=lambda c: version_key(c.reading.version), reverse=True)
    found.sort(key=lambda c: (not c.current, c.reading.detector))
    return found


def _key(r: Reading) -> tuple[str, str, str, str]:
    return r.entity, r.language, r.detector, r.version


def report_content(
    snapshot: BoardSnapshot,
    cells: Sequence[ReportCell],
    statements: Sequence[Statement],
    rules: InForce,
    made: Made,
) -> Content:
    """Return the report.

    Parameters
    ----------
    snapshot
        What the board says; no text of a document is in it, nor a document's id.
    cells, statements
        `report_cells` of one window, and a statement for each.
    rules
        In force now; the history tells which ones decided what.
    made
        How.

    Returns
    -------
    Content
        JSON data. What has no value is None, and never a NaN.
    """
    config = rules.config
    window = cells[0].reading.window if cells else Window(None, None, None)
    dated = made.source == "live" or window.first is not None  # decisions without a time are all of one moment
    return {
        "format": FORMAT,
        "product": "recallwatch",
        **made._asdict(),
        "computed_at": _moment(snapshot.computed_at or None),
        "window": msgspec.to_builtins(window),
        "confidence": config.readings.confidence,
        "asked": {
            "completeness": config.readings.min_completeness,
            "label_every_days": config.readings.stale_after_days,
            "kappa_unmarked": MARKED_BELOW,
            "kappa": GREYED_BELOW,
            "kappa_n_eff": FEWEST_N_EFF,
        },
        "versions": _versions(cells),
        "cells": [_cell(cell, statement, dated=dated) for cell, statement in zip(cells, statements, strict=True)],
        "outputs": _outputs(snapshot, window),
        "unseen_targets": list(snapshot.unseen_targets),
        "design": _design(cells),
        "nobody_looked": _nobody_looked(cells),
        "alarm": {
            "period_s": config.alarm.period,
            "false_alarms_per_year": config.alarm.false_alarms_per_year,
            "events": [
                {**msgspec.to_builtins(e), "at": _moment(e.at) if dated else None}
                for e in snapshot.alarms
                if _is_in(e.at, window)
            ],
        },
        "drift": {
            "signals": [{**msgspec.to_builtins(s), "at": _moment(s.at)} for s in snapshot.drift if s.at is not None],
            "watched": len(snapshot.drift),
            "notes": list(snapshot.drift_notes),
        },
        "labelling": {
            "queues": [
                {**msgspec.to_builtins(q), "oldest_draw": _moment(q.oldest_draw if dated else None)}
                for q in snapshot.queues
            ],
            "labels": counts_document(snapshot.outcomes, "outcome"),
            "documents": counts_document(snapshot.documents, "outcome"),
            "dead_letters": counts_document(snapshot.dead_letters, "reason"),
            "quarantined_spans": counts_document(snapshot.quarantined, "reason"),
            "unchecked_outputs": counts_document(snapshot.unchecked, "reason"),
            "unknown_entities": counts_document(snapshot.unknown_entities, "entity"),
            "thinning": snapshot.thinning,
            "capacity_per_day": snapshot.capacity_per_day,
        },
        "history": [
            {**msgspec.to_builtins(c), "at": _moment(c.at) if dated else None}
            for c in changes_of(snapshot.changes, window)
        ],
        "config": {"id": rules.plan.id, "settings": dict(rules.settings)},
    }


def _versions(cells: Iterable[ReportCell]) -> list[Content]:
    found = dict.fromkeys((cell.reading.detector, cell.reading.version, cell.current) for cell in cells)
    return [{"detector": detector, "version": version, "current": current} for detector, version, current in found]


def _cell(cell: ReportCell, statement: Statement, *, dated: bool) -> Content:
    return {
        "statement": msgspec.to_builtins(statement),
        "current": cell.current,
        **_reading(cell.reading, dated=dated),
        "strata": [_reading(r, dated=dated) for r in sorted(cell.strata, key=_place)],
    }


def _reading(reading: Reading, *, dated: bool) -> Content:
    """Return a reading as JSON data, the times of its alarm and its any-time limits as people read them."""
    document = reading_document(reading)
    alarm, limits = reading.alarm, reading.any_time
    if limits is not None:
        # decisions without a time are of the year 1970
        since = (limits.since or None) if dated else None
        document["any_time"] = {**msgspec.to_builtins(limits), "since": _moment(since)}
    if alarm is not None:
        times = {"fired_at": alarm.fired_at, "on_since": alarm.on_since, "counts_from": alarm.counts_from}
        told = {name: _moment(at if dated else None) for name, at in times.items()}
        document["alarm"] = {**msgspec.to_builtins(alarm), **told}
    return document


def _place(r: Reading) -> int:
    return -1 if r.stratum is None else STRATA.index(r.stratum)


def _outputs(snapshot: BoardSnapshot, window: Window) -> list[Content]:
    """Return what redacted outputs show in the window, current versions first, roll-ups before what they roll up."""
    current = set(snapshot.current_versions)
    found = [
        {"current": (r.detector, r.version) in current, **output_document(r)}
        for r in sorted(snapshot.outputs, key=lambda r: (r.language != ANY, r.language))
        if r.window.days == window.days
    ]
    found.sort(key=lambda r: version_key(str(r["version"])), reverse=True)
    return sorted(found, key=lambda r: (not r["current"], str(r["detector"])))


def _design(cells: Iterable[ReportCell]) -> list[Content]:
    """Return who was drawn: documents by version, language and stratum, whatever is in them."""
    rows = [(cell, r) for cell in cells for r in cell.strata if r.entity == ANY and r.language != ANY]
    return [
        {
            "detector": r.detector,
            "version": r.version,
            "current": cell.current,
            "language": r.language,
            "stratum": r.stratum,
            "census": r.census,
            "sampled": r.sampled,
            "labelled": r.labelled,
            "completeness": r.completeness,
            **_probabilities(r),
        }
        for cell, r in sorted(rows, key=lambda row: (not row[0].current, row[1].language, _place(row[1])))
    ]


def _probabilities(r: Reading) -> Content:
    """Return the smallest and the largest inclusion probability among the drawn; None where none was."""
    low, high = r.weight_max, r.weight_min
    return {"probability_min": None if low is None else 1 / low, "probability_max": None if high is None else 1 / high}


def _nobody_looked(cells: Iterable[ReportCell]) -> list[Content]:
    """Return for each version the documents that no tool flagged: how many, how many were read, what they cost."""
    found: list[Content] = []
    for cell in cells:
        r = cell.reading
        if (r.entity, r.language) != (ANY, ANY):
            continue
        blind = next((s for s in cell.strata if s.stratum == "unflagged"), None)
        found.append(
            {
                "detector": r.detector,
                "version": r.version,
                "current": cell.current,
                "census": r.census,
                "unflagged": 0 if blind is None else blind.census,
                "share": None if not r.census else (0 if blind is None else blind.census) / r.census,
                "sampled": 0 if blind is None else blind.sampled,
                "labelled": 0 if blind is None else blind.labelled,
                "missed": 0 if blind is None else blind.matched.true,
                **_probabilities(r if blind is None else blind),
                "unflagged_width_share": r.matched.unflagged_width_share,
                "halving_random_rate": r.matched.halving_random_rate,
                "certified": None if r.certified is None else msgspec.to_builtins(r.certified),
            }
        )
    return found


# time


def changes_of(changes: Iterable[Change], window: Window) -> list[Change]:
    """Return what changed in a window, oldest first, and of each kind but versions what was in force when it began."""
    dated = sorted(changes, key=lambda c: (c.at or 0.0, c.kind, c.what))
    if window.first is None or window.last is None:
        return dated
    begin, end = _seconds(window.first), _seconds(window.last, 1)
    found: list[Change] = []
    for kind in ("config", "net", "version"):
        of_kind = [c for c in dated if c.kind == kind and (c.at or 0.0) < end]
        before = [c for c in of_kind if (c.at or 0.0) < begin]
        found += ([] if kind == "version" else before[-1:]) + [c for c in of_kind if (c.at or 0.0) >= begin]
    return sorted(found, key=lambda c: (c.at or 0.0, c.kind, c.what))


def end_of_day(day: str) -> float:
    """Return the last moment of a day (ISO date, UTC) as seconds since the epoch.

    >>> end_of_day("1970-01-01")
    86399.999
    """
    return _seconds(day, 1) - 0.001


def later_rows(day: str, today: str, partitions: int) -> list[bytes]:
    """Return the keys of the tallies of days after `day`: a board that forgets them is the one of that day.

    Parameters: days as ISO dates, `today` the newest that any row can be of; `partitions` as many as any topic has.

    >>> later_rows("1970-01-01", "1970-01-01", 1)
    [b'route/0/1', b'intake/0/1', b'ledger/0/1']
    """
    first, last = ((date.fromisoformat(d) - _EPOCH).days + 1 for d in (day, today))
    return [
        published(stage, partition, str(number), 0, None).key
        for number in range(first, last + 1)  # a record's day may be one ahead of the clock
        for stage in get_args(Stage)
        for partition in range(partitions)
    ]


def _seconds(day: str, more: int = 0) -> float:
    return ((date.fromisoformat(day) - _EPOCH) + timedelta(more)).total_seconds()


def _is_in(at: float, window: Window) -> bool:
    if window.first is None or window.last is None:
        return True
    return _seconds(window.first) <= at < _seconds(window.last, 1)


def _moment(at: float | None) -> str | None:
    """Return a time in ISO 8601, UTC, to the second; None for one that is in no calendar.

    Periods are counted from the epoch: while the ledger still counts in those of another `alarm.period`, what is made
    of their numbers may lie anywhere.
    """
    if at is None or not 0 <= at < _LATEST:
        return None
    return datetime.fromtimestamp(int(at), UTC).isoformat().replace("+00:00", "Z")


# the seal


def canonical(content: Mapping[str, object]) -> bytes:
    """Return the bytes that the hash is over; raises ValueError for a number that isn't finite.

    >>> canonical({"b": 0.1, "a": None})
    b'{"a":null,"b":0.1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def seal(content: Mapping[str, object]) -> str:
    """Return the SHA-256 of a report, in hex."""
    return hashlib.sha256(canonical(content)).hexdigest()


def sealed(content: Content) -> Content:
    """Return the document that is written: the report and its hash."""
    return {"report": content, "sha256": seal(content)}
