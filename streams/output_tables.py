"""Redacted outputs in a terminal: leaks of the traffic, masks, what labels say is still readable, leaks by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from monitor.readings import ANY, OutputReading
from streams.page import outputs, words


def output_tables(readings: Sequence[OutputReading]) -> Iterator[Table]:
    """Yield the tables of one version's outputs that have a row."""
    told = outputs.distinct(readings)
    for table in (leaking_table(told), masked_table(told), readable_table(told), kinds_table(told)):
        if table.row_count:
            yield table


def leaking_table(readings: Sequence[OutputReading]) -> Table:
    """Return the shares of outputs, and of redactions, with a leak."""
    table = _table("Redacted outputs with a leak", ("lang", "of"), ("leaking/all", "share", "lower", "upper", "n_eff"))
    for r in readings:
        for name, found in (("outputs", r.documents), ("redactions", r.redactions)):
            limits = (words.number(found.estimate, 4), words.number(found.lower, 4), words.number(found.upper, 4))
            table.add_row(Text(r.language), name, f"{found.count}/{found.of}", *limits, words.number(found.n_eff, 0))
    return _captioned(table, "of all outputs; the limits are for the rate behind the traffic")


def masked_table(readings: Sequence[OutputReading]) -> Table:
    """Return how much outputs mask, and how much of it was no personal data."""
    numbers = ("unaligned", "text masked", "needless/masked", "share", "lower", "upper")
    table = _table("What outputs mask", ("lang",), numbers)
    for r in readings:
        over = r.over_masking
        limits = (words.number(over.estimate), words.number(over.lower), words.number(over.upper))
        counted = f"{over.needless}/{over.masked}" if over.masked else words.DASH
        table.add_row(Text(r.language), f"{r.unaligned}", words.percent(r.masked_share), counted, *limits)
    return _captioned(table, "needless: masked graphemes that labels say are no personal data (over-masking)")


def readable_table(readings: Sequence[OutputReading]) -> Table:
    """Return how much personal data can still be read in outputs, by labels."""
    numbers = ("readable/true", "in 1,000", "lower", "upper", "labelled")
    table = _table("Personal data readable in outputs, in 1,000 documents", ("entity", "lang"), numbers)
    for r in readings:
        of_entities = [(e.entity, e.disclosure) for e in r.entities if e.disclosure.true]
        for entity, found in ((ANY, r.disclosure), *of_entities):
            rate = found.per_1000
            if r.labelled:
                limits = (words.number(rate.estimate, 1), words.number(rate.lower, 1), words.number(rate.upper, 1))
                evidence = f"{found.readable}/{found.true}"
                table.add_row(Text(entity), Text(r.language), evidence, *limits, f"{r.labelled}/{r.sampled}")
    marked = sorted({f"{r.language}: {outputs.standing(r)}" for r in readings if r.labelled and outputs.standing(r)})
    return _captioned(table, "; ".join(["missed, or found and leaking", *marked]))


def kinds_table(readings: Sequence[OutputReading]) -> Table:
    """Return leaks by entity and kind."""
    table = _table("Leaks by entity and kind", ("entity", "lang"), ("documents",))
    table.add_column("leaks", overflow="fold")
    for r in readings:
        for leak in outputs.leaks([r]):
            kinds = ", ".join(f"{kind} {n}" for kind, n in leak.kinds)
            table.add_row(Text(leak.entity), Text(r.language), f"{leak.documents}/{leak.of}", kinds)
    return _captioned(table, "documents: with a leak of it, of those where it was flagged")


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Return an empty table; where it is too wide for the terminal, names are folded and numbers stay whole."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "of")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    return table


def _captioned(table: Table, caption: str) -> Table:
    table.caption, table.caption_justify = Text(caption), "left"
    return table
