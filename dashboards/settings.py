"""The one config of all numbers that on-call has: `dashboards/oncall.toml`, read and checked.

A file with nothing but what differs can be laid over it, as `dashboards/demo.toml` is, whose day is five seconds long.

An alert asks for its own numbers by key. What the file holds and no alert asks for is refused, so that no number stands
there that nothing follows from.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeGuard, get_args

import msgspec

from dashboards.ranges import checked
from monitor.errors import ConfigError

FILE = Path(__file__).with_name("oncall.toml")
"""Where the config stands."""

Severity = Literal["page", "ticket", "notice"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_TIME = "".join(f"([1-9][0-9]*{unit})?" for unit in "wdhms")
Duration = Annotated[str, msgspec.Meta(pattern=rf"^(?=.){_TIME}\Z")]
"""A length of time as Prometheus writes it, such as `10m` or `1d12h`, the longest unit first."""
Days = Annotated[str, msgspec.Meta(pattern=r"^[1-9][0-9]*d\Z")]
"""The same in days, as the label `window` has it: `28d` and not `4w`."""
Address = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s\"]+\Z")]
_LENGTH = "a length of time is allowed, a number and w, d, h, m or s, such as 30s, 10m, 6h, 1d12h"
_ALLOWED: dict[object, str] = {
    Duration: _LENGTH,
    Days: "a number of days is allowed, such as 28d",
    Address: "an address is allowed, http:// or https://",
}
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


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

    window: Days
    fall_window: Days
    share_window: Duration


class Links(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where people read on."""

    runbook: Address
    prometheus: Address


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the alerts of one severity go, and how often."""

    receiver: str
    url: Address
    group_wait: Duration
    group_interval: Duration
    repeat_interval: Duration


class Routes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One route a severity."""

    page: Route
    ticket: Route
    notice: Route


class Knobs:
    """The numbers of one alert, by key.

    Parameters: `name`, the alert's; `table`, its part of the file. Raises ConfigError where severity, `for` or `keep`
    isn't there or isn't what is allowed.

    >>> knobs = Knobs("RecallwatchKappaLow", {"severity": "ticket", "for": "5m", "keep": "1h", "below": 0.6})
    >>> knobs.wait, knobs.number("below"), knobs.unread()
    ('5m', '0.6', {})
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
        """Return a number as PromQL and people write it; ConfigError where there is none, or none in its range."""
        self._read.add(key)
        return f"{checked(self._table.get(key), self.name, key, FILE.name):.10g}"

    def window(self, key: str) -> str:
        """Return a length of time; ConfigError where there is none."""
        self._read.add(key)
        value = self._table.get(key)
        try:
            return msgspec.convert(value, Duration)
        except msgspec.ValidationError:
            raise ConfigError(f"alerts.{self.name}.{key}", f"{value!r}: {_LENGTH}", source=FILE.name) from None

    def seconds(self, key: str) -> str:
        """Return a length of time in seconds, as PromQL writes it."""
        return str(seconds(self.window(key)))

    def unread(self) -> dict[str, str]:
        """Return the keys that nothing asked for, each with the nearest one that something did; empty for none."""
        return {key: nearest(key, self._read) for key in sorted(self._table.keys() - self._read)}


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
            problem = f"isn't there; an alert has severity, for and keep{nearest(name, self.alerts)}"
            raise ConfigError(f"alerts.{name}", problem, source=FILE.name)
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
    source = " with ".join(path.name for path in (file, *over))
    _refuse_unknown(document, Settings, "", source)
    try:
        return msgspec.convert(document, Settings)
    except msgspec.ValidationError as error:
        raise _explained(error, document, source) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the known name that is most like this one; nothing where none is like it.

    >>> nearest("alowed", ["allowed", "for"])
    '; did you mean allowed?'
    """
    found = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {found[0]}?" if found else ""


def _refuse_unknown(table: Mapping[str, object], section: type[msgspec.Struct], prefix: str, source: str) -> None:
    """Walk the sections, so that the message can name the nearest key; an alert's keys are known to the alert alone."""
    known = {field.name: field.type for field in msgspec.structs.fields(section)}
    for key, value in table.items():
        if key not in known:
            hint = nearest(key, known) or f"; known here: {', '.join(sorted(known))}"
            raise ConfigError(f"{prefix}{key}", f"unknown key{hint}", source=source)
        inner = known[key]
        if isinstance(value, Mapping) and _is_section(inner):
            _refuse_unknown(value, inner, f"{prefix}{key}.", source)


def _explained(error: msgspec.ValidationError, document: Mapping[str, object], source: str) -> ConfigError:
    """Turn the decoder's `Expected … - at `$.a.b`` into key, value and what is allowed."""
    message, _, place = str(error).partition(" - at `$")
    key = place.rstrip("`").lstrip(".")
    value: object = document
    kind: object = Settings
    for part in key.split("."):
        fields = {field.name: field.type for field in msgspec.structs.fields(kind)} if _is_section(kind) else {}
        if part not in fields or not isinstance(value, Mapping):
            return ConfigError(key, message, source=source)
        value, kind = value.get(part), fields[part]
    return ConfigError(key, f"{value!r}: {_ALLOWED.get(kind, message)}", source=source)


def _is_section(kind: object) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


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
