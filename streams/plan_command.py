"""`recallwatch plan`: how much to label, and where; from the live board, from files, or by formula alone."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from monitor.advised_rates import advised_sampling
from monitor.board import DAY_S
from monitor.cells import CellSample
from monitor.config import Sampling
from monitor.errors import ConfigError, SourceError
from monitor.estimators.planner import FixedPlan, fixed_plan
from monitor.exposition import clean
from monitor.plan import Plan
from monitor.planning import BoardPlan, Question, plan_board, planned_samples
from monitor.readings import ANY
from monitor.tally import ANY_ENTITY
from streams.board_reader import read_ruled
from streams.cli_options import config_options, read_settings, with_key
from streams.config_edit import RateChange, write_rates
from streams.console import table_console
from streams.in_force_reader import say_difference
from streams.logs import configure_logs
from streams.plan_plot import PICTURES, require_plots, save_picture
from streams.plan_table import plan_document, print_plan
from streams.replay_options import asks_replay, replay_options, replayed
from streams.settings import Settings, load_settings

_USUAL_WIDTH = 0.05
_SHORTEST_DAYS = 1 / (24 * 60)
_SAID_IN_HOURS = 2


class _Finite(click.FloatRange):
    """A number in a range; NaN passes click's own comparisons."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number: {self._describe_range()}", param, ctx)
        return float(super().convert(value, param, ctx))


_SHARE = _Finite(0, 1, min_open=True, max_open=True)
_POSITIVE = _Finite(0, min_open=True)


class _Source(NamedTuple):
    """Where a plan's numbers come from, and the rules in force there: rates, targets, confidence."""

    name: str
    samples: list[CellSample]
    rules: Plan


@click.command()
@click.option("--recall", type=_SHARE, metavar="R", help="Without data: the recall that is expected.")
@click.option("--half-width", type=_SHARE, metavar="W", help="How far each side of recall may be.  [default: 0.05]")
@click.option("--per-1000", type=_POSITIVE, metavar="N", help="With --recall: occurrences per 1,000 documents.")
@click.option("--deff", type=_POSITIVE, metavar="N", help="With --recall: the design effect.  [default: 1]")
@click.option(
    "--certified", type=_SHARE, metavar="R", help="Certified recall to reach.  [default: the target's, or 0.9]"
)
@click.option("--labels-per-day", type=_POSITIVE, metavar="N", help="Labels that people manage.  [default: as now]")
@replay_options
@click.option("--per-day", type=_POSITIVE, metavar="N", help="Documents a day, where the files have no dates.")
@click.option("--live", is_flag=True, help="From the live board: so too without --recall and files.")
@click.option("--entity", default="", metavar="NAME", help="Of this entity only.")
@click.option("--language", default="", metavar="NAME")
@config_options
@click.option("--key", metavar="SEED", help="Sampling key of the replay.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="A picture: .png or .svg."
)
@click.option(
    "--write", type=click.Path(path_type=Path), metavar="FILE", help="Put the advised rates into this settings file."
)
def plan(  # noqa: PLR0913  # one argument an option
    *,
    recall: float | None,
    half_width: float | None,
    per_1000: float | None,
    deff: float | None,
    certified: float | None,
    labels_per_day: float | None,
    decisions: Sequence[Path],
    labels: Sequence[Path],
    annotators: Sequence[str],
    per_day: float | None,
    live: bool,
    entity: str,
    language: str,
    config_path: Path | None,
    overrides: Sequence[str],
    key: str | None,
    as_json: bool,
    plot: Path | None,
    write: Path | None,
) -> None:
    """Say how much to label, and where.

    For every cell: labels and days until recall is known to ± W, and until certified recall, the share of documents
    with every occurrence found, reaches R; where its variance comes from; and for all cells together the rates that
    read most out of a label budget. It is read from the live board, or from the files of a replay. With --recall it's
    by formula, without data.

    Nothing is changed, unless --write names a settings file: its rates are replaced, and nothing else.
    """
    configure_logs(level="warning")
    from_files = asks_replay(decisions, labels, annotators)
    _refuse_mixture(
        formula=recall is not None,
        files=from_files,
        live=live,
        given={
            "--per-1000": per_1000 is not None,
            "--deff": deff is not None,
            "--per-day": per_day is not None,
            "--key": key is not None,
            "--plot": plot is not None,
            "--write": write is not None,
            "--certified": certified is not None,
            "--entity": bool(entity),
            "--language": bool(language),
        },
    )
    width = half_width or _USUAL_WIDTH
    if recall is not None:
        _print_fixed(fixed_plan(recall, width, per_1000, deff=deff or 1.0), labels_per_day, as_json=as_json)
        return
    if plot is not None:
        _check_picture(plot)
    if write is not None:
        load_settings(write, broker=False)  # a file that can't be edited is said before minutes of reading
    settings = read_settings(config_path or write, overrides, broker=not from_files)
    if from_files:
        config = with_key(settings.config, key)
        samples = replayed(config, decisions, labels, annotators).samples()
        source = _Source("replay", _paced(samples, per_day), Plan(config))
    else:
        source = _read_source(settings)
    rules = source.rules
    _say_unseen(source.samples, rules)
    chosen = _chooser(source.samples, rules, entity, language)
    question = Question(width, certified, labels_per_day, rules.config.readings.confidence)
    found = plan_board(source.samples, rules.config.sampling, question, rules.target, chosen)
    written = [] if write is None else _write(write, source, found)
    _print(found, as_json=as_json, written=None if write is None else (write, written))
    if plot is not None:
        save_picture(found, plot, source.name)


def _refuse_mixture(*, formula: bool, files: bool, live: bool, given: dict[str, bool]) -> None:
    """Refuse options that the way of planning makes nothing of, before anything is read."""
    if formula + files + live > 1:
        raise click.UsageError("one of: --recall (a formula), --decisions and --labels (a replay), --live")
    of_formula, of_replay = {"--per-1000", "--deff"}, {"--per-day", "--key"}
    if formula:
        vain = sorted(name for name, is_given in given.items() if is_given and name not in of_formula)
        where = "needs data: leave --recall out"
    else:
        idle = of_formula if files else of_formula | of_replay
        vain = sorted(name for name in idle if given[name])
        where = "goes with --recall" if vain and vain[0] in of_formula else "goes with --decisions and --labels"
    if vain:
        raise click.UsageError(f"{vain[0]} {where}")


def _print_fixed(found: FixedPlan, labels_per_day: float | None, *, as_json: bool) -> None:
    days = None if labels_per_day is None else found.days(labels_per_day)
    if as_json:
        document: dict[str, object] = found._asdict()
        _write_json(document if labels_per_day is None else document | {"days": days})
        return
    click.echo(_counted(found.occurrences, "true occurrence"))
    if found.documents is not None:
        click.echo(f"{_counted(found.documents, 'document')}, drawn at random")
    if days is not None and labels_per_day is not None:
        labels = "1 label" if labels_per_day == 1 else f"{labels_per_day:g} labels"
        click.echo(f"{_counted(math.ceil(days), 'day')} at {labels} a day")


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def _check_picture(path: Path) -> None:
    if path.suffix.lower() not in PICTURES:
        raise click.UsageError(f"--plot {path}: a picture is a file that ends with {' or '.join(PICTURES)}")
    require_plots()


def _paced(samples: list[CellSample], per_day: float | None) -> list[CellSample]:
    """Return the samples as if so many documents had come a day."""
    documents = sum(row.census for s in samples if (s.entity, s.language) == (ANY_ENTITY, ANY) for row in s.strata)
    if per_day is None or not documents:
        return samples
    return [sample._replace(days=documents / per_day) for sample in samples]


def _read_source(settings: Settings) -> _Source:
    """Return what the live board holds now, and the newest rules in force; of a young board as if days went on so."""
    (board, _), rules = read_ruled(settings)
    if board.unreadable:
        click.echo(f"{board.unreadable} rows of the board were written by another version, and are left out", err=True)
    say_difference(settings, rules)
    samples = board.samples(time.time())
    seen = max((board.seen_s() or 0.0) / DAY_S, _SHORTEST_DAYS)
    if samples and seen < 1:
        hours = seen * 24
        time_seen = _counted(round(hours), "hour") if hours >= _SAID_IN_HOURS else _counted(round(hours * 60), "minute")
        click.echo(f"the board has seen {time_seen} so far: all that is said of a day is as if it went on so", err=True)
    return _Source("live board", [s._replace(days=min(s.days, seen)) for s in samples], rules.plan)


def _say_unseen(samples: Sequence[CellSample], rules: Plan) -> None:
    """Write to standard error which targets no row is about: a name may be mistyped, or traffic be young."""
    cells = {(s.entity, language) for s in samples for language in (s.language, "")}
    unseen = sorted(".".join(filter(None, cell)) for cell in rules.target_cells if cell not in cells)
    if unseen and samples:
        click.echo(f"targets of which nothing was flagged or labelled yet: {', '.join(map(clean, unseen))}", err=True)


def _chooser(samples: Sequence[CellSample], rules: Plan, entity: str, language: str) -> Callable[[CellSample], bool]:
    """Return which cells are asked for; a name that no cell carries is a slip, and would read as "nothing to do"."""
    wanted = ANY_ENTITY if entity.lower() == ANY_ENTITY else rules.aliases.fold(entity) if entity else ""
    spoken = language.lower()
    cells = {(s.entity, s.language) for s in planned_samples(samples)}
    for option, name, known in (
        ("--entity", wanted, {entity for entity, _ in cells}),
        ("--language", spoken, {language for _, language in cells}),
    ):
        if name and known and name not in known:
            names = ", ".join(clean(one) for one in sorted(known))
            raise ConfigError("", f"no cell is of {clean(name)}; known: {names}", source=option)
    if cells and wanted and spoken and (wanted, spoken) not in cells:
        raise ConfigError("", f"no cell is of {clean(wanted)} in {clean(spoken)}", source="--entity")
    return lambda sample: wanted in ("", sample.entity) and spoken in ("", sample.language)


def _write(path: Path, source: _Source, found: BoardPlan) -> list[RateChange]:
    """Write the advised rates into a settings file: for the slices that it has, and the targets in force."""
    pace = found.labels_per_day
    if found.advised is None or pace is None:
        raise SourceError(f"{path}: nothing written, as no rates are advised: no label holds an entity yet")

    def rates(held: Sampling) -> Sampling:
        advised = advised_sampling(held, source.samples, pace, target=source.rules.target)
        return held if advised is None else advised.sampling

    return write_rates(path, rates)


def _print(found: BoardPlan, *, as_json: bool, written: tuple[Path, list[RateChange]] | None) -> None:
    if as_json:
        document = plan_document(found)
        _write_json(document if written is None else document | {"written": [c._asdict() for c in written[1]]})
        return
    print_plan(table_console(), found, advice_is_written=written is not None)
    if written is not None:
        path, changes = written
        click.echo(
            f"{path}: {_counted(len(changes), 'rate')} changed" if changes else f"{path}: has these rates already"
        )
        for change in changes:
            click.echo(f"  {change}")


def _write_json(document: dict[str, object]) -> None:
    # bytes: whatever the terminal's encoding, JSON is UTF-8
    click.echo(msgspec.json.format(msgspec.json.encode(document), indent=1))
