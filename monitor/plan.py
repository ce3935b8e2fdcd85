"""A plan: everything that decides about a record, built once from a config and immutable from then on.

A change of config is a change of plan at a recorded offset. A plan's id names the config; the thinning factor goes with
it, so that what is read again below the offset is decided under the plan of then.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.config import Config, PatternConfig, config_id
from monitor.decoding import Limits
from monitor.entities import Aliases, usable_name
from monitor.errors import ConfigError
from monitor.leaks.policy import Policy, build_policy
from monitor.net import Net, build_net
from monitor.patterns import Pattern
from monitor.sampling import Sampler
from monitor.tally import ANY_ENTITY


class Plan:
    """The net, the sampler, the names, the limits and the redaction policy of one config.

    Parameters
    ----------
    config
        Settings.
    thinning
        q in (0, 1], see `monitor.sampling`.
    horizon_days
        Days that are kept; by default what the config's windows need. A replay reads its whole input as one window.
    identity
        The id that the config was recorded by, where that isn't the id of its tree here: an older version had fewer
        settings.

    Raises
    ------
    ConfigError
        A pattern or placeholder that doesn't compile, aliases that go round in a circle, two targets of one
        cell, a target of none.
    """

    def __init__(
        self,
        config: Config,
        thinning: float = 1.0,
        horizon_days: int | None = None,
        identity: str | None = None,
    ) -> None:
        self.config = config
        self.id = config_id(config) if identity is None else identity
        self.thinning = thinning
        self.net: Net = build_net(
            config.net.defaults,
            {name: _pattern(name, p) for name, p in config.net.patterns.items()},
            config.net.triggers,
        )
        self.sampler = Sampler(config.sampling, thinning)
        self.aliases = Aliases(config.entities.aliases)
        self.policy: Policy = build_policy(config.redaction, self.aliases.fold)
        self.limits = Limits(config.limits.max_text_bytes, config.limits.max_spans)
        self.iou = config.matching.iou
        self.horizon_days = config.horizon_days if horizon_days is None else horizon_days
        self._targets = self._read_targets()

    def target(self, entity: str, language: str) -> float | None:
        """Return the recall asked for in a cell, its entity spelled in any way that the aliases know."""
        return self._targets.get((entity, language), self._targets.get((entity, "")))

    def ignores(self, entity: str) -> bool:
        """Return whether an entity, spelled in any way, is no secret by the redaction policy."""
        return self.policy.of(entity).ignore

    @property
    def target_cells(self) -> Iterable[tuple[str, str]]:
        """The cells that have a target of their own: entity, folded, and language, empty for every one."""
        return self._targets

    @property
    def counting(self) -> tuple[object, ...]:
        """What decides how documents of the ledger are counted."""
        return self.config.entities, self.config.limits, self.iou, self.config.alarm.period, self.config.redaction

    def _read_targets(self) -> dict[tuple[str, str], float]:
        targets: dict[tuple[str, str], float] = {}
        for name, recall in self.config.targets.items():
            if not all(map(usable_name, name.split(".", 1))):
                raise ConfigError(f"targets.{name}", "write ENTITY or ENTITY.language, neither of them empty")
            entity, _, language = name.partition(".")
            # the roll-up may have a target of its own
            cell = (ANY_ENTITY if entity.lower() == ANY_ENTITY else self.aliases.fold(entity), language.lower())
            if cell in targets:
                raise ConfigError(f"targets.{name}", "another target names the same cell: entity names are folded")
            targets[cell] = recall
        return targets


def _pattern(name: str, given: str | PatternConfig) -> Pattern | None:
    """Return a pattern of the config; an empty string removes the default of that name."""
    if isinstance(given, PatternConfig):
        return Pattern(name, given.regex, given.check)
    return Pattern(name, given) if given else None
