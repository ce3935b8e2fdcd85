"""Options of commands that look at the live board, or at files where these are named instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, TypeVar

import click

from monitor.config import Config
from monitor.errors import ConfigError
from monitor.exposition import clean
from streams.logs import configure_logs
from streams.replay import Replay, read_lines

_F = TypeVar("_F", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)
_NAMED = 20


def replay_options(function: _F) -> _F:
    """Add --decisions, --labels and --annotator, which name the files of a replay."""
    for option in (
        click.option("--annotator", "annotators", multiple=True, metavar="NAME", help="Whose labels count. Repeats."),
        click.option("--labels", multiple=True, type=_PATH, help="Corpus or label records. Repeats."),
        click.option("--decisions", multiple=True, type=_PATH, help="JSON lines, read instead of Kafka. Repeats."),
    ):
        function = option(function)
    return function


def asks_replay(decisions: Sequence[Path], labels: Sequence[Path], annotators: Sequence[str]) -> bool:
    """Return whether files are asked about, and not the live board.

    Raises
    ------
    click.UsageError
        Half of what a replay needs.
    """
    if bool(decisions) != bool(labels):
        raise click.UsageError("a replay needs both: --decisions and --labels")
    if annotators and not decisions:
        raise click.UsageError("--annotator is for a replay: with --decisions and --labels")
    return bool(decisions)


def quiet_logs() -> None:
    """Send warnings to stderr, but for the one that a broker is absent: the error that ends a command says so."""
    configure_logs(level="warning")
    logging.getLogger("streams.broker").setLevel(logging.ERROR)


def replayed(config: Config, decisions: Sequence[Path], labels: Sequence[Path], annotators: Sequence[str]) -> Replay:
    """Return a replay that has read its files.

    Raises
    ------
    SourceError
        A file that can't be read.
    ConfigError
        See `check_annotators`.
    """
    run = Replay(config, annotators)
    for path in decisions:
        run.decide(read_lines(path))
    for path in labels:
        run.label(read_lines(path))
    check_annotators(annotators, run.seen)
    return run


def check_annotators(asked: Sequence[str], seen: AbstractSet[str]) -> None:
    """Raise ConfigError for somebody of whom there is no label: a slip would read as "nothing is labelled"."""
    unknown = [name for name in asked if name not in seen]
    if unknown and seen:
        known = sorted(map(clean, seen))
        more = f" and {len(known) - _NAMED:,} more" if len(known) > _NAMED else ""
        problem = f"no label is of {clean(unknown[0])}; known: {', '.join(known[:_NAMED])}{more}"
        raise ConfigError("", problem, source="--annotator")
