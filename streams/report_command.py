"""`recallwatch report`: the dated, self-contained sign-off as HTML to print and JSON to keep, and its check."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click
import jinja2

from monitor.config import Config
from monitor.errors import ConfigError, SourceError
from monitor.in_force import InForce, own_rules
from monitor.readings import BoardSnapshot
from monitor.report import Content, Made, report_cells, report_content, seal, sealed
from streams.cli_options import config_options, read_settings
from streams.live_snapshot import LiveSnapshot, read_snapshot
from streams.replay_options import asks_replay, quiet_logs, replay_options, replayed
from streams.report import render, state
from streams.settings import Settings

_NAME = "recallwatch-report-{}"
_PAGE = (".html", ".htm")


@click.command()
@click.option("--out", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where to.")
@click.option("--as-of", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="The last day it speaks of (UTC).")
@click.option("--days", type=click.IntRange(min=1), metavar="N", help="Which of the configured windows.")
@click.option("--verify", type=click.Path(path_type=Path), metavar="FILE", help="Check a report; write nothing.")
@replay_options
@config_options
def report(  # noqa: PLR0913  # one argument an option
    *,
    folder: Path | None,
    as_of: datetime | None,
    days: int | None,
    verify: Path | None,
    decisions: Sequence[Path],
    labels: Sequence[Path],
    annotators: Sequence[str],
    config_path: Path | None,
    overrides: Sequence[str],
) -> None:
    """Write the sign-off of today's numbers.

    Two files, recallwatch-report-DATE.html and .json: every number with what must stand beside it, what can be signed
    and what can't, and a SHA-256 over it all. Read from the live board, or from the files of a replay. A report that is
    there already is never replaced by another.
    """
    if verify is not None:
        click.echo(verified(verify))
        return
    if folder is None:
        raise click.UsageError("say where to: --out DIR (or what to check: --verify FILE)")
    files = decisions, labels, annotators
    from_files = asks_replay(*files)
    if from_files and (as_of or days):
        raise click.UsageError("--as-of and --days are for the live board: a replay speaks of all that its files hold")
    settings = read_settings(config_path, overrides, broker=not from_files)
    now = time.time()
    today = datetime.fromtimestamp(now, UTC).date().isoformat()
    day = today if as_of is None else as_of.date().isoformat()
    if day > today:
        raise ConfigError("", f"{day} hasn't come yet: allowed is up to {today}", source="--as-of")
    if from_files:
        snapshot, rules = replayed(settings.config, *files).snapshot(), own_rules(settings.config)
    else:
        snapshot, rules = _live(settings, now, day)
    window = None if from_files else _window(rules.config, days)
    made = Made(version("recallwatch"), day, "replay" if from_files else "live")
    for path in write(folder, composed(snapshot, rules, made, window)):
        click.echo(path)


def _live(settings: Settings, now: float, day: str) -> LiveSnapshot:
    """Return the live board, and what is in force; numbers made by nobody knows what are refused."""
    quiet_logs()
    found = read_snapshot(settings, now, day)
    if found.snapshot.readings and not found.rules.recorded:
        topic = settings.config.topics.history
        raise SourceError(f"{topic}: holds no config, so nobody knows which targets and rates the board's numbers have")
    return found


def _window(config: Config, days: int | None) -> int:
    configured = config.readings.windows_days
    if days is not None and days not in configured:
        allowed = ", ".join(map(str, configured))
        raise ConfigError("", f"{days}: allowed are the windows in force: {allowed}", source="--days")
    return configured[0] if days is None else days


def composed(snapshot: BoardSnapshot, rules: InForce, made: Made, days: int | None) -> Content:
    """Return the sealed document of a snapshot's window."""
    cells = report_cells(snapshot, days)
    statements = [state(cell.reading, rules.config.readings) for cell in cells]
    return sealed(report_content(snapshot, cells, statements, rules, made))


def write(folder: Path, document: Content) -> list[Path]:
    """Write both files or none, and return where; what is there already, byte for byte, is left as it is.

    Raises
    ------
    SourceError
        A folder that can't be made or written to; a file of that name that holds something else.
    """
    # read back first, so that what is drawn is what whoever checks it will draw
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    read = json.loads(text)
    name = _NAME.format(read["report"]["as_of"])
    pages = {folder / f"{name}.html": render(read), folder / f"{name}.json": text}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _create({path: content.encode() for path, content in pages.items()})
    except OSError as error:
        raise SourceError(f"{error.filename or folder}: {error.strerror}") from None
    return list(pages)


def _create(pages: Mapping[Path, bytes]) -> None:
    """Create those files that aren't there yet; if one can't be, none is left of those that were created."""
    missing = {path: content for path, content in pages.items() if not _holds(path, content)}
    created: list[Path] = []
    try:
        for path, content in missing.items():
            # not a rename: that replaces what another process wrote since
            with path.open("xb") as file:
                created.append(path)
                file.write(content)
    except BaseException as error:
        for path in created:
            path.unlink(missing_ok=True)
        if isinstance(error, FileExistsError):
            raise _occupied(Path(error.filename)) from None
        raise


def _holds(path: Path, content: bytes) -> bool:
    """Say whether a file is there, with this content; another one is refused."""
    try:
        same = path.read_bytes() == content
    except FileNotFoundError:
        return False
    if not same:
        raise _occupied(path)
    return True


def _occupied(path: Path) -> SourceError:
    return SourceError(f"{path}: is there already, with other content: give another --out, or remove it")


def verified(path: Path) -> str:
    """Return what a check of a report found, in words, where nothing was changed.

    The JSON's content must give the hash that stands in it. An HTML file beside it must be what this version draws of
    that content; one of another version can't be compared.

    Raises
    ------
    SourceError
        A file that can't be read, that is no report, or that was changed.
    """
    if path.suffix.lower() in _PAGE:
        raise SourceError(f"{path}: is the page to print: give the .json, {path.with_suffix('.json')}")
    content, stands = _read(path)
    found = seal(content)
    if found != stands:
        raise SourceError(f"{path}: changed since it was written: its content gives {found}, and {stands} stands in it")
    said = f"{path}: whole, SHA-256 {found}"
    page = path.with_suffix(".html")
    if not page.is_file():
        return f"{said}\n{page}: not there, not compared"
    made_by, ours = content.get("product_version"), version("recallwatch")
    if made_by != ours:
        return f"{said}\n{page}: not compared: drawn by version {made_by}, this is {ours}"
    try:
        same = render({"report": content, "sha256": stands}).encode() == page.read_bytes()
    except (jinja2.TemplateError, TypeError, KeyError, AttributeError, OSError):
        same = False
    if not same:
        raise SourceError(f"{page}: changed since it was written: this content is drawn otherwise")
    return f"{said}\n{page}: whole, drawn from the same content"


def _read(path: Path) -> tuple[Content, str]:
    """Return the report that a file holds, and the hash that stands in it."""
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise SourceError(f"{path}: no JSON") from None
    report, stands = (document.get("report"), document.get("sha256")) if isinstance(document, dict) else (None, None)
    if not isinstance(report, dict) or not isinstance(stands, str):
        raise SourceError(f"{path}: no report of recallwatch: expected an object with report and sha256")
    return report, stands
