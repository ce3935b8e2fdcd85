"""What was in force when: every config that ever decided a record, and from which offset of which partition on.

The history topic is compacted and small, and every worker follows it. Its records are of four kinds: a config with
its time (`config/<id>`), a change of plan (`change/<topic>/<partition>/<offset>/<ms>`, see `monitor.changes`), where
the board is (`board`), and the thinning factor that it decided on last (`thinning`, see `monitor.thinning`). What is
read again below a recorded offset is decided under the plan of then.

A config is known by what was recorded: its id is over the recorded document, and the plan made from that bears it, also
where this version has more settings and would record another document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple

import msgspec

from monitor.added_settings import filled_in
from monitor.changes import ChangeRecord
from monitor.config import Config, document_id, key_fingerprint, read_config, recorded_document
from monitor.errors import ConfigError, StateError
from monitor.fold import Output
from monitor.plan import Plan
from monitor.readings import Change

_BOARD = b"board"
_THINNING = b"thinning"


class ConfigRecord(msgspec.Struct, frozen=True):
    """A config that was taken into use, its sampling key as a fingerprint."""

    at: float
    config: dict[str, object]
    net: str


class BoardRecord(msgspec.Struct, frozen=True):
    """Where the board's page is."""

    url: str
    at: float


class ThinningRecord(msgspec.Struct, frozen=True):
    """The factor that sampling is thinned by from now on, and what it was decided on."""

    q: Annotated[float, msgspec.Meta(gt=0, le=1)]
    at: float
    reason: str
    """`over_capacity`, `over_backlog`, `room` or `no_bound`."""
    demand: float
    """Tasks a day that would be sent at q = 1."""
    open: int
    capacity: int
    """Tasks a day; 0 is no bound."""
    max_backlog: int
    """Tasks; 0 is no bound."""


class Recorded(NamedTuple):
    """A change of plan at an offset."""

    offset: int
    config: str
    thinning: float
    at: float


class History:
    """What the history topic says, record by record."""

    def __init__(self) -> None:
        self.configs: dict[str, ConfigRecord] = {}
        self.changes: dict[tuple[str, int], dict[int, Recorded]] = {}
        """By partition and offset; of two at one offset, the one that was recorded last."""
        self.recorded: dict[bytes, ChangeRecord] = {}
        """All of them, by the key of their record."""
        self.board_url = ""
        self.thinning: ThinningRecord | None = None
        """The last one; None is a factor of 1."""
        self.unreadable = 0
        """Records that no worker of this version wrote."""
        self._plans: dict[tuple[str, float, str], Plan] = {}
        """By config, factor and sampling key: a net takes long to build, and a factor comes back again and again."""

    def take(self, key: bytes | None, value: bytes | None) -> None:
        """Take a record of the topic; one that can't be read is counted and left out."""
        if key is None or value is None:
            return
        kind, _, rest = key.decode("utf-8", "replace").partition("/")
        try:
            if key == _BOARD:
                self.board_url = msgspec.json.decode(value, type=BoardRecord).url
            elif key == _THINNING:
                self.thinning = msgspec.json.decode(value, type=ThinningRecord)
            elif kind == "config":
                self.configs[rest] = msgspec.json.decode(value, type=ConfigRecord)
            elif kind == "change":
                change = msgspec.json.decode(value, type=ChangeRecord)
                self.recorded[key] = change
                of_partition = self.changes.setdefault((change.topic, change.partition), {})
                of_partition[change.offset] = Recorded(change.offset, change.config, change.thinning, change.at)
            else:
                self.unreadable += 1
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            self.unreadable += 1

    def of(self, topic: str, partition: int) -> list[Recorded]:
        """Return the changes of a partition, by offset."""
        return sorted(self.changes.get((topic, partition), {}).values())

    def plan(self, identity: str, thinning: float, current: Plan) -> Plan:
        """Return the plan of a recorded config, which bears the recorded id.

        The key itself is never recorded: it's the current config's, if that one's fingerprint is the recorded one.

        Raises
        ------
        StateError
            A config that isn't recorded, was made with another sampling key, or has settings that this version can't
            read: nobody guesses how it decided.
        """
        if (identity, thinning) == (current.id, current.thinning):
            return current
        name = identity, thinning, current.config.sampling.key
        if name not in self._plans:
            try:
                config = current.config if identity == current.id else self._config(identity, current.config)
                self._plans[name] = Plan(config, thinning, identity=identity)
            except ConfigError as error:
                problem = f"was recorded by another version of the product ({error.key}: {error.problem})"
                raise StateError(f"config {identity} {problem}: let that one read on past it") from None
        return self._plans[name]

    def _config(self, identity: str, current: Config) -> Config:
        record = self.configs.get(identity)
        if record is None:
            raise StateError(f"config {identity} isn't recorded")
        if document_id(record.config) != identity:
            raise StateError(f"config {identity} isn't what is recorded under that id")
        return _rebuild(identity, record.config, current)

    def latest_changes(self, most: int = 20) -> list[Change]:
        """Return when each config was taken into use, newest first; one that came back is there twice.

        Partitions take it up one after the other: the first one's time counts.
        """
        recorded = sorted((change.at, change.config) for change in self.recorded.values())
        before: str | None = None
        taken: list[Change] = []
        for at, config in recorded:
            if config != before:
                taken.append(Change(at, "config", config, self._note(config)))
            before = config
        return taken[: -most - 1 : -1]

    def _note(self, config: str) -> str:
        record = self.configs.get(config)
        return "" if record is None else f"net {record.net}"


def _rebuild(identity: str, document: Mapping[str, object], current: Config) -> Config:
    sampling = document.get("sampling")
    if not isinstance(sampling, dict) or sampling.get("key") != key_fingerprint(current):
        raise StateError(f"config {identity} was made with another sampling.key: set it back")
    restored = {**document, "sampling": {**sampling, "key": current.sampling.key}}
    return read_config(filled_in(restored), source="history")


def config_record(plan: Plan, at: float) -> Output:
    """Return the history record of a config that is taken into use."""
    record = ConfigRecord(at, recorded_document(plan.config), plan.net.version)
    return Output("history", f"config/{plan.id}".encode(), msgspec.json.encode(record))


def board_record(url: str, at: float) -> Output:
    """Return the history record of where the board is."""
    return Output("history", _BOARD, msgspec.json.encode(BoardRecord(url, at)))


def thinning_output(record: ThinningRecord) -> Output:
    """Return the history record of a thinning factor."""
    return Output("history", _THINNING, msgspec.json.encode(record))
