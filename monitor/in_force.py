"""The rules that are in force now, by what was recorded: those of whoever reads the board may be others.

Every section that can change a decision or a number is recorded, targets, windows, deadlines and the alarm's period
among them. What isn't recorded is how to reach the broker, topics, and `drift`: these stay the reader's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from monitor.added_settings import filled_in
from monitor.config import Config, deciding_document, document_id, read_config
from monitor.errors import ConfigError, StateError
from monitor.history import History
from monitor.plan import Plan


class InForce(NamedTuple):
    """A plan, and whether it's known that the board is made by it."""

    plan: Plan
    """It bears the recorded id; its sampling key is the reader's, for the recorded one is a fingerprint."""
    settings: Mapping[str, object]
    """The sections that decide, as plain data, the sampling key as the recorded fingerprint."""
    recorded: bool = True
    """False: the history holds no config, and these are the reader's own settings."""

    @property
    def config(self) -> Config:
        """The recorded sections that decide, all else the reader's."""
        return self.plan.config

    def differing(self, reader: Config) -> list[str]:
        """Return the deciding sections of the reader's config that are otherwise; the sampling key isn't compared."""
        theirs = deciding_document(self.config)
        return [name for name, section in deciding_document(reader).items() if not _alike(section, theirs[name])]


def own_rules(config: Config) -> InForce:
    """Return a config as its own rules: a replay is decided by what it was given."""
    return InForce(Plan(config), deciding_document(config))


def read_in_force(history: History, reader: Config) -> InForce:
    """Return the config that workers took into use last, all that doesn't decide from the reader's.

    A history without a change gives the reader's own, `recorded` being False.

    Raises
    ------
    StateError
        The config isn't recorded under its id, or has settings that this version can't read: nobody guesses.
    """
    changes = history.recorded.values()
    if not changes:
        return own_rules(reader)._replace(recorded=False)
    identity = max(changes, key=lambda change: change.at).config
    record = history.configs.get(identity)
    if record is None or document_id(record.config) != identity:
        raise StateError(f"config {identity} is in force, and isn't recorded under that id: its rules aren't known")
    document = filled_in(record.config)
    try:
        config = _with_sections_of(read_config(_with_key(document, reader.sampling.key), source="history"), reader)
        plan = Plan(config, identity=identity)
    except ConfigError as error:
        problem = f"is in force, and was recorded by another version of the product ({error.key}: {error.problem})"
        raise StateError(f"config {identity} {problem}: read the board with that one") from None
    return InForce(plan, {**deciding_document(config), "sampling": document["sampling"]})


def _with_key(document: Mapping[str, object], key: str) -> dict[str, object]:
    sampling = document.get("sampling")
    return {**document, "sampling": {**sampling, "key": key} if isinstance(sampling, Mapping) else sampling}


def _with_sections_of(recorded: Config, reader: Config) -> Config:
    deciding = {name: getattr(recorded, name) for name in deciding_document(recorded)}
    return msgspec.structs.replace(reader, **deciding)


def _alike(section: object, other: object) -> bool:
    return _without_key(section) == _without_key(other)


def _without_key(section: object) -> object:
    return {k: v for k, v in section.items() if k != "key"} if isinstance(section, Mapping) else section
