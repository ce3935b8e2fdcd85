"""The rules in force, read off the history topic, and what a command says where it was given others."""

from __future__ import annotations

import asyncio
import tomllib

import click

from monitor.in_force import InForce, read_in_force
from streams.board_reader import read_history
from streams.settings import Settings

_KEY = "sampling.key"
"""It says nothing of how the board is read: nobody who reads draws."""


def read_rules(settings: Settings) -> InForce:
    """Return what is in force, and say on standard error where the command was given something else.

    Raises
    ------
    SourceError
        See `streams.board_reader.read_history`.
    StateError
        See `monitor.in_force.read_in_force`.
    """
    rules = read_in_force(asyncio.run(read_history(settings)), settings.config)
    say_difference(settings, rules)
    return rules


def say_difference(settings: Settings, rules: InForce) -> None:
    """Write a line to standard error where the command's own settings aren't what the board is made by."""
    line = difference(settings, rules)
    if line:
        click.echo(line, err=True)


def difference(settings: Settings, rules: InForce) -> str:
    """Return that line; empty where nothing that was asked for is otherwise."""
    given = str(settings.path) if settings.path else "the command's own settings"
    if not rules.recorded:
        return f"{settings.config.topics.history} holds no config: targets, windows and periods are those of {given}"
    other = [name for name in rules.differing(settings.config) if name in _stated(settings)]
    if not other:
        return ""
    source = f"{given} and --set" if settings.path and _set(settings) & set(other) else given
    return (
        f"config {rules.plan.id} is in force and counts; {source} has other settings, unused here: {', '.join(other)}"
    )


def _set(settings: Settings) -> set[str]:
    """Return the sections that --set names a setting of."""
    return {o.partition(".")[0].strip() for o in settings.overrides if not o.startswith(_KEY)}


def _stated(settings: Settings) -> set[str]:
    """Return the sections that the command was given a setting of; a default asks for nothing."""
    found = _set(settings)
    if settings.path is None:
        return found
    tables = tomllib.loads(settings.path.read_text(encoding="utf-8-sig"))
    return found | {name for name, table in tables.items() if set(table) - {"key"}}
