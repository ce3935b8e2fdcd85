"""Rates written into a settings file, and nothing else: comments, order and spelling of all the rest stay.

What comes out is read back before it's kept: it must be the tree that was there, with the rates that were asked for.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, Table

from monitor.config import Config, Sampling, read_config
from monitor.errors import ConfigError

_KeyPath = tuple[str, ...]
_Container = MutableMapping[str, Any]  # the library's own: a document, a table, an inline table, a table in pieces
_BOM = "\ufeff"


class RateChange(NamedTuple):
    """A rate that was changed in a file."""

    key: str
    old: float | None
    """What the file came to, its default too; None where the stratum or language had no rate of its own."""
    new: float

    def __str__(self) -> str:
        return f"{self.key}: {'none of its own' if self.old is None else f'{self.old:g}'} → {self.new:g}"


def write_rates(path: Path, advise: Callable[[Sampling], Sampling]) -> list[RateChange]:
    """Put the rates that `advise` returns for those of a settings file into that file; return what changed.

    The file is replaced in one step, or not at all; a link stays a link. Nothing is written where nothing changes.

    Raises
    ------
    ConfigError
        A file that can't be read or written, that holds no good settings, or whose rates can't be edited.
    """
    place = path.resolve()
    text = _read(path, place)
    before = _config(text, str(path))
    after = msgspec.structs.replace(before, sampling=advise(before.sampling))
    edited, changes = edit_rates(text, before, after, source=str(path))
    if changes:
        _replace(place, edited, source=str(path))
    return changes


def edit_rates(text: str, before: Config, after: Config, *, source: str = "config") -> tuple[str, list[RateChange]]:
    r"""Return a settings file's text with the rates of `after`, where `before` is what it comes to; and what changed.

    >>> before, after = (read_config({"sampling": {"random_rate": rate}}) for rate in (0.1, 0.02))
    >>> text, changes = edit_rates("[sampling]\nrandom_rate = 0.1  # one in ten\n", before, after)
    >>> text, str(changes[0])
    ('[sampling]\nrandom_rate = 0.02  # one in ten\n', 'sampling.random_rate: 0.1 → 0.02')
    """
    held, wanted = _rates(before.sampling), _rates(after.sampling)
    changed = {path: rate for path, rate in wanted.items() if held.get(path) != rate}
    edited = _edited(text, {("sampling", *path): rate for path, rate in changed.items()})
    if edited is None or _config(edited, source) != after:
        rates = ", ".join(f"{'.'.join(path)} = {rate:g}" for path, rate in changed.items())
        raise ConfigError("sampling", f"can't be edited as it's written; by hand: {rates}", source=source)
    return edited, [RateChange(f"sampling.{'.'.join(path)}", held.get(path), rate) for path, rate in changed.items()]


def _edited(text: str, values: dict[_KeyPath, float]) -> str | None:
    """Return the text with values set in it; None where it's written in a way that the library can't edit."""
    mark, line_end = (_BOM if text.startswith(_BOM) else ""), ("\r\n" if _has_crlf_alone(text) else "\n")
    try:
        document = tomlkit.parse(text.removeprefix(_BOM).replace(line_end, "\n"))
        _set(document, values)
        return mark + tomlkit.dumps(document).replace("\n", line_end)
    except (TOMLKitError, ValueError, TypeError, RecursionError):
        return None


def _has_crlf_alone(text: str) -> bool:
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


def _rates(sampling: Sampling) -> dict[_KeyPath, float]:
    """Return all rates by their place under `sampling`."""
    found: dict[_KeyPath, float] = {("random_rate",): sampling.random_rate, ("loose_rate",): sampling.loose_rate}
    found |= {("loose_rate_by_stratum", stratum): rate for stratum, rate in sampling.loose_rate_by_stratum.items()}
    for language, own in sampling.by_language.items():
        place = ("by_language", language)
        for name, rate in (("random_rate", own.random_rate), ("loose_rate", own.loose_rate)):
            if rate is not None:
                found[*place, name] = rate
        found |= {(*place, "loose_rate_by_stratum", s): rate for s, rate in own.loose_rate_by_stratum.items()}
    return found


def _set(table: _Container, values: dict[_KeyPath, float]) -> None:
    """Set values at their places; a table that isn't there becomes an inline one, `sampling` one of its own."""
    for name in dict.fromkeys(path[0] for path in values):
        if (name,) in values:
            _put(table, name, values[name,])
            continue
        below = {path[1:]: value for path, value in values.items() if path[0] == name}
        if name in table:
            _set(table[name], below)
        else:
            new: AbstractTable = tomlkit.table() if name == "sampling" else tomlkit.inline_table()
            _set(new, below)
            _put(table, name, new)


def _put(table: _Container, name: str, value: object) -> None:
    """Set one value; a new key comes after the last plain one, or first: comments at the end are the next table's."""
    if name in table or not isinstance(table, Table):
        table[name] = value
        return
    body = table.value.body
    at = max(
        [i + 1 for i, (key, item) in enumerate(body) if key is not None and not isinstance(item, Table)], default=0
    )
    if at < len(body):
        table.value._insert_at(at, name, tomlkit.item(value))  # noqa: SLF001  # the public call puts it at the end
    else:
        table.append(name, value)


def _config(text: str, source: str) -> Config:
    try:
        return read_config(tomllib.loads(text.removeprefix(_BOM)), source=source)
    except (ValueError, RecursionError) as error:
        raise ConfigError("", f"no TOML: {error}", source=source) from None


def _read(path: Path, place: Path) -> str:
    try:
        return place.read_bytes().decode()  # its line ends are kept
    except OSError as error:
        raise ConfigError("", error.strerror or "can't be read", source=str(path)) from None
    except UnicodeDecodeError:
        raise ConfigError("", "not UTF-8 text", source=str(path)) from None


def _replace(place: Path, text: str, *, source: str) -> None:
    """Write beside the file and move it over: whoever reads it sees the old one or the new one."""
    written: str | None = None
    try:
        descriptor, written = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(written).chmod(place.stat().st_mode & 0o7777)
        Path(written).replace(place)
    except OSError as error:
        if written is not None:
            Path(written).unlink(missing_ok=True)
        raise ConfigError("", f"can't be written ({error.strerror})", source=source) from None
