"""Options of commands that look at the live board, or at files where these are named instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from monitor.config import Config
from streams.logs import configure_logs
from streams.replay import Replay, read_lines

_F = TypeVar("_F", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)


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
    """Return a replay that has read its files; raises SourceError where one can't be read."""
    run = Replay(config, annotators)
    for path in decisions:
        run.decide(read_lines(path))
    for path in labels:
        run.label(read_lines(path))
    return run
