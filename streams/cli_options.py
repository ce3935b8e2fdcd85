"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from streams.settings import Settings, load_settings

_F = TypeVar("_F", bound=Callable[..., Any])


def config_options(function: _F) -> _F:
    """Add --config and --set, which every command that reads settings has."""
    path = click.Path(dir_okay=False, path_type=Path)
    function = click.option(
        "--config", "config_path", type=path, metavar="FILE", help="Settings (TOML); see deploy/recallwatch.toml."
    )(function)
    return click.option(
        "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="One setting, over the file's. Repeats."
    )(function)


def read_settings(path: Path | None, overrides: Sequence[str], *, broker: bool = True) -> Settings:
    """Return the settings that a command was given, with the environment's; see `load_settings`."""
    return load_settings(path, overrides, os.environ, broker=broker)
