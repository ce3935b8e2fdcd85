"""Settings that came after configs were first recorded, each with the value under which all is as it was before.

A config is known by an id over its document as the history records it (`monitor.config.config_id`). A setting of
`ADDED` is left out of that document for as long as it has its first value, and has that value in a document that lacks
it. So a newer version of the product knows the same config by the same id, and reads what an older one recorded.

Two simpler ways break a promise. An id over all settings is another one for every config as soon as there is a setting
more. An id over those that aren't at their default stays when a default changes, and then stands for two ways to
decide; here a changed default makes another id, for a first value never changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy

ADDED: Mapping[str, object] = {
    "redaction": {"check": True, "placeholders": [], "entities": {}},
}
"""First value by dotted key, oldest first, as `msgspec.to_builtins` writes it; a whole section is one setting.

In a key `*` stands for every table of a table. No line is ever changed or removed.
"""


def left_out(document: Mapping[str, object], added: Mapping[str, object] = ADDED) -> dict[str, object]:
    """Return a config's document without the added settings that have their first value.

    >>> left_out({"labels": {"copies": 1, "checks": 0}}, {"labels.checks": 0})
    {'labels': {'copies': 1}}
    """
    found = deepcopy(dict(document))
    for path, first in reversed(list(added.items())):
        *sections, name = path.split(".")
        for table in _tables(found, sections):
            if name in table and table[name] == first:
                del table[name]
    return found


def filled_in(document: Mapping[str, object], added: Mapping[str, object] = ADDED) -> dict[str, object]:
    """Return a recorded document with the added settings that it lacks; undoes `left_out`.

    >>> filled_in({"labels": {"copies": 1}}, {"labels.checks": 0, "alarm": {}})
    {'labels': {'copies': 1, 'checks': 0}, 'alarm': {}}
    """
    found = deepcopy(dict(document))
    for path, first in added.items():
        *sections, name = path.split(".")
        for table in _tables(found, sections):
            table.setdefault(name, deepcopy(first))
    return found


def _tables(table: dict[str, object], path: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield the tables at a path; none where a document of an older version has no such section."""
    if not path:
        yield table
        return
    for name in list(table) if path[0] == "*" else path[:1]:
        inner = table.get(name)
        if isinstance(inner, dict):
            yield from _tables(inner, path[1:])
