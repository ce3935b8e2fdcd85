"""`recallwatch leaks`: what redacted outputs still show, checked document by document in a file of decisions.

Nothing is drawn and nothing estimated: each decision that carries a redacted text is checked as ROUTE would check it,
under the same threshold, names and policy.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.status import Status
from rich.text import Text

from monitor.decoding import decode_decision
from monitor.errors import RecordError
from monitor.leaks.findings import Checked
from monitor.leaks.screen import examine
from monitor.names import BoundedNames
from monitor.plan import Plan
from monitor.records import Decision
from monitor.spelling import Spelling
from streams.cli_options import config_options, read_settings
from streams.console import table_console
from streams.corpora import BadLine, read_lines
from streams.leaks_table import Examined, Gathered, print_leaks, show, visible

_COUNT = click.IntRange(min=0)
_TOLD = 20
"""Places that can't be read, told one by one; further ones are counted."""
_STDIN = Path("/dev/stdin")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@config_options
@click.option("--limit", type=_COUNT, default=50, show_default=True, metavar="N", help="List N findings; JSON has all.")
@click.option("--show-text", is_flag=True, help="What survives and what stands around it: personal data.")
@click.option("--json", "as_json", is_flag=True, help="One line a document.")
def leaks(
    *,
    file: Path,
    config_path: Path | None,
    overrides: Sequence[str],
    limit: int,
    show_text: bool,
    as_json: bool,
) -> None:
    """Find personal data that a redacted output still shows.

    FILE holds decisions, a JSON object a line; - is standard input. Of each that has a "redacted" text, all that it
    still shows of the flagged values is listed: kind, entity, and offsets (in code points) in the text and in the
    output. No text is shown unless --show-text asks for it. [redaction] of the settings says what may stay.

    "aligned": false is an output that isn't the text with parts replaced: it's searched for the values alone.

    It ends with 1 where a document has a leak (or FILE can't be read), with 2 for usage or settings, else with 0.
    Documents that aren't aligned or have no redacted text, and lines that can't be read, are told and change no exit
    code.
    """
    plan = Plan(read_settings(config_path, overrides, broker=False).config)
    gathered = Gathered(limit)
    reading = _Reading(file, plan, gathered)
    with Console(stderr=True).status("reading …") as status:
        if as_json and sys.stdout.isatty():
            status.stop()  # the lines are the progress, and both on one terminal would be a tangle
        for examined in reading.documents(status):
            gathered.add(examined, show_text=show_text)
            if as_json:
                click.echo(json_line(examined, show_text=show_text))
    reading.tell_rest()
    if as_json:
        for line in gathered.unchecked():
            click.echo(line, err=True)
    else:
        print_leaks(table_console(), gathered)
    if gathered.leaks:
        click.get_current_context().exit(1)


class _Reading:
    """One pass over a file: what can be checked is, what can't is counted, and told on standard error by its place."""

    def __init__(self, file: Path, plan: Plan, gathered: Gathered) -> None:
        self._path = _STDIN if file == Path("-") else file
        self._plan = plan
        self._gathered = gathered
        self._spelling = Spelling(plan.aliases, BoundedNames(plan.config.limits.max_entities), 0)
        self._told = 0

    def documents(self, status: Status) -> Iterator[Examined]:
        """Yield each document that has a redacted text, checked."""
        for count, (number, line) in enumerate(read_lines(self._path)):
            if count % 100 == 0:
                status.update(Text(f"reading {visible(self._path.name)} … {count:,} lines"))
            decision = self._decision(number, line)
            if decision is None:
                continue
            if decision.redacted is None:
                self._gathered.without_output += 1
                continue
            found = self._check(number, decision, decision.redacted)
            if found is not None:
                yield Examined(decision.doc_id, decision.text, decision.redacted, found)

    def _check(self, number: int, decision: Decision, redacted: str) -> Checked | None:
        """Return what an output shows; where the check itself fails, tell that, as ROUTE counts it, and go on."""
        try:
            spans = self._spelling.folded(self._spelling.read_usable(decision))
            return examine(decision.text, spans, redacted, self._plan.policy, self._plan.net)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the other documents are checked
            self._gathered.failed += 1
            self._tell(number, f"check failed ({type(error).__name__})", "$.redacted")
            return None

    def _decision(self, number: int, line: bytes) -> Decision | None:
        """Return what a line holds; tell what of it can't be used."""
        try:
            decoded = decode_decision(line, self._plan.limits)
        except RecordError as error:
            self._gathered.unreadable += 1
            self._tell(number, error.reason, error.where)
            return None
        for aside in decoded.quarantined:
            self._gathered.set_aside += 1
            self._tell(number, aside.reason, f"{aside.where}, set aside")
        return decoded.record

    def _tell(self, number: int, reason: str, where: str) -> None:
        self._told += 1
        if self._told <= _TOLD:
            click.echo(str(BadLine(visible(self._path.name), number, reason, where)), err=True)

    def tell_rest(self) -> None:
        """Say how many places weren't told one by one."""
        if self._told > _TOLD:
            click.echo(f"… and {self._told - _TOLD:,} more that can't be used", err=True)


def json_line(examined: Examined, *, show_text: bool = False) -> bytes:
    """Return one document's findings as one line of JSON; with `show_text` each leak has its text and surroundings.

    What a terminal would obey or hide (control characters, direction marks) is escaped, as JSON may.
    """
    rows: list[dict[str, object]] = []
    for leak in examined.found.leaks:
        row: dict[str, object] = leak._asdict()
        rows.append(row | show(examined, leak)._asdict() if show_text else row)
    document = {"doc_id": examined.doc_id, "aligned": examined.found.aligned, "leaks": rows}
    text = msgspec.json.encode(document).decode()
    if not text.isprintable():
        text = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return text.encode()
