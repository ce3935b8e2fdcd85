"""`recallwatch replay`: from files, as one window or by days on a simulated clock."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from monitor.config import Config
from monitor.readings import BoardSnapshot
from monitor.readings_json import reading_document, snapshot_document
from streams.cli_options import config_options, read_settings, with_key
from streams.console import table_console
from streams.replay import Replay, read_lines
from streams.replay_days import DayReplay, Schedule
from streams.replay_options import check_annotators
from streams.replay_tables import shifts_table, swap_table, told_table
from streams.replay_traffic import Lines, Traffic
from streams.terminal import print_snapshot


class _DayRange(click.ParamType):
    """`A-B`, days."""

    name = "A-B"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        match = re.fullmatch(r"(\d{1,4}(?:\.\d{1,9})?)-(\d{1,4}(?:\.\d{1,9})?)", str(value))
        least, most = (float(match[1]), float(match[2])) if match else (1.0, 0.0)
        if least > most:
            self.fail(f"{str(value)!r} is not A-B, two numbers of days with 0 <= A <= B, such as 1-5", param, ctx)
        return least, most


_FILES = click.Path(path_type=Path)
_COUNT = click.IntRange(min=1)


@click.command()
@click.option("--decisions", required=True, multiple=True, type=_FILES, help="JSON lines. Repeats.")
@click.option("--labels", required=True, multiple=True, type=_FILES, help="Corpus or label records.")
@click.option("--annotator", "annotators", multiple=True, metavar="NAME", help="Whose labels count. Repeats.")
@config_options
@click.option("--key", metavar="SEED", help="Sampling key of this run.")
@click.option("--then", multiple=True, type=_FILES, help="The next version's decisions, by days. Repeats.")
@click.option("--passes", type=_COUNT, metavar="N", help="Read each side N times, by days, each time as new documents.")
@click.option("--per-day", type=_COUNT, metavar="N", help="Documents a day; without it each reading is a day.")
@click.option(
    "--label-delay-days", type=_DayRange(), help="Answers come so many days after the draw; by default at once."
)
@click.option("--labels-per-day", type=_COUNT, metavar="N", help="Answers that annotators get through, by days.")
@click.option(
    "--rates",
    type=click.Choice(["config", "advised"]),
    default="config",
    help="Each day's rates: the config's, or as labels of before advise for --labels-per-day.",
)
@click.option("--daily", is_flag=True, help="Each day's readings too; with --json.")
@click.option("--json", "as_json", is_flag=True, help="Readings as JSON.")
def replay(  # noqa: PLR0913  # one argument an option
    *,
    decisions: Sequence[Path],
    labels: Sequence[Path],
    annotators: Sequence[str],
    config_path: Path | None,
    overrides: Sequence[str],
    key: str | None,
    then: Sequence[Path],
    passes: int | None,
    per_day: int | None,
    label_delay_days: tuple[float, float] | None,
    labels_per_day: int | None,
    rates: str,
    daily: bool,
    as_json: bool,
) -> None:
    """Estimate recall from files, without a broker.

    Decisions and labels go through the same core as a worker's. Labels are read from a corpus (JSON lines with a text,
    its labels and annotators) or as label records. Without --annotator the first answer to a document counts.

    By default all is one window. With --then or another option that speaks of days, a clock is simulated: documents
    come day by day, labels are answers to their tasks, and the board is looked at every evening, alarms and drift and
    all.

    The JSON then adds: swap_day, of the next version's first document; before_swap, the population's readings of the
    evening before it; alarms, all that somebody was told, by the day it was told on (counted from 0); drift. A
    reading's alarm is quiet (off), firing (it crossed its bar on the last day that ended) or held (on since an earlier
    crossing). Its on_since and fired_at, s since the epoch, are when a day of drawing ended: labels of that day come
    later, and with them the alarm. Evidence begins anew when it crosses, so held mostly stands beside evidence null;
    what it crossed with is fired_evidence.
    """
    if rates == "advised" and labels_per_day is None:
        raise click.UsageError("--rates advised needs --labels-per-day N, a number from 1 on")
    if daily and not as_json:
        raise click.UsageError("--daily needs --json")
    config = with_key(read_settings(config_path, overrides, broker=False).config, key)
    advised = rates == "advised"
    if not (then or daily or advised) and (passes, per_day, label_delay_days, labels_per_day) == (None,) * 4:
        _replay_as_one(Replay(config, annotators), decisions, labels, annotators, as_json=as_json)
        return
    schedule = Schedule(label_delay_days or (0.0, 0.0), labels_per_day, advised)
    run = DayReplay(config, schedule, annotators)
    by_day: list[dict[str, object]] = []
    with Console(stderr=True).status("reading …") as status:
        for path in labels:
            run.label(_followed(path, status))
        check_annotators(annotators, run.seen)
        traffic = Traffic((Lines(decisions), Lines(then)), passes or 1, per_day)
        status.update(f"day 1 of {traffic.days:,} …")
        for day in run.run(traffic):
            status.update(f"day {day + 2:,} of {traffic.days:,} …")
            if daily:
                by_day.append({"day": day, "readings": _readings(run.snapshot())})
    if as_json:
        alarms = [alarm._asdict() for alarm in run.alarms]
        drift = [{name: value for name, value in shift._asdict().items() if value != ""} for shift in run.shifts]
        before = None if run.before_swap is None else _readings(run.before_swap)
        days = {"swap_day": run.swap_day, "before_swap": before, "alarms": alarms, "drift": drift}
        _print_json(snapshot_document(run.snapshot()) | days | ({"daily": by_day} if daily else {}))
    else:
        _print_days(run, config, traffic.days)


def _replay_as_one(
    run: Replay, decisions: Sequence[Path], labels: Sequence[Path], annotators: Sequence[str], *, as_json: bool
) -> None:
    with Console(stderr=True).status("reading …") as status:
        for path in decisions:
            run.decide(_followed(path, status))
        for path in labels:
            run.label(_followed(path, status))
    check_annotators(annotators, run.seen)
    snapshot = run.snapshot()
    if as_json:
        _print_json(snapshot_document(snapshot))
    else:
        print_snapshot(table_console(), snapshot)


def _print_json(document: dict[str, object]) -> None:
    # bytes: whatever the terminal's encoding, JSON is UTF-8
    click.echo(msgspec.json.format(msgspec.json.encode(document), indent=1))


def _readings(snapshot: BoardSnapshot) -> msgspec.Raw:
    """Return a day's population readings as JSON, which takes a tenth of what they take as objects."""
    population = [reading_document(reading) for reading in snapshot.readings if reading.stratum is None]
    return msgspec.Raw(msgspec.json.encode(population))


def _print_days(run: DayReplay, config: Config, days: int) -> None:
    """Print the last evening's readings over the main window, the day of the swap and the alarms."""
    console, snapshot = table_console(), run.snapshot()
    main = config.readings.windows_days[0]
    readings = tuple(reading for reading in snapshot.readings if reading.window.days == main)
    outputs = tuple(reading for reading in snapshot.outputs if reading.window.days == main)
    shown = msgspec.structs.replace(snapshot, readings=readings, outputs=outputs)
    console.print(f"{days:,} days, counted from 0; readings are of the last {main}, as of day {days - 1:,}.")
    print_snapshot(console, shown, config.readings.windows_days)
    console.print()
    if run.swap_day is not None:
        console.print(f"The next version begins on day {run.swap_day:,}.")
        _print_swap(console, run, snapshot, days - 1)
    if run.alarms:
        console.print(told_table(run.alarms))
    if all(told.cause != "recall_fell" for told in run.alarms):
        console.print("No alarm." if config.targets else "No alarm can come: the config has no targets.")
    if run.shifts:
        console.print(shifts_table(run.shifts))
    else:
        console.print("No share of the detector's output changed.")


def _print_swap(console: Console, run: DayReplay, snapshot: BoardSnapshot, last: int) -> None:
    if run.before_swap is not None and run.swap_day is not None:
        table = swap_table(run.before_swap, snapshot, (run.swap_day - 1, last))
        if table.row_count:
            console.print(table)


def _followed(path: Path, status: Status) -> Iterator[bytes]:
    """Yield the lines of a file, and say on a terminal how far it is."""
    for number, line in enumerate(read_lines(path)):
        if number % 500 == 0:
            status.update(f"reading {escape(path.name)} … {number:,} lines")
        yield line
