"""The one config of all numbers that on-call has: `dashboards/oncall.toml`, read and checked.

A file with nothing but what differs can be laid over it, as `dashboards/demo.toml` is, whose day is five seconds long.

An alert asks for its own numbers by key. What the file holds and no alert asks for is refused, so that no number stands
there that nothing follows from.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

import msgspec

from monitor.errors import ConfigError

FILE = Path(__file__).with_name("oncall.toml")
"""Where the config stands."""

Severity = Literal["page", "ticket", "notice"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Duration = Annotated[str, msgspec.Meta(pattern=r"^([1-9][0-9]*[smhdw])+$")]
"""A length of time as Prometheus writes it, such as `10m`."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_T = TypeVar("_T")


def seconds(duration: str) -> int:
    """Return the seconds of a length of time.

    >>> seconds("10m"), seconds("1d12h")
    (600, 129600)
    """
    return sum(int(number) * _SECONDS[unit] for number, unit in re.findall(r"(\d+)([smhdw])", duration))


class Scrape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How Prometheus sees the workers."""

    job: str
    interval: Duration
    worker_labels: tuple[str, ...]
    gap: Duration
    memory: Duration


class Windows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Windows of readings, as their label has them."""

    window: Duration
    fall_window: Duration
    share_window: Duration


class Links(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where people read on."""

    runbook: str
    prometheus: str


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the alerts of one severity go, and how often."""

    receiver: str
    url: str
    group_wait: Duration
    group_interval: Duration
    repeat_interval: Duration


class Routes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One route a severity."""

    page: Route
    ticket: Route
    notice: Route


class _Window(msgspec.Struct, frozen=True):
    window: Duration


class Knobs:
    """The numbers of one alert, by key.

    Parameters: `name`, the alert's; `table`, its part of the file. Raises ConfigError where severity, `for` or `keep`
    isn't there or isn't what is allowed.

    >>> knobs = Knobs("Late", {"severity": "ticket", "for": "5m", "keep": "1h", "below": 0.6})
    >>> knobs.wait, knobs.number("below"), knobs.unread()
    ('5m', '0.6', [])
    """

    def __init__(self, name: str, table: Mapping[str, object]) -> None:
        self.name = name
        self._table = table
        self._read = {"severity", "for", "keep"}
        self.severity = self._severity()
        self.wait = self.window("for")
        """How long it must be so."""
        self.keep = self.window("keep")
        """How long it's kept firing after that."""

    def _severity(self) -> Severity:
        value = self._table.get("severity")
        for one in SEVERITIES:
            if value == one:
                return one
        allowed = ", ".join(SEVERITIES)
        raise ConfigError(f"alerts.{self.name}.severity", f"{value!r}: {allowed} are allowed", source=FILE.name)

    def number(self, key: str) -> str:
        """Return a number as PromQL and people write it; ConfigError where there is none."""
        self._read.add(key)
        return f"{_converted(self._table.get(key), float, f'alerts.{self.name}.{key}'):.10g}"

    def window(self, key: str) -> str:
        """Return a length of time; ConfigError where there is none."""
        self._read.add(key)
        held = {"window": self._table.get(key)}
        return _converted(held, _Window, f"alerts.{self.name}.{key}").window

    def seconds(self, key: str) -> str:
        """Return a length of time in seconds, as PromQL writes it."""
        return str(seconds(self.window(key)))

    def unread(self) -> list[str]:
        """Return the keys that nothing asked for."""
        return sorted(self._table.keys() - self._read)


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that the file holds."""

    scrape: Scrape
    readings: Windows
    links: Links
    routes: Routes
    alerts: dict[str, dict[str, object]]

    def of(self, name: str) -> Knobs:
        """Return the numbers of an alert; ConfigError where the file has none."""
        if name not in self.alerts:
            raise ConfigError(f"alerts.{name}", "isn't there; an alert has severity, for and keep", source=FILE.name)
        return Knobs(name, self.alerts[name])


def read_settings(file: Path = FILE, over: Sequence[Path] = ()) -> Settings:
    """Return what a file says; each file of `over` has numbers that differ, and its word counts.

    Raises
    ------
    ConfigError
        Not TOML, a key that isn't known, or a value that isn't allowed; it names which.
    OSError
        A file can't be read.
    """
    document: dict[str, object] = {}
    for path in (file, *over):
        try:
            document = _laid_over(document, tomllib.loads(path.read_text(encoding="utf-8")))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError("", str(error), source=path.name) from None
    try:
        return msgspec.convert(document, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError("", str(error), source=" with ".join(path.name for path in (file, *over))) from None


def _laid_over(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    """Return a table with another one's values put over it, tables in tables too.

    >>> _laid_over({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"y": 5}})
    {'a': {'x': 1, 'y': 5}, 'b': 3}
    """
    found = dict(below)
    for key, value in above.items():
        held = found.get(key)
        found[key] = _laid_over(held, value) if isinstance(held, dict) and isinstance(value, dict) else value
    return found


def _converted(value: object, kind: type[_T], where: str) -> _T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(where, str(error), source=FILE.name) from None
