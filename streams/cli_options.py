"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from monitor.config import Config
from monitor.errors import ConfigError
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


def with_key(config: Config, key: str | None) -> Config:
    """Return the config with the sampling key that --key gave, if it did."""
    if key is None:
        return config
    if not 1 <= len(key) <= 512 or not key.isprintable():
        raise ConfigError("sampling.key", "expected 1 to 512 printable characters", source="--key")
    return msgspec.structs.replace(config, sampling=msgspec.structs.replace(config.sampling, key=key))
