"""`recallwatch misses`: what was missed, by its place, from the live ledger or from files; no text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.errors import ConfigError
from monitor.exposition import clean
from monitor.misses import Found, Miss, Misses, Wanted, miss_document
from monitor.plan import Plan
from monitor.readings import BoardSnapshot
from monitor.records import STRATA, Stratum
from monitor.tally import ANY_ENTITY
from streams.cli_options import config_options, read_settings
from streams.console import table_console
from streams.in_force_reader import read_rules
from streams.ledger_reader import read_ledger
from streams.page import words
from streams.replay_options import asks_replay, quiet_logs, replay_options, replayed

SHOWN = 50
"""Rows of the table, unless it's asked for more."""
_OFTEN_ALIKE = ("day", "language", "version", "flagged by")
_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@replay_options
@config_options
@click.option("--entity", default="", metavar="NAME", help="Of this entity only; `any` is all.")
@click.option("--language", default="", metavar="NAME")
@click.option("--detector", default="", metavar="NAME")
@click.option("--version", default="", metavar="NAME", help="Of this version of a detector only.")
@click.option("--stratum", type=click.Choice(STRATA), help="By what flagged the document.")
@click.option("--since", type=_DAY, metavar="DATE", help="Drawn on this day or later (UTC).")
@click.option("--until", type=_DAY, metavar="DATE", help="Drawn on this day or before.")
@click.option("--reading", type=click.Choice(("matched", "masked")), default="matched", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The newest N.  [table: 50, JSON: all]")
@click.option("--json", "as_json", is_flag=True, help='One JSON document: {"misses": […], "total": N, …}.')
def misses(  # noqa: PLR0913  # one argument an option
    *,
    decisions: Sequence[Path],
    labels: Sequence[Path],
    annotators: Sequence[str],
    config_path: Path | None,
    overrides: Sequence[str],
    entity: str,
    language: str,
    detector: str,
    version: str,
    stratum: Stratum | None,
    since: datetime | None,
    until: datetime | None,
    reading: Found,
    limit: int | None,
    as_json: bool,
) -> None:
    """List what the detector missed.

    Where each missed occurrence is (document, offsets in code points), how far detected spans cover it all the same,
    and what flagged its document. The text itself is never shown: nothing here has it. It is read from the live
    ledger, or from the files of a replay.

    matched: same entity, overlap as configured. masked: every character covered, by any entity.
    """
    if since and until and until < since:
        raise ConfigError("", f"{_day(until)} is before --since, {_day(since)}", source="--until")
    files = decisions, labels, annotators
    from_files = asks_replay(*files)
    settings = read_settings(config_path, overrides, broker=not from_files)
    if not from_files:
        quiet_logs()
    plan = Plan(settings.config) if from_files else read_rules(settings).plan
    gathered = Misses(plan.aliases.fold, plan.iou, reading)
    run = replayed(settings.config, *files) if from_files else None
    for doc_id, document in read_ledger(settings) if run is None else run.documents():
        gathered.add(doc_id, document)
    if run is not None:
        _tell_unread(run.snapshot(), labelled=bool(gathered.occurrences))
    entity, language = _unless_any(entity), _unless_any(language.lower())
    folded = plan.aliases.fold(entity) if entity else ""
    wanted = Wanted(folded, language, detector, version, stratum or "", _day(since), _day(until))
    _check(gathered, wanted)
    if as_json:
        data = msgspec.json.encode(misses_document(gathered, wanted, reading, limit))
        sys.stdout.write(msgspec.json.format(data, indent=1).decode() + "\n")
    else:
        print_misses(table_console(), gathered, wanted, limit or SHOWN)


def _tell_unread(snapshot: BoardSnapshot, *, labelled: bool) -> None:
    """Say on standard error what of the files wasn't read, or "nothing was missed" would be said of it too.

    Labels of documents that weren't drawn are told where no other ones are: drawing few of them is a setting.
    """
    unread = [("dead letters", tally) for tally in snapshot.dead_letters]
    if not labelled:
        unread += [("labels", tally) for tally in snapshot.outcomes if tally.labels != ("joined",)]
    if unread:
        counts = ", ".join(f"{kind} {'/'.join(map(clean, of.labels))} {of.value:,}" for kind, of in unread)
        click.echo(f"not counted: {counts}", err=True)


def _unless_any(name: str) -> str:
    """Return the name of an entity or language; nothing for `any`, which on the board and in alerts is all of them."""
    return "" if name == ANY_ENTITY else name


def _day(moment: datetime | None) -> str:
    return "" if moment is None else moment.date().isoformat()


def _check(gathered: Misses, wanted: Wanted) -> None:
    """Refuse a name that nothing labelled carries: a slip of the pen would read as "nothing was missed"."""
    for name in ("entity", "language", "detector", "version"):
        asked = getattr(wanted, name)
        known = sorted({clean(getattr(place, name)) for place in gathered.occurrences})
        if asked and known and clean(asked) not in known:
            problem = f"no labelled occurrence is of {clean(asked)}; known: {', '.join(known)}"
            raise ConfigError("", problem, source=f"--{name}")


def misses_document(
    gathered: Misses, wanted: Wanted, reading: Found, limit: int | None = None
) -> dict[str, list[dict[str, object]] | int | str]:
    """Return the misses asked for as JSON data, newest first; totals are of all of them, whatever the limit."""
    found = gathered.of(wanted)
    by_entity = [
        {"entity": entity, "missed": missed, "true": true} for entity, missed, true in _by_entity(gathered, wanted)
    ]
    rows = [miss_document(miss) for miss in found[:limit]]
    return {"misses": rows, "total": len(found), "by_entity": by_entity, "reading": reading}


def _by_entity(gathered: Misses, wanted: Wanted) -> list[tuple[str, int, int]]:
    """Return entity, misses and true occurrences, the most misses first."""
    missed = Counter(miss.place.entity for miss in gathered.of(wanted))
    counts = [(entity, missed[entity], true) for entity, true in gathered.true(wanted).items()]
    return sorted(counts, key=lambda row: (-row[1], row[0]))


def print_misses(console: Console, gathered: Misses, wanted: Wanted, limit: int) -> None:
    """Print a table of misses, and how many of how many there were by entity."""
    found = gathered.of(wanted)
    counts = _by_entity(gathered, wanted)
    true = sum(row[2] for row in counts)
    if not true:
        console.print("No labelled occurrence" + (" fits." if gathered.occurrences else " yet: nothing can be missed."))
        return
    if found:
        console.print(_table(found[:limit]))
    if len(found) > limit:
        console.print(f"{len(found) - limit:,} more: --limit {len(found)}")
    parts = [f"{clean(entity)} {missed:,} of {of:,}" for entity, missed, of in counts]
    console.print(Text(f"Missed {len(found):,} of {true:,} labelled occurrences: {', '.join(parts)}"))


def _table(found: Sequence[Miss]) -> Table:
    """Return the misses, one a row; what all of them have in common is told once, above."""
    columns: dict[str, list[str]] = {
        "day": [miss.place.day or words.DASH for miss in found],
        "document": [clean(miss.doc_id) for miss in found],
        "at": [f"{miss.start}{words.DASH}{miss.end}" for miss in found],
        "entity": [clean(miss.place.entity) for miss in found],
        "language": [clean(miss.place.language) for miss in found],
        "covered": [words.percent(miss.covered / miss.length) for miss in found],
        "as": [", ".join(map(clean, miss.found_as)) for miss in found],
        "flagged by": [str(miss.place.stratum) for miss in found],
        "version": [clean(f"{miss.place.detector} {miss.place.version}") for miss in found],
    }
    alike = {name: columns[name][0] for name in _OFTEN_ALIKE if len({*columns[name]}) == 1}
    title = ", ".join(f"{name} {value}" for name, value in alike.items())
    table = Table(title=Text(title), title_justify="left", box=None, padding=(0, 1), collapse_padding=True)
    table.pad_edge = False
    shown = {name: values for name, values in columns.items() if name not in alike}
    for name in shown:
        whole = name in ("day", "at", "covered", "flagged by")
        table.add_column(name, overflow="fold", no_wrap=whole, justify="right" if name == "covered" else "left")
    for row in zip(*shown.values(), strict=True):
        table.add_row(*map(Text, row))
    table.caption = "at: code points; covered: of it by detected spans, and as what"
    table.caption_justify = "left"
    return table
