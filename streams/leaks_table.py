"""What `recallwatch leaks` says in a terminal: findings by document, how many of each kind, what wasn't checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.leaks.findings import KINDS, Checked, Leak

_AROUND = 60
"""Code points of the output that are shown on either side of what survives."""
_INDENT = " " * 6
_OPEN, _CLOSE, _MORE, _TO = "▸", "◂", "…", "–"
_WIDEST_KIND = max(map(len, KINDS))
_WIDEST_ENTITY = 24


class Examined(NamedTuple):
    """A document and what its check found."""

    doc_id: str
    text: str
    output: str
    found: Checked


class Shown(NamedTuple):
    """The text of a leak: personal data, for whoever asked to see it."""

    text: str
    """What survives, as the source has it."""
    output_before: str
    output_text: str
    """As the output has it."""
    output_after: str


class Finding(NamedTuple):
    """One line of the list: a leak, or None for a document that isn't aligned and shows none."""

    leak: Leak | None
    shown: Shown | None


class Gathered:
    """Counts over all documents, and the first findings.

    Parameters
    ----------
    limit
        Findings that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.documents = self.leaking = self.unaligned = 0
        self.without_output = 0
        """Decisions without a redacted text."""
        self.unreadable = 0
        """Lines that hold no decision."""
        self.failed = 0
        """Outputs over which the check failed."""
        self.set_aside = 0
        """Spans and optional fields that can't be used."""
        self.findings = 0
        """Leaks, and documents that aren't aligned and show none."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """Leaks by entity and kind."""
        self.kept: list[tuple[str, bool, list[Finding]]] = []
        """Document, whether it's aligned, its findings."""

    @property
    def leaks(self) -> int:
        """All of them."""
        return self.counts.total()

    def add(self, examined: Examined, *, show_text: bool = False) -> None:
        """Count one document, and keep its findings while there's room."""
        found = examined.found
        self.documents += 1
        self.leaking += bool(found.leaks)
        self.unaligned += not found.aligned
        self.counts.update((leak.entity, leak.kind) for leak in found.leaks)
        here: list[Leak | None] = [*found.leaks] if found.leaks or found.aligned else [None]
        room = max(0, self.limit - self.findings)
        self.findings += len(here)
        kept = [Finding(leak, show(examined, leak) if show_text and leak else None) for leak in here[:room]]
        if kept:
            self.kept.append((examined.doc_id, found.aligned, kept))

    def unchecked(self) -> Iterator[str]:
        """Yield what can't be told of a document: whatever wasn't checked."""
        parts = [
            f"{count:,} {one if count == 1 else many}"
            for count, one, many in (
                (self.without_output, "document without redacted text", "documents without redacted text"),
                (self.unreadable, "line that can't be read", "lines that can't be read"),
                (self.failed, "output that the check failed over", "outputs that the check failed over"),
                (self.set_aside, "span or field that can't be used", "spans or fields that can't be used"),
            )
            if count
        ]
        if parts:
            yield f"Not checked: {', '.join(parts)}."


def show(examined: Examined, leak: Leak) -> Shown:
    """Return the text of a leak and what stands around it in the output."""
    output, start, end = examined.output, leak.output_start, leak.output_end
    before, after = output[max(0, start - _AROUND) : start], output[end : end + _AROUND]
    return Shown(examined.text[leak.start : leak.end], before, output[start:end], after)


def visible(text: str) -> str:
    r"""Return text as a terminal may show it: what isn't printable is written out.

    >>> visible("a\x1b[2J\u202eb\n")
    'a\\x1b[2J\\u202eb\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def print_leaks(console: Console, gathered: Gathered) -> None:
    """Print the findings, how many there are of each kind and entity, and what was checked; the sum of it last."""
    _print_findings(console, gathered)
    if gathered.counts:
        console.print(counts_table(gathered.counts))
    for line in gathered.unchecked():
        console.print(Text(line))
    console.print(Text(_checked(gathered)))


def _checked(gathered: Gathered) -> str:
    if not gathered.documents:
        return "No document with a redacted text: nothing was checked."
    documents = f"{gathered.documents:,} document{'' if gathered.documents == 1 else 's'} checked"
    if not gathered.leaks and not gathered.unaligned:
        return f"{documents}: no leak."
    parts = [f"{gathered.leaks:,} leak{'' if gathered.leaks == 1 else 's'} in {gathered.leaking:,} of them"]
    if gathered.unaligned:
        parts.append(f"{gathered.unaligned:,} not aligned with the text")
    return f"{documents}: {', '.join(parts)}."


def _print_findings(console: Console, gathered: Gathered) -> None:
    """Print findings below their document's name; nothing is folded into columns, ids can be long."""
    shown = [finding.leak.entity for _, _, findings in gathered.kept for finding in findings if finding.leak]
    width = min(_WIDEST_ENTITY, max((cell_len(visible(entity)) for entity in shown), default=0))
    for doc_id, aligned, findings in gathered.kept:
        mark = "" if aligned else "  (not aligned)"
        console.print(Text.assemble((visible(doc_id), "bold"), mark))
        for finding in findings:
            if finding.leak is None:
                console.print(Text("  nothing found"))
                continue
            console.print(_row(finding.leak, width))
            if finding.shown is not None:
                console.print(_surroundings(finding.shown, console.width))
    if gathered.findings > gathered.limit:
        console.print(f"{gathered.findings - gathered.limit:,} more: --limit {gathered.findings}")
    if gathered.kept:
        console.print()


def _row(leak: Leak, width: int) -> Text:
    entity = visible(leak.entity)
    padding = " " * max(0, width - cell_len(entity))
    source = f"{leak.start}{_TO}{leak.end}"
    output = f"{leak.output_start}{_TO}{leak.output_end}"
    return Text(f"  {leak.kind:<{_WIDEST_KIND}}  {entity}{padding}  {source:<9}  output {output}")


def _surroundings(shown: Shown, width: int) -> Text:
    """Return what survives between marks, in as much of the output around it as a line holds."""
    room = max(24, width - len(_INDENT) - len(_OPEN + _CLOSE))
    piece, source = _cut(shown.output_text, room // 2), _cut(shown.text, room // 2)
    room -= cell_len(piece)
    before, after = visible(shown.output_before), visible(shown.output_after)
    around = Text.assemble(
        _INDENT, (before[-(room // 2) :], "dim"), _OPEN, (piece, "bold"), _CLOSE, (after[: room // 2], "dim")
    )
    return around if source == piece else Text.assemble(around, f"\n{_INDENT}of: {source}")


def _cut(text: str, most: int) -> str:
    """Return text that may be shown, its middle left out where it's long."""
    shown = visible(text if len(text) <= 2 * most else text[:most] + text[-most:])
    half = (most - 1) // 2
    return shown if len(shown) <= most else f"{shown[:half]}{_MORE}{shown[-half:]}"


def counts_table(counts: Counter[tuple[str, str]]) -> Table:
    """Return leaks by entity, a column for each kind that there is; the most first."""
    kinds = [kind for kind in KINDS if any(k == kind for _, k in counts)]
    by_entity: Counter[str] = Counter()
    for (entity, _), count in counts.items():
        by_entity[entity] += count
    table = Table(title="Leaks", title_justify="left", box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    table.add_column("entity", overflow="fold")
    for kind in kinds:
        name = kind.replace("_", " ")
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    table.add_column("all", justify="right", no_wrap=True)
    for entity, total in sorted(by_entity.items(), key=lambda row: (-row[1], row[0])):
        table.add_row(Text(visible(entity)), *(f"{counts[entity, kind]:,}" for kind in kinds), f"{total:,}")
    return table
