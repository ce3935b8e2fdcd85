"""Readings as plain JSON data: every number under its name, and None where there is none."""

from __future__ import annotations

import msgspec

from monitor.readings import BoardSnapshot, Limits, OutputReading, Reading, Share, Tally


def reading_document(reading: Reading) -> dict[str, object]:
    """Return a reading as JSON data."""
    document: dict[str, object] = msgspec.to_builtins(reading)
    document["matched"] = _share(reading.matched)
    document["masked"] = _share(reading.masked)
    document |= {
        "config": reading.config or None,
        "net": reading.net or None,
    }  # of a version of which nothing was drawn
    return document


def output_document(reading: OutputReading) -> dict[str, object]:
    """Return what redacted outputs show as JSON data."""
    document: dict[str, object] = msgspec.to_builtins(reading)
    return document | {"config": reading.config or None, "net": reading.net or None}


def _share(share: Share) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(share)
    if share.where_looked is None:
        document["where_looked"] = dict.fromkeys(Limits.__struct_fields__)
    return document


def counts_document(tallies: tuple[Tally, ...], name: str) -> list[dict[str, object]]:
    """Return counts as JSON data, by the last of their labels: `[{name: …, "count": …}]`."""
    counts: dict[str, int] = {}
    for tally in tallies:
        counts[tally.labels[-1]] = counts.get(tally.labels[-1], 0) + int(tally.value)
    return [{name: label, "count": count} for label, count in sorted(counts.items())]


def snapshot_document(snapshot: BoardSnapshot) -> dict[str, object]:
    """Return readings and counted outcomes as JSON data."""
    return {
        "readings": [reading_document(reading) for reading in snapshot.readings],
        "outputs": [output_document(reading) for reading in snapshot.outputs],
        "dead_letters": counts_document(snapshot.dead_letters, "reason"),
        "quarantined_spans": counts_document(snapshot.quarantined, "reason"),
        "unchecked_outputs": counts_document(snapshot.unchecked, "reason"),
        "labels": counts_document(snapshot.outcomes, "outcome"),
        "documents": counts_document(snapshot.documents, "outcome"),
        "unknown_entities": counts_document(snapshot.unknown_entities, "entity"),
    }
