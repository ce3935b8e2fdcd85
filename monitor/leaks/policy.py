"""What an output may keep of a flagged value, by entity. By default nothing.

A replaced value that has nothing of the original left needs no policy, whatever stands there instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from monitor.automata import compiled, options_of
from monitor.errors import ConfigError

_MAX_MEM = 8 << 20

_PLACEHOLDERS = "redaction.placeholders"
Count = Annotated[int, msgspec.Meta(ge=0, le=64)]


class EntityPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may stay of an entity's values; all off by default."""

    keep_last: Count = 0
    """Letters and digits (graphemes) that may stay at a value's end."""
    keep_first: Count = 0
    """The same at its beginning."""
    keep: tuple[Literal["email_domain", "year"], ...] = ()
    """Parts that may stay: what follows a mail address's at sign; four digits of a date that are a year."""
    surrogate: bool = False
    """The output holds another value of the same kind, which may share pieces with this one by chance."""
    ignore: bool = False
    """Values of this entity are no secret: nothing of them is a leak."""


NOTHING_KEPT = EntityPolicy()


class RedactionConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `[redaction]` section of the config."""

    check: bool = True
    """Whether redacted outputs are looked at."""
    placeholders: list[str] = []
    """RE2 regexes of placeholders of a shape of their own: `(REMOVED 12)`."""
    entities: dict[str, EntityPolicy] = {}


class Policy:
    """A policy as the check uses it.

    Parameters
    ----------
    entities
        By folded names; one that isn't here keeps nothing.
    placeholders
        RE2 regexes; what one of them matches whole shows nothing of a value.
    fold
        Gives the name of `entities` for a span's own.

    Raises
    ------
    ConfigError
        A regex that RE2 can't compile, or that matches the empty text. `key` is `redaction.placeholders`.
    """

    __slots__ = ("_shapes", "entities", "name", "placeholders")

    def __init__(
        self,
        entities: Mapping[str, EntityPolicy] | None = None,
        placeholders: Sequence[str] = (),
        fold: Callable[[str], str] = str,
    ) -> None:
        self.name = fold
        self.entities: Mapping[str, EntityPolicy] = dict(entities or {})
        self.placeholders = tuple(placeholders)
        options = options_of(_MAX_MEM)
        self._shapes = [compiled(_PLACEHOLDERS, regex, options) for regex in self.placeholders]

    def of(self, entity: str) -> EntityPolicy:
        """Return what may stay of an entity's values."""
        return self.entities.get(self.name(entity), NOTHING_KEPT) if self.entities else NOTHING_KEPT

    def is_placeholder(self, written: str) -> bool:
        """Return whether one of the operator's shapes matches the whole of what was written."""
        return bool(self._shapes) and any(shape.fullmatch(written.encode()) for shape in self._shapes)


def build_policy(config: RedactionConfig, fold: Callable[[str], str]) -> Policy:
    """Return the policy of a config; `fold` gives one name for all that an entity is called.

    Raises `ConfigError` for a regex that can't be used, and for an entity that stands twice under two names.

    >>> build_policy(RedactionConfig(entities={"card": EntityPolicy(keep_last=4)}), str.upper).of("CARD").keep_last
    4
    """
    entities: dict[str, EntityPolicy] = {}
    for name, policy in config.entities.items():
        if fold(name) in entities:
            raise ConfigError(f"redaction.entities.{name}", f"{fold(name)} stands twice, under two of its names")
        entities[fold(name)] = policy
    return Policy(entities, config.placeholders, fold)
