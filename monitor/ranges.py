"""What a setting may be, in words, from the bounds in its type: both of them, whichever one a value broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args, get_origin

import msgspec


def allowed(path: Sequence[str], section: type[msgspec.Struct]) -> str:
    """Return the range of the number at a path into a section; nothing where it isn't a number with bounds.

    >>> from monitor.config import Config
    >>> allowed(["targets", "PERSON"], Config), allowed(["labels", "copies"], Config)
    ('a number between 0 and 1, both exclusive', '1 or 2')
    """
    return next((_words(kind, bounds) for kind, bounds in _bounded(path, section)), "")


def _bounded(path: Sequence[str], kind: object) -> Iterator[tuple[object, msgspec.Meta]]:
    """Yield the types with bounds at a path, each with its bounds; entries of a list stand at the list's own path."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        known = {field.name: field.type for field in msgspec.structs.fields(kind)}
        if path and path[0] in known:
            yield from _bounded(path[1:], known[path[0]])
        return
    parts = get_args(kind)
    for part in parts:
        if not path and isinstance(part, msgspec.Meta) and _limits(part) != (None,) * 4:
            yield parts[0], part
    for part in parts:
        yield from _bounded(path[1:] if get_origin(kind) is dict else path, part)


def _limits(bounds: msgspec.Meta) -> tuple[float | None, ...]:
    return bounds.ge, bounds.gt, bounds.le, bounds.lt


def _words(kind: object, bounds: msgspec.Meta) -> str:
    least, above, most, below = _limits(bounds)
    noun = "a whole number" if kind is int else "a number"
    if kind is int and least is not None and most == least + 1:
        return f"{least} or {most}"
    if above is not None and below is not None:
        return f"{noun} between {above:g} and {below:g}, both exclusive"
    if least is not None and most is not None:
        return f"{noun} from {least:g} to {most:g}"
    sides = (("above", above), ("of at least", least), ("below", below), ("at most", most))
    return f"{noun} {', '.join(f'{side} {value:.8g}' for side, value in sides if value is not None)}"
